/* Facts about the host, and a bundle as a plan. */
#include <linux/capability.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/systemd.h"
#include "life/bundle.h"
#include "life/internal.h"
#include "life/settle.h"
#include "ns/joins.h"
#include "policy/conditions.h"
#include "rootfs/sources.h"
#include "security/caps.h"
#include "security/landlock.h"
#include "security/seccomp_install.h"
#include "sys/loop.h"
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
	ret->cgroup.limits_if_possible = o->box.limits_if_possible;
	ret->cgroup.name = o->box.cgroup_name;
	if (o->box.few_cgroups)
		cgroup_host_narrow(&ret->cgroup, systemd_is_running());
	return o->systemd ? host_find_units(o, a, ret, e) : 0;
}

const char *life_state_dir(const char *root, const char *id, struct arena *a)
{
	char cwd[4096];

	if (root[0] != '/' && getcwd(cwd, sizeof(cwd)))
		root = path_join(a, cwd, root);
	return path_join(a, root, id);
}

bool life_may_listen(void)
{
	return seccomp_may_listen();
}

static int host_pin_source(const struct pinned_source *s, struct plan *p, struct error *e)
{
	bool found = false;
	size_t i;

	for (i = 0; i < p->n_mounts; i++) {
		struct mount_plan *m = &p->mounts[i];

		if (m->kind != MOUNT_BIND || !m->source || !str_eq(m->source, s->path))
			continue;
		m->pinned = found = true;
		m->device = s->device;
		m->inode = s->inode;
	}
	return found ? 0 : err_set(e, ERR_BUG, "nothing is mounted of %s", s->path);
}

int life_plan(const struct create_options *o, const struct host_facts *facts,
	      const struct oci_config *c, const char *bundle, const struct tightened *t,
	      struct arena *a, struct plan *ret, struct error *e)
{
	const char *state_root = path_clean(a, life_state_dir(o->root, ".", a));
	struct plan *p = ret;
	size_t i;

	if (plan_make(c, o->id, bundle, facts, a, p, e) < 0)
		return -1;
	for (i = 0; i < t->missing.n; i++)
		notes_add(&p->warnings, t->missing.v[i], a);
	for (i = 0; i < o->box.n_pinned; i++)
		if (host_pin_source(&o->box.pinned[i], p, e) < 0)
			return -1;
	p->root_upper = o->box.root_upper;
	p->root_readonly = p->root_readonly && !p->root_upper;
	p->root_kept = o->box.keep_root && !p->root_upper;
	policy_set_conditions(&t->policy, c, facts, state_root, a, p);
	p->keeps_keyring = o->no_new_keyring && t->policy.level[LEVEL_KEYRING] == AS_ASKED;
	p->no_pivot = o->no_pivot;
	return sources_find_inside(p, a, e) < 0 ? -1 : seccomp_check_host(&p->filter, e);
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
	    settle_config(o, &bundle, &facts, a, &joins, &tightened, e) < 0)
		return -1;
	joins_close(&joins);
	if (life_plan(o, &facts, bundle.config, bundle.dir, &tightened, a, p, e) < 0)
		return -1;
	plan_print(p, form, b);
	return 0;
}
