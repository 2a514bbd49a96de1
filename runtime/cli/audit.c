/* `sbxrun audit`: checks and shows the files that --audit of `do` and `box` writes. */
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/audit.h"
#include "box/audit_file.h"
#include "cli/cli.h"
#include "json/rows.h"

enum {
	NOT_GOOD = 1,
	NOT_CHECKED = 2,
	OUTPUT_MAX = 64 << 20,
	ARGS_MAX = 1 << 20,
	ARGS_SHOWN = 8, /* of a deed, for people … */
	WORD_SHOWN = 64, /* … and bytes of each */
};

/* N:HASH, as verify and the journal print it. */
static int anchor_read(const char *text, struct audit_head *ret, struct error *e)
{
	const char *colon = strchr(text, ':');
	char digits[24] = "";

	if (colon && colon - text < (ptrdiff_t)sizeof(digits))
		memcpy(digits, text, (size_t)(colon - text));
	if (!colon || !str_to_u64(digits, UINT64_MAX, &ret->count) || !ret->count ||
	    strlen(colon + 1) != SHA256_HEX_SIZE - 1 ||
	    strspn(colon + 1, "0123456789abcdef") != SHA256_HEX_SIZE - 1)
		return err_set(e, ERR_USAGE,
			       "--anchor: \"%s\" is not NUMBER:HASH, as verify prints it", text);
	memcpy(ret->hash, colon + 1, SHA256_HEX_SIZE);
	return 0;
}

static void report_print(struct buf *b, const char *path, const struct audit_report *r)
{
	buf_str(b, path);
	if (r->bad_line)
		buf_printf(b, ": line %zu is bad: %s\n", r->bad_line, r->why);
	else
		buf_printf(b, ": ok, %ju %s, %ju:%s\n", (uintmax_t)r->lines,
			   r->lines == 1 ? "line" : "lines", (uintmax_t)r->last.count,
			   r->last.hash);
	if (!r->head_checked)
		buf_printf(b,
			   "only the chain could be checked, %s: lines that are missing at the end "
			   "would not be noticed\n",
			   r->head_why);
	if (r->recoveries)
		buf_printf(b, "%zu %s of an append that was cut short, the last one is line %zu\n",
			   r->recoveries, r->recoveries == 1 ? "line tells" : "lines tell",
			   r->recovered_line);
}

static void report_json(struct buf *b, const struct audit_report *r)
{
	buf_printf(b,
		   "{\"ok\":%s,\"lines\":%ju,\"hash\":\"%s\",\"head_checked\":%s,"
		   "\"recoveries\":%zu,\"bad_line\":",
		   r->bad_line ? "false" : "true", (uintmax_t)r->lines, r->last.hash,
		   r->head_checked ? "true" : "false", r->recoveries);
	if (r->bad_line) {
		buf_printf(b, "%zu,\"why\":", r->bad_line);
		json_write_string(b, r->why);
	} else {
		buf_str(b, "null,\"why\":null");
	}
	buf_str(b, "}\n");
}

static int audit_run_verify(struct cli *c, struct buf *b, struct error *e)
{
	const struct audit_place place = {.path = c->args[1], .head = c->audit_head};
	struct audit_head anchor;
	struct audit_report r;

	if (c->audit_anchor && anchor_read(c->audit_anchor, &anchor, e) < 0)
		return -1;
	if (audit_verify(&place, c->audit_anchor ? &anchor : NULL, c->arena, &r, e) < 0)
		return -1;
	c->status = r.bad_line ? NOT_GOOD : 0;
	if (c->json)
		report_json(b, &r);
	else
		report_print(b, place.path, &r);
	return 0;
}

/* ---- show ---- */

struct shown {
	uint64_t n;
	uint32_t uid;
	int32_t exit_code;
	char *time, *verb, *id, *language, *status, *why, *error;
	struct strings args;
};

/* clang-format off */
static const struct json_row shown_rows[] = {
	F(shown, "n", U64, n), F(shown, "uid", U32, uid), F(shown, "exit_code", I32, exit_code),
	F(shown, "time", STR, time), F(shown, "verb", STR, verb), F(shown, "id", STR, id),
	F(shown, "language", STR, language), F(shown, "status", STR, status), F(shown, "why", STR, why),
	F(shown, "error", STR, error), L(shown, "args", STRINGS, args, ARGS_MAX),
};
/* clang-format on */
TABLE(shown);

/* Trust: the line may be anybody's; what is printed of it is escaped. */
static const char *word(const char *text, struct arena *a)
{
	struct json_shown s = json_show(text ? text : "-");
	size_t len = strlen(s.text);

	if (text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "-_.:@/+") != strlen(text))
		return arena_strdup(a, s.text);
	return arena_strndup(a, s.text + 1, len - 2);
}

static bool line_read(const char *line, size_t len, struct arena *a, struct shown *ret)
{
	struct error ignored;

	*ret = (struct shown){0};
	return json_read("line", line, len, &shown_table, &json_default_limits, ret, a, &ignored) ==
	       0;
}

/* Of the box of that id; NULL: any line is. */
static bool line_is_of(const char *line, size_t len, const char *box)
{
	struct arena a = {0};
	struct shown s;
	bool is = !box || (line_read(line, len, &a, &s) && s.id && str_eq(s.id, box));

	arena_free(&a);
	return is;
}

