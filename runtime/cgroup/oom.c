/*
 * Being told that a container ran out of memory. v1: an eventfd, which the kernel signals at the
 * time and once more when the cgroup is removed. v2: the count of processes killed in
 * memory.events; the count of attempts there ("oom") rises without a kill, too, and is not what
 * callers ask for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/stats.h"
#include "cgroup/tree.h"

static int oom_open_v1(int dfd, struct cgroup_oom *ret, struct error *e)
{
	autoclose int control_fd = openat(dfd, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	autoclose int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char text[32];

	if (control_fd < 0 || fd < 0)
		return err_sys(e, "events: memory.oom_control");
	snprintf(text, sizeof(text), "%d %d", fd, control_fd);
	if (fd_write_at(dfd, "cgroup.event_control", text) < 0)
		return err_sys(e, "events: write to cgroup.event_control");
	*ret = (struct cgroup_oom){
		.fd = fd_steal(&fd), .control_fd = fd_steal(&control_fd), .events = POLLIN};
	return 0;
}

/* The count of kills; -1 with errno: the cgroup is gone. */
static int kills_read(int fd, uint64_t *ret)
{
	char text[1024];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned long long kills = 0;
	const char *at;

	if (n < 0)
		return -1;
	text[n] = '\0';
	at = strstr(text, "oom_kill ");
	if (at && sscanf(at, "oom_kill %llu", &kills) == 1)
		*ret = kills;
	return 0;
}

static int oom_open_v2(int dfd, struct cgroup_oom *ret, struct error *e)
{
	struct cgroup_oom o = {.control_fd = -1, .events = POLLPRI};
	autoclose int fd = openat(dfd, "memory.events", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || kills_read(fd, &o.kills) < 0)
		return err_sys(e, "events: memory.events");
	o.fd = fd_steal(&fd);
	*ret = o;
	return 0;
}

int cgroup_oom_open(const struct cgroup_dirs *d, struct cgroup_oom *ret, struct error *e)
{
	size_t i;

	*ret = CGROUP_OOM_NONE;
	for (i = 0; i < d->n; i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd < 0)
			continue;
		if (faccessat(dfd, "memory.oom_control", F_OK, 0) == 0)
			return oom_open_v1(dfd, ret, e);
		if (faccessat(dfd, "memory.events", F_OK, 0) == 0)
			return oom_open_v2(dfd, ret, e);
	}
	return 0;
}

uint64_t cgroup_oom_take(struct cgroup_oom *o, bool *ret_gone)
{
	uint64_t before = o->kills, n = 0;
	char text[256];

	*ret_gone = false;
	if (o->fd < 0)
		return 0;
	if (o->control_fd < 0) {
		*ret_gone = kills_read(o->fd, &o->kills) < 0;
		return o->kills - before;
	}
	if (read(o->fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return 0;
	*ret_gone = pread(o->control_fd, text, sizeof(text), 0) < 0;
	return *ret_gone ? n - 1 : n;
}

void cgroup_oom_close(struct cgroup_oom *o)
{
	fd_close(&o->fd);
	fd_close(&o->control_fd);
}
