#include "box/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/session.h"
#include "json/json.h"
#include "reaper/order.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "sys/sys.h"

enum {
	THAW_TRIES = 3,
	USED_SIZE = 32,
	SETTLE_MS = 5000,
	STATUS_MAX = 4096
};

enum { MARK_NONE = ' ', MARK_CALL = 'c', MARK_FROZEN = 'f', MARK_GOING = 'g' };

/* Where the file has its marks: behind the moment, where nobody else reads. */
enum { AT_CALL = USED_SIZE, AT_GOING };

int64_t sandbox_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * LOOP_SECOND + t.tv_nsec;
}

/* One write of a fixed size: a reader sees the old moment or the new one. */
void sandbox_touch(struct sandbox *s)
{
	char text[USED_SIZE + 1];

	s->used = sandbox_now();
	snprintf(text, sizeof(text), "%020lld %010u\n", (long long)s->used, s->facts.idle_s);
	/* If it can't be written, the box goes a call earlier. */
	if (s->lock_fd >= 0 && pwrite(s->lock_fd, text, USED_SIZE, 0) != USED_SIZE)
		return;
}

static void sandbox_mark(struct sandbox *s, char mark)
{
	/* Unmarked, what a call that is killed has left stays beside the sessions. */
	if (s->has_sessions && pwrite(s->lock_fd, &mark, 1, AT_CALL) != 1)
		return;
}

void sandbox_enter(struct sandbox *s)
{
	sandbox_mark(s, MARK_CALL);
}

void sandbox_leave(struct sandbox *s)
{
	sandbox_mark(s, MARK_NONE);
}

static bool sandbox_is_marked(const struct sandbox *s, char as)
{
	char mark = MARK_NONE;

	return pread(s->lock_fd, &mark, 1, AT_CALL) == 1 && mark == as;
}

bool sandbox_is_going(int fd)
{
	char mark = MARK_NONE;

	return pread(fd, &mark, 1, AT_GOING) == 1 && mark == MARK_GOING;
}

/* If it can't be written, who comes meanwhile hears that it has ended by itself. */
static void sandbox_say_going(const struct sandbox *s)
{
	const char mark = MARK_GOING;

	if (s->lock_fd >= 0 && pwrite(s->lock_fd, &mark, 1, AT_GOING) != 1)
		return;
}

bool sandbox_read_used(int fd, int64_t *ret_used, uint32_t *ret_idle_s)
{
	char text[USED_SIZE + 1] = "", *idle_s = text + 21;

	if (pread(fd, text, USED_SIZE, 0) != USED_SIZE || text[20] != ' ' || text[31] != '\n')
		return false;
	text[20] = text[31] = '\0';
	return str_to_i64(text, ret_used) && str_to_u32(idle_s, ret_idle_s);
}

/* ---- names ---- */

int sandbox_check_id(const char *id, struct error *e)
{
	const char *p = id;

	while (*p && (strchr("_.-", *p) || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		      (*p >= 'A' && *p <= 'Z')))
		p++;
	if (*p || p == id || p - id > SANDBOX_ID_MAX)
		return err_set(e, ERR_USAGE,
			       "%s is no id of a box: letters, digits, \"_\", \".\" and \"-\", at most "
			       "%d of them",
			       json_show(id).text, SANDBOX_ID_MAX);
	return 0;
}

const char *sandbox_container(const char *id, struct arena *a)
{
	return arena_printf(a, SANDBOX_PREFIX "%s", id);
}

/* ---- opening ---- */

void sandbox_close(struct sandbox *s)
{
	if (s->lock_fd >= 0)
		sandbox_leave(s);
	s->has_sessions = false;
	fd_close(&s->dfd);
	fd_close(&s->lock_fd);
	fd_close(&s->init_pidfd);
}

static struct sandbox sandbox_steal(struct sandbox *s)
{
	const struct sandbox got = *s;

	*s = SANDBOX_NONE;
	return got;
}

int sandbox_look(const char *root, const char *container, struct arena *a, struct sandbox *ret,
		 enum status *ret_status, struct error *e)
{
	auto_store struct store store = STORE_NONE;
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	enum status status;
	bool found;

