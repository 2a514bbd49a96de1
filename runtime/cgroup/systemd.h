/*
 * Requests to systemd: units are made, changed and stopped, each by a call that is answered and,
 * where it queues a job, by that job's end. One connection, one deadline for all that is done on
 * it.
 *
 * Trust: for an ordinary user, whoever listens at addresses of the environment plays systemd. What
 * it says decides about that user's own units alone, and no more of it is believed than
 * sys/dbus.h does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/unit.h"
#include "sys/dbus.h"

enum systemd_manager { SYSTEMD_OF_MACHINE, SYSTEMD_OF_USER };

/* How the description of a container's unit begins; the container's claim follows. */
#define SYSTEMD_CONTAINER "sbxrun container "

struct systemd {
	struct dbus bus;
	enum systemd_manager manager;
};
#define SYSTEMD_NONE ((struct systemd){.bus = {.fd = -1}})

/* Whether systemd is the init of this machine. */
bool systemd_is_running(void);

/* Connects to systemd's own socket, or else by the bus:
 *   of the machine: /run/systemd/private, $DBUS_SYSTEM_BUS_ADDRESS, /run/dbus/system_bus_socket
 *   of the user: systemd/private in $XDG_RUNTIME_DIR, $DBUS_SESSION_BUS_ADDRESS, bus in
 *   $XDG_RUNTIME_DIR, and both in /run/user/UID.
 * until: the moment (sys/loop.h) that everything on this connection has to be done by. */
int systemd_open(enum systemd_manager m, int64_t until, struct systemd *ret, struct error *e);
void systemd_close(struct systemd *s);

/* The places, in their order, for systemd_open_at(). first: sys/dbus.h. Where that may have been
 * carried out no other place is tried. */
struct systemd_places {
	size_t n;
	struct systemd_place {
		struct dbus_address at;
		bool is_bus;
	} v[16];
	char wrong[256]; /* what could not be read, for the error when none of them answers */
};
void systemd_list_places(enum systemd_manager m, struct arena *a, struct systemd_places *ret);
int systemd_open_at(enum systemd_manager m, const struct systemd_places *places, int64_t until,
		    struct dbus_first *first, struct systemd *ret, struct error *e);

/* Starts a transient unit with these properties and the process in it (0: none, as for a slice),
 * and waits until it is there. Properties that this systemd doesn't know are left out, with a line
 * in the log, unless none is left; a failed unit of that name is forgotten, and one that runs is
 * ERR_EXISTS. When it fails, no unit is left that systemd had begun to start. */
int systemd_start_unit(struct systemd *s, const char *unit, const struct unit_properties *p,
		       pid_t pid, struct error *e);

/* The same on a connection of its own, which is opened for it: by one wait less, where systemd's
 * own socket is. */
int systemd_open_and_start(enum systemd_manager m, int64_t until, const char *unit,
			   const struct unit_properties *p, pid_t pid, struct error *e);
int systemd_open_and_start_at(enum systemd_manager m, const struct systemd_places *places,
			      int64_t until, const char *unit, const struct unit_properties *p,
			      pid_t pid, struct error *e);

/* Stops it, waits for that, and forgets whether it had failed. No such unit is success. */
int systemd_stop_unit(struct systemd *s, const char *unit, struct error *e);

/* Changes these properties until the next boot. Unknown ones as above. */
int systemd_set_properties(struct systemd *s, const char *unit, const struct unit_properties *p,
			   struct error *e);

/* The manager's own cgroup, "" for the root. An absolute path without "." and "..". */
int systemd_control_group(struct systemd *s, struct arena *a, char **ret, struct error *e);

/* The description of the unit: its name, if there is no such unit. */
int systemd_describe_unit(struct systemd *s, const char *unit, struct arena *a, char **ret,
			  struct error *e);
