#include "plan/ids.h"

#include <string.h>

struct oci_id_maps ids_map_plainly(struct id_range range, struct arena *a)
{
	struct oci_id_maps maps = {.n = 1, .v = arena_array(a, 1, struct oci_id_map)};

	maps.v[0] = (struct oci_id_map){
		.container_id = 0, .host_id = range.first, .size = range.size};
	return maps;
}

/* Ids from..to-1 are on the disk as inside. */
static void ids_add_same(struct oci_id_maps *maps, struct id_range range, uint32_t from,
			 uint32_t to)
{
	if (from < to)
		maps->v[maps->n++] = (struct oci_id_map){.container_id = from,
							 .host_id = range.first + from,
							 .size = to - from};
}

struct oci_id_maps ids_map_to_owner(struct id_range range, uint32_t owner, uint32_t program,
				    struct arena *a)
{
	struct oci_id_maps maps = {.v = arena_array(a, 3, struct oci_id_map)};

	if (owner == 0)
		return ids_map_plainly(range, a);
	if (owner == program && owner < range.size) {
		ids_add_same(&maps, range, 1, range.size);
		return maps;
	}
	maps.v[maps.n++] = (struct oci_id_map){
		.container_id = owner, .host_id = range.first, .size = 1};
	ids_add_same(&maps, range, 1, owner < range.size ? owner : range.size);
	if (owner < range.size)
		ids_add_same(&maps, range, owner + 1, range.size);
	return maps;
}

struct oci_id_maps ids_map_to_program(struct id_range range, uint32_t owner, uint32_t program,
				      struct arena *a)
{
	const uint32_t low = owner < program ? owner : program,
		       high = owner < program ? program : owner, end = range.size;
	struct oci_id_maps maps = {.v = arena_array(a, 4, struct oci_id_map)};

	maps.v[maps.n++] = (struct oci_id_map){
		.container_id = owner, .host_id = range.first + program, .size = 1};
	/* Neither is anybody else; and the disk's root is nobody. */
	ids_add_same(&maps, range, 1, low < end ? low : end);
	ids_add_same(&maps, range, low + 1, high < end ? high : end);
	ids_add_same(&maps, range, high + 1, end);
	return maps;
}

void ids_give_range(struct oci_config *c, struct id_range range, struct arena *a)
{
	struct oci_linux *l = &c->linux_;
	struct oci_namespace *wider = arena_array(a, l->namespaces.n + 1, struct oci_namespace);

	if (l->namespaces.n)
		memcpy(wider, l->namespaces.v, l->namespaces.n * sizeof(*wider));
	wider[l->namespaces.n++] = (struct oci_namespace){.type = OCI_NS_USER};
	l->namespaces.v = wider;
	l->uid_mappings = ids_map_plainly(range, a);
	l->gid_mappings = ids_map_plainly(range, a);
}
