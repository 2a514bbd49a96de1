/*
 * One value, one write(2): cgroupfs takes a whole setting in a single call. Errors name the field
 * of the config that the value came from.
 */
#include "cgroup/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/tree.h"

void cgroup_log(const char *what, int dfd, const char *file, int result)
{
	char link[64], dir[512];
	int saved = errno;
	ssize_t len;

	if (!log_wants(LOG_DEBUG))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dfd);
	len = readlink(link, dir, sizeof(dir) - 1);
	dir[len < 0 ? 0 : len] = '\0';
	log_debug("cgroup: %s %s%s%s%s%s", what, dir, file ? "/" : "", file ? file : "",
		  result < 0 ? ": " : "", result < 0 ? err_text(saved) : "");
	errno = saved;
}

static void log_written(int dfd, const char *file, const char *value, int result)
{
	char what[512];

	if (!log_wants(LOG_DEBUG))
		return;
	snprintf(what, sizeof(what), "write %s to", value);
	cgroup_log(what, dfd, file, result);
}

int cgroup_write_at(int dfd, const char *file, const char *value)
{
	int result = fd_write_at(dfd, file, value);

	log_written(dfd, file, value, result);
	return result;
}

/* The file written last; a list of device rules goes into one descriptor. */
struct target {
	int fd;
	const char *file;
};

static int value_write(struct target *t, int dfd, const char *file, const char *value)
{
	size_t len = strlen(value);
	ssize_t n;

	if (t->fd < 0 || !str_eq(t->file, file)) {
		fd_close(&t->fd);
		t->fd = openat(dfd, file, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
		t->file = file;
		if (t->fd < 0)
			return -1;
	}
	do
		n = write(t->fd, value, len);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n != len) {
		errno = EIO;
		return -1;
	}
	return n < 0 ? -1 : 0;
}

/* A directory's share of a plan, in rounds. */
struct writing {
	bool *waits; /* by number of the write */
	bool first;
	bool last; /* nothing waits any more */
	size_t n_waiting, n_done;
	char *warning;
	size_t warning_size;
};

/* 0, or -1 with errno; ENOENT only when no file of the two exists. */
static int one_write(struct target *t, int dfd, const struct cgroup_write *w)
{
	int result = value_write(t, dfd, w->file, w->value);

	log_written(dfd, w->file, w->value, result);
	if (result == 0 || errno != ENOENT || t->fd >= 0 || !w->alt_file)
		return result;
	result = value_write(t, dfd, w->alt_file, w->alt_value);
	log_written(dfd, w->alt_file, w->alt_value, result);
	return result;
}

static void warn_add(char *warning, size_t size, const struct cgroup_write *w)
{
	size_t len = strlen(warning);

	snprintf(warning + len, size - len, "%s%s: ignored: %s", len ? "; " : "", w->field,
		 err_text(errno));
}

static int write_failed(const struct target *t, const struct cgroup_write *w, char *warning,
			size_t size, struct error *e)
{
	if (w->flags & CGROUP_TOLERATE) {
		warn_add(warning, size, w);
		return 0;
	}
	if (t->fd < 0 && errno == ENOENT) {
		if (w->flags & CGROUP_OPTIONAL)
			return 0;
		return err_set(e, ERR_HOST, "%s: this kernel has no %s%s%s", w->field, w->file,
			       w->alt_file ? " and no " : "", w->alt_file ? w->alt_file : "");
	}
	return err_sys(e, "%s: write %s to %s", w->field, w->value, w->file);
}

/* In order; what may have to wait for others is left in waits, and done when its
 * turn comes again. */
static int write_round(const struct cgroup_plan *p, size_t i, int dfd, struct writing *g,
		       struct error *e)
{
	struct target t = {.fd = -1};
	int rc = 0;
	size_t k;

	g->n_waiting = g->n_done = 0;
	for (k = 0; rc == 0 && k < p->n_writes; k++) {
		const struct cgroup_write *w = &p->writes[k];

		if (w->hierarchy != i || (!g->first && !g->waits[k]))
			continue;
		g->waits[k] = false;
		if (one_write(&t, dfd, w) == 0) {
			g->n_done++;
		} else if ((w->flags & CGROUP_RETRY) && t.fd >= 0 && !g->last) {
			g->waits[k] = true;
			g->n_waiting++;
		} else {
			rc = write_failed(&t, w, g->warning, g->warning_size, e);
		}
	}
	fd_close(&t.fd);
	g->first = false;
	return rc;
}

int cgroup_write_all(const struct cgroup_plan *p, size_t i, int dfd, char *warning, size_t size,
		     struct error *e)
{
	struct arena a = {0};
	struct writing g = {
		.waits = arena_array(&a, p->n_writes + 1, bool),
		.first = true,
		.warning = warning,
		.warning_size = size,
	};
	int rc = write_round(p, i, dfd, &g, e);

	/* Each round must do something, or its first refusal is the answer. */
	while (rc == 0 && g.n_waiting) {
		g.last = !g.n_done;
		rc = write_round(p, i, dfd, &g, e);
	}
	arena_free(&a);
	return rc;
}

bool cgroup_write_has_parents(const struct cgroup_plan *p, size_t i)
{
	size_t k;

	for (k = 0; k < p->n_writes; k++)
		if (p->writes[k].hierarchy == i && (p->writes[k].flags & CGROUP_PARENTS))
			return true;
	return false;
}

int cgroup_write_parent(const struct cgroup_plan *p, size_t i, int dfd, struct error *e)
{
	size_t k;

	for (k = 0; k < p->n_writes; k++) {
		const struct cgroup_write *w = &p->writes[k];

		if (w->hierarchy == i && (w->flags & CGROUP_PARENTS) &&
		    cgroup_write_at(dfd, w->file, w->value) < 0)
			return err_sys(e, "%s: write %s to %s of a parent", w->field, w->value,
				       w->file);
	}
	return 0;
}
