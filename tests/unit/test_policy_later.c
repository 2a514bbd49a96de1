/*
 * What becomes of a file of policies when sbxrun has learnt new rows. No release has any yet, so
 * the sources that know the table are compiled here once more, with two rows more, and take the
 * place of those in the library.
 */
#define POLICY_LATER_ROWS "../../tests/unit/later_rows.def"
#define cli_policy later_cli_policy
#define policy_print_row later_print_row
/* clang-format off */
#include "cli/policy.c"
#include "policy/rows.c"
#include "policy/compare.c"
#include "policy/file.c"
/* clang-format on */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "unit.h"

static struct arena arena;
static struct error e;

/* Presets that have a word in the new rows, too. */
const char *const policy_preset_names[PRESET_COUNT] = {
	[PRESET_OCI] = "oci", [PRESET_ENGINE] = "engine", [PRESET_CODE] = "code"};

static const char *const few[] = {"CAP_CHOWN", "CAP_KILL"};
static const struct policy presets[PRESET_COUNT] = {
	[PRESET_OCI] = {.name = "oci",
			.level = {[0 ... LEVEL_COUNT - 1] = AS_ASKED},
			.list = {[0 ... LIST_COUNT - 1] = {2, few}}},
	[PRESET_ENGINE] = {.name = "engine",
			   .level = {[0 ... LEVEL_COUNT - 1] = 2},
			   .list = {[0 ... LIST_COUNT - 1] = {1, few}}},
	[PRESET_CODE] = {.name = "code",
			 .level = {[0 ... LEVEL_LATER - 1] = 2, [LEVEL_LATER] = 3}},
};

const struct policy *policy_preset_find(const char *name)
{
	size_t i;

	for (i = 0; i < PRESET_COUNT; i++)
		if (str_eq(presets[i].name, name))
			return &presets[i];
	return NULL;
}

static struct policy_file read_file(const char *text)
{
	struct policy_file f;

	if (policy_file_read(text, strlen(text), &arena, &f, &e) < 0)
		FAIL("%s", e.text);
	return f;
}

static struct policy find(const struct policy_file *f, const char *name)
{
	struct policy p;

	if (policy_find(f, name, &arena, &p, &e) < 0)
		FAIL("%s", e.text);
	return p;
}

/* What `policy check` says of a file. */
static const char *check(const char *text)
{
	static char path[] = "/tmp/policy-later.XXXXXX", verb[] = "check";
	char *args[] = {verb, path};
	struct cli c = {.arena = &arena, .args = args, .n_args = 2};
	struct policies none = {0};
	struct buf b = buf_new(&arena, OUTPUT_MAX);
	autoclose int fd = -1;
	int result = -1;

	memcpy(strrchr(path, '.'), ".XXXXXX", 7);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		result = policy_check(&c, &none, &b, &e);
	unlink(path);
	if (result < 0)
		FAIL("%s", e.text);
	return arena_printf(&arena, "%.*s", (int)(b.len - strlen(path)), b.data + strlen(path));
}

TEST(the_version_is_that_of_the_newest_row)
{
	CHECK(POLICY_VERSION == 2);
}

#define OLD                                                                                        \
	"{\"version\": 1, \"policies\": {\"a\": {\"proc\": \"pids\", "                             \
	"\"capabilities\": {\"deny\": [\"CAP_CHOWN\"], \"allow\": [\"CAP_KILL\"]}}, "              \
	"\"b\": {\"base\": \"code\"}, \"c\": {\"base\": \"b\", \"root\": \"as-asked\"}}}"

TEST(an_older_file_keeps_its_meaning)
{
	struct policy_file f = read_file(OLD);
	struct policy a = find(&f, "a"), b = find(&f, "b"), c = find(&f, "c");
	size_t i;

	for (i = 0; i < LEVEL_COUNT; i++)
		CHECK(a.level[i] == (i == LEVEL_PROC ? PROC_PIDS : 2));
	for (i = 0; i < LIST_COUNT; i++)
		CHECK(a.list[i].n == 1 && str_eq(a.list[i].v[0], i == LIST_CAPS ? few[1] : few[0]));
	for (i = 0; i < LEVEL_COUNT; i++) {
		CHECK(b.level[i] == presets[PRESET_CODE].level[i]);
		CHECK(c.level[i] == (i == LEVEL_ROOT ? AS_ASKED : b.level[i]));
	}
	/* The new rows are as the preset at the end of the bases has them. */
	CHECK(a.level[LEVEL_LATER] == 2 && c.level[LEVEL_LATER] == 3);
	CHECK(a.list[LIST_LATER_WORDS].n == 1 && c.list[LIST_LATER_WORDS].n == 0);
}

TEST(check_names_the_rows_that_an_older_file_does_not_know)
{
	CHECK_STR(check(OLD), ": ok, version 1, 3 policies\n"
			      "  later: newer than version 1; it is as the base has it\n"
			      "  later-words: newer than version 1; it is as the base has it\n");
	CHECK_STR(check("{\"version\": 2, \"policies\": {\"a\": {\"later\": \"whole\"}}}"),
		  ": ok, version 2, 1 policy\n");
}

TEST(a_row_that_is_newer_than_its_file_is_refused)
{
	static const char *const rows[] = {"\"later\": \"whole\"",
					   "\"later-words\": {\"deny\": [\"*\"]}"};
	static const char *const names[] = {"later", "later-words"};
	struct policy_file f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = arena_printf(
			&arena, "{\"version\": 1, \"policies\": {\"a\": {%s}}}", rows[i]);

		CHECK(policy_file_read(text, strlen(text), &arena, &f, &e) < 0);
		CHECK_STR(e.text, arena_printf(&arena,
					       "policies.a.%s: a row of version 2, and the file "
					       "says \"version\": 1",
					       names[i]));
	}
}

/* Containers outlive upgrades. A record has each row of its time, and says of the new ones nothing:
 * they are as the preset code has them, which is its base. */
TEST(a_record_of_an_older_release_is_as_strict_as_it_was)
{
	struct policy_text t;
	struct policy p;

	policy_to_text(&presets[PRESET_OCI], &arena, &t);
	t.level[LEVEL_LATER] = 0;
	t.list[LIST_LATER_WORDS] = (struct policy_change){0};
	if (policy_from_text(&t, &arena, &p, &e) < 0)
		FAIL("%s", e.text);
	CHECK(p.level[LEVEL_PROC] == AS_ASKED && p.level[LEVEL_LATER] == 3);
	CHECK(p.list[LIST_CAPS].n == 2 && p.list[LIST_LATER_WORDS].n == 0);
}

int main(void)
{
	return unit_main();
}
