#include "life/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "filter/pure.h"
#include "filter/seccomp_eval.h"
#include "filter/syscalls.h"
#include "life/bundle.h"
#include "life/internal.h"
#include "life/policy.h"
#include "life/range.h"
#include "life/settle.h"
#include "oci/names.h"
#include "policy/conditions.h"
#include "policy/remedy.h"
#include "policy/tighten.h"
#include "rootfs/guard.h"
#include "rootfs/mount.h"
#include "sys/sys.h"

static void surface_calls(const struct plan *p, struct surface *s)
{
	const struct syscall_arch *arch = syscall_arch_native();
	const struct seccomp_program *f = &p->filter;
	struct seccomp_data foreign = {.arch = arch->token == AUDIT_ARCH_X86_64 ?
						       AUDIT_ARCH_I386 :
						       AUDIT_ARCH_ARM,
				       .nr = 20};
	size_t i;
	int nr;

	s->filter = f->filter != NULL;
	for (i = 0; i < syscall_row_count; i++) {
		nr = syscall_number(&syscall_rows[i], arch);
		if (nr < 0)
			continue;
		if (!f->filter || bpf_allows_always(f->filter, f->len, nr))
			s->calls++;
		else if (!bpf_forbids_always(f->filter, f->len, nr))
			s->calls_some++;
	}
	s->calls += s->calls_some;
	s->other_abis = !f->filter ||
			bpf_eval(f->filter, f->len, &foreign).action == SECCOMP_RET_ALLOW;
}

static void strings_add(struct strings *l, const char *word, size_t *cap, struct arena *a)
{
	l->v = arena_grow(a, l->v, cap, l->n + 2, sizeof(*l->v));
	l->v[l->n++] = arena_strdup(a, word);
	l->v[l->n] = NULL;
}

static void surface_mounts(const struct plan *p, struct arena *a, struct surface *s)
{
	size_t all = 0, writable = 0, i;

	strings_add(&s->mounts, "/", &all, a);
	s->without_nosuid = !p->root_nosuid;
	s->without_nodev = !p->root_nodev;
	if (!p->root_readonly)
		strings_add(&s->writable, "/", &writable, a);
	for (i = 0; i < p->n_mounts; i++) {
		const struct mount_plan *m = &p->mounts[i];
		uint64_t set = m->set | m->set_all;

		strings_add(&s->mounts, m->destination, &all, a);
		s->without_nosuid += !(set & MOUNT_ATTR_NOSUID);
		s->without_nodev += !(set & MOUNT_ATTR_NODEV);
		if (!(set & MOUNT_ATTR_RDONLY))
			strings_add(&s->writable, m->destination, &writable, a);
	}
}

static void surface_devices(const struct plan *p, struct arena *a, struct surface *s)
{
	size_t cap = 0, i;

	for (i = 0; i < p->n_devices; i++)
		if (p->devices[i].type != S_IFIFO)
			strings_add(&s->devices, p->devices[i].path, &cap, a);
}

static void surface_namespaces(const struct plan *p, struct arena *a, struct surface *s)
{
	size_t own = 0, host = 0, joined = 0;
	enum oci_ns i;

	for (i = 0; i < OCI_NS_COUNT; i++) {
		const struct oci_ns_name *n = &oci_ns_names[i];

		if (plan_has_new(p, n->flag))
			strings_add(&s->own_ns, n->word, &own, a);
		else if (plan_join(p, i))
			strings_add(&s->joined_ns, n->word, &joined, a);
		else
			strings_add(&s->host_ns, n->word, &host, a);
	}
	s->user_ns = p->owns_userns || plan_join(p, OCI_NS_USER);
}

static void surface_of(const struct plan *p, struct arena *a, struct surface *ret)
{
	*ret = (struct surface){
		.caps = p->caps.bounding | p->caps.permitted,
		.no_new_privs = p->program.no_new_privs,
		.landlock_abi = p->landlock.abi,
		.covered = p->masked_paths.n,
		.read_only = p->readonly_paths.n,
	};
	surface_calls(p, ret);
	surface_mounts(p, a, ret);
	surface_devices(p, a, ret);
	surface_namespaces(p, a, ret);
}

/* Those that a create of these options would say. */
static void explain_notes(const struct create_options *o, const struct host_facts *facts,
			  const struct plan *p, struct arena *a, struct notes *ret)
{
	size_t i;

	*ret = p->warnings;
	if (o->box.ids_if_possible && facts->no_id_range)
		notes_add(ret, arena_printf(a, "no user namespace, since %s", facts->no_id_range),
			  a);
	for (i = 0; i < p->cgroup.warnings.n; i++)
		notes_add(ret, p->cgroup.warnings.v[i], a);
}

static void refusal_of_source(const struct mount_plan *m, const char *text, struct arena *a,
			      struct policy_clamps *ret)
{
	policy_clamps_add(ret, policy_rows[LEVEL_HOST_PATHS].id, text, a);
	ret->v[ret->n - 1].path = m->source ? arena_strdup(a, m->source) : NULL;
}

/* Sources that init would refuse when it opens them: all of them, since whoever asks wants to know
 * once. What can't be opened here may be there for init (the caller's own ids), and is not judged.
 */
static void explain_sources(struct plan *p, struct arena *a, struct policy_clamps *ret)
{
	struct guard_look *looks = guard_new_looks(&p->guard, a);
	struct error e;
	size_t i;

	for (i = 0; i < p->n_mounts; i++) {
		autoclose int fd = -1;

		if (p->mounts[i].kind != MOUNT_BIND || p->mounts[i].inside)
			continue;
		fd = mount_open_source(p, &p->mounts[i], looks, &e);
		if (fd < 0 && e.class == ERR_CONFIG)
			refusal_of_source(&p->mounts[i], e.text, a, ret);
	}
}

