/*
 * What waits for `start`, and what exec brings in, may be traced by others, and its memory read. The config is the
 * caller's: hooks with their environment, annotations, paths of the host. Nothing of it stays but what the program is
 * given anyway.
 */
#include <string.h>

#include "base/str.h"
#include "init/steps.h"

/* With room for `more`. */
static struct strings forget_all_but(const struct strings *list, size_t more, struct arena *a)
{
	struct strings kept = {.v = arena_array(a, list->n + more + 1, char *)};

	for (; kept.n < list->n; kept.n++)
		kept.v[kept.n] = arena_strdup(a, list->v[kept.n]);
	return kept;
}

static void *forget_copy(const void *from, size_t n, size_t size, struct arena *a)
{
	return n ? memcpy(arena_alloc(a, n, size), from, n * size) : NULL;
}

/* What init_filter_obstacle() and init_execute_or_die() look at. */
static const struct plan *forget_plan(const struct plan *p, struct arena *a)
{
	const struct oci_process *process = &p->config->process;
	struct oci_config *config = arena_new(a, struct oci_config);
	struct plan *kept = arena_new(a, struct plan);

	config->process.set = process->set;
	config->process.terminal = process->terminal;
	config->process.no_new_privileges = process->no_new_privileges;
	config->process.args = forget_all_but(&process->args, 0, a);
	kept->config = config;
	kept->by_machine_root = p->by_machine_root;
	kept->scheduler = p->scheduler; /* whether it is the parent's to set */
	kept->caps = p->caps;
	kept->rlimits = p->rlimits;
	kept->rlimits.v = forget_copy(p->rlimits.v, p->rlimits.n, sizeof(*p->rlimits.v), a);
	return kept;
}

void init_forget(struct init *in)
{
	static struct arena kept;
	struct init rest = *in; /* which may lie in what is wiped */

	if (in->plan->config->hooks.start_container.n)
		return;
	rest.arena = &kept;
	rest.plan = forget_plan(in->plan, &kept);
	rest.program = in->program ? arena_strdup(&kept, in->program) : NULL;
	rest.env = forget_all_but(&in->env, 2, &kept); /* program_env_add_sockets() */
	rest.seccomp.filter = forget_copy(in->seccomp.filter, in->seccomp.len, sizeof(*in->seccomp.filter), &kept);
	rest.seccomp.listener_path = rest.seccomp.listener_metadata = NULL;
	rest.record = NULL;
	arena_wipe(in->arena);
	*in = rest;
}
