/*
 * Records are large, and there may be thousands: each is let go when it has been looked at, and what
 * stays is what is printed. A container whose record or status can't be read does not hide the others.
 */
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "life/life.h"

enum { COLUMNS = 6, CELL_MIN = 12, CELL_GAP = 3, STATE_MAX = 2 * RECORD_MAX };

struct line {
	const char *cells[COLUMNS];
};

struct list {
	enum list_format format;
	FILE *out;
	struct arena *a;
	struct line *lines; /* of the table */
	size_t n;	    /* listed so far */
};

static void list_add_line(struct list *l, const struct record *r, enum status status, pid_t pid)
{
	l->lines[l->n] = (struct line){{
		arena_strdup(l->a, r->id),
		arena_printf(l->a, "%d", pid),
		status_word(status),
		arena_strdup(l->a, r->bundle),
		arena_strdup(l->a, r->created),
		r->owner ? arena_printf(l->a, "%u", r->owner) : "root",
	}};
}

static void list_print_state(const struct list *l, const struct record *r, enum status status,
			     pid_t pid, struct arena *a)
{
	struct buf b = buf_new(a, STATE_MAX);

	record_write_state(r, status, pid, a, &b, false);
	fputc(l->n ? ',' : '[', l->out);
	fwrite(b.data, 1, b.len, l->out);
}

/* a: for this one alone. */
static void list_add(struct list *l, const struct record *r, enum status status, struct arena *a)
{
	pid_t pid = status == STATUS_STOPPED ? 0 : r->pid;

	if (l->format == LIST_JSON)
		list_print_state(l, r, status, pid, a);
	else
		list_add_line(l, r, status, pid);
	l->n++;
}

/* Shown all the same: `delete --force` is waiting for its id. */
static void list_add_unreadable(struct list *l, const char *id, struct arena *a)
{
	const struct record r = {.id = arena_strdup(a, id),
				 .bundle = arena_strdup(a, "(record is damaged)"),
				 .rootfs = arena_strdup(a, ""),
				 .created = arena_strdup(a, "-")};

	list_add(l, &r, STATUS_STOPPED, a);
}

static int list_look_at(struct list *l, int root_dfd, const char *id, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct arena a = {0};
	enum status status;
	struct record r;
	struct error why;
	int result = 0;
	bool found;

	if (store_open_below(root_dfd, id, &s, &why) < 0)
		return 0; /* deleted meanwhile */
	if (store_read(&s, &a, &r, &found, &why) < 0) {
		log_warn("%s", why.text);
		list_add_unreadable(l, id, &a);
	} else if (found) {
		result = life_status(&s, &r, &status, NULL, e);
		if (result == 0)
			list_add(l, &r, status, &a);
	}
	arena_free(&a);
	return result;
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
			fprintf(l->out, "%-*s", (int)width[k] + CELL_GAP, line->cells[k]);
		fprintf(l->out, "%s\n", line->cells[COLUMNS - 1]);
	}
}

static int list_print_ids(const struct strings *ids, FILE *out)
{
	size_t i;

	for (i = 0; i < ids->n; i++)
		fprintf(out, "%s\n", ids->v[i]);
	return 0;
}

int life_list(const char *root, enum list_format format, FILE *out, struct arena *a,
	      struct error *e)
{
	struct list l = {.format = format, .out = out, .a = a};
	autoclose int root_dfd = -1;
	struct strings ids;
	int result = 0;
	size_t i;

	if (store_list(root, a, &ids, e) < 0)
		return -1;
	if (format == LIST_QUIET)
		return list_print_ids(&ids, out);
	if (ids.n && (root_dfd = store_open_root(root, false, e)) < 0)
		return -1;
	l.lines = arena_array(a, ids.n + 1, struct line);
	for (i = 0; i < ids.n; i++)
		if (list_look_at(&l, root_dfd, ids.v[i], e) < 0)
			result = -1;
	if (format == LIST_TABLE)
		list_print_table(&l);
	else
		fputs(l.n ? "]\n" : "null\n", out);
	return result;
}
