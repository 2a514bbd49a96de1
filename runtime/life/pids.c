/* The container's processes as the host numbers them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "cgroup/cgroup.h"
#include "life/internal.h"

enum { PIDS_MAX = 64 << 20 }; /* bytes */

static int pids_compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static int pids_by_namespaces(const struct store *s, const struct record *r, struct arena *a,
			      pid_t **ret_pids, size_t *ret_n, struct error *e)
{
	autoclose int pidfd = -1;
	enum status status;
	struct members m;
	int rc;

	if (store_status(s, r, &status, &pidfd, e) < 0)
		return -1;
	life_find_members(s, r, pidfd, &m);
	if (pidfd >= 0 && m.ns_fd < 0)
		return err_set(
			e, ERR_HOST,
			"ps: container \"%s\" has neither cgroups nor namespaces that tell which "
			"processes are its own",
			r->id);
	rc = members_list(&m, a, ret_pids, ret_n, e);
	members_close(&m);
	if (rc == 0 && *ret_n)
		qsort(*ret_pids, *ret_n, sizeof(**ret_pids), pids_compare);
	return rc;
}

/* The list goes to a file, for who makes it may be a child of ours. */
struct pids_listing {
	struct cgroup_dirs dirs;
	struct arena *a;
	int fd;
};

static int pids_list(void *arg, struct error *e)
{
	const struct pids_listing *l = arg;
	pid_t *pids;
	size_t n;

	if (cgroup_pids(&l->dirs, l->a, &pids, &n, e) < 0)
		return -1;
	return fd_write_all(l->fd, pids, n * sizeof(*pids)) < 0 ? err_sys(e, "ps: keep the list") :
								  0;
}

static int pids_by_cgroups(const struct store *s, struct cgroup_dirs dirs, struct arena *a,
			   pid_t **ret_pids, size_t *ret_n, struct error *e)
{
	autoclose int fd = memfd_create("ps", MFD_CLOEXEC);
	size_t len;
	char *pids;

	if (fd < 0)
		return err_sys(e, "ps: memfd_create");
	if (life_act_by_ids(pids_list, &(struct pids_listing){dirs, a, fd}, s, a, e) < 0)
		return -1;
	pids = lseek(fd, 0, SEEK_SET) < 0 ? NULL : fd_read_all(fd, PIDS_MAX, a, &len);
	if (!pids)
		return err_sys(e, "ps: read the list");
	*ret_n = len / sizeof(pid_t);
	*ret_pids = arena_array(a, *ret_n + 1, pid_t);
	memcpy(*ret_pids, pids, len);
	return 0;
}

bool life_is_alone(const char *root, const struct record *r, struct arena *a)
{
	struct cgroup_dirs dirs = life_cgroups(r);
	struct error ignored;
	pid_t *pids;
	size_t n;

	dirs.n = dirs.n ? 1 : 0;
	if (dirs.n && cgroup_pids(&dirs, a, &pids, &n, &ignored) == 0)
		return n <= 1;
	return life_pids(root, r->id, a, &pids, &n, &ignored) == 0 && n <= 1;
}

int life_pids(const char *root, const char *id, struct arena *a, pid_t **ret_pids, size_t *ret_n,
	      struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct cgroup_dirs dirs;
	struct record r;

	if (life_load(root, id, STORE_LOOK, a, &s, &r, e) < 0)
		return -1;
	dirs = life_cgroups(&r);
	return dirs.n ? pids_by_cgroups(&s, dirs, a, ret_pids, ret_n, e) :
			pids_by_namespaces(&s, &r, a, ret_pids, ret_n, e);
}
