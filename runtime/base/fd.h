/*
 * Descriptors: every one is close-on-exec, is closed once, and is -1 when there is none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"

/* Closes *fd if it is one, keeps errno, and leaves -1. */
void fd_close(int *fd);
#define autoclose __attribute__((cleanup(fd_close)))

/* Takes the descriptor out of *fd, which then holds none. */
static inline int fd_steal(int *fd)
{
	int got = *fd;

	*fd = -1;
	return got;
}

/* Writes all of it, going on after short writes and EINTR. 0, or -1 with errno. */
int fd_write_all(int fd, const void *p, size_t len);

/* Reads up to max bytes until the end of file; the result is terminated. NULL with errno (EFBIG
 * when there is more). */
char *fd_read_all(int fd, size_t max, struct arena *a, size_t *ret_len);

/* Reads a small kernel file below dfd into text (terminated, trailing newline cut). Length or -1
 * with errno. */
ssize_t fd_read_at(int dfd, const char *path, char *text, size_t size);

/* Writes text with one write(2) to an existing file below dfd. 0 or -1 with errno. */
int fd_write_at(int dfd, const char *path, const char *text);

/* Makes fds >= first close-on-exec, so that nothing the caller left open passes an exec. */
int fd_cloexec_from(unsigned int first);

/* Closes every descriptor from first on but those in keep (entries of -1 count for nothing). */
int fd_close_all_but(int first, const int *keep, size_t n);

/* Moves *fd to a number of at least min (close-on-exec kept). 0 or -1 with errno. */
int fd_move_above(int *fd, int min);
