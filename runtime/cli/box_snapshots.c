/* The verbs of box that are about all of its files: diff, snapshot, snapshots, fork. */
#include <inttypes.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "box/changes.h"
#include "box/network.h"
#include "box/operator.h"
#include "box/snapshot.h"
#include "box/stream.h"
#include "cli/box.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "json/json.h"
#include "sys/loop.h"

enum { OUTPUT_MAX = 64 << 20, LOCK_S = 30 };

/* ---- diff ---- */

static void diff_write_entry(const struct archive_entry *c, struct buf *b)
{
	static const char *const types[] = {"directory", "file", "link", "other"};

	buf_str(b, "{\"path\":");
	json_write_string(b, c->path);
	/* Bytes that are no text can't be told from others in JSON. */
	if (!str_is_utf8(c->path)) {
		buf_str(b, ",\"base64\":");
		stream_write_data(b, c->path, strlen(c->path), true);
	}
	buf_printf(b, ",\"type\":\"%s\"", types[c->type]);
	if (c->change != CHANGE_DELETED)
		buf_printf(b, ",\"size\":%" PRIu64 ",\"mode\":\"%04o\"", c->size, c->mode);
	buf_char(b, '}');
}

static void diff_write_place(const struct changes *c, enum archive_place place, struct buf *b)
{
	static const char *const names[] = {"added", "modified", "deleted"};
	enum archive_change change;
	size_t i, n;

	for (change = CHANGE_ADDED; change <= CHANGE_DELETED; change++) {
		buf_printf(b, "%s\"%s\":[", change ? "," : "{", names[change]);
		for (i = n = 0; i < c->n; i++) {
			if (c->v[i].place != place || c->v[i].change != change)
				continue;
			buf_str(b, n++ ? "," : "");
			diff_write_entry(&c->v[i], b);
		}
		buf_char(b, ']');
	}
	buf_char(b, '}');
}

static void diff_write(const struct sandbox *s, const struct changes *c, struct buf *b)
{
	buf_str(b, "{\"success\":true,\"sandbox_id\":");
	json_write_string(b, s->id);
	buf_str(b, ",\"workspace\":");
	if (!s->facts.on_volume)
		diff_write_place(c, IN_WORKSPACE, b);
	else
		buf_str(b, "null");
	buf_str(b, ",\"root\":");
	if (s->facts.writable_root)
		diff_write_place(c, IN_ROOT, b);
	else
		buf_str(b, "null");
	buf_printf(b, ",\"more\":%s,\"unread\":%zu,\"error\":null}\n", c->more ? "true" : "false",
		   c->n_closed);
}

/* Trust: names are the program's, and the reader may be a terminal. */
static void diff_tell(const struct changes *c, struct arena *a, struct buf *b)
{
	const char *p;
	size_t i;

	for (i = 0; i < c->n; i++) {
		buf_printf(b, "%c ", "AMD"[c->v[i].change]);
		for (p = change_path(&c->v[i], a); *p; p++)
			buf_add(b, (unsigned char)*p < 0x20 || *p == 0x7f ? "?" : p, 1);
		buf_str(b, c->v[i].type == TYPE_DIRECTORY ? "/\n" : "\n");
	}
	if (c->more)
		buf_str(b, "and more\n");
}

static int diff_print(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct changes changes;
	struct places p;
	int result;

	if (sandbox_open(c->root, id, c->arena, &s, e) < 0)
		return -1;
	sandbox_touch(&s);
	if (places_open(&p, &s, e) < 0)
		return -1;
	result = changes_find(&p, c->arena, &changes, e);
	/* With our own ids again. */
	places_close(&p);
	if (result == 0)
		result = changes_since(&s, &changes, c->arena, e);
	if (result == 0 && c->json)
		diff_write(&s, &changes, &b);
	else if (result == 0)
		diff_tell(&changes, c->arena, &b);
	box_log(c, &s, &(struct sandbox_event){.verb = "diff", .failed = result < 0});
	if (result == 0)
		box_answer(c, &b);
	return result;
}

static int snapshots_end(const struct cli *c, int result)
{
	sandbox_sweep(c->root, false);
	return result;
}

int box_diff(struct cli *c, const char *id, struct error *e)
{
	return snapshots_end(c, diff_print(c, id, e));
}

/* ---- snapshots ---- */

