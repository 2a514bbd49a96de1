/*
 * One arena per request: config and plan live and die together, so nothing in them is freed on its
 * own. Memory is zeroed. arena_alloc() never returns NULL: when memory is out, it calls
 * arena_out_of_memory, which the program sets and which must end the process; what it had made by
 * then is on record in the state directory, where `delete --force` finds it.
 */
#pragma once

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
	size_t used;
	size_t size;
};

extern void (*arena_out_of_memory)(void);

/* Zeroed memory for n objects of the given size, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull));

/* Grows an array of *cap objects to hold at least `need`; the old copy stays in the arena. */
void *arena_grow(struct arena *a, void *old, size_t *cap, size_t need, size_t size);

char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* All that was ever in it becomes zeroes, in this process; the memory stays. */
void arena_wipe(struct arena *a);

void arena_free(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), 1, sizeof(type)))
#define arena_array(a, n, type) ((type *)arena_alloc((a), (n), sizeof(type)))
