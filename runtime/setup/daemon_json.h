/*
 * docker's /etc/docker/daemon.json with and without a runtime of ours. Pure: text in, one splice
 * out. What is outside of the splice stays byte for byte; the result is read again and compared,
 * value by value, with what it should be, before it is handed out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* Bytes [at, at + cut) become insert. */
struct splice {
	bool changes; /* false: nothing is to be done */
	size_t at, cut;
	const char *insert;
	const char *text; /* the result */
	size_t len;
};

#define DAEMON_JSON_NAME "sbxrun"

/* Adds runtimes.sbxrun = {"path": program}. An entry that is the same: nothing changes. Another one
 * is an error, which says what is there, or replaced with force. An empty text counts as {}. */
int daemon_json_add(const char *what, const char *text, size_t len, const char *program, bool force,
		    struct arena *a, struct splice *ret, struct error *e);

/* Takes it out. An entry that daemon_json_add() would not write is an error, unless force. A
 * "runtimes" that is empty then goes along, unless keep_empty. */
int daemon_json_remove(const char *what, const char *text, size_t len, bool force, bool keep_empty,
		       struct arena *a, struct splice *ret, struct error *e);

/* Whether the text is an object that has "runtimes". false also if it is no JSON. */
bool daemon_json_has_runtimes(const char *text, size_t len, struct arena *a);

/* Whether two texts have the same values; an empty one counts as {}. */
bool daemon_json_equal(const char *a_text, size_t a_len, const char *b_text, size_t b_len,
		       struct arena *a);
