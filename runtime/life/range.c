#include "life/range.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "ns/userns.h"
#include "oci/names.h"
#include "oci/oci.h"
#include "rootfs/idmap.h"
#include "rootfs/mount.h"
#include "rootfs/overlay.h"
#include "state/ranges.h"
#include "state/sweep.h"
#include "sys/sys.h"

/* ---- whether ---- */

static bool range_fits_ids(const struct oci_user *u)
{
	bool fits = u->uid < ID_RANGE_SIZE && u->gid < ID_RANGE_SIZE;
	size_t i;

	for (i = 0; i < u->additional_gids.n; i++)
		fits = fits && u->additional_gids.v[i] < ID_RANGE_SIZE;
	return fits;
}

static bool range_mounts(const struct oci_config *c, const char *type)
{
	size_t i;

	for (i = 0; i < c->mounts.n; i++)
		if (c->mounts.v[i].type && str_eq(c->mounts.v[i].type, type))
			return true;
	return false;
}

static bool range_sets_sysctl_of(const struct oci_config *c, enum oci_ns type)
{
	size_t i;

	for (i = 0; i < c->linux_.sysctl.n; i++)
		if (oci_sysctl_ns(c->linux_.sysctl.v[i].key) == type)
			return true;
	return false;
}

/* Of namespaces that are others' it has no rights that a config takes for granted. */
static const char *range_find_foreign(const struct oci_config *c, struct arena *a)
{
	const struct {
		enum oci_ns type;
		bool needed;
		const char *what;
	} rows[] = {
		{OCI_NS_PID, range_mounts(c, "proc"), "mounts a procfs for it"},
		{OCI_NS_IPC, range_mounts(c, "mqueue"), "mounts an mqueue for it"},
		{OCI_NS_UTS, c->hostname || c->domainname, "sets its hostname"},
		{OCI_NS_NETWORK, range_sets_sysctl_of(c, OCI_NS_NETWORK), "sets its sysctls"},
		{OCI_NS_IPC, range_sets_sysctl_of(c, OCI_NS_IPC), "sets its sysctls"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct oci_namespace *ns = oci_namespace_find(c, rows[i].type);

		if (rows[i].needed && ns && ns->path)
			return arena_printf(
				a,
				"the config joins a %s namespace and %s, which only its owner may: "
				"let the engine choose the user namespace, too (linux.uidMappings)",
				oci_ns_names[rows[i].type].word, rows[i].what);
	}
	return NULL;
}

/* The reason against it, but for filesystems; NULL: none. */
static const char *range_find_obstacle(const struct oci_config *c, struct arena *a)
{
	const struct oci_namespace *mnt = oci_namespace_find(c, OCI_NS_MOUNT);

	if (!mnt || mnt->path)
		return "the config has no mount namespace of its own, in which ids could be mapped";
	if (!range_fits_ids(&c->process.user))
		return "process.user has an id above 65535, which no private range has";
	/* A mount that shows a host's namespace is the host's own then (plan_bind_foreign). */
	if (!oci_namespace_find(c, OCI_NS_IPC) && range_mounts(c, "mqueue") &&
	    access("/dev/mqueue", F_OK) < 0)
		return "the config shares the host's ipc namespace and mounts an mqueue for it, "
		       "and the host has none at /dev/mqueue";
	return range_find_foreign(c, a);
}

/* A mount is asked once: engines bind many files of the same one. */
struct range_seen {
	uint64_t v[8];
	size_t n;
};

static bool range_has_seen(struct range_seen *seen, uint64_t mount_id)
{
	size_t i;

	for (i = 0; i < seen->n; i++)
		if (seen->v[i] == mount_id)
			return true;
	if (mount_id && seen->n < ARRAY_SIZE(seen->v))
		seen->v[seen->n++] = mount_id;
	return false;
}

/* A missing source is another's error to tell. Below a directory others may be mounted. */
static int range_try_source(const struct mount_plan *m, int userns_fd, struct range_seen *seen,
			    struct tightened *t, struct error *e)
{
	autoclose int fd = open(m->source, O_PATH | O_CLOEXEC), clone_fd = -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || idmap_is_needless(fd))
		return 0;
	if (range_has_seen(seen, sys_mount_id_of(fd)) && !(m->recursive && S_ISDIR(st.st_mode)))
		return 0;
	clone_fd = idmap_clone(fd, m->recursive, userns_fd, m->field, m->source, e);
	if (clone_fd < 0)
		return -1;
	if (t->takes_range)
		sources_keep_spent(&t->spent, &clone_fd);
	return 0;
}

