/*
 * A probe of the kernel's surface: what a program in a sandbox can reach, as lines of KEY VALUE….
 *
 * Every attempt is made in a child of its own, with arguments that change nothing even where
 * everything is permitted. The figures are counts; the names behind them come with --list.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* 0 or more as it is, a failure as -errno: what an attempt returns. */
#define RESULT(call) ((call) < 0 ? -(long)errno : 0L)

/* How an attempt ended. */
struct outcome {
	bool returned; /* value is what it returned */
	long value;
	int signal; /* that ended it; SIGKILL when it took too long */
};

/* probe.c */
extern bool list_names;

/* attempt.c: calls fn in a child, and waits until it has ended. */
struct outcome attempt(long (*fn)(const void *arg), const void *arg, unsigned int seconds);
/* A word for how it failed: an errno, a signal. */
const char *outcome_word(const struct outcome *o);
bool outcome_is_success(const struct outcome *o);
/* A page that attempts share with us. */
void *shared_page(void);
/* The first of the directories that can be written to; NULL: none. */
const char *writable_dir(void);

/* calls.c, foreign.c: system calls. */
void probe_calls(void);
void probe_foreign(void);

/* features.c: the table; the attempts are in features_*.c. */
struct feature {
	const char *name;
	long (*try)(const void *arg);
};
void probe_features(void);
extern const struct feature features_rights[], features_kernel[], features_machine[];
extern const struct feature features_other[];

/* sockets.c */
void probe_sockets(void);

/* files.c, mounts.c, leaks.c */
void probe_files(void);
void probe_mounts(void);
void probe_leaks(void);

/* self.c: ids, limits, rights. */
void probe_self(void);
/* What a setuid copy of the probe is called with: tells its caller whether it gained something. */
int self_is_setuid(void);
