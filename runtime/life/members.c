/*
 * Which processes a container has where no cgroup holds them, as far as records tell: its own, and
 * those of the other containers in the same state root, which may have joined its user namespace.
 */
#include <sys/pidfd.h>

#include "base/fd.h"
#include "base/str.h"
#include "life/internal.h"

/* By what is on record, or by where its init is. Where neither is known, it may have. */
static bool neighbour_joined(const struct members *m, const struct store *s, const struct record *r)
{
	uint64_t user_id = members_user_id(m);
	enum members_in in = MEMBERS_OUT;
	autoclose int pidfd = -1;
	struct error ignored;
	enum status status;
	bool ours;

	if (r->own_user_ns || life_is_of_this_boot(r, &ours, &ignored) < 0 || !ours)
		return false;
	if (r->user_id && r->user_id == user_id)
		return true;
	if (store_status(s, r, &status, &pidfd, &ignored) < 0)
		return true;
	if (pidfd >= 0)
		in = members_in_user(m, r->pid);
	return in == MEMBERS_IN || (in == MEMBERS_UNKNOWN && !(r->user_id && user_id));
}

static bool neighbour_look_at(const struct members *m, int root_dfd, const char *id)
{
	auto_store struct store s = STORE_NONE;
	struct record r = {0};
	struct arena a = {0};
	struct error ignored;
	bool found, joined;

	if (store_open_below(root_dfd, id, &s, &ignored) < 0)
		return false; /* deleted meanwhile */
	joined = store_read(&s, &a, &r, &found, &ignored) < 0 ||
		 (found && neighbour_joined(m, &s, &r));
	arena_free(&a);
	return joined;
}

/* Whether what is below its user namespace may be another container's. */
static bool members_are_joined(const struct store *s, const struct record *r,
			       const struct members *m)
{
	struct strings ids = {0};
	struct arena a = {0};
	struct error ignored;
	size_t i;
	bool joined = store_list_below(s->root_dfd, &a, &ids, &ignored) < 0;

	for (i = 0; i < ids.n && !joined; i++)
		joined = !str_eq(ids.v[i], r->id) && neighbour_look_at(m, s->root_dfd, ids.v[i]);
	arena_free(&a);
	return joined;
}

/* Init's number in /proc is init's as long as nobody has reaped it. */
static bool members_find_init(const struct record *r, int pidfd, struct members *ret)
{
	struct members m = MEMBERS_NONE;
	struct error ignored;

	if (members_of_init(r->pid, r->own_pid_ns, r->own_user_ns, &m, &ignored) < 0)
		return false;
	if (pidfd_send_signal(pidfd, 0, NULL, 0) < 0) {
		members_close(&m);
		return false;
	}
	*ret = m;
	return true;
}

void life_find_members(const struct store *s, const struct record *r, int pidfd,
		       struct members *ret)
{
	*ret = MEMBERS_NONE;
	if (pidfd < 0 || !(r->own_pid_ns || r->own_mount_ns) || !members_find_init(r, pidfd, ret)) {
		ret->mnt_id = r->own_pid_ns ? 0 : r->mnt_id;
		ret->user_id = r->own_pid_ns || !r->own_user_ns ? 0 : r->user_id;
	}
	if (ret->user_fd >= 0 || ret->user_id)
		ret->user_shared = members_are_joined(s, r, ret);
}