/* One of the two plans; the config is read anew, since a policy changes it. */
static int explain_plan(const struct create_options *o, const struct policy *policy,
			const struct record *r, struct arena *a, struct explanation *x,
			struct surface *ret, struct error *e)
{
	struct tightened t = TIGHTENED_NONE;
	struct plan *p = arena_new(a, struct plan);
	struct host_facts facts;
	struct bundle bundle;
	struct notes missing = {0};
	struct joins joins;
	size_t i;
	int result;

	if (life_probe_for(o, a, &facts, e) < 0 || bundle_load(o, a, &bundle, e) < 0 ||
	    settle_facts(bundle.config, o->id, a, &joins, &facts, e) < 0)
		return -1;
	if (policy)
		t.policy = *policy;
	if (r)
		facts.id_range = r->id_range;
	else if (policy)
		range_find(o, bundle.dir, bundle.config, a, &facts, &t);
	if (policy) {
		policy_tighten_all(policy, &facts, bundle.config, a, &x->clamps, &x->refusals);
		settle_limits(&facts, bundle.config, a, &missing);
		if (o->box.pure)
			pure_narrow(&bundle.config->linux_.seccomp, a);
	}
	result = plan_make(bundle.config, o->id, bundle.dir, &facts, a, p, e);
	joins_close(&joins);
	if (result < 0)
		return -1;
	if (policy) {
		settle_machine(policy, &facts);
		policy_set_conditions(policy, bundle.config, &facts,
				      path_clean(a, life_state_dir(o->root, ".", a)), a, p);
		if (!r)
			explain_sources(p, a, &x->refusals);
		explain_notes(o, &facts, p, a, &x->notes);
		for (i = 0; i < missing.n; i++)
			notes_add(&x->notes, missing.v[i], a);
		x->plan = p;
	}
	surface_of(p, a, ret);
	return 0;
}

/* Unless it was told. */
static void refusals_add(struct policy_clamps *l, const struct policy_clamp *c, struct arena *a)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (str_eq(l->v[i].text, c->text))
			return;
	policy_clamps_add(l, c->row, c->text, a);
}

/* The gifts without which something is refused, each row by its own words. A row tells
 * one refusal at a time, so those that are told are allowed, and it is asked again. */
static int explain_needed(const struct create_options *o, struct arena *a, struct explanation *x,
			  struct error *e)
{
	struct policy policy = x->policy;
	struct policy_clamps now = x->refusals;
	struct explanation next;
	struct surface ignored;
	bool added = true;
	size_t i;

	x->needed.name = arena_strdup(a, policy.name);
	while (added && now.n) {
		added = false;
		for (i = 0; i < now.n; i++)
			added |= policy_remedy_add(now.v[i].text, now.v[i].path, a, &x->needed);
		policy = x->policy;
		policy_apply(&x->needed, a, &policy);
		next = (struct explanation){.policy = policy};
		if (added && explain_plan(o, &policy, NULL, a, &next, &ignored, e) < 0)
			return -1;
		now = next.refusals;
		for (i = 0; i < now.n; i++)
			refusals_add(&x->refusals, &now.v[i], a);
	}
	return 0;
}

/* r: of the container that there is already, or NULL. */
static int explain_with(const struct create_options *o, const struct policy *policy,
			const struct record *r, struct arena *a, struct explanation *ret,
			struct error *e)
{
	*ret = (struct explanation){.policy = *policy};
	if (explain_plan(o, policy, r, a, ret, &ret->here, e) < 0 ||
	    explain_plan(o, NULL, r, a, ret, &ret->as_asked, e) < 0)
		return -1;
	return 0;
}

int life_explain(const struct create_options *o, struct arena *a, struct explanation *ret,
		 struct error *e)
{
	struct policy policy;
	struct bundle bundle;

	if (bundle_load(o, a, &bundle, e) < 0 ||
	    life_choose_policy(o->policy, &bundle.config->annotations, a, &policy, e) < 0)
		return -1;
	if (o->box.ids_if_possible && policy.level[LEVEL_USER_NS] == USER_NS_ALWAYS)
		policy.level[LEVEL_USER_NS] = USER_NS_AUTO;
	if (explain_with(o, &policy, NULL, a, ret, e) < 0)
		return -1;
	return explain_needed(o, a, ret, e);
}

int life_explain_container(const char *root, const char *id, struct arena *a,
			   struct explanation *ret, struct error *e)
{
	struct create_options o = {.root = root, .id = id, .console_fd = -1};
	auto_store struct store s = STORE_NONE;
	autoclose int fd = -1;
	struct policy policy;
	struct record r;

	if (life_load(root, id, STORE_LOOK, a, &s, &r, e) < 0 ||
	    life_policy_of(&r, a, &policy, e) < 0)
		return -1;
	fd = openat(s.dfd, "config.json", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	o.config_text = fd < 0 ? NULL : fd_read_all(fd, JSON_BYTES_MAX, a, &o.config_len);
	if (!o.config_text)
		return err_sys(e, "read the config of container \"%s\"", id);
	/* The bundle may be gone; its name is all that is needed. */
	o.bundle = access(r.bundle, F_OK) == 0 ? r.bundle : "/";
	o.no_cgroups = !r.cgroups.n;
	if (explain_with(&o, &policy, &r, a, ret, e) < 0)
		return -1;
	ret->id = r.id;
	ret->clamps = (struct policy_clamps){.n = r.clamps.n, .v = r.clamps.v};
	return 0;
}