/* The deed that was asked of a box, and why it failed; a program's arguments are in --json. */
static void deed_print(struct buf *b, const struct shown *s, struct arena *a)
{
	size_t i;

	for (i = 0; i < s->args.n && i < ARGS_SHOWN; i++)
		buf_printf(b, " %s",
			   word(strlen(s->args.v[i]) <= WORD_SHOWN ?
					s->args.v[i] :
					arena_printf(a, "%.*s…", WORD_SHOWN, s->args.v[i]),
				a));
	buf_str(b, s->args.n > ARGS_SHOWN ? " …" : "");
	if (s->error)
		buf_printf(b, ": %s", word(s->error, a));
}

static void line_print(struct buf *b, const char *line, size_t len, size_t number, struct arena *a)
{
	const char *of_box;
	struct shown s;

	if (!line_read(line, len, a, &s)) {
		buf_printf(b, "line %zu is no line of an audit file\n", number);
		return;
	}
	buf_printf(b, "%-6ju %-20.19s %-6u ", (uintmax_t)s.n, word(s.time, a), s.uid);
	if (s.verb && str_eq(s.verb, AUDIT_RECOVERY)) {
		buf_printf(b, "%s: %s\n", s.verb, word(s.why, a));
		return;
	}
	of_box = s.verb ? str_after(s.verb, "box ") : NULL;
	buf_printf(b, "%-15s %-10s %-13s ",
		   arena_printf(a, "%s%s", of_box ? "box " : "", word(of_box ? of_box : s.verb, a)),
		   word(s.language, a), word(s.status, a));
	buf_printf(b, "%4d %s", s.exit_code, word(s.id, a));
	if (of_box)
		deed_print(b, &s, a);
	buf_char(b, '\n');
}

/* How many lines there are of that box. */
static int lines_count(int fd, const char *box, struct arena *a, size_t *ret, struct error *e)
{
	struct audit_lines lines;
	const char *line;
	size_t len;
	bool ended;
	int rc;

	*ret = 0;
	audit_lines_begin(&lines, fd, 0, a);
	while ((rc = audit_lines_next(&lines, &line, &len, &ended, e)) > 0)
		*ret += line_is_of(line, len, box) ? 1 : 0;
	return rc;
}

/* Each line is printed when it was read: a file may be larger than memory. */
static int audit_run_show(struct cli *c, struct buf *b, struct error *e)
{
	const struct audit_place place = {.path = c->args[1], .head = c->audit_head};
	autoaudit struct audit_file f = AUDIT_FILE_NONE;
	struct audit_lines lines;
	size_t len, n = 0, number = 0, of_box = 0;
	const char *line;
	bool ended;
	int rc;

	if (audit_file_open(&place, false, c->arena, &f, e) < 0 ||
	    (c->last && lines_count(f.fd, c->box_id, c->arena, &n, e) < 0))
		return -1;
	audit_lines_begin(&lines, f.fd, 0, c->arena);
	while ((rc = audit_lines_next(&lines, &line, &len, &ended, e)) > 0) {
		struct arena one = {0};
		struct buf out = buf_new(&one, OUTPUT_MAX);

		number++;
		if (!line_is_of(line, len, c->box_id))
			continue;
		of_box++;
		if (c->last && n - of_box >= c->last)
			continue;
		if (c->json)
			buf_add(&out, line, len);
		else
			line_print(&out, line, len, number, &one);
		if (c->json)
			buf_char(&out, '\n');
		rc = cli_print(&out, e);
		arena_free(&one);
		if (rc < 0)
			return -1;
	}
	(void)b;
	return rc;
}

static int audit_run(struct cli *c, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	int rc;

	if (str_eq(c->args[0], "verify"))
		rc = audit_run_verify(c, &b, e);
	else if (str_eq(c->args[0], "show"))
		rc = audit_run_show(c, &b, e);
	else
		return err_set(e, ERR_USAGE, "usage: sbxrun audit verify | show [OPTION…] FILE");
	if (rc < 0)
		return -1;
	return b.len ? cli_print(&b, e) : 0;
}

/* clang-format off */
static const struct cli_option audit_options[] = {
	CLI_OPTION(audit_head, "head", 0, CLI_TEXT, "FILE", "where the head lies (default: FILE.head)"),
	CLI_OPTION(audit_anchor, "anchor", 0, CLI_TEXT, "N:HASH", "verify: a line that must be there, as verify printed it or the journal has it"),
	CLI_OPTION(box_id, "box", 0, CLI_TEXT, "ID", "show: lines of that box alone, or of that run"),
	CLI_OPTION(last, "last", 0, CLI_NUMBER, "N", "show: the last N lines alone, of these"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "verify: one object; show: the lines as they are"),
};
/* clang-format on */
const struct cli_command cli_audit = {"audit",
				      "verify|show FILE",
				      "check or show a file of --audit",
				      audit_options,
				      ARRAY_SIZE(audit_options),
				      2,
				      2,
				      false,
				      audit_run,
				      .failure = NOT_CHECKED,
				      .stateless = true,
				      .answers = true};
