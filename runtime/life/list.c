/* A container whose record can't be read does not hide the others. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "life/life.h"

struct row {
	struct record record;
	enum status status;
	pid_t pid;
};

enum { COLUMNS = 6, CELL_MIN = 12, CELL_GAP = 3 };

static void list_cells(const struct row *row, struct arena *a, const char *cells[COLUMNS])
{
	const struct record *r = &row->record;

	cells[0] = r->id;
	cells[1] = arena_printf(a, "%d", row->pid);
	cells[2] = status_word(row->status);
	cells[3] = r->bundle;
	cells[4] = r->created;
	cells[5] = r->owner ? arena_printf(a, "%u", r->owner) : "root";
}

static void list_line(const char *const cells[COLUMNS], const size_t width[COLUMNS],
		      struct arena *a, struct buf *b)
{
	size_t k;

	for (k = 0; k < COLUMNS - 1; k++)
		buf_str(b, arena_printf(a, "%-*s", (int)width[k] + CELL_GAP, cells[k]));
	buf_str(b, cells[COLUMNS - 1]);
	buf_char(b, '\n');
}

static void list_table(const struct row *rows, size_t n, struct arena *a, struct buf *b)
{
	static const char *const titles[] = {"ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"};
	size_t width[COLUMNS], i, k;
	const char *cells[COLUMNS];

	for (k = 0; k < COLUMNS; k++)
		width[k] = CELL_MIN - CELL_GAP;
	for (i = 0; i < n; i++) {
		list_cells(&rows[i], a, cells);
		for (k = 0; k < COLUMNS; k++)
			if (strlen(cells[k]) > width[k])
				width[k] = strlen(cells[k]);
	}
	list_line(titles, width, a, b);
	for (i = 0; i < n; i++) {
		list_cells(&rows[i], a, cells);
		list_line(cells, width, a, b);
	}
}

static void list_json(const struct row *rows, size_t n, struct arena *a, struct buf *b)
{
	size_t i;

	if (!n) {
		buf_str(b, "null\n");
		return;
	}
	buf_char(b, '[');
	for (i = 0; i < n; i++) {
		if (i)
			buf_char(b, ',');
		record_write_state(&rows[i].record, rows[i].status, rows[i].pid, a, b, false);
	}
	buf_str(b, "]\n");
}

/* Shown all the same: `delete --force` is waiting for its id. */
static struct row list_unreadable(const char *id, struct arena *a)
{
	return (struct row){.status = STATUS_STOPPED,
			    .record = {.id = arena_strdup(a, id),
				       .bundle = arena_strdup(a, "(record is damaged)"),
				       .rootfs = arena_strdup(a, ""),
				       .created = arena_strdup(a, "-")}};
}

int life_list(const char *root, enum list_format format, struct arena *a, struct buf *b,
	      struct error *e)
{
	struct strings ids;
	struct row *rows;
	size_t i, n = 0;

	if (store_list(root, a, &ids, e) < 0)
		return -1;
	rows = arena_array(a, ids.n + 1, struct row);
	for (i = 0; i < ids.n; i++) {
		auto_store struct store s = STORE_NONE;
		struct row *row = &rows[n];
		struct error why;
		bool found;

		if (format == LIST_QUIET) {
			buf_str(b, ids.v[i]);
			buf_char(b, '\n');
			continue;
		}
		if (store_open(root, ids.v[i], false, &s, &why) < 0)
			continue; /* deleted meanwhile */
		if (store_read(&s, a, &row->record, &found, &why) < 0) {
			log_warn("%s", why.text);
			rows[n++] = list_unreadable(ids.v[i], a);
			continue;
		}
		if (!found)
			continue;
		row->status = life_status(&s, &row->record, NULL);
		row->pid = row->status == STATUS_STOPPED ? 0 : row->record.pid;
		n++;
	}
	if (format == LIST_TABLE)
		list_table(rows, n, a, b);
	if (format == LIST_JSON)
		list_json(rows, n, a, b);
	return 0;
}
