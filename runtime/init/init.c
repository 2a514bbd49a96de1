/*
 * Two tables: the steps of `create`, then those of `start`. Each row says why it stands where it
 * does. Until the parent has committed the container, the end of the stage socket means that the
 * parent died, and init ends with it.
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/timing.h"
#include "init/hooks.h"
#include "init/listener.h"
#include "init/program.h"
#include "init/stage.h"
#include "oci/oci.h"
#include "security/caps.h"
#include "security/identity.h"
#include "security/lsm.h"
#include "sys/msg.h"
#include "sys/proc.h"
#include "sys/sys.h"

struct step {
	const char *name;
	int (*run)(struct init *in, struct error *e);
};

/* ---- what only init has to do ---- */

static int init_detach_from_caller(struct init *in, struct error *e)
{
	/* The lock on the state lives as long as any copy of its descriptor, and so does a socket. */
	store_close(in->store);
	fd_close(&in->parent_fd);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NAME, "sbxrun:init") < 0)
		return err_sys(e, "prctl");
	if (setsid() < 0)
		return err_sys(e, "setsid");
	umask(0);
	return 0;
}

static int init_join_cgroups(struct init *in, struct error *e)
{
	if (cgroup_join(&in->cgroup, e) < 0)
		return -1;
	cgroup_handle_close(&in->cgroup);
	if (in->make_cgroup_ns && unshare(CLONE_NEWCGROUP) < 0)
		return err_sys(e, "linux.namespaces: make a cgroup namespace");
	return identity_reset_scheduler(e);
}

static int init_open_sources(struct init *in, struct error *e)
{
	return sources_open(in->plan, &in->sources, e);
}

