/* What a box that stays may reach, and packages: what is pure of box/ and net/ there. */
#include "base/str.h"
#include "box/install.h"
#include "box/network_stay.h"
#include "box/registries.h"
#include "net/limit.h"
#include "sys/loop.h"
#include "unit.h"

static struct arena arena;
static struct error e;

static struct strings words(const char *text)
{
	struct strings l = {.v = arena_array(&arena, 16, char *)};
	char *copy = arena_strdup(&arena, text), *save = NULL, *word;

	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		l.v[l.n++] = word;
	return l;
}

static const char *joined(const struct strings *l)
{
	struct buf b = buf_new(&arena, 4096);
	size_t i;

	for (i = 0; i < l->n; i++)
		buf_printf(&b, "%s%s", i ? " " : "", l->v[i]);
	return b.len ? b.data : "";
}

TEST(rules_are_added_and_taken_away)
{
	struct network_rules r = {.allow = words("a.org b.org")};
	struct network_change c = {.allow = words("c.org a.org")};

	CHECK(network_rules_change(&r, &c, &arena, &e) == 0);
	CHECK_STR(joined(&r.allow), "a.org b.org c.org");
	c = (struct network_change){.deny = words("x.org:22")};
	CHECK(network_rules_change(&r, &c, &arena, &e) == 0);
	c = (struct network_change){.allow = words("x.org:22")};
	CHECK(network_rules_change(&r, &c, &arena, &e) < 0);
	c = (struct network_change){.allow = words("b.org"), .remove = true};
	CHECK(network_rules_change(&r, &c, &arena, &e) == 0);
	CHECK_STR(joined(&r.allow), "a.org c.org");
	CHECK(network_rules_change(&r, &c, &arena, &e) < 0);
	c = (struct network_change){.allow = words("*")};
	CHECK(network_rules_change(&r, &c, &arena, &e) < 0);
	arena_free(&arena);
}

static bool covers(const char *rule, const char *other)
{
	static struct egress_rules r;

	r.n = 0;
	CHECK(egress_rules_add(&r, rule, false, &e) == 0);
	CHECK(egress_rules_add(&r, other, false, &e) == 0);
	return egress_rule_covers(&r.v[0], &r.v[1]);
}

TEST(a_rule_covers_what_is_no_more_than_it)
{
	static const char *const yes[][2] = {
		{"a.org", "a.org"},
		{"a.org", "a.org:443"},
		{"*.a.org", "x.a.org"},
		{"*.a.org", "*.x.a.org"},
		{"*.a.org", "**.x.a.org"},
		{"**.a.org", "a.org"},
		{"**.a.org", "*.a.org"},
		{"10.0.0.0/8", "10.1.0.0/16"},
		{"10.0.0.0/8:22", "10.1.1.1:22"},
	};
	static const char *const no[][2] = {
		{"a.org:443", "a.org"}, {"a.org", "a.org:22"}, {"a.org:22", "a.org:23"},
		{"a.org", "*.a.org"}, {"*.a.org", "a.org"}, {"*.a.org", "**.a.org"},
		{"*.a.org", "xa.org"}, {"*.x.a.org", "*.a.org"}, {"a.org", "b.org"},
		{"10.0.0.0/8", "11.0.0.1"}, {"10.0.0.0/16", "10.0.0.0/8"}, {"10.0.0.0/8", "a.org"},
		{"fd00::/8", "10.0.0.1"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yes); i++)
		if (!covers(yes[i][0], yes[i][1]))
			FAIL("%s does not cover %s", yes[i][0], yes[i][1]);
	for (i = 0; i < ARRAY_SIZE(no); i++)
		if (covers(no[i][0], no[i][1]))
			FAIL("%s covers %s", no[i][0], no[i][1]);
}

TEST(what_is_carried_has_a_most_and_a_rate)
{
	struct limit l = {0};
	int64_t now = 5 * LOOP_SECOND, until;

	CHECK_INT(limit_room(&l, 70000, now), 70000);
	limit_set(&l, 100, 0);
	CHECK_INT(limit_room(&l, 70000, now), 100);
	limit_spend(&l, 60);
	CHECK_INT(limit_room(&l, 70000, now), 40);
	limit_spend(&l, 40);
	CHECK(limit_is_spent(&l) && !limit_room(&l, 1, now) && !limit_pauses(&l, now, &until));
	CHECK(limit_has(&l, 0) && !limit_has(&l, 1));
	/* More is allowed later: what was carried still counts. */
	limit_set(&l, 150, 0);
	CHECK_INT(limit_room(&l, 70000, now), 50);
	CHECK(limit_has(&l, 50) && !limit_has(&l, 51));
	l = (struct limit){0};
	limit_set(&l, 0, 100000);
	CHECK_INT(limit_room(&l, 70000, now), 10000);
	limit_spend(&l, 10000);
	CHECK(limit_pauses(&l, now, &until) && until > now);
	CHECK_INT(limit_room(&l, 70000, now + LOOP_SECOND / 20), 5000);
	limit_spend(&l, 5000);
	/* A long pause is worth one burst. */
	CHECK_INT(limit_room(&l, 70000, now + 100 * LOOP_SECOND), 10000);
}

