/* A check, for those who write one (this room's own). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "doctor/doctor.h"

/* The caller. Root of a user namespace has all capabilities, and nothing of the machine. */
enum doctor_who {
	WHO_ROOT = 1,
	WHO_INNER_ROOT = 2,
	WHO_USER = 4,
	WHO_ALL = 7,
};

/* Results of a check. */
enum look_verdict {
	LOOK_FINE,
	LOOK_LESS,    /* there, but not all of it: a warning for everybody */
	LOOK_MISSING, /* who needs it has a problem, others are warned */
	LOOK_NOTHING, /* nothing to tell here */
};

enum { LOOK_TEXT = 900 };

struct doctor_check;

/* One check at work, in its child. */
struct look {
	const struct doctor_options *options;
	const struct doctor_check *check;
	enum doctor_who who;
	struct arena *arena;
	pid_t doctor; /* for names that nobody else uses */
	char found[LOOK_TEXT];
	char remedy[LOOK_TEXT];
};

struct doctor_check {
	const char *id;
	const char *title;
	unsigned int asked_for;	 /* of enum doctor_who */
	unsigned int needed_for; /* the same */
	int (*look)(struct look *l);
	const void *what;	      /* for functions of several rows */
	void (*tidy)(struct look *l); /* removes what a look that was cut short has left */
	int try_seconds;	      /* its deadline when engines are tried; 0: as all others */
};

struct doctor_group {
	const struct doctor_check *checks;
	size_t n;
};

extern const struct doctor_group doctor_kernel, doctor_namespaces, doctor_ids, doctor_cgroups,
	doctor_security, doctor_mounts, doctor_around, doctor_engines;

/* Each says what was found, and returns the verdict. */
int look_fine(struct look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int look_less(struct look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int look_missing(struct look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The command that helps. */
void look_remedy(struct look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The package that has it, for the package manager that is here. */
void look_remedy_package(struct look *l, const char *apt, const char *dnf);

/* A parameter of the kernel's command line, from the next boot on. */
void look_remedy_boot(struct look *l, const char *parameter);

/* Inside a container: an option of the engine's around us. false: there is none around us. */
bool look_remedy_container(struct look *l, const char *docker, const char *podman);

/* The engine around us: "docker", "podman", "kubernetes", another word; NULL: none. */
const char *look_container(struct look *l);

/* The number in a file of /proc/sys; -1: there is no such file. */
long look_sysctl(const char *path);

/* A whole text file; NULL with errno. */
char *look_file(struct look *l, const char *path, size_t *ret_len);

/* ---- in a check's own child, which they change for good ---- */

/* Becomes an ordinary user. -1 with errno. */
int look_drop(struct look *l);

/* Enters a mount namespace, and further ones by flags, that nothing leaves. Who is no root enters a
 * user namespace first, in which he is. -1 with errno. */
int look_enter(struct look *l, int flags);
/* As look_enter(), but everybody enters a user namespace first, root, too. */
int look_enter_userns(struct look *l, int flags);

/* Runs it in a child, which is in a new pid namespace where one was unshared. What it returned;
 * -1: it did not. */
int look_in_child(int (*run)(void *context), void *context);
