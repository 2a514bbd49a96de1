/*
 * The row user-namespace: a container that asks for no user namespace gets one, with a range of ids
 * that is its alone. Whether it can have it, and the range itself, are facts (life/range.c); what
 * becomes of the ids on disks, the plan says (plan/ids.h).
 */
#include "base/str.h"
#include "policy/row.h"

/* Groups that have no id inside can't be named: engines write the largest of all groups. */
static void user_ns_fit_ping_groups(struct tightening *t)
{
	struct pairs *sysctl = &t->c->linux_.sysctl;
	static const char key[] = "net.ipv4.ping_group_range";
	size_t i;

	for (i = 0; i < sysctl->n; i++) {
		if (!str_eq(sysctl->v[i].key, key) || !str_eq(sysctl->v[i].value, "0 2147483647"))
			continue;
		ROW_EXTEND(t, *sysctl, 0);
		sysctl->v[i].value = arena_strdup(t->a, "0 65535");
		row_clamped(t, "linux.sysctl[%s]: 0 65535, which are all groups inside", key);
	}
}

int row_user_ns(struct tightening *t, struct error *e)
{
	const struct id_range *range = &t->facts->id_range;
	const char *why = t->facts->no_id_range;

	/* Others than the machine's root are in a user namespace already, or need one. */
	if (row_level(t, LEVEL_USER_NS) == AS_ASKED || row_has_user_ns(t) ||
	    !t->facts->machine_root)
		return 0;
	if (!range->size && row_level(t, LEVEL_USER_NS) == USER_NS_ALWAYS)
		return row_refuse(t, e, "\"user-namespace\": \"auto\"",
				  "a container without a user namespace (%s)",
				  why ? why : "the runtime's own is no other");
	if (!range->size) {
		row_clamped(t, "linux.namespaces: no user namespace, since %s",
			    why ? why : "it is the runtime's own");
		return 0;
	}
	ids_give_range(t->c, *range, t->a);
	user_ns_fit_ping_groups(t);
	row_clamped(t, "linux.namespaces: a user namespace of its own with the ids %u to %u",
		    range->first, range->first + range->size - 1);
	return 0;
}
