/* Boxes that stay: what is pure of them, paths below the workspace and the operator's file. */
#include "base/str.h"
#include "box/files.h"
#include "box/operator.h"
#include "sys/loop.h"
#include "unit.h"

static struct arena arena;

static const char *path_of(const char *text)
{
	struct error e = {0};
	const char *path = files_path(text, &arena, &e);

	return path ? path : files_error_type(&e);
}

TEST(paths_lie_below_the_workspace)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{"a", "a"},
		{"a/b", "a/b"},
		{"./a//b/.", "a/b"},
		{"", "."},
		{".", "."},
		{"/workspace", "."},
		{"/workspace/", "."},
		{"/workspace/a", "a"},
		{"/workspace//a", "a"},
		{"workspace/a", "workspace/a"},
		{"...", "..."},
		{"a..", "a.."},
		{"/workspacex", "InvalidPathError"},
		{"/etc/passwd", "InvalidPathError"},
		{"/", "InvalidPathError"},
		{"..", "InvalidPathError"},
		{"a/..", "InvalidPathError"},
		{"a/../b", "InvalidPathError"},
		{"/workspace/../etc", "InvalidPathError"},
	};
	char text[8192];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK(str_eq(path_of(cases[i].text), cases[i].path));
	memset(text, 'a', sizeof(text));
	text[256] = '\0';
	CHECK(str_eq(path_of(text), "InvalidPathError"));
	text[255] = '\0';
	CHECK(str_eq(path_of(text), text));
	for (i = 0; i < 130; i++)
		text[i] = i % 2 ? '/' : 'a';
	text[129] = '\0';
	CHECK(str_eq(path_of(text), "InvalidPathError"));
	text[127] = '\0';
	CHECK(str_eq(path_of(text), text));
	memset(text, '/', 5000);
	text[5000] = '\0';
	CHECK(str_eq(path_of(text), "InvalidPathError"));
}

static int parse(const char *text, struct operator_file *ret)
{
	struct error e;

	return operator_parse(text, strlen(text), &arena, ret, &e);
}

TEST(the_operators_file_is_read_strictly)
{
	static const char *const bad[] = {
		"", "{}", "{\"version\":2}", "{\"version\":1,\"x\":1}", "{\"version\":1,\"boxes\":null}",
		"{\"version\":1,\"boxes\":-1}", "{\"version\":1,\"idle_s\":0}",
		"{\"version\":1,\"limits\":{\"memory\":1}}",
		"{\"version\":1,\"limits\":{\"max_output_bytes\":-1}}",
		"{\"version\":1,\"languages\":{\"cobol\":\"x\"}}", "{\"version\":1}x",
	};
	struct operator_file f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(parse(bad[i], &f) < 0);
	CHECK(parse("{\"version\":1,\"boxes\":0,\"limits\":{\"max_pids\":7}}", &f) == 0);
	CHECK(f.boxes.set && f.boxes.v == 0 && f.limits.pids.set && f.limits.pids.v == 7);
}

TEST(what_is_asked_for_is_refused_and_what_is_not_is_lowered)
{
	const struct operator_given none = {0}, all = {true, true, true, true, true, true};
	struct operator_file f;
	struct box_request q;
	struct error e;

	CHECK(parse("{\"version\":1,\"limits\":{\"max_memory_mb\":64,\"max_cpu_percent\":50,"
		    "\"max_pids\":5,\"max_disk_mb\":1,\"max_execution_time\":2,"
		    "\"max_output_bytes\":9}}",
		    &f) == 0);
	box_request_default(&q);
	CHECK(operator_hold(&f, &all, &q, &e) < 0);
	box_request_default(&q);
	CHECK(operator_hold(&f, &none, &q, &e) == 0);
	CHECK(q.limits.memory == 64 << 20 && q.limits.cpus == 500 && q.limits.pids == 5);
	CHECK(q.limits.disk == 1 << 20 && q.limits.timeout_ns == 2 * LOOP_SECOND);
	CHECK(q.limits.output == 9);
	CHECK(operator_hold(&f, &all, &q, &e) == 0); /* exactly that may be asked for */
	q.limits.timeout_ns++;
	CHECK(operator_hold_call(&f, &all, &q, &e) < 0);
}

int main(void)
{
	return unit_main();
}
