/*
 * Trust: the state root belongs to the caller; ids come from the command line and are checked
 * before they are used as names. Names that are ours to choose below ROOT/ID are constants.
 *
 * Why two verbs never both think that a container is theirs. The lock is a flock on the directory
 * ROOT/ID itself, and the name can be taken from it (rmdir) and given to another (mkdir). So:
 *
 * 1. A lock counts only if the directory still has the name once the lock is held
 * (store_is_current). A verb that finds another directory under the name holds a lock on a corpse:
 * claim starts over, the other verbs say that there is no such container.
 *
 * 2. A verb that writes into the directory, empties it or takes its name away holds a lock that
 * counts. So the name stays while such a lock is held, and nobody else can come to another lock.
 *
 * 3. mkdir gives no right: between mkdir and the lock, a `delete --force` may remove the directory
 * and another create make one of that name. The id belongs to the create that is the first to hold
 * a lock that counts on a directory without a record. It writes the record before it lets the lock
 * go, or removes the directory.
 *
 * By 2 and 3 a record is replaced only by the verb that wrote it, or by one that had the lock after
 * it. The record goes, with its directory, only after what it describes is gone.
 *
 * A copy of the descriptor is a copy of the lock: init closes its own first of all, and a process
 * that executes another program loses it by close-on-exec.
 */
#include "state/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "state/sweep.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "sys/proc.h"

#define RECORD "state.json"
#define RECORD_NEW "state.json.new"
#define SOCKET "start.sock"
#define CONFIG "config.json"

/* Our files in a container's directory, besides the record and what the container wrote. */
static const char *const own_files[] = {RECORD_NEW, CONFIG, SOCKET};

enum { ID_MAX = 255, CLAIM_TRIES = 16, REMOVE_TRIES = 16, LOCK_TRIES = 2000 /* 10 s */ };

void store_close(struct store *s)
{
	if (s->locked)
		patience_watch(-1, NULL);
	fd_close(&s->dfd);
	fd_close(&s->root_dfd);
}

int store_check_id(const char *id, struct error *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"_+.-";
	size_t len = strlen(id);

	if (len == 0)
		return err_set(e, ERR_USAGE, "the container id is empty");
	if (len > ID_MAX)
		return err_set(e, ERR_USAGE, "the container id is longer than %d bytes", ID_MAX);
	if (str_eq(id, ".") || str_eq(id, ".."))
		return err_set(
			e, ERR_USAGE,
			"invalid container id \"%s\": it is the name of a directory everywhere",
			id);
	if (strspn(id, allowed) != len)
		return err_set(e, ERR_USAGE,
			       "invalid container id %s: only letters, digits and _+.- are allowed",
			       json_show(id).text);
	return 0;
}

/* The directory we hold is still the one of that name: not removed while we waited for the lock. 1
 * or 0; -1 if it can't be told, which must not pass for "deleted". */
