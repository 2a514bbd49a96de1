/*
 * Which cgroup hierarchies this host has, and where they are mounted. Read-only; runs in the
 * runtime's own process.
 *
 * /proc/self/cgroup names the hierarchies (and so the controllers, apart from other words in a
 * mount's options). Where they are mounted is looked for at the usual places first, and checked
 * there; /proc/self/mountinfo, which is long on hosts with many mounts, is read only if one is
 * elsewhere. A mount that another one covers is seen by its superblock and left out.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "sys/mountinfo.h"
#include "sys/statmount.h"

#define USUAL_MOUNT "/sys/fs/cgroup"
#define PROC_MAX (16u << 20)

/* A line of mountinfo whose file system is a cgroup one. Strings point into the file's text. */
struct mount_line {
	char *root;
	char *mount;
	char *options; /* of the superblock */
	bool unified;
};

struct mount_lines {
	size_t n;
	size_t cap;
	struct mount_line *v;
};

/* A whole file of a real procfs. */
static char *proc_read(const char *path, struct arena *a, struct error *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct statfs fs;
	char *text;
	size_t len;

	if (fd < 0 || fstatfs(fd, &fs) < 0) {
		err_sys(e, "%s", path);
		return NULL;
	}
	if (fs.f_type != PROC_SUPER_MAGIC) {
		err_set(e, ERR_HOST, "%s is not on a procfs", path);
		return NULL;
	}
	text = fd_read_all(fd, PROC_MAX, a, &len);
	if (!text)
		err_sys(e, "%s", path);
	return text;
}

/* Takes the first word, leaves *rest behind the one space after it. */
static char *word_take(char **rest)
{
	char *s = *rest;
	char *end = strchrnul(s, ' ');

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return s;
}

static void mount_line_read(char *line, struct arena *a, struct mount_lines *ret)
{
	char *tail = strstr(line, " - cgroup");
	struct mount_line m = {0};
	char *type;

	if (!tail)
		return;
	*tail = '\0';
	tail += 3;
	type = word_take(&tail);
	if (!str_eq(type, "cgroup") && !str_eq(type, "cgroup2"))
		return;
	word_take(&tail); /* source */
	m.unified = str_eq(type, "cgroup2");
	m.options = tail;
	word_take(&line); /* id, parent, device */
	word_take(&line);
	word_take(&line);
	m.root = word_take(&line);
	m.mount = word_take(&line);
	mountinfo_decode(m.root);
	mountinfo_decode(m.mount);
	ret->v = arena_grow(a, ret->v, &ret->cap, ret->n + 1, sizeof(*ret->v));
	ret->v[ret->n++] = m;
}

/* A word in a list with commas. */
static bool list_has(const char *list, const char *word, size_t len)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static bool superblock_is(const char *mount, bool unified)
{
	struct statfs fs;

	if (statfs(mount, &fs) < 0)
		return false;
	return fs.f_type == (unified ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC);
}

/* The mount of a hierarchy; one that shows the whole of it is preferred. */
static const struct mount_line *mount_find(const struct mount_lines *m, const char *controllers)
{
	const struct mount_line *found = NULL;
	bool unified = *controllers == '\0';
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (m->v[i].unified != unified)
			continue;
		if (!unified && !list_has(m->v[i].options, controllers, strcspn(controllers, ",")))
			continue;
		if (!superblock_is(m->v[i].mount, unified))
			continue;
		if (!found || (!str_eq(found->root, "/") && str_eq(m->v[i].root, "/")))
			found = &m->v[i];
	}
	return found;
}

/* Can cgroups be made in `path` below the mount, and processes moved out of and into them? */
static bool may_write(const char *mount, const char *path)
{
	char file[4096];
	int n = snprintf(file, sizeof(file), "%s%s/cgroup.procs", mount, path);

	if (n < 0 || (size_t)n >= sizeof(file) || faccessat(AT_FDCWD, file, W_OK, AT_EACCESS) < 0)
		return false;
	snprintf(file, sizeof(file), "%s%s", mount, path);
	return faccessat(AT_FDCWD, file, W_OK, AT_EACCESS) == 0;
}

/*
 * Where we may make cgroups. An ordinary user has at most a delegated subtree of the unified tree.
 * The parent of our own cgroup is the better place in it, because a cgroup that holds processes
 * (ours does: us) can't give controllers to children.
 */
