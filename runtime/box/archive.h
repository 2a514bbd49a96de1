/*
 * Files of a box as one file of ours: a begin, which has facts as JSON, and entries, each with the
 * content of its file behind it. Nothing of it lies on a filesystem of the host under a name, or
 * with permissions, that a box has chosen. Only directories, regular files and links are in it,
 * with nine bits of permissions, and neither owners nor extended attributes.
 *
 * Trust of a reader: the bytes. Paths are relative, without "..", and their number, lengths and
 * sizes have bounds; that they are looked up safely is the affair of whoever uses them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

enum { ARCHIVE_BUFFER = 64 << 10, ARCHIVE_FACTS_MAX = 2 << 20, ARCHIVE_ENTRIES_MAX = 200000 };

enum archive_place { IN_WORKSPACE, IN_ROOT };
enum archive_change { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };
enum archive_type { TYPE_DIRECTORY, TYPE_FILE, TYPE_LINK, TYPE_OTHER };

struct archive_entry {
	enum archive_place place;
	enum archive_change change; /* of the root filesystem; in a workspace all are added */
	enum archive_type type;
	uint32_t mode; /* nine bits */
	uint64_t size;
	int64_t modified; /* nanoseconds, as the next one */
	int64_t changed;  /* by the kernel's clock, not by who owns it */
	uint64_t inode;
	const char *path;   /* below its place */
	const char *target; /* of a link */
};

struct archive_out {
	int fd;
	uint64_t entries, bytes;
	uint64_t room; /* bytes that may still be written */
	size_t len;
	char data[ARCHIVE_BUFFER];
};

/* EFBIG in e->sys: there is no room. */
int archive_begin(struct archive_out *out, int fd, uint64_t room, const char *facts, size_t len,
		  struct error *e);
int archive_add(struct archive_out *out, const struct archive_entry *entry, struct error *e);

/* The content of the file that was added last; without it, archive_add_nothing(). Holes stay
 * holes. */
int archive_add_content(struct archive_out *out, int from_fd, struct error *e);
int archive_add_nothing(struct archive_out *out, struct error *e);
int archive_end(struct archive_out *out, struct error *e);

struct archive_in {
	int fd;
	uint64_t entries, bytes; /* as the begin says */
	uint64_t seen;
	char *facts;
	bool has_content; /* of the entry that was read last, and it was not taken yet */
	size_t at, len;
	char data[ARCHIVE_BUFFER];
};

int archive_open(struct archive_in *in, int fd, struct arena *a, struct error *e);

/* 1; 0: there are no more, and all that the begin speaks of were there. */
int archive_next(struct archive_in *in, struct arena *a, struct archive_entry *ret,
		 struct error *e);

/* Writes the content of the entry to a new file. e->sys is that of the write. */
int archive_take(struct archive_in *in, const struct archive_entry *entry, int to_fd,
		 struct error *e);

/* Pure. */
bool archive_path_is_good(const char *path, size_t len);
