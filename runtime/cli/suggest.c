#include "cli/suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* How many letters have to be added, removed, changed or swapped with their neighbour. Row i of the
 * usual table has the distances of the first i letters of a to those of b. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t n = strlen(a), m = strlen(b), i, k;

	if (n > LONGEST || m > LONGEST)
		return LONGEST;
	memset(rows, 0, sizeof(rows));
	for (k = 0; k <= m; k++)
		last[k] = k;
	for (i = 1; i <= n; i++) {
		now[0] = i;
		for (k = 1; k <= m; k++) {
			now[k] = smallest(last[k] + 1, now[k - 1] + 1,
					  last[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = smallest(now[k], before[k - 2] + 1, now[k]);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

void suggest_try(struct suggest *s, const char *name)
{
	size_t distance = edit_distance(s->word, name);

	/* One mistake in three letters: more would be another word. */
	if (distance * 3 > strlen(s->word) || (s->best && distance >= s->distance))
		return;
	s->best = name;
	s->distance = distance;
}