static void snapshot_write(const struct snapshot *s, struct buf *b)
{
	buf_str(b, "{\"snapshot\":");
	json_write_string(b, s->name);
	if (!s->box) {
		buf_str(b, ",\"damaged\":true}");
		return;
	}
	buf_str(b, ",\"sandbox_id\":");
	json_write_string(b, s->box);
	buf_printf(b, ",\"damaged\":false,\"uid\":%u,\"created\":", s->uid);
	json_write_string(b, s->created);
	buf_str(b, ",\"language\":");
	if (s->facts.language)
		json_write_string(b, s->facts.language);
	else
		buf_str(b, "null");
	buf_str(b, ",\"rootfs\":");
	json_write_string(b, s->facts.rootfs ? s->facts.rootfs : "");
	buf_printf(b, ",\"writable_root\":%" PRId64 ",\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
		   s->facts.writable_root, s->entries, s->bytes);
}

static uint64_t snapshot_bytes(const struct operator_file *f)
{
	return f->limits.snapshot_mb.set ? (uint64_t)f->limits.snapshot_mb.v << 20 :
					   SNAPSHOT_BYTES;
}

/* Nothing runs in it then. */
static int snapshot_lock(struct cli *c, const char *id, struct sandbox *s, struct error *e)
{
	if (sandbox_open(c->root, id, c->arena, s, e) < 0)
		return -1;
	return sandbox_lock(s, loop_now() + LOCK_S * LOOP_SECOND, c->arena, e);
}

static int snapshot_make(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct noted notes = {.arena = c->arena};
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct operator_file operator;
	struct snapshot made;
	int result;

	if (operator_read(c->arena, &operator, e) < 0 || snapshot_lock(c, id, &s, e) < 0)
		return -1;
	result = snapshot_save(&s, c->args[2],
			       operator.snapshots.set ? operator.snapshots.v : SNAPSHOT_MOST,
			       snapshot_bytes(&operator), c->arena, &made, &notes, e);
	sandbox_touch(&s);
	box_log(c, &s, &(struct sandbox_event){
				.verb = "snapshot", .path = c->args[2], .failed = result < 0});
	if (result < 0)
		return -1;
	if (!c->json) {
		box_show_notes(&notes);
		return 0;
	}
	snapshot_write(&made, &b);
	b.len--; /* the brace: there is more to say */
	buf_char(&b, ',');
	box_write_notes(&notes, &b);
	buf_str(&b, ",\"success\":true,\"error\":null}\n");
	box_answer(c, &b);
	return 0;
}

int box_snapshot(struct cli *c, const char *id, struct error *e)
{
	return snapshots_end(c, snapshot_make(c, id, e));
}

static int snapshots_print(struct cli *c, const char *name, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct snapshot *v;
	size_t i, n, shown = 0;

	if (snapshot_list(c->root, c->arena, &v, &n, e) < 0)
		return -1;
	if (c->json)
		buf_char(&b, '[');
	else
		buf_printf(&b, "%-24s %10s %-24s %s\n", "NAME", "BYTES", "BOX", "CREATED");
	for (i = 0; i < n; i++) {
		if (name && !str_eq(v[i].name, name))
			continue;
		if (c->json) {
			buf_str(&b, shown ? "," : "");
			snapshot_write(&v[i], &b);
		} else {
			buf_printf(&b, "%-24s %10" PRIu64 " %-24s %s\n", v[i].name, v[i].bytes,
				   v[i].box ? v[i].box : "(damaged)",
				   v[i].created ? v[i].created : "");
		}
		shown++;
	}
	if (name && !shown)
		return err_set(e, ERR_NOT_FOUND, "there is no snapshot \"%s\"", name);
	if (c->json)
		buf_str(&b, "]\n");
	box_answer(c, &b);
	return 0;
}

int box_snapshots(struct cli *c, const char *name, struct error *e)
{
	if (!c->remove)
		return snapshots_print(c, name, e);
	if (!name)
		return err_set(e, ERR_USAGE, "box snapshots --remove NAME");
	return snapshot_remove(c->root, name, e);
}

/* ---- fork ---- */