	s.root = root;
	s.container = container;
	s.id = str_after(container, SANDBOX_PREFIX);
	if (store_open(root, container, STORE_LOOK, &store, e) < 0 ||
	    store_read(&store, a, &s.record, &found, e) < 0)
		return -1;
	if (!found)
		return err_set(e, ERR_NOT_FOUND, "box \"%s\" was never made", s.id);
	if (sandbox_read_facts(&s.record, a, &s.facts, e) < 0 ||
	    store_status(&store, &s.record, &status, &s.init_pidfd, e) < 0)
		return -1;
	s.lock_fd = openat(store.dfd, SANDBOX_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (s.lock_fd >= 0 && !sandbox_read_used(s.lock_fd, &s.used, &s.facts.idle_s))
		s.used = 0; /* it was made, and nobody came to use it */
	s.dfd = fd_steal(&store.dfd);
	if (ret_status)
		*ret_status = status;
	*ret = sandbox_steal(&s);
	return 0;
}

static int sandbox_refuse_expired(const char *id, const char *why, struct error *e)
{
	return err_set(e, ERR_EXPIRED,
		       "sandbox expired: \"%s\" %s, and is gone with its files: make "
		       "a new one (box create)",
		       id, why);
}

static int sandbox_refuse_missing(const char *root, const char *id, struct arena *a,
				  struct error *e)
{
	const char *why = sandbox_registry_find(root, id, a);

	if (why)
		return sandbox_refuse_expired(id, why, e);
	return err_set(e, ERR_NOT_FOUND,
		       "sandbox not found: there is no \"%s\" (box list shows those that there are)",
		       id);
}

/* Does a sweep's check of the one box that somebody wants right now. */
static int sandbox_check_alive(const struct sandbox *s, enum status status, struct arena *a,
			       struct error *e)
{
	const bool idle = sandbox_now() - s->used > s->facts.idle_s * LOOP_SECOND;

