/*
 * How much the kernel keeps of a connection on its way. For a box that does not read, or a host
 * that does not, it waits in memory that is the machine's and no box's. So each side has little,
 * both ways. A host may be far away, though, and then what is on the way is much: its side grows as
 * the kernel sees that it has to, until the connections of the box have WIDTH_ALL together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	WIDTH_LEAST = 128 << 10, /* each way; the kernel counts twice what it is told */
	WIDTH_MOST = 16 << 20,	 /* of one side, both ways, as the kernel counts */
	WIDTH_ALL = 48 << 20, /* of all, beyond the least, but for the last step of one of them */
};

/* Of the side of a connection that may grow. */
struct width {
	size_t more; /* than the least */
	bool held;   /* it does not grow any more */
};

/* The least, for good. Before connect(): the window that is offered there hangs on it. */
void width_bound(int fd);

/* So much, for good, on the way out; as with all of this, a host may have less for anybody. */
void width_bound_out(int fd, int size);

/* May grow, if the box's connections have room for that, and the kernel can stop it. Before
 * connect(). */
void width_begin(struct width *w, int fd, const size_t *all);

/* After bytes were carried, for it grows with these alone. true: nothing may grow any more. */
bool width_look(struct width *w, int fd, size_t *all);

void width_hold(struct width *w, int fd);
void width_end(struct width *w, size_t *all);
