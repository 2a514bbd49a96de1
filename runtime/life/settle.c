#include "life/settle.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "filter/pure.h"
#include "life/policy.h"
#include "life/range.h"
#include "ns/joins.h"
#include "ns/members.h"
#include "oci/oci.h"
#include "policy/tighten.h"
#include "security/lsm.h"
#include "security/seccomp_install.h"
#include "sys/proc.h"
#include "sys/sys.h"

static bool settle_has_own_mounts(const struct oci_config *c)
{
	const struct oci_namespace *ns = oci_namespace_find(c, OCI_NS_MOUNT);

	return ns && !ns->path;
}

/* Which directory it is, plan_rdt() says, and whether it can be. */
static void settle_rdt(const struct oci_config *c, const char *id, struct arena *a,
		       struct host_facts *f)
{
	struct rdt_plan p;
	struct error ignored;

	f->resctrl = rdt_find_root(a);
	f->rdt_class_exists =
		plan_rdt(&c->linux_.intel_rdt, id, f->resctrl, a, &p, &ignored) == 0 &&
		rdt_class_exists(&p.group);
}

int settle_facts(const struct oci_config *c, const char *id, struct arena *a,
		 struct joins *ret_joins, struct host_facts *f, struct error *e)
{
	if (c->process.apparmor_profile || c->process.selinux_label || c->linux_.mount_label)
		lsm_probe_host(&f->lsm);
	if (c->linux_.intel_rdt.set)
		settle_rdt(c, id, a, f);
	if (!settle_has_own_mounts(c))
		f->can_mount_detached = sys_can_mount_detached();
	if (proc_boot_id(f->boot_id, e) < 0 || joins_open(c, ret_joins, e) < 0)
		return -1;
	f->own_ns = ret_joins->own;
	f->host_ns = ret_joins->host;
	f->joined_user_id = members_id_of_user(ret_joins->fds[OCI_NS_USER]);
	return 0;
}

void settle_filter(struct oci_seccomp *c, enum observe how, bool learns, struct arena *a,
		   struct host_facts *f)
{
	if (how == OBSERVE_NOTHING && !learns)
		return;
	observe_add_rules(c, how, a);
	if (c->observed)
		f->seccomp_waits = seccomp_waits_killable();
}

void settle_machine(const struct policy *p, struct host_facts *f)
{
	struct sysinfo s = {0};
	cpu_set_t cpus;

	if (p->level[LEVEL_PROC] != PROC_PIDS || sysinfo(&s) < 0)
		return;
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	f->machine = (struct machine_facts){.cpus = (uint32_t)CPU_COUNT(&cpus),
					    .memory = (uint64_t)s.totalram * s.mem_unit,
					    .now = (uint64_t)time(NULL)};
}

static void settle_rlimit(struct oci_config *c, const char *type, uint64_t value, struct arena *a)
{
	struct oci_process *p = &c->process;
	const size_t n = p->rlimits.n;
	struct oci_rlimit *wider = arena_array(a, n + 1, struct oci_rlimit);
	size_t i;

	for (i = 0; i < n; i++) {
		wider[i] = p->rlimits.v[i];
		if (str_eq(wider[i].type, type))
			return; /* whoever asked for one has it */
	}
	wider[n] = (struct oci_rlimit){.type = arena_strdup(a, type), .hard = value, .soft = value};
	p->rlimits.v = wider;
	p->rlimits.n = n + 1;
}

static void settle_note_missing(const char *field, const char *controller, const char *instead,
			      struct notes *notes, struct arena *a)
{
	notes_add(notes,
		  arena_printf(a, "%s: the cgroup controller %s is not to be had here%s",
			       field, controller, instead),
		  a);
}

/* Of memory, what is private and can be written counts: runtimes reserve far more than they use, so
 * RLIMIT_AS would end them. The number of processes is that of one id in one user namespace. */
