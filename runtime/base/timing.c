#include "base/timing.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fd.h"

enum { MARKS_MAX = 128 };

struct timing {
	atomic_uint n;
	struct {
		struct timespec at;
		char stage[40];
	} marks[MARKS_MAX];
};

static struct timing *timing;

int timing_start(struct error *e)
{
	void *p = mmap(NULL, sizeof(*timing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return err_sys(e, "--timing: mmap");
	timing = p;
	return 0;
}

void timing_mark(const char *stage)
{
	unsigned int i;

	if (!timing)
		return;
	i = atomic_fetch_add(&timing->n, 1);
	if (i >= MARKS_MAX)
		return;
	clock_gettime(CLOCK_MONOTONIC, &timing->marks[i].at);
	snprintf(timing->marks[i].stage, sizeof(timing->marks[i].stage), "%s", stage);
}

static long timing_us(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) * 1000000 + (to->tv_nsec - from->tv_nsec) / 1000;
}

int timing_write(const char *file, struct error *e)
{
	autoclose int fd = -1;
	unsigned int i, n;

	if (!timing)
		return 0;
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0)
		return err_sys(e, "--timing: open %s", file);
	n = timing->n < MARKS_MAX ? timing->n : MARKS_MAX;
	dprintf(fd, "#total_us step_us stage\n");
	for (i = 0; i < n; i++)
		dprintf(fd, "%ld %ld %s\n", timing_us(&timing->marks[0].at, &timing->marks[i].at),
			timing_us(&timing->marks[i ? i - 1 : 0].at, &timing->marks[i].at),
			timing->marks[i].stage);
	return 0;
}
