/* Id maps from bytes: those that are accepted stay within the ids that there are, and don't
 * overlap. */
#include "fuzz.h"
#include "oci/validate.h"

enum { MAPS_MAX = 340 }; /* the kernel's own limit */

static bool overlap(uint32_t a, uint32_t a_len, uint32_t b, uint32_t b_len)
{
	return a < b ? b - a < a_len : a - b < b_len;
}

static void check(const struct oci_id_maps *m)
{
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		const struct oci_id_map *x = &m->v[i];

		DEMAND(x->size && (uint64_t)x->container_id + x->size <= UINT32_MAX &&
		       (uint64_t)x->host_id + x->size <= UINT32_MAX);
		for (k = 0; k < i; k++)
			DEMAND(!overlap(x->container_id, x->size, m->v[k].container_id,
					m->v[k].size) &&
			       !overlap(x->host_id, x->size, m->v[k].host_id, m->v[k].size));
	}
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	struct oci_id_maps m = {.v = arena_array(a, MAPS_MAX, struct oci_id_map)};
	struct error e = {0};

	while (b.left && m.n < MAPS_MAX) {
		/* Small numbers make maps that fit together; wide ones reach the ends of the range.
		 */
		size_t width = bytes_choose(&b, 4) ? 1 : 4;

		m.v[m.n].container_id = bytes_take(&b, width);
		m.v[m.n].host_id = bytes_take(&b, width);
		m.v[m.n++].size = bytes_take(&b, width);
	}
	if (oci_validate_id_maps(&m, "linux.uidMappings", &e) == 0)
		check(&m);
	else
		fuzz_check_error(&e);
}
