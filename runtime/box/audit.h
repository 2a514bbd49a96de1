/*
 * The audit file: one line a run, or a deed on a box that stays, chained by hashes (audit_chain.h),
 * and its head kept apart.
 *
 * An append, under a lock on the file:
 *
 *	1. what the file ends with is compared with the head; what a crash has left is mended,
 *	   and a line says so
 *	2. FILE.head.next: what the head will be, synced
 *	3. the line, in one write, synced
 *	4. FILE.head.next becomes FILE.head
 *
 * A crash before 3 leaves the intention of a line that isn't there, one in 3 half a line, one
 * before 4 a line that the head doesn't know but the intention does. A line that neither of them
 * knows is nobody's crash; nor is a head whose line is not there. The append says so in a line of
 * its own kind, and verify finds the file bad from then on.
 *
 * Trust: who can write the file and its head can write a new chain. What was told to the journal,
 * or a head that lies elsewhere, shows it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "box/audit_chain.h"
#include "json/types.h"

struct audit_place {
	const char *path;
	const char *head; /* NULL: the path with .head behind it */
};

/* A NULL is null there. Texts may have any bytes; those that are JSON are checked. */
struct audit_entry {
	const char *time; /* RFC 3339; NULL: now */
	uid_t uid;
	const char *verb; /* do, … */
	const char *id;
	const char *language;
	const char *code_sha256;
	const char *rootfs;
	const char *limits; /* JSON */
	const char *status;
	int exit_code;
	const char *signal;
	const char *denials; /* JSON */
	const char *network; /* JSON; NULL: it reached nothing, and the line has no such member */
	struct strings args;
	/* Of what is done to a box that stays; left out where they are NULL, and 0. */
	const char *content_sha256; /* of what was written or read … */
	uint64_t content_bytes;	    /* … and its length */
	const char *error;	    /* why it failed */
};

/* Appends a line, durably. Failure: nobody may say that the run was recorded. A line that would be
 * too long loses denials and args, and says so. *ret_note (may be NULL): what was found wrong with
 * the file before, for people; NULL: nothing. */
int audit_append(const struct audit_place *place, const struct audit_entry *entry, struct arena *a,
		 const char **ret_note, struct error *e);

/* Whether an append is likely to work, before there is something to tell: the file can be opened
 * and locked, and there is some room on its disk. Makes the file if it is missing. */
int audit_try(const struct audit_place *place, struct arena *a, struct error *e);

struct audit_report {
	uint64_t lines;	 /* good ones, up to the first bad one */
	size_t bad_line; /* of the file; 0: none */
	const char *why;
	size_t recoveries; /* lines that tell of a crash */
	size_t recovered_line;
	bool head_checked;
	const char *head_why; /* why not */
	struct audit_head last;
};

/* Checks the file. anchor (may be NULL) is a head that somebody has remembered. -1: it could not be
 * checked. Trust: neither file nor head. */
int audit_verify(const struct audit_place *place, const struct audit_head *anchor, struct arena *a,
		 struct audit_report *ret, struct error *e);