	if ((s->lock_fd < 0 && status != STATUS_STOPPED) || sandbox_is_going(s->lock_fd))
		return sandbox_refuse_missing(s->root, s->id, a, e);
	if (status != STATUS_STOPPED && !idle)
		return 0;
	if (status != STATUS_STOPPED && flock(s->lock_fd, LOCK_SH | LOCK_NB) < 0)
		return 0; /* a long call is not idle */
	if (s->lock_fd >= 0)
		flock(s->lock_fd, LOCK_UN); /* which the sweep needs */
	sandbox_sweep(s->root, true);
	return sandbox_refuse_expired(
		s->id, idle ? "was idle for too long" : "has ended by itself", e);
}

int sandbox_open(const char *root, const char *id, struct arena *a, struct sandbox *ret,
		 struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	enum status status;

	if (sandbox_check_id(id, e) < 0)
		return -1;
	if (sandbox_look(root, sandbox_container(id, a), a, &s, &status, e) < 0)
		return e->class == ERR_NOT_FOUND ? sandbox_refuse_missing(root, id, a, e) : -1;
	if (sandbox_check_alive(&s, status, a, e) < 0)
		return -1;
	*ret = sandbox_steal(&s);
	return 0;
}

/* ---- the end of calls ---- */

bool sandbox_lives(const struct sandbox *s)
{
	return s->init_pidfd >= 0 && !loop_is_ready(s->init_pidfd, POLLIN, 0);
}

bool sandbox_is_paused(const char *root, const char *container)
{
	struct arena memory = {0};
	struct error ignored;
	struct life_view v;
	bool paused = life_state(root, container, &memory, &v, &ignored) == 0 &&
		      v.status == STATUS_PAUSED;

	arena_free(&memory);
	return paused;
}

/* A thaw that fails is tried again, for a box that stays frozen is of no use to anybody; and a look
 * that fails says that it isn't frozen. False: it may be so still. */
static bool sandbox_resume(const struct sandbox *s)
{
	struct arena memory = {0};
	struct error e;
	bool done = false;
	int tries;

	for (tries = 0; tries < THAW_TRIES && !done; tries++)
		done = life_resume(s->root, s->container, &memory, &e) == 0 ||
		       e.class == ERR_NOT_FOUND || (tries && e.class == ERR_WRONG_STATE);
	arena_free(&memory);
	return done;
}

/* A frozen process kills nobody, and on cgroup v1 isn't killed either. */
static void sandbox_thaw(const struct sandbox *s)
{
	if (sandbox_is_paused(s->root, s->container))
		sandbox_resume(s);
}

bool sandbox_freeze(struct sandbox *s, struct arena *a, struct error *e)
{
	sandbox_mark(s, MARK_FROZEN);
	if (life_pause(s->root, s->container, a, e) == 0)
		return true;
	sandbox_unfreeze(s);
	return false;
}

void sandbox_unfreeze(struct sandbox *s)
{
	/* Otherwise the next verb finds the mark, and thaws it. */
	if (sandbox_resume(s))
		sandbox_mark(s, MARK_CALL);
}

void sandbox_kill(const struct sandbox *s)
{
	sandbox_thaw(s);
	if (s->init_pidfd >= 0)
		pidfd_send_signal(s->init_pidfd, REAPER_END_CALLS, NULL, 0);
}

/* Signals that are on their way to its first process; all of them, if nobody can tell. */
static uint64_t sandbox_pending(const struct sandbox *s)
{
	char path[64], text[STATUS_MAX], *line;

	snprintf(path, sizeof(path), "/proc/%d/status", s->record.pid);
	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return UINT64_MAX;
	line = strstr(text, "\nShdPnd:\t");
	return line ? strtoull(line + strlen("\nShdPnd:\t"), NULL, 16) : UINT64_MAX;
}

/* The signal of sandbox_kill() is not on its way any more: else it would hit the next call. */
static bool sandbox_has_killed(const struct sandbox *s)
{
	return !(sandbox_pending(s) & UINT64_C(1) << (REAPER_END_CALLS - 1));
}

bool sandbox_is_doomed(const struct sandbox *s)
{
	const uint64_t pending = sandbox_pending(s);

	return pending != UINT64_MAX && pending & UINT64_C(1) << (SIGKILL - 1);
}

/* Nothing is there but its first process, and nothing is on its way. */
static bool sandbox_is_quiet(const struct sandbox *s, struct arena *a)
{
	if (!sandbox_lives(s))
		return true; /* its end is that of all */
	return sandbox_has_killed(s) && (s->has_sessions || life_is_alone(s->root, &s->record, a));
}

bool sandbox_settle(const struct sandbox *s, struct arena *a)
{
	const int64_t until = loop_now() + SETTLE_MS * LOOP_MS;
	static const struct timespec nap = {.tv_nsec = 500000};

	while (!sandbox_is_quiet(s, a)) {
		if (loop_now() >= until)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

/* ---- the begin of one ---- */

int sandbox_lock(struct sandbox *s, int64_t until, struct arena *a, struct error *e)
{
	struct stat st;

	while (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "lock box \"%s\"", s->id);
		/* Its end is not to be waited for, unless it is frozen for a snapshot. */
		if (sandbox_is_paused(s->root, s->container) && !sandbox_is_marked(s, MARK_FROZEN))
			return err_set(e, ERR_WRONG_STATE,
				       "box \"%s\" is paused, with a call in it: box resume %s",
				       s->id, s->id);
		if (patience_nap(until, e) < 0)
			return err_set(e, ERR_WRONG_STATE,
				       "box \"%s\" is busy: another call runs in it, and they come one "
				       "at a time",
				       s->id);
	}
	if (fstat(s->lock_fd, &st) < 0 || !st.st_nlink)
		return sandbox_refuse_missing(s->root, s->id, a, e);
	sandbox_touch(s);
	/* Leftovers of a call whose caller and reaper were killed. */
	s->has_sessions = session_is_any(s) && !sandbox_is_marked(s, MARK_CALL);
	/* A call that was killed while it kept a snapshot has left sessions frozen. */
	if (s->has_sessions && sandbox_is_marked(s, MARK_FROZEN))
		sandbox_thaw(s);
	if (!sandbox_is_quiet(s, a)) {
		sandbox_kill(s);
		if (!sandbox_settle(s, a))
			return err_set(e, ERR_SYSTEM,
				       "what ran in box \"%s\" before does not end", s->id);
	}
	sandbox_enter(s);
	return 0;
}

int sandbox_pause(const char *root, const char *id, bool pause, struct arena *a, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;

	if (sandbox_open(root, id, a, &s, e) < 0)
		return -1;
	sandbox_touch(&s);
	return pause ? life_pause(root, s.container, a, e) : life_resume(root, s.container, a, e);
}

int sandbox_destroy(const char *root, const char *id, struct arena *a, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;

	if (sandbox_check_id(id, e) < 0)
		return -1;
	/* That it is a box, and not any container of that name. */
	if (sandbox_look(root, sandbox_container(id, a), a, &s, NULL, e) < 0)
		return e->class == ERR_NOT_FOUND ? sandbox_refuse_missing(root, id, a, e) : -1;
	sandbox_say_going(&s);
	/* A sweep may have been faster. */
	return life_delete(root, s.container, true, NULL, a, e) < 0 && e->class != ERR_NOT_FOUND ?
		       -1 :
		       0;
}
