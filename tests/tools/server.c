/*
 * server PROGRAM ROOT ID BUNDLE WORD…: a small server. PROGRAM is sbxrun. Before `create`, a WORD
 * is an option for it; each that follows is carried out, and says on standard output what became of
 * it.
 *
 *	survives strict no-cgroups listener	as in worker/worker.h
 *	streams			the program has the server's own
 *	config:FILE		the config is that file's text, handed over in memory
 *	create start wait wait:MS kill:SIGNAL kill-all:SIGNAL remove let-go close
 *	hear			what there is to read on the terminal, up to its end
 *	say:MESSAGE		sends that to the worker, whatever it is, and waits until it has
 *				hung up
 *	kill-worker stop-worker	sends it SIGKILL, SIGSTOP
 *	deadline:MS		of all calls from here on, instead of a minute
 *	sleep			until it is killed
 *
 * An error is a line that begins with "error:"; the next WORD follows all the same.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/loop.h"
#include "worker/worker.h"

enum { FILE_MAX = 16 << 20 };

static int deadline_ms = 60000;

static struct worker worker = WORKER_NONE;
static struct worker_made made = {.terminal_fd = -1, .pidfd = -1};
static struct arena arena;

static int64_t soon(void)
{
	return loop_now() + deadline_ms * LOOP_MS;
}

static void take_note(void *context, const char *text)
{
	(void)context;
	printf("note: %s\n", text);
}

static const struct noter noter = {.take = take_note};

static void out_of_memory(void)
{
	_exit(1);
}

static int do_create(struct worker_options *o, struct error *e)
{
	if (worker_create(o, soon(), &worker, &made, e) < 0)
		return -1;
	printf("created %d%s, worker %d\n", made.pid,
	       made.terminal_fd >= 0 ? " with a terminal" : "", worker.pid);
	return 0;
}

static int do_start(struct error *e)
{
	int listener_fd = -1;

	if (worker_start(&worker, soon(), &listener_fd, e) < 0)
		return -1;
	printf("started%s\n", listener_fd >= 0 ? " with a listener" : "");
	fd_close(&listener_fd);
	return 0;
}

static int do_wait(int64_t until, struct error *e)
{
	struct life_end end;
	int result = worker_wait(&worker, until, &end, e);

	if (result == 0)
		printf("running\n");
	if (result > 0)
		printf("ended %d signal %d%s%s%s\n", end.status, end.signal, end.oom ? " oom" : "", end.wall_ns > 0 ? " wall" : "",
		       end.cpu_ns > 0 ? " cpu" : "");
	return result < 0 ? -1 : 0;
}

static void do_hear(void)
{
	char text[4096];
	ssize_t n;

	while ((n = read(made.terminal_fd, text, sizeof(text))) > 0)
		printf("heard %.*s", (int)n, text);
}

/* Behind the back of worker.h. */
static void do_say(const char *text)
{
	char answer[4096];

	if (send(worker.sock, text, strlen(text), MSG_NOSIGNAL) < 0) {
		printf("hung up\n");
		return;
	}
	while (loop_is_ready(worker.sock, POLLIN, soon())) {
		ssize_t n = recv(worker.sock, answer, sizeof(answer), 0);

		if (n <= 0) {
			printf("hung up\n");
			return;
		}
		printf("answer: %.*s\n", (int)n, answer);
	}
	printf("silence\n");
}

/* There is none where the create has failed; and -1 would be everybody. */
static void signal_worker(int sig)
{
	if (worker.pid <= 0) {
		printf("error: no worker\n");
		return;
	}
	kill(worker.pid, sig);
}

static bool set_option(const char *word, struct worker_options *o)
{
	static const int own[3] = {0, 1, 2};
	const char *file = str_after(word, "config:");

	if (str_eq(word, "survives"))
		o->survives = true;
	else if (str_eq(word, "strict"))
		o->strict = true;
	else if (str_eq(word, "no-cgroups"))
		o->no_cgroups = true;
	else if (str_eq(word, "listener"))
		o->take_listener = true;
	else if (str_eq(word, "streams"))
		o->streams = own;
	else if (file) {
		autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);

		o->config_text = fd_read_all(fd, FILE_MAX, &arena, &o->config_len);
	} else {
		return false;
	}
	return true;
}

static int act(const char *word, struct worker_options *o, struct error *e)
{
	const char *rest;

	if (set_option(word, o))
		return 0;
	if (str_eq(word, "create"))
		return do_create(o, e);
	if (str_eq(word, "start"))
		return do_start(e);
	if (str_eq(word, "wait"))
		return do_wait(soon(), e);
	if ((rest = str_after(word, "wait:")))
		return do_wait(loop_now() + atoi(rest) * LOOP_MS, e);
	if ((rest = str_after(word, "kill:")))
		return worker_kill(&worker, atoi(rest), false, soon(), e);
	if ((rest = str_after(word, "kill-all:")))
		return worker_kill(&worker, atoi(rest), true, soon(), e);
	if (str_eq(word, "remove"))
		return worker_remove(&worker, soon(), e);
	if (str_eq(word, "let-go"))
		return worker_let_go(&worker, soon(), e);
	if ((rest = str_after(word, "say:")))
		do_say(rest);
	else if ((rest = str_after(word, "deadline:")))
		deadline_ms = atoi(rest);
	else if (str_eq(word, "hear"))
		do_hear();
	else if (str_eq(word, "close"))
		worker_close(&worker);
	else if (str_eq(word, "kill-worker"))
		signal_worker(SIGKILL);
	else if (str_eq(word, "stop-worker"))
		signal_worker(SIGSTOP);
	else if (str_eq(word, "sleep"))
		pause();
	else
		exit(2);
	return 0;
}

int main(int argc, char **argv)
{
	struct worker_options o = {.noter = &noter, .policy = "oci"};
	struct error e;
	int i;

	if (argc < 6)
		return 2;
	arena_out_of_memory = out_of_memory;
	setvbuf(stdout, NULL, _IOLBF, 0);
	o.program = argv[1];
	o.root = argv[2];
	o.id = argv[3];
	o.bundle = argv[4];
	for (i = 5; i < argc; i++)
		if (act(argv[i], &o, &e) < 0)
			printf("error: %s\n", e.text);
	return 0;
}
