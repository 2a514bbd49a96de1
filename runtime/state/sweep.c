/*
 * By descriptors, without following links, and without going down: what is in a subdirectory is
 * moved up until nothing has any depth, so that no depth is too deep.
 */
#include "state/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

DIR *sweep_open(int dfd, const char *name)
{
	int fd = openat(dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		fd_close(&fd);
	return dir;
}

static bool is_entry(const struct dirent *entry)
{
	return !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..");
}

/* One that is at work. */
struct sweeping {
	bool (*stop)(void *context); /* NULL: nobody may want it to */
	void *context;
	unsigned int count; /* of entries moved up, which makes their names */
	unsigned int seen;
	bool stopped;
};

/* Now and then, for there may be very many. */
static bool sweep_stops(struct sweeping *w)
{
	if (w->stop && ++w->seen % 64 == 0 && w->stop(w->context))
		w->stopped = true;
	return w->stopped;
}

/* Moves what is in a directory of dfd to dfd itself. */
static void flatten(int dfd, const char *name, struct sweeping *w)
{
	struct dirent *entry;
	char to[32];
	DIR *dir;

	(void)!fchmodat(dfd, name, 0700, AT_SYMLINK_NOFOLLOW);
	dir = sweep_open(dfd, name);
	while (dir && !sweep_stops(w) && (entry = readdir(dir))) {
		if (!is_entry(entry))
			continue;
		snprintf(to, sizeof(to), ".%u", w->count++);
		/* A directory is moved by who may write to it. */
		(void)!fchmodat(dirfd(dir), entry->d_name, 0700, AT_SYMLINK_NOFOLLOW);
		renameat(dirfd(dir), entry->d_name, dfd, to);
	}
	if (dir)
		closedir(dir);
}

static bool take_away(int dfd, const char *name, struct sweeping *w)
{
	if (unlinkat(dfd, name, 0) == 0 || unlinkat(dfd, name, AT_REMOVEDIR) == 0)
		return true;
	flatten(dfd, name, w);
	return unlinkat(dfd, name, AT_REMOVEDIR) == 0;
}

int sweep_directory(int dfd, const char *name)
{
	return sweep_directory_until(dfd, name, NULL, NULL);
}

int sweep_directory_until(int dfd, const char *name, bool (*stop)(void *context), void *context)
{
	struct sweeping w = {.stop = stop, .context = context};
	struct dirent *entry;
	bool went_on = true;
	DIR *dir;

	/* The next round finds what was moved up; each takes away something. */
	while (unlinkat(dfd, name, AT_REMOVEDIR) < 0) {
		if (errno == ENOENT)
			return 0;
		if (w.stopped) {
			errno = EINTR;
			return -1;
		}
		if (!went_on) {
			if (errno == ENOTEMPTY)
				errno = EACCES;
			return -1;
		}
		went_on = false;
		(void)!fchmodat(dfd, name, 0700, AT_SYMLINK_NOFOLLOW);
		dir = sweep_open(dfd, name);
		while (dir && !sweep_stops(&w) && (entry = readdir(dir)))
			if (is_entry(entry) && take_away(dirfd(dir), entry->d_name, &w))
				went_on = true;
		if (dir)
			closedir(dir);
	}
	return 0;
}
