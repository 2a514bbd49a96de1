/* The commands that show containers: state and list. What a table needs of a record is copied; the
 * rest is let go. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/cli.h"
#include "life/life.h"

enum { COLUMNS = 6, CELL_MIN = 12, CELL_GAP = 3, STATE_MAX = 2 * RECORD_MAX };

static int state_run(struct cli *c, struct error *e)
{
	struct buf b = buf_new(c->arena, STATE_MAX);
	struct life_view v;

	if (life_state(c->root, c->args[0], c->arena, &v, e) < 0)
		return -1;
	record_write_state(&v.record, v.status, v.pid, c->arena, &b, true);
	buf_char(&b, '\n');
	return cli_print(&b, e);
}

const struct cli_command cli_state = {
	"state", "ID", "print a container's state as JSON", NULL, 0, 1, 1, false, state_run,
	.answers = true};

struct line {
	const char *cells[COLUMNS];
};

struct list {
	bool json;
	struct arena *a;
	struct line *lines; /* of the table */
	size_t cap;
	size_t n; /* listed so far */
};

/* Trust: it may be printed to a terminal, and the caller has chosen the name of the bundle. */
static char *list_cell(struct arena *a, const char *s)
{
	char *cell = arena_strdup(a, s), *p;

	for (p = cell; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return cell;
}

static void list_add_line(struct list *l, const struct life_view *v)
{
	const struct record *r = &v->record;

	l->lines = arena_grow(l->a, l->lines, &l->cap, l->n + 1, sizeof(*l->lines));
	l->lines[l->n] = (struct line){{
		arena_strdup(l->a, r->id),
		arena_printf(l->a, "%d", v->pid),
		status_word(v->status),
		list_cell(l->a, r->bundle),
		arena_strdup(l->a, r->created),
		r->owner ? arena_printf(l->a, "%u", r->owner) : "root",
	}};
}

static void list_add(void *context, const struct life_view *v, struct arena *a)
{
	struct list *l = context;
	struct buf b = buf_new(a, STATE_MAX);

	if (l->json) {
		record_write_state(&v->record, v->status, v->pid, a, &b, false);
		putchar(l->n ? ',' : '[');
		fwrite(b.data, 1, b.len, stdout);
	} else {
		list_add_line(l, v);
	}
	l->n++;
}

static void list_print_table(const struct list *l)
{
	static const struct line title = {{"ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"}};
	const struct line *line;
	size_t width[COLUMNS], i, k;

	for (k = 0; k < COLUMNS; k++)
		width[k] = CELL_MIN - CELL_GAP;
	for (i = 0; i < l->n; i++)
		for (k = 0; k < COLUMNS; k++)
			if (strlen(l->lines[i].cells[k]) > width[k])
				width[k] = strlen(l->lines[i].cells[k]);
	for (i = 0; i <= l->n; i++) {
		line = i ? &l->lines[i - 1] : &title;
		for (k = 0; k < COLUMNS - 1; k++)
			printf("%-*s", (int)width[k] + CELL_GAP, line->cells[k]);
		printf("%s\n", line->cells[COLUMNS - 1]);
	}
}

static int list_print_ids(const struct cli *c, struct error *e)
{
	struct strings ids;
	size_t i;

	if (life_ids(c->root, c->arena, &ids, e) < 0)
		return -1;
	for (i = 0; i < ids.n; i++)
		printf("%s\n", ids.v[i]);
	return 0;
}

static int list_print(const struct cli *c, bool json, struct error *e)
{
	struct list l = {.json = json, .a = c->arena};
	int result = life_list(c->root, list_add, &l, &cli_noter, c->arena, e);

	if (result < 0 && !l.n)
		return -1;
	if (!json)
		list_print_table(&l);
	else
		fputs(l.n ? "]\n" : "null\n", stdout);
	return result;
}

static int list_run(struct cli *c, struct error *e)
{
	bool json = c->format && str_eq(c->format, "json");
	int result;

	if (c->format && !json && !str_eq(c->format, "table"))
		return err_set(e, ERR_USAGE, "--format: \"%s\" is neither table nor json",
			       c->format);
	result = c->quiet ? list_print_ids(c, e) : list_print(c, json, e);
	if ((fflush(stdout) < 0 || ferror(stdout)) && result == 0)
		return err_sys(e, "write to standard output");
	return result;
}

static const struct cli_option list_options[] = {
	CLI_OPTION(format, "format", 'f', CLI_TEXT, "table|json", "how to print (default: table)"),
	CLI_OPTION(quiet, "quiet", 'q', CLI_FLAG, NULL, "ids only"),
};
const struct cli_command cli_list =
	{"list", "",	   "list the containers", list_options, ARRAY_SIZE(list_options), 0, 0,
	 false,	 list_run, .answers = true};
