/* The OCI layer, as the rest of the program sees it. */
#pragma once

#include "json/json.h"
#include "oci/config.h"

#define OCI_VERSION_MAX "1.3.0"
#define OCI_VERSION_MIN "1.0.0"
#define OCI_MINOR_MAX 3

/* Rows of whole documents. */
extern const struct json_table oci_config_table;    /* struct oci_config: config.json */
extern const struct json_table oci_hooks_table;	    /* struct oci_hooks: part of state records */
extern const struct json_table oci_process_table;   /* struct oci_process: exec's process.json */
extern const struct json_table oci_resources_table; /* struct oci_resources: update's file */

/* Reads and checks a config.json (untrusted). `what` names it in errors. */
int oci_config_read(const char *what, const char *text, size_t len, struct arena *a,
		    struct oci_config *ret_config, struct error *e);

/* Everything that can be judged from the config alone; errors name field and reason. */
int oci_config_validate(const struct oci_config *c, struct error *e);

/* The second number of a version that is valid. */
unsigned int oci_version_minor(const char *version);

/* Judges a process, or resources, on their own (exec, update). `at` stands before field names in
 * errors: "process.", "linux.resources.", or "". */
int oci_process_validate(const struct oci_process *p, const char *at, struct error *e);
int oci_resources_validate(const struct oci_resources *r, const char *at, struct error *e);

/* The config's entry for a kind of namespace, or NULL. */
const struct oci_namespace *oci_namespace_find(const struct oci_config *c, enum oci_ns type);

/* A sysctl's path below /proc/sys: "net.ipv4.conf.eth0/1.x" and "net/ipv4/conf/eth0.1/x" are
 * net/ipv4/conf/eth0.1/x. false if the key has empty, "." or ".." components or is too long. */
bool oci_sysctl_path(const char *key, char *ret_path, size_t size);

/* The kind of namespace that a valid key belongs to. */
enum oci_ns oci_sysctl_ns(const char *key);

/* The example config of `sbxrun spec`. */
void oci_spec_default(struct arena *a, struct oci_config *ret_config);
/* The example config for an ordinary user: a user namespace with one mapping, no cgroup limits,
 * /sys bound. */
void oci_spec_rootless(struct arena *a, uint32_t uid, uint32_t gid, struct oci_config *ret_config);

/* The features document, to the buffer; host-independent. */
void oci_features_write(struct arena *a, struct buf *b);
