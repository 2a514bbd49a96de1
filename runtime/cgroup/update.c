/*
 * New limits for a container that exists. All or nothing: what the files say is read before the
 * first write, and written back when one is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/driver.h"
#include "cgroup/tree.h"
#include "cgroup/write.h"

enum { OLD_MAX = 64 << 10 };

/* A file and what brings back what it said. */
struct kept {
	size_t dir;
	const char *file;
	const char *value;
};

struct keeping {
	size_t n;
	struct kept *v;
	struct arena a;
};

bool cgroup_current(const struct cgroup_dirs *d, const char *file, int64_t *ret)
{
	char text[64];
	size_t i;

	for (i = 0; i < d->n; i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd < 0 || fd_read_at(dfd, file, text, sizeof(text)) <= 0)
			continue;
		text[strcspn(text, " \n")] = '\0';
		if (str_eq(text, "max")) {
			*ret = -1;
			return true;
		}
		return str_to_i64(text, ret);
	}
	return false;
}

bool cgroup_current_period(const struct cgroup_dirs *d, int64_t *ret)
{
	char text[64];
	size_t i;

	if (cgroup_current(d, "cpu.cfs_period_us", ret))
		return true;
	for (i = 0; i < d->n; i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd >= 0 && fd_read_at(dfd, "cpu.max", text, sizeof(text)) > 0) {
			text[strcspn(text, "\n")] = '\0';
			return strchr(text, ' ') && str_to_i64(strchr(text, ' ') + 1, ret);
		}
	}
	return false;
}

/* The line of old that begins with the same word as `written`, for files with a line an object. */
static const char *line_of(const char *old, const char *written, struct arena *a)
{
	size_t len = strcspn(written, " ");
	const char *line;

	for (line = old; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, written, len) == 0 && line[len] == ' ')
			return arena_strndup(a, line, strcspn(line, "\n"));
	return NULL;
}

/* Lifts the limit of a device that had none. */
static const char *device_default(const char *file, const char *written, struct arena *a)
{
	int len = (int)strcspn(written, " ");

	if (str_eq(file, "io.max"))
		return arena_printf(a, "%.*s rbps=max wbps=max riops=max wiops=max", len, written);
	if (strstr(file, "weight"))
		return arena_printf(a, "%.*s %s", len, written,
				    str_after(file, "io.") ? "default" : "0");
	return arena_printf(a, "%.*s 0", len, written);
}

const char *cgroup_write_back(const char *file, const char *written, const char *old,
			      struct arena *a)
{
	const char *line = line_of(old, written, a);
	size_t digits = strspn(written, "0123456789");

	if (str_eq(file, "memory.oom_control"))
		return strstr(old, "oom_kill_disable 1") ? "1" : "0";
	if (line)
		return line;
	if (digits && written[digits] == ':')
		return device_default(file, written, a);
	if (strchr(old, '\n'))
		return NULL;
	/* An empty list is set by an empty line; writing nothing would do nothing. */
	return *old ? arena_strdup(a, old) : "\n";
}

/* Reads a file to keep; one that can't be read can't be brought back. */
static void keep(struct keeping *k, size_t dir, int dfd, const char *file, const char *written)
{
	autoclose int fd = openat(dfd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	const char *value = NULL;
	size_t len;
	char *old = fd < 0 ? NULL : fd_read_all(fd, OLD_MAX, &k->a, &len);

	if (!old)
		return;
	while (len && old[len - 1] == '\n')
		old[--len] = '\0';
	value = cgroup_write_back(file, written, old, &k->a);
	if (value)
		k->v[k->n++] = (struct kept){dir, file, value};
}

static void keep_dir(struct keeping *k, const struct cgroup_plan *p, size_t i, int dfd)
{
	size_t j;

	if (i == p->cpuset_dir && p->cpus)
		keep(k, i, dfd, "cpuset.cpus", p->cpus);
	if (i == p->cpuset_dir && p->mems)
		keep(k, i, dfd, "cpuset.mems", p->mems);
	for (j = 0; j < p->n_writes; j++) {
		const struct cgroup_write *w = &p->writes[j];

		if (w->hierarchy != i)
			continue;
		if (w->alt_file && faccessat(dfd, w->file, F_OK, 0) < 0)
			keep(k, i, dfd, w->alt_file, w->alt_value);
		else
			keep(k, i, dfd, w->file, w->value);
	}
}

/* Last written, first brought back. Some depend on others (a limit must stay below that with swap),
 * so what fails is tried again after the rest. */
static void bring_back(const struct keeping *k, const int *dfd, char *warning, size_t size)
{
	enum { ROUNDS = 3 };
	int round, left = 1;
	size_t i;

	for (round = 0; left && round < ROUNDS; round++) {
		left = 0;
		for (i = k->n; i-- > 0;)
			if (cgroup_write_at(dfd[k->v[i].dir], k->v[i].file, k->v[i].value) < 0)
				left++;
	}
	*warning = '\0';
	if (left)
		snprintf(warning, size, "update: %d files could not be set back", left);
}

static int cpuset_update(const struct cgroup_plan *p, int dfd, struct error *e)
{
	if (p->cpus && cgroup_write_at(dfd, "cpuset.cpus", p->cpus) < 0)
		return err_sys(e, "linux.resources.cpu.cpus: write %s to cpuset.cpus", p->cpus);
	if (p->mems && cgroup_write_at(dfd, "cpuset.mems", p->mems) < 0)
		return err_sys(e, "linux.resources.cpu.mems: write %s to cpuset.mems", p->mems);
	return 0;
}

static int dir_update(const struct cgroup_plan *p, size_t i, int dfd, char *warning, size_t size,
		      struct error *e)
{
	if (i == p->cpuset_dir && cpuset_update(p, dfd, e) < 0)
		return -1;
	if (cgroup_write_all(p, i, dfd, warning, size, e) < 0)
		return -1;
	if (i == p->devices_dir && cgroup_devices_attach(p, dfd, warning, size, e) < 0)
		return -1;
	if (p->dirs.v[i].inner) {
		autoclose int inner_dfd = cgroup_inner_open(dfd);

		cgroup_inner_repeat(p, i, inner_dfd);
	}
	return 0;
}

int cgroup_update(const struct cgroup_plan *p, char *warning, size_t size, struct error *e)
{
	struct keeping k = {0};
	int dfd[CGROUP_MAX];
	size_t i, n = 0;
	bool opened;
	int rc = 0;

	*warning = '\0';
	k.v = arena_array(&k.a, p->n_writes + 2, struct kept);
	for (; rc == 0 && n < p->dirs.n && n < CGROUP_MAX; n++) {
		dfd[n] = cgroup_dir_open(&p->dirs.v[n]);
		if (dfd[n] < 0)
			rc = err_sys(e, "cgroup %s%s", p->dirs.v[n].mount, p->dirs.v[n].path);
		else
			keep_dir(&k, p, n, dfd[n]);
	}
	opened = rc == 0;
	for (i = 0; rc == 0 && i < n; i++)
		rc = dir_update(p, i, dfd[i], warning, size, e);
	/* Last, because the kernel judges better, and what was written can be brought back. */
	if (rc == 0)
		rc = cgroup_driver_update(p, e);
	if (rc < 0 && opened)
		bring_back(&k, dfd, warning, size);
	for (i = 0; i < n; i++)
		fd_close(&dfd[i]);
	arena_free(&k.a);
	return rc;
}
