/*
 * audit.c: crash points and faults of an append to an audit file.
 *
 *	audit --append PROGRAM --runtime R --work DIR
 *
 * From four states of the file (none, some lines, half a line at its end, a line that its head
 * doesn't know) PROGRAM appends a line, and is killed before each of its system calls in turn; then
 * each of them fails with each errno of a list. What must hold:
 *   after a kill	the next append works, the file verifies, no line is lost, none is there
 *			twice
 *   after a fault	the same; and an append that said that it worked has written its line, and
 *			the file verifies at
 *		once; one that said that it didn't has said why
 */
#define _GNU_SOURCE
#include "tool.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 4096, LIMIT_MS = 20000 };

static const char *append, *runtime, *work;
static char *file;
static int log_fd;
static struct trace_call calls[CALLS];
static unsigned long points, wrong;

static const struct {
	const char *name;
	int value;
} errnos[] = { { "EIO", EIO },	     { "ENOMEM", ENOMEM }, { "EMFILE", EMFILE },
	       { "ENOSPC", ENOSPC }, { "EINTR", EINTR },   { "EPERM", EPERM } };

static void log_begin(void)
{
	if (ftruncate(log_fd, 0) < 0 || lseek(log_fd, 0, SEEK_SET) < 0)
		die("the log: %s", strerror(errno));
}

static char *log_text(void)
{
	char *path = text("%s/log-of-commands", work), *s = file_read(path, NULL);

	free(path);
	return s;
}

static int run_append(const char *id)
{
	char *argv[] = { text("%s", append), file, text("-"), text("%s", id), NULL };
	int status = plain_run(argv, log_fd, LIMIT_MS);

	free(argv[0]);
	free(argv[2]);
	free(argv[3]);
	return status;
}

static int run_verify(void)
{
	char *argv[] = { text("%s", runtime), text("audit"), text("verify"), file, NULL };
	int status = plain_run(argv, log_fd, LIMIT_MS);

	free(argv[0]);
	free(argv[1]);
	free(argv[2]);
	return status;
}

static size_t lines_with(const char *id)
{
	char *all = file_read(file, NULL), *key = text(",\"id\":\"%s\",", id), *at = all;
	size_t n = 0;

	while (at && (at = strstr(at, key))) {
		/* what is torn is no line */
		n += memchr(at, '\n', strlen(at)) != NULL;
		at++;
	}
	free(all);
	free(key);
	return n;
}

/* ---- states ---- */

static void begin_none(void)
{
	char *dir = text("%s/files", work);

	tree_empty(dir);
	free(dir);
}

static void begin_some(void)
{
	begin_none();
	if (run_append("one") != 0 || run_append("two") != 0)
		die("append without a fault: %s", log_text());
}

static void begin_torn(void)
{
	int fd;

	begin_some();
	fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || write(fd, "{\"n\":3,\"time", 12) != 12)
		die("%s: %s", file, strerror(errno));
	close(fd);
}

static void begin_behind(void)
{
	char *head = text("%s.head", file), *next = text("%s.head.next", file), *old;

	begin_none();
	if (run_append("one") != 0)
		die("append without a fault: %s", log_text());
	old = file_read(head, NULL);
	if (run_append("two") != 0 || rename(head, next) < 0)
		die("%s: %s", head, strerror(errno));
	file_write(head, old);
	if (chmod(head, 0600) < 0)
		die("%s: %s", head, strerror(errno));
	free(old);
	free(head);
	free(next);
}

static const struct state {
	const char *name;
	void (*begin)(void);
	bool has_lines;
} states[] = { { "none", begin_none, false },
	       { "some", begin_some, true },
	       { "torn", begin_torn, true },
	       { "behind", begin_behind, true } };

/* ---- a point ---- */

static void found(const struct state *s, const struct trace_call *c, const char *how,
		  const char *what)
{
	char *log = log_text();

	wrong++;
	printf("    %s, call %lu (number %ld) %s: %s\n      %s", s->name, c->at, c->nr, how, what,
	       log);
	free(log);
}

