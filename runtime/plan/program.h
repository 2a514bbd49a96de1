/* The program: what it is, whose it is, and where it runs. Of the config's process, or of exec's
 * document. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"

struct program_plan {
	bool set; /* false: the config has no process, and nothing is executed */
	struct strings args;
	struct strings env; /* as given; HOME and the like are found inside */
	const char *cwd;
	uint32_t uid, gid;
	struct ids gids;
	struct opt_u32 umask;
	bool no_new_privs;
	bool terminal;
	struct oci_console_size console_size;
	struct opt_i32 oom_score_adj;
};
struct program_plan plan_program(const struct oci_process *p);

/* A file below /proc/sys, by its path there ("sys/net/…"). */
struct sysctl_plan {
	const char *key; /* as in the config */
	const char *path;
	const char *value;
};
struct sysctl_plans { size_t n; struct sysctl_plan *v; };
int plan_sysctls(const struct pairs *sysctl, struct arena *a, struct sysctl_plans *ret,
		 struct error *e);

/* The text for timens_offsets; NULL: nothing. */
const char *plan_time_offsets(const struct oci_linux *l, struct arena *a);