/* An overlay is only made a second time if it is to stay. */
static int range_try_root(const char *path, int userns_fd, struct arena *a, struct tightened *t,
			  struct error *e)
{
	autoclose int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool overlay = fd >= 0 && overlay_is_one(fd);

	if (fd < 0 || (overlay && !t->takes_range))
		return 0;
	t->root_mapped_fd = overlay ? overlay_clone(fd, userns_fd, t->hold.range.first, "root.path",
						    path, a, &t->overlay_work, e) :
				      idmap_clone(fd, true, userns_fd, "root.path", path, e);
	return t->root_mapped_fd < 0 ? -1 : 0;
}

static int range_try_filesystems(const struct oci_config *c, const char *bundle, struct arena *a,
				 struct tightened *t, struct error *e)
{
	const struct oci_id_maps maps = ids_map_plainly(t->hold.range, a);
	autoclose int userns_fd = userns_open_map(&maps, &maps, false, e);
	struct range_seen seen = {.n = 0};
	struct notes notes = {0};
	struct error ignored;
	struct mount_plan m;
	size_t i;

	if (userns_fd < 0)
		return -1;
	for (i = 0; i < c->mounts.n; i++)
		if (plan_mount(&c->mounts.v[i], bundle, a, &m, &notes, &ignored) == 0 &&
		    m.kind == MOUNT_BIND && m.idmap == IDMAP_NONE &&
		    range_try_source(&m, userns_fd, &seen, t, e) < 0)
			return -1;
	/* Last: it may leave something to be removed. */
	if (range_try_root(path_join(a, bundle, c->root.path), userns_fd, a, t, e) < 0)
		return -1;
	if (t->takes_range)
		t->userns_fd = fd_steal(&userns_fd);
	return 0;
}

void range_find(const struct create_options *o, const char *bundle, const struct oci_config *c,
		struct arena *a, struct host_facts *facts, struct tightened *t)
{
	const char *state_dir = life_state_dir(o->root, o->id, a);
	struct error why;

	if (t->policy.level[LEVEL_USER_NS] == AS_ASKED || !facts->machine_root ||
	    oci_namespace_find(c, OCI_NS_USER))
		return;
	facts->no_id_range = range_find_obstacle(c, a);
	if (facts->no_id_range)
		return;
	if ((t->takes_range ? ranges_take(state_dir, a, &t->hold, &why) :
			     ranges_guess(state_dir, a, &t->hold.range, &why)) < 0 ||
	    range_try_filesystems(c, bundle, a, t, &why) < 0) {
		range_end(t);
		facts->no_id_range = arena_strdup(a, why.text);
		return;
	}
	facts->id_range = t->hold.range;
}

/* ---- mounts ---- */

/* By what was opened, and is cloned then: a name may lead elsewhere by then. */
static int range_choose_maps(const struct plan *p, struct mount_plan *m, int source_fd,
			     struct arena *a, struct error *e)
{
	struct stat st;

	if (m->maps == MAPS_OF_CONFIG)
		return 0;
	if (idmap_is_needless(source_fd)) {
		m->idmap = IDMAP_NONE;
		return 0;
	}
	if (fstat(source_fd, &st) < 0)
		return err_sys(e, "%s.source: look at %s", m->field, m->source);
	if (m->maps == MAPS_OF_IMAGE)
		return 0;
	if (p->caps.bounding) {
		m->uid_maps = ids_map_to_owner(p->id_range, st.st_uid, p->program.uid, a);
		m->gid_maps = ids_map_to_owner(p->id_range, st.st_gid, p->program.gid, a);
	} else {
		m->uid_maps = ids_map_to_program(p->id_range, st.st_uid, p->program.uid, a);
		m->gid_maps = ids_map_to_program(p->id_range, st.st_gid, p->program.gid, a);
	}
	return 0;
}

/* A user namespace for maps; binds that follow each other mostly have the same. */
struct range_maps {
	int fd;
	struct oci_id_maps uids, gids;
	int own_fd; /* the container's, which has those of the plan; or -1 */
};

