/* Advice to a refused program, and to who reads its result: never to turn anything off. */
#pragma once

#include <stdint.h>

#include "base/arena.h"

/* For the name of a system call. */
const char *hint_of_call(const char *name);

/* A call of another architecture, which ends the program. */
const char *hint_of_foreign(void);

/* For one that the policy gives, and the profile of that name does not. */
const char *hint_of_profile(const char *profile, struct arena *a);
const char *hint_of_network(void);

/* Of a host that was refused; why is an enum egress_verdict, port 0 is none. */
const char *hint_of_host(const char *host, uint16_t port, unsigned int why, struct arena *a);
const char *hint_of_file(void);
const char *hint_of_pure(void);

/* A name that the program has given, fit for a line of text that people and models read: shortened,
 * and without characters that do something. */
enum { HINT_TEXT_MAX = 200 };
const char *hint_clean(const char *text, struct arena *a);

/* A whole name, fit likewise: only characters that do something go. */
const char *hint_clean_name(const char *text, struct arena *a);

/* Text of lines for a terminal, which obeys nothing in it. */
const char *hint_clean_text(const char *text, struct arena *a);

/* The arguments that tell what was wanted and are no pointers; NULL: none. */
const char *hint_arguments(const char *name, const uint64_t args[3], struct arena *a);
