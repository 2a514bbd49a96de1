/*
 * All boxes together: which there are, which have had their time, and which once were. The list of
 * the latter is a file of lines, "ID WHY", the newest last; who changes it holds a lock on it. It
 * is for an error message: a line that a crash has lost makes "expired" a "not found".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/image.h"
#include "box/network_stay.h"
#include "box/sandbox.h"
#include "json/json.h"
#include "state/ranges.h"
#include "sys/loop.h"
#include "sys/patience.h"

#define REGISTRY "boxes:expired" /* no id has a colon */

enum { REGISTRY_MAX = 64 << 10, REGISTRY_LINES = 256 };

int sandbox_registry_open(const char *root, bool make, int64_t until, struct error *e)
{
	autoclose int root_dfd = store_open_root(root, make, e), fd = -1;

	if (root_dfd < 0)
		return -1;
	fd = openat(root_dfd, REGISTRY,
		    O_RDWR | (make ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "open the list of boxes");
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "lock the list of boxes");
		if (!until || patience_nap(until, e) < 0)
			return err_set(e, ERR_WRONG_STATE,
				       "another sbxrun makes or sweeps boxes, and does not finish");
	}
	return fd_steal(&fd);
}

const char *sandbox_registry_find(const char *root, const char *id, struct arena *a)
{
	struct error ignored;
	autoclose int root_dfd = store_open_root(root, false, &ignored), fd = -1;
	char *text, *line, *end, *why;
	const char *found = NULL;
	size_t len;

	if (root_dfd >= 0)
		fd = openat(root_dfd, REGISTRY, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	text = fd < 0 ? NULL : fd_read_all(fd, REGISTRY_MAX, a, &len);
	for (line = text; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		why = strchr(line, ' ');
		if (!end)
			break;
		*end = '\0';
		if (!why || why > end)
			continue;
		*why = '\0';
		/* The last one counts; without a reason, there was such a box again. */
		if (str_eq(line, id))
			found = why[1] ? why + 1 : NULL;
	}
	return found;
}

/* Behind the newest of what there is. */
void sandbox_registry_add(int registry_fd, const char *id, const char *why, struct arena *a)
{
	struct buf b = buf_new(a, 2 * (size_t)REGISTRY_MAX);
	const char *from, *p;
	char *text = NULL;
	size_t len = 0, lines = 0;

	if (lseek(registry_fd, 0, SEEK_SET) == 0)
		text = fd_read_all(registry_fd, REGISTRY_MAX, a, &len);
	from = text ? text : "";
	for (p = from; (p = strchr(p, '\n')); p++)
		lines++;
	for (; lines >= REGISTRY_LINES && (p = strchr(from, '\n')); lines--)
		from = p + 1;
	buf_printf(&b, "%s%s %s\n", from, id, why);
	if (ftruncate(registry_fd, 0) == 0 && pwrite(registry_fd, b.data, b.len, 0) < 0)
		return; /* see above */
}

static int boxes_ids(const char *root, struct arena *a, struct strings *ret, struct error *e)
{
	size_t i, n = 0;

	if (life_ids(root, a, ret, e) < 0)
		return -1;
	for (i = 0; i < ret->n; i++)
		if (str_after(ret->v[i], SANDBOX_PREFIX))
			ret->v[n++] = ret->v[i];
	ret->n = n;
	return 0;
}

size_t sandbox_registry_count(const char *root, struct arena *a)
{
	struct strings ids = {0};
	struct error ignored;

	return boxes_ids(root, a, &ids, &ignored) < 0 ? 0 : ids.n;
}

/* Why it has to go; NULL: it doesn't. It is locked then, so no call begins. */
static const char *sweep_reason(const struct sandbox *s, enum status status)
{
	const int64_t idle = sandbox_now() - s->used;

	/* Its maker holds the lock on the list, so nobody does any more. */
	if (s->lock_fd < 0)
		return status == STATUS_CREATING ? NULL : "was never finished";
	if (status == STATUS_STOPPED || sandbox_is_doomed(s))
		return "has ended by itself";
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return NULL;
	return idle > s->facts.idle_s * LOOP_SECOND ? "was idle for too long" : NULL;
}

/* Told by one small file, for most of them: that it has had no time to be idle for too long. */
static bool sweep_is_fresh(int root_dfd, const char *container, struct arena *a)
{
	autoclose int fd = openat(root_dfd, arena_printf(a, "%s/" SANDBOX_FILE, container),
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint32_t idle_s;
	int64_t used;

	return fd >= 0 && sandbox_read_used(fd, &used, &idle_s) && !sandbox_is_going(fd) &&
	       sandbox_now() - used <= idle_s * LOOP_SECOND;
}

void (*sandbox_on_swept)(const char *id, const char *why);

static bool sweep_box(int registry_fd, const char *root, const char *container)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct arena memory = {0};
	struct error ignored;
	const char *why = NULL;
	enum status status;
	bool gone = false, found;

	found = sandbox_look(root, container, &memory, &s, &status, &ignored) == 0;
	if (found && sandbox_is_going(s.lock_fd))
		/* Nothing is to be told of it: whoever was killed at this was asked to. */
		gone = life_delete(root, container, true, NULL, &memory, &ignored) == 0;
	else if (found)
		why = sweep_reason(&s, status);
	if (why) {
		sandbox_registry_add(registry_fd, s.id, why, &memory);
		gone = life_delete(root, container, true, NULL, &memory, &ignored) == 0;
		if (gone && sandbox_on_swept)
			sandbox_on_swept(s.id, why);
	}
	sandbox_close(&s);
	arena_free(&memory);
	return gone;
}

size_t sandbox_registry_sweep(int registry_fd, const char *root, bool thoroughly)
{
	struct error ignored;
	autoclose int root_dfd = store_open_root(root, false, &ignored);
	struct arena memory = {0};
	struct strings ids = {0};
	size_t i, n = 0;

	if (root_dfd < 0 || boxes_ids(root, &memory, &ids, &ignored) < 0)
		ids.n = 0;
	for (i = 0; i < ids.n; i++)
		if (thoroughly || !sweep_is_fresh(root_dfd, ids.v[i], &memory))
			/* A create that was killed may have left no more than a directory. */
			n += unlinkat(root_dfd, ids.v[i], AT_REMOVEDIR) == 0 ||
					     sweep_box(registry_fd, root, ids.v[i]) ?
				     1 :
				     0;
	arena_free(&memory);
	return n;
}

size_t sandbox_sweep(const char *root, bool thoroughly)
{
	struct error ignored;
	/* Without a list no box was ever made. */
	autoclose int fd = sandbox_registry_open(
		root, false, thoroughly ? patience_until(PATIENCE_PEER_MS) : 0, &ignored);

	image_sweep(root);
	if (thoroughly)
		ranges_sweep(SIZE_MAX);
	return fd < 0 ? 0 : sandbox_registry_sweep(fd, root, thoroughly);
}

/* ---- for people ---- */

static const char *list_status(const struct sandbox *s, enum status status)
{
	if (status == STATUS_STOPPED)
		return "ended";
	if (sandbox_is_paused(s->root, s->container))
		return "paused";
	if (s->lock_fd >= 0 && flock(s->lock_fd, LOCK_SH | LOCK_NB) == 0)
		return "idle";
	return "busy";
}

/* On record beside the facts, for it changes. */
void sandbox_view_network(struct sandbox_view *v, const struct sandbox *s, struct arena *a)
{
	struct box_limits *l = &v->facts.limits;
	struct network_rules rules;
	struct error ignored;

	if (network_read_record(s, a, &rules, &ignored) < 0)
		return;
	l->network = rules.allow.n > 0;
	l->net_bytes = rules.most;
	l->net_rate = rules.rate;
}

int sandbox_list(const char *root, struct arena *a, struct sandbox_view **ret, size_t *ret_n,
		 struct error *e)
{
	struct strings ids = {0};
	struct error ignored;
	size_t i;

	*ret_n = 0;
	if (boxes_ids(root, a, &ids, e) < 0)
		return -1;
	*ret = arena_array(a, ids.n + 1, struct sandbox_view);
	for (i = 0; i < ids.n; i++) {
		auto_sandbox struct sandbox s = SANDBOX_NONE;
		enum status status;

		if (sandbox_look(root, ids.v[i], a, &s, &status, &ignored) < 0 ||
		    sandbox_is_going(s.lock_fd))
			continue; /* it is gone, or none of ours */
		(*ret)[(*ret_n)++] = (struct sandbox_view){
			.id = s.id,
			.status = list_status(&s, status),
			.created = s.record.created,
			.idle_s = s.used ? (sandbox_now() - s.used) / LOOP_SECOND : 0,
			.facts = s.facts,
		};
		sandbox_view_network(&(*ret)[*ret_n - 1], &s, a);
	}
	return 0;
}

const char *sandbox_backing(const struct sandbox_facts *f)
{
	return f->on_volume ? "volume" : f->on_disk ? "disk" : "memory";
}

void sandbox_write(const struct sandbox_view *v, struct buf *b)
{
	buf_str(b, "{\"sandbox_id\":");
	json_write_string(b, v->id);
	buf_printf(b, ",\"status\":\"%s\",\"language\":", v->status);
	if (v->facts.language)
		json_write_string(b, v->facts.language);
	else
		buf_str(b, "null");
	buf_str(b, ",\"rootfs\":");
	json_write_string(b, v->facts.rootfs ? v->facts.rootfs : "");
	buf_str(b, ",\"created\":");
	json_write_string(b, v->created ? v->created : "");
	buf_printf(b,
		   ",\"idle_s\":%" PRId64
		   ",\"idle_limit_s\":%u,\"disk_backing\":\"%s\",\"limits\":",
		   v->idle_s, v->facts.idle_s, sandbox_backing(&v->facts));
	box_write_limits(&v->facts.limits, b);
	buf_printf(b, ",\"writable_root\":%" PRId64, v->facts.writable_root);
	buf_char(b, '}');
}