TEST(names_of_packages_are_names)
{
	static const char *const pypi[] = {"a", "A.b_c-1", "numpy==1.26.4", "x==1!2.0+local"};
	static const char *const npm[] = {"a", "@a/b", "@a/b@1.2.3", "left-pad==1.0.0", "a@latest"};
	static const char *const bad[] = {"",	      "-r",   "--x",   "a b",	"a/b",
					  "./a",      "..",   "a.whl", "A.ZIP", "git+https://a/b",
					  "http://a", "a[b]", "a;b",   "a==",	"a==-1",
					  "a==*",     "a>=1", "a@",    "a\nb",	"a==1\n",
					  "\xc3\xa4"};
	struct install x;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pypi); i++)
		CHECK(install_read("pypi", pypi[i], &arena, &x, &e) == 0);
	for (i = 0; i < ARRAY_SIZE(npm); i++)
		CHECK(install_read("npm", npm[i], &arena, &x, &e) == 0);
	CHECK(install_read("npm", "@a/b@1.2.3", &arena, &x, &e) == 0);
	CHECK_STR(x.name, "@a/b");
	CHECK_STR(x.version, "1.2.3");
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (install_read("pypi", bad[i], &arena, &x, &e) == 0 ||
		    install_read("npm", bad[i], &arena, &x, &e) == 0)
			FAIL("%s is a name", bad[i]);
	CHECK(install_read("pypi", "a@1", &arena, &x, &e) < 0);
	CHECK(install_read("npm", "@a", &arena, &x, &e) < 0);
	CHECK(install_read("cargo", "a", &arena, &x, &e) < 0);
	arena_free(&arena);
}

static size_t report(const char *registry, const char *text, struct installed **v)
{
	const struct install x = {.registry = registry, .package = "a", .name = "a"};

	return install_read_report(&x, text, strlen(text), &arena, v);
}

TEST(reports_are_read_as_what_a_box_says)
{
	struct installed *v = NULL;

	CHECK_INT(report("pypi",
			 "{\"install\":[{\"metadata\":{\"name\":\"a\",\"version\":\"1\",\"x\":[]},"
			 "\"download_info\":{\"archive_info\":{\"hashes\":{\"sha256\":\"00ff\"}}}},"
			 "{\"metadata\":{\"name\":\"b\",\"version\":\"2\"},\"download_info\":{"
			 "\"archive_info\":{\"hash\":\"sha256=11\"}}},{\"metadata\":{\"name\":\"-r\","
			 "\"version\":\"1\"}},{\"metadata\":{\"name\":\"c\",\"version\":\"1\\u001b[2J\"}}]}",
			 &v), 2);
	CHECK_STR(v[0].hash, "sha256:00ff");
	CHECK_STR(v[1].hash, "sha256:11");
	CHECK_INT(report("npm",
			 "{\"packages\":{\"\":{},\"node_modules/a\":{\"version\":\"1.0.0\","
			 "\"integrity\":\"sha512-a+/=\"},\"node_modules/a/node_modules/@s/b\":{"
			 "\"version\":\"2.0.0\",\"integrity\":\"x\\ny\"},\"../../x\":{\"version\":\"1\"}}}",
			 &v), 2);
	CHECK_STR(v[1].name, "@s/b");
	CHECK(!v[1].hash);
	CHECK_INT(report("pypi", "[]", &v), 0);
	CHECK_INT(report("pypi", "{\"install\":{}}", &v), 0);
	CHECK_INT(report("npm", "{\"packages\":", &v), 0);
	arena_free(&arena);
}

static const char *hosts(enum registry_form form, const char *text)
{
	struct registry r = {.name = "x"};

	registry_read(&r, form, text, &arena);
	return joined(&r.hosts);
}

TEST(hosts_of_registries_are_hosts)
{
	CHECK_STR(hosts(REGISTRY_PIP_CONF, "[global]\nindex-url=https://a.org/simple\n"),
		  "a.org:443");
	CHECK_STR(hosts(REGISTRY_PIP_CONF,
			"# index-url = https://x.org\nextra-index-url =\n  http://u:p@b.org:8080/\n"
			"  https://[fd00::1]:444/x\nother = https://y.org\n"),
		  "b.org:8080 [fd00::1]:444");
	CHECK_STR(hosts(REGISTRY_PIP_CONF,
			"index-url = https://127.1/ ftp://c.org file:///x https://"),
		  "");
	CHECK_STR(hosts(REGISTRY_NPM_CONF,
			"xregistry=https://x.org\n@s:registry = \"https://b.org/\"\n"),
		  "b.org:443");
	CHECK_STR(hosts(REGISTRY_APT_LIST, "deb [a=b c=d] http://d.org/x s m\n#deb http://e.org\n"
					   "deb-src http://f.org/ s\ndeb http://d.org/y s\n"),
		  "d.org:80");
	CHECK_STR(hosts(REGISTRY_APT_SOURCES, "URIs: http://d.org http://e.org:81/\n http://f.org\n"
					      "Suites: http://g.org\n"),
		  "d.org:80 e.org:81 f.org:80");
	CHECK_STR(hosts(REGISTRY_PIP_CODE,
			"x\nPyPI = PackageIndex(\"https://p.org/\", y=\"f.org\")\n"
			"PyPI2 = PackageIndex(\"https://q.org/\")"),
		  "p.org:443 f.org:443");
	CHECK_STR(hosts(REGISTRY_PIP_CODE, "\nPyPI = PackageIndex(\"https://p.org/"), "");
	arena_free(&arena);
}

int main(void)
{
	return unit_main();
}
