/* Rows that say what a program may be: rights, limits, how long it lives when memory is short. */
#include <sys/resource.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "oci/names.h"
#include "policy/row.h"

int row_no_new_privs(struct tightening *t, struct error *e)
{
	struct oci_process *p = &t->c->process;
	int level = row_level(t, LEVEL_NO_NEW_PRIVS);

	(void)e;
	if (!p->set || p->no_new_privileges || level == AS_ASKED ||
	    (level == NNP_UNLESS_USER_NS && row_has_user_ns(t)))
		return 0;
	p->no_new_privileges = true;
	row_clamped(t, "process.noNewPrivileges: on; sudo, su and other setuid programs gain "
		       "nothing");
	return 0;
}

/* The plan has what it holds the program to (plan/landlock.h). */
int row_landlock(struct tightening *t, struct error *e)
{
	const char *lack = plan_landlock_lack(t->facts->landlock_abi);
	struct oci_process *p = &t->c->process;
	bool there = t->facts->landlock_abi >= LANDLOCK_ABI_LEAST;

	if (row_level(t, LEVEL_LANDLOCK) == AS_ASKED)
		return 0;
	if (!there && row_level(t, LEVEL_LANDLOCK) == LANDLOCK_ALWAYS)
		return row_refuse(t, e, "\"landlock\": \"auto\"",
				  "a container without Landlock (%s)", lack);
	if (!there) {
		row_clamped(t, "no Landlock, since %s", lack);
		return 0;
	}
	if (p->set && !p->no_new_privileges) {
		p->no_new_privileges = true;
		row_clamped(t, "process.noNewPrivileges: on, which Landlock needs");
	}
	row_clamped(t, "files as the mounts say, by Landlock (ABI %d)%s%s", t->facts->landlock_abi,
		    lack ? ": " : "", lack ? lack : "");
	return 0;
}

/* A set with what is given of it. Names that nobody knows are the plan's to note. */
static int caps_filter(struct tightening *t, const char *field, struct strings *set,
		       struct noted_names *dropped, struct error *e)
{
	struct strings given = {.v = arena_array(t->a, set->n + 1, char *)};
	size_t i;

	for (i = 0; i < set->n; i++) {
		char *name = set->v[i];

		if (oci_cap_number(name) < 0 || policy_gives(t->p, LIST_CAPS, name)) {
			given.v[given.n++] = name;
			continue;
		}
		if (!policy_gives(t->p, LIST_CAPS_DROPPED, name))
			return row_refuse(
				t, e,
				arena_printf(t->a, "\"capabilities\": {\"allow\": [\"%s\"]}", name),
				"%s (process.capabilities.%s)", name, field);
		notes_take_name(dropped, name);
	}
	*set = given;
	return 0;
}

/* ping needs no capability where the kernel has its own kind of socket for it. */
static void caps_let_ping(struct tightening *t)
{
	static const char key[] = "net.ipv4.ping_group_range";
	const struct oci_namespace *ns = row_namespace(t, OCI_NS_NETWORK);
	struct pairs *sysctl = &t->c->linux_.sysctl;
	const struct oci_id_maps *maps = &t->c->linux_.gid_mappings;
	size_t i;

	for (i = 0; i < sysctl->n; i++)
		if (str_eq(sysctl->v[i].key, key))
			return;
	/* Ids that the container does not have can't be written. */
	if (!ns || ns->path || (row_has_user_ns(t) && (maps->n != 1 || maps->v[0].container_id)))
		return;
	ROW_EXTEND(t, *sysctl, 1);
	sysctl->v[sysctl->n++] = (struct pair){
		arena_strdup(t->a, key),
		arena_printf(t->a, "0 %u", row_has_user_ns(t) ? maps->v[0].size - 1 : 2147483647)};
	row_clamped(t, "linux.sysctl: "
		       "net.ipv4.ping_group_range lets ping work without CAP_NET_RAW");
}

int row_caps(struct tightening *t, struct error *e)
{
	struct oci_capabilities *c = &t->c->process.capabilities;
	struct {
		const char *field;
		struct strings *set;
	} sets[] = {{"bounding", &c->bounding},
		    {"effective", &c->effective},
		    {"permitted", &c->permitted},
		    {"inheritable", &c->inheritable},
		    {"ambient", &c->ambient}};
	struct noted_names dropped = {0};
	struct buf names;
	bool raw = false;
	size_t i;

	if (policy_gives(t->p, LIST_CAPS, POLICY_ALL))
		return 0;
	for (i = 0; i < ARRAY_SIZE(sets); i++)
		if (caps_filter(t, sets[i].field, sets[i].set, &dropped, e) < 0)
			return -1;
	if (!dropped.n)
		return 0;
	names = buf_new(t->a, 1 << 10);
	for (i = 0; i < dropped.n; i++) {
		buf_printf(&names, "%s%s", i ? ", " : "", dropped.v[i]);
		raw = raw || str_eq(dropped.v[i], "CAP_NET_RAW");
	}
	row_clamped(t, "process.capabilities: without %s%s", names.data,
		    dropped.more ? " and others" : "");
	if (raw)
		caps_let_ping(t);
	return 0;
}

int row_rlimits(struct tightening *t, struct error *e)
{
	static const struct {
		const char *type;
		uint64_t most;
		int level;
		bool if_asked; /* also where the config says otherwise */
	} rows[] = {
		{"RLIMIT_CORE", 0, RLIMITS_NO_CORE, false},
		{"RLIMIT_NOFILE", 4096, RLIMITS_SMALL, true},
		{"RLIMIT_MEMLOCK", 64 << 10, RLIMITS_SMALL, true},
		{"RLIMIT_MSGQUEUE", 64 << 10, RLIMITS_SMALL, true},
	};
	struct oci_process *p = &t->c->process;
	struct oci_rlimit *l;
	size_t i, k;

	(void)e;
	if (!p->set)
		return 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (row_level(t, LEVEL_RLIMITS) < rows[i].level)
			continue;
		for (k = 0; k < p->rlimits.n; k++)
			if (str_eq(p->rlimits.v[k].type, rows[i].type))
				break;
		if (k < p->rlimits.n &&
		    (!rows[i].if_asked || p->rlimits.v[k].hard <= rows[i].most))
			continue;
		if (k == p->rlimits.n) {
			ROW_EXTEND(t, p->rlimits, 1);
			p->rlimits.v[p->rlimits.n++] = (struct oci_rlimit){
				arena_strdup(t->a, rows[i].type), rows[i].most, rows[i].most};
		}
		/* A soft limit below that stays what it is. */
		l = &p->rlimits.v[k];
		l->hard = rows[i].most;
		if (l->soft > rows[i].most)
			l->soft = rows[i].most;
		row_clamped(t, "process.rlimits: %s is %llu", rows[i].type,
			    (unsigned long long)rows[i].most);
	}
	return 0;
}

int row_oom_score(struct tightening *t, struct error *e)
{
	/* kubelet's sandboxes have -998, and what is below is the engine's own. */
	static const int32_t least[] = {[OOM_ABOVE_ENGINE] = -998, [OOM_UNPROTECTED] = 0};
	struct oci_process *p = &t->c->process;
	int level = row_level(t, LEVEL_OOM_SCORE);

	(void)e;
	if (level == AS_ASKED || !p->oom_score_adj.set || p->oom_score_adj.v >= least[level])
		return 0;
	p->oom_score_adj.v = least[level];
	row_clamped(t, "process.oomScoreAdj: %d", least[level]);
	return 0;
}
