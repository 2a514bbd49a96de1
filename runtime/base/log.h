/*
 * The log. Engines read it: a failure is one error object, which carries the warnings that came
 * before it; a success leaves its warnings, mostly none. They wait in memory for the outcome.
 * Without a log file they go to standard error at once, never to both. With --debug all lines are
 * written as they come.
 *
 * Init writes to the same descriptor, which it has from its parent, until it closes what the
 * container has no business with; no process of a container is there so long that could reach for
 * it.
 *
 * Lines of the levels info and debug cost a comparison when nobody asked for them. None of them
 * quotes arguments or variables of a program: these have secrets in them.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log_options {
	const char *file; /* NULL: standard error */
	bool json;
	enum log_level level;
};

/* Opens the log. Called once, before anything is logged. */
int log_open(const struct log_options *o, struct error *e);

/* Whether lines of this level are asked for. */
bool log_wants(enum log_level level);
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_at(level, ...)                                                                         \
	do {                                                                                       \
		if (log_wants(level))                                                              \
			log_write(level, __VA_ARGS__);                                             \
	} while (0)

#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)   /* what was made, and what has ended */
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__) /* each step, write and decision */

/* Each line of the text, which is changed, at level debug. */
void log_debug_lines(const char *prefix, char *text);

/* The command has succeeded, or its program runs: warnings that waited are written. */
void log_flush(void);

/* The one line a failed command leaves: in the log, with the warnings that waited, and on standard
 * error. */
void log_failure(const struct error *e);

/* Ends logging in a process that is about to become the payload. */
void log_close(void);