static bool range_is_same(const struct oci_id_maps *x, const struct oci_id_maps *y)
{
	return x->n == y->n && memcmp(x->v, y->v, x->n * sizeof(*x->v)) == 0;
}

/* One that has them, or -1. */
static int range_find_maps(const struct plan *p, struct range_maps *maps,
			   const struct oci_id_maps *uids, const struct oci_id_maps *gids,
			   const char *field, struct error *e)
{
	if (maps->own_fd >= 0 && range_is_same(&p->uid_maps, uids) &&
	    range_is_same(&p->gid_maps, gids))
		return maps->own_fd;
	if (maps->fd >= 0 && range_is_same(&maps->uids, uids) && range_is_same(&maps->gids, gids))
		return maps->fd;
	fd_close(&maps->fd);
	maps->fd = userns_open_map(uids, gids, p->rootless, e);
	maps->uids = *uids;
	maps->gids = *gids;
	return maps->fd < 0 ? err_wrap(e, "%s.uidMappings", field) : maps->fd;
}

/* A second overlay is not the directory that conditions speak of: that one is judged. */
static int range_take_root(const struct plan *p, struct tightened *t, struct sources *s,
			   struct error *e)
{
	autoclose int at_fd = -1;

	if (!p->id_range.size) {
		range_end(t);
		return 0;
	}
	at_fd = open(p->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at_fd < 0)
		return err_sys(e, "root.path: open %s", p->rootfs);
	if (sources_check_root(p, at_fd, e) < 0)
		return -1;
	s->root_mapped_fd = fd_steal(&t->root_mapped_fd);
	s->spent = t->spent;
	t->spent.n = 0;
	return s->root_mapped_fd < 0 ?
		       err_set(e, ERR_BUG, "root.path: %s has its ids not mapped", p->rootfs) :
		       0;
}

static int range_open_bind(const struct plan *p, struct mount_plan *m, struct guard_look *looks,
			   struct range_maps *maps, struct arena *a, int *ret_fd, struct error *e)
{
	autoclose int source_fd = mount_open_source(p, m, looks, e);
	int userns_fd;

	if (source_fd < 0 || range_choose_maps(p, m, source_fd, a, e) < 0)
		return -1;
	if (m->idmap == IDMAP_NONE)
		return 0;
	userns_fd = range_find_maps(p, maps, &m->uid_maps, &m->gid_maps, m->field, e);
	if (userns_fd < 0)
		return -1;
	*ret_fd = mount_clone_bind(p, m, source_fd, userns_fd, e);
	return *ret_fd < 0 ? -1 : 0;
}

int range_open_mapped(struct plan *p, struct tightened *t, struct sources *s, struct arena *a,
		      struct error *e)
{
	struct range_maps maps = {.fd = -1, .own_fd = p->id_range.size ? t->userns_fd : -1};
	int result = range_take_root(p, t, s, e);
	size_t i;

	for (i = 0; i < p->n_mounts && result == 0; i++) {
		if (p->mounts[i].idmap == IDMAP_NONE)
			continue;
		result = range_open_bind(p, &p->mounts[i], s->looks, &maps, a, &s->mounts[i],
					 e);
		s->cloned[i] = s->mounts[i] >= 0;
	}
	fd_close(&maps.fd);
	return result;
}

/* ---- its end ---- */

/* Trust: the path is on record, or was made a moment ago, and the last name in it is ours. */
static void range_remove_work(const char *work)
{
	const char *slash = work ? strrchr(work, '/') : NULL;
	char parent[PATH_MAX];
	autoclose int dfd = -1;

	if (!slash || !str_eq(slash + 1, OVERLAY_WORK))
		return;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - work), work);
	dfd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd >= 0)
		sweep_directory(dfd, OVERLAY_WORK);
}

void range_settle(struct tightened *t, pid_t pid, uint64_t pid_start)
{
	ranges_settle(&t->hold, pid, pid_start);
	t->overlay_work = NULL;
}

void range_end(struct tightened *t)
{
	ranges_drop(&t->hold);
	fd_close(&t->userns_fd);
	fd_close(&t->root_mapped_fd);
	sources_close_spent(&t->spent);
	range_remove_work(t->overlay_work);
	t->overlay_work = NULL;
}

void range_release(const struct store *s, const struct record *r)
{
	if (r->id_range.size)
		ranges_release(r->id_range, s->dfd);
	range_remove_work(r->overlay_work);
}