static char *base_find(const struct cgroup_hierarchy *h, bool rootless, struct arena *a)
{
	const char *own = h->own;
	char *parent, *slash;

	/* Root on v1: what may be in the way (a read-only mount) shows when it is tried. */
	if ((!h->unified && !rootless) || faccessat(AT_FDCWD, h->mount, W_OK, AT_EACCESS) == 0)
		return arena_strdup(a, "");
	if (!h->unified || str_eq(own, "/"))
		return NULL;
	if (!str_eq(h->root, "/")) {
		own = str_after(own, h->root);
		if (!own || *own != '/')
			return NULL;
	}
	parent = arena_strdup(a, own);
	slash = strrchr(parent, '/');
	*slash = '\0';
	if (*parent && may_write(h->mount, parent))
		return parent;
	return may_write(h->mount, own) ? arena_strdup(a, own) : NULL;
}

/* Those that cgroups of ours can have. */
static void v2_controllers_read(struct cgroup_hierarchy *h, struct arena *a)
{
	const char *dir = h->base ? arena_printf(a, "%s%s", h->mount, h->base) : h->mount;
	autoclose int dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[512];

	h->v2_controllers = arena_strdup(a, "");
	if (dfd >= 0 && fd_read_at(dfd, "cgroup.controllers", text, sizeof(text)) >= 0)
		h->v2_controllers = arena_strdup(a, text);
}

static enum cgroup_mode mode_of(const struct cgroup_host *host)
{
	bool v1 = false, v2 = false;
	size_t i;

	for (i = 0; i < host->n; i++)
		*(host->v[i].unified ? &v2 : &v1) = true;
	if (v2)
		return v1 ? CGROUP_HYBRID : CGROUP_V2;
	return v1 ? CGROUP_V1 : CGROUP_NONE;
}

static int mounts_read(struct arena *a, struct mount_lines *ret, struct error *e)
{
	char *text = proc_read("/proc/self/mountinfo", a, e), *line;

	if (!text)
		return -1;
	while ((line = strsep(&text, "\n")))
		mount_line_read(line, a, ret);
	return 0;
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/own". */
struct group_line {
	char *controllers; /* empty: the unified tree */
	char *own;
	struct mount_line mount; /* its mount is NULL where there is none */
};

struct group_lines {
	size_t n;
	struct group_line v[CGROUP_MAX];
};

static int groups_read(const char *file, struct arena *a, struct group_lines *ret, struct error *e)
{
	char *text = proc_read(file, a, e), *line;

	ret->n = 0;
	if (!text)
		return -1;
	/* The kernel lists the unified tree ("0::/path") last, which is the order
	 * that plans have. */
	while ((line = strsep(&text, "\n")) && ret->n < CGROUP_MAX) {
		char *controllers = strchr(line, ':');
		char *own = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!own)
			continue;
		*controllers++ = '\0';
		*own++ = '\0';
		ret->v[ret->n++] = (struct group_line){.controllers = controllers, .own = own};
	}
	return 0;
}

/* /sys/fs/cgroup/cpu,cpuacct; systemd for name=systemd; the unified tree: beside them, or alone. */
static char *usual_place(const char *controllers, bool alone, struct arena *a)
{
	const char *name = str_after(controllers, "name=");

	if (alone)
		return arena_strdup(a, USUAL_MOUNT);
	return arena_printf(a, USUAL_MOUNT "/%s",
			    !*controllers ? "unified" :
			    name	  ? name :
					    controllers);
}

/* Is the whole of this hierarchy there, and not another one? -1: it can't be told. */
static int place_is(const char *place, const char *controllers)
{
	bool unified = *controllers == '\0';
	struct statmount_facts m;
	int known = statmount_at(place, &m);

	if (known <= 0)
		return known;
	return str_eq(m.root, "/") &&
	       m.magic == (unified ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC) &&
	       (unified || list_has(m.options, controllers, strcspn(controllers, ",")));
}

/* false: one of v1 is not there, or none at all is, or one can't be told. A unified tree beside v1
 * ones counts at this place only: the kernel lists it whether it is mounted or not. */
