/* Appending; audit.h says in which order. Runs in the process that waited for the program. */
#include "box/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/date.h"
#include "base/fd.h"
#include "base/str.h"
#include "box/audit_file.h"
#include "json/json.h"
#include "sys/journal.h"

enum {
	WINDOW_FIRST = 16 << 10,	 /* of the end of the file; lines are short … */
	WINDOW_MAX = 4 * AUDIT_LINE_MAX, /* … and what a crash leaves is a line */
};

/* ---- what a line says ---- */

static void text_write(struct buf *b, const char *key, const char *text)
{
	buf_printf(b, ",\"%s\":", key);
	if (text)
		json_write_string(b, text);
	else
		buf_str(b, "null");
}

static void json_add(struct buf *b, const char *key, const char *json)
{
	buf_printf(b, ",\"%s\":", key);
	buf_str(b, json ? json : "null");
}

static void begin_write(struct buf *b, const struct audit_head *before, const char *when, uid_t uid,
			const char *verb)
{
	char date[DATE_SIZE];
	struct timespec now;

	buf_printf(b, "{\"n\":%ju,\"time\":", (uintmax_t)before->count + 1);
	if (when) {
		json_write_string(b, when);
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		date_format(now.tv_sec, date);
		buf_printf(b, "\"%s.%09ldZ\"", date, now.tv_nsec);
	}
	buf_printf(b, ",\"uid\":%u", uid);
	text_write(b, "verb", verb);
}

static void entry_write(struct buf *b, const struct audit_head *before,
			const struct audit_entry *entry, bool whole)
{
	size_t i;

	begin_write(b, before, entry->time, entry->uid, entry->verb);
	text_write(b, "id", entry->id);
	text_write(b, "language", entry->language);
	text_write(b, "code_sha256", entry->code_sha256);
	text_write(b, "rootfs", entry->rootfs);
	json_add(b, "limits", entry->limits);
	text_write(b, "status", entry->status);
	buf_printf(b, ",\"exit_code\":%d", entry->exit_code);
	text_write(b, "signal", entry->signal);
	json_add(b, "denials", whole ? entry->denials : NULL);
	if (entry->network)
		json_add(b, "network", whole ? entry->network : NULL);
	buf_str(b, ",\"args\":[");
	for (i = 0; whole && i < entry->args.n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, entry->args.v[i]);
	}
	buf_str(b, "]");
	if (entry->content_sha256) {
		text_write(b, "content_sha256", entry->content_sha256);
		buf_printf(b, ",\"content_bytes\":%ju", (uintmax_t)entry->content_bytes);
	}
	if (entry->error && whole)
		text_write(b, "error", entry->error);
	buf_str(b, whole ? "" : ",\"shortened\":true");
}

/* One value of JSON, on one line. */
static int json_check(const char *key, const char *text, struct arena *a, struct error *e)
{
	static const struct json_table any = {.name = "any", .size = 1};
	const char *p;
	char object, *document;

	for (p = text; text && *p; p++)
		if ((unsigned char)*p < ' ')
			return err_set(e, ERR_BUG, "audit: %s has more than one line", key);
	if (!text)
		return 0;
	/* A value counts as one if it stands behind a key, and in a list. */
	document = arena_printf(a, "{\"%s\":%s,\"%s again\":[%s]}", key, text, key, text);
	return json_read("audit", document, strlen(document), &any, &json_default_limits, &object,
			 a, e);
}

static int entry_check(const struct audit_entry *entry, struct arena *a, struct error *e)
{
	if (!entry->verb || str_eq(entry->verb, AUDIT_RECOVERY))
		return err_set(e, ERR_BUG, "audit: no verb, or our own");
	if (json_check("limits", entry->limits, a, e) < 0)
		return -1;
	if (json_check("network", entry->network, a, e) < 0)
		return -1;
	return json_check("denials", entry->denials, a, e);
}

/* ---- where the chain stands ---- */

