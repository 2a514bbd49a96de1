/* Texts of the host that the doctor reads: ranges of ids, users, releases, unit files. The first
 * two bytes are a uid. */
#include "doctor/words.h"

#include "fuzz.h"

static void check_ranges(const struct subids *s, const char *uid)
{
	uint64_t first = words_free_subids(s, 100000, 65536);
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct subid *r = &s->v[i];

		DEMAND(*r->owner && r->count && r->first + r->count <= UINT32_MAX);
		DEMAND(!first || first + 65536 <= r->first || r->first + r->count <= first);
		DEMAND(words_count_subids(s, r->owner, uid) >= r->count);
	}
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	const char *uid = arena_printf(a, "%u", (unsigned int)bytes_take(&b, 2));
	char *rest = arena_strndup(a, b.p, b.left);
	struct subids s = words_read_subids(arena_strdup(a, rest), a);
	unsigned int bits = words_read_controllers(rest);
	const char *name = words_name_of(arena_strdup(a, rest), uid);

	if (s.n < 100)
		check_ranges(&s, uid);
	DEMAND(!name || !strchr(name, ':'));
	DEMAND(words_read_controllers(words_list_controllers(bits, a)) == bits);
	DEMAND(words_read_delegate(rest, 0) <= CONTROLLERS_ALL);
	words_release_reaches(rest, 5, 14);
}
