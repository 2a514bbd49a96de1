/* The words of config.json's closed sets: what the rows read, validate.c checks and
 * features lists. */
#pragma once

#include "json/json.h"

/* Words that stand for an enum. Each ends in {NULL, 0}. */
extern const struct json_word oci_ns_words[];
extern const struct json_word oci_seccomp_action_words[];
extern const struct json_word oci_seccomp_op_words[];

/* Words that stand for a number of the kernel's. Each ends in {NULL, 0}. */
extern const struct json_word oci_seccomp_flags[];
extern const struct json_word oci_scheduler_policies[];
extern const struct json_word oci_scheduler_flags[];
extern const struct json_word oci_io_classes[];
extern const struct json_word oci_propagations[];
extern const struct json_word oci_personality_domains[];
extern const struct json_word oci_memory_modes[];
extern const struct json_word oci_memory_flags[];

/* The word in such a list, or NULL. */
const struct json_word *oci_word_find(const struct json_word *words, const char *word);

/* Words that stand for themselves. Each ends in NULL. */
extern const char *const oci_seccomp_archs[]; /* their system calls: filter/syscalls.c */
extern const char *const oci_clocks[];
extern const char *const oci_hook_kinds[];

/* Is the word in such a list? */
bool oci_word_known(const char *const *words, const char *word);
