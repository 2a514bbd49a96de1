/*
 * One error type, by value. A function that can fail takes `struct error *e` last, returns -1 (or
 * NULL), and has set *e at the cause; callers add context with err_wrap() while it travels up:
 *
 *	create: rootfs: mount /proc: operation not permitted
 *
 * System error texts begin with a small letter, as engines that parse us expect.
 */
#pragma once

#include <stdbool.h>

enum err_class {
	ERR_NONE = 0,
	ERR_SYSTEM,	 /* a system call failed; .sys is its errno */
	ERR_USAGE,	 /* the command line */
	ERR_CONFIG,	 /* a value of config.json or another input document */
	ERR_NOT_FOUND,	 /* no container of that id */
	ERR_EXPIRED,	 /* there was a box of that id */
	ERR_EXISTS,	 /* the id is taken */
	ERR_WRONG_STATE, /* the verb does not fit the container's status */
	ERR_NO_EXEC,	 /* the program exists but can't be executed: 126 */
	ERR_NO_PROGRAM,	 /* the program was not found: 127 */
	ERR_HOOK,	 /* a hook failed */
	ERR_HOST,	 /* the host lacks what is asked for */
	ERR_BUG,
};

struct error {
	int sys;
	enum err_class class;
	char text[1024];
};

/* Sets *e to class and text, and returns -1. errno is not consulted. */
int err_set(struct error *e, enum err_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Sets *e from errno: the text is followed by ": " and errno's own text. Returns -1. */
int err_sys(struct error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Puts "text: " before what *e already says. Returns -1. */
int err_wrap(struct error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* An analyser that sees one file at a time can't know that they return -1; err.c has the names in
 * parentheses for that. */
#if defined(__clang_analyzer__) || defined(SBXRUN_ANALYSE)
#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_sys(...) (err_sys(__VA_ARGS__), -1)
#define err_wrap(...) (err_wrap(__VA_ARGS__), -1)
#endif

/* The system's text for an errno, first letter small ("no such file or directory"). */
const char *err_text(int sys);
