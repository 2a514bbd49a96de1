/*
 * Which container holds which range of the machine's ids, whatever the state root that it is in.
 *
 *	/run/sbxrun-ranges/FIRST	the directory of the holder's record, and its init
 *
 * A file says who wants a range; that it is held, the holder's record says, or its init by being
 * alive. So whoever dies on the way leaves a file that means nothing, and the next who comes upon
 * it takes it over. Who takes, looks or removes has the file locked (flock), and a create keeps it
 * locked until its record is there. All of it costs the same with one container and with a
 * thousand: the search begins at a place that the container's name gives.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/ids.h"
#include "state/pool.h"

#define RANGES_DIR "/run/sbxrun-ranges"

/* A range that a create has taken, and not yet written into a record that stays. */
struct range_hold {
	struct id_range range;
	int dfd;
	int fd; /* -1: none */
};

#define RANGE_HOLD_NONE ((struct range_hold){.dfd = -1, .fd = -1})

/* For the container whose record will be in that directory (absolute). */
int ranges_take(const char *state_dir, struct arena *a, struct range_hold *ret, struct error *e);

/* The record says from now on that it is held. pid 0: there is no init (yet). */
void ranges_settle(struct range_hold *h, pid_t pid, uint64_t pid_start);

/* There is no record: nobody holds it. */
void ranges_drop(struct range_hold *h);

/* The container is gone, but for its record, which is in that directory. */
void ranges_release(struct id_range range, int state_dfd);

/* Removes files of ranges that nobody holds, also of creates that were killed and whose records are
 * gone: of so many that it looks at. */
void ranges_sweep(size_t most);

/* One that a container might get, and nobody has it for that. */
int ranges_guess(const char *state_dir, struct arena *a, struct id_range *ret, struct error *e);

/* In another directory, for tests. */
int ranges_take_in(int dfd, const struct pool *pool, const char *state_dir, struct arena *a,
		   struct range_hold *ret, struct error *e);
void ranges_sweep_in(int dfd, size_t most);
void ranges_release_in(int dfd, struct id_range range, int state_dfd);
