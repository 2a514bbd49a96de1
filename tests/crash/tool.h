/* tool.h: small helpers of the crash-point harness; every one of them ends the program on failure.
 */
#ifndef CRASH_TOOL_H
#define CRASH_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/* A growing list of strings that the list owns. */
struct names {
	char **v;
	size_t n;
};

/* Called once by die() before it ends the program. */
extern void (*die_cleanup)(void);
/* Prints the message to stderr and ends the harness with status 2. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* printf into a new string. */
char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Appends a copy of s. */
void names_add(struct names *l, const char *s);
/* Says whether the list holds s. */
bool names_have(const struct names *l, const char *s);
/* Frees all strings; the list is empty afterwards. */
void names_free(struct names *l);

/* Reads a whole file; NULL if it can't be opened. The result ends in a NUL beyond *ret_len bytes.
 */
char *file_read(const char *path, size_t *ret_len);
/* Writes s to path, made new. */
void file_write(const char *path, const char *s);
/* What a command line of the shell says; its status must be 0. */
char *command_read(const char *command);
/* A copy of s in which every from is replaced by to. */
char *text_replace(const char *s, const char *from, const char *to);

/* Adds every path below dir (relative to it, directories too) to l; a missing dir adds nothing. */
void tree_list(const char *dir, struct names *l);
/* Removes what is below dir, not dir itself; does not follow symlinks. */
void tree_empty(const char *dir);

/* Monotonic milliseconds. */
long long now_ms(void);
void sleep_ms(int ms);

#endif
