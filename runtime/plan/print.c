/*
 * The plan in words: one fact a line, in the order in which it will be carried out. Secrets stay
 * out of it, for plans go to logs: of variables the names alone, and no passwords of file systems.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/str.h"
#include "filter/seccomp_eval.h"
#include "oci/names.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "sys/sys.h"

struct bit_name {
	uint64_t bit;
	const char *name;
};

static void print_bits(struct facts *f, const char *key, uint64_t bits,
		       const struct bit_name *names, size_t n)
{
	char *v[16];
	size_t i, k = 0;

	for (i = 0; i < n && k < ARRAY_SIZE(v); i++)
		if (bits & names[i].bit)
			v[k++] = (char *)(uintptr_t)names[i].name;
	fact_list(f, key, v, k);
}

static const struct bit_name attr_names[] = {
	{MOUNT_ATTR_RDONLY, "ro"},	   {MOUNT_ATTR_NOSUID, "nosuid"},
	{MOUNT_ATTR_NODEV, "nodev"},	   {MOUNT_ATTR_NOEXEC, "noexec"},
	{MOUNT_ATTR_NOATIME, "noatime"},   {MOUNT_ATTR_STRICTATIME, "strictatime"},
	{MOUNT_ATTR_NODIRATIME, "nodiratime"}, {MOUNT_ATTR_NOSYMFOLLOW, "nosymfollow"},
};

static const struct bit_name propagation_names[] = {
	{MS_PRIVATE, "private"},
	{MS_SHARED, "shared"},
	{MS_SLAVE, "slave"},
	{MS_UNBINDABLE, "unbindable"},
};

static void print_attrs(struct facts *f, const char *key, uint64_t bits)
{
	print_bits(f, key, bits, attr_names, ARRAY_SIZE(attr_names));
}

static void print_propagation(struct facts *f, uint64_t bits, bool all)
{
	print_bits(f, all ? "propagation-all" : "propagation", bits, propagation_names,
		   ARRAY_SIZE(propagation_names));
}

static void print_root(const struct plan *p, struct facts *f)
{
	fact(f, "root");
	fact_str(f, "path", p->rootfs);
	fact_str(f, "by", p->new_root ? "pivot" : p->root_detached ? "chroot-detached" : "chroot");
	fact_is(f, "readonly", p->root_readonly);
	if (p->root_upper)
		fact_number(f, "own-layer", (uint64_t)p->root_upper);
	fact_is(f, "nodev", p->root_nodev);
	fact_is(f, "kept", p->root_kept);
	fact_is(f, "may-be-moved", p->no_pivot);
	print_propagation(f, p->root_propagation, p->root_propagation_all);
}

static void print_maps(const char *kind, const struct oci_id_maps *maps, struct facts *f)
{
	size_t i;

	for (i = 0; i < maps->n; i++) {
		fact(f, kind);
		fact_number(f, "inside", maps->v[i].container_id);
		fact_number(f, "outside", maps->v[i].host_id);
		fact_number(f, "size", maps->v[i].size);
	}
}

static void print_namespaces(const struct plan *p, struct facts *f)
{
	size_t i;

	for (i = 0; i < OCI_NS_COUNT; i++)
		if (plan_has_new(p, oci_ns_names[i].flag)) {
			fact(f, "namespace");
			fact_str(f, "kind", oci_ns_names[i].word);
			fact_is(f, "new", true);
		}
	for (i = 0; i < p->ns.n_joins; i++) {
		fact(f, "namespace");
		fact_str(f, "kind", oci_ns_names[p->ns.joins[i].type].word);
		fact_str(f, "join", p->ns.joins[i].path);
	}
	if (p->owns_userns) {
		print_maps("uid-map", &p->uid_maps, f);
		print_maps("gid-map", &p->gid_maps, f);
	}
	if (p->time_offsets) {
		fact(f, "time-offsets");
		fact_str(f, "text", p->time_offsets);
	}
}

static void print_names(const struct plan *p, struct facts *f)
{
	size_t i;

	if (p->hostname || p->domainname) {
		fact(f, "names");
		fact_str(f, "hostname", p->hostname);
		fact_str(f, "domainname", p->domainname);
	}
	for (i = 0; i < p->sysctls.n; i++) {
		fact(f, "sysctl");
		fact_str(f, "key", p->sysctls.v[i].key);
		fact_str(f, "value", p->sysctls.v[i].value);
	}
}

static bool is_secret(const char *key)
{
	static const char *const words[] = {"pass", "secret", "key", "cred", "token"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(key, words[i]))
			return true;
	return false;
}

static void print_mount(const struct mount_plan *m, struct facts *f)
{
	static const char *const kinds[] = {"fs", "bind", "cgroup", "remount"};
	size_t i;

	fact(f, "mount");
	fact_str(f, "kind", kinds[m->kind]);
	fact_str(f, "at", m->destination);
	fact_str(f, "type", m->type);
	fact_str(f, "source", m->source);
	fact_str(f, "inside", m->inside);
	fact_is(f, "recursive", m->recursive);
	print_attrs(f, "set", m->set);
	print_attrs(f, "clear", m->clear);
	print_attrs(f, "set-all", m->set_all);
	print_attrs(f, "clear-all", m->clear_all);
	print_propagation(f, m->propagation, m->propagation_all);
	fact_is(f, "tmpcopyup", m->tmpcopyup);
	if (m->proc_files)
		fact_str(f, "then", "subset=pid");
	fact_is(f, m->idmap == IDMAP_ALL ? "ridmap" : "idmap", m->idmap != IDMAP_NONE);
	for (i = 0; i < m->n_params; i++) {
		const struct mount_param *q = &m->params[i];

		if (q->value)
			fact_str(f, q->key, is_secret(q->key) ? "***" : q->value);
		else
			fact_is(f, q->key, true);
	}
}

static void print_device(const struct device_plan *d, struct facts *f)
{
	fact(f, "device");
	fact_str(f, "kind", S_ISCHR(d->type) ? "c" : S_ISBLK(d->type) ? "b" : "p");
	fact_str(f, "at", d->path);
	fact_number(f, "major", d->major);
	fact_number(f, "minor", d->minor);
	fact_octal(f, "mode", d->mode);
	fact_number(f, "uid", d->uid);
	fact_number(f, "gid", d->gid);
}

static void print_paths(const char *kind, const struct strings *paths, struct facts *f)
{
	size_t i;

	for (i = 0; i < paths->n; i++) {
		fact(f, kind);
		fact_str(f, "path", paths->v[i]);
	}
}

static void print_cgroup_devices(const struct cgroup_plan *c, struct facts *f)
{
	char type[2] = "";
	size_t i;

	for (i = 0; c->devices_dir != SIZE_MAX && i < c->devices.n; i++) {
		const struct cgroup_device_rule *r = &c->devices.v[i];
		char numbers[48];

		type[0] = r->type;
		snprintf(numbers, sizeof(numbers), "%" PRId64 ":%" PRId64, r->major, r->minor);
		fact(f, "cgroup-device");
		fact_str(f, r->allow ? "allow" : "deny", type);
		fact_str(f, "numbers", numbers);
		fact_number(f, "access", r->access);
	}
}

static void print_property(const struct unit_property *p, struct facts *f)
{
	char hex[2 * 8 + 1] = "";
	size_t i;

	fact(f, "unit-property");
	fact_str(f, "name", p->name);
	switch (p->type) {
	case UNIT_BOOL:
		fact_str(f, "value", p->yes ? "yes" : "no");
		break;
	case UNIT_TEXT:
		fact_str(f, "value", p->text);
		break;
	case UNIT_SIGNED:
	case UNIT_NUMBER:
		if (p->number == UINT64_MAX)
			fact_str(f, "value", "infinity");
		else
			fact_number(f, "value", p->number);
		break;
	case UNIT_BYTES:
		/* The first 64 of a set will do to tell it from others. */
		for (i = 0; i < p->bytes.n && i < 8; i++)
			snprintf(hex + 2 * i, 3, "%02x", p->bytes.v[i]);
		fact_str(f, "value", hex);
		break;
	case UNIT_TEXTS:
		fact_list(f, "value", p->texts.v, p->texts.n);
		break;
	case UNIT_PAIRS:
	case UNIT_WEIGHTS:
		fact_number(f, "entries", p->pairs.n);
		break;
	}
	for (i = 0; (p->type == UNIT_PAIRS || p->type == UNIT_WEIGHTS) && i < p->pairs.n; i++) {
		fact(f, "unit-entry");
		fact_str(f, "name", p->pairs.v[i].name);
		if (p->type == UNIT_PAIRS)
			fact_str(f, "value", p->pairs.v[i].text);
		else
			fact_number(f, "value", p->pairs.v[i].number);
	}
}

