/* process: also that of exec, which comes as a document of its own. */
#include <stdio.h>

#include "base/str.h"
#include "oci/names.h"
#include "oci/validate.h"
#include "oci/words.h"

static int validate_args(const struct oci_process *p, const char *at, struct error *e)
{
	size_t i;

	if (p->args.n == 0)
		return REFUSE(e, "%sargs: must have an entry", at);
	if (!*p->args.v[0])
		return REFUSE(e, "%sargs[0]: must not be empty", at);
	for (i = 0; i < p->env.n; i++)
		if (!strchr(p->env.v[i], '=') || p->env.v[i][0] == '=')
			return REFUSE(e, "%senv[%zu]: %s is not NAME=VALUE", at, i,
				      json_show(p->env.v[i]).text);
	if (p->cwd[0] != '/')
		return REFUSE(e, "%scwd: %s is not an absolute path", at, json_show(p->cwd).text);
	if (strlen(p->cwd) > PATH_LONGEST)
		return REFUSE(e, "%scwd: longer than %d bytes", at, PATH_LONGEST);
	return 0;
}

/* -1 means "leave it" to the kernel's calls, so it is no id. */
static int validate_user(const struct oci_user *u, const char *at, struct error *e)
{
	size_t i;

	if (u->uid == UINT32_MAX)
		return REFUSE(e, "%suser.uid: %u is not an id", at, u->uid);
	if (u->gid == UINT32_MAX)
		return REFUSE(e, "%suser.gid: %u is not an id", at, u->gid);
	for (i = 0; i < u->additional_gids.n; i++)
		if (u->additional_gids.v[i] == UINT32_MAX)
			return REFUSE(e, "%suser.additionalGids[%zu]: %u is not an id", at, i,
				      u->additional_gids.v[i]);
	if (u->umask.set && u->umask.v > 0777)
		return REFUSE(e, "%suser.umask: %u is above 0777 (511)", at, u->umask.v);
	return 0;
}

static int validate_rlimits(const struct oci_process *p, const char *at, struct error *e)
{
	const struct oci_rlimit *r = p->rlimits.v;
	uint64_t seen = 0, bit;
	size_t i;
	int number;

	for (i = 0; i < p->rlimits.n; i++) {
		number = oci_rlimit_number(r[i].type);
		if (number < 0)
			return REFUSE(e, "%srlimits[%zu].type: unknown value %s", at, i,
				      json_show(r[i].type).text);
		bit = (uint64_t)1 << number;
		if (seen & bit)
			return REFUSE(e, "%srlimits[%zu].type: %s is there twice", at, i,
				      r[i].type);
		seen |= bit;
		if (r[i].soft > r[i].hard)
			return REFUSE(e, "%srlimits[%zu].soft: above the hard limit", at, i);
	}
	return 0;
}

static int validate_deadline(const struct oci_scheduler *s, const char *at, struct error *e)
{
	enum { SHORTEST_NS = 1024 };

	if (!str_eq(s->policy, "SCHED_DEADLINE")) {
		if (s->runtime || s->deadline || s->period)
			return REFUSE(e, "%sscheduler: runtime, deadline and period are for "
					 "SCHED_DEADLINE", at);
		return 0;
	}
	if (s->runtime < SHORTEST_NS || s->deadline < s->runtime || s->deadline > INT64_MAX)
		return REFUSE(e, "%sscheduler.deadline: must be at least runtime, and that %d", at,
			      SHORTEST_NS);
	if (s->period && (s->period < s->deadline || s->period > INT64_MAX))
		return REFUSE(e, "%sscheduler.period: must be at least deadline", at);
	return 0;
}

static int validate_scheduler(const struct oci_scheduler *s, const char *at, struct error *e)
{
	bool realtime;
	size_t i;

	if (!s->set)
		return 0;
	if (!oci_word_find(oci_scheduler_policies, s->policy))
		return REFUSE(e, "%sscheduler.policy: unknown value %s", at,
			      json_show(s->policy).text);
	if (s->nice < -20 || s->nice > 19)
		return REFUSE(e, "%sscheduler.nice: %d is not -20 to 19", at, s->nice);
	realtime = str_eq(s->policy, "SCHED_FIFO") || str_eq(s->policy, "SCHED_RR");
	if (realtime && (s->priority < 1 || s->priority > 99))
		return REFUSE(e, "%sscheduler.priority: %d is not 1 to 99", at, s->priority);
	if (!realtime && s->priority != 0)
		return REFUSE(e, "%sscheduler.priority: is for SCHED_FIFO and SCHED_RR", at);
	for (i = 0; i < s->flags.n; i++)
		if (!oci_word_find(oci_scheduler_flags, s->flags.v[i]))
			return REFUSE(e, "%sscheduler.flags[%zu]: unknown value %s", at, i,
				      json_show(s->flags.v[i]).text);
	return validate_deadline(s, at, e);
}

static int validate_io_priority(const struct oci_io_priority *p, const char *at, struct error *e)
{
	if (!p->set)
		return 0;
	if (!oci_word_find(oci_io_classes, p->class))
		return REFUSE(e, "%sioPriority.class: unknown value %s", at,
			      json_show(p->class).text);
	if (p->priority < 0 || p->priority > 7)
		return REFUSE(e, "%sioPriority.priority: %d is not 0 to 7", at, p->priority);
	return 0;
}

static int validate_affinity(const struct oci_cpu_affinity *a, const char *at, struct error *e)
{
	if (a->initial && !oci_is_number_list(a->initial))
		return REFUSE(e, "%sexecCPUAffinity.initial: %s is not a list of CPUs", at,
			      json_show(a->initial).text);
	if (a->final && !oci_is_number_list(a->final))
		return REFUSE(e, "%sexecCPUAffinity.final: %s is not a list of CPUs", at,
			      json_show(a->final).text);
	return 0;
}

/* Capabilities are not judged: the specification wants unknown names to be a warning. */
int oci_process_validate(const struct oci_process *p, const char *at, struct error *e)
{
	const struct oci_console_size *size = &p->console_size;

	if (validate_args(p, at, e) < 0 || validate_user(&p->user, at, e) < 0 ||
	    validate_rlimits(p, at, e) < 0)
		return -1;
	if (size->height > UINT16_MAX || size->width > UINT16_MAX)
		return REFUSE(e, "%sconsoleSize: larger than %d", at, UINT16_MAX);
	if (p->oom_score_adj.set && (p->oom_score_adj.v < -1000 || p->oom_score_adj.v > 1000))
		return REFUSE(e, "%soomScoreAdj: %d is not -1000 to 1000", at, p->oom_score_adj.v);
	if (validate_scheduler(&p->scheduler, at, e) < 0 ||
	    validate_io_priority(&p->io_priority, at, e) < 0)
		return -1;
	return validate_affinity(&p->exec_cpu_affinity, at, e);
}
