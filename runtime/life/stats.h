/* The line of JSON that `events` prints for statistics. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "cgroup/rdt.h"
#include "cgroup/stats.h"

/* proc_dfd is the directory of init's pid below /proc, or -1. Ends with a newline. */
void life_stats_write(const char *id, const struct cgroup_stats *s, const struct rdt_stats *rdt,
		      int proc_dfd, struct arena *a, struct buf *b);

/* The text of /proc/PID/net/dev as the member network_interfaces; NULL: null. text is cut up. */
void life_stats_interfaces(char *text, struct buf *b);
