#include "box/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "sys/patience.h"

enum { OPEN_TRIES = 16, HEAD_MAX = 256 };

void audit_file_close(struct audit_file *f)
{
	fd_close(&f->fd);
	fd_close(&f->dfd);
}

/* ---- opening ---- */

/* Of a file that we write to, and of its head. */
static int file_check(const char *path, const struct stat *st, struct error *e)
{
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_HOST, "audit: %s is no regular file", path);
	if (st->st_uid != geteuid())
		return err_set(e, ERR_HOST, "audit: %s belongs to uid %u", path, st->st_uid);
	if (st->st_mode & 077)
		return err_set(e, ERR_HOST, "audit: others may open %s: chmod 600", path);
	if (st->st_nlink != 1)
		return err_set(e, ERR_HOST, "audit: %s has other names: links", path);
	return 0;
}

static int file_lock(const char *path, int fd, bool writes, struct error *e)
{
	struct flock whole = {.l_type = writes ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
	int64_t until = patience_until(AUDIT_LOCK_MS);

	while (fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_sys(e, "audit: lock %s", path);
		if (patience_nap(until, e) < 0)
			return err_wrap(e, "audit: %s is locked by somebody else", path);
	}
	return 0;
}

/* Not renamed or replaced while we waited for it: a file is put aside when it is long. */
static bool file_is_still_there(const char *path, const struct stat *ours)
{
	struct stat now;

	return lstat(path, &now) == 0 && now.st_dev == ours->st_dev && now.st_ino == ours->st_ino;
}

/* 1: try again. */
static int file_open_once(struct audit_file *f, bool writes, struct error *e)
{
	autoclose int fd = -1;
	struct stat st;

	fd = open(f->path,
		  O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
			  (writes ? O_RDWR | O_APPEND | O_CREAT : O_RDONLY),
		  0600);
	if (fd < 0 && errno == ELOOP)
		return err_set(e, ERR_HOST, "audit: %s is a link", f->path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "audit: open %s", f->path);
	if (writes && file_check(f->path, &st, e) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_HOST, "audit: %s is no regular file", f->path);
	if (file_lock(f->path, fd, writes, e) < 0)
		return -1;
	if (writes && !file_is_still_there(f->path, &st))
		return 1;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "audit: %s", f->path);
	f->size = st.st_size;
	f->fd = fd_steal(&fd);
	return 0;
}

/* The directory that path lies in, and its name there. */
static int head_open_directory(const char *path, struct arena *a, struct audit_file *f,
			       struct error *e)
{
	const char *slash = strrchr(path, '/');
	const char *dir = slash ? arena_strndup(a, path, (size_t)(slash - path) + 1) : ".";

	f->head_name = slash ? slash + 1 : path;
	f->next_name = arena_printf(a, "%s.next", f->head_name);
	if (!*f->head_name)
		return err_set(e, ERR_USAGE, "audit: %s is no name of a file", path);
	f->dfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->dfd < 0 ? err_sys(e, "audit: open %s", dir) : 0;
}

int audit_file_open(const struct audit_place *place, bool writes, struct arena *a,
		    struct audit_file *ret, struct error *e)
{
	const char *head = place->head ? place->head : arena_printf(a, "%s.head", place->path);
	autoaudit struct audit_file f = AUDIT_FILE_NONE;
	int rc = 1, tries;

	f.path = place->path;
	f.writes = writes;
	if (head_open_directory(head, a, &f, e) < 0)
		return -1;
	for (tries = 0; rc == 1 && tries < OPEN_TRIES; tries++)
		rc = file_open_once(&f, writes, e);
	if (rc == 1)
		return err_set(e, ERR_HOST, "audit: somebody exchanges %s all the time", f.path);
	if (rc < 0)
		return -1;
	*ret = f;
	f = AUDIT_FILE_NONE;
	return 0;
}

/* ---- the head ---- */

