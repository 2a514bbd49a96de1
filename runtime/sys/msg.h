/*
 * Messages between our own processes over SOCK_SEQPACKET: a kind, an error if there is one, and at
 * most one descriptor.
 */
#pragma once

#include "base/err.h"

/* A connected pair, close-on-exec. */
int msg_pair(int fds[2], struct error *e);

/* A connected pair of stream sockets, close-on-exec, for what is no message of ours. */
int msg_stream_pair(int fds[2], struct error *e);

/* Sends kind; with error not NULL, that too; with pass_fd >= 0, a copy of it. -1 with errno. */
int msg_send(int fd, int kind, const struct error *error, int pass_fd);

/* Receives one message. 1, 0 when the peer is gone, -1 with errno. An error that came along is in
 * *ret_error (class ERR_NONE: none); *ret_fd (may be NULL) is the descriptor or -1. */
int msg_recv(int fd, int *ret_kind, struct error *ret_error, int *ret_fd);

/* Until there is a message, or the peer is gone. -1 if it is time to give up (sys/patience.h): the
 * container can stop the process that is to send it. */
int msg_wait(int fd, struct error *e);

/* Receives a message that must come: 0, or -1, with *e saying `gone` when the peer is gone. */
int msg_await(int fd, int *ret_kind, struct error *ret_error, int *ret_fd, const char *gone,
	      struct error *e);
