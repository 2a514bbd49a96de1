#include "box/registries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "egress/egress.h"
#include "json/json.h"
#include "sys/sys.h"

enum { FILE_SIZE_MAX = 1 << 20, HOSTS_MAX = 32, URL_MAX = 512, ENTRIES_MAX = 256 };

/* clang-format off */
/* In the order of precedence: the first one of a registry that says something ends it, but for those
 * that belong together. A "*" stands for the end of a name of a directory, or for all that a
 * directory has with that end. */
static const struct source {
	const char *registry, *path;
	enum registry_form form;
	bool goes_on;
} sources[] = {
	{"pypi", "etc/pip.conf", REGISTRY_PIP_CONF, false},
	{"pypi", "etc/xdg/pip/pip.conf", REGISTRY_PIP_CONF, false},
	{"pypi", "usr/local/lib/python3*/site-packages/pip/_internal/models/index.py", REGISTRY_PIP_CODE, false},
	{"pypi", "usr/local/lib/python3*/dist-packages/pip/_internal/models/index.py", REGISTRY_PIP_CODE, false},
	{"pypi", "usr/lib/python3*/dist-packages/pip/_internal/models/index.py", REGISTRY_PIP_CODE, false},
	{"pypi", "usr/lib/python3*/site-packages/pip/_internal/models/index.py", REGISTRY_PIP_CODE, false},
	{"npm", "etc/npmrc", REGISTRY_NPM_CONF, false},
	{"npm", "usr/etc/npmrc", REGISTRY_NPM_CONF, false},
	{"npm", "usr/local/etc/npmrc", REGISTRY_NPM_CONF, false},
	{"npm", "usr/local/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js", REGISTRY_NPM_CODE, false},
	{"npm", "usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js", REGISTRY_NPM_CODE, false},
	{"npm", "usr/share/nodejs/@npmcli/config/lib/definitions/definitions.js", REGISTRY_NPM_CODE, false},
	{"debian", "etc/apt/sources.list", REGISTRY_APT_LIST, true},
	{"debian", "etc/apt/sources.list.d/*.list", REGISTRY_APT_LIST, true},
	{"debian", "etc/apt/sources.list.d/*.sources", REGISTRY_APT_SOURCES, true},
};
/* clang-format on */

static const char *const names[] = {"pypi", "npm", "debian"};

/* ---- addresses ---- */

const char *registry_rule(const char *url, struct arena *a)
{
	const bool tls = str_after(url, "https://") != NULL;
	const char *host = tls ? str_after(url, "https://") : str_after(url, "http://"), *at;
	uint16_t port = tls ? 443 : 80;
	struct egress_host h;
	size_t len;

	if (!host || strlen(url) > URL_MAX)
		return NULL;
	len = strcspn(host, "/?#");
	at = memrchr(host, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (!egress_host_port_read(host, len, &h, &port))
		return NULL;
	return arena_printf(a, h.is_address && h.address.v6 ? "[%s]:%u" : "%s:%u", h.name, port);
}

static void registry_add(struct registry *r, const char *rule, struct arena *a)
{
	size_t i, cap = r->hosts.n;

	for (i = 0; i < r->hosts.n; i++)
		if (str_eq(r->hosts.v[i], rule))
			return;
	if (r->hosts.n == HOSTS_MAX)
		return;
	r->hosts.v = arena_grow(a, r->hosts.v, &cap, r->hosts.n + 2, sizeof(char *));
	r->hosts.v[r->hosts.n++] = arena_strdup(a, rule);
}

static void registry_add_url(struct registry *r, const char *url, size_t len, struct arena *a)
{
	const char *copy = arena_strndup(a, url, len < URL_MAX + 1 ? len : URL_MAX + 1);
	const char *rule = registry_rule(copy, a);

	if (!rule)
		return;
	if (!r->index)
		r->index = copy;
	registry_add(r, rule, a);
}

/* All of a line, or of part of it. */
static void registry_add_words(struct registry *r, const char *p, const char *end, struct arena *a)
{
	size_t len;

	for (; p < end; p += len) {
		p += strspn(p, " \t\r\"'");
		len = strcspn(p, " \t\r\n\"'");
		if (p + len > end || !len)
			return;
		registry_add_url(r, p, len, a);
	}
}

/* ---- files ---- */

/* The value behind "KEY =" or "KEY:" on a line; NULL: another key. */
static const char *line_value(const char *line, const char *end, const char *key, char sign)
{
	const size_t len = strlen(key);
	const char *p = line + strspn(line, " \t");

	if ((size_t)(end - p) <= len || strncasecmp(p, key, len) != 0)
		return NULL;
	p += len;
	p += strspn(p, " \t");
	return p < end && *p == sign ? p + 1 : NULL;
}

/* The rest of a value stands on lines that begin with a space. */
static void read_keys(struct registry *r, const char *text, const char *const *keys, char sign,
		      struct arena *a)
{
	const char *line, *end, *value;
	bool inside = false;
	size_t i;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (*line == '#' || *line == ';')
			continue;
		value = inside && (*line == ' ' || *line == '\t') ? line : NULL;
		for (i = 0; !value && keys[i]; i++)
			value = line_value(line, end, keys[i], sign);
		inside = value != NULL;
		if (value)
			registry_add_words(r, value, end, a);
	}
}

