/*
 * box.h: the container under test: the table of verbs, and how a container comes into the state
 * that a verb needs. Both harnesses (crash.c, fault.c) work with it.
 */
#ifndef CRASH_BOX_H
#define CRASH_BOX_H

#include "leak.h"
#include "trace.h"

enum {
	TRACE_MS = 100000,
	VERB_MS = 100000,
	SETTLE_MS = 3000,
	BOX_ARGS = 12,
	CALLS_MAX = 32768, /* that are looked at of a verb */
};

/* What must exist before the verb. */
enum need {
	NEED_NOTHING,
	NEED_CREATED,
	NEED_RUNNING,
	NEED_PAUSED,
	NEED_STOPPED,
	NEED_BOX,
	NEED_FILE, /* in a box */
	NEED_FROZEN_BOX,
	NEED_OTHER_BOX, /* with a file, beside one that is to be made */
	NEED_SESSION,	/* of a box, which runs */
	NEED_SNAPSHOT,	/* "kept", of a box that is gone */
	NEED_REACHING,	/* a box that may reach a host */
};

/* What the verb brings to execve. */
enum starts { STARTS_NOTHING, STARTS_CONTAINER, STARTS_EXTRA };

/* Where the verb is tried: in a lab (egress.sh), and whether the process that carries the box's
 * connections is a child, too. */
enum lab { NO_LAB, IN_LAB, WITH_CARRIER };

struct verb {
	const char *name;
	enum need need;
	enum starts starts;
	bool lasting;  /* the container's program sleeps; else it ends at once */
	bool init_too; /* the container's init is the child */
	enum lab lab;
	const char *argv[BOX_ARGS];
};

extern const struct verb verbs[];
extern const size_t verbs_n;

/* The command lines that need no row of their own. */
extern const char *const box_create[BOX_ARGS], *const box_start[BOX_ARGS],
	*const box_delete[BOX_ARGS], *const box_state[BOX_ARGS];

struct box {
	const char *runtime;
	/* The cgroups are scopes: create and run are told, the other verbs have to know it. */
	bool systemd;
	char *rootfs;	      /* of a box that stays … */
	char *volume;	      /* … and a directory for its workspace */
	char *other;	      /* id of another one … */
	bool has_other;	      /* … which is there, and goes with it */
	const char *template; /* its config.json holds @ID@, @ARGS@ and, if it likes, @FACTS@ */
	const char *facts;    /* text for @FACTS@ */
	bool probe;	      /* what a verb starts is /bin/probe instead of sleep or true */
	struct place place;
	char *bundle;
	char *pidfile;
	char *config; /* the template's text */
	int log_fd;
	unsigned serial;
	char *id;
	bool swept; /* the verb is do, which makes up its id, and sweeps what others have left */
};

/* Says whether name stands in a list that is separated by commas. */
bool box_wanted(const char *list, const char *name);
/* The name of a system call. */
const char *syscall_name(long nr);

/* Makes the directories of this run (runtime and template are set); the runtime's environment
 * points into them. The caller becomes the subreaper and the tracer. */
void box_open(struct box *b);
/* Removes everything that is left of the last container, and the directories. */
void box_close(struct box *b);

/* Makes a new id and bundle, and the container in the state that the verb needs. */
void box_prepare(struct box *b, const struct verb *v);
/* The runtime's command line; command_free() ends it. */
char **box_command(const struct box *b, const char *const *args);
void command_free(char **v);
/* argv[0] of what the verb starts. */
const char *box_program(const struct box *b, const struct verb *v);
/* The container's init, from the pid file. */
pid_t box_init_pid(const struct box *b);
/* The process that carries the box's connections. */
pid_t box_carrier_pid(void);
/* Of do, once its process is known: the beginning of the id, which has its number. */
void box_name(struct box *b, pid_t pid);
/* Runs a command line to its end, untraced; the wait status, -1 when it took too long. */
int box_run(const struct box *b, const char *const *args);

/* What the runtime and the programs have written since the last box_log_clear(). */
char *box_log(const struct box *b);
void box_log_clear(const struct box *b);

/* delete --force, then everything that is still there after a moment. */
int box_remove(struct box *b, struct leaks *ret);
/* What is left, in words that begin with "; "; empty when nothing is. The caller frees it. */
char *leaks_text(const struct leaks *l);

/* The i-th of n points spread evenly over total, both ends included. With a seed, one of each n-th
 * of them by chance: other seeds take others. */
extern unsigned long spread_seed;
unsigned long spread(unsigned long i, unsigned long n, unsigned long total);

#endif
