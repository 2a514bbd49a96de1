#include "plan/security.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "oci/names.h"
#include "oci/words.h"

/* Words of config.json and their numbers. The kernel's headers of today lack some of them. */
static int word_value(const struct json_word *words, const char *field, const char *word,
		      uint64_t *ret, struct error *e)
{
	const struct json_word *found = oci_word_find(words, word);

	if (!found)
		return err_set(e, ERR_CONFIG, "%s: unknown value \"%s\"", field, word);
	*ret = (uint64_t)found->value;
	return 0;
}

static int word_flags(const struct json_word *words, const char *field, const struct strings *list,
		      uint64_t *ret, struct error *e)
{
	uint64_t flags = 0, one = 0;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (word_value(words, field, list->v[i], &one, e) < 0)
			return -1;
		flags |= one;
	}
	*ret = flags;
	return 0;
}

/* Capabilities */

struct cap_field {
	size_t from; /* in struct oci_capabilities */
	size_t to;   /* in struct cap_sets */
};

#define CAP_FIELD(set)                                                                             \
	{                                                                                          \
		offsetof(struct oci_capabilities, set), offsetof(struct cap_sets, set)       \
	}

static const struct cap_field cap_fields[] = {
	CAP_FIELD(bounding),	CAP_FIELD(effective), CAP_FIELD(permitted),
	CAP_FIELD(inheritable), CAP_FIELD(ambient),
};

static const char *cap_first_name(uint64_t set)
{
	const char *name = set ? oci_cap_name(__builtin_ctzll(set)) : NULL;

	return name ? name : "a capability";
}

/* Capabilities that can't be granted, noted once for all sets: they are mostly the same in each. */
struct caps_ignored {
	struct noted_names unknown;
	struct noted_names lacking;
};

/* The specification: what can't be granted is a warning, and no failure. */
static uint64_t caps_read_field(const struct strings *names, const struct cap_host *host,
				struct caps_ignored *ignored)
{
	uint64_t set = 0, bit;
	size_t i;
	int n;

	for (i = 0; i < names->n; i++) {
		n = oci_cap_number(names->v[i]);
		bit = n < 0 ? 0 : UINT64_C(1) << n;
		if (bit & host->known & host->available)
			set |= bit;
		else
			notes_take_name(bit & host->known ? &ignored->lacking : &ignored->unknown,
				       names->v[i]);
	}
	return set;
}

/* The kernel refuses these with a bare EPERM at the end; say it before anything is made. */
static int caps_check(const struct cap_sets *s, struct error *e)
{
	uint64_t effective = s->effective & ~s->permitted;
	uint64_t inheritable = s->inheritable & ~s->bounding;

	if (effective)
		return err_set(e, ERR_CONFIG,
			       "process.capabilities.effective: %s is not in permitted",
			       cap_first_name(effective));
	if (inheritable)
		return err_set(e, ERR_CONFIG,
			       "process.capabilities.inheritable: %s is not in bounding",
			       cap_first_name(inheritable));
	return 0;
}

static void caps_trim_ambient(struct cap_sets *s, struct arena *a, struct notes *notes)
{
	uint64_t extra = s->ambient & ~(s->permitted & s->inheritable);
	struct noted_names ignored = {0};

	s->ambient &= ~extra;
	for (; extra; extra &= extra - 1)
		notes_take_name(&ignored, cap_first_name(extra));
	notes_add_names(
		notes,
		"process.capabilities.ambient: ignoring what is not both permitted and inheritable:",
		&ignored, a);
}

int plan_caps(const struct oci_capabilities *c, const struct cap_host *host, struct arena *a,
	      struct cap_sets *ret_sets, struct notes *ret_notes, struct error *e)
{
	struct caps_ignored ignored = {0};
	const struct strings *names;
	struct cap_sets sets = {0};
	uint64_t *set;
	size_t i;

