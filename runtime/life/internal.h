/* Functions that the verbs share; inside life/ only. */
#pragma once

#include "life/life.h"
#include "ns/joins.h"
#include "ns/members.h"
#include "policy/policy.h"
#include "rootfs/sources.h"
#include "state/ranges.h"

/* The policy that holds for a container, and what was changed by it and for want of other things.
 */
struct tightened {
	struct policy policy;
	struct policy_clamps clamps;
	bool takes_range;	/* of ids, if it has to have one (life/range.h) … */
	struct range_hold hold; /* … by this; and with it */
	int userns_fd;	/* a user namespace with these ids, which init enters, or -1 */
	int root_mapped_fd;	/* the root, ids mapped, or -1 */
	struct spent_trees spent; /* what was only cloned to see whether it maps ids */
	char *overlay_work;	/* its work directory (rootfs/overlay.h), or NULL */
	struct notes missing;	/* what this host has not, and the plan won't see */
};

#define TIGHTENED_NONE                                                                            \
	((struct tightened){.hold = RANGE_HOLD_NONE, .userns_fd = -1, .root_mapped_fd = -1})

/* One line about it for `explain --last` and the journal. failed: why it was not made, or NULL.
 * Nothing that goes wrong here is an error. */
void life_tell(const char *root, const char *id, const struct tightened *t, const char *failed,
	       struct arena *a);

/* For a container that was made: the line is written later, so that nobody waits for it. t stays
 * where it is. */
struct telling *life_tell_later(const char *root, const char *id, const struct tightened *t,
				struct arena *a);
void life_tell_rest(struct created *c);

/* Opens a container's store and reads its record. *ret_store is the caller's to close. */
int life_load(const char *root, const char *id, enum store_lock how, struct arena *a,
	      struct store *ret_store, struct record *ret_record, struct error *e);

/* Reads the config that the container was made from. */
int life_read_config(const struct store *s, struct arena *a, struct oci_config *ret,
		     struct error *e);

/* Engines protect themselves from being killed when memory is short. Unless the config says so,
 * that is not for the program: without oomScoreAdj a score below 0 becomes 0. */
void life_settle_oom_score(struct oci_process *p);

/* Each decision of the plan as a line of the log at level debug. */
void life_log_plan(const struct plan *p, struct arena *a);

/* Hands the plan's notes on what this host can't honour to the noter; with strict they are an error
 * that names all of them. */
int life_settle_notes(const struct plan *p, bool strict, const struct noter *noter, struct arena *a,
		      struct error *e);

/* The record's cgroups, as cgroup/ takes them. */
struct cgroup_dirs life_cgroups(const struct record *r);

/* How to find the processes of a container that has no cgroups; pidfd: its init, -1 when it has
 * ended. If there is no way to find them, members_signal() and members_exist() find nobody through
 * *ret. */
void life_find_members(const struct store *s, const struct record *r, int pidfd,
		       struct members *ret);

/* store_status(), and whether it is frozen. */
int life_status(const struct store *s, const struct record *r, enum status *ret, int *ret_pidfd,
		struct error *e);

/* cgroups false: without them, for verbs that use those on record. */
int life_probe_host(bool cgroups, struct arena *a, struct host_facts *ret, struct error *e);

/* All facts that a create of these options needs: also who makes its cgroups. */
int life_probe_for(const struct create_options *o, struct arena *a, struct host_facts *ret,
		   struct error *e);

/* Where a container's record is: an absolute path, though there may be nothing yet. */
const char *life_state_dir(const char *root, const char *id, struct arena *a);

/* From a config that is settled (life/settle.h), which is only read. */
int life_plan(const struct create_options *o, const struct host_facts *facts,
	      const struct oci_config *c, const char *bundle, const struct tightened *t,
	      struct arena *a, struct plan *ret, struct error *e);

/* Starts a created container: tells init, waits until the program runs, runs poststart hooks. After
 * a failed hook (ERR_HOOK) the caller must destroy the container, as the specification demands.
 * *ret_notify_fd is where the program will say that it is ready, if anybody waits for it, or -1.
 * take_fd: gets the listener of its filter, if there is one; NULL: it goes to listenerPath.
 * watched: the container, if its system calls are watched; NULL: they are not. */
int life_start_created(struct store *s, struct record *r, int pidfd, int *ret_notify_fd,
		       int *take_fd, struct created *watched, struct arena *a, struct error *e);

/* Has it watched, once init says that whoever does may begin. */
int life_await_watched(int sock, struct created *c, struct arena *a, struct error *e);

/* Waits until the program runs. -1 with the reason why it doesn't; the process may
 * still be there. */
int life_await_program(int sock, pid_t pid, int pidfd, const struct record *r, int *take_fd,
		       struct arena *a, struct error *e);

/* Hands the listener of a process's filter to whoever listenerPath names, or to take_fd. */
int life_serve_listener(int *listener_fd, pid_t pid, const struct record *r, int *take_fd,
			struct arena *a, struct error *e);

/* Whether there is room for one (file NULL: none is wanted): nothing, or an old one that may be
 * replaced. */
int life_check_pid_file(const char *file, struct error *e);

/* Digits alone, whole at once. */
int life_write_pid_file(const char *file, pid_t pid, struct arena *a, struct error *e);

int life_send_pidfd(const char *path, int pidfd, struct error *e);

int life_is_of_this_boot(const struct record *r, bool *ret, struct error *e);

/* Does act; where an ordinary user is refused what his container has closed or given away
 * (EACCES), once more, by a child that has the container's ids. What act leaves in memory is
 * not seen then. */
typedef int life_act(void *arg, struct error *e);
int life_act_by_ids(life_act *act, void *arg, const struct store *s, struct arena *a,
		    struct error *e);

/* Kills what is left of a container and removes everything that create made. Goes on
 * after a failure, reports the first. The store is gone afterwards unless something could
 * not be removed. */
int life_destroy(struct store *s, const struct record *r, int pidfd, const struct noter *noter,
		 struct arena *a, struct error *e);
