/*
 * The ids of a container that is given a user namespace without having asked for one: a private
 * range of the host's. Files keep the ids that they have on the disk, and mounts translate. Pure.
 *
 * A map's line reads, in the words of config.json: containerID is the id on the disk, hostID the id
 * that a process has which sees it as its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "oci/config.h"

enum { ID_RANGE_SIZE = 65536 };

/* size 0: none. */
struct id_range {
	uint32_t first, size;
};

/* Gives the config a user namespace with that range: its id 0 is the range's first. */
void ids_give_range(struct oci_config *c, struct id_range range, struct arena *a);

/* On the disk as inside: for the root filesystem, and for volumes that belong to containers. */
struct oci_id_maps ids_map_plainly(struct id_range range, struct arena *a);

/*
 * For a volume. The owner of the source is root inside, so that what root writes belongs to him; or
 * he is himself, where the program runs with his very id. Nobody else inside has his id. All others
 * are on the disk as inside, but for the disk's root, whom nobody inside is if he isn't the owner.
 */
struct oci_id_maps ids_map_to_owner(struct id_range range, uint32_t owner, uint32_t program,
				    struct arena *a);

/* For a volume of a program without capabilities, whom it would not help that root inside is the
 * owner: the program itself is. */
struct oci_id_maps ids_map_to_program(struct id_range range, uint32_t owner, uint32_t program,
				      struct arena *a);
