#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>

#include "base/fd.h"
#include "cgroup/cgroup.h"
#include "life/life.h"

int life_kill(const char *root, const char *id, int sig, bool all, struct arena *a,
	      struct error *e)
{
	auto_store struct store s = STORE_NONE;
	autoclose int pidfd = -1;
	struct cgroup_dirs dirs;
	enum status status;
	struct record r;
	bool found;

	if (store_check_id(id, e) < 0 || store_open(root, id, false, &s, e) < 0 ||
	    store_read(&s, a, &r, &found, e) < 0)
		return -1;
	if (!found)
		return err_set(e, ERR_NOT_FOUND, "container \"%s\" does not exist", id);
	dirs = (struct cgroup_dirs){.n = r.cgroups.n, .v = r.cgroups.v};
	status = store_status(&s, &r, &pidfd);
	/* Without a pid namespace of its own, its processes outlive its init. */
	if (all || (sig == SIGKILL && !r.own_pid_ns)) {
		if (sig == SIGKILL ? cgroup_kill(&dirs, e) < 0 : cgroup_signal(&dirs, sig, e) < 0)
			return -1;
		if (all || dirs.n)
			return 0;
	}
	if (status != STATUS_CREATED && status != STATUS_RUNNING)
		return err_set(e, ERR_WRONG_STATE, "container not running");
	if (pidfd_send_signal(pidfd, sig, NULL, 0) < 0)
		return errno == ESRCH ? err_set(e, ERR_WRONG_STATE, "container not running") :
					err_sys(e, "signal container \"%s\"", id);
	return 0;
}
