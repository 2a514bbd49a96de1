/* The signal's flag, and what is watched for, are of the process: it does one thing. */
#include "sys/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/loop.h"

/* Between two looks. Not at once: what is about to run gets the signals that a foreground run holds
 * for it. */
enum { LOOK_MS = 200, NAP_MS = 10 };

static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static volatile sig_atomic_t signalled;
static unsigned int catches;
static struct sigaction before[ARRAY_SIZE(ends)];
static struct {
	int dfd;
	const char *name;
} watched = {.dfd = -1};

bool patience_means_end(int sig)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i] == sig)
			return true;
	return false;
}

static void patience_note(int sig)
{
	(void)sig;
	signalled = 1;
}

void patience_catch_signals(void)
{
	const struct sigaction note = {
		.sa_handler = patience_note}; /* what blocks in a call returns from it */
	size_t i;

	if (catches++)
		return;
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (sigaction(ends[i], &note, &before[i]) == 0 && before[i].sa_handler == SIG_IGN)
			sigaction(ends[i], &before[i], NULL);
}

void patience_let_signals(void)
{
	size_t i;

	if (--catches)
		return;
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &before[i], NULL);
	signalled = 0;
}

void patience_watch(int dfd, const char *name)
{
	watched.dfd = dfd;
	watched.name = name;
}

void patience_renew(void)
{
	static const struct timespec now;
	sigset_t set;
	size_t i;

	patience_watch(-1, NULL);
	signalled = 0;
	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&set, ends[i]);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
}

bool patience_is_signalled(void)
{
	return signalled;
}

static bool patience_has_pending(void)
{
	sigset_t pending;
	size_t i;

	if (sigpending(&pending) < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (sigismember(&pending, ends[i]) == 1)
			return true;
	return false;
}

static bool patience_is_wanted_away(void)
{
	autoclose int fd = -1;

	if (watched.dfd < 0)
		return false;
	fd = openat(watched.dfd, watched.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int patience_check(struct error *e)
{
	if (signalled || patience_has_pending())
		return err_set(e, ERR_SYSTEM, "interrupted by a signal");
	if (patience_is_wanted_away())
		return err_set(e, ERR_SYSTEM, "interrupted by a delete --force of the container");
	return 0;
}

int64_t patience_until(int ms)
{
	return loop_now() + ms * LOOP_MS;
}

static int patience_check_time(int64_t until, struct error *e)
{
	if (patience_check(e) < 0)
		return -1;
	if (until && loop_now() >= until)
		return err_set(e, ERR_SYSTEM, "no answer within %d s", PATIENCE_PEER_MS / 1000);
	return 0;
}

int patience_nap(int64_t until, struct error *e)
{
	static const struct timespec nap = {.tv_nsec = NAP_MS * LOOP_MS};

	nanosleep(&nap, NULL);
	return patience_check_time(until, e);
}

int patience_wait(int fd, short events, int64_t until, struct error *e)
{
	while (!loop_is_ready(fd, events, loop_now() + LOOK_MS * LOOP_MS))
		if (patience_check_time(until, e) < 0)
			return -1;
	return 0;
}
