/*
 * Which ids of the machine are ours to give to containers: what /etc/subuid and /etc/subgid say of
 * "sbxrun", and where neither says a word of it, POOL_ENTRY without what the files give to others.
 * So nothing has to be set up. An administrator who wants containers to have no ids writes
 * POOL_NONE. Pure: it takes the texts of the two files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "plan/ids.h"

#define POOL_NAME "sbxrun"
/* The largest part below 2^31 that neither shadow's useradd (to 600100000) nor systemd
 * (524288..1879048191 for containers, 2147352576.. for foreign ones) takes from. */
#define POOL_ENTRY POOL_NAME ":1879048192:268304384"
/* An entry of no ids: there are none for containers. */
#define POOL_NONE POOL_NAME ":0:0"

enum { POOL_ENTRIES_MAX = 16, POOL_FILE_MAX = 4 << 20 };

/* Ranges of ID_RANGE_SIZE are cut from each entry, from its first id on. */
struct pool {
	bool unasked; /* no file says a word: parts of POOL_ENTRY */
	size_t n;
	struct id_range v[POOL_ENTRIES_MAX];
};

/* Trust: none of the texts is believed to be well-formed. A line that says nothing of ids is
 * passed over, as shadow does, unless it is all that is said of us. */
int pool_read(const char *subuid, const char *subgid, struct pool *ret, struct error *e);

/* How many ranges there are, and the i-th. */
uint32_t pool_count(const struct pool *p);
struct id_range pool_range(const struct pool *p, uint32_t i);
