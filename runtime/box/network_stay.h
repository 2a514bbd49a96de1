/*
 * The network of a box that stays, and changes to it while it does.
 *
 * The box's sbxrun-net is the one process that waits beside it: it has the
 * listeners of the box's network namespace, and the rules. It is nobody's child after the
 * create, holds a pidfd of the box's first process, and ends with that. Whoever works with the
 * box reaches it by ROOT/box-ID/egress.sock, in a directory that is the owner's alone: a call,
 * to be told what was refused; `box allow` and `box deny`, to say what holds now; `box
 * install`, whose rules hold alone until its end of that connection is closed, which the kernel
 * does for who is killed.
 *
 * On record. ROOT/box-ID/egress has the rules that are to hold. It is replaced under the
 * container's lock, before sbxrun-net is told; and each call tells it again. So a change that was
 * cut short holds from the next call on.
 *
 * After SIGKILL of …
 *	sbxrun-net: nobody listens; names, hosts and the proxy are refused, for good. Nothing starts
 *		another one; a call says so, and box allow refuses
 *	create: before the record is committed, the box's first process dies with it, and
 *		sbxrun-net with that; later, both stay until a sweep finds no file `box`
 *	box allow, box deny: see above
 *	a call: its connection ends; what was counted is forgotten when the next one begins
 *	the box's first process, destroy: sbxrun-net ends; its socket is removed with the record
 *
 * Trust: sbxrun-net may be the box's by now. What it says is counted, cleaned and shown.
 */
#pragma once

#include "box/network.h"
#include "box/sandbox.h"

/* For a box that is being made, before it is started; dfd is its directory. Nothing is allowed:
 * there is a record, and no process. */
int network_stay(int dfd, const struct network_rules *r, int pidfd, struct arena *a,
		 struct error *e);

/* The rules on record. A box of an older sbxrun has none. */
int network_read_record(const struct sandbox *s, struct arena *a, struct network_rules *ret,
			struct error *e);

/* For a call: what is on record holds, and what is told from now on is its own. n->control_fd is
 * -1 if the box reaches nothing; n->lost: because sbxrun-net is gone. */
int network_join(const struct sandbox *s, struct network *n, struct arena *a, struct error *e);

/* Joins so that these rules hold, alone, until network_close(). A box that reaches nothing gets a
 * network for that time. */
int network_join_alone(const struct sandbox *s, const struct network_rules *r, struct network *n,
		       struct error *e);

/* Rules are added or taken away. A box that reached nothing so far gets its network. */
struct network_change {
	struct strings allow, deny; /* as they are written */
	bool remove;
};
int network_change(struct sandbox *s, const struct network_change *c, struct arena *a,
		   struct network_rules *ret, const char **ret_note, struct error *e);

/* Pure: what they become. */
int network_rules_change(struct network_rules *r, const struct network_change *c, struct arena *a,
			 struct error *e);
