/*
 * A process that waits for `start`, or that exec brings in, may be traced by others, and its memory
 * read. The config is the caller's: hooks with their environment, annotations, paths of the host.
 * Nothing of it stays but what the program is given anyway.
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

/* For init_filter_obstacle() and init_execute_or_die(). */
static const struct plan *forget_plan(const struct plan *p, struct arena *a)
{
	struct plan *kept = arena_new(a, struct plan);

	kept->program.set = p->program.set;
	kept->program.terminal = p->program.terminal;
	kept->program.no_new_privs = p->program.no_new_privs;
	kept->program.args = forget_all_but(&p->program.args, 0, a);
	kept->by_machine_root = p->by_machine_root;
	kept->scheduler = p->scheduler; /* whether it is the parent's to set */
	kept->caps = p->caps;
	kept->rlimits = p->rlimits;
	kept->rlimits.v = forget_copy(p->rlimits.v, p->rlimits.n, sizeof(*p->rlimits.v), a);
	kept->filter = p->filter;
	kept->filter.filter =
		forget_copy(p->filter.filter, p->filter.len, sizeof(*p->filter.filter), a);
	kept->filter.listener_path = kept->filter.listener_metadata = NULL;
	return kept;
}

void init_forget(struct init *in)
{
	static struct arena kept;
	struct init rest = *in; /* which may lie in what is wiped */

	if (in->plan->hooks.start_container.n)
		return;
	rest.arena = &kept;
	rest.plan = forget_plan(in->plan, &kept);
	rest.own.program = in->own.program ? arena_strdup(&kept, in->own.program) : NULL;
	rest.own.env = forget_all_but(&in->own.env, 2, &kept); /* program_env_add_sockets() */
	rest.record = NULL;
	rest.io.streams = NULL;
	arena_wipe(in->arena);
	*in = rest;
}
