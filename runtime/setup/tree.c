/*
 * A new text is written to a file without a name, and synced, before it gets one: what a crash
 * leaves is whole. Where the filesystem knows no such files, the name is one that no engine reads.
 *
 * Of several callers one is at work in a directory at a time (lock.h). So the intermediate name is
 * always the same, and what a crash has left of it goes with the next call.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "json/types.h"
#include "setup/lock.h"
#include "setup/tree.h"
#include "sys/sys.h"

enum { TREE_LINKS_MAX = 40 };

int tree_open(const char *sysroot, struct arena *a, struct tree *ret, struct error *e)
{
	const char *root = sysroot ? sysroot : "/";

	*ret = (struct tree){.arena = a, .prefix = ""};
	if (sysroot)
		ret->prefix = arena_strdup(a, sysroot);
	while (*ret->prefix && str_ends(ret->prefix, "/"))
		ret->prefix = arena_strndup(a, ret->prefix, strlen(ret->prefix) - 1);
	ret->root_dfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->root_dfd < 0 ? err_sys(e, "--sysroot: open %s", root) : 0;
}

void tree_close(struct tree *t)
{
	size_t i;

	for (i = 0; i < t->n_dfds; i++)
		fd_close(&t->dfds[i]);
	t->n_dfds = 0;
	fd_close(&t->root_dfd);
}

static int tree_lookup(const struct tree *t, const char *path, int flags)
{
	return sys_openat2(t->root_dfd, path, (uint64_t)flags, 0, RESOLVE_IN_ROOT);
}

bool tree_has(const struct tree *t, const char *path)
{
	autoclose int fd = tree_lookup(t, path, O_PATH);

	return fd >= 0;
}

static int tree_fail_missing(const struct tree_file *f, struct error *e)
{
	return err_set(e, ERR_CONFIG,
		       "%s: a link that leads nowhere: remove it, or make what it "
		       "names",
		       f->name);
}

/* Opens what an O_PATH descriptor stands for, which is known to be a plain file: opening a pipe or
 * a device may do something, so these are judged first. */