/* What holds after the next append, whatever came before. */
static void judge_next(const struct state *s, const struct trace_call *c, const char *how)
{
	if (run_append("after") != 0)
		found(s, c, how, "the next append fails");
	else if (run_verify() != 0)
		found(s, c, how, "the file does not verify");
	else if (lines_with("after") != 1 || lines_with("victim") > 1 ||
		 (s->has_lines && (lines_with("one") != 1 || lines_with("two") != 1)))
		found(s, c, how, "a line is lost, or is there twice");
}

static void trace(const struct trace_call *c, int fault, struct trace_call *ret_calls,
		  struct trace_result *ret)
{
	char *argv[] = { text("%s", append), file, text("-"), text("victim"), NULL };
	struct trace_spec spec = {
		.argv = argv,
		.log_fd = log_fd,
		.victim = c ? (int)c->proc : -1,
		.at = c ? c->at : 0,
		.fault = fault,
		.ret_calls = ret_calls,
		.max_calls = ret_calls ? CALLS : 0,
		.limit_ms = LIMIT_MS,
	};

	memset(ret, 0, sizeof(*ret));
	trace_run(&spec, ret);
	free(argv[0]);
	free(argv[2]);
	free(argv[3]);
}

static void kill_at(const struct state *s, const struct trace_call *c)
{
	struct trace_result r;

	s->begin();
	log_begin();
	trace(c, 0, NULL, &r);
	points++;
	if (!r.reached || r.hung)
		found(s, c, "killed", "it was not reached, or it hung");
	judge_next(s, c, "killed");
}

static void fail_at(const struct state *s, const struct trace_call *c, const char *name, int err)
{
	struct trace_result r;
	char *log;

	s->begin();
	log_begin();
	trace(c, err, NULL, &r);
	points++;
	log = log_text();
	if (r.hung || !WIFEXITED(r.status))
		found(s, c, name, "it hung, or was ended by a signal");
	else if (WEXITSTATUS(r.status) == 1 && !*log)
		found(s, c, name, "it failed and did not say why");
	else if (WEXITSTATUS(r.status) == 0 && (lines_with("victim") != 1 || run_verify() != 0))
		found(s, c, name, "it said that it worked, and it did not");
	free(log);
	judge_next(s, c, name);
}

static void do_state(const struct state *s)
{
	static struct trace_call all[CALLS];
	struct trace_result r;
	size_t n;

	s->begin();
	log_begin();
	trace(NULL, 0, calls, &r);
	n = r.ncalls;
	if (!WIFEXITED(r.status) || WEXITSTATUS(r.status) != 0 || n < 10)
		die("%s: the append without a fault: %s", s->name, log_text());
	memcpy(all, calls, n * sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		if (all[i].loading)
			continue;
		kill_at(s, &all[i]);
		for (size_t k = 0;
		     k < sizeof(errnos) / sizeof(*errnos) && trace_can_fail(all[i].nr); k++)
			fail_at(s, &all[i], errnos[k].name, errnos[k].value);
	}
}

int main(int argc, char **argv)
{
	sigset_t chld;
	char *path;

	for (int i = 1; i + 1 < argc; i += 2) {
		const char **to = strcmp(argv[i], "--append") == 0  ? &append :
				  strcmp(argv[i], "--runtime") == 0 ? &runtime :
								      &work;
		*to = argv[i + 1];
	}
	if (!append || !runtime || !work)
		die("audit --append PROGRAM --runtime R --work DIR");
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	path = text("%s/log-of-commands", work);
	log_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (log_fd < 0)
		die("%s: %s", path, strerror(errno));
	free(path);
	file = text("%s/files/log", work);
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		do_state(&states[i]);
	printf("%s crash audit%s: %lu points\n", wrong ? "not ok" : "ok", wrong ? ": lines are lost or the file is bad" : "",
	       points);
	free(file);
	return wrong ? 1 : 0;
}
