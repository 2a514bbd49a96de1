/* Checking: reads, and changes nothing. */
#include <string.h>

#include "base/str.h"
#include "box/audit.h"
#include "box/audit_file.h"

/* A head that must be somewhere in the file. */
struct wanted {
	const struct audit_head *head;
	size_t line; /* of the file, where its number was; 0: not so far */
	bool same;   /* and its hash */
};

static void wanted_look(struct wanted *w, const struct audit_chain *c)
{
	if (!w->head || w->head->count != c->head.count)
		return;
	w->line = c->lines;
	w->same = str_eq(w->head->hash, c->head.hash);
}

static void bad(struct audit_report *r, size_t line, const char *why)
{
	if (r->bad_line && r->bad_line <= line)
		return;
	r->bad_line = line;
	r->why = why;
}

static int chain_check(const struct audit_file *f, struct wanted *w, size_t n, struct arena *a,
		       struct audit_chain *c, struct error *e)
{
	struct audit_lines lines;
	const char *line;
	size_t len, i;
	bool ended;
	int rc;

	audit_lines_begin(&lines, f->fd, 0, a);
	audit_chain_begin(c, &audit_head_none);
	/* Lines behind the first unexplained place are not judged any more, but a recovery may
	 * still explain it. */
	while ((rc = audit_lines_next(&lines, &line, &len, &ended, e)) > 0)
		if (audit_chain_add(c, line, len, ended))
			for (i = 0; i < n; i++)
				wanted_look(&w[i], c);
	return rc;
}

static void head_judge(struct audit_report *r, const struct audit_chain *c, const struct wanted *w)
{
	r->head_checked = true;
	if (w->head->count > c->head.count)
		bad(r, c->lines + 1, "lines are missing at the end: the head knows of more");
	else if (!w->same)
		bad(r, w->line,
		    "it is not the line that the head knows: the file was written anew");
	else if (w->head->count < c->head.count)
		bad(r, w->line + 1,
		    "the head does not know of it: an append was cut short, or somebody has added it");
}

static void anchor_judge(struct audit_report *r, const struct audit_chain *c,
			 const struct wanted *w)
{
	if (w->head->count > c->head.count)
		bad(r, c->lines + 1, "lines are missing: the anchor knows of more");
	else if (!w->same)
		bad(r, w->line, "it is not the line of the anchor: the file was written anew");
}

int audit_verify(const struct audit_place *place, const struct audit_head *anchor, struct arena *a,
		 struct audit_report *ret, struct error *e)
{
	autoaudit struct audit_file f = AUDIT_FILE_NONE;
	struct audit_head head;
	enum audit_head_state state;
	struct wanted w[2] = {0};
	struct audit_chain c;

	*ret = (struct audit_report){0};
	if (audit_file_open(place, false, a, &f, e) < 0 ||
	    audit_file_read_head(&f, f.head_name, &head, &state, e) < 0)
		return -1;
	w[0].head = state == AUDIT_HEAD_GOOD ? &head : NULL;
	w[1].head = anchor;
	if (chain_check(&f, w, ARRAY_SIZE(w), a, &c, e) < 0)
		return -1;
	if (c.torn_line)
		bad(ret, c.torn_line, c.torn_why);
	if (c.lost_line)
		bad(ret, c.lost_line, "it says that the file was not what the head knew then");
	if (w[0].head)
		head_judge(ret, &c, &w[0]);
	else
		ret->head_why =
			state == AUDIT_HEAD_NONE ? "there is no head" : "the head is not a head";
	if (state == AUDIT_HEAD_BAD)
		bad(ret, c.lines + 1, "the head is not a head");
	if (w[1].head)
		anchor_judge(ret, &c, &w[1]);
	ret->lines = c.head.count;
	ret->recoveries = c.recoveries;
	ret->recovered_line = c.recovered_line;
	ret->last = c.head;
	return 0;
}
