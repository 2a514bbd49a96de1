#include "box/changes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/loop.h"
#include "sys/sys.h"

#define BASE_FILE "base" /* beside the record */
#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

enum { DEPTH_MOST = 60, NANO = 1000000000, TEXT_MOST = 128 << 20 };

/* ---- places ---- */

static int places_open_root(struct places *p, const struct sandbox *s, struct error *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", s->record.pid);
	p->root_dfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->below_dfd = open(s->record.rootfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->root_dfd < 0 || p->below_dfd < 0)
		return err_sys(e, "look into the root of box \"%s\"", s->id);
	/* The number was its own all the time. */
	if (loop_is_ready(s->init_pidfd, POLLIN, loop_now()))
		return err_set(e, ERR_WRONG_STATE, "box \"%s\" has ended", s->id);
	return 0;
}

int places_open(struct places *p, const struct sandbox *s, struct error *e)
{
	*p = (struct places){
		.files = FILES_NONE, .workspace_dfd = -1, .root_dfd = -1, .below_dfd = -1};
	if ((s->facts.writable_root && places_open_root(p, s, e) < 0) ||
	    files_open(&p->files, s, e) < 0) {
		places_close(p);
		return -1;
	}
	p->workspace_dfd = s->facts.on_volume ? -1 : p->files.dfd;
	return 0;
}

void places_close(struct places *p)
{
	files_close(&p->files);
	p->workspace_dfd = -1;
	fd_close(&p->root_dfd);
	fd_close(&p->below_dfd);
}

int places_dfd(const struct places *p, enum archive_place place)
{
	return place == IN_ROOT ? p->root_dfd : p->workspace_dfd;
}

/* The root filesystem is looked at with the rights of the caller: it is what the box began with,
 * and what the box's user may read there is not the question. */
static void below_begin(const struct places *p)
{
	if (p->files.is_user) {
		setfsuid(geteuid());
		setfsgid(getegid());
	}
}

static void below_end(const struct places *p)
{
	if (p->files.is_user) {
		setfsgid(p->files.gid);
		setfsuid(p->files.uid);
	}
}

/* ---- walking ---- */

struct looking {
	const struct places *p;
	enum archive_place place;
	struct changes *c;
	size_t cap;
	size_t text; /* bytes of names so far, which a box has as many and as long as it likes */
	struct arena *a;
};

/* false: it is too much for us to remember. */
static bool looking_count(struct looking *l, size_t bytes)
{
	l->text += bytes;
	l->c->more |= l->text > TEXT_MOST;
	return !l->c->more;
}

static int names_compare(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static const char *path_below(struct looking *l, const char *at, const char *name)
{
	if (!*at)
		return name;
	looking_count(l, strlen(at) + strlen(name) + 2);
	return arena_printf(l->a, "%s/%s", at, name);
}

/* Sorted. -1 with errno. */
static int names_read(struct looking *l, int dfd, struct strings *ret)
{
	int own_dfd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct dirent *d;
	size_t cap = 0;

	*ret = (struct strings){0};
	if (!dir) {
		fd_close(&own_dfd);
		return -1;
	}
	while ((d = readdir(dir)) &&
	       looking_count(l, sizeof(*ret->v) + strlen(d->d_name))) {
		if (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."))
			continue;
		ret->v = arena_grow(l->a, ret->v, &cap, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = arena_strdup(l->a, d->d_name);
	}
	closedir(dir);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), names_compare);
	return 0;
}

static int64_t time_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * NANO + t->tv_nsec;
}

static enum archive_type type_of(mode_t mode)
{
	return S_ISDIR(mode) ? TYPE_DIRECTORY :
	       S_ISREG(mode) ? TYPE_FILE :
	       S_ISLNK(mode) ? TYPE_LINK :
			       TYPE_OTHER;
}

/* false: there is no room for it. */
static bool looking_note(struct looking *l, enum archive_change change, const char *path,
			 const struct stat *st, const char *target)
{
	struct changes *c = l->c;

	c->more |= c->n >= ARCHIVE_ENTRIES_MAX;
	if (c->more || !looking_count(l, target ? strlen(target) : 0))
		return false;
	c->v = arena_grow(l->a, c->v, &l->cap, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = (struct archive_entry){
		.place = l->place,
		.change = change,
		.type = type_of(st->st_mode),
		.mode = st->st_mode & 0777,
		.size = target			? strlen(target) :
			S_ISREG(st->st_mode) ? (uint64_t)st->st_size :
						0,
		.modified = time_of(&st->st_mtim),
		.changed = S_ISDIR(st->st_mode) ? 0 : time_of(&st->st_ctim),
		.inode = S_ISDIR(st->st_mode) ? 0 : st->st_ino,
		.path = path,
		.target = target,
	};
	return true;
}

static void looking_note_closed(struct looking *l, const char *path)
{
	if (!l->c->n_closed++)
		l->c->closed = path;
}

static bool is_same(const struct stat *x, const struct stat *y)
{
	if ((x->st_mode & S_IFMT) != (y->st_mode & S_IFMT))
		return false;
	if (S_ISDIR(x->st_mode))
		return (x->st_mode & 07777) == (y->st_mode & 07777);
	return x->st_mode == y->st_mode && x->st_size == y->st_size &&
	       time_of(&x->st_mtim) == time_of(&y->st_mtim) &&
	       time_of(&x->st_ctim) == time_of(&y->st_ctim);
}

static const char *link_read(int fd, struct arena *a)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return arena_strdup(a, target);
}