static void read_npm(struct registry *r, const char *text, struct arena *a)
{
	static const char key[] = "registry";
	const char *line, *end, *sign, *name;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		sign = memchr(line, '=', (size_t)(end - line));
		if (!sign || *line == '#' || *line == ';')
			continue;
		for (name = sign; name > line && (name[-1] == ' ' || name[-1] == '\t'); name--)
			;
		if (name - line < (ptrdiff_t)strlen(key) ||
		    strncmp(name - strlen(key), key, strlen(key)) != 0)
			continue;
		name -= strlen(key);
		if (name == line || name[-1] == ':' || name[-1] == ' ' || name[-1] == '\t')
			registry_add_words(r, sign + 1, end, a);
	}
}

static void read_apt(struct registry *r, const char *text, struct arena *a)
{
	const char *line, *end, *p, *close;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		p = line + strspn(line, " \t");
		if (!str_after(p, "deb ") && !str_after(p, "deb\t"))
			continue;
		p += strlen("deb ");
		p += strspn(p, " \t");
		close = *p == '[' ? memchr(p, ']', (size_t)(end - p)) : NULL;
		p = close ? close + 1 : p;
		p += strspn(p, " \t");
		registry_add_words(r, p, p + strcspn(p, " \t\r\n"), a);
	}
}

/* The strings between quotes of a piece of program. One that is a host's name alone is one, too. */
static void read_quoted(struct registry *r, const char *text, const char *from, const char *to,
			size_t most, struct arena *a)
{
	const char *p = strstr(text, from), *end = p ? strstr(p + strlen(from), to) : NULL, *close;
	struct egress_host h;

	for (p = p ? p + strlen(from) : p; end && most && p < end; p = close + 1) {
		p += strcspn(p, "\"'`");
		close = *p ? strchr(p + 1, *p) : NULL;
		if (p >= end || !close || close > end)
			return;
		most--;
		if (egress_host_read(p + 1, (size_t)(close - p) - 1, &h) && strchr(h.name, '.'))
			registry_add(r, arena_printf(a, "%s:443", h.name), a);
		else
			registry_add_url(r, p + 1, (size_t)(close - p) - 1, a);
	}
}

void registry_read(struct registry *r, enum registry_form form, const char *text, struct arena *a)
{
	static const char *const pip[] = {"index-url", "extra-index-url", "index_url",
					  "extra_index_url", NULL};
	static const char *const apt[] = {"URIs", NULL};

	switch (form) {
	case REGISTRY_PIP_CONF:
		read_keys(r, text, pip, '=', a);
		break;
	case REGISTRY_PIP_CODE:
		read_quoted(r, text, "\nPyPI = PackageIndex(", ")", 2, a);
		/* Pip itself puts that behind it. */
		if (r->index)
			r->index = arena_printf(a, "%s%ssimple", r->index,
						str_ends(r->index, "/") ? "" : "/");
		break;
	case REGISTRY_NPM_CONF:
		read_npm(r, text, a);
		break;
	case REGISTRY_NPM_CODE:
		read_quoted(r, text, "('registry', {\n  default:", "\n", 1, a);
		read_quoted(r, text, "registry: new Definition('registry', {\n    default:", "\n",
			    1, a);
		break;
	case REGISTRY_APT_LIST:
		read_apt(r, text, a);
		break;
	case REGISTRY_APT_SOURCES:
		read_keys(r, text, apt, ':', a);
		break;
	}
}

/* ---- the root ---- */

