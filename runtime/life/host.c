/* Facts about the host, and a bundle as a plan. */
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "cgroup/systemd.h"
#include "life/bundle.h"
#include "filter/pure.h"
#include "life/internal.h"
#include "life/policy.h"
#include "life/range.h"
#include "ns/joins.h"
#include "oci/oci.h"
#include "policy/conditions.h"
#include "policy/tighten.h"
#include "rootfs/sources.h"
#include "security/caps.h"
#include "security/landlock.h"
#include "security/lsm.h"
#include "security/seccomp_install.h"
#include "sys/loop.h"
#include "sys/proc.h"
#include "sys/sys.h"

enum { KERNEL_MAJOR = 5, KERNEL_MINOR = 14 };

static int host_check_kernel(struct error *e)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0)
		return err_sys(e, "uname");
	if (sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR)))
		return 0;
	return err_set(e, ERR_HOST, "Linux %d.%d or newer is needed; this is %s", KERNEL_MAJOR,
		       KERNEL_MINOR, u.release);
}

int life_probe_host(bool cgroups, struct arena *a, struct host_facts *ret, struct error *e)
{
	struct host_facts f = {
		.uid = geteuid(),
		.gid = getegid(),
		.machine_root = sys_is_machine_root(),
		.has_time_ns = access("/proc/self/ns/time", F_OK) == 0,
	};

	if (host_check_kernel(e) < 0 ||
	    (cgroups && cgroup_host_probe(!f.machine_root, a, &f.cgroup, e) < 0) ||
	    caps_probe_host(&f.caps, e) < 0 || landlock_probe(&f.landlock_abi, e) < 0)
		return -1;
	f.caps_userns = caps_of_userns(&f.caps);
	f.privileged = (f.caps.available & CAPS_BIT(CAP_SYS_ADMIN)) != 0;
	*ret = f;
	return 0;
}

/* Of an ordinary user's manager only it itself knows where it is. */
static int host_find_units(const struct create_options *o, struct arena *a, struct host_facts *f,
			   struct error *e)
{
	uint32_t timeout_s = o->systemd_timeout_s ? o->systemd_timeout_s : UNIT_TIMEOUT_S;
	char *manager = NULL;
	struct systemd s;
	int rc = 0;

	f->cgroup.driver = CGROUP_BY_SYSTEMD;
	f->cgroup.unit_timeout_s = timeout_s;
	if (!systemd_is_running())
		return err_set(
			e, ERR_HOST,
			"--systemd-cgroup: systemd is not the init of this machine (there is "
			"no /run/systemd/system): let the engine use its cgroupfs driver");
	if (!f->machine_root && f->cgroup.mode == CGROUP_V2) {
		if (systemd_open(SYSTEMD_OF_USER, loop_now() + timeout_s * LOOP_SECOND, &s, e) < 0)
			return -1;
		rc = systemd_control_group(&s, a, &manager, e);
		systemd_close(&s);
	}
	return rc < 0 ? -1 : cgroup_host_find_units(&f->cgroup, manager, a, e);
}

/* Where he has none already. That it can't be is no failure: then there are no cgroups. */
static void host_enter_boxes(const struct cgroup_host *host)
{
	struct error e;
	size_t i;

	for (i = 0; i < host->n; i++)
		if (host->mode == CGROUP_V2 && !host->v[i].base && cgroup_boxes_enter(&e) < 0)
			log_info("no cgroup of the user's own manager: %s", e.text);
}

int life_open_boxes(bool start, struct arena *a, struct cgroup_boxes *ret, struct error *e)
{
	struct cgroup_host host;

	*ret = CGROUP_BOXES_NONE;
	if (!systemd_is_running())
		return 0;
	if (cgroup_host_probe(!sys_is_machine_root(), a, &host, e) < 0)
		return -1;
	if (!sys_is_machine_root()) {
		host_enter_boxes(&host);
		return 0;
	}
	if (cgroup_host_find_units(&host, NULL, a, e) < 0)
		return -1;
	cgroup_boxes_open(&host, start, a, ret);
	return 0;
}

int life_probe_for(const struct create_options *o, struct arena *a, struct host_facts *ret,
		   struct error *e)
{
	if (life_probe_host(!o->no_cgroups, a, ret, e) < 0)
		return -1;
	if (o->no_cgroups)
		ret->cgroup.mode = CGROUP_DISABLED;
	ret->cgroup.limits_if_possible = o->limits_if_possible;
	ret->cgroup.name = o->cgroup_name;
	if (o->few_cgroups)
		cgroup_host_narrow(&ret->cgroup, systemd_is_running());
	return o->systemd ? host_find_units(o, a, ret, e) : 0;
}

