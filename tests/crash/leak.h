/* leak.h: what a container has left on the machine, and how to remove it. */
#ifndef CRASH_LEAK_H
#define CRASH_LEAK_H

#include "tool.h"

#include <sys/types.h>

/* Where to look. id is unlike any other name on the machine; dirs are made by the harness for this
 * runtime alone. */
struct place {
	const char *id;
	const char *work;  /* everything of the harness is below */
	const char *state; /* --root of the runtime */
	bool units;	   /* systemd is asked, too */
	struct names
		temp; /* directories that must look as before: TMPDIR, the bundle, the rootfs… */
	struct names before; /* what leak_note_files() saw: full paths */
};

enum leak_kind {
	LEAK_CGROUP,
	LEAK_MOUNT,
	LEAK_PROCESS,
	LEAK_STATE,
	LEAK_TEMP,
	LEAK_UNIT,
	LEAK_LOOP,
	LEAK_KINDS
};

struct leaks {
	struct names kind[LEAK_KINDS];
};

extern const char *const leak_names[LEAK_KINDS];

/* Takes the present files as the state to come back to. */
void leak_note_files(struct place *p);
/* Finds everything that the container p->id has left; ret is filled anew. */
void leak_find(const struct place *p, struct leaks *ret);
/* Adds the container's cgroups, parents first. */
void leak_cgroups(const struct place *p, struct names *ret);
/* Adds the names of the units of systemd that have the id in theirs. */
void leak_units(const struct place *p, struct names *ret);
/* Says whether there is nothing. */
bool leak_none(const struct leaks *l);
void leak_free(struct leaks *l);
/* Kills, removes and unmounts what leak_find() finds, so that the next point starts clean. */
void leak_remove(const struct place *p);

/* Waits until every process below the harness has ended or sleeps, for at most limit_ms. */
void leak_settle(int limit_ms);

#endif
