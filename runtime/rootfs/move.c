#include "rootfs/move.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/mountinfo.h"
#include "sys/sys.h"

struct left {
	uint64_t id;
	uint64_t parent;
	char *point;
	bool shows_kernel;
};

struct leftovers {
	struct left *v;
	size_t n;
};

static int move_note(const struct mountinfo_line *line, void *context, struct error *e)
{
	struct leftovers *all = context;
	struct left *v = realloc(all->v, (all->n + 1) * sizeof(*v));
	char *point = strdup(line->point);

	if (v)
		all->v = v;
	if (!v || !point) {
		free(point);
		return err_sys(e, "list the host's mounts");
	}
	v[all->n++] = (struct left){
		.id = line->id,
		.parent = line->parent,
		.point = point,
		.shows_kernel = str_eq(line->type, "proc") || str_eq(line->type, "sysfs"),
	};
	return 0;
}

static void move_forget(struct leftovers *all)
{
	while (all->n)
		free(all->v[--all->n].point);
	free(all->v);
}

static const struct left *move_find(const struct leftovers *all, uint64_t id)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->v[i].id == id)
			return &all->v[i];
	return NULL;
}

/* Whether it is the container's root, or mounted somewhere in it. */
static bool move_is_ours(const struct leftovers *all, const struct left *m, uint64_t root_id)
{
	size_t depth;

	for (depth = 0; m && depth <= all->n; depth++) {
		if (m->id == root_id)
			return true;
		m = move_find(all, m->parent);
	}
	return false;
}

/* A mount of the host's can't be taken away in a user namespace, but it can be covered: others will
 * find the cover as locked as the mount below it. A mount that is out of sight already needs no
 * cover. */
static int move_cover(const struct left *m, struct error *e)
{
	autoclose int at_fd = open(m->point, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	autoclose int empty_fd = -1;

	if (at_fd < 0 || sys_mount_id_of(at_fd) != m->id)
		return 0;
	empty_fd = sys_mount_new("tmpfs", "mode", "755", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV);
	if (empty_fd < 0 || sys_attach(empty_fd, at_fd) < 0)
		return err_sys(e, "--no-pivot: cover the host's %s", m->point);
	return 0;
}

/* The root of this process is still the host's, and names are looked up there. */
static int move_clear(const struct leftovers *all, uint64_t host_id, uint64_t root_id,
		      struct error *e)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		const struct left *m = &all->v[i];

		if (m->parent != host_id || m->id == root_id || str_eq(m->point, "/"))
			continue;
		while (umount2(m->point, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			;
	}
	for (i = 0; i < all->n; i++)
		if (all->v[i].shows_kernel && !move_is_ours(all, &all->v[i], root_id) &&
		    move_cover(&all->v[i], e) < 0)
			return -1;
	return 0;
}

static int move_clear_host(uint64_t host_id, uint64_t root_id, struct error *e)
{
	struct leftovers all = {0};
	int result = mountinfo_each(move_note, &all, e);

	if (result == 0)
		result = move_clear(&all, host_id, root_id, e);
	move_forget(&all);
	return result;
}

/* A root that was moved is not locked to its place: whoever may unmount inside takes it away
 * again. */
static int move_check(const struct plan *p, struct error *e)
{
	if ((p->owns_userns || plan_join(p, OCI_NS_USER)) &&
	    (p->caps.bounding & (1ULL << CAP_SYS_ADMIN)))
		return err_set(
			e, ERR_HOST,
			"--no-pivot: this host's root can't be left with pivot_root, and a container with "
			"CAP_SYS_ADMIN in its user namespace would uncover it: drop one of the two");
	return 0;
}

int move_root(const struct plan *p, const struct rootfs *r, struct error *e)
{
	const uint64_t host_id = sys_mount_id("/"), root_id = sys_mount_id_of(r->dfd);

	if (move_check(p, e) < 0)
		return -1;
	if (!host_id || !root_id)
		return err_sys(e, "--no-pivot: find the root filesystem");
	if (move_mount(r->dfd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "--no-pivot: move the root filesystem to /");
	if (move_clear_host(host_id, root_id, e) < 0)
		return -1;
	if (chroot(".") < 0)
		return err_sys(e, "chroot");
	return 0;
}
