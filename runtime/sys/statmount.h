/* Asks the kernel for the mount at a path: mountinfo lists them all. */
#pragma once

#include <stdint.h>

struct statmount_facts {
	uint64_t magic;	     /* of the file system */
	char root[256];	     /* the part of it that is shown: "/" is all */
	char options[512];   /* of the superblock, with commas */
};

/* 1; 0 if there is no such path; -1: the kernel can't tell (before Linux 6.11), or
 * it is too long. */
int statmount_at(const char *path, struct statmount_facts *ret);
