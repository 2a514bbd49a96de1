#include "box/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/workspace.h"
#include "json/json.h"
#include "sys/sys.h"

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

enum { PATH_MOST = 4095, NAME_MOST = 255 };

static const struct {
	int sys;
	const char *type, *what;
} errors[] = {
	{ENOENT, "FileNotFoundError", "there is no such file"},
	{ENOTDIR, "NotADirectoryError", "a part of it is no directory"},
	{EISDIR, "IsADirectoryError", "it is a directory"},
	{ELOOP, "SymlinkError", "a link is on the way, and links are not followed"},
	{EXDEV, "OutsideError", "it is not on the workspace itself"},
	{EACCES, "PermissionError", "its permissions don't let the box's user do that"},
	{EPERM, "PermissionError", "the box's user may not do that"},
	{ENOSPC, "NoSpaceError", "the workspace is full (box create --disk)"},
	{EDQUOT, "NoSpaceError", "the workspace is full"},
	{EFBIG, "TooLargeError", "it is too large"},
	{EAGAIN, "BusyError", "somebody in the box holds it, or moves it about"},
	{EINVAL, "NotAFileError", "it is no regular file"},
	{ENAMETOOLONG, "InvalidPathError", "a name is too long"},
	{EILSEQ, "InvalidPathError", ""},
};

static int files_fail(struct error *e, int sys, const char *verb, const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].sys == sys)
			break;
	err_set(e, ERR_SYSTEM, "%s %s: %s", verb, json_show(path).text,
		i < ARRAY_SIZE(errors) ? errors[i].what : err_text(sys));
	e->sys = sys;
	return -1;
}

const char *files_error_type(const struct error *e)
{
	size_t i;

	if (e->class == ERR_NOT_FOUND || e->class == ERR_EXPIRED)
		return e->class == ERR_EXPIRED ? "SandboxExpired" : "SandboxNotFound";
	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].sys == e->sys)
			return errors[i].type;
	return "SandboxError";
}

/* ---- paths ---- */

static int path_refuse(struct error *e, const char *path, const char *why)
{
	err_set(e, ERR_USAGE, "%s %s", json_show(path).text, why);
	e->sys = EILSEQ;
	return -1;
}

/* Names that do something to a terminal, or begin a line of their own in a list, are not made by
 * us; that some are there already is no reason to refuse them. */
static bool path_has_controls(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path < 0x20 || *path == 0x7f)
			return true;
	return false;
}

const char *files_path(const char *path, struct arena *a, struct error *e)
{
	const char *p = str_after(path, BOX_WORKSPACE), *end;
	struct buf b = buf_new(a, PATH_MOST + 1);
	size_t depth = 0;

	if (strlen(path) > PATH_MOST)
		return path_refuse(e, path, "is too long a path"), NULL;
	if (p && *p && *p != '/')
		p = NULL;
	if (!p && *path == '/')
		return path_refuse(e, path, "is not below " BOX_WORKSPACE), NULL;
	for (p = p ? p : path; *p; p = end) {
		p += strspn(p, "/");
		end = p + strcspn(p, "/");
		if (end == p || (end - p == 1 && *p == '.'))
			continue;
		if (end - p == 2 && p[0] == '.' && p[1] == '.')
			return path_refuse(e, path, "has \"..\", which leads nowhere here"), NULL;
		if (end - p > NAME_MOST || ++depth > FILES_DEPTH_MAX)
			return path_refuse(e, path, "is too long or too deep"), NULL;
		if (b.len)
			buf_char(&b, '/');
		buf_add(&b, p, (size_t)(end - p));
	}
	return b.len ? b.data : ".";
}

/* ---- the workspace ---- */

