/*
 * Which policy holds for a container: by a flag or the program's name (`asked`), by an annotation
 * among what the administrator's file offers, or by that file. It fails closed: a file that can't
 * be trusted, read or understood lets nothing run.
 */
#pragma once

#include "life/life.h"
#include "policy/policy.h"
#include "state/record.h"

/* The administrator's file; *ret_found: there is one. */
int life_read_policies(struct arena *a, struct policy_file *ret, bool *ret_found, struct error *e);

/* The text of another file of the administrator's, trusted under the same conditions; *ret_text is
 * NULL if there is none. */
int life_read_admin_file(const char *path, struct arena *a, char **ret_text, size_t *ret_len,
			 struct error *e);

/* The file at that path, checked in the same way. */
int life_read_policy_file(const char *path, struct arena *a, struct policy_file *ret,
			  struct error *e);

/* asked: a name, or a path; NULL: nobody did. */
int life_choose_policy(const char *asked, const struct pairs *annotations, struct arena *a,
		       struct policy *ret, struct error *e);

/* For what happens later to a container: as strict as its record and as the file of today. */
int life_policy_of(const struct record *r, struct arena *a, struct policy *ret, struct error *e);

/* Puts it on record. */
void life_record_policy(const struct policy *p, const struct policy_clamps *clamps, struct arena *a,
			struct record *r);

/* Options of the caller that a policy has a say in. */
int life_check_options(const struct policy *p, const struct create_options *o, struct error *e);