struct standing {
	struct audit_head head;	  /* that the next line follows */
	struct audit_chain chain; /* of what is behind the head's line */
	const char *kind;	  /* AUDIT_CRASH, AUDIT_LOST, or NULL: all is well */
	const char *why;
	struct audit_head known; /* by FILE.head */
	bool lacks_feed;	 /* the file doesn't end with a line feed */
};

static bool head_is(const struct audit_head *x, const struct audit_head *y)
{
	return x->count == y->count && str_eq(x->hash, y->hash);
}

/* Looks for the line of `head` among the last `window` bytes, and takes what follows as a chain.
 * 1: found. *ret_last: the last that looks like a line of ours. */
static int window_scan(const struct audit_file *f, off_t window, const struct audit_head *head,
		       struct arena *a, struct audit_chain *ret, struct audit_head *ret_last,
		       bool *ret_lacks_feed, struct error *e)
{
	off_t start = f->size > window ? f->size - window : 0;
	bool found = head->count == 0 && start == 0, ended;
	struct audit_lines lines;
	struct audit_head at;
	const char *line;
	size_t len;
	int rc;

	audit_lines_begin(&lines, f->fd, start, a);
	audit_chain_begin(ret, head);
	*ret_lacks_feed = false;
	while ((rc = audit_lines_next(&lines, &line, &len, &ended, e)) > 0) {
		*ret_lacks_feed = !ended;
		if (audit_line_read(line, len, &at) && ended)
			*ret_last = at;
		else
			at.count = 0;
		if (found)
			audit_chain_add(ret, line, len, ended);
		else if (at.count && head_is(&at, head))
			found = true;
	}
	return rc < 0 ? -1 : found;
}

static int stand_lost(struct standing *s, const struct audit_head *last, bool has_head,
		      const char *why)
{
	s->kind = AUDIT_LOST;
	s->why = why;
	s->head = has_head ? s->known : *last;
	audit_chain_begin(&s->chain, &s->head);
	return 0;
}

/* Compares the end of the file with the head, and with what the head was to become. */
static int stand_look(const struct audit_file *f, struct arena *a, struct standing *s,
		      struct error *e)
{
	struct audit_head next, last = audit_head_none;
	enum audit_head_state has_head, has_next;
	int found;

	*s = (struct standing){0};
	if (audit_file_read_head(f, f->head_name, &s->known, &has_head, e) < 0 ||
	    audit_file_read_head(f, f->next_name, &next, &has_next, e) < 0)
		return -1;
	found = window_scan(f, WINDOW_FIRST, &s->known, a, &s->chain, &last, &s->lacks_feed, e);
	if (found == 0 && f->size > WINDOW_FIRST)
		found = window_scan(f, WINDOW_MAX, &s->known, a, &s->chain, &last, &s->lacks_feed,
				    e);
	if (found < 0)
		return -1;
	if (has_head == AUDIT_HEAD_BAD)
		return stand_lost(s, &last, false, "the head was not a head");
	if (!found)
		return stand_lost(s, &last, has_head == AUDIT_HEAD_GOOD,
				  has_head == AUDIT_HEAD_GOOD ?
					  "the line of the head was not at the end of the file" :
					  "there was no head");
	s->head = s->chain.head;
	if (head_is(&s->head, &s->known)) {
		s->kind = s->chain.torn_line ? AUDIT_CRASH : NULL;
		s->why = "an append was cut short in its line";
		return 0;
	}
	if (has_next != AUDIT_HEAD_GOOD || !head_is(&s->head, &next))
		return stand_lost(s, &last, has_head == AUDIT_HEAD_GOOD,
				  has_head == AUDIT_HEAD_GOOD ?
					  "there were lines that the head did not know of" :
					  "there was no head");
	s->kind = AUDIT_CRASH;
	s->why = "an append was cut short before its head was written";
	return audit_file_commit_head(f, e);
}

/* ---- appending ---- */

static int line_append(struct audit_file *f, struct standing *s, struct buf *b, struct arena *a,
		       struct error *e)
{
	struct audit_head head = s->head;

