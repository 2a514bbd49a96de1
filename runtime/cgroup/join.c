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
#include "cgroup/write.h"
#include "sys/sys.h"

int cgroup_join(const struct cgroup_handle *h, struct error *e)
{
	size_t i;
	ssize_t n;

	for (i = 0; i < h->n; i++) {
		do
			n = write(h->tasks_fd[i], "0", 1);
		while (n < 0 && errno == EINTR);
		cgroup_log("join", h->tasks_fd[i], NULL, n < 0 ? -1 : 0);
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

/* v2: a cgroup that has given controllers to others takes no process itself. */
static bool has_passed_on(int dfd)
{
	char text[512];

	return fd_read_at(dfd, "cgroup.subtree_control", text, sizeof(text)) > 0;
}

/* Opens the container's whole cgroup. */
static int open_top(const struct cgroup_dir *d)
{
	autoclose int dfd = cgroup_dir_open(d);

	return dfd < 0 || !d->inner ? fd_steal(&dfd) : cgroup_inner_open(dfd);
}

/* Where init is, in or below top, which is d's; -1 if that can't be told. Trust: the container has
 * named what is below. */
static int open_of_init(int top, const struct cgroup_dir *d, pid_t init)
{
	char path[64], text[CGROUP_PATH_SIZE + 256], *line;
	const char *sub;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", init);
	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	/* The unified tree is the last; a name has no newline in it. */
	line = strrchr(text, '\n');
	sub = str_after(line ? line + 1 : text, "0::");
	sub = sub ? str_after(sub, d->path) : NULL;
	sub = sub && d->inner ? str_after(sub, CGROUP_INNER) : sub;
	if (!sub || *sub != '/')
		return -1;
	return sys_openat2(top, sub + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

/* sub: a clean path below d, or NULL. */
static int open_one(const struct cgroup_dir *d, const char *sub, pid_t init, bool frozen_ok,
		    struct cgroup_handle *h, struct error *e)
{
	autoclose int top = open_top(d);
	autoclose int dfd = -1;
	int fd;

	if (top >= 0 && d->unified && !sub && has_passed_on(top))
		dfd = open_of_init(top, d, init);
	while (sub && *sub == '/')
		sub++;
	if (top >= 0 && dfd < 0)
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

int cgroup_open(const struct cgroup_dirs *d, const char *const *subs, pid_t init, bool frozen_ok,
		struct cgroup_handle *ret_handle, struct error *e)
{
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	size_t i;

	for (i = 0; i < d->n && i < CGROUP_MAX; i++) {
		if (open_one(&d->v[i], subs[i], init, frozen_ok, &h, e) < 0) {
			cgroup_handle_close(&h);
			return -1;
		}
	}
	*ret_handle = h;
	return 0;
}