/* The source is an open file, which stands at its begin. */
static int fork_source(struct cli *c, const char *from, const struct operator_file *operator,
		       int *ret_fd, struct noted *notes, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	bool any = !c->from, box = any || str_eq(c->from, "box");
	struct error why;
	int result = -1;

	if (!any && !box && !str_eq(c->from, "snapshot"))
		return err_set(e, ERR_USAGE, "--from: \"%s\" is neither box nor snapshot", c->from);
	if (any || !box)
		result = snapshot_open(c->root, from, ret_fd, e);
	if ((result < 0 && any && e->class != ERR_NOT_FOUND && e->class != ERR_USAGE) ||
	    (result < 0 && !box))
		return -1;
	if (result == 0) {
		if (any && sandbox_open(c->root, from, c->arena, &s, &why) == 0)
			return err_set(e, ERR_USAGE,
				       "\"%s\" is a box and a snapshot: --from says which is meant",
				       from);
		return 0;
	}
	if (snapshot_lock(c, from, &s, e) < 0)
		return any && e->class == ERR_NOT_FOUND && strstr(e->text, "there is no") ?
			       err_set(e, ERR_NOT_FOUND,
				       "sandbox not found: there is no box and no snapshot \"%s\" "
				       "(box list and box snapshots show those that there are)",
				       from) :
			       -1;
	result = snapshot_hold(&s, snapshot_bytes(operator), c->arena, ret_fd, notes, e);
	sandbox_touch(&s);
	box_log(c, &s, &(struct sandbox_event){.verb = "fork", .failed = result < 0});
	return result;
}

static int fork_fill(void *context, const struct sandbox *s, struct arena *a, struct error *e)
{
	return snapshot_restore(context, s, a, e);
}

/* As the operator lets boxes be now, and not when that one was made. */
static int fork_request(struct cli *c, const struct snapshot *from,
			const struct operator_file *operator, struct box_request *q,
			struct sandbox_wish *wish, struct error *e)
{
	const struct operator_given given = {.allow = c->allow.n > 0};
	const uint32_t longest = operator->idle_s.set ? operator->idle_s.v : SANDBOX_IDLE_S;
	int64_t idle_ns = 0;

	if (do_begin(c, q, e) < 0 || do_duration("idle", c->idle, &idle_ns, c->arena, e) < 0)
		return -1;
	if (c->idle && (idle_ns < LOOP_SECOND || idle_ns > longest * LOOP_SECOND))
		return err_set(e, ERR_USAGE, "--idle: \"%s\" is not from 1 to %u seconds", c->idle,
			       longest);
	sandbox_request_again(&from->facts, c->arena, q);
	if (from->facts.language && !q->language)
		return err_set(e, ERR_CONFIG, "there is no language \"%s\" any more",
			       from->facts.language);
	if (operator->languages.n && q->language)
		q->rootfs = NULL;
	wish->most = operator->boxes.set ? operator->boxes.v : SANDBOX_MOST;
	wish->idle_s = c->idle			       ? (uint32_t)(idle_ns / LOOP_SECOND) :
		       from->facts.idle_s < longest ? from->facts.idle_s :
						       longest;
	wish->rootfs = from->facts.rootfs;
	/* Rules of the source may have changed since: the caller says them anew. */
	q->allow = c->allow;
	q->deny = c->deny;
	if (network_check(&q->allow, &q->deny, e) < 0 ||
	    operator_hold(operator, &given, q, e) < 0)
		return -1;
	return operator_hold_rules(operator, &q->allow, &q->deny, c->arena, e);
}

static int fork_make(struct cli *c, const char *from, struct error *e)
{
	struct archive_in *in = arena_new(c->arena, struct archive_in);
	struct sandbox_wish wish = {.id = c->box_id, .fill = fork_fill, .context = in};
	struct noted notes = {.arena = c->arena};
	struct operator_file operator;
	struct box_request q;
	struct snapshot source;
	autoclose int fd = -1;
	const char *id;

	if (operator_read(c->arena, &operator, e) < 0 ||
	    fork_source(c, from, &operator, &fd, &notes, e) < 0 ||
	    snapshot_read(fd, in, c->arena, &source, e) < 0 ||
	    fork_request(c, &source, &operator, &q, &wish, e) < 0 ||
	    sandbox_create(&q, &wish, c->arena, &id, &notes, e) < 0)
		return -1;
	return box_create_show(c, id, &notes, e);
}

int box_fork(struct cli *c, const char *from, struct error *e)
{
	return snapshots_end(c, fork_make(c, from, e));
}
