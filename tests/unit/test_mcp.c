/* Messages of JSON-RPC, lines, and what tools make of arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approve/approve.h"
#include "json/span.h"
#include "mcp/line.h"
#include "mcp/message.h"
#include "mcp/tool.h"
#include "unit.h"

static struct arena arena;

static const char *member(const char *text, const char *key)
{
	struct json_span s = json_span_member(text, strlen(text), key);

	return s.text ? arena_strndup(&arena, s.text, s.len) : "none";
}

TEST(members_are_found_as_they_stand)
{
	CHECK_STR(member("{\"a\":1,\"b\":[1,{\"c\":\"]}\"}],\"d\":\"x\\\"y\"}", "b"),
		  "[1,{\"c\":\"]}\"}]");
	CHECK_STR(member("{\"a\":1,\"b\":2}", "b"), "2");
	CHECK_STR(member(" { \"a\" : \"x\\\\\" , \"b\" : null } ", "b"), "null");
	CHECK_STR(member("{\"\\u0061\\u0062\":7}", "ab"), "7");
	CHECK_STR(member("{\"ab\":7}", "a"), "none");
	CHECK_STR(member("{\"a\":{\"b\":1}}", "b"), "none");
	CHECK_STR(member("[\"b\",1]", "b"), "none");
	CHECK_STR(member("{\"a\":\"b", "a"), "none");
	CHECK_STR(member("{\"a\":[[[[", "a"), "none");
	CHECK_STR(member("{\"a\"", "a"), "none");
	CHECK_STR(member("{\"a\\", "a"), "none");
	CHECK_STR(member("{\"\\u00", "a"), "none");
	CHECK_STR(member("", "a"), "none");
}

static const char *elements(const char *text)
{
	struct json_span list = {text, strlen(text)}, one = {0};
	struct buf b = buf_new(&arena, 1 << 12);

	while ((one = json_span_element(list, one)).text) {
		buf_add(&b, one.text, one.len);
		buf_char(&b, ';');
	}
	return b.len ? b.data : "none";
}

TEST(elements_are_found_as_they_stand)
{
	CHECK_STR(elements("[1, {\"a\":\"],\"} ,[2,3]]"), "1;{\"a\":\"],\"};[2,3];");
	CHECK_STR(elements("[]"), "none");
	CHECK_STR(elements(""), "none");
	CHECK_STR(elements("{\"a\":1}"), "none");
	CHECK_STR(elements("[1"), "1;");
	CHECK_STR(elements("[1,"), "1;");
	CHECK_STR(elements("[\"a"), "none");
	CHECK_STR(elements("null"), "none");
}

static int read_line(const char *text, struct message *m)
{
	struct error e;
	int code = 0;

	return message_parse(text, strlen(text), &arena, m, &code, &e) < 0 ? code : 0;
}

TEST(messages_are_told_apart)
{
	struct message m;

	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", &m), 0);
	CHECK(m.kind == MESSAGE_REQUEST);
	CHECK_STR(m.id, "1");
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\r", &m), 0);
	CHECK(m.kind == MESSAGE_NOTIFICATION);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}", &m), 0);
	CHECK(m.kind == MESSAGE_RESPONSE && m.result.text);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{}}", &m), 0);
	CHECK(m.kind == MESSAGE_RESPONSE && !m.result.text);
}

TEST(what_is_no_message_is_refused_to_whom_it_came_from)
{
	struct message m;

	CHECK_INT(read_line("nonsense", &m), RPC_PARSE);
	CHECK(!m.id);
	CHECK_INT(read_line("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]", &m), RPC_REQUEST);
	CHECK_INT(read_line("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}", &m), RPC_REQUEST);
	CHECK_STR(m.id, "1");
	CHECK_INT(
		read_line(
			"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"a\",\"params\":{\"c\":\"\\u0000\"}}",
			&m),
		RPC_PARSE);
	CHECK_STR(m.id, "9");
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\",\"params\":[1]}", &m),
		  RPC_PARAMS);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", &m), RPC_REQUEST);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}", &m), RPC_REQUEST);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"a\"}", &m), RPC_REQUEST);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":-,\"method\":\"a\"}", &m), RPC_PARSE);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":1}", &m), RPC_REQUEST);
	CHECK_INT(read_line("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"a\"}", &m),
		  RPC_PARSE);
}

TEST(lines_that_are_too_long_are_dropped_to_their_end)
{
	struct line_in in = {0};
	const char *line;
	size_t len, sent;
	int fds[2];
	char *text = malloc(1 << 16);

	CHECK(text && pipe(fds) == 0);
	in.fd = fds[0];
	memset(text, 'x', 1 << 16);
	for (sent = 0; sent <= MESSAGE_MAX; sent += 1 << 16) {
		CHECK_INT(write(fds[1], text, 1 << 16), 1 << 16);
		CHECK_INT(line_in_fill(&in), 0);
		if (line_in_next(&in, &line, &len) == LINE_TOO_LONG)
			break;
	}
	CHECK(sent > MESSAGE_MAX - (1 << 16) && in.dropping);
	CHECK_INT(write(fds[1], "tail\nnext\nhalf", 14), 14);
	CHECK_INT(line_in_fill(&in), 0);
	CHECK(line_in_next(&in, &line, &len) == LINE_FOUND && len == 4 && !memcmp(line, "next", 4));
	CHECK(line_in_next(&in, &line, &len) == LINE_NONE);
	close(fds[1]);
	CHECK_INT(line_in_fill(&in), -1);
	close(fds[0]);
	free(in.text);
	free(text);
}

static const char *words_of(const char *tool, const char *arguments)
{
	const struct tool *t = tool_find(tool);
	struct json_span given = {arguments, strlen(arguments)};
	struct buf b = buf_new(&arena, 1 << 16);
	struct tool_args args;
	struct job job;
	struct error e;
	size_t i, n;

	if (tool_plan(t, given, true, &args, &job, &arena, &e) < 0)
		return arena_strdup(&arena, e.text);
	for (i = 0; i < job.n; i++)
		for (n = 0; n < job.steps[i].argv.n; n++)
			buf_printf(&b, "%s%s", b.len ? " " : "", job.steps[i].argv.v[n]);
	return b.data;
}

TEST(arguments_become_single_words)
{
	CHECK_STR(words_of("box_exec", "{\"sandbox_id\":\"b\",\"command\":[\"--json\",\"a b\"]}"),
		  "box exec --json --redact -- b --json a b");
	CHECK_STR(words_of("code_read_file", "{\"sandbox_id\":\"b\",\"file_path\":\"--help\"}"),
		  "box read --json -- b --help");
	CHECK_STR(
		words_of(
			"code_execute",
			"{\"sandbox_id\":\"-b\",\"language\":\"python\",\"code\":\"1\",\"timeout\":5}"),
		"box run --json --redact --timeout 5 -- -b python -");
	CHECK(strstr(words_of("code_execute",
			      "{\"sandbox_id\":\"a b\",\"language\":\"python\",\"code\":\"1\"}"),
		     "sandbox_id"));
	CHECK(strstr(words_of("code_execute",
			      "{\"language\":\"python\",\"code\":\"1\",\"network_enabled\":true,"
			      "\"allowed_domains\":[\"-x\"]}"),
		     "--allow=-x"));
	CHECK_STR(words_of("code_execute", "{\"sandbox_id\":\"b\",\"language\":\"python\","
					   "\"code\":\"1\",\"session\":\"s\"}"),
		  "box run --json --session=s --redact -- b python -");
	CHECK_STR(words_of("box_allow", "{\"sandbox_id\":\"b\",\"hosts\":[\"--json\"]}"),
		  "box allow --json -- b --json");
	CHECK_STR(words_of("box_deny",
			   "{\"sandbox_id\":\"b\",\"hosts\":[\"a\"],\"remove\":true}"),
		  "box deny --json --remove -- b a");
	CHECK_STR(words_of("box_remove_snapshot", "{\"snapshot\":\"-x\"}"),
		  "box snapshots --remove -- -x");
	CHECK(strstr(words_of("box_fork", "{\"snapshot\":\"-x\"}"), " --from snapshot -- -x"));
	CHECK(strstr(words_of("box_list", "{\"x\":1}"), "x"));
}

TEST(every_tool_says_all_four_hints_and_a_schema)
{
	static const struct json_table any = {.name = "any", .size = 1};
	struct error e;
	size_t i;
	char object;

	for (i = 0; i < n_tools; i++) {
		struct buf b = buf_new(&arena, 1 << 16);

		tool_write(&tools[i], &b);
		CHECK_INT(json_read("tool", b.data, b.len, &any, &json_default_limits, &object,
				    &arena, &e),
			  0);
		CHECK(strstr(b.data, "readOnlyHint") && strstr(b.data, "destructiveHint") &&
		      strstr(b.data, "idempotentHint") && strstr(b.data, "openWorldHint"));
		CHECK(strlen(tools[i].name) <= 40);
	}
}

/* ---- what rules judge ---- */

