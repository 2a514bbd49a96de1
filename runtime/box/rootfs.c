/*
 * The root that a box runs in: a directory that sbxrun-rootfs has built, or that the caller names;
 * and where there is none, a frame of a few directories and links for the host's own /usr.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/box.h"
#include "json/rows.h"
#include "state/sweep.h"
#include "sys/sys.h"

#define FRAME "host"

/* Where sbxrun-rootfs puts what it builds. */
static const char *root_library(struct arena *a)
{
	const char *dir = getenv("SBXRUN_ROOTFS_DIR"), *data = getenv("XDG_DATA_HOME"),
		   *home = getenv("HOME");

	if (dir && *dir == '/')
		return dir;
	if (geteuid() == 0)
		return "/var/lib/sbxrun/rootfs";
	if (data && *data == '/')
		return path_join(a, data, "sbxrun/rootfs");
	return home && *home == '/' ? path_join(a, home, ".local/share/sbxrun/rootfs") : NULL;
}

/* ---- what was built ---- */

struct root_manifest {
	char *name;
	char *digest;
};
static const struct json_row root_manifest_rows[] = {
	F(root_manifest, "name", STR, name),
	F(root_manifest, "digest", STR, digest),
};
TABLE(root_manifest);

/* "python@sha256:…"; of a manifest that can't be read the name alone. */
static const char *root_title(const char *dir, const char *name, struct arena *a)
{
	autoclose int fd =
		open(path_join(a, dir, "manifest.json"), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct root_manifest m = {0};
	struct error ignored;
	size_t len;
	char *text = fd < 0 ? NULL : fd_read_all(fd, JSON_BYTES_MAX, a, &len);

	if (!text || json_read("manifest.json", text, len, &root_manifest_table,
			       &json_default_limits, &m, a, &ignored) < 0 ||
	    !m.digest)
		return name;
	return arena_printf(a, "%s@%s", name, m.digest);
}

static bool root_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* NULL: there is none of that name. */
static const char *root_built(const char *name, struct arena *a, const char **ret_title)
{
	const char *library = root_library(a), *dir, *path;

	if (!library || strchr(name, '/') || name[0] == '.')
		return NULL;
	dir = path_join(a, library, name);
	path = path_join(a, dir, "rootfs");
	if (!root_is_dir(path))
		return NULL;
	*ret_title = root_title(dir, name, a);
	return path;
}

/* ---- the frame ---- */

static const struct {
	const char *path;
	mode_t mode;
	const char *text; /* NULL: a directory */
} frame[] = {
	{"usr", 0755, NULL},
	{"etc", 0755, NULL},
	{"etc/alternatives", 0755, NULL},
	{"etc/R", 0755, NULL},
	{"etc/ssl", 0755, NULL},
	{"etc/ssl/certs", 0755, NULL},
	{"proc", 0755, NULL},
	{"dev", 0755, NULL},
	{"tmp", 01777, NULL},
	{"var", 0755, NULL},
	{"workspace", 0755, NULL},
	{"etc/ld.so.cache", 0644, ""},
	{"etc/hosts", 0644, "127.0.0.1 localhost\n::1 localhost\n"},
	{"etc/hostname", 0644, "box\n"},
	{"etc/resolv.conf", 0644, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"},
	{"etc/nsswitch.conf", 0644, "passwd: files\ngroup: files\nhosts: files dns\n"},
	{"etc/passwd", 0644,
	 "root:x:0:0:root:/workspace:/bin/sh\nnobody:x:65534:65534:nobody:/workspace:/bin/sh\n"},
	{"etc/group", 0644, "root:x:0:\nnogroup:x:65534:\n"},
};
static const char *const frame_links[] = {"bin", "sbin", "lib", "lib32", "lib64"};

static int frame_file(int dfd, const char *path, mode_t mode, const char *text)
{
	autoclose int fd =
		openat(dfd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

/* As the host has them: links into /usr, or directories to bind on. */
static int frame_link(int dfd, const char *name)
{
	char from[16], target[64];
	ssize_t n;

	snprintf(from, sizeof(from), "/%s", name);
	n = readlink(from, target, sizeof(target) - 1);
	if (n < 0)
		return access(from, F_OK) < 0 ? 0 : mkdirat(dfd, name, 0755);
	target[n] = '\0';
	return symlinkat(target, dfd, name);
}

static int frame_fill(int dfd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(frame); i++)
		if ((frame[i].text ? frame_file(dfd, frame[i].path, frame[i].mode, frame[i].text) :
				     mkdirat(dfd, frame[i].path, frame[i].mode)) < 0)
			return -1;
	for (i = 0; i < ARRAY_SIZE(frame_links); i++)
		if (frame_link(dfd, frame_links[i]) < 0)
			return -1;
	return fchmodat(dfd, "tmp", 01777, 0);
}

static int frame_make_parents(const char *library, struct arena *a)
{
	char *path = arena_strdup(a, library), *slash = path;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -1 : 0;
}

/* Beside its place first, so that nobody ever sees half of it. */
static int frame_make(const char *library, struct arena *a, struct error *e)
{
	char *beside = arena_printf(a, ".%s.%d", FRAME, getpid());
	autoclose int dfd = -1, new_dfd = -1, root_dfd = -1;
	int result = -1;

	if (frame_make_parents(library, a) == 0)
		dfd = open(library, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd >= 0 && sweep_directory(dfd, beside) == 0 && mkdirat(dfd, beside, 0755) == 0)
		new_dfd = openat(dfd, beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (new_dfd >= 0 && mkdirat(new_dfd, "rootfs", 0755) == 0)
		root_dfd = openat(new_dfd, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_dfd >= 0)
		result = frame_fill(root_dfd);
	if (result == 0 && renameat(dfd, beside, dfd, FRAME) < 0 && errno != EEXIST &&
	    errno != ENOTEMPTY)
		result = -1;
	if (result < 0)
		err_sys(e, "make a root for the host's programs in %s", library);
	if (dfd >= 0)
		sweep_directory(dfd, beside);
	return result;
}

static int root_of_host(struct arena *a, struct box_root *ret, struct error *e)
{
	const char *library = root_library(a), *path;

	if (!library)
		return err_set(e, ERR_HOST,
			       "there is no place for root filesystems: HOME is not set");
	path = path_join(a, library, FRAME "/rootfs");
	if (!root_is_dir(path) && frame_make(library, a, e) < 0)
		return -1;
	*ret = (struct box_root){.path = path, .name = FRAME, .host = true};
	return 0;
}

/* ---- finding one ---- */

static int root_named(const char *name, struct arena *a, struct box_root *ret, struct error *e)
{
	const char *title = name, *path = root_built(name, a, &title);
	char *real;

	if (!path && !strchr(name, '/') && !str_eq(name, "."))
		return err_set(e, ERR_USAGE,
			       "--rootfs: there is no rootfs called %s: sbxrun-rootfs build %s, or "
			       "name a directory (./%s)",
			       name, name, name);
	real = path ? NULL : realpath(name, NULL);
	if (!path && !real)
		return err_sys(e, "--rootfs: %s", name);
	if (real && !root_is_dir(real)) {
		free(real);
		return err_set(e, ERR_USAGE, "--rootfs: %s is not a directory", name);
	}
	*ret = (struct box_root){.path = path ? path : arena_strdup(a, real), .name = title};
	free(real);
	return 0;
}

int box_root_find(const struct box_request *q, struct arena *a, struct box_root *ret,
		  struct error *e)
{
	const char *title = NULL, *path;

	if (q->rootfs && str_eq(q->rootfs, FRAME))
		return root_of_host(a, ret, e);
	if (q->rootfs)
		return root_named(q->rootfs, a, ret, e);
	path = q->language ? root_built(q->language->rootfs, a, &title) : NULL;
	if (!path)
		return root_of_host(a, ret, e);
	*ret = (struct box_root){.path = path, .name = title};
	return 0;
}