static bool looking_walk(struct looking *l, int dfd, int below_dfd, const char *at,
			 unsigned int depth);

/* Where the root filesystem has it, too; -1: nowhere, or it is no directory there. */
static int looking_open_below(const struct looking *l, int below_dfd, const char *name)
{
	int fd;

	if (below_dfd < 0)
		return -1;
	below_begin(l->p);
	fd = openat(below_dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	below_end(l->p);
	return fd;
}

static bool looking_stat_below(const struct looking *l, int below_dfd, const char *name,
			       struct stat *ret)
{
	bool found;

	if (below_dfd < 0)
		return false;
	below_begin(l->p);
	found = fstatat(below_dfd, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
	below_end(l->p);
	return found;
}

static bool looking_enter(struct looking *l, int dfd, int below_dfd, const char *name,
			  const char *path, unsigned int depth)
{
	autoclose int sub_dfd = sys_openat2(dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
					    BENEATH);
	autoclose int below_sub_dfd = -1;

	if (sub_dfd < 0 || depth >= DEPTH_MOST) {
		/* He has not changed a directory that is closed to him: but for his own. */
		if (below_dfd < 0 || depth >= DEPTH_MOST)
			looking_note_closed(l, path);
		return true;
	}
	below_sub_dfd = looking_open_below(l, below_dfd, name);
	return looking_walk(l, sub_dfd, below_sub_dfd, path, depth + 1);
}

static bool looking_at(struct looking *l, int dfd, int below_dfd, const char *name,
		       const char *path, unsigned int depth)
{
	autoclose int fd = sys_openat2(dfd, name, O_PATH | O_NOFOLLOW, 0, BENEATH);
	struct stat st, below;
	const char *target = NULL;
	bool was;

	/* Gone by now, or another mount: /proc, a volume. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return true;
	was = looking_stat_below(l, below_dfd, name, &below);
	if (S_ISLNK(st.st_mode) && !(target = link_read(fd, l->a)))
		return true;
	if (!(was && is_same(&st, &below)) &&
	    !looking_note(l, was ? CHANGE_MODIFIED : CHANGE_ADDED, path, &st, target))
		return false;
	if (!S_ISDIR(st.st_mode))
		return true;
	return looking_enter(l, dfd, was && S_ISDIR(below.st_mode) ? below_dfd : -1, name, path,
			     depth);
}

static bool looking_deleted(struct looking *l, int below_dfd, const struct strings *there,
			    const char *at)
{
	struct strings names;
	struct stat st;
	size_t i;
	int result;

	if (below_dfd < 0)
		return true;
	below_begin(l->p);
	result = names_read(l, below_dfd, &names);
	below_end(l->p);
	for (i = 0; result == 0 && !l->c->more && i < names.n; i++) {
		if (there->n && bsearch(&names.v[i], there->v, there->n, sizeof(*there->v),
					names_compare))
			continue;
		if (looking_stat_below(l, below_dfd, names.v[i], &st))
			looking_note(l, CHANGE_DELETED, path_below(l, at, names.v[i]), &st, NULL);
	}
	return !l->c->more;
}

static bool looking_walk(struct looking *l, int dfd, int below_dfd, const char *at,
			 unsigned int depth)
{
	struct strings names;
	size_t i;

	if (names_read(l, dfd, &names) < 0) {
		looking_note_closed(l, at);
		return true;
	}
	/* Names that weren't read aren't gone. */
	if (l->c->more || !looking_deleted(l, below_dfd, &names, at))
		return false;
	for (i = 0; i < names.n; i++) {
		const char *path = path_below(l, at, names.v[i]);

		if (l->c->more)
			return false;
		if (!archive_path_is_good(path, strlen(path)))
			looking_note_closed(l, path); /* too long */
		else if (!looking_at(l, dfd, below_dfd, names.v[i], path, depth))
			return false;
	}
	return true;
}

int changes_find(const struct places *p, struct arena *a, struct changes *ret, struct error *e)
{
	struct looking l = {.p = p, .place = IN_WORKSPACE, .c = ret, .a = a};

	(void)e;
	*ret = (struct changes){0};
	if (p->workspace_dfd >= 0 && !looking_walk(&l, p->workspace_dfd, -1, "", 0))
		return 0;
	l.place = IN_ROOT;
	if (p->root_dfd >= 0)
		looking_walk(&l, p->root_dfd, p->below_dfd, "", 0);
	return 0;
}

int changes_open(const struct places *p, const struct archive_entry *c)
{
	autoclose int fd = sys_openat2(places_dfd(p, c->place), c->path, O_PATH | O_NOFOLLOW, 0,
				       BENEATH);
	char path[64];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode) || st.st_ino != c->inode) {
		errno = ESTALE;
		return -1;
	}
	/* Opens the file that was found, whatever has its name by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

const char *change_path(const struct archive_entry *c, struct arena *a)
{
	return arena_printf(a, "%s/%s", c->place == IN_ROOT ? "" : BOX_WORKSPACE, c->path);
}

/* ---- what a box was made with ---- */

int changes_keep(const struct sandbox *s, const struct changes *c, struct error *e)
{
	struct arena memory = {0};
	struct archive_out *out = arena_new(&memory, struct archive_out);
	autoclose int fd = openat(s->dfd, BASE_FILE,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = fd < 0 ? err_sys(e, "make the list of what the box begins with") :
			      archive_begin(out, fd, UINT64_MAX, "", 0, e);
	size_t i;

	for (i = 0; i < c->n && result == 0; i++) {
		result = archive_add(out, &c->v[i], e);
		if (result == 0 && c->v[i].type == TYPE_FILE &&
		    c->v[i].change != CHANGE_DELETED)
			result = archive_add_nothing(out, e);
	}
	if (result == 0)
		result = archive_end(out, e);
	arena_free(&memory);
	return result;
}

static int entries_compare(const void *x, const void *y)
{
	const struct archive_entry *a = x, *b = y;

	return a->place != b->place ? (int)a->place - (int)b->place : strcmp(a->path, b->path);
}

static int base_read(int fd, struct arena *a, struct changes *ret, struct error *e)
{
	struct archive_in *in = arena_new(a, struct archive_in);
	struct archive_entry entry;
	size_t cap = 0;
	int result;

	if (archive_open(in, fd, a, e) < 0)
		return -1;
	while ((result = archive_next(in, a, &entry, e)) > 0) {
		ret->v = arena_grow(a, ret->v, &cap, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = entry;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), entries_compare);
	return result;
}

static struct archive_entry *entry_find(const struct changes *in, const struct archive_entry *key)
{
	return in->n ? bsearch(key, in->v, in->n, sizeof(*in->v), entries_compare) : NULL;
}

static bool entry_is_as_before(const struct archive_entry *x, const struct archive_entry *y)
{
	/* Of what is deleted there is no more to tell. */
	return x->type == y->type &&
	       (x->change == CHANGE_DELETED) == (y->change == CHANGE_DELETED) &&
	       (x->change == CHANGE_DELETED ||
		(x->mode == y->mode && x->size == y->size && x->changed == y->changed &&
		 x->inode == y->inode));
}

/* The change since then; both differ from the root filesystem's file. */
static enum archive_change entry_change(const struct archive_entry *was,
					const struct archive_entry *is)
{
	if (is->change == CHANGE_DELETED)
		return CHANGE_DELETED;
	return was->change == CHANGE_DELETED ? CHANGE_ADDED : CHANGE_MODIFIED;
}

static void since_add(struct changes *c, size_t *cap, struct archive_entry entry,
		      enum archive_change change, struct arena *a)
{
	entry.change = change;
	c->v = arena_grow(a, c->v, cap, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = entry;
}

int changes_since(const struct sandbox *s, struct changes *c, struct arena *a, struct error *e)
{
	autoclose int fd =
		openat(s->dfd, BASE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct changes base = {0}, now = *c, since = *c;
	const struct archive_entry *was;
	size_t i, cap = 0;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(e, "open the list of what the box began with");
	if (base_read(fd, a, &base, e) < 0)
		return -1;
	if (now.n)
		qsort(now.v, now.n, sizeof(*now.v), entries_compare);
	since.n = 0;
	since.v = NULL;
	for (i = 0; i < now.n; i++) {
		was = entry_find(&base, &now.v[i]);
		if (!was)
			since_add(&since, &cap, now.v[i], now.v[i].change, a);
		else if (!entry_is_as_before(was, &now.v[i]))
			since_add(&since, &cap, now.v[i], entry_change(was, &now.v[i]), a);
	}
	for (i = 0; i < base.n; i++)
		if (!entry_find(&now, &base.v[i]))
			since_add(&since, &cap, base.v[i],
				  base.v[i].change == CHANGE_DELETED ? CHANGE_ADDED :
								       CHANGE_DELETED,
				  a);
	if (since.n)
		qsort(since.v, since.n, sizeof(*since.v), entries_compare);
	*c = since;
	return 0;
}
