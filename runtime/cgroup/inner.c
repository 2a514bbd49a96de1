/*
 * A cgroup in the container's cgroup. Where an ordinary user's container has his id, all files of
 * its cgroup are its own, and what it may write it can raise: the kernel keeps a cgroup namespace
 * from the limits of its root only on mounts with "nsdelegate", and only until a namespace is made
 * in that one. So the limits are one level above what such a container is in, sees and can reach.
 * They are repeated in there, for programs that look at how much they have; whatever happens to
 * these, the ones above hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cgroup/tree.h"
#include "cgroup/write.h"

int cgroup_inner_make(int dfd)
{
	return mkdirat(dfd, &CGROUP_INNER[1], 0755) < 0 ? -1 : cgroup_inner_open(dfd);
}

int cgroup_inner_open(int dfd)
{
	return openat(dfd, &CGROUP_INNER[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void cgroup_inner_repeat(const struct cgroup_plan *p, size_t i, int dfd)
{
	struct error ignored;
	char warning[64] = "";

	(void)!cgroup_write_all(p, i, dfd, warning, sizeof(warning), &ignored);
}