static void print_unit(const struct cgroup_plan *c, struct facts *f)
{
	size_t i;

	if (!c->unit.name)
		return;
	fact(f, "unit-start");
	fact_str(f, "name", c->unit.name);
	fact_str(f, "slice", c->unit.slice);
	fact_str(f, "manager", c->unit.of_user ? "user" : "machine");
	fact_number(f, "timeout", c->unit.timeout_s);
	for (i = 0; i < c->properties.n; i++)
		print_property(&c->properties.v[i], f);
}

static void print_cgroup(const struct cgroup_plan *c, struct facts *f)
{
	size_t i;

	if (c->skipped_reason) {
		fact(f, "cgroup-none");
		fact_str(f, "because", c->skipped_reason);
		return;
	}
	print_unit(c, f);
	for (i = 0; i < c->dirs.n; i++) {
		fact(f, "cgroup-make");
		fact_str(f, "hierarchy", c->dirs.v[i].mount);
		fact_str(f, "path", c->dirs.v[i].path);
		fact_is(f, "inner", c->dirs.v[i].inner);
	}
	for (i = 0; i < c->n_writes; i++) {
		fact(f, "cgroup-write");
		fact_str(f, "hierarchy", c->dirs.v[c->writes[i].hierarchy].mount);
		fact_str(f, "file", c->writes[i].file);
		fact_str(f, "value", c->writes[i].value);
	}
	print_cgroup_devices(c, f);
}