	for (i = 0; c->set && i < ARRAY_SIZE(cap_fields); i++) {
		names = (const struct strings *)((const char *)c + cap_fields[i].from);
		set = (uint64_t *)((char *)&sets + cap_fields[i].to);
		*set = caps_read_field(names, host, &ignored);
	}
	notes_add_names(ret_notes, "process.capabilities: ignoring what is unknown here:",
			&ignored.unknown, a);
	notes_add_names(ret_notes, "process.capabilities: ignoring what the runtime itself lacks:",
			&ignored.lacking, a);
	if (caps_check(&sets, e) < 0)
		return -1;
	caps_trim_ambient(&sets, a, ret_notes);
	*ret_sets = sets;
	return 0;
}

/* Resource limits */

int plan_rlimits(const struct oci_process *p, struct arena *a, struct rlimit_plans *ret_limits,
		 struct error *e)
{
	struct rlimit_plan *v = arena_array(a, p->rlimits.n, struct rlimit_plan);
	const struct oci_rlimit *r;
	uint64_t seen = 0;
	size_t i;
	int n;

	for (i = 0; i < p->rlimits.n; i++) {
		r = &p->rlimits.v[i];
		n = oci_rlimit_number(r->type);
		if (n < 0)
			return err_set(e, ERR_CONFIG,
				       "process.rlimits[%zu].type: unknown value \"%s\"", i,
				       r->type);
		if (seen & UINT64_C(1) << n)
			return err_set(e, ERR_CONFIG,
				       "process.rlimits[%zu].type: %s is given twice", i, r->type);
		if (r->soft > r->hard)
			return err_set(e, ERR_CONFIG,
				       "process.rlimits[%zu].soft: %s has soft above hard", i,
				       r->type);
		seen |= UINT64_C(1) << n;
		v[i] = (struct rlimit_plan){n, r->soft, r->hard, r->type};
	}
	*ret_limits = (struct rlimit_plans){p->rlimits.n, v};
	return 0;
}

/* Scheduling */

int plan_scheduler(const struct oci_scheduler *s, struct scheduler_plan *ret_plan, struct error *e)
{
	uint64_t policy = 0, flags = 0;

	if (!s->set) {
		*ret_plan = (struct scheduler_plan){0};
		return 0;
	}
	if (!s->policy)
		return err_set(e, ERR_CONFIG, "process.scheduler.policy: missing");
	if (word_value(oci_scheduler_policies, "process.scheduler.policy", s->policy, &policy, e) <
		    0 ||
	    word_flags(oci_scheduler_flags, "process.scheduler.flags", &s->flags, &flags, e) < 0)
		return -1;
	if (s->nice < -20 || s->nice > 19)
		return err_set(e, ERR_CONFIG,
			       "process.scheduler.nice: %d is not between -20 and 19", s->nice);
	if (s->priority < 0 || s->priority > 99)
		return err_set(e, ERR_CONFIG,
			       "process.scheduler.priority: %d is not between 0 and 99",
			       s->priority);
	*ret_plan = (struct scheduler_plan){
		.set = true,
		.ends_with_fork = policy == SCHED_DEADLINE || (flags & SCHED_FLAG_RESET_ON_FORK),
		.policy = (uint32_t)policy,
		.flags = flags,
		.nice = s->nice,
		.priority = (uint32_t)s->priority,
		.runtime = s->runtime,
		.deadline = s->deadline,
		.period = s->period,
	};
	return 0;
}

int plan_io_priority(const struct oci_io_priority *p, struct io_priority_plan *ret_plan,
		     struct error *e)
{
	uint64_t class = 0;

	if (!p->set) {
		*ret_plan = (struct io_priority_plan){0};
		return 0;
	}
	if (!p->class)
		return err_set(e, ERR_CONFIG, "process.ioPriority.class: missing");
	if (word_value(oci_io_classes, "process.ioPriority.class", p->class, &class, e) < 0)
		return -1;
	if (p->priority < 0 || p->priority > 7)
		return err_set(e, ERR_CONFIG,
			       "process.ioPriority.priority: %d is not between 0 and 7",
			       p->priority);
	*ret_plan = (struct io_priority_plan){true, (int)class << IOPRIO_CLASS_SHIFT | p->priority};
	return 0;
}

int plan_personality(const struct oci_personality *p, struct personality_plan *ret_plan,
		     struct error *e)
{
	uint64_t persona = 0;