static const char *pairs_text(const struct pairs *p)
{
	struct buf b = buf_new(&arena, 1 << 12);
	size_t i;

	for (i = 0; i < p->n; i++)
		buf_printf(&b, "%s%s", i ? "|" : "", p->v[i].value);
	return b.data;
}

static void spell(const char *key, char *value, struct approve_call *ret)
{
	struct tool_args g = {.hosts = {1, (char *[]){value, NULL}}};
	struct pair one = {arena_strdup(&arena, key), value};

	spelling_read(&g, &(struct pairs){1, &one}, ret, &arena);
}

static const char *used_of(const char *key, const char *value)
{
	struct approve_call c;

	spell(key, arena_strdup(&arena, value), &c);
	return pairs_text(&c.used);
}

TEST(rules_judge_what_will_be_used)
{
	CHECK_STR(used_of("language", "sh"), "shell");
	CHECK_STR(used_of("language", "cobol"), "cobol");
	CHECK_STR(used_of("file_path", "evil.sh/"), "evil.sh");
	CHECK_STR(used_of("file_path", "/workspace//a/./keep2.sh/."), "a/keep2.sh");
	CHECK_STR(used_of("path", "/workspace"), ".");
	CHECK_STR(used_of("file_path", "a/../keep.txt"), "a/../keep.txt");
	CHECK_STR(used_of("hosts", "EVIL.example."), "evil.example");
	CHECK_STR(used_of("hosts", ".Evil.example.:0443"), "**.evil.example:443");
	CHECK_STR(used_of("hosts", "*.Evil.example"), "*.evil.example");
	CHECK_STR(used_of("hosts", "[::FFFF:1.2.3.4]:80"), "1.2.3.4:80");
	CHECK_STR(used_of("hosts", "[2001:DB8::1]:80"), "[2001:db8::1]:80");
	CHECK_STR(used_of("hosts", "10.0.0.0/8:80"), "10.0.0.0/8:80");
	CHECK_STR(used_of("hosts", "No Host"), "No Host");
	CHECK_STR(used_of("code", "EVIL.example."), "EVIL.example.");
}

