/*
 * Files of a box that stays, for who is outside: its workspace, and nothing else. Paths are
 * relative to it (a leading /workspace is taken off).
 *
 * Trust: whoever runs in the box has named and made everything there, may do so at this very
 * moment, and may be another call. So the workspace is held by a descriptor; each name is looked up
 * below it by the kernel's own rules (openat2: beneath, without links, on the same mount); a file
 * is looked at before it is opened, and opened as what was looked at; nothing but regular files is
 * opened, without waiting for anybody (a pipe, a lease). All of it is done with the ids of the
 * box's user, whose own the files are: what he may not do, is not done for him.
 *
 * A write is whole or not at all: another name, which is renamed. Pages count among those of the
 * box's tmpfs (--disk), and for memory among those of the caller.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "box/sandbox.h"

enum { FILES_BYTES_MAX = 64 << 20, FILES_LIST_MAX = 10000, FILES_DEPTH_MAX = 64 };

struct files {
	int dfd; /* of the workspace */
	bool is_user; /* our ids for files are those of the box's user */
	uid_t uid;
	gid_t gid;
};
#define FILES_NONE ((struct files){.dfd = -1})

struct file_info {
	const char *name;
	const char *type; /* file, directory, link, other */
	uint64_t size;
	unsigned int mode;
	int64_t modified; /* seconds */
};

int files_open(struct files *f, const struct sandbox *s, struct error *e);
void files_close(struct files *f);
#define auto_files __attribute__((cleanup(files_close)))

/* The error's type, for programs: by e->sys. */
const char *files_error_type(const struct error *e);

/* Directories on the way are made. A file that is there keeps its permissions. */
int files_write(const struct files *f, const char *path, const char *data, size_t len,
		struct arena *a, struct error *e);
int files_read(const struct files *f, const char *path, size_t max, struct arena *a,
	       const char **ret, size_t *ret_len, struct error *e);
int files_stat(const struct files *f, const char *path, struct arena *a, struct file_info *ret,
	       struct error *e);

/* Sorted; *ret_more: than FILES_LIST_MAX. */
int files_list(const struct files *f, const char *path, struct arena *a, struct file_info **ret,
	       size_t *ret_n, bool *ret_more, struct error *e);

/* Of a file or a link; no directory. */
int files_remove(const struct files *f, const char *path, struct arena *a, struct error *e);

/* Pure: the path below the workspace, without empty components and "."; NULL: it is none. */
const char *files_path(const char *path, struct arena *a, struct error *e);
