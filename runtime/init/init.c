/*
 * The table of create's steps: each row says why it stands where it does. What follows `start`, and
 * what a further process shares with init, is in confine.c. Until the parent has committed the
 * container, the end of the stage socket means that the parent died, and init ends with it.
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/timing.h"
#include "init/format.h"
#include "init/hooks.h"
#include "init/program.h"
#include "init/stage.h"
#include "init/steps.h"
#include "init/streams.h"
#include "security/identity.h"
#include "sys/msg.h"
#include "sys/proc.h"
#include "sys/self.h"
#include "sys/sys.h"

enum { START_TRIES = 100 };

struct step {
	const char *name;
	int (*run)(struct init *in, struct error *e);
};

/* ---- what only init has to do ---- */

static int init_detach_from_caller(struct init *in, struct error *e)
{
	/* The lock on the state lives as long as any copy of its descriptor, and so
	 * does a socket. */
	store_close(in->host.store);
	fd_close(&in->talk.parent_fd);
	self_forget_words();
	if (in->io.streams && streams_take(in->io.streams, e) < 0)
		return -1;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NAME, INIT_NAME) < 0)
		return err_sys(e, "prctl");
	if (setsid() < 0)
		return err_sys(e, "setsid");
	umask(0);
	return 0;
}

static int init_join_cgroups(struct init *in, struct error *e)
{
	if (cgroup_join(&in->host.cgroup, e) < 0)
		return -1;
	cgroup_handle_close(&in->host.cgroup);
	if (in->way.make_cgroup_ns && unshare(CLONE_NEWCGROUP) < 0)
		return err_sys(e, "linux.namespaces: make a cgroup namespace");
	return identity_reset_scheduler(e);
}

static int init_open_sources(struct init *in, struct error *e)
{
	if (in->io.console_fd < 0)
		streams_close_modes();
	return sources_open(in->plan, &in->host.sources, e);
}

bool init_is_given_oom_score(const struct plan *p)
{
	return p->program.oom_score_adj.set && p->by_machine_root &&
	       (p->owns_userns || plan_join(p, OCI_NS_USER));
}

static int init_set_oom_score(struct init *in, struct error *e)
{
	if (!in->plan->program.oom_score_adj.set || init_is_given_oom_score(in->plan))
		return 0;
	/* The host's will do, if it shows us: one of our own costs as much as ten mounts. */
	in->own.proc_dfd = proc_open_host(e);
	if (in->own.proc_dfd >= 0 && init_write_oom_score(in, e) == 0) {
		if (!in->plan->sysctls.n)
			fd_close(&in->own.proc_dfd);
		return 0;
	}
	fd_close(&in->own.proc_dfd);
	in->own.proc_dfd = proc_open(e);
	return in->own.proc_dfd < 0 ? -1 : init_write_oom_score(in, e);
}

static int init_set_names(struct init *in, struct error *e)
{
	const struct plan *p = in->plan;

	if (p->hostname && sethostname(p->hostname, strlen(p->hostname)) < 0)
		return err_sys(e, "hostname");
	if (p->domainname && setdomainname(p->domainname, strlen(p->domainname)) < 0)
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
	const struct program_plan *program = &in->plan->program;
	auto_in_root struct in_root cwd = IN_ROOT_NONE;

	in->host.sources.pid_ns_fd = in->host.pid_ns.fd;
	in->host.sources.pid_ns_entered = in->host.pid_ns.entered;
	if (rootfs_build(in->plan, &in->host.sources, &in->own.root, e) < 0)
		return -1;
	sources_close(in->plan, &in->host.sources);
	/* Engines count on a working directory that the image lacks being made. */
	if (program->set && resolve_make(&in->own.root.mounted, path_clean(in->arena, program->cwd),
					 true, &cwd, e) < 0)
		return err_wrap(e, "process.cwd");
	return 0;
}

static int init_open_console(struct init *in, struct error *e)
{
	const struct program_plan *program = &in->plan->program;
	bool mounted = in->own.root.pts_dfd >= 0;

	if (in->io.console_fd < 0)
		return 0;
	/* On the mount rather than by its name, which somebody could have exchanged. */
	if (console_open(mounted ? in->own.root.pts_dfd : in->own.root.dfd,
			 mounted ? "ptmx" : CONSOLE_PTMX, &program->console_size,
			 in->io.terminal_is_relayed, in->io.console_fd, &in->own.console, e) < 0)
		return -1;
	fd_close(&in->io.console_fd);
	return console_bind(&in->own.root, &in->own.console, e);
}

