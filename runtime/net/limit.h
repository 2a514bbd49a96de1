/* How much a box may carry: in all, and a second. Both directions count, as they are read. Pure but
 * for the clock that its caller reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limit {
	uint64_t most; /* bytes in all; 0: any number */
	uint64_t rate; /* bytes a second; 0: any number */
	uint64_t spent; /* in all, whoever has asked meanwhile */
	uint64_t left;	/* of what may be read at once */
	int64_t refilled; /* when */
};

void limit_set(struct limit *l, uint64_t most, uint64_t rate);

/* How many of so many bytes may be read now. */
size_t limit_room(struct limit *l, size_t want, int64_t now);
void limit_spend(struct limit *l, size_t n);

/* As many may still be carried, of what was read before it was known where to. */
bool limit_has(const struct limit *l, size_t n);

/* Nothing more may be read, ever. */
bool limit_is_spent(const struct limit *l);

/* Nothing may be read before the moment *ret. */
bool limit_pauses(struct limit *l, int64_t now, int64_t *ret);