static void print_rdt(const struct rdt_plan *r, struct facts *f)
{
	if (!r->group.set)
		return;
	fact(f, "rdt");
	fact_str(f, "class", r->group.class);
	fact_is(f, "own", r->group.ours);
	fact_is(f, "make", !r->group.ours && r->may_make);
	fact_str(f, "schemata", r->schemata);
	fact_str(f, "monitor", r->group.monitor);
}

static void print_hooks(const struct oci_hooks *h, struct facts *f)
{
	const struct {
		const char *kind;
		const struct oci_hook_list *list;
	} kinds[] = {
		{"prestart", &h->prestart},	      {"createRuntime", &h->create_runtime},
		{"createContainer", &h->create_container}, {"startContainer", &h->start_container},
		{"poststart", &h->poststart},	      {"poststop", &h->poststop},
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (k = 0; k < kinds[i].list->n; k++) {
			fact(f, "hook");
			fact_str(f, "kind", kinds[i].kind);
			fact_str(f, "path", kinds[i].list->v[k].path);
		}
}

static void print_caps(const struct cap_sets *c, struct facts *f)
{
	fact(f, "capabilities");
	fact_hex(f, "bounding", c->bounding);
	fact_hex(f, "effective", c->effective);
	fact_hex(f, "permitted", c->permitted);
	fact_hex(f, "inheritable", c->inheritable);
	fact_hex(f, "ambient", c->ambient);
}

/* Tells filters apart, and counts the calls that this machine's architecture is left with. */
static void print_filter(const struct seccomp_program *p, struct facts *f)
{
	enum { CALLS = 512 };
	const unsigned char *at = (const unsigned char *)p->filter;
	size_t i, size = p->len * sizeof(*p->filter);
	uint64_t digest = UINT64_C(14695981039346656037), allowed = 0, forbidden = 0;
	int nr;

	if (!p->filter)
		return;
	for (i = 0; i < size; i++)
		digest = (digest ^ at[i]) * UINT64_C(1099511628211); /* FNV-1a */
	for (nr = 0; nr < CALLS; nr++) {
		allowed += bpf_allows_always(p->filter, p->len, nr);
		forbidden += bpf_forbids_always(p->filter, p->len, nr);
	}
	fact(f, "filter");
	fact_hex(f, "digest", digest);
	fact_number(f, "instructions", p->len);
	fact_number(f, "calls-allowed", allowed);
	fact_number(f, "calls-judged", CALLS - allowed - forbidden);
	fact_hex(f, "flags", p->flags);
	fact_is(f, "listener", p->notify);
}

/* Names of variables, up to the '='. */
static void print_env(const struct strings *env, struct facts *f)
{
	enum { SHOWN = 64 };
	char names[SHOWN][64], *v[SHOWN];
	size_t i;

	for (i = 0; i < env->n && i < SHOWN; i++) {
		snprintf(names[i], sizeof(names[i]), "%.*s", (int)strcspn(env->v[i], "="),
			 env->v[i]);
		v[i] = names[i];
	}
	fact_list(f, "env", v, i);
}

static void print_groups(const struct ids *gids, struct facts *f)
{
	enum { SHOWN = 64 };
	char numbers[SHOWN][12], *v[SHOWN];
	size_t i;

	for (i = 0; i < gids->n && i < SHOWN; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "%u", gids->v[i]);
		v[i] = numbers[i];
	}
	fact_list(f, "groups", v, i);
}

