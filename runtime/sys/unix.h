/* Unix sockets that others gave us a path to, and descriptors sent over them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { UNIX_FDS_MAX = 12 }; /* that go with one message */

/* A SOCK_STREAM connection that doesn't block; whoever listens has PATIENCE_PEER_MS to take it.
 * Paths longer than an address holds are reached through their directory. */
int unix_connect(const char *path, struct error *e);

/* until: the moment (sys/loop.h) that the connection has to be there by. */
int unix_connect_until(const char *path, int64_t until, struct error *e);

/* A name that is in no file system: what follows the NUL of the address. */
int unix_connect_abstract(const char *name, int64_t until, struct error *e);

/* Sends len bytes of text (1 at least) and a copy of each descriptor, if there are any. -1 also if
 * the peer doesn't read them within PATIENCE_PEER_MS. */
int unix_send_fds(int sock, const void *text, size_t len, const int *fds, size_t n,
		  struct error *e);

/* Receives one message of up to size bytes, with up to max descriptors (UNIX_FDS_MAX at most),
 * close-on-exec. Its length, 0 when the peer is gone, or -1 with errno; EMSGSIZE: it was larger, or
 * had more, and is lost. */
ssize_t unix_recv_fds(int sock, void *text, size_t size, int *ret_fds, size_t max, size_t *ret_n);

/* Receives one descriptor and up to size bytes of text. -1 with errno; ENODATA: none came. */
int unix_recv_fd(int sock, void *text, size_t size);
