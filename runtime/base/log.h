/*
 * The log. Engines read it: a failure is one error object, which carries the warnings that came before it;
 * a success leaves its warnings, mostly none. They wait in memory for the outcome. Without a log file they
 * go to standard error at once, never to both. With --debug all lines are written as they come.
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

void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The command has succeeded, or its program runs: warnings that waited are written. */
void log_flush(void);

/* The one line a failed command leaves: in the log, with the warnings that waited, and on standard error. */
void log_failure(const struct error *e);

/* Ends logging in a process that is about to become the payload. */
void log_close(void);