/* With these for files, the kernel takes root's rights over files away, too. */
static int files_become_user(struct files *f, const struct sandbox *s, struct error *e)
{
	const struct id_range *r = &s->record.id_range;

	if (!sys_is_machine_root())
		return 0; /* an ordinary user's box has his own id alone */
	f->uid = (r->size ? r->first : 0) + s->facts.uid;
	f->gid = (r->size ? r->first : 0) + s->facts.gid;
	/* The caller's groups are none of the box's. This process does nothing else afterwards. */
	if (setgroups(0, NULL) < 0)
		return err_sys(e, "give up the groups of the caller");
	setfsgid(f->gid);
	setfsuid(f->uid);
	f->is_user = true;
	/* They say what was before, and never that they failed. */
	if ((uid_t)setfsuid(f->uid) != f->uid || (gid_t)setfsgid(f->gid) != f->gid)
		return err_set(e, ERR_SYSTEM, "become the box's user for its files");
	return 0;
}

int files_open(struct files *f, const struct sandbox *s, struct error *e)
{
	struct workspace w = WORKSPACE_NONE;

	*f = FILES_NONE;
	if (workspace_open(&w, s->record.pid, s->init_pidfd, e) < 0)
		return -1;
	f->dfd = w.dfd;
	if (files_become_user(f, s, e) == 0)
		return 0;
	files_close(f);
	return -1;
}

void files_close(struct files *f)
{
	fd_close(&f->dfd);
	if (f->is_user) {
		setfsuid(geteuid());
		setfsgid(getegid());
		f->is_user = false;
	}
}

/* The place itself, without opening what is there. */
static int files_find(const struct files *f, const char *path, struct stat *ret_st)
{
	autoclose int fd = sys_openat2(f->dfd, path, O_PATH | O_NOFOLLOW, 0, BENEATH);

	if (fd < 0 || fstat(fd, ret_st) < 0)
		return -1;
	return fd_steal(&fd);
}

/* Opens the file that was found, whatever has its name by now. */
static int files_open_found(int found_fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found_fd);
	return open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* ---- reading ---- */

int files_read(const struct files *f, const char *path, size_t max, struct arena *a,
	       const char **ret, size_t *ret_len, struct error *e)
{
	autoclose int found_fd = -1, fd = -1;
	struct stat st;

	if (!(path = files_path(path, a, e)))
		return -1;
	found_fd = files_find(f, path, &st);
	if (found_fd < 0)
		return files_fail(e, errno, "read", path);
	if (!S_ISREG(st.st_mode))
		return files_fail(e, S_ISDIR(st.st_mode) ? EISDIR :
				     S_ISLNK(st.st_mode) ? ELOOP :
							   EINVAL,
				  "read", path);
	if ((uint64_t)st.st_size > max)
		return files_fail(e, EFBIG, "read", path);
	fd = files_open_found(found_fd, O_RDONLY);
	*ret = fd < 0 ? NULL : fd_read_all(fd, max, a, ret_len);
	return *ret ? 0 : files_fail(e, errno, "read", path);
}

static void info_fill(const struct stat *st, const char *name, struct file_info *ret)
{
	*ret = (struct file_info){
		.name = name,
		.type = S_ISREG(st->st_mode) ? "file" :
			S_ISDIR(st->st_mode) ? "directory" :
			S_ISLNK(st->st_mode) ? "link" :
					       "other",
		.size = (uint64_t)st->st_size,
		.mode = st->st_mode & 07777,
		.modified = st->st_mtime,
	};
}

int files_stat(const struct files *f, const char *path, struct arena *a, struct file_info *ret,
	       struct error *e)
{
	autoclose int fd = -1;
	struct stat st;

	if (!(path = files_path(path, a, e)))
		return -1;
	fd = files_find(f, path, &st);
	if (fd < 0)
		return files_fail(e, errno, "stat", path);
	info_fill(&st, path, ret);
	return 0;
}

static int list_compare(const void *x, const void *y)
{
	return strcmp(((const struct file_info *)x)->name, ((const struct file_info *)y)->name);
}