static bool groups_find_usual(struct group_lines *g, struct arena *a)
{
	bool alone = superblock_is(USUAL_MOUNT, true), found = false;
	size_t i;

	for (i = 0; i < g->n; i++) {
		struct group_line *l = &g->v[i];
		bool unified = *l->controllers == '\0';
		char *place;
		int there;

		if (alone && !unified)
			continue;
		place = usual_place(l->controllers, alone, a);
		there = alone ? 1 : place_is(place, l->controllers);
		if (there < 0)
			return false;
		if (there)
			l->mount = (struct mount_line){.root = arena_strdup(a, "/"),
						       .mount = place,
						       .unified = unified};
		else if (!unified)
			return false;
		found = found || l->mount.mount;
	}
	return found;
}

static int groups_find_anywhere(struct group_lines *g, struct arena *a, struct error *e)
{
	struct mount_lines mounts = {0};
	size_t i;

	if (mounts_read(a, &mounts, e) < 0)
		return -1;
	for (i = 0; i < g->n; i++) {
		const struct mount_line *m = mount_find(&mounts, g->v[i].controllers);

		g->v[i].mount = m ? *m : (struct mount_line){0};
	}
	return 0;
}

static void hierarchy_add(const struct group_line *l, bool rootless, struct arena *a,
			  struct cgroup_host *host)
{
	struct cgroup_hierarchy *h = &host->v[host->n++];

	h->controllers = l->controllers;
	h->mount = l->mount.mount;
	h->root = l->mount.root;
	h->own = l->own;
	h->unified = l->mount.unified;
	h->base = base_find(h, rootless, a);
	if (h->unified)
		v2_controllers_read(h, a);
}

int cgroup_host_probe(bool rootless, struct arena *a, struct cgroup_host *ret_host, struct error *e)
{
	struct cgroup_host host = {.v = arena_array(a, CGROUP_MAX, struct cgroup_hierarchy)};
	struct group_lines groups;
	size_t i;

	if (groups_read("/proc/self/cgroup", a, &groups, e) < 0 ||
	    (!groups_find_usual(&groups, a) && groups_find_anywhere(&groups, a, e) < 0))
		return err_wrap(e, "cgroup");
	for (i = 0; i < groups.n; i++)
		if (groups.v[i].mount.mount)
			hierarchy_add(&groups.v[i], rootless, a, &host);
	host.mode = mode_of(&host);
	*ret_host = host;
	return 0;
}

/* A cgroup's path as seen from where its hierarchy is mounted; NULL: it is not to be seen there. */
static char *path_from_mount(const struct cgroup_hierarchy *h, const char *path, struct arena *a)
{
	if (!str_eq(h->root, "/"))
		path = str_after(path, h->root);
	if (!path || strstr(path, "/.."))
		return NULL;
	return arena_strdup(a, str_eq(path, "/") ? "" : path);
}

/* The machine's systemd is the first process, in "/init.scope" of what is its own. */
static int units_of_machine(struct cgroup_host *host, struct arena *a, struct error *e)
{
	static const char scope[] = "/init.scope";
	char *at;
	struct group_lines *g = arena_new(a, struct group_lines);
	size_t i, k;

	if (groups_read("/proc/1/cgroup", a, g, e) < 0)
		return -1;
	for (i = 0; i < host->n; i++)
		for (k = 0; k < g->n; k++) {
			if (!str_eq(g->v[k].controllers, host->v[i].controllers))
				continue;
			/* It may have gone further down in there. */
			at = strstr(g->v[k].own, scope);
			if (at && (!at[strlen(scope)] || at[strlen(scope)] == '/'))
				*at = '\0';
			host->v[i].units = path_from_mount(&host->v[i], g->v[k].own, a);
		}
	return 0;
}

/* An ordinary user's is in one of the machine's units, which is delegated to him. */
static void units_of_user(struct cgroup_host *host, const char *manager, struct arena *a)
{
	size_t i;

	for (i = 0; i < host->n; i++) {
		struct cgroup_hierarchy *h = &host->v[i];

		if (!h->unified)
			continue;
		h->base = h->units = path_from_mount(h, manager, a);
		v2_controllers_read(h, a);
	}
}

int cgroup_host_find_units(struct cgroup_host *host, const char *manager, struct arena *a,
			   struct error *e)
{
	if (!manager)
		return units_of_machine(host, a, e);
	units_of_user(host, manager, a);
	return 0;
}
