/* Packages: names from a caller, what a package manager says that it has installed, and the files
 * of a root filesystem that name registries. The first byte chooses. What comes out is a name, or a
 * rule that is one. */
#include "base/str.h"
#include "box/install.h"
#include "box/registries.h"
#include "egress/egress.h"
#include "fuzz.h"

static void check_word(const char *text)
{
	DEMAND(*text && *text != '-' && !strpbrk(text, " \t\r\n\"'\\;&|<>$`*?:"));
}

static void read_name(const char *registry, const char *text, struct arena *a)
{
	struct install x;
	struct error e = {0};

	if (install_read(registry, text, a, &x, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	check_word(x.name);
	DEMAND(*x.name != '.' && *x.name != '/' && !strstr(x.name, "../"));
	DEMAND(!strchr(x.name, '/') || *x.name == '@');
	if (x.version)
		check_word(x.version);
}

static void read_report(const char *registry, const char *text, size_t len, struct arena *a)
{
	const struct install x = {.registry = registry, .package = "a", .name = "a"};
	struct installed *v;
	struct buf b = buf_new(a, 1 << 20);
	size_t i, n = install_read_report(&x, text, len, a, &v);

	DEMAND(n <= INSTALLED_MAX);
	for (i = 0; i < n; i++) {
		check_word(v[i].name);
		check_word(v[i].version);
		DEMAND(!v[i].hash || !strpbrk(v[i].hash, " \r\n\"\\"));
	}
	install_write(&x, n ? v : NULL, n, &b);
}

static void read_file(enum registry_form form, const char *text, struct arena *a)
{
	struct registry r = {.name = "x"};
	struct egress_rules *rules = arena_new(a, struct egress_rules);
	struct error e = {0};
	size_t i;

	registry_read(&r, form, text, a);
	for (i = 0; i < r.hosts.n; i++) {
		/* One of the machine's own is refused like any rule. */
		if (egress_rules_add(rules, r.hosts.v[i], false, &e) < 0)
			fuzz_check_error(&e);
		DEMAND(strlen(r.hosts.v[i]) < 300 && !strpbrk(r.hosts.v[i], "*/ \n"));
	}
	DEMAND(!r.index || r.hosts.n);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	const char *copy;

	if (!len)
		return;
	copy = arena_strndup(a, text + 1, len - 1);
	switch (text[0]) {
	case 'n':
		read_name("npm", copy, a);
		break;
	case 'p':
		read_name("pypi", copy, a);
		break;
	case 'N':
		read_report("npm", text + 1, len - 1, a);
		break;
	case 'P':
		read_report("pypi", text + 1, len - 1, a);
		break;
	default:
		if (text[0] >= '0' && text[0] <= '5')
			read_file((enum registry_form)(text[0] - '0'), copy, a);
	}
}
