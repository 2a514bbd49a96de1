/* Paths as text: no system calls. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

/* The path without empty, "." and ".." components, from "/": what a process rooted there means. */
char *path_clean(struct arena *a, const char *path);

/* The path without empty and "." components, from "/": ".." stays, for it depends on links. */
char *path_tidy(struct arena *a, const char *path);

/* Is that what path_clean() would make of it? */
bool path_is_clean(const char *path);

/* The path itself if absolute, else below dir. */
char *path_join(struct arena *a, const char *dir, const char *path);

/* path is dir, or lies below it; both clean. */
bool path_is_below(const char *path, const char *dir);
