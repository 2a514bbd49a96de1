/*
 * spec/config.md, the table of every field of config.json, is made from the rows that read it and
 * from the words in config_fields.h. A row without words, words without a row, a test that isn't
 * there or a file that is out of date fail here. `UPDATE_CONFIG_TABLE=1` writes the file anew.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/str.h"
#include "config_fields.h"
#include "oci/oci.h"
#include "unit.h"

#define TABLE_FILE "spec/config.md"

static struct arena arena;
static bool used[ARRAY_SIZE(config_fields)];

static const char *type_name(const struct json_row *row)
{
	static const char *const names[] = {
		[JSON_STR] = "string",
		[JSON_BOOL] = "boolean",
		[JSON_I32] = "int32",
		[JSON_U32] = "uint32",
		[JSON_I64] = "int64",
		[JSON_U64] = "uint64",
		[JSON_OPT_BOOL] = "boolean",
		[JSON_OPT_I32] = "int32",
		[JSON_OPT_U32] = "uint32",
		[JSON_OPT_I64] = "int64",
		[JSON_OPT_U64] = "uint64",
		[JSON_ENUM] = "word",
		[JSON_STRINGS] = "strings",
		[JSON_IDS] = "ids",
		[JSON_PAIRS] = "map of strings",
	};

	return (size_t)row->type < ARRAY_SIZE(names) ? names[row->type] : NULL;
}

/* The words for a field, or for the nearest object that it is in. */
static const struct config_field *words_for(const char *field)
{
	const struct config_field *best = NULL;
	size_t i, len, longest = 0;

	for (i = 0; i < ARRAY_SIZE(config_fields); i++) {
		len = strlen(config_fields[i].field);
		if (strncmp(field, config_fields[i].field, len) != 0 ||
		    (field[len] && field[len] != '.' && field[len] != '[') || len < longest)
			continue;
		best = &config_fields[i];
		longest = len;
	}
	if (!best)
		FAIL("%s has no words in tests/unit/config_fields.h", field);
	used[best - config_fields] = true;
	return best;
}

/* Sections by their objects; the first that fits has the field. Printed from the last to the
 * first. */
static const struct {
	const char *prefix;
	const char *title;
} sections[] = {
	{"linux.seccomp.", "linux.seccomp"},
	{"linux.resources.", "linux.resources"},
	{"linux.", "linux"},
	{"hooks.", "hooks"},
	{"mounts[", "mounts"},
	{"process.", "process"},
	{"", "The top level"},
};

static size_t section_of(const char *field)
{
	size_t i = 0;

	while (!str_after(field, sections[i].prefix))
		i++;
	return i;
}

static void print_field(struct buf *b, const char *field, const struct json_row *row)
{
	const struct config_field *w = words_for(field);
	static const struct config_field *before;

	buf_printf(b, "| `%s` | %s%s |", field, type_name(row),
		   row->flags & JSON_REQUIRED ? ", required" : "");
	if (w == before)
		buf_str(b, " ″ | ″ | ″ |\n");
	else
		buf_printf(b, " %s | %s | %s |\n", w->honoured, *w->refused ? w->refused : "–",
			   w->tests);
	before = w;
}

/* Every value below a table, in the order of the rows. */
static void print_rows(struct buf *b, const struct json_table *table, const char *prefix,
		       size_t section)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		const struct json_row *row = &table->rows[i];
		const char *inside = row->type == JSON_LIST ? "[]." :
				     row->type == JSON_MAP  ? "[*]." :
							      ".";

		if (row->table)
			print_rows(b, row->table,
				   arena_printf(&arena, "%s%s%s", prefix, row->key, inside),
				   section);
		else if (section_of(arena_printf(&arena, "%s%s", prefix, row->key)) == section)
			print_field(b, arena_printf(&arena, "%s%s", prefix, row->key), row);
	}
}

static void print_table(struct buf *b)
{
	size_t i;

	buf_str(b, config_table_head);
	for (i = ARRAY_SIZE(sections); i-- > 0;) {
		buf_printf(b, "\n## %s\n\n| field | type | honoured | refused when | tested in |\n"
			      "|---|---|---|---|---|\n", sections[i].title);
		print_rows(b, &oci_config_table, "", i);
	}
}

static char *read_file(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len;

	return fd < 0 ? NULL : fd_read_all(fd, 1 << 24, &arena, &len);
}

TEST(the_table_is_that_of_the_rows)
{
	struct buf b = buf_new(&arena, 1 << 20);
	char *stored;
	size_t i;

	print_table(&b);
	CHECK(!b.overflow);
	for (i = 0; i < ARRAY_SIZE(config_fields); i++)
		if (!used[i])
			FAIL("config_fields.h: there is no field %s", config_fields[i].field);
	if (getenv("UPDATE_CONFIG_TABLE")) {
		autoclose int fd = open(TABLE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		CHECK(fd >= 0 && fd_write_all(fd, b.data, b.len) == 0);
	}
	stored = read_file(TABLE_FILE);
	if (!stored || strcmp(stored, b.data) != 0)
		FAIL(TABLE_FILE " is out of date: UPDATE_CONFIG_TABLE=1 %s writes it",
		     "build/unit/test_config_table");
}

/* "t0240 name" is a function of tests/…/t0240-*.sh, "test_plan name" a TEST of
 * tests/unit/test_plan.c. */
static bool test_exists(const char *file, const char *name)
{
	bool unit = str_after(file, "test_") != NULL;
	const char *pattern = unit ? arena_printf(&arena, "tests/unit/%s.c", file) :
				     arena_printf(&arena, "tests/*/%s-*.sh", file);
	const char *line = unit ? arena_printf(&arena, "\nTEST(%s)", name) :
				  arena_printf(&arena, "\n%s() {\n", name);
	glob_t found;
	bool is_there = false;

	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	if (found.gl_pathc == 1) {
		const char *text = read_file(found.gl_pathv[0]);

		is_there = text && strstr(text, line);
	}
	globfree(&found);
	return is_there;
}

TEST(every_test_that_is_named_exists)
{
	char *rest, *one, *name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(config_fields); i++) {
		rest = arena_strdup(&arena, config_fields[i].tests);
		while ((one = strsep(&rest, ";"))) {
			one += strspn(one, " ");
			name = strchr(one, ' ');
			if (!name)
				FAIL("%s: \"%s\" is not a file and a test", config_fields[i].field,
				     one);
			*name++ = '\0';
			if (!test_exists(one, name))
				FAIL("%s: there is no test %s in %s", config_fields[i].field, name,
				     one);
		}
	}
}

int main(void)
{
	int failures = unit_main();

	arena_free(&arena);
	return failures;
}
