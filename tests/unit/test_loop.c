/* The event loop, the relay of streams, and children: with real descriptors, signals and
 * processes. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/child.h"
#include "sys/loop.h"
#include "sys/relay.h"
#include "unit.h"

static int n_served;
static struct loop_source *other;

static int count(void *context, short events)
{
	char c;

	n_served++;
	if (events & POLLIN)
		(void)!read(*(int *)context, &c, 1);
	return 0;
}

static int finish(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

static int fail(void *context, short events)
{
	(void)context;
	(void)events;
	return -1;
}

static int switch_off_other(void *context, short events)
{
	other->fd = -1;
	return count(context, events);
}

static void make_pipe(int fds[2], const char *text)
{
	CHECK(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	CHECK(write(fds[1], text, strlen(text)) == (ssize_t)strlen(text));
}

TEST(sources_are_served_until_one_is_done)
{
	struct loop l = {0};
	int a[2], b[2];

	n_served = 0;
	make_pipe(a, "xyz");
	make_pipe(b, "");
	loop_add(&l, a[0], POLLIN, count, &a[0]);
	loop_add(&l, b[0], POLLIN, finish, NULL);
	CHECK_INT(loop_round(&l, loop_now() + LOOP_SECOND), 0);
	CHECK_INT(n_served, 1);
	CHECK(write(b[1], "!", 1) == 1);
	CHECK_INT(loop_run(&l, LOOP_NEVER), 1);
	CHECK_INT(n_served, 2);
}

TEST(a_failure_ends_the_loop)
{
	struct loop l = {0};
	int a[2];

	make_pipe(a, "x");
	loop_add(&l, a[0], POLLIN, fail, NULL);
	CHECK_INT(loop_run(&l, LOOP_NEVER), -1);
}

TEST(the_moment_ends_a_loop_in_which_nothing_happens)
{
	struct loop l = {0};
	int64_t before = loop_now();
	int a[2];

	make_pipe(a, "");
	loop_add(&l, a[0], POLLIN, finish, NULL);
	CHECK_INT(loop_run(&l, before + 30 * LOOP_MS), 0);
	CHECK(loop_now() - before >= 30 * LOOP_MS);
	/* One that is over is looked at once. */
	CHECK_INT(loop_run(&l, before), 0);
	CHECK(write(a[1], "x", 1) == 1);
	CHECK_INT(loop_run(&l, before), 1);
}

TEST(a_source_that_was_switched_off_in_the_same_round_is_not_served)
{
	struct loop l = {0};
	int a[2], b[2];

	n_served = 0;
	make_pipe(a, "x");
	make_pipe(b, "x");
	loop_add(&l, a[0], POLLIN, switch_off_other, &a[0]);
	other = loop_add(&l, b[0], POLLIN, finish, NULL);
	CHECK_INT(loop_round(&l, LOOP_NEVER), 0);
	CHECK_INT(n_served, 1);
}

TEST(a_closed_descriptor_is_an_event_and_no_endless_round)
{
	struct loop l = {0};
	int a[2];

	make_pipe(a, "");
	close(a[0]);
	loop_add(&l, a[0], POLLIN, finish, NULL);
	CHECK_INT(loop_run(&l, LOOP_NEVER), 1);
	CHECK(loop_is_ready(a[0], POLLIN, LOOP_NEVER));
}

TEST(signals_can_be_read_and_the_mask_is_put_back)
{
	static const int left_out[] = {SIGCONT};
	struct loop_signals s = LOOP_SIGNALS_NONE;
	struct signalfd_siginfo info;
	sigset_t before, now;
	struct error e;
	int sig;

	sigprocmask(SIG_BLOCK, NULL, &before);
	CHECK_INT(loop_signals_take(left_out, 1, &s, &e), 0);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGTERM) == 1);
	CHECK(sigismember(&now, SIGCONT) == sigismember(&before, SIGCONT));
	raise(SIGUSR1);
	CHECK(loop_is_ready(s.fd, POLLIN, LOOP_NEVER));
	CHECK(read(s.fd, &info, sizeof(info)) == (ssize_t)sizeof(info));
	CHECK_INT(info.ssi_signo, SIGUSR1);
	loop_signals_give_back(&s);
	CHECK_INT(s.fd, -1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	for (sig = 1; sig < 65; sig++)
		CHECK(sigismember(&now, sig) == sigismember(&before, sig));
}

