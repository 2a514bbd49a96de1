/*
 * A program's Landlock rules: the mounts' own word on what may be written, a second time and by
 * another part of the kernel. Pure; security/landlock.c carries it out.
 *
 * Everything below the root may be read and executed. Writing needs a place: a mount that is
 * writable, or a device. No place lets devices be made, and only terminals and the devices that a
 * config names take ioctls of their drivers.
 *
 * TCP is left to the network namespace: an empty one reaches nothing but its own loopback, which
 * programs talk to themselves through, and Landlock knows ports and not addresses. Scopes are left
 * out, too: what exec brings in has a domain beside the first one, and could not signal it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "oci/config.h"

/* Those of the kernel, of which headers may know fewer. */
#define LANDLOCK_EXECUTE UINT64_C(0x1)
#define LANDLOCK_WRITE_FILE UINT64_C(0x2)
#define LANDLOCK_READ_FILE UINT64_C(0x4)
#define LANDLOCK_READ_DIR UINT64_C(0x8)
#define LANDLOCK_REMOVE_DIR UINT64_C(0x10)
#define LANDLOCK_REMOVE_FILE UINT64_C(0x20)
#define LANDLOCK_MAKE_CHAR UINT64_C(0x40)
#define LANDLOCK_MAKE_DIR UINT64_C(0x80)
#define LANDLOCK_MAKE_REG UINT64_C(0x100)
#define LANDLOCK_MAKE_SOCK UINT64_C(0x200)
#define LANDLOCK_MAKE_FIFO UINT64_C(0x400)
#define LANDLOCK_MAKE_BLOCK UINT64_C(0x800)
#define LANDLOCK_MAKE_SYM UINT64_C(0x1000)
#define LANDLOCK_REFER UINT64_C(0x2000)
#define LANDLOCK_TRUNCATE UINT64_C(0x4000)
#define LANDLOCK_IOCTL_DEV UINT64_C(0x8000)

/* Those that a file can have. */
#define LANDLOCK_OF_FILES                                                                          \
	(LANDLOCK_EXECUTE | LANDLOCK_WRITE_FILE | LANDLOCK_READ_FILE | LANDLOCK_TRUNCATE |         \
	 LANDLOCK_IOCTL_DEV)

/* ABI 1 lets nothing be renamed from one directory to another, which programs can't do without. */
enum { LANDLOCK_ABI_LEAST = 2 };

enum landlock_on {
	ON_MOUNT,  /* the root of a mount that is writable, else nothing is given */
	ON_DEVICE, /* a device or a pipe */
};

struct landlock_place {
	const char *path; /* inside the root */
	enum landlock_on on;
	uint64_t rights;
};

struct landlock_plan {
	int abi;	  /* 0: there is none */
	uint64_t handled; /* what is denied unless it is given */
	uint64_t root;	  /* what is given everywhere */
	size_t n;
	struct landlock_place *places;
};

/* abi: what the kernel has, LANDLOCK_ABI_LEAST at least. The config is one that a policy has
 * tightened, or that of a container which a further process comes to: mounts that are not there
 * give nothing. */
struct landlock_plan plan_landlock(const struct oci_config *c, bool root_readonly, int abi,
				   struct arena *a);

/* The gaps of a kernel with that ABI, in words; NULL: there are none. */
const char *plan_landlock_lack(int abi);
