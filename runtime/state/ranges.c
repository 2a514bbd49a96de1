#include "state/ranges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "state/store.h"
#include "sys/lockfile.h"
#include "sys/proc.h"
#include "sys/sys.h"

enum { NAME_SIZE = 16, NOTE_SIZE = PATH_MAX + 64, TAKE_TRIES = 200 /* 1 s */ };

/* Words of a file. */
struct range_note {
	char state_dir[NOTE_SIZE];
	pid_t pid;
	uint64_t pid_start;
};

static void range_name(struct id_range range, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%u", range.first);
}

/* false: it says nothing, as that of a create which was killed before it had written. */
static bool range_read(int fd, struct range_note *ret)
{
	char text[NOTE_SIZE];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *end;
	int pid;

	*ret = (struct range_note){0};
	if (n <= 0)
		return false;
	text[n] = '\0';
	end = strchr(text, '\n');
	if (!end)
		return false;
	*end = '\0';
	memcpy(ret->state_dir, text, (size_t)(end - text) + 1);
	if (sscanf(end + 1, "%d %" SCNu64 "\n", &pid, &ret->pid_start) == 2)
		ret->pid = pid;
	return true;
}

/* Where it can't be told, the answer is yes. */
static bool range_is_on_record(const char *state_dir, struct id_range range)
{
	struct store s = STORE_NONE;
	struct arena a = {0};
	struct record r = {0};
	struct error ignored;
	bool found = false, held;

	s.id = state_dir;
	s.dfd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dfd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	held = store_read(&s, &a, &r, &found, &ignored) < 0 ||
	       (found && r.id_range.first == range.first && r.id_range.size);
	arena_free(&a);
	store_close(&s);
	return held;
}

/* Its record may lie where only other mount namespaces see it. */
static bool range_has_init(const struct range_note *note)
{
	struct proc_stat stat;

	return note->pid > 0 && proc_stat_read(note->pid, &stat) == 0 &&
	       stat.start == note->pid_start;
}

static bool range_is_held(int fd, struct id_range range)
{
	struct range_note note;

	return range_read(fd, &note) &&
	       (range_has_init(&note) || range_is_on_record(note.state_dir, range));
}

/* 1: it is ours now; 0: somebody has it, or (*ret_busy) is at work on it. */
static int range_try(int dfd, struct id_range range, const char *state_dir, struct arena *a,
		     int *ret_fd, bool *ret_busy, struct error *e)
{
	const char *text = arena_printf(a, "%s\n", state_dir);
	autoclose int fd = -1;
	char name[NAME_SIZE];

	range_name(range, name);
	fd = lockfile_open(dfd, name, O_CREAT, LOCK_EX);
	if (fd < 0 && errno == EWOULDBLOCK)
		*ret_busy = true;
	if (fd < 0)
		return errno == EWOULDBLOCK ? 0 : err_sys(e, "open %s/%s", RANGES_DIR, name);
	if (range_is_held(fd, range))
		return 0;
	if (ftruncate(fd, 0) < 0 || fd_write_all(fd, text, strlen(text)) < 0) {
		err_sys(e, "write %s/%s", RANGES_DIR, name);
		unlinkat(dfd, name, 0);
		return -1;
	}
	*ret_fd = fd_steal(&fd);
	return 1;
}

/* Where the search begins: the same name finds its old range again, as long as nobody has it. */
static uint32_t range_begin(const char *state_dir, uint32_t count)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (; *state_dir; state_dir++)
		hash = (hash ^ (unsigned char)*state_dir) * 16777619U;
	return hash % count;
}

/* 1: found; 0: there is none. *ret_busy: somebody is at work on one, so there may be soon. */
static int ranges_search(int dfd, const struct pool *pool, const char *state_dir, struct arena *a,
			 struct range_hold *ret, bool *ret_busy, struct error *e)
{
	const uint32_t count = pool_count(pool), begin = range_begin(state_dir, count);
	int got = 0;
	uint32_t i;

	*ret_busy = false;
	for (i = 0; i < count && !got; i++) {
		ret->range = pool_range(pool, (begin + i) % count);
		got = range_try(dfd, ret->range, state_dir, a, &ret->fd, ret_busy, e);
	}
	return got;
}

int ranges_take_in(int dfd, const struct pool *pool, const char *state_dir, struct arena *a,
		   struct range_hold *ret, struct error *e)
{
	static const struct timespec pause = {.tv_nsec = 5000000};
	struct range_hold h = RANGE_HOLD_NONE;
	bool busy = true;
	int tries, got = 0;

	if (strlen(state_dir) >= PATH_MAX)
		return err_set(e, ERR_USAGE, "--root: too long");
	h.dfd = fcntl(dfd, F_DUPFD_CLOEXEC, 3);
	if (h.dfd < 0)
		return err_sys(e, "open " RANGES_DIR);
	for (tries = 0; !got && busy && tries < TAKE_TRIES; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		got = ranges_search(dfd, pool, state_dir, a, &h, &busy, e);
	}
	if (got > 0) {
		*ret = h;
		return 0;
	}
	fd_close(&h.dfd);
	if (got < 0)
		return -1;
	return err_set(e, ERR_HOST,
		       "containers hold all of the %u ranges of ids that there are: delete some, or "
		       "give more to " POOL_NAME " in /etc/subuid and /etc/subgid",
		       pool_count(pool));
}