	if (p->set && !p->domain)
		return err_set(e, ERR_CONFIG, "linux.personality.domain: missing");
	if (p->set && p->flags.n)
		return err_set(e, ERR_CONFIG, "linux.personality.flags: unknown value \"%s\"",
			       p->flags.v[0]);
	if (p->set && word_value(oci_personality_domains, "linux.personality.domain", p->domain,
				 &persona, e) < 0)
		return -1;
	*ret_plan = (struct personality_plan){p->set, (unsigned long)persona};
	return 0;
}

/* Memory policy */

static int nodes_error(const char *text, struct error *e)
{
	return err_set(e, ERR_CONFIG,
		       "linux.memoryPolicy.nodes: \"%s\" is not a list of nodes below %d", text,
		       PLAN_NODES_MAX);
}

/* One "3" or "0-3" into the mask. */
static bool nodes_add_range(char *range, struct memory_policy_plan *m)
{
	enum { BITS = 8 * sizeof(m->nodes[0]) };
	char *dash = strchr(range, '-');
	uint64_t first, last;

	if (dash)
		*dash = '\0';
	if (!str_to_u64(range, PLAN_NODES_MAX - 1, &first))
		return false;
	last = first;
	if (dash && (!str_to_u64(dash + 1, PLAN_NODES_MAX - 1, &last) || last < first))
		return false;
	for (; first <= last; first++)
		m->nodes[first / BITS] |= 1UL << (first % BITS);
	if (m->node_count <= last)
		m->node_count = last + 1;
	return true;
}

static int nodes_parse(const char *text, struct memory_policy_plan *m, struct error *e)
{
	char copy[4096], *rest = copy, *range;
	size_t len = strlen(text);

	if (!len)
		return 0;
	if (len >= sizeof(copy))
		return err_set(e, ERR_CONFIG, "linux.memoryPolicy.nodes: too long");
	memcpy(copy, text, len + 1);
	while ((range = strsep(&rest, ",")))
		if (!nodes_add_range(range, m))
			return nodes_error(text, e);
	return 0;
}

int plan_memory_policy(const struct oci_memory_policy *p, struct memory_policy_plan *ret_plan,
		       struct error *e)
{
	struct memory_policy_plan m = {.set = p->set};
	uint64_t mode = 0, flags = 0;

	if (!p->set) {
		*ret_plan = m;
		return 0;
	}
	if (!p->mode)
		return err_set(e, ERR_CONFIG, "linux.memoryPolicy.mode: missing");
	if (word_value(oci_memory_modes, "linux.memoryPolicy.mode", p->mode, &mode, e) < 0 ||
	    word_flags(oci_memory_flags, "linux.memoryPolicy.flags", &p->flags, &flags, e) < 0)
		return -1;
	m.mode = (int)(mode | flags);
	if (p->nodes && nodes_parse(p->nodes, &m, e) < 0)
		return -1;
	*ret_plan = m;
	return 0;
}

/* Labels */

static const char *lsm_label(const char *field, const char *label, bool enabled, const char *lsm,
			     struct arena *a, struct notes *notes)
{
	if (!label || !*label)
		return NULL;
	if (enabled)
		return label;
	notes_add(notes,
		  arena_printf(a, "%s: ignoring \"%s\": this host has no %s", field, label, lsm),
		  a);
	return NULL;
}

void plan_lsm(const struct oci_config *c, const struct lsm_host *host, struct arena *a,
	      struct lsm_plan *ret_plan, struct notes *ret_notes)
{
	const struct oci_process *p = &c->process;

	*ret_plan = (struct lsm_plan){
		.apparmor_profile = lsm_label("process.apparmorProfile", p->apparmor_profile,
					      host->apparmor, "AppArmor", a, ret_notes),
		.selinux_label = lsm_label("process.selinuxLabel", p->selinux_label, host->selinux,
					   "SELinux", a, ret_notes),
		.mount_label = lsm_label("linux.mountLabel", c->linux_.mount_label, host->selinux,
					 "SELinux", a, ret_notes),
	};
}
