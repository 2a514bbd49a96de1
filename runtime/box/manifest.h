/* Reads manifest.json, which sbxrun-rootfs writes beside its work. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct manifest_image {
	char *path; /* NULL: there is none */
	int64_t size;
	char *sha256;
};

struct manifest_images {
	struct manifest_image erofs;
};

struct manifest {
	char *name;
	char *digest;
	struct manifest_images images;
	bool is_roots; /* nobody but root can have written it */
};

/* Of an open directory. false: it has none that could be read. */
bool manifest_read(int dfd, struct arena *a, struct manifest *ret);

/* Whether what is open is root's, and only root can write to it. */
bool manifest_is_roots(int fd);
