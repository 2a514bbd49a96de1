/* What a box may reach: names, addresses, rules and the decision, with every way around them that
 * others were caught by. */
#include "base/str.h"
#include "egress/egress.h"
#include "unit.h"

static struct egress_rules rules;

/* Rules as one text; a word that begins with '!' is denied. */
static void given(const char *text)
{
	char word[512];
	struct error e;

	rules.n = 0;
	while (*text) {
		size_t len = strcspn(text, " ");
		bool denies = text[0] == '!';

		snprintf(word, sizeof(word), "%.*s", (int)len - denies, text + denies);
		if (egress_rules_add(&rules, word, denies, &e) < 0)
			FAIL("%s: %s", word, e.text);
		text += len + (text[len] == ' ');
	}
}

static enum egress_verdict ask_bytes(const char *host, size_t len, uint16_t port)
{
	struct egress_host h;

	return egress_host_read(host, len, &h) ? egress_decide(&rules, &h, port) : EGRESS_BAD_HOST;
}

static enum egress_verdict ask(const char *host, uint16_t port)
{
	return ask_bytes(host, strlen(host), port);
}

static enum egress_place place(const char *text)
{
	struct egress_address a;

	if (!egress_address_read(text, strlen(text), &a))
		FAIL("%s is no address", text);
	return egress_address_place(&a);
}

static enum egress_verdict judge(const char *text, uint16_t port)
{
	struct egress_address a;

	CHECK(egress_address_read(text, strlen(text), &a));
	return egress_judge(&rules, &a, port);
}

