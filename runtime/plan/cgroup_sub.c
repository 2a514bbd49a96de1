/*
 * Which cgroups below the container's own exec enters: `--cgroup PATH` in all hierarchies, or
 * `--cgroup CONTROLLER[,CONTROLLER…]:PATH` in those of the controllers, as runc takes it. Pure.
 *
 * Trust: the words come from the command line. ".." is refused, so that a path can't leave the
 * container's cgroup; cgroupfs has no links.
 */
#include <string.h>

#include "base/str.h"
#include "plan/cgroup_build.h"

static int sub_check(const char *path, struct error *e)
{
	size_t len;

	for (; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (len == 2 && memcmp(path, "..", 2) == 0)
			return err_set(e, ERR_USAGE, "--cgroup: \"..\" is not allowed in a path");
	}
	return 0;
}

/* The place in d of the hierarchy that has the controller, or CGROUP_NO_DIR. */
static size_t sub_find(const char *controller, const struct cgroup_dirs *d,
		       const struct cgroup_host *host)
{
	const struct cgroup_build b = {.host = host};
	size_t i, at = cgroup_build_find(&b, controller);

	for (i = 0; at != CGROUP_NO_DIR && i < d->n; i++)
		if (str_eq(d->v[i].mount, host->v[at].mount))
			return i;
	return CGROUP_NO_DIR;
}

/* controllers: "cpu,cpuacct", which is cut up. */
static int sub_set(char *controllers, const char *path, const struct cgroup_dirs *d,
		   const struct cgroup_host *host, const char **subs, struct error *e)
{
	char *name, *rest = controllers;
	size_t at;

	while ((name = strsep(&rest, ","))) {
		at = sub_find(name, d, host);
		if (at == CGROUP_NO_DIR)
			return err_set(e, ERR_USAGE,
				       "--cgroup: the container has no cgroup of controller \"%s\"",
				       name);
		if (subs[at] && !str_eq(subs[at], path))
			return err_set(e, ERR_USAGE,
				       "--cgroup: %s would be in both \"%s\" and \"%s\"", name,
				       subs[at], path);
		subs[at] = path;
	}
	return 0;
}

bool cgroup_sub_has_controller(const struct strings *words)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (strchr(words->v[i], ':'))
			return true;
	return false;
}

static int sub_lacks_controller(struct error *e)
{
	return err_set(e, ERR_USAGE,
		       "--cgroup: given more than once, each needs a CONTROLLER: in front");
}

static int sub_for_all(const struct strings *words, const struct cgroup_dirs *d, const char **subs,
		       struct error *e)
{
	size_t i;

	if (words->n > 1)
		return sub_lacks_controller(e);
	for (i = 0; i < d->n; i++)
		subs[i] = words->v[0];
	return sub_check(words->v[0], e);
}

static int sub_for_each(const struct strings *words, const struct cgroup_dirs *d,
			const struct cgroup_host *host, struct arena *a, const char **subs,
			struct error *e)
{
	size_t i;

	if (d->n == 1 && d->v[0].unified)
		return err_set(
			e, ERR_HOST,
			"--cgroup CONTROLLER:PATH: this host has cgroup v2, one tree for all "
			"controllers: use --cgroup PATH");
	for (i = 0; i < words->n; i++) {
		char *controllers = arena_strdup(a, words->v[i]);
		char *colon = strchr(controllers, ':');

		if (!colon)
			return sub_lacks_controller(e);
		*colon = '\0';
		if (sub_check(colon + 1, e) < 0 ||
		    sub_set(controllers, colon + 1, d, host, subs, e) < 0)
			return -1;
	}
	return 0;
}

int cgroup_plan_sub(const struct strings *words, const struct cgroup_dirs *d,
		    const struct cgroup_host *host, struct arena *a, const char *const **ret_subs,
		    struct error *e)
{
	const char **subs = arena_array(a, d->n + 1, const char *);
	int result = 0;

	if (words->n && !d->n)
		return err_set(e, ERR_USAGE, "--cgroup: the container has no cgroups");
	if (cgroup_sub_has_controller(words))
		result = sub_for_each(words, d, host, a, subs, e);
	else if (words->n)
		result = sub_for_all(words, d, subs, e);
	if (result == 0)
		*ret_subs = subs;
	return result;
}
