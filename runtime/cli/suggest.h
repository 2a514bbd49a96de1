/* Guesses the word that a mistyped one meant. Pure. */
#pragma once

#include <stddef.h>

struct suggest {
	const char *word;
	const char *best; /* NULL: nothing is near */
	size_t distance;
};

/* Keeps name in s->best if it is nearer to s->word than what was tried before. */
void suggest_try(struct suggest *s, const char *name);
