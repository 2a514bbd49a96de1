/*
 * Entering cgroups. cgroup_join runs in the container's new process before it is confined: no
 * allocation, and nothing but write(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/tree.h"

int cgroup_join(const struct cgroup_handle *h, struct error *e)
{
	size_t i;
	ssize_t n;

	for (i = 0; i < h->n; i++) {
		do
			n = write(h->tasks_fd[i], "0", 1);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return err_sys(e, "cgroup: join");
	}
	return 0;
}

void cgroup_handle_close(struct cgroup_handle *h)
{
	size_t i;

	fd_close(&h->unified_dfd);
	for (i = 0; i < h->n; i++)
		fd_close(&h->tasks_fd[i]);
	h->n = 0;
}

/* sub: a clean path below d, or NULL. */
static int open_one(const struct cgroup_dir *d, const char *sub, bool frozen_ok,
		    struct cgroup_handle *h, struct error *e)
{
	autoclose int top = cgroup_dir_open(d);
	autoclose int dfd = -1;
	int fd;

	while (sub && *sub == '/')
		sub++;
	if (top >= 0)
		dfd = openat(top, sub && *sub ? sub : ".",
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd < 0)
		return err_sys(e, "cgroup %s%s%s%s", d->mount, d->path, sub ? "/" : "",
			       sub ? sub : "");
	if (!frozen_ok && (d->freezer || d->unified) && cgroup_dfd_frozen(dfd, d->unified))
		return err_set(e, ERR_WRONG_STATE, "cgroup %s%s is frozen", d->mount, d->path);
	if (d->unified) {
		h->unified_dfd = fd_steal(&dfd);
		return 0;
	}
	fd = openat(dfd, "tasks", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open %s%s/tasks", d->mount, d->path);
	h->tasks_fd[h->n++] = fd;
	return 0;
}

int cgroup_open(const struct cgroup_dirs *d, const char *const *subs, bool frozen_ok,
		struct cgroup_handle *ret_handle, struct error *e)
{
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	size_t i;

	for (i = 0; i < d->n && i < CGROUP_MAX; i++) {
		if (open_one(&d->v[i], subs[i], frozen_ok, &h, e) < 0) {
			cgroup_handle_close(&h);
			return -1;
		}
	}
	*ret_handle = h;
	return 0;
}