static int init_wait_for_parent(struct init *in, struct error *e)
{
	if (!in->way.parent_acts)
		return 0;
	if (stage_say(in->talk.stage_fd, STAGE_MOUNTED, e) < 0)
		return -1;
	return stage_await(in->talk.stage_fd, STAGE_HOOKS_RUN, e);
}

static const char *init_state(const struct init *in, enum status status)
{
	return record_state_text(in->record, status, getpid(), in->arena);
}

static int init_run_container_hooks(struct init *in, struct error *e)
{
	const struct oci_hook_list *hooks = &in->plan->hooks.create_container;

	/* Programs of the host, with the host's tree: nobody inside may get hold of them. */
	if (hooks->n && in->host.pid_ns.entered)
		return err_set(
			e, ERR_CONFIG,
			"hooks.createContainer: they would run in sight of those in %s, and a process with "
			"CAP_SYS_PTRACE there could take them over: join a pid namespace that belongs to "
			"the container's user namespace, or do it in createRuntime",
			plan_join(in->plan, OCI_NS_PID)->path);
	return hooks->n ? hooks_run(hooks, "createContainer", init_state(in, STATUS_CREATED),
				    &(struct hook_setting){.dfd = &in->own.root.dfd,
							   .trust_policy =
								   in->plan->guard.hooks ?
									   in->plan->guard.policy :
									   NULL},
				    e) :
			  0;
}

static int init_enter_root(struct init *in, struct error *e)
{
	return rootfs_enter(in->plan, &in->own.root, e);
}

static int init_write_sysctls(struct init *in, struct error *e)
{
	const struct sysctl_plan *s = in->plan->sysctls.v, *end = s + in->plan->sysctls.n;

	for (; s < end; s++)
		if (proc_write(in->own.proc_dfd, s->path, s->value) < 0)
			return err_sys(e, "linux.sysctl: write %s", s->key);
	return 0;
}

/* Writes through the host's procfs, if it was opened and nothing lies on the files, or else through
 * a private one, for the image may have put anything on its own /proc. Before the masks, which
 * cover parts of /proc, and while init may still mount. The host's is of no use to anybody
 * afterwards: it is closed at once. */
static int init_write_proc(struct init *in, struct error *e)
{
	const bool labels = in->plan->lsm.apparmor_profile || in->plan->lsm.selinux_label;
	const bool written = in->own.proc_dfd >= 0 && init_write_sysctls(in, e) == 0;

	fd_close(&in->own.proc_dfd);
	if (!labels && (written || !in->plan->sysctls.n))
		return 0;
	in->own.proc_dfd = proc_open(e);
	if (in->own.proc_dfd < 0)
		return -1;
	return written ? 0 : init_write_sysctls(in, e);
}

static int init_finish_root(struct init *in, struct error *e)
{
	int result = rootfs_finish(in->plan, &in->own.root, e);

	rootfs_close(&in->own.root);
	return result;
}

/* From here on, children are born into it. */
static int init_enter_pid_ns(struct init *in, struct error *e)
{
	if (in->host.pid_ns.fd >= 0 && !in->host.pid_ns.entered &&
	    setns(in->host.pid_ns.fd, CLONE_NEWPID) < 0)
		return err_sys(e, "linux.namespaces: join pid namespace %s",
			       plan_join(in->plan, OCI_NS_PID)->path);
	return 0;
}

/* Hooks of start come before the filter, which only the program gets; unless others may see init
 * before. */
static bool init_has_start_hooks(const struct init *in)
{
	return in->plan->hooks.start_container.n > 0;
}

/* The image itself is at fault, and still will be at start. */
static bool init_is_fault_of_image(const struct init *in, int why)
{
	/* The last two: a loader that is shorter than its header, or lies behind the end of all
	 * files. */
	static const int faults[] = {ENOENT, ENOTDIR, EACCES, ENOEXEC, ELIBBAD, ELOOP, EIO, EINVAL};
	size_t i;

	/* The program's label may have rights that this process lacks. */
	if (why == EACCES && (in->plan->lsm.apparmor_profile || in->plan->lsm.selinux_label))
		return false;
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (why == faults[i])
			return true;
	return false;
}