static struct approve_judgement judged(const char *key, const char *rule, const char *more,
				       const char *value)
{
	const char *text = arena_printf(&arena,
					"{\"version\":1,\"rules\":[{\"tools\":[\"*\"],%s,"
					"\"conditions\":[{\"param\":\"%s\",%s}]}]}",
					more, key, rule);
	const struct approve_rules *r;
	struct approve_call c;
	struct error e;

	CHECK_INT(approve_rules_parse("rules", text, strlen(text), NULL, &arena, &r, &e), 0);
	spell(key, arena_strdup(&arena, value), &c);
	return approve_judge(r, "code_write_file", &c);
}

TEST(a_rule_that_denies_fits_in_every_spelling)
{
	static const char deny[] = "\"risk\":\"low\",\"deny\":true";

	CHECK(judged("language", "\"equals\":\"shell\"", deny, "bash").denied);
	CHECK(judged("language", "\"equals\":\"bash\"", deny, "shell").denied);
	CHECK(!judged("language", "\"equals\":\"bash\"", deny, "python").denied);
	CHECK(judged("file_path", "\"matches\":\"\\\\.sh$\"", deny, "evil.sh/").denied);
	CHECK(judged("file_path", "\"equals\":\"keep.txt\"", deny, "./keep.txt").denied);
	CHECK(judged("file_path", "\"equals\":\"/workspace/keep.txt\"", deny, "keep.txt").denied);
	CHECK(judged("file_path", "\"equals\":\"/workspace\"", deny, ".").denied);
	CHECK(judged("file_path", "\"matches\":\"\\\\.\\\\.\"", deny, "a/../b").denied);
	CHECK(judged("hosts", "\"equals\":\"evil.example\"", deny, "EVIL.example.:80").denied);
	CHECK(judged("hosts", "\"equals\":\"evil.example\"", deny, ".evil.example").denied);
	CHECK(!judged("hosts", "\"equals\":\"evil.example\"", deny, "*.evil.example").denied);
}

/* A rule may forbid all but what it names. */
TEST(a_rule_for_all_but_some_lets_these_pass)
{
	static const char deny[] = "\"risk\":\"low\",\"deny\":true";

	CHECK(!judged("language", "\"matches\":\"^(?!python$)\"", deny, "python").denied);
	CHECK(judged("language", "\"matches\":\"^(?!python$)\"", deny, "sh").denied);
	CHECK(!judged("file_path", "\"matches\":\"^(?!docs/)\"", deny, "docs/a").denied);
	CHECK(judged("file_path", "\"matches\":\"^(?!docs/)\"", deny, "a").denied);
	CHECK(!judged("hosts", "\"matches\":\"^(?!a[.]org:443$)\"", deny, "a.org:443").denied);
	CHECK(judged("hosts", "\"matches\":\"^(?!a[.]org:443$)\"", deny, "a.org").denied);
}

TEST(no_spelling_makes_a_call_less_risky)
{
	static const char low[] = "\"risk\":\"low\"", grave[] = "\"risk\":\"critical\"";
	static const char harmless[] = "\"matches\":\"^(?!.*[.]sh$)\"";

	CHECK(judged("file_path", "\"equals\":\"a.sh\"", low, "./a.sh").risk == RISK_LOW);
	CHECK(judged("file_path", harmless, low, "a.txt").risk == RISK_LOW);
	CHECK(judged("file_path", harmless, low, "a.sh/.").risk == RISK_HIGH);
	CHECK(judged("file_path", "\"equals\":\"x\"", low, "a.sh/").risk == RISK_HIGH);
	CHECK(judged("file_path", "\"equals\":\"/workspace/a\"", grave, "a").risk == RISK_CRITICAL);
	CHECK(judged("file_path", "\"equals\":\"/workspace/a\"",
		     "\"risk\":\"medium\",\"grants\":\"once\"", "a")
		      .most == SCOPE_ONCE);
}

int main(void)
{
	return unit_main();
}
