/*
 * A mount namespace between the host's and that of a container with a user namespace. What is
 * mounted in it is locked in the container's: root inside, with CAP_SYS_ADMIN, can't take off what
 * the host or the config has put on a bind (read-only, nosuid, nodev, noexec), as it could with a
 * mount that was cloned outside or changed inside. And what is bound in it was reached with the
 * caller's rights.
 *
 * The binds lie in a tmpfs that nothing but the working directory leads to: over the root
 * filesystem's directory, and under another mount of it.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/sources.h"

/* Whether flags could be lost without it, or a source lies below a directory that is closed to root
 * in a user namespace. */
bool stage_is_wanted(const struct plan *p);

/* In the launcher, with the caller's rights, before it enters a user namespace. */
int stage_set(const struct plan *p, struct sources *s, struct arena *a, struct error *e);

/* In init, before the next one: the root, where a closed directory is on the way to it. -1 with
 * errno. */
int stage_open_root(void);

/* In init, which then is where it was before: opens what was staged. */
int stage_take(const struct plan *p, struct sources *s, struct error *e);