/* A program that can't be executed fails here rather than at start. Hooks of start may yet mend it;
 * and where a child would be seen by others, none is made. */
static int init_check_program(const struct init *in, struct error *e)
{
	int why;

	if (init_has_start_hooks(in) || in->reaper.program_comes)
		return 0;
	if (init_check_abi(in, e) < 0)
		return -1;
	if (in->way.forks_program || format_is_plain(in->own.program))
		return 0;
	why = format_try(in->own.program, in->plan->program.args.v, in->own.env.v);
	log_debug("init: tried to execute %s: %s", in->own.program,
		  why < 0 ? "could not be tried" : err_text(why));
	return why > 0 && init_is_fault_of_image(in, why) ?
		       program_exec_failed(in->own.program, why, e) :
		       0;
}

static int init_confine(struct init *in, struct error *e)
{
	if (!in->plan->program.set)
		return 0;
	if (init_take_identity(in, e) < 0 || init_find_program(in, e) < 0)
		return -1;
	return init_check_program(in, e);
}

static void init_end_by_signal(int sig)
{
	_exit(128 + sig);
}

/* The first process of a pid namespace is deaf to what it has no handler for; a created container
 * is to end all the same when it is told to. execve() takes the handlers away. */
static void init_heed_signals(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	const struct sigaction end = {.sa_handler = init_end_by_signal};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &end, NULL);
}

/* While it waits for `start`, others may look at this process, and hooks of start are programs of
 * the image that can: it holds nothing that they lack. And what is done here, `start` need not wait
 * for. */
static int init_settle(struct init *in, struct error *e)
{
	if (init_clear_inheritance(in, in->talk.listen_fd, e) < 0)
		return -1;
	init_forget(in);
	init_heed_signals();
	return init_has_start_hooks(in) && !in->way.forks_program ? 0 :
								    init_load_filter_early(in, e);
}

/* Nobody else knows who the child is, so without this there must be none. The filter may be loaded
 * and not let us kill: then it ends when the parent does. */
__attribute__((noreturn)) static void init_announce_birth(const struct init *in, pid_t pid,
							  int pidfd)
{
	struct error e = {0};

	if (msg_send(in->talk.stage_fd, STAGE_BORN, NULL, pidfd) == 0)
		_exit(0);
	err_sys(&e, "tell the parent who its child is");
	stage_fail(in->talk.stage_fd, &e);
	kill(pid, SIGKILL);
	_exit(1);
}

/*
 * In a pid namespace of others, nothing of ours was to be seen so far. Now the launcher has the
 * process born that becomes the program: a child of the parent, which goes on with this table and
 * has nothing that the others could want to take over. The newborn says nothing before the parent
 * knows of it: both processes talk on one socket, and either may be the faster.
 */
static int init_be_born(struct init *in, struct error *e)
{
	int pidfd = -1;
	pid_t pid;

	if (!in->way.forks_program)
		return 0;
	pid = sys_clone_sibling(0, &pidfd);
	if (pid < 0 && errno == EAGAIN)
		return err_set(
			e, ERR_SYSTEM,
			"clone into the pid namespace: %s (a container that joins one needs room for "
			"two processes while it is created: linux.resources.pids.limit)",
			err_text(errno));
	if (pid < 0 && errno == ENOMEM)
		return err_set(
			e, ERR_SYSTEM,
			"clone into the pid namespace: %s (the kernel also says so when the first "
			"process of the namespace has ended)",
			err_text(errno));
	if (pid < 0)
		return err_sys(e, "clone into the pid namespace");
	if (pid > 0)
		init_announce_birth(in, pid, pidfd);
	if (stage_await(in->talk.stage_fd, STAGE_BORN, e) < 0)
		return -1;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(e, "prctl");
	if (setsid() < 0)
		return err_sys(e, "setsid");
	return 0;
}

static int init_own_console(struct init *in, struct error *e)
{
	return console_own(&in->own.console, e);
}

static int init_report_ready(struct init *in, struct error *e)
{
	if (stage_say(in->talk.stage_fd, STAGE_READY, e) < 0 ||
	    stage_await(in->talk.stage_fd, STAGE_COMMITTED, e) < 0)
		return -1;
	/* The container is on record now, and outlives `create`. */
	if (prctl(PR_SET_PDEATHSIG, 0) < 0)
		return err_sys(e, "prctl");
	/* By a word, for who may trace this process could keep the socket from ending. */
	return stage_say(in->talk.stage_fd, STAGE_COMMITTED, e);
}

