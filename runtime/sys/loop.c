#include "sys/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>

#include "base/fd.h"

enum { NAP_MS = 10 };

int64_t loop_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * LOOP_SECOND + t.tv_nsec;
}

struct loop_source *loop_add(struct loop *l, int fd, short events, loop_serve *serve, void *context)
{
	if (l->n == LOOP_MAX)
		abort(); /* the number of sources is the program's, not its input's */
	l->v[l->n] = (struct loop_source){fd, events, serve, context};
	return &l->v[l->n++];
}

/*
 * poll() that can't fail. Where the kernel takes so many descriptors no more, for RLIMIT_NOFILE was
 * lowered, they are looked at one by one, and no such round follows another at once.
 */
static void loop_poll(struct pollfd *fds, size_t n, int64_t until)
{
	static const struct timespec nap = {.tv_nsec = NAP_MS * LOOP_MS};
	const int64_t left = until == LOOP_NEVER ? 0 : until - loop_now();
	const struct timespec t = {.tv_sec = left > 0 ? left / LOOP_SECOND : 0,
				   .tv_nsec = left > 0 ? left % LOOP_SECOND : 0};
	size_t i;

	if (ppoll(fds, n, until == LOOP_NEVER ? NULL : &t, NULL) >= 0)
		return;
	for (i = 0; i < n; i++)
		fds[i].revents = 0;
	if (errno == EINTR)
		return;
	for (i = 0; i < n; i++)
		if (fds[i].fd >= 0 && poll(&fds[i], 1, 0) < 0)
			fds[i].revents = 0;
	nanosleep(&nap, NULL);
}

int loop_round(struct loop *l, int64_t until)
{
	struct pollfd fds[LOOP_MAX];
	size_t i, n = l->n;
	int result;

	for (i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = l->v[i].fd, .events = l->v[i].events};
	loop_poll(fds, n, until);
	for (i = 0; i < n; i++) {
		/* One that was served before it may have switched it off, or closed it. */
		if (!fds[i].revents || l->v[i].fd != fds[i].fd)
			continue;
		result = l->v[i].serve(l->v[i].context, fds[i].revents);
		if (result)
			return result;
	}
	return 0;
}

int loop_run(struct loop *l, int64_t until)
{
	int result;

	do
		result = loop_round(l, until);
	while (result == 0 && (until == LOOP_NEVER || loop_now() < until));
	return result;
}

bool loop_is_ready(int fd, short events, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = events};

	loop_poll(&p, 1, until);
	return p.revents != 0;
}

int loop_signals_take(const int *left_out, size_t n, struct loop_signals *ret, struct error *e)
{
	struct loop_signals s = LOOP_SIGNALS_NONE;
	sigset_t set;
	size_t i;

	sigfillset(&set);
	for (i = 0; i < n; i++)
		sigdelset(&set, left_out[i]);
	s.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.fd < 0)
		return err_sys(e, "signalfd");
	if (sigprocmask(SIG_BLOCK, &set, &s.before) < 0) {
		fd_close(&s.fd);
		return err_sys(e, "block signals");
	}
	*ret = s;
	return 0;
}

void loop_signals_give_back(struct loop_signals *s)
{
	if (s->fd < 0)
		return;
	fd_close(&s->fd);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}
