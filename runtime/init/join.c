/*
 * A further process of a container. The launcher does the work with the rights for it, unseen from
 * inside; what is born into the container's pid namespace is already the payload in all but its
 * program (init/init.h, join_enter).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "base/timing.h"
#include "init/init.h"
#include "init/stage.h"
#include "init/steps.h"
#include "init/streams.h"
#include "security/identity.h"
#include "sys/proc.h"
#include "sys/self.h"
#include "sys/sys.h"

struct join_step {
	const char *name;
	int (*run)(struct join *j, struct error *e);
};

static int join_leave_caller(struct join *j, struct error *e)
{
	store_close(j->init.host.store);
	fd_close(&j->init.talk.parent_fd);
	self_forget_words();
	if (j->init.io.streams && streams_take(j->init.io.streams, e) < 0)
		return -1;
	if (prctl(PR_SET_NAME, "sbxrun:exec") < 0)
		return err_sys(e, "prctl");
	umask(0);
	return init_hide(&j->init, e);
}

/* In the host's pid namespace this process still has a /proc of its own. */
static int join_write_proc(struct join *j, struct error *e)
{
	const struct plan *p = j->init.plan;

	if (!p->program.oom_score_adj.set && !p->lsm.apparmor_profile && !p->lsm.selinux_label)
		return 0;
	j->init.own.proc_dfd = proc_open(e);
	if (j->init.own.proc_dfd < 0)
		return -1;
	return init_write_oom_score(&j->init, e);
}

static int join_cgroups(struct join *j, struct error *e)
{
	if (j->affinity_initial && sched_setaffinity(0, sizeof(cpu_set_t), j->affinity_initial) < 0)
		return err_sys(e, "process.execCPUAffinity.initial");
	if (cgroup_join(&j->init.host.cgroup, e) < 0)
		return -1;
	cgroup_handle_close(&j->init.host.cgroup);
	if (identity_reset_scheduler(e) < 0)
		return -1;
	if (j->affinity_final && sched_setaffinity(0, sizeof(cpu_set_t), j->affinity_final) < 0)
		return err_sys(e, "process.execCPUAffinity.final");
	return 0;
}

static int join_namespaces(struct join *j, struct error *e)
{
	if (j->init.io.console_fd < 0)
		streams_close_modes();
	if (j->namespaces && setns(j->init_pidfd, j->namespaces) < 0)
		return err_sys(e, "join the container's namespaces");
	if (j->root_dfd >= 0 && (fchdir(j->root_dfd) < 0 || chroot(".") < 0 || chdir("/") < 0))
		return err_sys(e, "enter the container's root");
	fd_close(&j->root_dfd);
	fd_close(&j->init_pidfd);
	return init_become_root(&j->init, e);
}

static int join_open_console(struct join *j, struct error *e)
{
	struct init *in = &j->init;
	autoclose int root_dfd = -1;

	if (in->io.console_fd < 0)
		return 0;
	root_dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_dfd < 0)
		return err_sys(e, "open the container's root");
	if (console_open(root_dfd, CONSOLE_PTMX, &in->plan->program.console_size,
			 in->io.terminal_is_relayed, in->io.console_fd, &in->own.console, e) < 0)
		return -1;
	fd_close(&in->io.console_fd);
	return 0;
}

static int join_set_limits(struct join *j, struct error *e)
{
	if (init_set_limits(&j->init, e) < 0)
		return -1;
	return init_new_keyring(&j->init, e);
}

static int join_take_identity(struct join *j, struct error *e)
{
	if (init_take_identity(&j->init, e) < 0)
		return -1;
	if (init_find_program(&j->init, e) < 0)
		return -1;
	return init_check_abi(&j->init, e);
}

// clang-format off
static const struct join_step steps[] = {
	/* Before the process hides: then these files are root's, and an ordinary user can't write
	 * them. */
	{"proc", join_write_proc},
	{"leave-caller", join_leave_caller},
	/* The cgroups end it together with the container: before anything else is shared. */
	{"cgroups", join_cgroups},
	{"namespaces", join_namespaces},
	{"console", join_open_console},
	{"limits", join_set_limits},
	{"identity", join_take_identity},
};
// clang-format on

int join_enter(void *context, int sock, struct error *e)
{
	struct join *j = context;
	size_t i;

	j->init.own.proc_dfd = -1;
	j->init.own.console.slave_fd = -1;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		log_debug("exec: %s", steps[i].name);
		if (steps[i].run(j, e) < 0)
			return -1;
		timing_mark(steps[i].name);
	}
	if (init_clear_inheritance(&j->init, sock, e) < 0)
		return -1;
	init_forget(&j->init);
	/* Here CAP_SYS_ADMIN is held by a process that the container can't see. */
	return init_load_filter_early(&j->init, e);
}

void join_main(void *context)
{
	struct init *in = &((struct join *)context)->init;
	struct error e = {0};

	timing_mark("exec: born");
	if (setsid() < 0 && err_sys(&e, "setsid") < 0)
		goto fail;
	if (console_own(&in->own.console, &e) < 0)
		goto fail;
	if (init_is_given_scheduler(in) && stage_await(in->talk.stage_fd, STAGE_BORN, &e) < 0)
		goto fail;
	/* Nothing runs under a listener that nobody serves. */
	if (in->plan->filter.notify && in->own.filter_is_loaded &&
	    stage_await(in->talk.stage_fd, STAGE_START, &e) < 0)
		goto fail;
	init_execute_or_die(in, in->talk.stage_fd);
fail:
	stage_fail(in->talk.stage_fd, &e);
	_exit(1);
}