static void range_close(struct range_hold *h)
{
	/* Copies of the descriptor, in processes that were forked meanwhile, are no copies of the
	 * lock then. */
	if (h->fd >= 0)
		flock(h->fd, LOCK_UN);
	fd_close(&h->fd);
	fd_close(&h->dfd);
}

void ranges_settle(struct range_hold *h, pid_t pid, uint64_t pid_start)
{
	char text[64];
	struct stat st;
	int n;

	/* At the end of what it says already. If it can't be written, the record still says it. */
	if (h->fd >= 0 && pid > 0 && fstat(h->fd, &st) == 0) {
		n = snprintf(text, sizeof(text), "%d %" PRIu64 "\n", pid, pid_start);
		(void)!pwrite(h->fd, text, (size_t)n, st.st_size);
	}
	range_close(h);
}

void ranges_drop(struct range_hold *h)
{
	char name[NAME_SIZE];

	range_name(h->range, name);
	if (h->fd >= 0)
		unlinkat(h->dfd, name, 0);
	range_close(h);
}

/* A directory has many names: --root may be given as another one each time. */
static bool range_is_of(int fd, int state_dfd)
{
	struct range_note note;
	struct stat own, noted;

	return range_read(fd, &note) && fstat(state_dfd, &own) == 0 &&
	       stat(note.state_dir, &noted) == 0 && own.st_dev == noted.st_dev &&
	       own.st_ino == noted.st_ino;
}

/* One that somebody is looking at stays, and is taken over by the next who wants it. */
void ranges_release_in(int dfd, struct id_range range, int state_dfd)
{
	autoclose int fd = -1;
	char name[NAME_SIZE];

	range_name(range, name);
	fd = lockfile_open(dfd, name, 0, LOCK_EX);
	if (fd >= 0 && range_is_of(fd, state_dfd))
		unlinkat(dfd, name, 0);
}

/* A user who can write there could have two containers share their ids. */
static int ranges_open(struct error *e)
{
	autoclose int dfd = -1;
	struct stat st;

	if (mkdir(RANGES_DIR, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make " RANGES_DIR);
	dfd = open(RANGES_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd < 0 || fstat(dfd, &st) < 0)
		return err_sys(e, "open " RANGES_DIR);
	if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(e, ERR_HOST,
			       RANGES_DIR " belongs to somebody else, or others may write to it");
	return fd_steal(&dfd);
}

/* A file that isn't there is empty. */
static char *ranges_read_file(const char *path, struct arena *a, struct error *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text;
	size_t len;

	if (fd < 0 && errno == ENOENT)
		return arena_strdup(a, "");
	text = fd < 0 ? NULL : fd_read_all(fd, POOL_FILE_MAX, a, &len);
	if (!text) {
		err_sys(e, "read %s", path);
		return NULL;
	}
	/* The bytes behind it may be an entry of somebody's. */
	if (strlen(text) != len) {
		err_set(e, ERR_HOST, "%s: it has a NUL byte, and is no list of ids", path);
		return NULL;
	}
	return text;
}

static int ranges_read_pool(struct arena *a, struct pool *ret, struct error *e)
{
	char *subuid = ranges_read_file("/etc/subuid", a, e);
	char *subgid = subuid ? ranges_read_file("/etc/subgid", a, e) : NULL;

	return subgid ? pool_read(subuid, subgid, ret, e) : -1;
}

int ranges_take(const char *state_dir, struct arena *a, struct range_hold *ret, struct error *e)
{
	autoclose int dfd = -1;
	struct pool pool;

	if (ranges_read_pool(a, &pool, e) < 0 || (dfd = ranges_open(e)) < 0)
		return -1;
	return ranges_take_in(dfd, &pool, state_dir, a, ret, e);
}

int ranges_guess(const char *state_dir, struct arena *a, struct id_range *ret, struct error *e)
{
	struct pool pool;

	if (ranges_read_pool(a, &pool, e) < 0)
		return -1;
	*ret = pool_range(&pool, range_begin(state_dir, pool_count(&pool)));
	return 0;
}

void ranges_release(struct id_range range, int state_dfd)
{
	autoclose int dfd = open(RANGES_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dfd >= 0)
		ranges_release_in(dfd, range, state_dfd);
}

void ranges_sweep_in(int dfd, size_t most)
{
	int own_dfd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct id_range range = {.size = 1};
	struct dirent *d;

	if (!dir)
		fd_close(&own_dfd);
	while (dir && most && (d = readdir(dir))) {
		autoclose int fd = -1;

		if (!str_to_u32(d->d_name, &range.first))
			continue;
		most--;
		fd = lockfile_open(dfd, d->d_name, 0, LOCK_EX);
		if (fd >= 0 && !range_is_held(fd, range))
			unlinkat(dfd, d->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

void ranges_sweep(size_t most)
{
	autoclose int dfd = open(RANGES_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dfd >= 0)
		ranges_sweep_in(dfd, most);
}
