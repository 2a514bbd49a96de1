#include "box/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "json/rows.h"
#include "sys/patience.h"

static const struct json_row snapshot_rows[] = {
	F(snapshot, "version", U32, version, REQUIRED),
	F(snapshot, "name", STR, name),
	F(snapshot, "box", STR, box, REQUIRED),
	F(snapshot, "uid", U32, uid),
	F(snapshot, "created", STR, created, REQUIRED),
	O(snapshot, "facts", facts, sandbox_facts, REQUIRED),
};
TABLE(snapshot);

/* ---- the directory ---- */

static void dir_sweep(int dfd)
{
	int own_dfd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct dirent *d;

	if (!dir) {
		fd_close(&own_dfd);
		return;
	}
	while ((d = readdir(dir)))
		if (d->d_name[0] == ':')
			unlinkat(dfd, d->d_name, 0);
	closedir(dir);
}

/* -1 with ERR_NOT_FOUND where there is none, and none is to be made. */
static int dir_open(const char *root, bool make, struct error *e)
{
	autoclose int root_dfd = store_open_root(root, make, e), dfd = -1;

	if (root_dfd < 0)
		return -1;
	if (make && mkdirat(root_dfd, SNAPSHOT_DIR, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make a place for snapshots");
	dfd = openat(root_dfd, SNAPSHOT_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "there are no snapshots");
	return dfd < 0 ? err_sys(e, "open the place of snapshots") : fd_steal(&dfd);
}

/* To change it. */
static int dir_lock(const char *root, bool make, struct error *e)
{
	autoclose int dfd = dir_open(root, make, e);
	int64_t until = patience_until(PATIENCE_PEER_MS);

	if (dfd < 0)
		return -1;
	while (flock(dfd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "lock the place of snapshots");
		if (patience_nap(until, e) < 0)
			return err_set(e, ERR_WRONG_STATE,
				       "another sbxrun makes a snapshot, and does not finish");
	}
	dir_sweep(dfd);
	return fd_steal(&dfd);
}

void snapshot_sweep(const char *root)
{
	struct error ignored;
	autoclose int dfd = dir_open(root, false, &ignored);

	/* Another one has it locked: he writes there, and has swept. */
	if (dfd >= 0 && flock(dfd, LOCK_EX | LOCK_NB) == 0)
		dir_sweep(dfd);
}

static int names_compare(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static int dir_names(int dfd, struct arena *a, struct strings *ret, struct error *e)
{
	int own_dfd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct error ignored;
	struct dirent *d;
	size_t cap = 0;

	*ret = (struct strings){0};
	if (!dir) {
		fd_close(&own_dfd);
		return err_sys(e, "read the place of snapshots");
	}
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.' || sandbox_check_id(d->d_name, &ignored) < 0)
			continue;
		ret->v = arena_grow(a, ret->v, &cap, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = arena_strdup(a, d->d_name);
	}
	closedir(dir);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), names_compare);
	return 0;
}

static int name_check(const char *name, struct error *e)
{
	if (sandbox_check_id(name, e) < 0 || name[0] == '.')
		return err_set(e, ERR_USAGE,
			       "%s is no name of a snapshot: letters, digits, \"_\", \".\" and \"-\", "
			       "at most %d of them, and no \".\" in front",
			       json_show(name).text, SANDBOX_ID_MAX);
	return 0;
}

/* ---- writing ---- */

struct saving {
	struct sandbox *s;
	struct arena *a;
	struct noted *notes;
	struct archive_out *out;
	size_t n_left_out;
	const char *left_out; /* the first */
};

static void saving_leave_out(struct saving *x, const struct archive_entry *c, const char *why)
{
	if (!x->n_left_out++)
		x->left_out = arena_printf(x->a, "%s: %s", json_show(change_path(c, x->a)).text,
					   why);
}

static int saving_file(struct saving *x, const struct places *p, const struct archive_entry *c,
		       struct error *e)
{
	autoclose int fd = changes_open(p, c);

	if (fd < 0) {
		saving_leave_out(x, c, err_text(errno));
		return 0;
	}
	return archive_add(x->out, c, e) < 0 ? -1 : archive_add_content(x->out, fd, e);
}

static int saving_entry(struct saving *x, const struct places *p, const struct archive_entry *c,
			struct error *e)
{
	if (c->change == CHANGE_DELETED)
		return archive_add(x->out, c, e);
	if (c->type == TYPE_OTHER) {
		saving_leave_out(x, c, "neither a file nor a directory nor a link");
		return 0;
	}
	return c->type == TYPE_FILE ? saving_file(x, p, c, e) : archive_add(x->out, c, e);
}

static int saving_all(struct saving *x, struct error *e)
{
	auto_places struct places p = {
		.files = FILES_NONE, .workspace_dfd = -1, .root_dfd = -1, .below_dfd = -1};
	struct changes c;
	size_t i;

	if (places_open(&p, x->s, e) < 0 || changes_find(&p, x->a, &c, e) < 0)
		return -1;
	if (c.more)
		return err_set(e, ERR_HOST,
			       "the box has more than %d files, or their names are too long",
			       ARCHIVE_ENTRIES_MAX);
	for (i = 0; i < c.n; i++)
		if (saving_entry(x, &p, &c.v[i], e) < 0)
			return -1;
	if (c.n_closed)
		noted_take(x->notes,
			   arena_printf(x->a, "what the box's user may not read is not kept: %s%s",
					json_show(c.closed).text, c.n_closed > 1 ? " …" : ""));
	if (x->n_left_out)
		noted_take(x->notes,
			   arena_printf(x->a, "not kept: %s%s", x->left_out,
					x->n_left_out > 1 ? arena_printf(x->a, ", and %zu more",
									 x->n_left_out - 1) :
							    ""));
	return archive_end(x->out, e);
}

/* Between calls sessions may write: what is kept is of one moment. */
static int saving_still(struct saving *x, struct error *e)
{
	struct sandbox *s = x->s;
	bool runs = s->has_sessions && !sandbox_is_paused(s->root, s->container), frozen;
	struct error why = {0};
	int result;

	frozen = runs && sandbox_freeze(s, x->a, &why);
	if (runs && !frozen)
		noted_take(x->notes,
			   arena_printf(x->a,
					"the sessions of the box ran on: what they wrote "
					"meanwhile may be there in part (%s)",
					why.text));
	result = saving_all(x, e);
	if (frozen)
		sandbox_unfreeze(s);
	return result;
}

static int save_to(int fd, struct sandbox *s, const char *name, uint64_t bytes, struct arena *a,
		   struct snapshot *ret, struct noted *notes, struct error *e)
{
	struct saving x = {
		.s = s, .a = a, .notes = notes, .out = arena_new(a, struct archive_out)};
	struct buf facts = buf_new(a, ARCHIVE_FACTS_MAX);

	*ret = (struct snapshot){
		.version = 1,
		.name = arena_strdup(a, name),
		.box = arena_strdup(a, s->id),
		.uid = getuid(),
		.created = record_now(a),
		.facts = s->facts,
	};
	if (s->facts.on_volume && !s->facts.writable_root)
		return err_set(e, ERR_USAGE,
			       "the workspace of box \"%s\" is a directory of the host's, and its root "
			       "is read-only: there is nothing to keep",
			       s->id);
	if (s->facts.on_volume)
		noted_take(notes, "the workspace is a directory of the host's, and not kept");
	json_write(&facts, &snapshot_table, ret, 0);
	if (archive_begin(x.out, fd, bytes, facts.data, facts.len, e) < 0 ||
	    saving_still(&x, e) < 0)
		return e->sys == EFBIG ?
			       err_set(e, ERR_HOST,
				       "box \"%s\" has more files than a snapshot may have: %llu bytes",
				       s->id, (unsigned long long)bytes) :
			       -1;
	ret->entries = x.out->entries;
	ret->bytes = x.out->bytes;
	return 0;
}

int snapshot_save(struct sandbox *s, const char *name, uint32_t most, uint64_t bytes,
		  struct arena *a, struct snapshot *ret, struct noted *notes, struct error *e)
{
	const char *beside = arena_printf(a, ":%s", name);
	autoclose int dfd = -1, fd = -1;
	struct strings names;

	if (name_check(name, e) < 0 || (dfd = dir_lock(s->root, true, e)) < 0 ||
	    dir_names(dfd, a, &names, e) < 0)
		return -1;
	if (faccessat(dfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return err_set(e, ERR_EXISTS,
			       "there is a snapshot \"%s\" already (box snapshots --remove %s)",
			       name, name);
	if (names.n >= most)
		return err_set(e, ERR_HOST,
			       "there are %zu snapshots, which is the most that there may be: box "
			       "snapshots --remove NAME",
			       names.n);
	fd = openat(dfd, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "make snapshot \"%s\"", name);
	if (save_to(fd, s, name, bytes, a, ret, notes, e) == 0) {
		if (renameat(dfd, beside, dfd, name) == 0)
			return 0;
		err_sys(e, "make snapshot \"%s\"", name);
	}
	unlinkat(dfd, beside, 0);
	return -1;
}

int snapshot_hold(struct sandbox *s, uint64_t bytes, struct arena *a, int *ret_fd,
		  struct noted *notes, struct error *e)
{
	autoclose int fd = memfd_create("box", MFD_CLOEXEC);
	struct snapshot made;

	if (fd < 0)
		return err_sys(e, "make a file in memory");
	if (save_to(fd, s, "", bytes, a, &made, notes, e) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "read a snapshot");
	*ret_fd = fd_steal(&fd);
	return 0;
}

/* ---- reading ---- */

static int open_in(int dfd, const char *name, struct error *e)
{
	autoclose int fd =
		openat(dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "there is no snapshot \"%s\" (box snapshots)",
			       name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open snapshot \"%s\"", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return err_set(e, ERR_HOST,
			       "snapshot \"%s\" is somebody else's, or others can write to it",
			       name);
	return fd_steal(&fd);
}

int snapshot_open(const char *root, const char *name, int *ret_fd, struct error *e)
{
	autoclose int dfd = -1;

	if (name_check(name, e) < 0)
		return -1;
	dfd = dir_open(root, false, e);
	if (dfd < 0)
		return e->class == ERR_NOT_FOUND ?
			       err_set(e, ERR_NOT_FOUND,
				       "there is no snapshot \"%s\" (box snapshots)", name) :
			       -1;
	*ret_fd = open_in(dfd, name, e);
	return *ret_fd < 0 ? -1 : 0;
}

int snapshot_read(int fd, struct archive_in *in, struct arena *a, struct snapshot *ret,
		  struct error *e)
{
	*ret = (struct snapshot){0};
	if (archive_open(in, fd, a, e) < 0 ||
	    json_read("snapshot", in->facts, strlen(in->facts), &snapshot_table,
		      &json_default_limits, ret, a, e) < 0)
		return -1;
	if (ret->version != 1)
		return err_set(e, ERR_CONFIG, "snapshot: version %u is not 1", ret->version);
	ret->entries = in->entries;
	ret->bytes = in->bytes;
	return 0;
}

int snapshot_remove(const char *root, const char *name, struct error *e)
{
	autoclose int dfd = -1;

	if (name_check(name, e) < 0)
		return -1;
	dfd = dir_lock(root, false, e);
	if (dfd < 0 && e->class != ERR_NOT_FOUND)
		return -1;
	if (dfd < 0 || (unlinkat(dfd, name, 0) < 0 && errno == ENOENT))
		return err_set(e, ERR_NOT_FOUND, "there is no snapshot \"%s\" (box snapshots)",
			       name);
	return faccessat(dfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ?
		       err_set(e, ERR_HOST, "snapshot \"%s\" can't be removed", name) :
		       0;
}

int snapshot_list(const char *root, struct arena *a, struct snapshot **ret, size_t *ret_n,
		  struct error *e)
{
	struct archive_in *in = arena_new(a, struct archive_in);
	autoclose int dfd = dir_open(root, false, e);
	struct error ignored;
	struct strings names;
	size_t i;

	*ret_n = 0;
	if (dfd < 0)
		return e->class == ERR_NOT_FOUND ? 0 : -1;
	if (dir_names(dfd, a, &names, e) < 0)
		return -1;
	*ret = arena_array(a, names.n + 1, struct snapshot);
	for (i = 0; i < names.n; i++) {
		autoclose int fd = open_in(dfd, names.v[i], &ignored);
		struct snapshot *s = &(*ret)[*ret_n];

		if (fd < 0 && ignored.class == ERR_NOT_FOUND)
			continue;
		if (fd < 0 || snapshot_read(fd, in, a, s, &ignored) < 0)
			*s = (struct snapshot){0};
		s->name = names.v[i];
		(*ret_n)++;
	}
	return 0;
}
