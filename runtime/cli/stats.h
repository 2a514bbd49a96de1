/* The lines of JSON that `events` prints. */
#pragma once

#include "base/buf.h"
#include "cgroup/rdt.h"
#include "cgroup/stats.h"

/* net_dev: the text of /proc/PID/net/dev, which is cut up; NULL: none. Ends with a newline. */
void stats_write(const char *id, const struct cgroup_stats *s, const struct rdt_stats *rdt,
		 char *net_dev, struct buf *b);

void stats_write_oom(const char *id, struct buf *b);

/* The member network_interfaces; NULL: null. text is cut up. */
void stats_interfaces(char *text, struct buf *b);
