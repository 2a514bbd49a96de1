/*
 * The payload's identity, and the last steps before it runs: what init and further processes (exec)
 * have in common. The order of both is in the tables of init.c and join.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "filter/seccomp_eval.h"
#include "init/format.h"
#include "init/listener.h"
#include "init/program.h"
#include "init/stage.h"
#include "init/steps.h"
#include "init/streams.h"
#include "reaper/order.h"
#include "security/caps.h"
#include "security/identity.h"
#include "security/landlock.h"
#include "security/lsm.h"
#include "security/seccomp_install.h"
#include "sys/proc.h"
#include "sys/sys.h"

/* Root of the user namespace, so that what is made in the container belongs to it. */
int init_become_root(struct init *in, struct error *e)
{
	if (!in->plan->owns_userns && !plan_join(in->plan, OCI_NS_USER))
		return 0;
	/* With an ordinary user's single mapping the kernel denies setgroups, and the caller's
	 * groups stay. */
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
int init_hide(struct init *in, struct error *e)
{
	(void)in;
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

int init_write_oom_score(struct init *in, struct error *e)
{
	const struct opt_i32 *value = &in->plan->program.oom_score_adj;

	if (!value->set)
		return 0;
	return identity_set_oom_score_adj(in->own.proc_dfd, 0, value->v, e);
}

bool init_is_given_scheduler(const struct init *in)
{
	return in->way.forks_program && in->plan->scheduler.set &&
	       in->plan->scheduler.ends_with_fork;
}

int init_set_limits(struct init *in, struct error *e)
{
	const struct plan *p = in->plan;

	if (identity_set_personality(&p->personality, e) < 0 ||
	    identity_set_memory_policy(&p->memory_policy, e) < 0 ||
	    (!init_is_given_scheduler(in) && identity_set_scheduler(0, &p->scheduler, e) < 0) ||
	    identity_set_io_priority(&p->io_priority, e) < 0)
		return -1;
	if (p->no_write_execute && identity_deny_write_execute(e) < 0)
		return -1;
	return identity_raise_rlimits(&p->rlimits, e);
}

int init_new_keyring(struct init *in, struct error *e)
{
	int skipped = 0;

	if (in->plan->keeps_keyring)
		return 0;
	if (identity_new_keyring(&skipped, e) < 0)
		return -1;
	/* There are none to be had, the caller's neither. */
	if (skipped)
		log_debug("no session keyring: %s", err_text(skipped));
	return 0;
}

/* Rule R4: a directory that is found inside the root; a magic link could lead out of it. */
static int init_try_cwd(struct init *in, bool last, struct error *e)
{
	const char *cwd = in->plan->program.cwd;
	autoclose int root_dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = resolve_open(root_dfd, cwd, O_PATH | O_DIRECTORY);
	char now[4096];

	/* "/missing/../tmp": what was made for it is what the text means without looking. */
	if (fd < 0 && errno == ENOENT)
		fd = resolve_open(root_dfd, path_clean(in->arena, cwd), O_PATH | O_DIRECTORY);
	if (fd < 0 || fchdir(fd) < 0) {
		if (!last && (errno == EACCES || errno == EPERM))
			return 0;
		return err_sys(e, "process.cwd: chdir to \"%s\"", cwd);
	}
	if (!getcwd(now, sizeof(now)) || now[0] != '/')
		return err_set(e, ERR_CONFIG, "process.cwd: \"%s\" is outside the container's root",
			       cwd);
	in->own.cwd_is_set = true;
	return 0;
}

/* An ordinary user's single mapping comes with setgroups denied; the caller's groups stay then.
 * Asked of the kernel, for no /proc that this process sees can be believed. */
static bool init_can_set_groups(const struct init *in)
{
	return in->plan->by_machine_root || setgroups(0, NULL) == 0 || errno != EPERM;
}

bool init_filter_needs_admin(const struct init *in)
{
	return in->plan->filter.filter && !in->plan->program.no_new_privs;
}

int init_take_identity(struct init *in, struct error *e)
{
	const struct plan *p = in->plan;
	const struct program_plan *program = &p->program;

	if (init_try_cwd(in, false, e) < 0 || console_use(&in->own.console, e) < 0)
		return -1;
	if (streams_settle(program->uid, in->own.console.in_use, e) < 0 ||
	    caps_reset_securebits(e) < 0 || caps_drop_bounding(&p->caps, e) < 0 ||
	    identity_set_groups(&program->gids, init_can_set_groups(in), e) < 0 ||
	    identity_set_ids(program->uid, program->gid, e) < 0)
		return -1;
	if ((init_filter_needs_admin(in) ?
		     caps_set_for_setup(&p->caps, CAPS_BIT(CAP_SYS_ADMIN), e) :
		     caps_apply_final(&p->caps, e)) < 0)
		return -1;
	if (!in->own.cwd_is_set && init_try_cwd(in, true, e) < 0)
		return -1;
	if (program->no_new_privs && identity_set_no_new_privs(e) < 0)
		return -1;
	identity_set_umask(&program->umask);
	/* The change of ids has set both back. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

/* Init looks as the payload's own user, and while `create` or `exec` can still say that the program
 * isn't there: engines clean up after a failed create, but not after a failed start. */
int init_find_program(struct init *in, struct error *e)
{
	const struct program_plan *program = &in->plan->program;

	in->own.env = program_env(program, in->arena);
	if (in->reaper.program_comes) {
		in->own.program = program->args.v[0];
		return 0;
	}
	if (program_find(program->args.v[0], &in->own.env, in->arena, &in->own.program, e) < 0)
		return -1;
	log_debug("program: %s", in->own.program);
	return 0;
}

int init_check_abi(const struct init *in, struct error *e)
{
	const char *word = in->plan->guard.native_only ? format_foreign(in->own.program) : NULL;

	if (!word)
		return 0;
	return err_set(
		e, ERR_NO_EXEC,
		"exec: \"%s\": policy %s refuses programs of %s [foreign-abi]; to allow it, an "
		"administrator gives \"foreign-abi\": \"as-asked\" to a policy in "
		"/etc/sbxrun/policy.json, or runs this with --policy oci",
		in->own.program, in->plan->guard.policy, word);
}

static int init_keep_fds(const struct init *in, struct error *e)
{
	unsigned int fd;

	for (fd = 3; fd < 3 + in->io.preserve_fds; fd++)
		if (fcntl((int)fd, F_SETFD, 0) < 0)
			return err_sys(e, "--preserve-fds: descriptor %u", fd);
	return 0;
}

static int init_label(struct init *in, struct error *e)
{
	autoclose int self_dfd = -1;

	if (!in->plan->lsm.apparmor_profile && !in->plan->lsm.selinux_label)
		return 0;
	self_dfd = proc_openat(in->own.proc_dfd, "self/", O_PATH | O_DIRECTORY);
	if (self_dfd < 0)
		return err_sys(e, "open /proc/self");
	return lsm_set_exec(self_dfd, &in->plan->lsm, e);
}

/* The reaper's socket passes the exec; its file does not. */
static int init_keep_control(const struct init *in, struct error *e)
{
	if (in->reaper.control_fd >= 0 && fcntl(in->reaper.control_fd, F_SETFD, 0) < 0)
		return err_sys(e, "keep the socket of the first process");
	return 0;
}

/* Takes away what execve passes on. */
int init_clear_inheritance(struct init *in, int next_fd, struct error *e)
{
	const int keep[] = {in->talk.stage_fd, next_fd, in->reaper.control_fd, in->reaper.file_fd};

	/* Landlock comes behind the label, which is written to a file, and before the filter, which
	 * closes its calls. */
	if (init_label(in, e) < 0 || landlock_confine(&in->plan->landlock, e) < 0 ||
	    init_keep_fds(in, e) < 0 || init_keep_control(in, e) < 0 ||
	    identity_reset_signals(e) < 0)
		return -1;
	log_close();
	/* execve makes us traceable before it closes what is close-on-exec (rule R3). */
	if (fd_close_all_but(3 + (int)in->io.preserve_fds, keep, ARRAY_SIZE(keep)) < 0)
		return err_sys(e, "close descriptors");
	in->own.proc_dfd = in->host.pid_ns.fd = -1;
	return 0;
}

int init_check_filter(const struct init *in, struct error *e)
{
	const struct {
		int number;
		const char *name;
	} calls[] = {{SYS_execve, "execve"}, {SYS_execveat, "execveat"}};
	size_t i, n = in->reaper.file_fd >= 0 ? 2 : 1;

	for (i = 0; i < n && in->plan->filter.filter; i++)
		if (bpf_forbids_always(in->plan->filter.filter, in->plan->filter.len,
				       calls[i].number))
			return err_set(
				e, ERR_CONFIG,
				"linux.seccomp: the filter forbids %s, which starts the program: allow it",
				calls[i].name);
	return 0;
}

enum when {
	ALWAYS,
	WAITS,	  /* for `start` */
	BORN,	  /* the program is a child of the process that loads the filter */
	RIGHTS,	  /* there is one to give up once the filter is loaded */
	LIMITS,	  /* process.rlimits */
	SOCKETS,  /* LISTEN_PID is made up at the end */
	PARENT,	  /* the child waits for it: a listener must be served, a scheduler set */
	TERMINAL,
	REAPED,	  /* the program is the reaper's child */
	WHENS
};

/* All that is called between an early filter and execve. */
static const struct last_call {
	enum when when;
	int number;
	const char *name;
	uint64_t args[2]; /* for those that a filter may judge by them: BORN and TERMINAL */
} last_calls[] = {
	{ALWAYS, SYS_close, "close"},
	{ALWAYS, SYS_sendmsg, "sendmsg"},
	{ALWAYS, SYS_exit_group, "exit_group"},
	{WAITS, SYS_accept4, "accept4"},
	{WAITS, SYS_recvmsg, "recvmsg"},
	{WAITS, SYS_prctl, "prctl"},
	{BORN, SYS_clone, "clone", {CLONE_PARENT | CLONE_PIDFD}},
	{BORN, SYS_setsid, "setsid"},
	{RIGHTS, SYS_capset, "capset"},
	{LIMITS, SYS_prlimit64, "prlimit64"},
	{SOCKETS, SYS_getpid, "getpid"},
	{SOCKETS, SYS_brk, "brk"},
	{SOCKETS, SYS_mmap, "mmap"},
	{PARENT, SYS_recvmsg, "recvmsg"},
	{TERMINAL, SYS_ioctl, "ioctl", {0, TIOCSCTTY}},
	{REAPED, SYS_brk, "brk"},
	{REAPED, SYS_mmap, "mmap"},
};

const char *init_filter_obstacle(const struct init *in)
{
	const struct program_plan *program = &in->plan->program;
	const bool now[WHENS] = {
		[ALWAYS] = true,
		[WAITS] = in->talk.listen_fd >= 0,
		[BORN] = in->way.forks_program,
		[RIGHTS] = init_filter_needs_admin(in),
		[LIMITS] = in->plan->rlimits.n > 0,
		[SOCKETS] = in->io.listen_fds > 0,
		[PARENT] =
			in->plan->filter.notify || in->way.watched || init_is_given_scheduler(in),
		[TERMINAL] = program->terminal,
		[REAPED] = in->reaper.file_fd >= 0,
	};
	const struct last_call *c;

	for (c = last_calls; c < last_calls + ARRAY_SIZE(last_calls); c++) {
		const uint64_t args[6] = {c->args[0], c->args[1]};

		if (!now[c->when])
			continue;
		if (args[0] || args[1] ? !bpf_allows(in->plan->filter.filter, in->plan->filter.len,
						     c->number, args) :
					 !bpf_allows_always(in->plan->filter.filter,
							    in->plan->filter.len, c->number))
			return c->name;
	}
	return NULL;
}

/* A process in somebody else's pid namespace may be traced there with the host's rights. And an
 * ordinary user's parent takes a listener from, or watches, only who may be traced by others. */
static bool init_must_have_filter(const struct init *in)
{
	return in->way.forks_program &&
	       (in->host.pid_ns.joined ||
		((in->plan->filter.notify || in->way.watched) && !in->plan->by_machine_root));
}

/*
 * The kernel checks and compiles a filter when it is loaded, which takes longer than the rest of
 * `start`. Loaded now, it also ends the one right that was kept for it, before this process is in
 * anyone's sight. A listener comes with `start`, but for a process that others can see before that.
 */
int init_load_filter_early(struct init *in, struct error *e)
{
	autoclose int listener_fd = -1;
	const char *call;

	if (!in->plan->program.set || !in->plan->filter.filter ||
	    (in->plan->filter.notify && !in->way.forks_program))
		return 0;
	call = init_filter_obstacle(in);
	if (call && init_must_have_filter(in))
		return init_refuse_late_filter(call, e);
	if (call)
		return 0;
	if (seccomp_install(&in->plan->filter, &listener_fd, e) < 0)
		return -1;
	in->own.filter_is_loaded = true;
	if (init_filter_needs_admin(in) && caps_give_up(&in->plan->caps, e) < 0)
		return -1;
	return in->plan->filter.notify ? listener_send(in->talk.stage_fd, &listener_fd, e) : 0;
}

int init_refuse_late_filter(const char *call, struct error *e)
{
	return err_set(
		e, ERR_CONFIG,
		"linux.seccomp: the filter does not simply allow %s, so it can only be loaded when the "
		"process is in sight of others, and one of them with CAP_SYS_PTRACE could take it over "
		"before: allow %s, or give the container a user and a pid namespace of its own",
		call, call);
}

/* The reaper executes the program; before the filter, which may know no memory to be had. */
static char **init_reaper_args(const struct init *in)
{
	const struct strings *args = &in->plan->program.args;
	char **v = arena_array(in->arena, args->n + 4, char *);

	v[0] = arena_strdup(in->arena, "reaper");
	v[1] = in->reaper.control_fd < 0 ? arena_strdup(in->arena, REAPER_WAITS) :
					   arena_printf(in->arena, "%d", in->reaper.control_fd);
	if (in->reaper.control_fd < 0)
		return v;
	v[2] = in->own.program;
	memcpy(v + 3, args->v, args->n * sizeof(*v));
	return v;
}

/* An ordinary user traces nobody who hides; as with a listener's page, this process has the
 * payload's rights and nothing open by now. Who it is that watches, it need not know. */
static int init_wait_for_watcher(const struct init *in, int report_fd, struct error *e)
{
	if (!in->way.watched)
		return 0;
	if (!in->plan->by_machine_root && prctl(PR_SET_DUMPABLE, 1) < 0)
		return err_sys(e, "prctl");
	return stage_say(report_fd, STAGE_WATCH, e) < 0 ? -1 :
							  stage_await(report_fd, STAGE_START, e);
}

/* The end: after the filter nothing but execve and, if that fails, the report. */
static int init_execute(struct init *in, int report_fd, struct error *e)
{
	bool listens = in->plan->filter.notify && !in->own.filter_is_loaded;
	struct listener_page *page = NULL;
	char **reaper = in->reaper.file_fd >= 0 ? init_reaper_args(in) : NULL;
	int listener_fd = -1;

	program_env_add_sockets(&in->own.env, in->io.listen_fds, in->arena);
	if (init_wait_for_watcher(in, report_fd, e) < 0)
		return -1;
	if (listens && (!(page = listener_offer(report_fd, e)) ||
			listener_set_deadline(page, report_fd, e) < 0))
		return -1;
	if (stage_say(report_fd, STAGE_EXECUTING, e) < 0 ||
	    identity_set_rlimits(&in->plan->rlimits, e) < 0)
		return -1;
	/* An ordinary user's parent takes nothing from a hidden process. This one has the payload's
	 * rights and nothing open by now, and execve is about to uncover it anyway. Before the
	 * filter, which may ask about prctl, too. */
	if (page && !in->plan->by_machine_root && prctl(PR_SET_DUMPABLE, 1) < 0)
		return err_sys(e, "prctl");
	if (!in->own.filter_is_loaded && seccomp_install(&in->plan->filter, &listener_fd, e) < 0)
		return -1;
	if (page)
		listener_hand_over(page, listener_fd,
				   bpf_allows_always(in->plan->filter.filter, in->plan->filter.len,
						     SYS_futex));
	if (reaper)
		syscall(SYS_execveat, in->reaper.file_fd, "", reaper, in->own.env.v, AT_EMPTY_PATH);
	else
		execve(in->own.program, in->plan->program.args.v, in->own.env.v);
	return program_exec_failed(in->own.program, errno, e);
}

void init_execute_or_die(struct init *in, int report_fd)
{
	struct error e = {0};

	if (init_execute(in, report_fd, &e) < 0)
		stage_fail(report_fd, &e);
	_exit(e.class == ERR_NO_PROGRAM ? 127 : e.class == ERR_NO_EXEC ? 126 : 1);
}