static void print_program(const struct program_plan *p, bool args, struct facts *f)
{
	if (!p->set)
		return;
	fact(f, "user");
	fact_number(f, "uid", p->uid);
	fact_number(f, "gid", p->gid);
	print_groups(&p->gids, f);
	if (p->umask.set)
		fact_octal(f, "umask", p->umask.v);
	fact(f, "program");
	fact_str(f, "cwd", p->cwd);
	if (args)
		fact_list(f, "args", p->args.v, p->args.n);
	print_env(&p->env, f);
	fact_is(f, "terminal", p->terminal);
	fact_is(f, "no-new-privs", p->no_new_privs);
	if (p->oom_score_adj.set) {
		char text[16];

		snprintf(text, sizeof(text), "%d", p->oom_score_adj.v);
		fact_str(f, "oom-score-adj", text);
	}
}

static void print_confinement(const struct plan *p, struct facts *f)
{
	size_t i;

	if (p->lsm.apparmor_profile || p->lsm.selinux_label || p->lsm.mount_label) {
		fact(f, "label");
		fact_str(f, "apparmor", p->lsm.apparmor_profile);
		fact_str(f, "selinux", p->lsm.selinux_label);
		fact_str(f, "mounts", p->lsm.mount_label);
	}
	print_caps(&p->caps, f);
	for (i = 0; i < p->rlimits.n; i++) {
		fact(f, "rlimit");
		fact_str(f, "name", p->rlimits.v[i].name);
		fact_number(f, "soft", p->rlimits.v[i].soft);
		fact_number(f, "hard", p->rlimits.v[i].hard);
	}
	print_filter(&p->filter, f);
}

static void print_landlock(const struct landlock_plan *p, struct facts *f)
{
	size_t i;

	if (!p->abi)
		return;
	fact(f, "landlock");
	fact_number(f, "abi", (uint64_t)p->abi);
	fact_hex(f, "handled", p->handled);
	fact_hex(f, "everywhere", p->root);
	for (i = 0; i < p->n; i++) {
		fact(f, "landlock-place");
		fact_str(f, "path", p->places[i].path);
		fact_str(f, "if", p->places[i].on == ON_MOUNT ? "writable-mount" : "device");
		fact_hex(f, "rights", p->places[i].rights);
	}
}

static void print_notes(const struct notes *notes, struct facts *f)
{
	size_t i;

	for (i = 0; i < notes->n; i++) {
		fact(f, "note");
		fact_str(f, "text", notes->v[i]);
	}
}

void plan_print(const struct plan *p, enum plan_form form, struct buf *b)
{
	struct facts f = {.b = b, .json = form == PLAN_JSON};
	size_t i;

	facts_begin(&f);
	print_root(p, &f);
	print_namespaces(p, &f);
	print_cgroup(&p->cgroup, &f);
	print_rdt(&p->rdt, &f);
	for (i = 0; i < p->n_mounts; i++)
		print_mount(&p->mounts[i], &f);
	for (i = 0; i < p->proc_files.n; i++) {
		fact(&f, "proc-file");
		fact_str(&f, "name", p->proc_files.v[i].name);
	}
	for (i = 0; i < p->n_devices; i++)
		print_device(&p->devices[i], &f);
	for (i = 0; i < p->n_netdevs; i++) {
		fact(&f, "interface");
		fact_str(&f, "name", p->netdevs[i].host_name);
		fact_str(&f, "as", p->netdevs[i].name);
	}
	print_names(p, &f);
	print_paths("readonly-path", &p->readonly_paths, &f);
	print_paths("masked-path", &p->masked_paths, &f);
	print_hooks(&p->hooks, &f);
	print_program(&p->program, form != PLAN_LOG, &f);
	print_confinement(p, &f);
	print_landlock(&p->landlock, &f);
	print_notes(&p->warnings, &f);
	print_notes(&p->cgroup.warnings, &f);
	facts_end(&f);
}
