/*
 * An ordinary user's container can give what it made, cgroups below its own for instance, to
 * another of its ids, or close it for everybody. In a user namespace with these ids the caller has
 * rights over all of it.
 */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "base/fd.h"
#include "life/internal.h"
#include "ns/userns.h"
#include "sys/child.h"
#include "sys/sys.h"

/* A user namespace with the ids of the container's own; -1 if it had none. */
static int ids_open(const struct store *s, struct arena *a, struct error *e)
{
	struct oci_config *c = arena_new(a, struct oci_config);

	if (life_read_config(s, a, c, e) < 0)
		return -1;
	if (!c->linux_.uid_mappings.n || !c->linux_.gid_mappings.n)
		return err_set(e, ERR_SYSTEM, "it has no ids of its own");
	return userns_open_map(&c->linux_.uid_mappings, &c->linux_.gid_mappings, true, e);
}

static int ids_act(life_act *act, void *arg, const struct store *s, struct arena *a)
{
	struct error ignored;
	autoclose int ns_fd = ids_open(s, a, &ignored);
	pid_t pid;

	if (ns_fd < 0)
		return -1;
	pid = sys_clone3(0, -1, NULL);
	if (pid == 0)
		_exit(setns(ns_fd, CLONE_NEWUSER) < 0 || act(arg, &ignored) < 0);
	return pid > 0 && child_collect(pid) == 0 ? 0 : -1;
}

int life_act_by_ids(life_act *act, void *arg, const struct store *s, struct arena *a,
		    struct error *e)
{
	if (act(arg, e) == 0)
		return 0;
	return e->sys == EACCES && geteuid() != 0 ? ids_act(act, arg, s, a) : -1;
}
