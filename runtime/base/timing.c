#include "base/timing.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fd.h"
#include "base/output.h"

enum { MARKS_MAX = 128 };

struct timing {
	atomic_uint n;
	struct {
		struct timespec at;
		char stage[40];
	} marks[MARKS_MAX];
};

static struct timing *timing;
static int timing_fd = -1;

/* The file is opened first: what can't be written must not turn a verb that has succeeded into a
 * failure. */
int timing_start(const char *file, struct error *e)
{
	void *p = mmap(NULL, sizeof(*timing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		return err_sys(e, "--timing: mmap");
	timing_fd = output_open("--timing", file, O_TRUNC, e);
	if (timing_fd < 0)
		return -1;
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

void timing_write(void)
{
	unsigned int i, n;

	if (!timing)
		return;
	n = timing->n < MARKS_MAX ? timing->n : MARKS_MAX;
	dprintf(timing_fd, "#total_us step_us stage\n");
	for (i = 0; i < n; i++)
		dprintf(timing_fd, "%ld %ld %s\n",
			timing_us(&timing->marks[0].at, &timing->marks[i].at),
			timing_us(&timing->marks[i ? i - 1 : 0].at, &timing->marks[i].at),
			timing->marks[i].stage);
	fd_close(&timing_fd);
}