static void list_read(DIR *dir, struct arena *a, struct file_info **ret, size_t *ret_n,
		      bool *ret_more)
{
	struct dirent *d;
	struct stat st;
	size_t cap = 0;

	while ((d = readdir(dir))) {
		if (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."))
			continue;
		*ret_more = *ret_n == FILES_LIST_MAX;
		if (*ret_more)
			break;
		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue; /* it is gone */
		*ret = arena_grow(a, *ret, &cap, *ret_n + 1, sizeof(**ret));
		info_fill(&st, arena_strdup(a, d->d_name), &(*ret)[(*ret_n)++]);
	}
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), list_compare);
}

int files_list(const struct files *f, const char *path, struct arena *a, struct file_info **ret,
	       size_t *ret_n, bool *ret_more, struct error *e)
{
	int fd = -1;
	DIR *dir;

	*ret = NULL;
	*ret_n = 0;
	*ret_more = false;
	if (!(path = files_path(path, a, e)))
		return -1;
	fd = sys_openat2(f->dfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK, 0,
			 BENEATH);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		files_fail(e, errno, "list", path);
		fd_close(&fd);
		return -1;
	}
	list_read(dir, a, ret, ret_n, ret_more);
	closedir(dir);
	return 0;
}

/* ---- writing ---- */

/* The directory that a path is in; *ret_name is its last name. Directories on the way are made if
 * need be. */
static int files_parent(const struct files *f, const char *path, bool make, struct arena *a,
			const char **ret_name)
{
	autoclose int dfd = openat(f->dfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *rest = arena_strdup(a, path), *slash;

	while (dfd >= 0 && (slash = strchr(rest, '/'))) {
		int next;

		*slash = '\0';
		if (make && mkdirat(dfd, rest, 0755) < 0 && errno != EEXIST)
			return -1;
		next = sys_openat2(dfd, rest, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH);
		fd_close(&dfd);
		dfd = next;
		rest = slash + 1;
	}
	*ret_name = rest;
	return fd_steal(&dfd);
}

/* The permissions that the file gets: those of what it replaces. */
static int files_mode(int dfd, const char *name, mode_t *ret)
{
	struct stat st;

	*ret = 0644;
	if (fstatat(dfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (S_ISREG(st.st_mode))
		*ret = st.st_mode & 0777;
	return 0;
}

static int files_replace(int dfd, const char *name, const char *data, size_t len)
{
	autoclose int fd = -1;
	char beside[32];
	uint32_t number;
	mode_t mode;
	int why;

	if (files_mode(dfd, name, &mode) < 0 ||
	    getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(beside, sizeof(beside), ".write-%08x", number);
	fd = openat(dfd, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (fd_write_all(fd, data, len) == 0 && fchmod(fd, mode) == 0 &&
	    renameat(dfd, beside, dfd, name) == 0)
		return 0;
	why = errno;
	unlinkat(dfd, beside, 0);
	errno = why;
	return -1;
}

int files_write(const struct files *f, const char *path, const char *data, size_t len,
		struct arena *a, struct error *e)
{
	autoclose int dfd = -1;
	const char *name;

	if (!(path = files_path(path, a, e)))
		return -1;
	if (path_has_controls(path))
		return path_refuse(e, path, "has control characters, which names should not have");
	if (str_eq(path, "."))
		return files_fail(e, EISDIR, "write", path);
	if (len > FILES_BYTES_MAX)
		return files_fail(e, EFBIG, "write", path);
	dfd = files_parent(f, path, true, a, &name);
	if (dfd < 0 || files_replace(dfd, name, data, len) < 0)
		return files_fail(e, errno, "write", path);
	return 0;
}

int files_remove(const struct files *f, const char *path, struct arena *a, struct error *e)
{
	autoclose int dfd = -1;
	const char *name;

	if (!(path = files_path(path, a, e)))
		return -1;
	dfd = files_parent(f, path, false, a, &name);
	if (dfd < 0 || unlinkat(dfd, name, 0) < 0)
		return files_fail(e, errno, "remove", path);
	return 0;
}
