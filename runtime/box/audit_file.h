/* The files of an audit: opening, locking, reading lines, and the head beside them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "box/audit.h"

enum { AUDIT_LOCK_MS = 10000, AUDIT_READ_SIZE = 64 << 10 };

struct audit_file {
	int fd;	 /* of the file, locked */
	int dfd; /* the head's directory */
	bool writes;
	off_t size;
	const char *path;
	const char *head_name; /* in dfd */
	const char *next_name; /* of the head to be */
};

#define AUDIT_FILE_NONE ((struct audit_file){.fd = -1, .dfd = -1})

/* To write: a regular file of ours that nobody else may open or has a link to; it is made if it is
 * missing. To read: any regular file. */
int audit_file_open(const struct audit_place *place, bool writes, struct arena *a,
		    struct audit_file *ret, struct error *e);
void audit_file_close(struct audit_file *f);
#define autoaudit __attribute__((cleanup(audit_file_close)))

enum audit_head_state { AUDIT_HEAD_NONE, AUDIT_HEAD_BAD, AUDIT_HEAD_GOOD };

/* Reads the file of that name. -1: it can't be read. */
int audit_file_read_head(const struct audit_file *f, const char *name, struct audit_head *ret,
			 enum audit_head_state *ret_state, struct error *e);

/* Writes the head to be, durably; commit makes it the head. */
int audit_file_prepare_head(const struct audit_file *f, const struct audit_head *h, struct arena *a,
			    struct error *e);
int audit_file_commit_head(const struct audit_file *f, struct error *e);

/* Appends text, durably, or leaves the file as it was, as far as that can be done. */
int audit_file_write(struct audit_file *f, const char *text, size_t len, struct error *e);

/* Reads lines from an offset on. */
struct audit_lines {
	int fd;
	off_t at;   /* of what is read next */
	char *text; /* AUDIT_LINE_MAX + AUDIT_READ_SIZE */
	size_t from, len;
	bool end;
};
void audit_lines_begin(struct audit_lines *l, int fd, off_t at, struct arena *a);

/* 1: the next line, without its line feed; *ret_ended: it had one. A line that is too long comes in
 * pieces, of which only the last may have one. 0: there is none. */
int audit_lines_next(struct audit_lines *l, const char **ret_line, size_t *ret_len, bool *ret_ended,
		     struct error *e);
