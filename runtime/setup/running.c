/* Trust: names of containers are the engines'; directories in another tree are anybody's. Nothing
 * is read but names. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "setup/running.h"
#include "sys/sys.h"

static DIR *open_directory(const struct tree *t, const char *path)
{
	int dfd = sys_openat2(t->root_dfd, path, O_RDONLY | O_DIRECTORY, 0, RESOLVE_IN_ROOT);
	DIR *dir = dfd < 0 ? NULL : fdopendir(dfd);

	if (!dir)
		fd_close(&dfd);
	return dir;
}

static void add(const struct tree *t, struct strings *list, const char *line)
{
	char **v = arena_array(t->arena, list->n + 2, char *);

	if (list->n)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = arena_strdup(t->arena, line);
	list->v = v;
}

/* runc's and crun's records are in such directories as well, with other names in them. */
static bool has_record(const struct tree *t, const char *path)
{
	return tree_has(t, arena_printf(t->arena, "%s/state.json", path)) &&
	       tree_has(t, arena_printf(t->arena, "%s/config.json", path));
}

static void look_at(const struct tree *t, const char *path, struct strings *ret)
{
	DIR *dir = open_directory(t, path);
	struct dirent *entry;
	size_t n = 0;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		n += *entry->d_name != '.' &&
		     has_record(t, arena_printf(t->arena, "%s/%s", path, entry->d_name));
	closedir(dir);
	if (n)
		add(t, ret,
		    arena_printf(
			    t->arena,
			    "%zu container%s of sbxrun %s still there (sbxrun --root %s%s list): "
			    "%s on, but can't be started again by an engine, and podman can't even "
			    "remove it: delete --force does",
			    n, n > 1 ? "s" : "", n > 1 ? "are" : "is", t->prefix, path,
			    n > 1 ? "they go" : "it goes"));
}

/* The namespaces below an engine's root. */
static void look_below(const struct tree *t, const char *path, struct strings *ret)
{
	DIR *dir = open_directory(t, path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.')
			look_at(t, arena_printf(t->arena, "%s/%s", path, entry->d_name), ret);
	closedir(dir);
}

void running_look(const struct tree *t, struct strings *ret)
{
	const char *user = getenv("XDG_RUNTIME_DIR");

	*ret = (struct strings){0};
	look_at(t, "/run/sbxrun", ret);
	/* By version, docker has a directory for each runtime, or all in runc's. */
	look_below(t, "/run/docker/runtime-sbxrun", ret);
	look_below(t, "/run/docker/runtime-runc", ret);
	look_below(t, "/run/containerd/runc", ret);
	if (geteuid() != 0 && user && *user == '/')
		look_at(t, arena_printf(t->arena, "%s/sbxrun", user), ret);
}
