/* Readers of the host's texts. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* The release of a kernel, "6.1.0-18-amd64", is this version or a later one. false also for what is
 * no release. */
bool words_release_reaches(const char *release, unsigned int major, unsigned int minor);

/* ---- /etc/subuid, /etc/subgid ---- */

struct subid {
	const char *owner; /* a name, or a uid */
	uint64_t first;
	uint64_t count;
};

struct subids {
	size_t n;
	struct subid *v;
};

/* Lines that are no NAME:FIRST:COUNT are passed over, as the helpers do. The text is changed. */
struct subids words_read_subids(char *text, struct arena *a);

/* How many ids an owner has, by name (may be NULL) or uid. */
uint64_t words_count_subids(const struct subids *s, const char *name, const char *uid);

/* The first of `count` ids from `from` on that are nobody's; 0: there are none below 2^32 - 1. */
uint64_t words_free_subids(const struct subids *s, uint64_t from, uint64_t count);

/* The name of a uid in the text of /etc/passwd, which is changed; NULL: it has none. */
const char *words_name_of(char *text, const char *uid);

/* ---- controllers ---- */

enum { CONTROLLERS = 5, CONTROLLERS_ALL = (1 << CONTROLLERS) - 1 };

/* The controllers that limits are made of, as cgroup v2 calls them. */
extern const char *const words_controllers[CONTROLLERS];

/* A bit for each of them that the text names, between spaces or commas; blkio counts as io. */
unsigned int words_read_controllers(const char *text);

/* Adds to `before` the controllers that a unit file delegates: Delegate= in [Service]. */
unsigned int words_read_delegate(const char *text, unsigned int before);

/* The names of the bits, with spaces between. */
char *words_list_controllers(unsigned int bits, struct arena *a);
