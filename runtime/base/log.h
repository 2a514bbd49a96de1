/*
 * The log. Engines read it: one error object on failure and nothing on success; warnings and debug
 * lines appear only with --debug. Standard error gets the error line alone, never a warning.
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

/* A warning for whoever sits at the terminal, where no log takes it. Engines read standard error as
 * an answer, so never into a pipe or a file. */
void log_tell_person(const char *text);

/* The one line a failed command leaves: in the log, and on standard error. */
void log_failure(const struct error *e);

/* Ends logging in a process that is about to become the payload. */
void log_close(void);
