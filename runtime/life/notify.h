/*
 * Service managers: a caller that runs as a service with NOTIFY_SOCKET wants to know when the
 * program inside is ready. The program gets a socket of its own at /run/notify/notify.sock; of what
 * it says there, only "READY=1" is passed on, by us and together with its pid: nothing else that a
 * service manager understands is for a container to say.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"
#include "state/store.h"

/* Did the caller ask for it? */
bool notify_is_wanted(void);

/* Adds the mount and the variable to the config. state_dir: ROOT/ID. */
void notify_add(struct oci_config *c, const char *state_dir, struct arena *a);

/* Makes the directory that is mounted. */
int notify_make(const struct store *s, struct error *e);

/* Binds the socket in it. A descriptor, or -1. */
int notify_bind(const struct store *s, struct error *e);

/* Reads what has come; true once the program is ready, which the caller's manager then knows. */
bool notify_forward(int fd, pid_t pid, const struct noter *noter);

/* Until it is ready or has ended. -1 if a signal ends the wait. */
int notify_wait(int fd, pid_t pid, int pidfd, const struct noter *noter, struct error *e);
