#include "cgroup/rdt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/mountinfo.h"

#define RESCTRL_MAGIC 0x7655821

enum { FILE_MAX = 64 << 10 };

struct rdt_search {
	struct arena *a;
	const char *found;
};

static int rdt_look(const struct mountinfo_line *line, void *context, struct error *e)
{
	struct rdt_search *s = context;

	(void)e;
	if (!str_eq(line->type, "resctrl"))
		return 0;
	s->found = arena_strdup(s->a, line->point);
	return 1;
}

const char *rdt_find_root(struct arena *a)
{
	static const char usual[] = "/sys/fs/resctrl";
	struct rdt_search s = {.a = a};
	struct error ignored;
	struct statfs fs;

	if (statfs(usual, &fs) == 0 && fs.f_type == RESCTRL_MAGIC)
		return usual;
	mountinfo_each(rdt_look, &s, &ignored);
	return s.found;
}

bool rdt_class_exists(const struct rdt_group *g)
{
	return access(g->class, F_OK) == 0;
}

/* The kernel's own words about the last write, if it has any. */
static const char *last_status(const struct rdt_group *g, char *text, size_t size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/info/last_cmd_status", g->root);
	if (fd_read_at(AT_FDCWD, path, text, size) <= 0 || str_eq(text, "ok"))
		return "";
	return text;
}

static char *schemata_read(int dfd, struct arena *a)
{
	autoclose int fd = openat(dfd, "schemata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t len;

	return fd < 0 ? NULL : fd_read_all(fd, FILE_MAX, a, &len);
}

static int class_open(const struct rdt_group *g, struct error *e)
{
	int dfd = open(g->class, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return dfd < 0 ? err_sys(e, "linux.intelRdt: open %s", g->class) : dfd;
}

int rdt_set_schemata(const struct rdt_group *g, const char *schemata, struct arena *a,
		     const char **ret_old, struct error *e)
{
	autoclose int dfd = class_open(g, e);
	const char *old = NULL;
	char why[256];

	if (dfd < 0)
		return -1;
	if (ret_old && !(old = schemata_read(dfd, a)))
		return err_sys(e, "linux.intelRdt: read %s/schemata", g->class);
	if (fd_write_at(dfd, "schemata", schemata) < 0) {
		err_sys(e, "linux.intelRdt: write %s/schemata", g->class);
		return *last_status(g, why, sizeof(why)) ? err_wrap(e, "%s", why) : -1;
	}
	if (ret_old)
		*ret_old = old;
	return 0;
}

/* A shared class is what it is: others count on it. */
static int schemata_compare(const struct rdt_plan *p, struct error *e)
{
	autoclose int dfd = class_open(&p->group, e);
	struct arena a = {0};
	char *text;
	int result = 0;

	if (dfd < 0)
		return -1;
	text = schemata_read(dfd, &a);
	if (!text)
		result = err_sys(e, "linux.intelRdt: read %s/schemata", p->group.class);
	else if (!rdt_schemata_agree(text, p->schemata))
		result = err_set(e, ERR_CONFIG,
				 "linux.intelRdt: the class %s exists and has other schemata",
				 p->group.class);
	arena_free(&a);
	return result;
}

/* 1: made. 0: it was there. */
static int class_make(const struct rdt_plan *p, struct error *e)
{
	const struct rdt_group *g = &p->group;

	if (!p->may_make) {
		if (rdt_class_exists(g))
			return 0;
		return err_sys(e, "linux.intelRdt.closID: %s", g->class);
	}
	if (mkdir(g->class, 0755) == 0)
		return 1;
	/* One that is ours is nobody else's. */
	if (errno == EEXIST && !g->ours)
		return 0;
	return err_sys(e, "linux.intelRdt: mkdir %s", g->class);
}

static int tasks_open(const char *dir, struct cgroup_handle *h, struct error *e)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/tasks", dir) >= (int)sizeof(path))
		return err_set(e, ERR_CONFIG, "linux.intelRdt.closID: too long");
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_sys(e, "linux.intelRdt: open %s", path);
	h->tasks_fd[h->n++] = fd;
	return 0;
}

int rdt_open(const struct rdt_group *g, struct cgroup_handle *h, struct error *e)
{
	if (!g->set)
		return 0;
	/* In this order: only who is in a class may be in a monitoring group of it. */
	if (tasks_open(g->class, h, e) < 0)
		return -1;
	return g->monitor ? tasks_open(g->monitor, h, e) : 0;
}

int rdt_make(const struct rdt_plan *p, struct cgroup_handle *h, struct error *e)
{
	const struct rdt_group *g = &p->group;
	bool monitored = false;
	int made, result = 0;

	if (!g->set)
		return 0;
	made = class_make(p, e);
	if (made < 0)
		return -1;
	if (p->schemata)
		result = made ? rdt_set_schemata(g, p->schemata, NULL, NULL, e) :
				schemata_compare(p, e);
	if (result == 0 && g->monitor) {
		monitored = mkdir(g->monitor, 0755) == 0;
		if (!monitored)
			result =
				err_sys(e, "linux.intelRdt.enableMonitoring: mkdir %s", g->monitor);
	}
	if (result == 0)
		result = rdt_open(g, h, e);
	if (result < 0 && monitored)
		rmdir(g->monitor);
	if (result < 0 && made)
		rmdir(g->class);
	return result;
}

/* A process that has joined meanwhile would fall out of it. */
static bool class_is_empty(const struct rdt_group *g)
{
	char path[4096], text[16];

	snprintf(path, sizeof(path), "%s/tasks", g->class);
	return fd_read_at(AT_FDCWD, path, text, sizeof(text)) == 0;
}

int rdt_remove(const struct rdt_group *g, struct error *e)
{
	int result = 0;

	if (!g->set)
		return 0;
	if (g->monitor && rmdir(g->monitor) < 0 && errno != ENOENT)
		result = err_sys(e, "remove %s", g->monitor);
	if ((g->ours || (g->made && class_is_empty(g))) && rmdir(g->class) < 0 && errno != ENOENT)
		result = err_sys(e, "remove %s", g->class);
	return result;
}