/* Root of the user namespace, so that what is made in the container belongs to it. */
static int init_become_root(struct init *in, struct error *e)
{
	if (!in->plan->owns_userns && !plan_join(in->plan, OCI_NS_USER))
		return 0;
	/* Where setgroups is denied (an ordinary user's single mapping) the caller's groups stay. */
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return err_sys(e, "drop groups");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(e, "linux.uidMappings: the container's ids 0 are not mapped");
	/* Changing ids has cleared it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "prctl");
	return 0;
}

/* From here on others may see this process: no ptrace, no /proc/PID/fd. After the maps, or an
 * ordinary user's parent could not write them. */
static int init_hide(struct init *in, struct error *e)
{
	(void)in;
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

static int init_set_names(struct init *in, struct error *e)
{
	const struct oci_config *c = in->plan->config;

	if (c->hostname && sethostname(c->hostname, strlen(c->hostname)) < 0)
		return err_sys(e, "hostname");
	if (c->domainname && setdomainname(c->domainname, strlen(c->domainname)) < 0)
		return err_sys(e, "domainname");
	return 0;
}

static int init_raise_loopback(struct init *in, struct error *e)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	autoclose int fd = -1;

	if (!plan_has_new(in->plan, CLONE_NEWNET))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* a kernel without IPv4 */
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		return err_sys(e, "bring up the loopback interface");
	return 0;
}

static int init_build_root(struct init *in, struct error *e)
{
	const struct oci_process *process = &in->plan->config->process;
	auto_in_root struct in_root cwd = IN_ROOT_NONE;

	if (rootfs_build(in->plan, &in->sources, &in->root, e) < 0)
		return -1;
	sources_close(in->plan, &in->sources);
	/* Engines count on a working directory that the image lacks being made. */
	if (process->set && resolve_make(in->root.dfd, path_clean(in->arena, process->cwd), true, &cwd,
					 e) < 0)
		return err_wrap(e, "process.cwd");
	return 0;
}

static int init_open_console(struct init *in, struct error *e)
{
	const struct oci_process *process = &in->plan->config->process;

	if (in->console_fd < 0)
		return 0;
	if (console_open(in->root.dfd, &process->console_size, in->console_fd, &in->console, e) < 0)
		return -1;
	fd_close(&in->console_fd);
	return console_bind(in->root.dfd, &in->console, e);
}

static int init_wait_for_runtime_hooks(struct init *in, struct error *e)
{
	if (!in->runtime_hooks)
		return 0;
	if (stage_say(in->stage_fd, STAGE_MOUNTED, e) < 0)
		return -1;
	return stage_await(in->stage_fd, STAGE_HOOKS_RUN, e);
}

static const char *init_state(const struct init *in, enum status status)
{
	struct buf b = buf_new(in->arena, 1 << 20);

	record_write_state(in->record, status, getpid(), in->arena, &b, false);
	return b.data;
}

static int init_run_container_hooks(struct init *in, struct error *e)
{
	const struct oci_hook_list *hooks = &in->plan->config->hooks.create_container;

	return hooks->n ? hooks_run(hooks, "createContainer", init_state(in, STATUS_CREATED), NULL, e) :
			  0;
}

static int init_enter_root(struct init *in, struct error *e)
{
	return rootfs_enter(in->plan, &in->root, e);
}

static int init_write_sysctls(struct init *in, struct error *e)
{
	const struct pairs *sysctl = &in->plan->config->linux_.sysctl;
	size_t i;

	for (i = 0; i < sysctl->n; i++) {
		char path[512], *rest = path + 4;

		memcpy(path, "sys/", 4);
		if (!oci_sysctl_path(sysctl->v[i].key, rest, sizeof(path) - 4))
			return err_set(e, ERR_CONFIG, "linux.sysctl: bad key \"%s\"", sysctl->v[i].key);
		if (proc_write(in->proc_dfd, path, sysctl->v[i].value) < 0)
			return err_sys(e, "linux.sysctl: write %s", sysctl->v[i].key);
	}
	return 0;
}

static int init_write_oom_score(struct init *in, struct error *e)
{
	const struct opt_i32 *value = &in->plan->config->process.oom_score_adj;

	if (!in->plan->config->process.set || !value->set)
		return 0;
	return identity_set_oom_score_adj(in->proc_dfd, value->v, e);
}

/* What goes through /proc: a private one, for the image may have put anything on its own. Before
 * the masks, which cover parts of it, and while we may still mount. */
static int init_write_proc(struct init *in, struct error *e)
{
	const struct oci_config *c = in->plan->config;

	if (!c->linux_.sysctl.n && !c->process.oom_score_adj.set && !in->plan->lsm.apparmor_profile &&
	    !in->plan->lsm.selinux_label)
		return 0;
	in->proc_dfd = proc_open(e);
	if (in->proc_dfd < 0)
		return -1;
	if (init_write_sysctls(in, e) < 0)
		return -1;
	return init_write_oom_score(in, e);
}

static int init_finish_root(struct init *in, struct error *e)
{
	int result = rootfs_finish(in->plan, &in->root, e);

	rootfs_close(&in->root);
	return result;
}

static int init_set_limits(struct init *in, struct error *e)
{
	const struct plan *p = in->plan;

	if (identity_set_personality(&p->personality, e) < 0 ||
	    identity_set_memory_policy(&p->memory_policy, e) < 0 ||
	    identity_set_scheduler(&p->scheduler, e) < 0 ||
	    identity_set_io_priority(&p->io_priority, e) < 0)
		return -1;
	return identity_raise_rlimits(&p->rlimits, e);
}

static int init_new_keyring(struct init *in, struct error *e)
{
	int skipped = 0;

	if (in->no_new_keyring)
		return 0;
	if (identity_new_keyring(&skipped, e) < 0)
		return -1;
	if (skipped)
		log_warn("no session keyring: %s", err_text(skipped));
	return 0;
}

/* The payload's user must be able to reopen its own standard streams, e.g. as /dev/stderr. */
static int init_give_stdio(struct init *in, struct error *e)
{
	const struct oci_user *user = &in->plan->config->process.user;
	struct stat st;
	int fd;

	(void)e;
	for (fd = 0; fd < 3; fd++) {
		if (fstat(fd, &st) < 0 || st.st_uid == user->uid ||
		    (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
			continue;
		/* A pipe or file that isn't ours to give stays as it is, as with other runtimes. */
		if (fchown(fd, user->uid, (gid_t)-1) < 0)
			continue;
	}
	return 0;
}

/* Rule R4: a directory that is found inside the root; a magic link could lead out of it. */
static int init_try_cwd(struct init *in, bool last, struct error *e)
{
	const char *cwd = in->plan->config->process.cwd;
	autoclose int root_dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = resolve_open(root_dfd, cwd, O_PATH | O_DIRECTORY);
	char now[4096];

	if (fd < 0 || fchdir(fd) < 0) {
		if (!last && (errno == EACCES || errno == EPERM))
			return 0;
		return err_sys(e, "process.cwd: chdir to \"%s\"", cwd);
	}
	if (!getcwd(now, sizeof(now)) || now[0] != '/')
		return err_set(e, ERR_CONFIG, "process.cwd: \"%s\" is outside the container's root", cwd);
	in->cwd_is_set = true;
	return 0;
}

static bool init_can_set_groups(struct init *in)
{
	char word[16];

	if (!in->plan->rootless)
		return true;
	/* The answer concerns this process's own user namespace. */
	return fd_read_at(AT_FDCWD, "/proc/self/setgroups", word, sizeof(word)) < 0 ||
	       !str_eq(word, "deny");
}

static int init_take_identity(struct init *in, struct error *e)
{
	const struct plan *p = in->plan;
	const struct oci_process *process = &p->config->process;
	bool filter_needs_admin = in->seccomp.filter && !process->no_new_privileges;

	if (init_try_cwd(in, false, e) < 0 || console_take(&in->console, e) < 0 ||
	    init_give_stdio(in, e) < 0 ||
	    caps_drop_bounding(&p->caps, e) < 0 ||
	    identity_set_groups(&process->user.additional_gids, init_can_set_groups(in), e) < 0 ||
	    identity_set_ids(process->user.uid, process->user.gid, e) < 0)
		return -1;
	if ((filter_needs_admin ? caps_set_for_setup(&p->caps, CAPS_BIT(CAP_SYS_ADMIN), e) :
				  caps_apply_final(&p->caps, e)) < 0)
		return -1;
	if (!in->cwd_is_set && init_try_cwd(in, true, e) < 0)
		return -1;
	if (process->no_new_privileges && identity_set_no_new_privs(e) < 0)
		return -1;
	identity_set_umask(&process->user.umask);
	/* The change of ids has set both back. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

static int init_confine(struct init *in, struct error *e)
{
	return in->plan->config->process.set ? init_take_identity(in, e) : 0;
}

/* While it waits for `start`, others may look at this process: it holds nothing that they lack. */
static int init_drop_fds(struct init *in, struct error *e)
{
	const int keep[] = {in->stage_fd, in->listen_fd, in->proc_dfd, log_fd()};

	if (fd_close_all_but(3 + (int)in->preserve_fds, keep, ARRAY_SIZE(keep)) < 0)
		return err_sys(e, "close descriptors");
	return 0;
}

static int init_report_ready(struct init *in, struct error *e)
{
	if (stage_say(in->stage_fd, STAGE_READY, e) < 0 ||
	    stage_await(in->stage_fd, STAGE_COMMITTED, e) < 0)
		return -1;
	/* The container is on record now, and outlives `create`. */
	if (prctl(PR_SET_PDEATHSIG, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

// clang-format off
static const struct step create_steps[] = {
	/* First: nothing of the caller's terminal, lock or umask, and no life without the parent. */
	{"detach", init_detach_from_caller},
	/* Before any work, so that it is accounted and limited; before the cgroup namespace. */
	{"cgroups", init_join_cgroups},
	/* With the caller's ids, and before any mount is attached. */
	{"sources", init_open_sources},
	{"root-ids", init_become_root},
	{"hide", init_hide},
	{"names", init_set_names},
	{"loopback", init_raise_loopback},
	{"build-root", init_build_root},
	/* Its devpts is there now, and /dev may still be written. */
	{"console", init_open_console},
	/* All mounts are there, the host's tree too. */
	{"runtime-hooks", init_wait_for_runtime_hooks},
	{"container-hooks", init_run_container_hooks},
	{"enter-root", init_enter_root},
	/* Needs a /proc that is ours and not yet covered. */
	{"proc", init_write_proc},
	/* Nothing of ours writes below the root any more. */
	{"finish-root", init_finish_root},
	/* While capabilities are still there to raise limits. */
	{"limits", init_set_limits},
	{"keyring", init_new_keyring},
	/* The last of create: what follows runs with the payload's rights. */
	{"confine", init_confine},
	{"drop-fds", init_drop_fds},
	{"ready", init_report_ready},
};
// clang-format on

/* ---- start ---- */

/* Whoever may connect to the socket in the state directory may start the container. */
static int init_await_start(struct init *in)
{
	struct error from;
	int kind, fd;

	do
		fd = accept4(in->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	/* A `start` that died before it said go has unlinked the socket: nobody else will come. */
	if (fd < 0 || msg_recv(fd, &kind, &from, NULL) <= 0 || kind != STAGE_START)
		_exit(1);
	fd_close(&in->listen_fd);
	return fd;
}

static int init_keep_fds(const struct init *in, struct error *e)
{
	unsigned int fd;

	for (fd = 3; fd < 3 + in->preserve_fds; fd++)
		if (fcntl((int)fd, F_SETFD, 0) < 0)
			return err_sys(e, "--preserve-fds: descriptor %u", fd);
	return 0;
}

static int init_label(struct init *in, struct error *e)
{
	autoclose int self_dfd = -1;

	if (!in->plan->lsm.apparmor_profile && !in->plan->lsm.selinux_label)
		return 0;
	self_dfd = proc_openat(in->proc_dfd, "self/", O_PATH | O_DIRECTORY);
	if (self_dfd < 0)
		return err_sys(e, "open /proc/self");
	return lsm_set_exec(self_dfd, &in->plan->lsm, e);
}

static int init_run_start_hooks(struct init *in, const struct strings *env, struct error *e)
{
	const struct oci_hook_list *hooks = &in->plan->config->hooks.start_container;

	if (!hooks->n || !in->record)
		return 0;
	return hooks_run(hooks, "startContainer", init_state(in, STATUS_CREATED), env, e);
}

/* The end: after the filter nothing but execve and, if that fails, the report. */
static int init_execute(struct init *in, int start_fd, struct error *e)
{
	const struct oci_process *process = &in->plan->config->process;
	struct strings env = program_env(process, in->listen_fds, in->arena);
	struct listener_page *page = NULL;
	int listener_fd = -1;
	char *path;

	if (init_run_start_hooks(in, &env, e) < 0 ||
	    program_find(process->args.v[0], &env, in->arena, &path, e) < 0 ||
	    init_label(in, e) < 0 || init_keep_fds(in, e) < 0 || identity_reset_signals(e) < 0)
		return -1;
	log_close();
	if (in->seccomp.notify && !(page = listener_offer(start_fd, e)))
		return -1;
	/* execve makes us traceable before it closes what is close-on-exec (rule R3). */
	if (fd_close_all_but(3 + (int)in->preserve_fds, &start_fd, 1) < 0)
		return err_sys(e, "close descriptors");
	if (stage_say(start_fd, STAGE_EXECUTING, e) < 0)
		return -1;
	if (identity_set_rlimits(&in->plan->rlimits, e) < 0)
		return -1;
	if (seccomp_program_load(&in->seccomp, &listener_fd, e) < 0)
		return -1;
	if (page && listener_hand_over(page, listener_fd) < 0)
		return err_set(e, ERR_SYSTEM, "linux.seccomp: nobody took the listener");
	execve(path, process->args.v, env.v);
	return program_exec_failed(path, errno, e);
}

/* Runs a table of steps; the first failure is reported to the other side and is the end. */
static void init_run_steps(struct init *in, const struct step *steps, size_t n)
{
	struct error e = {0};
	size_t i;

	in->proc_dfd = -1;
	in->root.dfd = in->root.null_fd = -1;
	in->console.slave_fd = -1;
	for (i = 0; i < n; i++) {
		if (steps[i].run(in, &e) < 0) {
			stage_fail(in->stage_fd, &e);
			_exit(1);
		}
		timing_mark(steps[i].name);
	}
}

__attribute__((noreturn)) static void init_execute_or_die(struct init *in, int report_fd)
{
	struct error e = {0};

	if (init_execute(in, report_fd, &e) < 0)
		stage_fail(report_fd, &e);
	_exit(e.class == ERR_NO_PROGRAM ? 127 : e.class == ERR_NO_EXEC ? 126 : 1);
}

void init_main(void *context)
{
	struct init *in = context;
	int start_fd;

	timing_mark("init: born");
	init_run_steps(in, create_steps, ARRAY_SIZE(create_steps));
	fd_close(&in->stage_fd);
	start_fd = init_await_start(in);
	timing_mark("init: started");
	init_execute_or_die(in, start_fd);
}

/* ---- a further process ---- */

/* Before it can be seen from inside: not traceable, and in the container's cgroups, which is what
 * ends it together with the container. */
int join_enter(void *context, int sock, struct error *e)
{
	struct join *j = context;
	const int keep[] = {sock, j->init.stage_fd, j->init.console_fd, log_fd()};

	store_close(j->init.store);
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	if (j->affinity_initial && sched_setaffinity(0, sizeof(cpu_set_t), j->affinity_initial) < 0)
		return err_sys(e, "process.execCPUAffinity.initial");
	if (cgroup_join(&j->init.cgroup, e) < 0)
		return -1;
	cgroup_handle_close(&j->init.cgroup);
	if (j->namespaces && setns(j->init_pidfd, j->namespaces) < 0)
		return err_sys(e, "join the container's namespaces");
	if (j->root_dfd >= 0 && (fchdir(j->root_dfd) < 0 || chroot(".") < 0 || chdir("/") < 0))
		return err_sys(e, "enter the container's root");
	if (fd_close_all_but(3 + (int)j->init.preserve_fds, keep, ARRAY_SIZE(keep)) < 0)
		return err_sys(e, "close descriptors");
	return 0;
}

static int join_detach(struct init *in, struct error *e)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NAME, "sbxrun:exec") < 0)
		return err_sys(e, "prctl");
	if (setsid() < 0)
		return err_sys(e, "setsid");
	umask(0);
	(void)in;
	return 0;
}

static int join_schedule(struct init *in, struct error *e)
{
	const struct join *j = (const struct join *)in;

	if (identity_reset_scheduler(e) < 0)
		return -1;
	if (j->affinity_final && sched_setaffinity(0, sizeof(cpu_set_t), j->affinity_final) < 0)
		return err_sys(e, "process.execCPUAffinity.final");
	return 0;
}

static int join_open_console(struct init *in, struct error *e)
{
	autoclose int root_dfd = -1;

	if (in->console_fd < 0)
		return 0;
	root_dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_dfd < 0)
		return err_sys(e, "open the container's root");
	if (console_open(root_dfd, &in->plan->config->process.console_size, in->console_fd,
			 &in->console, e) < 0)
		return -1;
	fd_close(&in->console_fd);
	return 0;
}

static int join_write_proc(struct init *in, struct error *e)
{
	if (!in->plan->config->process.oom_score_adj.set && !in->plan->lsm.apparmor_profile &&
	    !in->plan->lsm.selinux_label)
		return 0;
	in->proc_dfd = proc_open(e);
	if (in->proc_dfd < 0)
		return -1;
	return init_write_oom_score(in, e);
}

/* The program outlives whoever called exec. */
static int join_release(struct init *in, struct error *e)
{
	(void)in;
	return prctl(PR_SET_PDEATHSIG, 0) < 0 ? err_sys(e, "prctl") : 0;
}

// clang-format off
static const struct step exec_steps[] = {
	{"detach", join_detach},
	{"scheduler", join_schedule},
	{"root-ids", init_become_root},
	{"hide", init_hide},
	{"console", join_open_console},
	{"proc", join_write_proc},
	{"limits", init_set_limits},
	{"keyring", init_new_keyring},
	{"confine", init_confine},
	{"release", join_release},
};
// clang-format on

void join_main(void *context)
{
	struct join *j = context;

	timing_mark("exec: born");
	init_run_steps(&j->init, exec_steps, ARRAY_SIZE(exec_steps));
	init_execute_or_die(&j->init, j->init.stage_fd);
}