static int root_open(int root_dfd, const char *path, uint64_t flags)
{
	return sys_openat2(root_dfd, path, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0,
			   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

static void source_read_file(int root_dfd, const char *path, enum registry_form form,
			     struct arena *a, struct registry *r)
{
	autoclose int fd = root_open(root_dfd, path, 0);
	struct stat st;
	char *text;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	text = fd_read_all(fd, FILE_SIZE_MAX, a, &len);
	if (text)
		registry_read(r, form, text, a);
}

/* Tries names for "*" in the first component that has one. */
static void source_read(int root_dfd, const struct source *s, struct arena *a, struct registry *r)
{
	const char *star = strchr(s->path, '*'), *name, *end;
	struct dirent *entry;
	autoclose int dfd = -1;
	size_t n = 0, len;
	DIR *dir;

	if (!star) {
		source_read_file(root_dfd, s->path, s->form, a, r);
		return;
	}
	for (name = star; name > s->path && name[-1] != '/'; name--)
		;
	end = star + 1 + strcspn(star + 1, "/");
	len = (size_t)(end - star) - 1; /* of what follows the star in its component */
	dfd = root_open(root_dfd, arena_strndup(a, s->path, (size_t)(name - s->path)), O_DIRECTORY);
	dir = dfd < 0 ? NULL : fdopendir(dfd);
	if (!dir)
		return;
	dfd = -1;
	while ((entry = readdir(dir)) && n++ < ENTRIES_MAX) {
		const size_t has = strlen(entry->d_name), before = (size_t)(star - name);

		if (*entry->d_name == '.' || has < before + len ||
		    memcmp(entry->d_name, name, before) != 0 ||
		    memcmp(entry->d_name + has - len, star + 1, len) != 0)
			continue;
		source_read_file(root_dfd,
				 arena_printf(a, "%.*s%s%s", (int)(name - s->path), s->path,
					      entry->d_name, end),
				 s->form, a, r);
		if (!s->goes_on && r->hosts.n)
			break;
	}
	closedir(dir);
}

const char *registry_root(const struct box_root *root)
{
	return root->host ? "/" : root->path;
}

/* ---- finding ---- */

int registry_check(const char *word, struct error *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (*word == '@' && str_eq(word + 1, names[i]))
			return 0;
	return err_set(e, ERR_USAGE, "there is no such registry (there are @pypi, @npm, @debian)");
}

static int registry_of_operator(const struct operator_registry *o, struct arena *a,
				struct registry *ret, struct error *e)
{
	const char *rule = o->index ? registry_rule(o->index, a) : NULL;
	size_t i;

	if (o->index && !rule)
		return err_set(e, ERR_CONFIG, OPERATOR_FILE ": registries: %s is no URL",
			       json_show(o->index).text);
	ret->index = o->index;
	if (rule)
		registry_add(ret, rule, a);
	for (i = 0; i < o->hosts.n; i++)
		registry_add(ret, o->hosts.v[i], a);
	return 0;
}

/* Trust: the root filesystem may be anybody's. That a box reaches somebody's own network is not for
 * that to say; the machine's own file of its administrator's is another matter. */
static int registry_refuse_private(const struct registry *r, struct error *e)
{
	struct egress_host h;
	uint16_t port;
	size_t i;

	for (i = 0; i < r->hosts.n; i++)
		if (egress_host_port_read(r->hosts.v[i], strlen(r->hosts.v[i]), &h, &port) &&
		    h.is_address && egress_address_place(&h.address) != EGRESS_PUBLIC)
			return err_set(e, ERR_HOST,
				       "@%s: the root filesystem says %s, an address of no public "
				       "network: only the operator can (" OPERATOR_FILE
				       ": registries)",
				       r->name, r->hosts.v[i]);
	return 0;
}

int registry_find(const char *name, const char *root, const struct operator_file *f,
		  struct arena *a, struct registry *ret, struct error *e)
{
	const struct source *s;
	struct registry r = {.name = name};
	autoclose int root_dfd = -1;
	size_t i;

	for (i = 0; i < f->registries.n; i++)
		if (str_eq(f->registries.v[i].name, name) &&
		    registry_of_operator(&f->registries.v[i], a, &r, e) < 0)
			return -1;
	if (f->registries.n && !r.hosts.n)
		return err_set(e, ERR_HOST,
			       "the operator gives boxes nothing of %s (" OPERATOR_FILE
			       ": registries)",
			       name);
	if (!r.hosts.n)
		root_dfd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (s = sources; s < sources + ARRAY_SIZE(sources) && root_dfd >= 0; s++)
		if (str_eq(s->registry, name) && (!r.hosts.n || s->goes_on))
			source_read(root_dfd, s, a, &r);
	if (!r.hosts.n)
		return err_set(e, ERR_HOST,
			       "@%s: nothing in the root filesystem says which hosts these are; the "
			       "operator can (" OPERATOR_FILE ": registries), or name them",
			       name);
	if (root_dfd >= 0 && !str_eq(root, "/") && registry_refuse_private(&r, e) < 0)
		return -1;
	*ret = r;
	return 0;
}

int registry_expand(struct strings *rules, const char *root, const struct operator_file *f,
		    struct arena *a, struct error *e)
{
	struct strings all = {.v = arena_array(a, EGRESS_RULES_MAX + 1, char *)};
	struct registry r;
	size_t i, j;

	for (i = 0; i < rules->n; i++) {
		if (*rules->v[i] == '@' &&
		    (registry_check(rules->v[i], e) < 0 ||
		     registry_find(rules->v[i] + 1, root, f, a, &r, e) < 0))
			return err_wrap(e, "--allow %s", rules->v[i]);
		if (*rules->v[i] != '@')
			r.hosts = (struct strings){.n = 1, .v = &rules->v[i]};
		for (j = 0; j < r.hosts.n; j++) {
			if (all.n == EGRESS_RULES_MAX)
				return err_set(e, ERR_USAGE, "more than %d rules",
					       EGRESS_RULES_MAX);
			all.v[all.n++] = r.hosts.v[j];
		}
	}
	*rules = all;
	return 0;
}
