#include "net/width.h"

#include <sys/socket.h>

#ifndef SO_BUF_LOCK /* from Linux 5.14 on */
#define SO_BUF_LOCK 72
#endif

enum { HELD = 3, KERNEL_LEAST = 4 * WIDTH_LEAST }; /* both ways are held; both ways, doubled */

void width_bound_out(int fd, int size)
{
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

void width_bound(int fd)
{
	const int size = WIDTH_LEAST;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	width_bound_out(fd, size);
}

void width_begin(struct width *w, int fd, const size_t *all)
{
	const int none = 0;

	*w = (struct width){0};
	if (*all < WIDTH_ALL &&
	    setsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &none, sizeof(none)) == 0)
		return;
	width_bound(fd);
	w->held = true;
}

/* It stays as large as it is: to make it smaller, a host would have to be told to take back what it
 * may send. */
void width_hold(struct width *w, int fd)
{
	const int both = HELD;

	if (!w->held && fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &both, sizeof(both));
	w->held = true;
}

/* A step of the kernel's may go far past what one may have. */
static size_t width_of(int fd, int which)
{
	const int most = WIDTH_MOST / 4;
	int size = 0;
	socklen_t len = sizeof(size);

	if (getsockopt(fd, SOL_SOCKET, which, &size, &len) < 0 || size < 0)
		return 0;
	if (size <= WIDTH_MOST / 2)
		return (size_t)size;
	setsockopt(fd, SOL_SOCKET, which, &most, sizeof(most));
	return WIDTH_MOST / 2;
}

bool width_look(struct width *w, int fd, size_t *all)
{
	size_t size;

	if (w->held)
		return false;
	size = width_of(fd, SO_RCVBUF) + width_of(fd, SO_SNDBUF);
	*all -= w->more;
	w->more = size > KERNEL_LEAST ? size - KERNEL_LEAST : 0;
	*all += w->more;
	return *all >= WIDTH_ALL;
}

void width_end(struct width *w, size_t *all)
{
	*all -= w->more;
	*w = (struct width){0};
}
