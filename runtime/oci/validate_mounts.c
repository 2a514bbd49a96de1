/* mounts, and id mappings: those of mounts and of the user namespace obey the same rules. */
#include <stdio.h>

#include "base/str.h"
#include "oci/validate.h"

/* Do [a, a+a_len) and [b, b+b_len) share an id? */
static bool ranges_meet(uint32_t a, uint32_t a_len, uint32_t b, uint32_t b_len)
{
	return a < (uint64_t)b + b_len && b < (uint64_t)a + a_len;
}

/* Quadratic, in at most as many entries as the kernel takes (340). */
int oci_validate_id_maps(const struct oci_id_maps *m, const char *at, struct error *e)
{
	const struct oci_id_map *x, *y;
	size_t i, j;

	for (i = 0; i < m->n; i++) {
		x = &m->v[i];
		if (x->size == 0)
			return REFUSE(e, "%s[%zu].size: must be above 0", at, i);
		/* The last id, 2^32-1, is none. */
		if (x->size > UINT32_MAX - x->container_id || x->size > UINT32_MAX - x->host_id)
			return REFUSE(e, "%s[%zu].size: %u goes past the last id", at, i, x->size);
		for (j = 0; j < i; j++) {
			y = &m->v[j];
			if (ranges_meet(x->container_id, x->size, y->container_id, y->size) ||
			    ranges_meet(x->host_id, x->size, y->host_id, y->size))
				return REFUSE(e, "%s[%zu]: overlaps %s[%zu]", at, i, at, j);
		}
	}
	return 0;
}

static bool mount_wants_idmap(const struct oci_mount *m)
{
	size_t i;

	for (i = 0; i < m->options.n; i++)
		if (str_eq(m->options.v[i], "idmap") || str_eq(m->options.v[i], "ridmap"))
			return true;
	return false;
}

static int validate_mount_maps(const struct oci_config *c, size_t n, struct error *e)
{
	const struct oci_mount *m = &c->mounts.v[n];
	char at[64];

	if ((m->uid_mappings.n == 0) != (m->gid_mappings.n == 0))
		return REFUSE(e, "mounts[%zu]: uidMappings and gidMappings need each other", n);
	if (mount_wants_idmap(m) && m->uid_mappings.n == 0 && !oci_namespace_find(c, OCI_NS_USER))
		return REFUSE(e, "mounts[%zu].options: idmap needs mappings or a user namespace",
			      n);
	snprintf(at, sizeof(at), "mounts[%zu].uidMappings", n);
	if (oci_validate_id_maps(&m->uid_mappings, at, e) < 0)
		return -1;
	snprintf(at, sizeof(at), "mounts[%zu].gidMappings", n);
	return oci_validate_id_maps(&m->gid_mappings, at, e);
}

int oci_validate_mounts(const struct oci_config *c, struct error *e)
{
	const struct oci_mount *m;
	size_t i;

	for (i = 0; i < c->mounts.n; i++) {
		m = &c->mounts.v[i];
		if (!*m->destination)
			return REFUSE(e, "mounts[%zu].destination: must not be empty", i);
		if (strlen(m->destination) > PATH_LONGEST)
			return REFUSE(e, "mounts[%zu].destination: longer than %d bytes", i,
				      PATH_LONGEST);
		if (m->source && strlen(m->source) > PATH_LONGEST)
			return REFUSE(e, "mounts[%zu].source: longer than %d bytes", i,
				      PATH_LONGEST);
		if (validate_mount_maps(c, i, e) < 0)
			return -1;
	}
	return 0;
}
