/* The table of checks, and the children that carry them out one after the other. */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "doctor/check.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/sys.h"

enum { CHECK_SECONDS = 2, END_MS = 1000 };

static const struct doctor_group *const groups[] = {
	&doctor_kernel,	  &doctor_namespaces, &doctor_ids,    &doctor_cgroups,
	&doctor_security, &doctor_mounts,     &doctor_around, &doctor_engines,
};

static enum doctor_who who_asks(void)
{
	if (geteuid() != 0)
		return WHO_USER;
	return sys_is_machine_root() ? WHO_ROOT : WHO_INNER_ROOT;
}

const char *doctor_caller(void)
{
	switch (who_asks()) {
	case WHO_ROOT:
		return "root";
	case WHO_INNER_ROOT:
		return "root of a user namespace";
	default:
		return "user";
	}
}

const char *doctor_status_word(enum doctor_status s)
{
	static const char *const words[] = {"ok", "warn", "no"};

	return words[s];
}

/* ---- a child ---- */

/* A child sends it in one write that is shorter than PIPE_BUF. */
struct answer {
	int verdict;
	char found[LOOK_TEXT];
	char remedy[LOOK_TEXT];
};

_Static_assert(sizeof(struct answer) <= 4096, "a pipe takes it in one piece");

static void __attribute__((noreturn)) child_main(struct look *l, bool tidy, int out_fd)
{
	struct answer answer = {0};

	/* Its children are ended with it, and it doesn't outlive a doctor who was interrupted. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tidy) {
		l->check->tidy(l);
		_exit(0);
	}
	answer.verdict = l->check->look(l);
	snprintf(answer.found, sizeof(answer.found), "%s", l->found);
	snprintf(answer.remedy, sizeof(answer.remedy), "%s", l->remedy);
	_exit(fd_write_all(out_fd, &answer, sizeof(answer)) < 0);
}

static void child_await(int pidfd, int64_t until)
{
	while (!loop_is_ready(pidfd, POLLIN, until) && loop_now() < until)
		;
}

/* Runs the check, or its tidy(), to its end or to the deadline. 1: *ret is its answer; 0: there is
 * none, and *ret_status says how it ended, -1: by the deadline. */
static int child_run(struct look *l, bool tidy, int seconds, struct answer *ret, int *ret_status,
		     struct error *e)
{
	autoclose int in_fd = -1, out_fd = -1, pidfd = -1;
	int64_t until = loop_now() + seconds * LOOP_SECOND;
	struct error ignored;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "make a pipe");
	in_fd = fds[0];
	out_fd = fds[1];
	pid = sys_fork(&pidfd);
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		child_main(l, tidy, out_fd);
	child_await(pidfd, until);
	if (!loop_is_ready(pidfd, POLLIN, 0)) {
		*ret_status = -1;
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		child_collect_within(pid, END_MS, NULL, &ignored);
		return 0;
	}
	*ret_status = child_collect(pid);
	return read(in_fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
}

/* ---- a check ---- */

static void explain_silence(int seconds, int status, struct answer *a)
{
	a->verdict = LOOK_MISSING;
	if (status == -1)
		snprintf(a->found, sizeof(a->found), "no answer within %d s", seconds);
	else if (WIFSIGNALED(status))
		snprintf(a->found, sizeof(a->found), "the try was ended by signal %d%s",
			 WTERMSIG(status),
			 WTERMSIG(status) == SIGSYS ? ": a seccomp filter around us forbids it" :
						      "");
	else
		snprintf(a->found, sizeof(a->found), "the try ended with status %d",
			 WEXITSTATUS(status));
}

static enum doctor_status status_of(const struct doctor_check *c, enum doctor_who who, int verdict)
{
	if (verdict == LOOK_FINE)
		return DOCTOR_OK;
	return verdict == LOOK_MISSING && (c->needed_for & who) ? DOCTOR_NO : DOCTOR_WARN;
}

static int check_run(const struct doctor_options *o, const struct doctor_check *c,
		     enum doctor_who who, struct arena *a, size_t *missing, struct error *e)
{
	struct look l = {.options = o, .check = c, .who = who, .arena = a, .doctor = getpid()};
	int seconds = o->try_engines && c->try_seconds ? c->try_seconds : CHECK_SECONDS;
	struct doctor_finding f = {.id = c->id, .title = c->title};
	struct answer answer = {0};
	int answered, status = 0, ignored;

	if (seconds > CHECK_SECONDS)
		o->begins(o->context, c->title, seconds);
	answered = child_run(&l, false, seconds, &answer, &status, e);
	if (answered < 0)
		return err_wrap(e, "%s", c->id);
	if (!answered) {
		if (c->tidy && child_run(&l, true, CHECK_SECONDS, &answer, &ignored, e) < 0)
			return err_wrap(e, "%s", c->id);
		explain_silence(seconds, status, &answer);
	}
	if (answer.verdict == LOOK_NOTHING)
		return 0;
	f.status = status_of(c, who, answer.verdict);
	f.found = arena_strdup(a, answer.found);
	f.remedy = *answer.remedy ? arena_strdup(a, answer.remedy) : NULL;
	*missing += f.status == DOCTOR_NO;
	o->found(o->context, &f);
	return 0;
}

int doctor_run(const struct doctor_options *o, struct arena *a, size_t *ret_missing,
	       struct error *e)
{
	enum doctor_who who = who_asks();
	size_t i, k, missing = 0;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		for (k = 0; k < groups[i]->n; k++) {
			const struct doctor_check *c = &groups[i]->checks[k];

			if ((c->asked_for & who) && check_run(o, c, who, a, &missing, e) < 0)
				return -1;
		}
	}
	*ret_missing = missing;
	return 0;
}
