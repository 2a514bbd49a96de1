/* The caller's standard streams, as far as the program gets them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Makes the caller's descriptors 0, 1 and 2, of which none need be a number above these. */
int streams_take(const int streams[3], struct error *e);

/*
 * Streams that are terminals of the caller's are opened anew through a read-only mount: what is
 * read and written stays the same, but root inside can't change the terminal's mode, owner and
 * times any more. In a mount namespace that has them, with rights over it, before ids are changed.
 * Where that can't be had, an ordinary user's exec for instance, they stay as they are.
 */
void streams_close_modes(void);

/* Pipes and sockets among them are given to that id of the host's, which is root inside: a user
 * namespace has no rights over what is owned outside of it. NULL: 0, 1 and 2. For the parent. */
void streams_give(const int *streams, uint32_t id);

/*
 * Streams that are /dev/null, or a device like it, become the container's own: through the name
 * that /proc/self/fd has for it, root inside would change the host's node. Then uid is given what
 * it must be able to open again, as /dev/stderr for instance. In the container's root, with the
 * rights to open and make nodes.
 */
int streams_settle(uint32_t uid, bool own_terminal, struct error *e);