static int tree_reopen(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Opens a plain file by its name in a directory; no link is followed. EINVAL: it is none. */
static int tree_open_plain(int dfd, const char *name, struct stat *ret_st)
{
	autoclose int fd = openat(dfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret_st) < 0)
		return -1;
	if (S_ISREG(ret_st->st_mode))
		return tree_reopen(fd);
	errno = EINVAL;
	return -1;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *directory_of(struct arena *a, const char *path)
{
	return arena_strndup(a, path, (size_t)(base_name(path) - path));
}

/* Where a link leads, as a path from the tree's root. NULL: it is no link. */
static const char *tree_read_link(const struct tree *t, int dfd, const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(dfd, base_name(path), target, sizeof(target) - 1);

	if (len <= 0)
		return NULL;
	target[len] = '\0';
	return *target == '/' ?
		       arena_strdup(t->arena, target) :
		       arena_printf(t->arena, "%s%s", directory_of(t->arena, path), target);
}

/* The descriptor that stays open for this directory; another one for the same is closed. */
static int tree_keep_directory(struct tree *t, int *dfd)
{
	struct stat st, kept;
	size_t i;

	if (fstat(*dfd, &st) < 0)
		return -1;
	for (i = 0; i < t->n_dfds; i++)
		if (fstat(t->dfds[i], &kept) == 0 && kept.st_dev == st.st_dev &&
		    kept.st_ino == st.st_ino)
			return t->dfds[i];
	t->dfds = arena_grow(t->arena, t->dfds, &t->dfds_cap, t->n_dfds + 1, sizeof(*t->dfds));
	return t->dfds[t->n_dfds++] = fd_steal(dfd);
}

/* Opens the directory that the file is in, links to the file followed by hand, and puts the file's
 * path there: whoever moves directories meanwhile leads nobody out of this one. */
static int tree_follow(const struct tree *t, const char **path, bool *ret_followed)
{
	const char *next;
	int links;

	*ret_followed = false;
	for (links = 0; links < TREE_LINKS_MAX; links++) {
		autoclose int dfd =
			tree_lookup(t, directory_of(t->arena, *path), O_RDONLY | O_DIRECTORY);

		next = dfd < 0 ? NULL : tree_read_link(t, dfd, *path);
		if (!next)
			return fd_steal(&dfd);
		*path = next;
		*ret_followed = true;
	}
	errno = ELOOP;
	return -1;
}

int tree_read(struct tree *t, const char *path, struct tree_file *ret, struct error *e)
{
	struct tree_file f = {.path = path, .text = "", .dfd = -1};
	autoclose int dfd = -1, fd = -1;
	bool followed;

	f.name = arena_printf(t->arena, "%s%s", t->prefix, path);
	dfd = tree_follow(t, &path, &followed);
	if (dfd >= 0)
		fd = tree_open_plain(dfd, base_name(path), &f.st);
	if (fd < 0 && errno == ENOENT) {
		if (followed)
			return tree_fail_missing(&f, e);
		if (dfd >= 0 && tree_keep_directory(t, &dfd) < 0)
			return err_sys(e, "look for %s", f.name);
		*ret = f;
		return 0;
	}
	if (fd < 0 && errno == EINVAL)
		return err_set(e, ERR_CONFIG, "%s: not a plain file", f.name);
	if (fd < 0)
		return err_sys(e, "open %s", f.name);
	f.there = true;
	f.text = fd_read_all(fd, TREE_FILE_MAX, t->arena, &f.len);
	f.dfd = f.text ? tree_keep_directory(t, &dfd) : -1;
	f.real = arena_printf(t->arena, "%s%s", t->prefix, path);
	if (f.dfd < 0)
		return err_sys(e, "read %s", f.name);
	*ret = f;
	return 0;
}

/* Opens a directory, and makes what is missing of it. */
static int tree_make_directory(const struct tree *t, const char *path, struct error *e)
{
	autoclose int dfd = tree_lookup(t, "/", O_RDONLY | O_DIRECTORY), next_dfd = -1;
	const char *p = path;
	char *so_far, *name;
	size_t len;

	while (dfd >= 0 && *(p += strspn(p, "/"))) {
		len = strcspn(p, "/");
		name = arena_strndup(t->arena, p, len);
		p += len;
		so_far = arena_strndup(t->arena, path, (size_t)(p - path));
		next_dfd = tree_lookup(t, so_far, O_RDONLY | O_DIRECTORY);
		if (next_dfd < 0 && errno == ENOENT) {
			if (mkdirat(dfd, name, 0755) < 0 && errno != EEXIST)
				return err_sys(e, "make %s%s", t->prefix, so_far);
			next_dfd = tree_lookup(t, so_far, O_RDONLY | O_DIRECTORY);
		}
		if (next_dfd < 0)
			return err_sys(e, "open %s%s", t->prefix, so_far);
		fd_close(&dfd);
		dfd = fd_steal(&next_dfd);
	}
	return dfd < 0 ? err_sys(e, "open %s/", t->prefix) : fd_steal(&dfd);
}

static int tree_fail_changed(const struct tree_file *f, struct error *e)
{
	return err_set(e, ERR_HOST, "%s: somebody has changed it meanwhile: try again", f->name);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The file is what was read, or still missing. */
static int tree_check_unchanged(int dfd, const struct tree_file *f, const char *name,
				struct error *e)
{
	struct stat st;

	if (fstatat(dfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return !f->there && errno == ENOENT ? 0 : tree_fail_changed(f, e);
	return f->there && is_same_file(&st, &f->st) ? 0 : tree_fail_changed(f, e);
}

/* Opens the file that was read. */
static int tree_open_unchanged(const struct tree_file *f, struct error *e)
{
	struct stat st;
	autoclose int fd = tree_open_plain(f->dfd, base_name(f->real), &st);

	return fd >= 0 && is_same_file(&st, &f->st) ? fd_steal(&fd) : tree_fail_changed(f, e);
}

/* The directory that the file really is in, locked, and the file unchanged. */
struct place_of_work {
	int dfd;
	struct dir_lock lock;
	const char *name;
};

static void work_leave(struct place_of_work *w)
{
	dir_lock_drop(&w->lock);
	fd_close(&w->dfd);
}

static int work_enter(const struct tree *t, const struct tree_file *f, struct place_of_work *w,
		      struct error *e)
{
	*w = (struct place_of_work){.dfd = -1, .lock = DIR_LOCK_NONE};
	w->name = base_name(f->there ? f->real : f->path);
	if (!f->there)
		w->dfd = tree_make_directory(t, directory_of(t->arena, f->path), e);
	else if ((w->dfd = openat(f->dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		err_sys(e, "open the directory of %s", f->name);
	if (w->dfd < 0 || dir_lock_take(w->dfd, f->name, &w->lock, e) < 0)
		return -1;
	return tree_check_unchanged(w->dfd, f, w->name, e);
}

#define auto_work __attribute__((cleanup(work_leave)))

/* ---- a new file ---- */

struct draft {
	int dfd;
	int fd;
	const char *name; /* NULL: it has none yet */
};

static void draft_drop(struct draft *d)
{
	if (d->name)
		unlinkat(d->dfd, d->name, 0);
	fd_close(&d->fd);
}

/* Mode 0600 until it is known whose it is. */
static int draft_open(struct draft *d, const char *name)
{
	d->fd = openat(d->dfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (d->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return d->fd;
	unlinkat(d->dfd, name, 0);
	d->fd = openat(d->dfd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	d->name = d->fd < 0 ? NULL : name;
	return d->fd;
}

static int draft_copy_attribute(struct draft *d, int from_fd, const char *name)
{
	char value[4096], had[sizeof(value)];
	ssize_t len = fgetxattr(from_fd, name, value, sizeof(value)), now;

	if (len < 0)
		return -1;
	if (fsetxattr(d->fd, name, value, (size_t)len, 0) == 0)
		return 0;
	/* A label that new files get here anyway. */
	now = fgetxattr(d->fd, name, had, sizeof(had));
	return now == len && memcmp(value, had, (size_t)len) == 0 ? 0 : -1;
}

/* No capabilities: a text needs none, no more than setuid. */
static int draft_copy_attributes(struct draft *d, int from_fd)
{
	char names[4096], *p;
	ssize_t len = flistxattr(from_fd, names, sizeof(names));

	if (len < 0)
		return errno == EOPNOTSUPP ? 0 : -1;
	for (p = names; p < names + len; p += strlen(p) + 1)
		if (!str_eq(p, "security.capability") && draft_copy_attribute(d, from_fd, p) < 0)
			return -1;
	return 0;
}

/* As the old file is; -1: as a new one should be. */
static int draft_take_looks(struct draft *d, int old_fd)
{
	struct stat st, old;

	if (old_fd < 0)
		return fchmod(d->fd, 0644);
	if (fstat(d->fd, &st) < 0 || fstat(old_fd, &old) < 0)
		return -1;
	if ((st.st_uid != old.st_uid || st.st_gid != old.st_gid) &&
	    fchown(d->fd, old.st_uid, old.st_gid) < 0)
		return -1;
	if (fchmod(d->fd, old.st_mode & 0777) < 0)
		return -1;
	return draft_copy_attributes(d, old_fd);
}

static int draft_link(struct draft *d, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", d->fd);
	return linkat(AT_FDCWD, path, d->dfd, name, AT_SYMLINK_FOLLOW);
}

/* Gives it its name. A new name must not be taken; an old one is replaced. */
static int draft_publish(struct draft *d, const char *between, const char *name, bool replace)
{
	if (!replace && !d->name)
		return draft_link(d, name);
	if (!d->name) {
		unlinkat(d->dfd, between, 0);
		if (draft_link(d, between) < 0)
			return -1;
		d->name = between;
	}
	if (renameat2(d->dfd, d->name, d->dfd, name, replace ? 0 : RENAME_NOREPLACE) < 0)
		return -1;
	d->name = NULL;
	return 0;
}

static int tree_fail_write(const char *name, struct error *e)
{
	if (errno == EBUSY)
		return err_set(e, ERR_HOST,
			       "%s: a mount point, which can't be replaced: edit the file that is "
			       "mounted there, or unmount it",
			       name);
	return err_sys(e, "write %s", name);
}

/* Into an open directory that is ours; what is there already is unchanged if this fails. */
static int tree_put(const struct tree *t, int dfd, const char *name, const char *shown,
		    const struct tree_file *looks, bool replace, const char *text, size_t len,
		    struct error *e)
{
	const char *between = arena_printf(t->arena, ".%s.sbxrun-new", name);
	struct draft d = {.dfd = dfd, .fd = -1};
	autoclose int old_fd = -1;
	int result = 0;

	if (looks && (old_fd = tree_open_unchanged(looks, e)) < 0)
		return -1;
	if (draft_open(&d, between) < 0 || fd_write_all(d.fd, text, len) < 0 ||
	    draft_take_looks(&d, old_fd) < 0 || fsync(d.fd) < 0 ||
	    draft_publish(&d, between, name, replace) < 0 || fsync(dfd) < 0)
		result = tree_fail_write(shown, e);
	draft_drop(&d);
	return result;
}

int tree_write(const struct tree *t, const struct tree_file *f, const char *text, size_t len,
	       struct error *e)
{
	auto_work struct place_of_work w;

	if (work_enter(t, f, &w, e) < 0)
		return -1;
	return tree_put(t, w.dfd, w.name, f->name, f->there ? f : NULL, f->there, text, len, e);
}

int tree_remove(const struct tree *t, const struct tree_file *f, struct error *e)
{
	auto_work struct place_of_work w;

	if (work_enter(t, f, &w, e) < 0)
		return -1;
	if (unlinkat(w.dfd, w.name, 0) < 0 || fsync(w.dfd) < 0)
		return err_sys(e, "remove %s", f->name);
	return 0;
}

/* ---- copies of before ---- */

enum { BACKUPS_MAX = 100 };

static const char *backup_suffix(struct arena *a, int number)
{
	return number ? arena_printf(a, ".sbxrun-backup.%d", number) : ".sbxrun-backup";
}

/* Backups lie where the file really is. */
static const char *backup_name(const struct tree *t, const struct tree_file *f, int number)
{
	return arena_printf(t->arena, "%s%s", f->real, backup_suffix(t->arena, number));
}

/* Its number; -1: none. */
static int backup_newest(const struct tree *t, const struct tree_file *f)
{
	struct stat st;
	int number;

	for (number = BACKUPS_MAX - 1; number >= 0; number--)
		if (fstatat(f->dfd, base_name(backup_name(t, f, number)), &st,
			    AT_SYMLINK_NOFOLLOW) == 0)
			break;
	return number;
}

bool tree_newest_backup(const struct tree *t, const struct tree_file *f, struct tree_file *ret)
{
	int number = f->there ? backup_newest(t, f) : -1;
	autoclose int fd = -1;

	if (number < 0)
		return false;
	*ret = (struct tree_file){.there = true, .dfd = f->dfd};
	ret->path = ret->name = ret->real = backup_name(t, f, number);
	fd = tree_open_plain(f->dfd, base_name(ret->real), &ret->st);
	if (fd < 0)
		return false;
	ret->text = fd_read_all(fd, TREE_FILE_MAX, t->arena, &ret->len);
	return ret->text;
}

int tree_backup(const struct tree *t, const struct tree_file *f, const char **ret_name,
		struct error *e)
{
	auto_work struct place_of_work w;
	struct tree_file newest;
	int number;

	if (work_enter(t, f, &w, e) < 0)
		return -1;
	if (tree_newest_backup(t, f, &newest) && newest.len == f->len &&
	    memcmp(newest.text, f->text, f->len) == 0) {
		*ret_name = newest.name;
		return 0;
	}
	number = backup_newest(t, f) + 1;
	if (number >= BACKUPS_MAX)
		return err_set(e, ERR_HOST, "%s: there are %d backups of it: remove some", f->name,
			       BACKUPS_MAX);
	*ret_name = backup_name(t, f, number);
	return tree_put(t, w.dfd, base_name(*ret_name), *ret_name, f, false, f->text, f->len, e);
}

/* ---- directories ---- */

void tree_sweep(const struct tree *t)
{
	size_t i;

	for (i = 0; i < t->n_dfds; i++)
		dir_lock_sweep(t->dfds[i]);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void tree_list(const struct tree *t, const char *dir, const char *suffix, struct strings *ret)
{
	int dfd = tree_lookup(t, dir, O_RDONLY | O_DIRECTORY);
	DIR *d = dfd < 0 ? NULL : fdopendir(dfd);
	struct dirent *entry;
	size_t cap = 0;

	*ret = (struct strings){0};
	if (!d) {
		fd_close(&dfd);
		return;
	}
	while ((entry = readdir(d))) {
		if (*entry->d_name == '.' || !str_ends(entry->d_name, suffix))
			continue;
		ret->v = arena_grow(t->arena, ret->v, &cap, ret->n + 1, sizeof(char *));
		ret->v[ret->n++] = arena_printf(t->arena, "%s/%s", dir, entry->d_name);
	}
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(char *), compare_names);
}
