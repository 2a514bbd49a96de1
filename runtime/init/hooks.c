/*
 * A hook gets a pipe for standard input; what it prints is kept for the error message. Its time is
 * bounded when the config says so; then its process group is killed. A hook that leaves a child
 * behind with its output open is not waited for.
 */
#include "init/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "security/caps.h"
#include "security/identity.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "sys/sys.h"

enum { OUTPUT_MAX = 400, TIMEOUT_MAX = 1000000000, SIGNAL_MS = 200 };

struct hook_run {
	int stdin_fd;  /* our end */
	int output_fd; /* our end */
	int pidfd;
	pid_t pid;
	struct loop_source *printed, *input;
	const char *state;
	size_t state_left;
	char output[OUTPUT_MAX];
	size_t output_len;
};

/* Hooks are often scripts. */
static char default_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static int hook_enter_dir(const struct hook_setting *setting)
{
	if (setting->dfd)
		return fchdir(*setting->dfd);
	return setting->dir && chdir(setting->dir) < 0 ? chdir("/") : 0;
}

/* Opens a file that may run as we do: root's or our own, that nobody else can write. Where root has
 * no id, its files are the overflow id's. */
static int hook_open_trusted(const struct oci_hook *h, const char *policy, struct error *e)
{
	enum { OVERFLOW_ID = 65534 };
	autoclose int fd = open(h->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "%s", h->path);
	if (S_ISREG(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    (st.st_uid == 0 || st.st_uid == geteuid() ||
	     (st.st_uid == OVERFLOW_ID && !sys_is_machine_root())))
		return fd_steal(&fd);
	return err_set(e, ERR_HOOK,
		       "policy %s refuses the hook %s: it belongs to uid %u, with mode %04o, and "
		       "others could change it [hooks]; to allow it, an administrator gives "
		       "\"hooks\": \"as-asked\" to a policy in /etc/sbxrun/policy.json",
		       policy, h->path, st.st_uid, st.st_mode & 07777);
}

/* Runs the file that was judged. An interpreter opens a script by its descriptor's name. */
static void hook_execute(const struct oci_hook *h, int fd, char **args, char **env)
{
	char start[2] = "";

	if (fd < 0) {
		execve(h->path, args, env);
		return;
	}
	if (pread(fd, start, sizeof(start), 0) == 2 && memcmp(start, "#!", 2) == 0)
		fcntl(fd, F_SETFD, 0);
	execveat(fd, "", args, env, AT_EMPTY_PATH);
}

__attribute__((noreturn)) static void hook_child(const struct oci_hook *h,
						 const struct hook_setting *setting,
						 int program_fd, int in_fd, int out_fd)
{
	const struct strings *env = h->env.n ? &h->env : setting->env;
	char *no_args[2] = {h->path, NULL}, *no_env[2] = {default_path, NULL};
	struct error e;

	/* Its own group, so that a time-out reaches what it started. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	umask(022);
	if (identity_reset_signals(&e) < 0 || dup2(in_fd, 0) < 0 || dup2(out_fd, 1) < 0 ||
	    dup2(out_fd, 2) < 0 || fd_cloexec_from(3) < 0 || hook_enter_dir(setting) < 0)
		_exit(126);
	if (setting->caps && caps_apply_without(setting->caps, CAPS_BIT(CAP_SYS_PTRACE), &e) < 0) {
		dprintf(2, "%s", e.text);
		_exit(126);
	}
	hook_execute(h, program_fd, h->args.n ? h->args.v : no_args,
		     env && env->n ? env->v : no_env);
	dprintf(2, "%s", err_text(errno));
	_exit(127);
}

static int hook_spawn(const struct oci_hook *h, const struct hook_setting *setting,
		      struct hook_run *run, struct error *e)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	autoclose int program_fd = -1;

	if (setting->trust_policy &&
	    (program_fd = hook_open_trusted(h, setting->trust_policy, e)) < 0)
		return -1;
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
		err_sys(e, "pipe");
		goto fail;
	}
	/* By the older call: a filter may already be there that makes programs believe that
	 * clone3() isn't. */
	run->pid = sys_fork(&run->pidfd);
	if (run->pid == 0)
		hook_child(h, setting, program_fd, in[0], out[1]);
	if (run->pid < 0) {
		err_sys(e, "clone");
		goto fail;
	}
	fd_close(&in[0]);
	fd_close(&out[1]);
	/* A hook need not read its input: no write of ours may wait for it. */
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	run->stdin_fd = in[1];
	run->output_fd = out[0];
	return 0;
fail:
	fd_close(&in[0]);
	fd_close(&in[1]);
	fd_close(&out[0]);
	fd_close(&out[1]);
	return -1;
}

static int hook_feed(void *context, short events)
{
	struct hook_run *run = context;
	ssize_t n = write(run->stdin_fd, run->state, run->state_left);

	(void)events;
	if (n > 0) {
		run->state += n;
		run->state_left -= (size_t)n;
	}
	if (run->state_left == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		fd_close(&run->stdin_fd);
	run->input->fd = run->stdin_fd;
	return 0;
}

/* The end of what it prints: the reason stands there. */
static void hook_keep(struct hook_run *run, const char *text, size_t len)
{
	const size_t room = sizeof(run->output) - 1;
	size_t old;

	if (len > room) {
		text += len - room;
		len = room;
	}
	old = run->output_len < room - len ? run->output_len : room - len;
	memmove(run->output, run->output + run->output_len - old, old);
	memcpy(run->output + old, text, len);
	run->output_len = old + len;
}

static int hook_drain(void *context, short events)
{
	struct hook_run *run = context;
	char chunk[1024];
	ssize_t n = read(run->output_fd, chunk, sizeof(chunk));
	size_t keep;

	(void)events;
	if (n == 0 || (n < 0 && errno != EINTR)) {
		fd_close(&run->output_fd);
		run->printed->fd = -1;
		return 0;
	}
	keep = n > 0 ? (size_t)n : 0;
	hook_keep(run, chunk, keep);
	return 0;
}

/* It has ended; all that it printed is read first. */
static int hook_see_end(void *context, short events)
{
	const struct hook_run *run = context;

	(void)events;
	return run->output_fd < 0 || !loop_is_ready(run->output_fd, POLLIN, 0);
}

/* Returns false when the time is up, or a signal asks for the end. */
static bool hook_attend(struct hook_run *run, int64_t deadline)
{
	struct loop l = {0};
	struct error ignored;

	run->printed = loop_add(&l, run->output_fd, POLLIN, hook_drain, run);
	run->input = loop_add(&l, run->stdin_fd, POLLOUT, hook_feed, run);
	loop_add(&l, run->pidfd, POLLIN, hook_see_end, run);
	for (;;) {
		int64_t now = loop_now(), look = now + SIGNAL_MS * LOOP_MS;

		if (now >= deadline || patience_check(&ignored) < 0)
			return false;
		if (loop_round(&l, deadline < look ? deadline : look))
			return true;
	}
}

static void hook_finish(struct hook_run *run, bool killed, int *ret_status)
{
	if (killed) {
		kill(-run->pid, SIGKILL);
		kill(run->pid, SIGKILL);
	}
	*ret_status = child_collect(run->pid);
	fd_close(&run->pidfd);
	fd_close(&run->stdin_fd);
	fd_close(&run->output_fd);
}

static int hook_run_one(const struct oci_hook *h, const char *state,
			const struct hook_setting *setting, struct error *e)
{
	struct hook_run run = {.stdin_fd = -1, .output_fd = -1, .pidfd = -1, .state = state,
			       .state_left = strlen(state)};
	int64_t deadline = LOOP_NEVER;
	bool in_time;
	int status = 0;

	/* More than thirty years are as good as none, and can be counted in nanoseconds. */
	if (h->timeout.set)
		deadline = loop_now() +
			   (h->timeout.v < TIMEOUT_MAX ? h->timeout.v : TIMEOUT_MAX) * LOOP_SECOND;
	if (hook_spawn(h, setting, &run, e) < 0)
		return -1;
	in_time = hook_attend(&run, deadline);
	hook_finish(&run, !in_time, &status);
	while (run.output_len && run.output[run.output_len - 1] == '\n')
		run.output[--run.output_len] = '\0';
	if (!in_time && patience_check(e) < 0) {
		e->class = ERR_HOOK;
		return err_wrap(e, "%s", h->path);
	}
	if (!in_time)
		return err_set(e, ERR_HOOK, "%s: timed out after %lld s", h->path,
			       (long long)h->timeout.v);
	if (WIFSIGNALED(status))
		return err_set(e, ERR_HOOK, "%s: killed by signal %d", h->path, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(e, ERR_HOOK, "%s: exit status %d, output: %s", h->path,
			       WEXITSTATUS(status), run.output);
	return 0;
}

static int hook_run_numbered(const struct oci_hook_list *hooks, size_t i, const char *kind,
			     const char *state, const struct hook_setting *setting, struct error *e)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	int result;

	log_debug("hook: %s #%zu: %s", kind, i, hooks->v[i].path);
	/* A hook need not read its input. */
	sigaction(SIGPIPE, &ignore, &old);
	result = hook_run_one(&hooks->v[i], state, setting, e);
	sigaction(SIGPIPE, &old, NULL);
	return result < 0 ? err_wrap(e, "error running %s hook #%zu", kind, i) : 0;
}

int hooks_run(const struct oci_hook_list *hooks, const char *kind, const char *state,
	      const struct hook_setting *setting, struct error *e)
{
	size_t i;

	for (i = 0; i < hooks->n; i++)
		if (hook_run_numbered(hooks, i, kind, state, setting, e) < 0)
			return -1;
	return 0;
}

void hooks_run_all(const struct oci_hook_list *hooks, const char *kind, const char *state,
		   const struct hook_setting *setting, const struct noter *noter)
{
	struct error e;
	size_t i;

	for (i = 0; i < hooks->n; i++)
		if (hook_run_numbered(hooks, i, kind, state, setting, &e) < 0)
			note(noter, "%s", e.text);
}