	audit_chain_seal(b, &head);
	if (b->overflow)
		return err_set(e, ERR_BUG, "audit: a line is longer than %d bytes", AUDIT_LINE_MAX);
	if (audit_file_prepare_head(f, &head, a, e) < 0 ||
	    audit_file_write(f, b->data, b->len, e) < 0 || audit_file_commit_head(f, e) < 0)
		return -1;
	s->head = head;
	return 0;
}

static int recover(struct audit_file *f, struct standing *s, struct arena *a, struct error *e)
{
	struct buf b = buf_new(a, AUDIT_LINE_MAX);
	char torn[AUDIT_TORN_SIZE];

	if (s->lacks_feed && audit_file_write(f, "\n", 1, e) < 0)
		return -1;
	audit_torn_write(&s->chain, torn);
	begin_write(&b, &s->head, NULL, geteuid(), AUDIT_RECOVERY);
	buf_printf(&b, ",%s,\"why\":\"%s\",\"head_count\":%ju,\"head_hash\":\"%s\"%s", s->kind,
		   s->why, (uintmax_t)s->known.count, s->known.hash, torn);
	return line_append(f, s, &b, a, e);
}

static void journal_tell(const struct audit_file *f, const struct standing *s, struct arena *a)
{
	const char *count = arena_printf(a, "%ju", (uintmax_t)s->head.count);
	const struct journal_field fields[] = {{"SBXRUN_AUDIT_FILE", f->path},
					       {"SBXRUN_AUDIT_COUNT", count},
					       {"SBXRUN_AUDIT_HASH", s->head.hash}};

	journal_say(arena_printf(a, "audit %s:%s %s%s%s", count, s->head.hash, f->path,
				 s->kind ? ": " : "", s->kind ? s->why : ""),
		    fields, ARRAY_SIZE(fields));
}

int audit_append(const struct audit_place *place, const struct audit_entry *entry, struct arena *a,
		 const char **ret_note, struct error *e)
{
	autoaudit struct audit_file f = AUDIT_FILE_NONE;
	struct buf b = buf_new(a, AUDIT_LINE_MAX - 1);
	struct standing s;

	if (entry_check(entry, a, e) < 0 || audit_file_open(place, true, a, &f, e) < 0 ||
	    stand_look(&f, a, &s, e) < 0 || (s.kind && recover(&f, &s, a, e) < 0))
		return -1;
	entry_write(&b, &s.head, entry, true);
	if (b.overflow || b.len > AUDIT_LINE_MAX / 2) {
		b = buf_new(a, AUDIT_LINE_MAX - 1);
		entry_write(&b, &s.head, entry, false);
	}
	if (line_append(&f, &s, &b, a, e) < 0)
		return -1;
	journal_tell(&f, &s, a);
	if (ret_note)
		*ret_note = s.kind ? arena_printf(a, "audit %s: %s", f.path, s.why) : NULL;
	return 0;
}

int audit_try(const struct audit_place *place, struct arena *a, struct error *e)
{
	autoaudit struct audit_file f = AUDIT_FILE_NONE;
	enum audit_head_state state;
	struct audit_head head;
	struct statvfs disk;

	if (audit_file_open(place, true, a, &f, e) < 0 ||
	    audit_file_read_head(&f, f.head_name, &head, &state, e) < 0)
		return -1;
	if (fstatvfs(f.fd, &disk) < 0)
		return err_sys(e, "audit: %s", f.path);
	if (disk.f_flag & ST_RDONLY || faccessat(f.dfd, ".", W_OK, AT_EACCESS) < 0) {
		errno = disk.f_flag & ST_RDONLY ? EROFS : errno;
		return err_sys(e, "audit: the head of %s", f.path);
	}
	if (disk.f_blocks && disk.f_bavail * disk.f_frsize < AUDIT_LINE_MAX) {
		errno = ENOSPC;
		return err_sys(e, "audit: %s", f.path);
	}
	return 0;
}