TEST(without_rules_nothing_is_allowed)
{
	given("");
	CHECK(ask("example.org", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("11.0.0.1", 443) == EGRESS_NOT_ALLOWED);
	given("!example.org");
	CHECK(ask("example.com", 443) == EGRESS_NOT_ALLOWED);
}

TEST(a_name_is_that_name_alone)
{
	given("example.org");
	CHECK(ask("example.org", 443) == EGRESS_ALLOWED);
	CHECK(ask("example.org", 80) == EGRESS_ALLOWED);
	CHECK(ask("EXAMPLE.Org.", 80) == EGRESS_ALLOWED);
	CHECK(ask("example.org", 22) == EGRESS_NOT_ALLOWED);
	CHECK(ask("www.example.org", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("badexample.org", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("example.org.evil.com", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("example.or", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("example.orgx", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("org", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("example.org", 0) == EGRESS_BAD_HOST);
}

TEST(a_star_is_what_is_below_and_two_are_that_and_itself)
{
	static const char *const both[] = {"**.example.org", ".example.org"};
	size_t i;

	given("*.example.org");
	CHECK(ask("www.example.org", 443) == EGRESS_ALLOWED);
	CHECK(ask("a.b.example.org", 443) == EGRESS_ALLOWED);
	CHECK(ask("example.org", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("wwwexample.org", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask(".example.org", 443) == EGRESS_BAD_HOST);
	for (i = 0; i < ARRAY_SIZE(both); i++) {
		given(both[i]);
		CHECK(ask("www.example.org", 443) == EGRESS_ALLOWED);
		CHECK(ask("example.org", 443) == EGRESS_ALLOWED);
		CHECK(ask("wwwexample.org", 443) == EGRESS_NOT_ALLOWED);
	}
}

TEST(ports_are_those_of_the_rule)
{
	given("a.org:22 b.org !a.org:443");
	CHECK(ask("a.org", 22) == EGRESS_ALLOWED);
	CHECK(ask("a.org", 80) == EGRESS_NOT_ALLOWED);
	CHECK(ask("a.org", 443) == EGRESS_DENIED);
	CHECK(ask("b.org", 443) == EGRESS_ALLOWED);
}

TEST(what_is_denied_is_denied)
{
	given("**.example.org !secret.example.org !*.internal.example.org:443");
	CHECK(ask("www.example.org", 443) == EGRESS_ALLOWED);
	CHECK(ask("secret.example.org", 443) == EGRESS_DENIED);
	CHECK(ask("secret.example.org", 22) == EGRESS_DENIED);
	CHECK(ask("SECRET.example.org.", 443) == EGRESS_DENIED);
	CHECK(ask("a.internal.example.org", 443) == EGRESS_DENIED);
	CHECK(ask("a.internal.example.org", 80) == EGRESS_ALLOWED);
	given("!secret.example.org **.example.org");
	CHECK(ask("secret.example.org", 443) == EGRESS_DENIED);
}

TEST(a_zero_ends_no_name)
{
	given("*.google.com google.com");
	CHECK(ask_bytes("evil.com\0.google.com", 20, 443) == EGRESS_BAD_HOST);
	CHECK(ask_bytes("google.com\0", 11, 443) == EGRESS_BAD_HOST);
	CHECK(ask_bytes("\0", 1, 443) == EGRESS_BAD_HOST);
	CHECK(ask_bytes("", 0, 443) == EGRESS_BAD_HOST);
	given("1.2.3.4");
	CHECK(ask_bytes("1.2.3.4\0", 8, 443) == EGRESS_BAD_HOST);
	CHECK(ask_bytes("1.2.3.4\0.google.com", 19, 443) == EGRESS_BAD_HOST);
}

TEST(names_that_are_none_are_no_hosts)
{
	static const char *const bad[] = {
		"a b",		"a\tb",		"a\r\nb",
		"a/b",		"a@b",		"a:b",
		"a%b",		"a..b",		".a",
		"a..",		"a,b",		"[a]",
		"xn--\xc3\xa4", "\xc3\xa4.org", "1.2.3.4%x.allowed.com",
		"fe80::1%eth0", "::1%lo",	"*",
		"*.a",		"a?",		"a#",
		"a\\b",		"user@a",	"",
	};
	char name[300], label[70];
	struct egress_host h;
	size_t i;

	given("**.a **.b **.com");
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (ask(bad[i], 443) != EGRESS_BAD_HOST)
			FAIL("\"%s\" is a host", bad[i]);
	memset(label, 'a', sizeof(label));
	CHECK(egress_host_read(label, 63, &h));
	CHECK(!egress_host_read(label, 64, &h));
	for (i = 0; i < sizeof(name); i++)
		name[i] = i % 50 == 49 ? '.' : 'a';
	CHECK(egress_host_read(name, 253, &h));
	CHECK(!egress_host_read(name, 255, &h));
	CHECK(!egress_host_read(name, sizeof(name), &h));
}

/* Whatever a C library takes for an address is one here, too, or nothing. */
TEST(numbers_are_addresses_or_nothing)
{
	static const char *const bad[] = {
		"127.1",      "127.0.1",       "2130706433", "0x7f000001", "0x7f.1",
		"0177.0.0.1", "017700000001",  "127.0.0.1.", "0x7f.0.0.1", "1.2.3.256",
		"1.2.3.04",   "01.2.3.4",      "1.2.3",	     "1.2.3.4.5",  "0X7F.1",
		"a.1",	      "example.0x1",   "1.2.3.4..",  "0x",	   "example.0x",
		"4294967295", "00000000177.1",
	};
	struct egress_host h;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (egress_host_read(bad[i], strlen(bad[i]), &h) && !h.is_address)
			FAIL("\"%s\" is a name", bad[i]);
	CHECK(egress_host_read("1.2.3.4", 7, &h) && h.is_address);
	CHECK(egress_host_read("1.2.3.4a", 8, &h) && !h.is_address);
	CHECK(egress_host_read("0xg.org", 7, &h) && !h.is_address);
}

TEST(addresses_are_never_names)
{
	given("4.org **.org");
	CHECK(ask("1.2.3.4", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("1.2.3.4.org", 443) == EGRESS_ALLOWED);
}

TEST(addresses_that_are_not_public)
{
	static const char *const never[] = {
		"0.0.0.0",
		"0.1.2.3",
		"127.0.0.1",
		"127.255.255.255",
		"169.254.169.254",
		"169.254.0.1",
		"100.100.100.200",
		"168.63.129.16",
		"192.0.0.192",
		"192.0.2.1",
		"198.18.0.1",
		"198.19.255.255",
		"198.51.100.1",
		"203.0.113.9",
		"224.0.0.1",
		"239.255.255.255",
		"240.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::ffff:127.0.0.1",
		"::ffff:169.254.169.254",
		"::127.0.0.1",
		"64:ff9b::127.0.0.1",
		"64:ff9b::a9fe:a9fe",
		"2002:7f00:1::",
		"2002:a9fe:a9fe::1",
		"fe80::1",
		"febf::1",
		"ff02::1",
		"fd00:ec2::254",
		"fd00:ec2:1::1",
		"fd20:ce::254",
		"fd00:c1::a9fe:a9fe",
		"fd00:42::42",
		"fd00:a9fe:a9fe::1",
		"fd00:100::100:200",
		"2001::1",
		"2001:db8::1",
		"::ffff:0:127.0.0.1",
		"64:ff9b:1::1",
		"fec0::1",
		"100::1",
	};
	static const char *const private[] = {
		"10.0.0.1",	 "10.255.255.255",  "100.64.0.1",  "100.127.255.255",
		"172.16.0.1",	 "172.31.255.255",  "192.168.0.1", "fc00::1",
		"fd12::1",	 "::ffff:10.0.0.1", "::10.0.0.1",  "64:ff9b::10.0.0.1",
		"2002:0a00:1::",
	};
	static const char *const public[] = {
		"1.1.1.1",	  "9.255.255.255",   "11.0.0.0",	 "100.63.255.255",
		"100.128.0.0",	  "126.255.255.255", "128.0.0.0",	 "169.253.255.255",
		"169.255.0.0",	  "172.15.255.255",  "172.32.0.0",	 "192.167.255.255",
		"192.169.0.0",	  "198.17.255.255",  "198.20.0.0",	 "223.255.255.255",
		"2600::1",	  "2a00::1",	     "64:ff9b::1.1.1.1", "2002:0101:0101::1",
		"::ffff:1.1.1.1",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (place(never[i]) != EGRESS_NEVER)
			FAIL("%s can be reached", never[i]);
	for (i = 0; i < ARRAY_SIZE(private); i++)
		if (place(private[i]) != EGRESS_PRIVATE)
			FAIL("%s is not private", private[i]);
	for (i = 0; i < ARRAY_SIZE(public); i++)
		if (place(public[i]) != EGRESS_PUBLIC)
			FAIL("%s is not public", public[i]);
}

TEST(what_an_allowed_name_stands_for_is_judged)
{
	given("example.org");
	CHECK(judge("1.1.1.1", 443) == EGRESS_ALLOWED);
	CHECK(judge("10.0.0.1", 443) == EGRESS_BAD_ADDRESS);
	CHECK(judge("127.0.0.1", 443) == EGRESS_BAD_ADDRESS);
	given("example.org 10.0.0.0/8:5432 !1.1.1.0/24");
	CHECK(judge("10.0.0.1", 5432) == EGRESS_ALLOWED);
	CHECK(judge("10.0.0.1", 443) == EGRESS_BAD_ADDRESS);
	CHECK(judge("1.1.1.1", 443) == EGRESS_DENIED);
	CHECK(judge("1.1.2.1", 443) == EGRESS_ALLOWED);
}

TEST(addresses_by_rules)
{
	given("10.0.0.0/8 11.1.2.3:22 [2600::1]:443 fd00::/8 64.0.0.0/2 0.0.0.0/1:9 128.0.0.0/1:9");
	CHECK(ask("10.1.2.3", 443) == EGRESS_ALLOWED);
	CHECK(ask("10.1.2.3", 22) == EGRESS_NOT_ALLOWED);
	CHECK(ask("11.1.2.3", 22) == EGRESS_ALLOWED);
	CHECK(ask("11.1.2.4", 22) == EGRESS_NOT_ALLOWED);
	CHECK(ask("2600::1", 443) == EGRESS_ALLOWED);
	CHECK(ask("2600:0:0::0:1", 443) == EGRESS_ALLOWED);
	CHECK(ask("2600::2", 443) == EGRESS_NOT_ALLOWED);
	CHECK(ask("fd12::1", 80) == EGRESS_ALLOWED);
	CHECK(ask("fd00:ec2::254", 80) == EGRESS_BAD_ADDRESS);
	CHECK(ask("127.0.0.1", 80) == EGRESS_BAD_ADDRESS);
	CHECK(ask("::ffff:127.0.0.1", 80) == EGRESS_BAD_ADDRESS);
	CHECK(ask("169.254.169.254", 9) == EGRESS_BAD_ADDRESS);
	CHECK(ask("8.8.8.8", 9) == EGRESS_ALLOWED);
	CHECK(ask("::ffff:11.1.2.3", 22) == EGRESS_ALLOWED); /* which is what it is */
}

TEST(rules_that_are_none_say_why)
{
	static const struct {
		const char *rule, *why;
	} bad[] = {
		{"", "neither"},
		{"*", "every host"},
		{"**", "every host"},
		{"*:443", "every host"},
		{".", "every host"},
		{"a b", "neither"},
		{"https://a.org/", "URL"},
		{"a.org/x", "a host with a path: a rule is its host alone, a.org"},
		{"a.org:0", "a port is one number"},
		{"a.org:65536", "a port is one number"},
		{"a.org:", "a port is one number"},
		{"a.org:x", "a port is one number"},
		{"*a.org", "at the beginning alone"},
		{"a.*.org", "at the beginning alone"},
		{"*.1.2.3.4", "neither"},
		{"**.10.0.0.1", "neither"},
		{"10.0.0.0/33", "range"},
		{"10.0.0.1/8", "more bits"},
		{"10.0.0.0/", "range"},
		{"10.0.0.0/8:0", "range"},
		{"fd00::1/8", "more bits"},
		{"[fd00::]/129", "range"},
		{"127.1", "all four numbers"},
		{"127.0.0.1:8080", "this machine"},
		{"127.0.0.0/8", "this machine"},
		{"127.1.2.0/24", "this machine"},
		{"0.0.0.0", "this machine"},
		{"::", "this machine"},
		{"[::1]:80", "this machine"},
		{"::ffff:127.0.0.1", "this machine"},
		{"169.254.169.254", "link-local"},
		{"169.254.169.254:8080", "link-local"},
		{"[fd00:ec2::254]:80", "a cloud"},
		{"203.0.113.9", "reserved"},
		{"224.0.0.1/32", "reserved"},
		{"localhost:8080", "this machine"},
		{"LocalHost.", "this machine"},
		{"a.localhost", "this machine"},
		{"*.localhost", "this machine"},
		{"0.0.0.0/0", "every host"},
		{"0.0.0.0/0:443", "every host"},
		{"::/0", "every host"},
		{"[::]/0:443", "every host"},
		{"a.org:53", "names"},
		{"[1.2.3.4]:80", "neither"},
		{"[a.org]:80", "neither"},
		{"user@a.org", "an account at a host: a rule is its host alone, a.org"},
		{"git@a.org:x.git", "its host and port alone, a.org:22"},
		{"http://a.org", "a URL: a rule is its host alone, a.org"},
		{"https://u:p@a.org:8443/x?y@z#t", "its host and port alone, a.org:8443"},
		{"SSH://git@a.org/x", "its host and port alone, a.org:22"},
		{"https://[fd00::1]:8443/", "its host and port alone, [fd00::1]:8443"},
		{"https://a b/", "a URL: a rule is a host alone"},
		{"cafe.de/x:1", "a host with a path"},
		{"*.a.org:80,443", "a port is one number"},
		{"[fd00::1]:80-90", "a port is one number"},
		{"ex\xc3\xa4mple.org", "other letters"},
		{"a.org:22/tcp", "its host and port alone, a.org:22"},
		{"*.a.org/x", "a host with a path"},
		{"*.", "neither"},
		{"*.*.org", "at the beginning alone"},
	};
	struct error e;
	size_t i;

	rules.n = 0;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		e.text[0] = '\0';
		if (egress_rules_add(&rules, bad[i].rule, false, &e) == 0)
			FAIL("\"%s\" is a rule", bad[i].rule);
		if (!strstr(e.text, bad[i].why))
			FAIL("\"%s\": %s", bad[i].rule, e.text);
	}
	CHECK(rules.n == 0);
}

TEST(rules_have_their_most)
{
	uint16_t ports[EGRESS_PORTS_MAX];
	char text[32];
	struct error e;
	size_t n;
	int i;

	given("a.org b.org:22 c.org:443 !d.org:99");
	CHECK(egress_rules_ports(&rules, ports, &n, &e) == 0);
	CHECK_INT(n, 3);
	rules.n = 0;
	for (i = 0; i < EGRESS_RULES_MAX; i++) {
		snprintf(text, sizeof(text), "a.org:%d", 1000 + i);
		CHECK(egress_rules_add(&rules, text, false, &e) == 0);
	}
	CHECK(egress_rules_add(&rules, "a.org", false, &e) < 0);
	CHECK(egress_rules_ports(&rules, ports, &n, &e) < 0);
}

TEST(hosts_with_ports)
{
	struct egress_host h;
	uint16_t port = 7;

	CHECK(egress_host_port_read("a.org:80", 8, &h, &port) && port == 80);
	port = 7;
	CHECK(egress_host_port_read("a.org", 5, &h, &port) && port == 7);
	CHECK(egress_host_port_read("[::1]:80", 8, &h, &port) && port == 80 && h.is_address);
	CHECK(egress_host_port_read("::1", 3, &h, &port) && h.is_address);
	CHECK(!egress_host_port_read("[::1", 4, &h, &port));
	CHECK(!egress_host_port_read("[::1]x", 6, &h, &port));
	CHECK(!egress_host_port_read("[::1]:", 6, &h, &port));
	CHECK(!egress_host_port_read("a.org:80:80", 11, &h, &port));
	CHECK(!egress_host_port_read("a.org:080000", 12, &h, &port));
	CHECK(!egress_host_port_read("a.org:+80", 9, &h, &port));
	CHECK(!egress_host_port_read("u@a.org:80", 10, &h, &port));
}

TEST(questions_for_names_have_no_port)
{
	struct egress_host h;

	given("a.org:22 !b.org **.c.org !x.c.org:80 !y.c.org");
	CHECK(egress_host_read("a.org", 5, &h) && egress_decide_name(&rules, &h) == EGRESS_ALLOWED);
	CHECK(egress_host_read("b.org", 5, &h) && egress_decide_name(&rules, &h) == EGRESS_DENIED);
	CHECK(egress_host_read("x.c.org", 7, &h) &&
	      egress_decide_name(&rules, &h) == EGRESS_ALLOWED);
	CHECK(egress_host_read("y.c.org", 7, &h) &&
	      egress_decide_name(&rules, &h) == EGRESS_DENIED);
	CHECK(egress_host_read("d.org", 5, &h) &&
	      egress_decide_name(&rules, &h) == EGRESS_NOT_ALLOWED);
}

int main(void)
{
	return unit_main();
}
