/*
 * Shared by the validate*.c files: pieces of the judgement, and small predicates. All of them look
 * at the config alone, never at the host.
 */
#pragma once

#include "oci/oci.h"

#define REFUSE(e, ...) err_set((e), ERR_CONFIG, __VA_ARGS__)

enum { PATH_LONGEST = 4095, UTS_LONGEST = 64, IFNAME_LONGEST = 15 };

int oci_validate_mounts(const struct oci_config *c, struct error *e);
int oci_validate_hooks(const struct oci_hooks *h, struct error *e);
int oci_validate_id_maps(const struct oci_id_maps *m, const char *at, struct error *e);
int oci_validate_linux(const struct oci_config *c, struct error *e);
int oci_validate_sysctl(const struct oci_config *c, struct error *e);
int oci_validate_seccomp(const struct oci_seccomp *s, struct error *e);

/* The version is one that this program can serve. */
int oci_validate_version(const char *version, struct error *e);

/* A path that is used from the root; `at` is the whole name of the field. */
int oci_check_absolute(const char *path, const char *at, struct error *e);

/* "0-3,7": a list of CPUs or memory nodes. */
bool oci_is_number_list(const char *s);

/* Does the path have a component ".."? */
bool oci_path_climbs(const char *path);

/* Can an interface be named so? */
bool oci_is_ifname(const char *s);

/* Major and minor number of a device node fit the kernel's dev_t. */
bool oci_is_dev(int64_t major, int64_t minor);