static bool host_has_own_mounts(const struct oci_config *c)
{
	const struct oci_namespace *ns = oci_namespace_find(c, OCI_NS_MOUNT);

	return ns && !ns->path;
}

const char *life_state_dir(const char *root, const char *id, struct arena *a)
{
	char cwd[4096];

	if (root[0] != '/' && getcwd(cwd, sizeof(cwd)))
		root = path_join(a, cwd, root);
	return path_join(a, root, id);
}

/* Facts that only some configs need, and those that only containers do. */
int life_look_for(const struct oci_config *c, struct arena *a, struct joins *ret_joins,
			 struct host_facts *f, struct error *e)
{
	if (c->process.apparmor_profile || c->process.selinux_label || c->linux_.mount_label)
		lsm_probe_host(&f->lsm);
	if (c->linux_.intel_rdt.set)
		f->resctrl = rdt_find_root(a);
	if (!host_has_own_mounts(c))
		f->can_mount_detached = sys_can_mount_detached();
	if (proc_boot_id(f->boot_id, e) < 0 || joins_open(c, ret_joins, e) < 0)
		return -1;
	f->own_ns = ret_joins->own;
	f->host_ns = ret_joins->host;
	f->joined_user_id = members_id_of_user(ret_joins->fds[OCI_NS_USER]);
	return 0;
}

bool life_may_listen(void)
{
	return seccomp_may_listen();
}

int life_watch(struct oci_seccomp *c, enum observe how, bool learns, struct arena *a,
	       struct seccomp_program *ret_judge, struct error *e)
{
	struct notes notes = {0}; /* which the plan has, too */

	*ret_judge = (struct seccomp_program){0};
	if ((how != OBSERVE_NOTHING || learns) &&
	    seccomp_program_build(c, a, ret_judge, &notes, e) < 0)
		return -1;
	observe_add_rules(c, how, a);
	return 0;
}

/* Where the kernel knows it, a call that is asked about is not begun anew by each signal. */
void life_watch_planned(const struct oci_seccomp *c, const struct seccomp_program *judge,
			struct plan *p)
{
	p->judge = *judge;
	if (!c->observed)
		return;
	observe_denials(&p->filter);
	p->filter.flags |= seccomp_waits_killable();
}

void life_measure_machine(const struct policy *p, struct host_facts *f)
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

static void host_rlimit(struct oci_config *c, const char *type, uint64_t value, struct arena *a)
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

static void host_note_missing(const char *field, const char *controller, const char *instead,
			      struct notes *notes, struct arena *a)
{
	notes_add(notes,
		  arena_printf(a, "%s: the cgroup controller %s is not to be had here%s",
			       field, controller, instead),
		  a);
}

/* Of memory, what is private and can be written counts: runtimes reserve far more than they use, so
 * RLIMIT_AS would end them. The number of processes is that of one id in one user namespace. */
static void host_limit(struct oci_config *c, bool memory, bool pids, struct arena *a)
{
	const struct oci_resources *r = &c->linux_.resources;

	if (memory && r->memory.limit.set && r->memory.limit.v > 0)
		host_rlimit(c, "RLIMIT_DATA", (uint64_t)r->memory.limit.v, a);
	if (pids && r->pids_limit.set && r->pids_limit.v > 0)
		host_rlimit(c, "RLIMIT_NPROC", (uint64_t)r->pids_limit.v, a);
}

void life_limit_by_rlimits(struct oci_config *c, struct arena *a)
{
	host_limit(c, true, true, a);
}

void life_limit_without_cgroups(const struct host_facts *f, struct oci_config *c, struct arena *a,
				struct notes *notes)
{
	struct oci_resources *r = &c->linux_.resources;
	const bool none = cgroup_plan_skips(&f->cgroup, !f->machine_root) != NULL;
	const bool memory = none || !cgroup_host_gives(&f->cgroup, "memory"),
		   pids = none || !cgroup_host_gives(&f->cgroup, "pids"),
		   cpu = !none && !cgroup_host_gives(&f->cgroup, "cpu");

