/*
 * From an archive into a new box. Nobody runs in it yet. All is done with the ids of its user, and
 * what he may not do fails; so the file of a snapshot, whoever has written it, can do no more than
 * he can.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/snapshot.h"
#include "state/sweep.h"
#include "sys/sys.h"

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

enum { NANO = 1000000000 };

struct restoring {
	struct places places;
	struct archive_in *in;
	struct arena *a;
	/* Permissions and times of directories come last: they may close them. */
	size_t n_dirs, cap;
	struct archive_entry *dirs;
};

static int restore_fail(const struct restoring *x, const struct archive_entry *c, struct error *e)
{
	if (errno == ENOSPC || errno == EDQUOT)
		return err_set(e, ERR_HOST, "there is no room for %s in the new box",
			       json_show(change_path(c, x->a)).text);
	return err_sys(e, "put %s into the new box", json_show(change_path(c, x->a)).text);
}

/* The directory that it is in; *ret_name is its last name. */
static int restore_parent(const struct restoring *x, const struct archive_entry *c,
			  const char **ret_name)
{
	const char *slash = strrchr(c->path, '/');
	int dfd = places_dfd(&x->places, c->place);

	*ret_name = slash ? slash + 1 : c->path;
	if (dfd < 0) {
		errno = EROFS; /* the new box has no such place */
		return -1;
	}
	if (!slash)
		return openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return sys_openat2(dfd, arena_strndup(x->a, c->path, (size_t)(slash - c->path)),
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH);
}

static int restore_remove(int dfd, const char *name)
{
	if (unlinkat(dfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? sweep_directory(dfd, name) : -1;
}

static int restore_directory(struct restoring *x, int dfd, const char *name,
			     const struct archive_entry *c)
{
	struct stat st;

	if (mkdirat(dfd, name, 0700) < 0) {
		if (errno != EEXIST || fstatat(dfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -1;
		if (!S_ISDIR(st.st_mode) &&
		    (restore_remove(dfd, name) < 0 || mkdirat(dfd, name, 0700) < 0))
			return -1;
	}
	x->dirs = arena_grow(x->a, x->dirs, &x->cap, x->n_dirs + 1, sizeof(*x->dirs));
	x->dirs[x->n_dirs++] = *c;
	return 0;
}

static void restore_times(int fd, const struct archive_entry *c)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = c->modified / NANO, .tv_nsec = c->modified % NANO},
	};

	if (c->modified >= 0)
		futimens(fd, times);
}

/* A file of the root filesystem is written in place: that its directory can be changed is not
 * said. */
static int restore_open_file(int dfd, const char *name, const struct archive_entry *c)
{
	int fd = -1;

	if (c->change == CHANGE_MODIFIED)
		fd = sys_openat2(dfd, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0,
				 BENEATH);
	if (fd >= 0)
		return fd;
	if (restore_remove(dfd, name) < 0)
		return -1;
	return openat(dfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int restore_file(struct restoring *x, int dfd, const char *name,
			const struct archive_entry *c, struct error *e)
{
	autoclose int fd = restore_open_file(dfd, name, c);

	if (fd < 0)
		return restore_fail(x, c, e);
	if (archive_take(x->in, c, fd, e) < 0) {
		errno = e->sys;
		return e->sys ? restore_fail(x, c, e) : -1;
	}
	if (fchmod(fd, c->mode & 0777) < 0)
		return restore_fail(x, c, e);
	restore_times(fd, c);
	return 0;
}

static int restore_link(int dfd, const char *name, const struct archive_entry *c)
{
	return restore_remove(dfd, name) < 0 ? -1 : symlinkat(c->target, dfd, name);
}

static int restore_entry(struct restoring *x, const struct archive_entry *c, struct error *e)
{
	const char *name;
	autoclose int dfd = restore_parent(x, c, &name);
	int result;

	if (dfd < 0)
		return restore_fail(x, c, e);
	if (c->change == CHANGE_DELETED)
		result = restore_remove(dfd, name);
	else if (c->type == TYPE_DIRECTORY)
		result = restore_directory(x, dfd, name, c);
	else if (c->type == TYPE_FILE)
		return restore_file(x, dfd, name, c, e);
	else
		result = restore_link(dfd, name, c);
	return result < 0 ? restore_fail(x, c, e) : 0;
}

static int restore_directories(struct restoring *x, struct error *e)
{
	while (x->n_dirs) {
		const struct archive_entry *c = &x->dirs[--x->n_dirs];
		autoclose int fd = sys_openat2(places_dfd(&x->places, c->place), c->path,
					       O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH);

		if (fd < 0 || fchmod(fd, c->mode & 0777) < 0)
			return restore_fail(x, c, e);
		restore_times(fd, c);
	}
	return 0;
}

static int restore_all(struct restoring *x, struct error *e)
{
	struct archive_entry c;
	int result;

	while ((result = archive_next(x->in, x->a, &c, e)) > 0) {
		if (c.type == TYPE_OTHER && c.change != CHANGE_DELETED)
			return err_set(e, ERR_CONFIG,
				       "the snapshot is damaged: it has what none has");
		if (restore_entry(x, &c, e) < 0)
			return -1;
	}
	return result < 0 ? -1 : restore_directories(x, e);
}

int snapshot_restore(struct archive_in *in, const struct sandbox *s, struct arena *a,
		     struct error *e)
{
	struct restoring x = {.in = in, .a = a};
	struct changes c = {0};
	int result;

	if (places_open(&x.places, s, e) < 0)
		return -1;
	result = restore_all(&x, e);
	if (result == 0)
		result = changes_find(&x.places, a, &c, e);
	places_close(&x.places);
	/* With our own ids again. */
	return result < 0 ? -1 : changes_keep(s, &c, e);
}
