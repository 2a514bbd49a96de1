/* What the rest of the program asks of the OCI layer. */
#pragma once

#include "json/json.h"
#include "oci/config.h"

#define OCI_VERSION_MAX "1.3.0"
#define OCI_VERSION_MIN "1.0.0"

/* Rows of whole documents. */
extern const struct json_table oci_config_table;    /* struct oci_config: config.json */
extern const struct json_table oci_process_table;   /* struct oci_process: exec's process.json */
extern const struct json_table oci_resources_table; /* struct oci_resources: update's file */

/* Reads and checks a config.json (untrusted). `what` names it in errors. */
int oci_config_read(const char *what, const char *text, size_t len, struct arena *a,
		    struct oci_config *ret_config, struct error *e);

/* Everything that can be judged from the config alone; errors name field and reason. */
int oci_config_validate(const struct oci_config *c, struct error *e);

/* The example config of `sbxrun spec`. */
void oci_spec_default(struct arena *a, struct oci_config *ret_config);
/* The same for an ordinary user: a user namespace with one mapping, no cgroup limits, /sys bound. */
void oci_spec_rootless(struct arena *a, uint32_t uid, uint32_t gid, struct oci_config *ret_config);

/* The features document, to the buffer; host-independent. */
void oci_features_write(struct arena *a, struct buf *b);