static int store_is_current(const struct store *s, struct error *e)
{
	struct stat held, named;

	if (fstat(s->dfd, &held) < 0)
		return err_sys(e, "look at the state of container \"%s\"", s->id);
	if (fstatat(s->root_dfd, s->id, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 :
					 err_sys(e, "look at the state of container \"%s\"", s->id);
	return held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/* Tells whoever holds the lock that nothing is worth waiting for any more (sys/patience.h), for as
 * long as the descriptor is open: by a lock on a file that is written once. -1: not yet, or not
 * possible. */
static int store_want(const struct store *s)
{
	autoclose int fd = openat(s->dfd, CONFIG, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	/* Shared: others may want the same. Who holds the container's lock takes this one to see,
	 * for a moment. */
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 ? fd_steal(&fd) : -1;
}

/* Bounded: somebody may hold it who is stopped, or waits for what can't be interrupted. */
static int store_lock(struct store *s, enum store_lock how, struct error *e)
{
	static const struct timespec pause = {.tv_nsec = 5000000};
	autoclose int want_fd = -1;
	int tries;

	for (tries = 0; flock(s->dfd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "lock container \"%s\"", s->id);
		if (tries == LOCK_TRIES)
			return err_set(
				e, ERR_WRONG_STATE,
				"container \"%s\" is locked by another sbxrun that does not finish",
				s->id);
		if (how == STORE_FORCE && want_fd < 0)
			want_fd = store_want(s);
		nanosleep(&pause, NULL);
	}
	s->locked = true;
	patience_watch(s->dfd, CONFIG);
	return 0;
}

static int store_refuse_used(const char *id, struct error *e)
{
	return err_set(e, ERR_EXISTS, "container with given ID already exists: %s", id);
}

/* The directory that we made is opened and locked. 1: ours; 0: it was swept away before we had the
 * lock. */
static int store_take_made(struct store *s, const char *root, struct error *e)
{
	int current;

	s->dfd = openat(s->root_dfd, s->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dfd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s/%s", root, s->id);
	if (store_lock(s, STORE_LOCK, e) < 0)
		return -1;
	current = store_is_current(s, e);
	if (current <= 0)
		return current;
	/* The directory may be another create's, made after ours was swept away. */
	if (faccessat(s->dfd, RECORD, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return store_refuse_used(s->id, e);
	return errno == ENOENT ? 1 : err_sys(e, "look for a record in %s/%s", root, s->id);
}

/* 1: ours; 0: it was swept away before we had the lock, so try again. */
static int store_try_claim(struct store *s, const char *root, struct error *e)
{
	/* So that there is a descriptor for it once it is made. */
	autoclose int spare_fd = fcntl(s->root_dfd, F_DUPFD_CLOEXEC, 0);
	int got;

	if (spare_fd < 0)
		return err_sys(e, "open %s/%s", root, s->id);
	if (mkdirat(s->root_dfd, s->id, 0700) < 0)
		return errno == EEXIST ? store_refuse_used(s->id, e) :
					 err_sys(e, "make %s/%s", root, s->id);
	fd_close(&spare_fd);
	got = store_take_made(s, root, e);
	/* Should another create have come in between, without a record so far: it notices, and says
	 * so. */
	if (got < 0 && e->class != ERR_EXISTS)
		unlinkat(s->root_dfd, s->id, AT_REMOVEDIR);
	return got;
}

int store_claim(const char *root, const char *id, struct store *ret, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	int tries, got = 0;

	s.id = id;
	s.root_dfd = store_open_root(root, true, e);
	if (s.root_dfd < 0)
		return -1;
	for (tries = 0; tries < CLAIM_TRIES && !got; tries++) {
		fd_close(&s.dfd);
		got = store_try_claim(&s, root, e);
	}
	if (got < 0)
		return -1;
	if (!got)
		return err_set(e, ERR_SYSTEM, "%s/%s is removed as often as it is made", root, id);
	*ret = s;
	s = STORE_NONE;
	return 0;
}

static int store_refuse_missing(const char *id, struct error *e)
{
	return err_set(e, ERR_NOT_FOUND, "container \"%s\" does not exist", id);
}

int store_open_below(int root_dfd, const char *id, struct store *ret, struct error *e)
{
	struct store s = STORE_NONE;

	s.id = id;
	s.dfd = openat(root_dfd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s.dfd < 0)
		return errno == ENOENT ? store_refuse_missing(id, e) :
					 err_sys(e, "open the state of container \"%s\"", id);
	*ret = s;
	return 0;
}

int store_open(const char *root, const char *id, enum store_lock how, struct store *ret,
	       struct error *e)
{
	autoclose int root_dfd = store_open_root(root, false, e);
	auto_store struct store s = STORE_NONE;

	if (root_dfd < 0)
		return e->sys == ENOENT ? store_refuse_missing(id, e) : -1;
	if (store_open_below(root_dfd, id, &s, e) < 0)
		return -1;
	s.root_dfd = fd_steal(&root_dfd);
	if (how != STORE_LOOK) {
		int current = store_lock(&s, how, e) < 0 ? -1 : store_is_current(&s, e);

		if (current <= 0)
			return current < 0 ? -1 : store_refuse_missing(id, e);
	}
	*ret = s;
	s = STORE_NONE;
	return 0;
}

void store_unlock(struct store *s)
{
	flock(s->dfd, LOCK_UN);
	s->locked = false;
	patience_watch(-1, NULL);
}

bool store_is_busy(const struct store *s)
{
	if (s->locked)
		return false;
	if (flock(s->dfd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(s->dfd, LOCK_UN);
	return false;
}

/*
 * Under a name that is not looked for, then renamed: a reader sees the old or the new, whole. Not
 * synced, which costs milliseconds where the state lies on a disk: nothing that a record describes
 * outlives the machine. One that a disk lost with it is damaged, and `delete --force` removes it.
 */
static int store_put_new(const struct store *s, const char *name, const char *text, size_t len,
			 struct error *e)
{
	autoclose int fd = openat(s->dfd, RECORD_NEW,
				  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, text, len) < 0)
		return err_sys(e, "write %s of container \"%s\"", name, s->id);
	return 0;
}

static int store_rename_new(const struct store *s, const char *name, struct error *e)
{
	if (renameat(s->dfd, RECORD_NEW, s->dfd, name) < 0)
		return err_sys(e, "write %s of container \"%s\"", name, s->id);
	return 0;
}

int store_put(const struct store *s, const char *name, const char *text, size_t len,
	      struct error *e)
{
	return store_put_new(s, name, text, len, e) < 0 ? -1 : store_rename_new(s, name, e);
}

int store_prepare(const struct store *s, const struct record *r, struct arena *a, struct error *e)
{
	struct buf b = buf_new(a, RECORD_MAX);

	json_write(&b, &record_table, r, 0);
	if (b.overflow)
		return err_set(e, ERR_CONFIG, "annotations and hooks are larger than %d bytes",
			       RECORD_MAX);
	return store_put_new(s, RECORD, b.data, b.len, e);
}

int store_commit(const struct store *s, struct error *e)
{
	return store_rename_new(s, RECORD, e);
}

int store_write(const struct store *s, const struct record *r, struct arena *a, struct error *e)
{
	return store_prepare(s, r, a, e) < 0 ? -1 : store_commit(s, e);
}

int store_read(const struct store *s, struct arena *a, struct record *ret, bool *ret_found,
	       struct error *e)
{
	autoclose int fd = openat(s->dfd, RECORD, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct record r = {0};
	struct stat st;
	size_t len;
	char *text;

	*ret_found = false;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(e, "open the record of container \"%s\"", s->id);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "look at the record of container \"%s\"", s->id);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_CONFIG,
			       "the record of container \"%s\" is not a regular file", s->id);
	text = fd_read_all(fd, RECORD_MAX, a, &len);
	if (!text && errno == EFBIG)
		return err_set(e, ERR_CONFIG,
			       "the record of container \"%s\" is larger than %d bytes", s->id,
			       RECORD_MAX);
	if (!text)
		return err_sys(e, "read the record of container \"%s\"", s->id);
	if (json_read(RECORD, text, len, &record_table, &json_default_limits, &r, a, e) < 0)
		return err_wrap(e, "container \"%s\"", s->id);
	if (r.version > RECORD_VERSION)
		return err_set(e, ERR_HOST,
			       "container \"%s\" was made by a newer sbxrun (record version %u)",
			       s->id, r.version);
	*ret = r;
	*ret_found = true;
	return 0;
}

int store_sweep(const struct store *s, struct error *e)
{
	return sweep_directory(s->dfd, "notify") < 0 ?
		       err_sys(e, "remove the notify directory of container \"%s\"", s->id) :
		       0;
}

/* Needs no descriptor: there may be none left. */
static void store_remove_own(const struct store *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own_files); i++)
		unlinkat(s->dfd, own_files[i], 0);
}

/* Removes what others have put beside our record. If the directory can't be read, it stays as it
 * is, and the error comes when it can't be removed. */
static void store_remove_others(const struct store *s)
{
	DIR *dir = sweep_open(s->dfd, ".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!str_eq(entry->d_name, RECORD) && entry->d_type != DT_DIR)
			unlinkat(s->dfd, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int store_remove(struct store *s, struct error *e)
{
	int tries = REMOVE_TRIES;

	if (store_sweep(s, e) < 0)
		return -1;
	store_remove_own(s);
	store_remove_others(s);
	/* The record goes last but for the directory: until then the clean-up can be repeated. */
	if (unlinkat(s->dfd, RECORD, 0) < 0 && errno != ENOENT)
		return err_sys(e, "remove the record of container \"%s\"", s->id);
	/* Somebody may just make a file there, for a container whose end he has not noticed yet. */
	while (unlinkat(s->root_dfd, s->id, AT_REMOVEDIR) < 0 && errno != ENOENT) {
		if ((errno != ENOTEMPTY && errno != EEXIST) || !tries--)
			return err_sys(e, "remove the state of container \"%s\"", s->id);
		store_remove_others(s);
	}
	return 0;
}

int store_remove_unrecorded(struct store *s, struct error *e)
{
	struct stat st;

	if (fstat(s->dfd, &st) < 0)
		return err_sys(e, "look at the state of container \"%s\"", s->id);
	if (st.st_uid != geteuid() || (st.st_mode & 07777) != 0700)
		return err_set(
			e, ERR_NOT_FOUND,
			"container \"%s\" does not exist; the directory of that name is not sbxrun's",
			s->id);
	store_remove_own(s);
	if (unlinkat(s->root_dfd, s->id, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return err_sys(e, "remove the state of container \"%s\"", s->id);
	return err_set(
		e, ERR_NOT_FOUND,
		"container \"%s\" does not exist; the directory of that name holds what is not sbxrun's",
		s->id);
}

static int store_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int store_list_below(int root_dfd, struct arena *a, struct strings *ret_ids, struct error *e)
{
	int dfd = openat(root_dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = dfd < 0 ? NULL : fdopendir(dfd);
	struct strings ids = {0};
	struct dirent *entry;
	size_t cap = 0;

	if (!dir) {
		err_sys(e, "--root: read it");
		fd_close(&dfd);
		return -1;
	}
	while ((entry = readdir(dir))) {
		struct error ignored;

		if (store_check_id(entry->d_name, &ignored) < 0 ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		ids.v = arena_grow(a, ids.v, &cap, ids.n + 1, sizeof(char *));
		ids.v[ids.n++] = arena_strdup(a, entry->d_name);
	}
	closedir(dir);
	if (ids.n)
		qsort(ids.v, ids.n, sizeof(char *), store_compare);
	*ret_ids = ids;
	return 0;
}

int store_list(const char *root, struct arena *a, struct strings *ret_ids, struct error *e)
{
	autoclose int root_dfd = store_open_root(root, false, e);

	*ret_ids = (struct strings){0};
	if (root_dfd < 0)
		return e->sys == ENOENT ? 0 : -1;
	return store_list_below(root_dfd, a, ret_ids, e);
}

/* Through /proc/self/fd, because a socket's path may have at most 107 bytes. */
static struct sockaddr_un store_address(const struct store *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" SOCKET, s->dfd);
	return at;
}

int store_listen(const struct store *s, struct error *e)
{
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = store_address(s);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		return err_sys(e, "listen on the start socket");
	return fd_steal(&fd);
}

int store_connect(const struct store *s, struct error *e)
{
	/* It is read only after a wait; and init lets in no more than one. */
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at = store_address(s);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return err_sys(e, "connect to the container's init");
	return fd_steal(&fd);
}

int store_forget_start(const struct store *s)
{
	return unlinkat(s->dfd, SOCKET, 0);
}

bool store_is_alive(int pidfd)
{
	return !loop_is_ready(pidfd, POLLIN, 0);
}

int store_relock(struct store *s, struct error *e)
{
	return store_lock(s, STORE_LOCK, e) < 0 ? -1 : store_is_current(s, e);
}

static int store_open_init(const struct record *r, int *ret_pidfd, struct error *e);

/* Trust: pids are reused. The process must have the start time on record, in this very boot. 1 or
 * 0; -1 if it can't be told: then nobody may take the container for stopped. pidfd: the process, or
 * -1 to have it opened if need be. */
static int store_init_lives(const struct record *r, int pidfd, struct error *e)
{
	autoclose int own_pidfd = -1;
	struct proc_stat stat;
	char boot_id[37];

	if (r->pid <= 0)
		return 0;
	if (proc_boot_id(boot_id, e) < 0)
		return -1;
	if (!str_eq(boot_id, r->boot_id))
		return 0;
	if (proc_stat_read(r->pid, &stat) < 0)
		return errno == ENOENT || errno == ESRCH ? 0 :
							   err_sys(e, "read /proc/%d/stat", r->pid);
	if (stat.start != r->pid_start)
		return 0;
	if (stat.state != 'Z' && stat.state != 'X')
		return 1;
	/* The letter is the main thread's, which may have ended alone. A pidfd speaks for all of
	 * them. */
	return pidfd >= 0 ? store_is_alive(pidfd) : store_open_init(r, &own_pidfd, e);
}

/* Whether init lives, as above, with a descriptor of it if it does. */
static int store_open_init(const struct record *r, int *ret_pidfd, struct error *e)
{
	/* First, so that what is checked is what it refers to. */
	autoclose int pidfd = r->pid > 0 ? pidfd_open(r->pid, 0) : -1;
	int lives;

	/* EINVAL: the number is a thread's by now. */
	if (r->pid > 0 && pidfd < 0 && errno != ESRCH && errno != EINVAL && errno != ENOENT)
		return err_sys(e, "pidfd_open %d", r->pid);
	lives = pidfd < 0 ? 0 : store_init_lives(r, pidfd, e);
	if (lives > 0)
		*ret_pidfd = fd_steal(&pidfd);
	return lives;
}

/* For a record that is not committed. Its create may have succeeded since it was read: then it was
 * still at work at that moment, and not cut short. */
static int store_is_being_created(const struct store *s, struct error *e)
{
	struct arena a = {0};
	struct record now;
	bool found;
	int result = store_is_busy(s);

	if (!result && (result = store_read(s, &a, &now, &found, e)) == 0)
		result = found && now.committed;
	arena_free(&a);
	return result;
}

int store_status(const struct store *s, const struct record *r, enum status *ret, int *ret_pidfd,
		 struct error *e)
{
	int lives, creating;

	if (ret_pidfd)
		*ret_pidfd = -1;
	lives = ret_pidfd ? store_open_init(r, ret_pidfd, e) : store_init_lives(r, -1, e);
	if (lives < 0)
		return err_wrap(e, "container \"%s\"", s->id);
	creating = r->committed ? 0 : store_is_being_created(s, e);
	if (creating < 0)
		return -1;
	if (!r->committed)
		*ret = creating ? STATUS_CREATING : STATUS_STOPPED;
	else if (!lives)
		*ret = STATUS_STOPPED;
	else if (faccessat(s->dfd, SOCKET, F_OK, 0) == 0)
		*ret = STATUS_CREATED;
	else if (errno == ENOENT)
		*ret = STATUS_RUNNING;
	else
		return err_sys(e, "look for the start socket of container \"%s\"", s->id);
	return 0;
}
