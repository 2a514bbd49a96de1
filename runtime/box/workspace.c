#include "box/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/denials.h"
#include "box/hints.h"
#include "box/later.h"
#include "box/sandbox.h"
#include "sys/loop.h"
#include "sys/sys.h"

enum {
	LIST_MAX = 1000,    /* names in the result */
	COPY_MAX = 100000,  /* files and directories that are taken out */
	DEPTH_MAX = 32,	    /* of directories that are entered */
	COPY_CHUNK = 65536,
	SKIPPED_MAX = 8,    /* of what was not taken, names in the note */
};

/* Nothing that the program has put in the way leads anywhere else. */
#define INSIDE                                                                                     \
	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

int workspace_open(struct workspace *w, pid_t pid, int pidfd, struct error *e)
{
	autoclose int root_dfd = -1, dfd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root_dfd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_dfd >= 0)
		dfd = sys_openat2(root_dfd, BOX_WORKSPACE, O_RDONLY | O_DIRECTORY, 0,
				  RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (dfd < 0)
		return err_sys(e, "look into the workspace of the box");
	/* The number was its own all the time. */
	if (loop_is_ready(pidfd, POLLIN, loop_now()))
		return err_set(e, ERR_SYSTEM, "the box has ended before its program ran");
	w->dfd = fd_steal(&dfd);
	w->tmp_dfd = sys_openat2(root_dfd, "/tmp", O_PATH | O_DIRECTORY, 0,
				 RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	return 0;
}

void workspace_close(struct workspace *w)
{
	fd_close(&w->dfd);
	fd_close(&w->tmp_dfd);
	fd_close(&w->to_dfd);
}

/* ---- what is full ---- */

/* A page is the least that anything takes. */
static const char *place_full(int dfd)
{
	struct statvfs vfs;

	if (dfd < 0 || fstatvfs(dfd, &vfs) < 0 || !vfs.f_blocks)
		return NULL;
	return !vfs.f_bavail ? "space" : vfs.f_files && !vfs.f_ffree ? "files" : NULL;
}

static void place_tell(int dfd, const char *name, const char *path, int64_t size,
		       struct denials *d)
{
	const char *what = place_full(dfd);

	if (!what)
		return;
	denials_note(d, (struct box_denial){
				.kind = "limit",
				.name = name,
				.target = path,
				.error = "ENOSPC",
				.hint = arena_printf(d->arena,
						     "no %s is left of the %lld bytes there; --%s SIZE "
						     "gives it more of both",
						     what, (long long)size, name)});
}

void workspace_tell_full(const struct workspace *w, const struct box_request *q,
			 struct denials *d)
{
	if (!(q->sandbox ? q->sandbox->facts.on_volume : box_workspace_is_volume(q)))
		place_tell(w->dfd, "disk", BOX_WORKSPACE, box_workspace_size(&q->limits), d);
	place_tell(w->tmp_dfd, "tmpfs", "/tmp", q->limits.tmpfs, d);
}

/* ---- walking ---- */

struct walk {
	const struct box_request *q;
	struct arena *a;
	struct box_result *r;
	size_t listed_cap;
	size_t taken;
	int64_t room; /* bytes that may still be copied */
	size_t n_later;
	const char *later; /* the first that programs outside run */
	size_t n_skipped;
	const char *skipped[SKIPPED_MAX]; /* the first that were not taken, and why */
};

static void walk_list(struct walk *w, const char *path)
{
	struct box_files *f = &w->r->files;

	if (f->n >= LIST_MAX) {
		f->more = true;
		return;
	}
	f->v = arena_grow(w->a, f->v, &w->listed_cap, f->n + 1, sizeof(*f->v));
	f->v[f->n++] = arena_strdup(w->a, path);
}

static void walk_skip(struct walk *w, const char *path, const char *why)
{
	if (w->n_skipped < SKIPPED_MAX)
		w->skipped[w->n_skipped] =
			arena_printf(w->a, "%s: %s", hint_clean(path, w->a), why);
	w->n_skipped++;
}

static int walk_copy_bytes(struct walk *w, int from, int to)
{
	static char data[COPY_CHUNK];
	ssize_t n;

	while ((n = read(from, data, sizeof(data))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		w->room -= n;
		if (w->room < 0) {
			errno = EFBIG;
			return -1;
		}
		if (fd_write_all(to, data, (size_t)n) < 0)
			return -1;
	}
	return 0;
}

/* Nothing that is there is overwritten, and no right beyond the owner's bits comes along. */
static void walk_copy_file(struct walk *w, int dfd, const char *name, int to_dfd, const char *path)
{
	autoclose int from = sys_openat2(dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, INSIDE);
	autoclose int to = -1;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode)) {
		walk_skip(w, path, from < 0 ? err_text(errno) : "not a regular file");
		return;
	}
	to = openat(to_dfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    st.st_mode & 0100 ? 0755 : 0644);
	if (to < 0 || walk_copy_bytes(w, from, to) < 0) {
		walk_skip(w, path, err_text(errno));
		if (to >= 0)
			unlinkat(to_dfd, name, 0);
		return;
	}
	w->r->copied++;
	if (later_is(path) && !w->n_later++)
		w->later = arena_strdup(w->a, path);
}

