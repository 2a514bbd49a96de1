#include "plan/program.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "oci/oci.h"

struct program_plan plan_program(const struct oci_process *p)
{
	return (struct program_plan){
		.set = p->set,
		.args = p->args,
		.env = p->env,
		.cwd = p->cwd,
		.uid = p->user.uid,
		.gid = p->user.gid,
		.gids = p->user.additional_gids,
		.umask = p->user.umask,
		.no_new_privs = p->no_new_privileges,
		.terminal = p->set && p->terminal,
		.console_size = p->console_size,
		.oom_score_adj = p->set ? p->oom_score_adj : (struct opt_i32){0},
	};
}

int plan_sysctls(const struct pairs *sysctl, struct arena *a, struct sysctl_plans *ret,
		 struct error *e)
{
	struct sysctl_plans all = {.v = arena_array(a, sysctl->n + 1, struct sysctl_plan)};
	char path[512];

	for (; all.n < sysctl->n; all.n++) {
		const struct pair *from = &sysctl->v[all.n];

		if (!oci_sysctl_path(from->key, path, sizeof(path)))
			return err_set(e, ERR_CONFIG, "linux.sysctl: bad key \"%s\"", from->key);
		all.v[all.n] = (struct sysctl_plan){.key = from->key,
						    .path = arena_printf(a, "sys/%s", path),
						    .value = from->value};
	}
	*ret = all;
	return 0;
}

const char *plan_time_offsets(const struct oci_linux *l, struct arena *a)
{
	struct buf b = buf_new(a, 4096);
	size_t i;

	for (i = 0; i < l->time_offsets.n; i++)
		buf_printf(&b, "%s %lld %u\n", l->time_offsets.v[i].clock,
			   (long long)l->time_offsets.v[i].secs, l->time_offsets.v[i].nanosecs);
	return b.len ? b.data : NULL;
}