// clang-format off
static const struct step create_steps[] = {
	/* First: nothing of the caller's terminal, lock or umask, and no life without the
	 * parent. */
	{"detach", init_detach_from_caller},
	/* Before any work, so that it is accounted and limited; before the cgroup namespace. */
	{"cgroups", init_join_cgroups},
	/* With the caller's ids, and before any mount is attached. */
	{"sources", init_open_sources},
	/* Before the process hides or changes its ids: then the file is root's, and others can't
	 * write it. */
	{"oom-score", init_set_oom_score},
	{"root-ids", init_become_root},
	{"hide", init_hide},
	{"names", init_set_names},
	{"loopback", init_raise_loopback},
	{"build-root", init_build_root},
	/* Its devpts is there now, and /dev may still be written. */
	{"console", init_open_console},
	/* All mounts are there, the host's tree too. */
	{"runtime-hooks", init_wait_for_parent},
	{"container-hooks", init_run_container_hooks},
	{"enter-root", init_enter_root},
	/* Needs a /proc that is ours and not yet covered. */
	{"proc", init_write_proc},
	/* Nothing of ours writes below the root any more. */
	{"finish-root", init_finish_root},
	/* While capabilities are still there to raise limits. */
	{"limits", init_set_limits},
	{"keyring", init_new_keyring},
	/* The last that needs rights over it; nothing of ours is born between this and be-born. */
	{"pid-ns", init_enter_pid_ns},
	/* Further steps have the payload's rights. */
	{"confine", init_confine},
	/* Nothing is opened, and little is called, any more. */
	{"settle", init_settle},
	{"be-born", init_be_born},
	/* Its session must be that of the process that stays. */
	{"own-console", init_own_console},
	{"ready", init_report_ready},
};
// clang-format on

/* ---- start ---- */

/* A process that may connect to the socket in the state directory may start the container. */
static int init_await_start(struct init *in)
{
	struct error from;
	int kind, fd, got, tries = 0;

	/* `create` has ended, so there is nobody to tell what went wrong: it is tried again. */
	do
		fd = accept4(in->talk.listen_fd, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED || ++tries < START_TRIES));
	do
		got = fd < 0 ? 0 : msg_recv(fd, &kind, &from, NULL);
	while (got < 0 && ++tries < START_TRIES);
	/* A `start` that died before it said go has unlinked the socket: nobody else will come. */
	if (got <= 0 || kind != STAGE_START)
		_exit(1);
	fd_close(&in->talk.listen_fd);
	return fd;
}

/* The first failure is reported to the parent and is the end. */
static void init_run_steps(struct init *in)
{
	struct error e = {0};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(create_steps); i++) {
		log_debug("init: %s", create_steps[i].name);
		if (create_steps[i].run(in, &e) < 0) {
			stage_fail(in->talk.stage_fd, &e);
			_exit(1);
		}
		timing_mark(create_steps[i].name);
	}
}

static int init_run_start_hooks(struct init *in, struct error *e)
{
	const struct oci_hook_list *hooks = &in->plan->hooks.start_container;
	/* CAP_SYS_ADMIN may still be here, for the filter. */
	const struct hook_setting setting = {
		.env = &in->own.env,
		.caps = init_filter_needs_admin(in) && !in->own.filter_is_loaded ? &in->plan->caps :
										   NULL,
	};

	if (!init_has_start_hooks(in))
		return 0;
	return hooks_run(hooks, "startContainer", init_state(in, STATUS_CREATED), &setting, e);
}

void init_main(void *context)
{
	struct init *in = context;
	struct error e = {0};
	int start_fd;

	in->own.proc_dfd = -1;
	in->own.root = ROOTFS_NONE;
	in->own.console.slave_fd = -1;
	timing_mark("init: born");
	init_run_steps(in);
	fd_close(&in->talk.stage_fd);
	start_fd = init_await_start(in);
	timing_mark("init: started");
	if (init_run_start_hooks(in, &e) < 0) {
		stage_fail(start_fd, &e);
		_exit(1);
	}
	init_execute_or_die(in, start_fd);
}