static void run_relay(struct relay *r)
{
	struct loop l = {0};

	relay_add(r, &l);
	while (!relay_is_done(r))
		CHECK_INT(loop_round(&l, loop_now() + 5 * LOOP_SECOND), 0);
}

TEST(a_relay_passes_everything_on)
{
	static char text[20000], got[sizeof(text)];
	struct relay r = {0};
	int in[2], out[2];

	memset(text, 'x', sizeof(text));
	make_pipe(in, "");
	make_pipe(out, "");
	CHECK(write(in[1], text, sizeof(text)) == (ssize_t)sizeof(text));
	close(in[1]);
	r.from = in[0];
	r.to = out[1];
	run_relay(&r);
	CHECK_INT(r.passed, sizeof(text));
	CHECK_INT(r.dropped, 0);
	CHECK(read(out[0], got, sizeof(got)) == (ssize_t)sizeof(got));
}

TEST(beyond_its_cap_a_relay_drops_and_counts)
{
	char text[10000], got[10000];
	struct relay r = {.cap = 5000};
	int in[2], out[2];

	memset(text, 'x', sizeof(text));
	make_pipe(in, "");
	make_pipe(out, "");
	CHECK(write(in[1], text, sizeof(text)) == (ssize_t)sizeof(text));
	close(in[1]);
	r.from = in[0];
	r.to = out[1];
	run_relay(&r);
	CHECK_INT(r.passed, 5000);
	CHECK_INT(r.dropped, 5000);
	CHECK_INT(read(out[0], got, sizeof(got)), 5000);
}

TEST(a_relay_whose_reader_has_left_goes_on)
{
	struct relay r = {0};
	int in[2], out[2];

	signal(SIGPIPE, SIG_IGN);
	make_pipe(in, "hello");
	make_pipe(out, "");
	close(in[1]);
	close(out[0]);
	r.from = in[0];
	r.to = out[1];
	run_relay(&r);
	CHECK_INT(r.dropped, 5);
}

TEST(the_end_of_input_is_said_as_a_terminal_says_it)
{
	char got[16];
	struct relay r = {.is_input = true, .last = '\n'};
	int in[2], out[2];

	make_pipe(in, "ab");
	make_pipe(out, "");
	close(in[1]);
	r.from = in[0];
	r.to = out[1];
	run_relay(&r);
	CHECK_INT(read(out[0], got, sizeof(got)), 4);
	CHECK(memcmp(got, "ab\4\4", 4) == 0);
}

static pid_t child_that(int ms, int code)
{
	pid_t pid = fork();

	if (pid == 0) {
		usleep((useconds_t)ms * 1000);
		_exit(code);
	}
	return pid;
}

TEST(children_are_collected_with_their_status)
{
	struct error e;
	int status;
	pid_t pid;

	CHECK_INT(child_exit_code(child_collect(child_that(0, 7))), 7);
	CHECK_INT(child_collect_within(child_that(20, 3), 10000, &status, &e), 0);
	CHECK_INT(child_exit_code(status), 3);
	pid = child_that(100000, 0);
	CHECK_INT(child_collect_within(pid, 20, &status, &e), -1);
	kill(pid, SIGTERM);
	CHECK_INT(child_exit_code(child_collect(pid)), 128 + SIGTERM);
	pid = child_that(100000, 0);
	child_end(pid);
	CHECK_INT(child_collect(pid), -1);
}

int main(void)
{
	return unit_main();
}
