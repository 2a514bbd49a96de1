#include "rootfs/mounted.h"

#include "base/str.h"
#include "sys/sys.h"

struct mounted mounted_begin(const struct plan *p, int root_dfd, uint64_t *ids)
{
	return (struct mounted){
		.root_dfd = root_dfd,
		.root_id = sys_mount_id_of(root_dfd),
		.n = p->n_mounts,
		.plans = p->mounts,
		.ids = ids,
	};
}

void mounted_add(struct mounted *mounted, const struct mount_plan *m, int fd)
{
	mounted->ids[m - mounted->plans] = sys_mount_id_of(fd);
}

const struct mount_plan *mounted_find(const struct mounted *mounted, int fd)
{
	uint64_t id = sys_mount_id_of(fd);
	size_t i;

	for (i = 0; id && i < mounted->n; i++)
		if (mounted->ids[i] == id)
			return &mounted->plans[i];
	return NULL;
}

bool mounted_is_cover(const struct mounted *mounted, int fd)
{
	uint64_t id = mounted->n_covers ? sys_mount_id_of(fd) : 0;
	size_t i;

	for (i = 0; id && i < mounted->n_covers; i++)
		if (mounted->covers[i] == id)
			return true;
	return false;
}

bool mounted_is_own(const struct mounted *mounted, int fd)
{
	const struct mount_plan *m = mounted_find(mounted, fd);

	if (m)
		return m->kind == MOUNT_FS && str_eq(m->type, "tmpfs");
	return (mounted->root_id && sys_mount_id_of(fd) == mounted->root_id) ||
	       mounted_is_cover(mounted, fd);
}
