/*
 * A source is compared with paths of the plan by device and inode: it is on or below one if the way
 * up from it, by "..", comes to that directory, and above one if the way up from there comes to the
 * source. Names of directories play no part, but for a few that mean the same anywhere (.ssh).
 *
 * Caveat: a hard link elsewhere to a file in /etc is found only if the file itself is in the list.
 */
#include "rootfs/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/sys.h"

enum { UP_MAX = 256 }; /* directories on the way to / */

/* Itself first, then the directories above it, up to the root. */
struct way {
	size_t n;
	struct guard_inode v[UP_MAX];
};

static bool inode_same(struct guard_inode x, struct guard_inode y)
{
	return x.dev == y.dev && x.ino == y.ino;
}

static bool way_has(const struct way *w, struct guard_inode x)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (inode_same(w->v[i], x))
			return true;
	return false;
}

/* The name of what is open, as the kernel has it; false: it has none. */
static bool guard_find_name(int fd, char path[PATH_MAX])
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	if (len <= 0 || len == PATH_MAX - 1 || path[0] != '/')
		return false;
	path[len] = '\0';
	return true;
}

/* The directory that a file is in: the name says which, and that is checked. */
static int guard_open_parent(const char *name, const struct stat *st)
{
	const char *slash = strrchr(name, '/');
	char dir[PATH_MAX];
	autoclose int dfd = -1;
	struct stat there;

	if (!slash) {
		errno = ENOENT;
		return -1;
	}
	snprintf(dir, sizeof(dir), "%.*s", slash == name ? 1 : (int)(slash - name), name);
	dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dfd < 0 || fstatat(dfd, slash + 1, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (there.st_dev != st->st_dev || there.st_ino != st->st_ino) {
		errno = ESTALE;
		return -1;
	}
	return fd_steal(&dfd);
}

/* A directory is above itself at the root alone; a directory that is bound into itself is not. */
static bool is_root(struct guard_inode x)
{
	struct stat st;

	return stat("/", &st) == 0 && inode_same((struct guard_inode){st.st_dev, st.st_ino}, x);
}

/* name: what it is called; a directory's is not looked at. */
static int way_up(int fd, const char *name, struct way *ret)
{
	autoclose int dfd = -1;
	struct stat st;
	int up;

	ret->n = 0;
	if (fstat(fd, &st) < 0)
		return -1;
	ret->v[ret->n++] = (struct guard_inode){st.st_dev, st.st_ino};
	dfd = S_ISDIR(st.st_mode) ? openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) :
				    guard_open_parent(name, &st);
	while (dfd >= 0 && fstat(dfd, &st) == 0) {
		struct guard_inode now = {st.st_dev, st.st_ino};

		if (ret->n > 1 && inode_same(now, ret->v[ret->n - 1]) && is_root(now))
			return 0;
		if (ret->n == UP_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		ret->v[ret->n++] = now;
		up = openat(dfd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd_close(&dfd);
		dfd = up;
	}
	return -1;
}

struct guard_look *guard_new_looks(const struct plan_guard *g, struct arena *a)
{
	return arena_array(a, g->n_paths + 1, struct guard_look); /* the last: the state root */
}

static void look_at(struct guard_look *l, const char *path)
{
	struct stat st;

	if (l->done)
		return;
	l->done = true;
	l->err = stat(path, &st) < 0 ? errno : 0;
	if (l->err)
		return;
	l->at = (struct guard_inode){st.st_dev, st.st_ino};
}

static bool look_is_in(const struct guard_look *l, const struct way *w)
{
	return !l->err && way_has(w, l->at);
}

static bool look_is_plain(struct guard_look *l, const char *path)
{
	autoclose int fd = -1;

	if (!l->links) {
		fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
		l->plain = fd >= 0;
		l->links = true;
	}
	return l->plain;
}

/* "/path" or "/path:rw". */
static bool allowance_fits(const char *word, const struct way *source, bool write)
{
	size_t len = strlen(word);
	bool rw = str_ends(word, ":rw");
	char path[PATH_MAX];
	struct stat st;

	if (str_eq(word, "*"))
		return true;
	if ((write && !rw) || len >= sizeof(path))
		return false;
	memcpy(path, word, len + 1);
	if (rw)
		path[len - 3] = '\0';
	return stat(path, &st) == 0 &&
	       way_has(source, (struct guard_inode){st.st_dev, st.st_ino});
}

/* Engines have places of their own below directories that they choose. Nobody can make such a name
 * where he may not write anyway, nor know the id of a container before. */
static bool path_is_engines(const char *path, const char *id)
{
	static const char *const parts[] = {"/overlay-containers/", "/vfs-containers/",
					    "/io.containerd.grpc.v1.cri/sandboxes/"};
	enum { ID_CHOSEN = 32 }; /* shorter ones are people's */
	const char *at = path, *part;
	size_t len = strlen(id), i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		part = strstr(path, parts[i]);
		if (part && part[strlen(parts[i])]) /* not all containers' at once */
			return true;
	}
	while (len >= ID_CHOSEN && (at = strstr(at, id)) != NULL) {
		if (at > path && at[-1] == '/' && at[len] == '/')
			return true;
		at += len;
	}
	/* docker's directory for containers with mapped ids. */
	return fnmatch("/var/lib/docker/*.*/containers/*", path, FNM_PATHNAME | FNM_LEADING_DIR) ==
		       0 ||
	       fnmatch("/var/lib/docker/*.*/volumes/*", path, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
}

/* Is it the bundle's, or the engine's own? */
static bool source_is_engines(const struct plan *p, struct guard_look *looks, const char *path,
			      const struct way *source)
{
	const struct plan_guard *g = &p->guard;
	struct way below; /* the directory itself is another matter than what is in it */
	struct stat st;
	size_t i;

	if (path_is_engines(path, p->id))
		return true;
	memcpy(below.v, source->v + 1, (source->n - 1) * sizeof(*source->v));
	below.n = source->n - 1;
	if (stat(p->bundle, &st) == 0 &&
	    way_has(&below, (struct guard_inode){st.st_dev, st.st_ino}))
		return true;
	if (g->runtime_dir && stat(g->runtime_dir, &st) == 0 &&
	    way_has(&below, (struct guard_inode){st.st_dev, st.st_ino}))
		return true;
	for (i = 0; i < g->n_paths; i++) {
		if (g->paths[i].how != GUARD_ENGINES)
			continue;
		look_at(&looks[i], g->paths[i].path);
		if (look_is_in(&looks[i], &below))
			return true;
	}
	return false;
}

/* A source, as its mount names it. */
struct judged {
	const struct plan_guard *g;
	const struct mount_plan *m;
	bool write;
	bool is_dir;
	struct way way;
};

/* write: to read it may be allowed. */
static int guard_refuse(const struct judged *j, const char *what, const char *path, bool write,
			struct error *e)
{
	return err_set(e, ERR_CONFIG,
		       "policy %s refuses %s.source, %.300s: it %s %s [host-paths]%s; to allow it, an "
		       "administrator gives \"host-path-exceptions\": {\"allow\": [\"PATH%s\"]} to a "
		       "policy in /etc/sbxrun/policy.json, or runs this with --policy oci",
		       j->g->policy, j->m->field, j->m->source, what, path,
		       write ? "; reading alone may be allowed: mount it read-only" : "",
		       j->write ? ":rw" : "");
}

/* Does anything above a path, which has no links in it, have that inode? */
static bool text_is_below(const char *path, struct guard_inode x)
{
	char above[PATH_MAX];
	struct stat st;
	char *slash;

	snprintf(above, sizeof(above), "%s", path);
	while ((slash = strrchr(above, '/')) && slash != above) {
		*slash = '\0';
		if (stat(above, &st) == 0 &&
		    inode_same((struct guard_inode){st.st_dev, st.st_ino}, x))
			return true;
	}
	return stat("/", &st) == 0 && inode_same((struct guard_inode){st.st_dev, st.st_ino}, x);
}

static void look_add(struct guard_look *l, const char *above, bool is_dir)
{
	struct stat st;

	if (stat(above, &st) < 0)
		return;
	l->has_dir = l->has_dir || is_dir;
	if (l->n_above < GUARD_ABOVE_MAX)
		l->above[l->n_above++] = (struct guard_inode){st.st_dev, st.st_ino};
	else
		l->deep = true;
}

/* All that is above it, once for all sources. */
static void look_walk(struct guard_look *l, const char *path)
{
	char above[PATH_MAX];
	bool is_dir = true;
	char *slash;

	if (l->walked)
		return;
	l->walked = true;
	snprintf(above, sizeof(above), "%s", path);
	for (; (slash = strrchr(above, '/')) && slash != above; is_dir = false) {
		*slash = '\0';
		look_add(l, above, is_dir);
	}
	look_add(l, "/", is_dir);
}

/* As text_is_below(). */
static bool look_is_below(struct guard_look *l, const char *path, struct guard_inode x)
{
	size_t i;

	look_walk(l, path);
	if (l->deep)
		return text_is_below(path, x);
	for (i = 0; i < l->n_above; i++)
		if (inode_same(l->above[i], x))
			return true;
	return false;
}

/* Does the way up from a path, whatever links lead to it, come by that inode? Nearly all have no
 * links, which saves many looks. */
static bool path_holds(struct guard_inode x, const char *path, struct guard_look *l)
{
	autoclose int fd = -1;
	char name[PATH_MAX];
	struct way own;

	if (look_is_plain(l, path))
		return look_is_below(l, path, x);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 || !guard_find_name(fd, name) || way_up(fd, name, &own) < 0 ||
	       way_has(&own, x);
}

/* Would the source hold a path that is not there yet, but whose directory is? It may come while the
 * container runs. */
static bool path_would_be_in(struct guard_inode x, const char *path, struct guard_look *l)
{
	if (!strchr(path, '/'))
		return false;
	look_walk(l, path);
	return l->has_dir && look_is_below(l, path, x);
}

/* On, below or above one of the paths? */
static int guard_compare(const struct judged *j, const char *path, struct guard_look *l, bool write,
			 struct error *e)
{
	look_at(l, path);
	if (l->err && j->is_dir && path_would_be_in(j->way.v[0], path, l))
		return guard_refuse(j, "would hold", path, write, e);
	if (l->err == ENOENT || l->err == ENOTDIR || l->err == EACCES)
		return 0; /* this host has none, or the caller can't get there himself */
	errno = l->err;
	if (l->err)
		return err_sys(e, "%s.source: compare it with %s", j->m->field, path);
	if (look_is_in(l, &j->way))
		return guard_refuse(j, "is or lies in", path, write, e);
	if (j->is_dir && path_holds(j->way.v[0], path, l))
		return guard_refuse(j, "holds", path, write, e);
	return 0;
}

/* Directories that hold keys wherever they are. */
static int guard_check_names(const struct judged *j, const char *path, struct error *e)
{
	static const char *const names[] = {"/.ssh/", "/.kube/", "/.docker/", "/.gnupg/"};
	size_t i;

	for (i = 0; j->write && i < ARRAY_SIZE(names); i++)
		if (strstr(path, names[i]))
			return guard_refuse(j, "is or lies in a directory called", names[i], true,
					    e);
	return 0;
}

static int guard_check_paths(const struct judged *j, struct guard_look *looks, struct error *e)
{
	const struct plan_guard *g = j->g;
	size_t i;

	if (guard_compare(j, g->state_root, &looks[g->n_paths], false, e) < 0)
		return -1;
	for (i = 0; i < g->n_paths; i++) {
		const struct guard_path *p = &g->paths[i];

		if (p->how == GUARD_ENGINES || (p->how == GUARD_WRITE && !j->write) ||
		    (g->shows_sys && !j->write && str_eq(p->path, "/sys")))
			continue;
		if (guard_compare(j, p->path, &looks[i], p->how == GUARD_WRITE, e) < 0)
			return -1;
	}
	return 0;
}

int guard_check_source(const struct plan *plan, struct guard_look *looks,
		       const struct mount_plan *m, int fd, const char *name, struct error *e)
{
	const struct plan_guard *g = &plan->guard;
	struct judged j = {.g = g,
			   .m = m,
			   .write = !((m->set | m->set_all) & MOUNT_ATTR_RDONLY)};
	char found[PATH_MAX], path[PATH_MAX + 1]; /* the latter ends with a slash */
	struct stat st;
	size_t i;

	if (!g->sources)
		return 0;
	if (!name && guard_find_name(fd, found))
		name = found;
	if (!name || fstat(fd, &st) < 0 || way_up(fd, name, &j.way) < 0)
		return err_sys(e, "%s.source: look at it", m->field);
	snprintf(path, sizeof(path), "%s/", name);
	for (i = 0; i < g->n_allowed; i++)
		if (allowance_fits(g->allowed[i], &j.way, j.write))
			return 0;
	j.is_dir = S_ISDIR(st.st_mode);
	if (S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return guard_refuse(&j, "is", S_ISSOCK(st.st_mode) ? "a socket" : "a device",
				    false, e);
	if (source_is_engines(plan, looks, path, &j.way))
		return 0;
	/* Above everything, in a mount namespace or chroot whose root it is. */
	if (j.way.n == 2 && inode_same(j.way.v[0], j.way.v[1]))
		return guard_refuse(&j, "is", "the host's /", false, e);
	return guard_check_names(&j, path, e) < 0 ? -1 : guard_check_paths(&j, looks, e);
}

int guard_check_root(const struct plan_guard *g, int root_fd, struct error *e)
{
	autoclose int fd = -1;
	struct way own;
	struct stat st;

	if (!g->sources)
		return 0;
	fd = open(g->state_root, O_PATH | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(root_fd, &st) < 0 || way_up(fd, g->state_root, &own) < 0)
		return err_sys(e, "root.path: look at %s", g->state_root);
	if (way_has(&own, (struct guard_inode){st.st_dev, st.st_ino}))
		return err_set(e, ERR_CONFIG,
			       "policy %s refuses root.path: it holds the runtime's own state, %s "
			       "[host-paths]",
			       g->policy, g->state_root);
	return 0;
}