int audit_file_read_head(const struct audit_file *f, const char *name, struct audit_head *ret,
			 enum audit_head_state *ret_state, struct error *e)
{
	autoclose int fd =
		openat(f->dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[HEAD_MAX];
	struct stat st;
	ssize_t n;

	*ret = audit_head_none;
	*ret_state = AUDIT_HEAD_NONE;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "audit: open %s", name);
	if (f->writes && file_check(name, &st, e) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_HOST, "audit: %s is no regular file", name);
	n = pread(fd, text, sizeof(text), 0);
	if (n < 0)
		return err_sys(e, "audit: read %s", name);
	*ret_state = audit_head_read(text, (size_t)n, ret) ? AUDIT_HEAD_GOOD : AUDIT_HEAD_BAD;
	if (*ret_state == AUDIT_HEAD_BAD)
		*ret = audit_head_none;
	return 0;
}

int audit_file_prepare_head(const struct audit_file *f, const struct audit_head *h, struct arena *a,
			    struct error *e)
{
	struct buf b = buf_new(a, HEAD_MAX);
	autoclose int fd = -1;

	audit_head_write(h, &b);
	/* One that a crash has left was looked at before. */
	if (unlinkat(f->dfd, f->next_name, 0) < 0 && errno != ENOENT)
		return err_sys(e, "audit: remove %s", f->next_name);
	fd = openat(f->dfd, f->next_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0 || fd_write_all(fd, b.data, b.len) < 0 || fsync(fd) < 0) {
		err_sys(e, "audit: write %s", f->next_name);
		if (fd >= 0)
			unlinkat(f->dfd, f->next_name, 0);
		return -1;
	}
	return 0;
}

int audit_file_commit_head(const struct audit_file *f, struct error *e)
{
	if (renameat(f->dfd, f->next_name, f->dfd, f->head_name) < 0)
		return err_sys(e, "audit: rename %s to %s", f->next_name, f->head_name);
	return fsync(f->dfd) < 0 ? err_sys(e, "audit: sync the directory of %s", f->head_name) : 0;
}

/* ---- lines ---- */

int audit_file_write(struct audit_file *f, const char *text, size_t len, struct error *e)
{
	if (fd_write_all(f->fd, text, len) < 0 || fdatasync(f->fd) < 0) {
		err_sys(e, "audit: write %s", f->path);
		/* Nobody else is in the file. An append-only one keeps the half line, which the
		 * next append will explain. */
		(void)!ftruncate(f->fd, f->size);
		return -1;
	}
	f->size += (off_t)len;
	return 0;
}

void audit_lines_begin(struct audit_lines *l, int fd, off_t at, struct arena *a)
{
	*l = (struct audit_lines){
		.fd = fd, .at = at, .text = arena_alloc(a, 1, AUDIT_LINE_MAX + AUDIT_READ_SIZE)};
}

/* More text behind what is there. */
static int lines_fill(struct audit_lines *l, struct error *e)
{
	ssize_t n;

	if (l->from) {
		memmove(l->text, l->text + l->from, l->len - l->from);
		l->len -= l->from;
		l->from = 0;
	}
	do
		n = pread(l->fd, l->text + l->len, AUDIT_READ_SIZE, l->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(e, "audit: read");
	l->len += (size_t)n;
	l->at += n;
	l->end = n == 0;
	return 0;
}

int audit_lines_next(struct audit_lines *l, const char **ret_line, size_t *ret_len, bool *ret_ended,
		     struct error *e)
{
	size_t seen = 0;
	const char *feed = NULL;

	while (!(feed = memchr(l->text + l->from + seen, '\n', l->len - l->from - seen)) &&
	       !l->end && l->len - l->from < AUDIT_LINE_MAX) {
		seen = l->len - l->from;
		if (lines_fill(l, e) < 0)
			return -1;
	}
	*ret_line = l->text + l->from;
	*ret_ended = feed != NULL;
	*ret_len = feed ? (size_t)(feed - *ret_line) : l->len - l->from;
	l->from += *ret_len + (feed != NULL);
	return *ret_len || feed ? 1 : 0;
}
