/* Knows files that the kernel would execute: by format, and by interpreters they name. */
#pragma once

#include <stdbool.h>

/* It is a program of this machine, or a script for one, and each interpreter is there. False means
 * that only the kernel can tell. Trust: the tree is the container's. */
bool format_is_plain(const char *path);

/* The word for its architecture, where that is another one that this machine's kernel may run, of
 * the program or of the interpreter that it names: its system calls are others. NULL: it is none.
 * Trust: the tree is the container's. */
const char *format_foreign(const char *path);

/*
 * The answer of execve(), as errno: 0 if it would run, -1 if it could not be tried. A child tries
 * and is killed before the first instruction of the program; no handler of binfmt_misc is missed.
 */
int format_try(const char *path, char *const *args, char *const *env);
