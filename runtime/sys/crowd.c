#include "sys/crowd.h"

#include "base/fd.h"
#include "sys/loop.h"

int crowd_open(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

/* One that waits for nothing is out: the kernel would tell of its end all the same, each round. */
int crowd_wait_for(int crowd_fd, struct crowd_member *m, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = m};
	const int what = !m->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

	if (m->fd < 0 || m->events == events)
		return 0;
	if (epoll_ctl(crowd_fd, what, m->fd, &event) < 0)
		return -1;
	m->events = events;
	return 0;
}

void crowd_close(int crowd_fd, struct crowd_member *m)
{
	crowd_wait_for(crowd_fd, m, 0);
	m->events = 0;
	fd_close(&m->fd);
}

void crowd_round(int crowd_fd, int64_t until)
{
	const int64_t left = until == LOOP_NEVER ? -1 : until - loop_now();
	struct epoll_event event;
	struct crowd_member *m;
	int ms = left < 0 ? 0 : left / LOOP_MS >= 60000 ? 60000 : (int)(left / LOOP_MS) + 1;

	if (until == LOOP_NEVER)
		ms = -1;
	if (epoll_wait(crowd_fd, &event, 1, ms) != 1)
		return;
	m = event.data.ptr;
	m->serve(m, event.events);
}
