/* Removes a directory that a container could write to. */
#pragma once

#include <dirent.h>
#include <stdbool.h>

/* A directory in dfd, not by way of a link; NULL with errno. */
DIR *sweep_open(int dfd, const char *name);

/* Removes the directory and all that is in it. None is no error; -1 with EACCES if the caller may
 * not, or with what else the kernel says. Trust: what is in it was named, nested and closed by the
 * container, which has ended. */
int sweep_directory(int dfd, const char *name);

/* Ends early when stop() says so: -1 with EINTR, and some of it is left. */
int sweep_directory_until(int dfd, const char *name, bool (*stop)(void *context), void *context);