static int walk_make_dir(struct walk *w, int to_dfd, const char *name, const char *path)
{
	int dfd = -1;

	if (mkdirat(to_dfd, name, 0755) == 0 || errno == EEXIST)
		dfd = openat(to_dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd < 0)
		walk_skip(w, path, err_text(errno));
	return dfd;
}

/* A volume's mount point is the caller's, and below it there is nothing. */
static bool walk_is_volume(const struct walk *w, const char *path)
{
	const char *target;
	size_t i;

	for (i = 0; i < w->q->n_volumes; i++) {
		target = str_after(w->q->volumes[i].target, BOX_WORKSPACE "/");
		if (target && str_eq(target, path))
			return true;
	}
	return false;
}

static void walk_dir(struct walk *w, int dfd, int to_dfd, const char *at, unsigned int depth);

static void walk_entry(struct walk *w, int dfd, const char *name, int to_dfd, const char *path,
		       unsigned int depth)
{
	autoclose int sub_dfd = -1, sub_to_dfd = -1;
	struct stat st;

	if (walk_is_volume(w, path) || ++w->taken > COPY_MAX)
		return;
	if (fstatat(dfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		walk_skip(w, path, err_text(errno));
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		if (depth < DEPTH_MAX)
			sub_dfd = sys_openat2(dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
					      INSIDE);
		if (sub_dfd < 0) {
			walk_skip(w, path, depth < DEPTH_MAX ? err_text(errno) : "too deep");
			return;
		}
		if (to_dfd >= 0)
			sub_to_dfd = walk_make_dir(w, to_dfd, name, path);
		if (to_dfd < 0 || sub_to_dfd >= 0)
			walk_dir(w, sub_dfd, sub_to_dfd, path, depth + 1);
		return;
	}
	walk_list(w, path);
	if (to_dfd < 0)
		return;
	if (S_ISREG(st.st_mode))
		walk_copy_file(w, dfd, name, to_dfd, path);
	else
		walk_skip(w, path, "not a regular file");
}

static bool walk_is_ours(const struct walk *w, const char *at, const char *name)
{
	const struct box_language *l = w->q->language;

	if (*at)
		return false;
	/* Programs' caches (XDG) can be made again, and nobody has asked for them. */
	if (str_eq(name, ".cache"))
		return true;
	return l && (str_eq(name, l->file) || (l->product && str_eq(name, l->product)));
}

/* A path lasts no longer than its entry: the program chooses how many there are, and how long. */
static void walk_named(struct walk *w, int dfd, const char *name, int to_dfd, const char *at,
		       unsigned int depth)
{
	struct arena own = {0};

	walk_entry(w, dfd, name, to_dfd,
		   arena_printf(&own, "%s%s%s", at, *at ? "/" : "", name), depth);
	arena_free(&own);
}

static void walk_dir(struct walk *w, int dfd, int to_dfd, const char *at, unsigned int depth)
{
	/* A descriptor of its own: it has a place of its own, too. */
	int own_dfd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct dirent *d;

	if (!dir) {
		walk_skip(w, *at ? at : ".", err_text(errno));
		fd_close(&own_dfd);
		return;
	}
	while ((d = readdir(dir)) && w->taken < COPY_MAX)
		if (!str_eq(d->d_name, ".") && !str_eq(d->d_name, "..") &&
		    !walk_is_ours(w, at, d->d_name))
			walk_named(w, dfd, d->d_name, to_dfd, at, depth);
	closedir(dir);
}

static int walk_compare(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The rest of too many has no number, for nobody has counted it. */
static void walk_note_skipped(const struct walk *w)
{
	const size_t n = w->n_skipped < SKIPPED_MAX ? w->n_skipped : SKIPPED_MAX;
	const char *text = "--copy-out left out ";
	size_t i;

	for (i = 0; i < n; i++)
		text = arena_printf(w->a, "%s%s%s", text, i ? "; " : "", w->skipped[i]);
	if (w->n_skipped > n)
		text = arena_printf(w->a, "%s; and %zu other%s", text, w->n_skipped - n,
				    w->n_skipped - n > 1 ? "s" : "");
	if (w->taken >= COPY_MAX)
		text = arena_printf(w->a, "%s%sthe rest: more than %d files", text, n ? "; " : "",
				    COPY_MAX);
	if (n || w->taken >= COPY_MAX)
		notes_add(&w->r->notes.notes, arena_strdup(w->a, text), w->a);
}

/* ---- after the end ---- */

const char *workspace_take(const struct workspace *w, const char *name, size_t max, struct arena *a,
			   size_t *ret_len)
{
	autoclose int fd = sys_openat2(w->dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, INSIDE);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	return fd_read_all(fd, max, a, ret_len);
}

/* Opened once: a program that may write to what is above it, in a volume, could have put a link
 * there meanwhile, and one of an earlier run may have. */
int workspace_open_target(struct workspace *w, const struct box_request *q, struct error *e)
{
	const char *path = q->copy_out;

	if (!path)
		return 0;
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "--copy-out: make %s", path);
	w->to_dfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (w->to_dfd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return err_set(e, ERR_USAGE,
			       "--copy-out: %s is a link or no directory: name the directory itself",
			       path);
	if (w->to_dfd < 0)
		return err_sys(e, "--copy-out: open %s", path);
	return faccessat(w->to_dfd, ".", W_OK | X_OK, 0) < 0 ? err_sys(e, "--copy-out: %s", path) :
							       0;
}

void workspace_measure(const struct workspace *w, const struct box_request *q, struct box_result *r)
{
	struct statvfs vfs;

	/* Of a filesystem of its own. */
	if (w->dfd < 0 || q->workspace_dir ||
	    (q->sandbox ? q->sandbox->facts.on_volume : box_workspace_is_volume(q)) ||
	    fstatvfs(w->dfd, &vfs) < 0)
		return;
	r->disk_known = true;
	r->disk_used = (uint64_t)(vfs.f_blocks - vfs.f_bfree) * vfs.f_bsize;
}

void workspace_finish(struct workspace *w, const struct box_request *q, struct arena *a,
		      struct box_result *r)
{
	struct walk walk = {.q = q, .a = a, .r = r, .room = box_workspace_size(&q->limits)};

	if (w->dfd < 0 || box_workspace_is_volume(q))
		return;
	walk_dir(&walk, w->dfd, w->to_dfd, "", 0);
	if (r->files.n)
		qsort(r->files.v, r->files.n, sizeof(*r->files.v), walk_compare);
	r->files.known = true;
	if (walk.n_later)
		notes_add(&r->notes.notes, later_note_copied(walk.later, walk.n_later, a), a);
	if (q->copy_out)
		walk_note_skipped(&walk);
}