static void settle_limit(struct oci_config *c, bool memory, bool pids, struct arena *a)
{
	const struct oci_resources *r = &c->linux_.resources;

	if (memory && r->memory.limit.set && r->memory.limit.v > 0)
		settle_rlimit(c, "RLIMIT_DATA", (uint64_t)r->memory.limit.v, a);
	if (pids && r->pids_limit.set && r->pids_limit.v > 0)
		settle_rlimit(c, "RLIMIT_NPROC", (uint64_t)r->pids_limit.v, a);
}

void settle_limits_by_rlimits(struct oci_config *c, struct arena *a)
{
	settle_limit(c, true, true, a);
}

void settle_limits(const struct host_facts *f, struct oci_config *c, struct arena *a,
		   struct notes *notes)
{
	struct oci_resources *r = &c->linux_.resources;
	const bool none = cgroup_plan_skips(&f->cgroup, !f->machine_root) != NULL;
	const bool memory = none || !cgroup_host_gives(&f->cgroup, "memory"),
		   pids = none || !cgroup_host_gives(&f->cgroup, "pids"),
		   cpu = !none && !cgroup_host_gives(&f->cgroup, "cpu");

	if (!f->cgroup.limits_if_possible)
		return;
	settle_limit(c, memory, pids, a);
	/* On v1 what sockets hold is counted apart, and would be limited by nobody. */
	if (!none && cgroup_host_gives_v1(&f->cgroup, "memory"))
		r->memory.kernel_tcp = r->memory.limit;
	if (none)
		return; /* which the plan says */
	if (memory && r->memory.limit.set) {
		r->memory.limit.set = r->memory.swap.set = false;
		settle_note_missing("linux.resources.memory.limit", "memory",
				  "; instead RLIMIT_DATA holds for each process", notes, a);
	}
	if (pids && r->pids_limit.set) {
		r->pids_limit.set = false;
		settle_note_missing("linux.resources.pids.limit", "pids",
				  "; instead RLIMIT_NPROC holds", notes, a);
	}
	if (cpu && r->cpu.quota.set) {
		r->cpu.quota.set = r->cpu.period.set = r->cpu.shares.set = false;
		settle_note_missing("linux.resources.cpu.quota", "cpu",
				  "; whole processors are held by affinity", notes, a);
	}
}

/* By a policy, and by what the caller has asked for besides. */
static int settle_policy(const struct create_options *o, const struct bundle *b,
			 struct host_facts *facts, struct arena *a, struct tightened *t,
			 struct error *e)
{
	if (life_choose_policy(o->policy, &b->config->annotations, a, &t->policy, e) < 0 ||
	    life_check_options(&t->policy, o, e) < 0)
		return -1;
	if (o->box.ids_if_possible && t->policy.level[LEVEL_USER_NS] == USER_NS_ALWAYS)
		t->policy.level[LEVEL_USER_NS] = USER_NS_AUTO;
	range_find(o, b->dir, b->config, a, facts, t);
	if (policy_tighten(&t->policy, facts, b->config, a, &t->clamps, e) < 0)
		return -1;
	if (o->no_new_keyring && t->policy.level[LEVEL_KEYRING] != AS_ASKED)
		policy_clamps_add(&t->clamps, "keyring", "--no-new-keyring has no effect", a);
	settle_limits(facts, b->config, a, &t->missing);
	if (o->box.pure)
		pure_narrow(&b->config->linux_.seccomp, a);
	settle_filter(&b->config->linux_.seccomp, o->box.observe, o->learning != NULL, a, facts);
	settle_machine(&t->policy, facts);
	if (o->box.ids_if_possible && facts->no_id_range)
		notes_add(&t->missing,
			  arena_printf(a, "no user namespace, since %s", facts->no_id_range), a);
	return 0;
}

int settle_config(const struct create_options *o, const struct bundle *b, struct host_facts *facts,
		  struct arena *a, struct joins *ret_joins, struct tightened *ret, struct error *e)
{
	if (settle_facts(b->config, o->id, a, ret_joins, facts, e) < 0)
		return -1;
	if (settle_policy(o, b, facts, a, ret, e) == 0)
		return 0;
	joins_close(ret_joins);
	return -1;
}