	if (!f->cgroup.limits_if_possible)
		return;
	host_limit(c, memory, pids, a);
	/* On v1 what sockets hold is counted apart, and would be limited by nobody. */
	if (!none && cgroup_host_gives_v1(&f->cgroup, "memory"))
		r->memory.kernel_tcp = r->memory.limit;
	if (none)
		return; /* which the plan says */
	if (memory && r->memory.limit.set) {
		r->memory.limit.set = r->memory.swap.set = false;
		host_note_missing("linux.resources.memory.limit", "memory",
				  "; instead RLIMIT_DATA holds for each process", notes, a);
	}
	if (pids && r->pids_limit.set) {
		r->pids_limit.set = false;
		host_note_missing("linux.resources.pids.limit", "pids",
				  "; instead RLIMIT_NPROC holds", notes, a);
	}
	if (cpu && r->cpu.quota.set) {
		r->cpu.quota.set = r->cpu.period.set = r->cpu.shares.set = false;
		host_note_missing("linux.resources.cpu.quota", "cpu",
				  "; whole processors are held by affinity", notes, a);
	}
}

static int host_plan(const struct create_options *o, struct host_facts *facts,
		     const struct bundle *b, struct arena *a, struct plan *p, struct tightened *t,
		     struct error *e)
{
	const char *state_root = path_clean(a, life_state_dir(o->root, ".", a));
	struct seccomp_program judge;
	struct notes missing = {0};
	size_t i;

	if (life_choose_policy(o->policy, &b->config->annotations, a, &t->policy, e) < 0 ||
	    life_check_options(&t->policy, o, e) < 0)
		return -1;
	if (o->ids_if_possible && t->policy.level[LEVEL_USER_NS] == USER_NS_ALWAYS)
		t->policy.level[LEVEL_USER_NS] = USER_NS_AUTO;
	range_find(o, b->dir, b->config, a, facts, t);
	if (policy_tighten(&t->policy, facts, b->config, a, &t->clamps, e) < 0)
		return -1;
	life_limit_without_cgroups(facts, b->config, a, &missing);
	if (o->pure)
		pure_narrow(&b->config->linux_.seccomp, a);
	if (life_watch(&b->config->linux_.seccomp, o->observe, o->learning != NULL, a, &judge, e) <
		    0 ||
	    plan_make(b->config, o->id, b->dir, facts, a, p, e) < 0)
		return -1;
	life_watch_planned(&b->config->linux_.seccomp, &judge, p);
	for (i = 0; i < missing.n; i++)
		notes_add(&p->warnings, missing.v[i], a);
	if (o->ids_if_possible && facts->no_id_range)
		notes_add(&p->warnings,
			  arena_printf(a, "no user namespace, since %s", facts->no_id_range), a);
	p->root_upper = o->root_upper;
	p->root_readonly = p->root_readonly && !p->root_upper;
	life_measure_machine(&t->policy, facts);
	policy_set_conditions(&t->policy, b->config, facts, state_root, a, p);
	p->keeps_keyring = o->no_new_keyring && t->policy.level[LEVEL_KEYRING] == AS_ASKED;
	if (o->no_new_keyring && !p->keeps_keyring)
		policy_clamps_add(&t->clamps, "keyring", "--no-new-keyring has no effect", a);
	return 0;
}

int life_plan(const struct create_options *o, struct host_facts *facts, const struct bundle *b,
	      struct arena *a, struct joins *ret_joins, struct plan *ret_plan,
	      struct tightened *ret_tightened, struct error *e)
{
	if (life_look_for(b->config, a, ret_joins, facts, e) < 0)
		return -1;
	if (host_plan(o, facts, b, a, ret_plan, ret_tightened, e) < 0 ||
	    sources_find_inside(ret_plan, a, e) < 0 ||
	    seccomp_check_host(&ret_plan->filter, e) < 0) {
		joins_close(ret_joins);
		return -1;
	}
	ret_plan->no_pivot = o->no_pivot;
	return 0;
}

int life_describe(const struct create_options *o, enum plan_form form, struct arena *a,
		  struct buf *b, struct error *e)
{
	struct plan *p = arena_new(a, struct plan);
	struct tightened tightened = TIGHTENED_NONE;
	struct host_facts facts;
	struct bundle bundle;
	struct joins joins;

	if (store_check_id(o->id, e) < 0 || life_probe_for(o, a, &facts, e) < 0)
		return -1;
	if (bundle_load(o, a, &bundle, e) < 0 ||
	    life_plan(o, &facts, &bundle, a, &joins, p, &tightened, e) < 0)
		return -1;
	joins_close(&joins);
	plan_print(p, form, b);
	return 0;
}
