/*
 * leak.c: finds what a container left behind.
 *
 * Nothing here asks the runtime: cgroups are found by walking every mounted hierarchy, processes by
 * descent (the harness is the subreaper, so an orphan becomes its child), by cgroup, by command
 * line, root and executable; mounts in mountinfo; units of systemd by asking it.
 *
 * Caveat: only names that hold the container's id or lie below the harness's own directories are
 * looked at, since other programs are at work on the same machine.
 */
#define _GNU_SOURCE
#include "leak.h"
#include "trace.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

const char *const leak_names[LEAK_KINDS] = {"cgroups", "mounts", "processes",	"state",
					    "tmp",     "units",	 "loop devices"};

/* Directories that all programs share: there a new name counts only if it holds the id. */
static const char *const shared_dirs[] = { "/tmp", "/var/tmp", "/run", "/run/lock", "/dev/shm" };

/* What the harness needs to know of a process. */
struct proc {
	pid_t pid;
	pid_t ppid;
	char state;
};

struct procs {
	struct proc *v;
	size_t n;
};

static bool proc_read(pid_t pid, struct proc *ret)
{
	char *path = text("/proc/%d/stat", pid);
	char *s = file_read(path, NULL);
	char *at = s ? strrchr(s, ')') : NULL;
	int ppid = 0;
	bool ok;

	ret->pid = pid;
	ok = at && sscanf(at + 1, " %c %d", &ret->state, &ppid) == 2;
	ret->ppid = (pid_t)ppid;
	free(path);
	free(s);
	return ok;
}

static void procs_read(struct procs *l)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	l->v = NULL;
	l->n = 0;
	while (d && (e = readdir(d))) {
		struct proc p;

		if (!isdigit((unsigned char)e->d_name[0]) ||
		    !proc_read((pid_t)strtol(e->d_name, NULL, 10), &p))
			continue;
		l->v = reallocarray(l->v, l->n + 1, sizeof(*l->v));
		if (!l->v)
			die("out of memory");
		l->v[l->n++] = p;
	}
	if (d)
		closedir(d);
}

static bool is_below_us(const struct procs *l, const struct proc *p)
{
	pid_t up = p->ppid;

	for (int depth = 0; up > 1 && depth < 64; depth++) {
		size_t i = 0;

		if (up == getpid())
			return true;
		while (i < l->n && l->v[i].pid != up)
			i++;
		if (i == l->n)
			return false;
		up = l->v[i].ppid;
	}
	return false;
}

/* A file of /proc/PID with its NULs made spaces. */
static char *proc_text(pid_t pid, const char *name)
{
	char *path = text("/proc/%d/%s", pid, name);
	size_t len = 0;
	char *s = file_read(path, &len);

	for (size_t i = 0; s && i < len; i++)
		if (s[i] == '\0')
			s[i] = i + 1 < len ? ' ' : '\0';
	free(path);
	return s ? s : text("%s", "");
}

static bool link_below(pid_t pid, const char *name, const char *dir)
{
	char *path = text("/proc/%d/%s", pid, name), to[4096];
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	free(path);
	if (n < 0)
		return false;
	to[n] = '\0';
	return strncmp(to, dir, strlen(dir)) == 0;
}

static bool belongs(const struct place *pl, const struct procs *l, const struct proc *p)
{
	char *cgroup, *cmdline;
	bool yes;

	if (p->pid == getpid())
		return false;
	if (is_below_us(l, p))
		return true;
	cgroup = proc_text(p->pid, "cgroup");
	cmdline = proc_text(p->pid, "cmdline");
	yes = strstr(cgroup, pl->id) || strstr(cmdline, pl->id) ||
	      link_below(p->pid, "exe", pl->work) || link_below(p->pid, "root", pl->work);
	free(cgroup);
	free(cmdline);
	return yes;
}

static void find_processes(const struct place *pl, struct names *ret)
{
	struct procs l;

	while (reap_one(0))
		;
	procs_read(&l);
	for (size_t i = 0; i < l.n; i++) {
		char *cmdline, *line;

		if (!belongs(pl, &l, &l.v[i]))
			continue;
		cmdline = proc_text(l.v[i].pid, "cmdline");
		line = text("%d %c \"%.60s\"", l.v[i].pid, l.v[i].state, cmdline);
		names_add(ret, line);
		free(line);
		free(cmdline);
	}
	free(l.v);
}

/* The mount points of all cgroup hierarchies in this mount namespace. */
static void cgroup_mounts(struct names *ret)
{
	char *s = file_read("/proc/self/mountinfo", NULL), *save = NULL;

	for (char *line = s ? strtok_r(s, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char point[4096], *kind = strstr(line, " - cgroup");

		if (kind && sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1)
			names_add(ret, point);
	}
	free(s);
}

/* cgroup directories below dir whose own name or whose parent's holds the id, deepest last. */
static void cgroup_walk(const char *dir, const char *id, struct names *ret)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		path = text("%s/%s", dir, e->d_name);
		if (strstr(path, id))
			names_add(ret, path);
		cgroup_walk(path, id, ret);
		free(path);
	}
	if (d)
		closedir(d);
}

void leak_cgroups(const struct place *pl, struct names *ret)
{
	struct names mounts = { NULL, 0 };

	cgroup_mounts(&mounts);
	for (size_t i = 0; i < mounts.n; i++)
		cgroup_walk(mounts.v[i], pl->id, ret);
	names_free(&mounts);
}

static void find_mounts(const struct place *pl, struct names *ret)
{
	char *s = file_read("/proc/self/mountinfo", NULL), *save = NULL;

	for (char *line = s ? strtok_r(s, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char root[4096], point[4096];

		if (sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
			continue;
		if (strstr(root, pl->id) || strstr(point, pl->id) ||
		    strncmp(point, pl->work, strlen(pl->work)) == 0)
			names_add(ret, point);
	}
	free(s);
}

void leak_units(const struct place *pl, struct names *ret)
{
	char *command =
		text("systemctl list-units --all --full --plain --no-legend '*%s*'", pl->id);
	char *said = command_read(command), *save = NULL;

	for (char *line = strtok_r(said, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " ")] = '\0';
		names_add(ret, line);
	}
	free(said);
	free(command);
}

static void list_full(const char *dir, struct names *ret)
{
	struct names l = { NULL, 0 };

	tree_list(dir, &l);
	for (size_t i = 0; i < l.n; i++) {
		char *full = text("%s/%s", dir, l.v[i]);

		names_add(ret, full);
		free(full);
	}
	names_free(&l);
}

/* What policies changed and refused is kept for `sbxrun explain --last`. */
static bool is_kept(const char *path)
{
	return strstr(path, "/explain:last") || strstr(path, "/boxes:expired") ||
	       strstr(path, "/boxes:snapshots");
}

/* Adds what is below dir and was not there before. */
static void find_new(const struct place *pl, const char *dir, struct names *ret)
{
	struct names now = { NULL, 0 };

	list_full(dir, &now);
	for (size_t i = 0; i < now.n; i++)
		if (!names_have(&pl->before, now.v[i]) && !is_kept(now.v[i]))
			names_add(ret, now.v[i]);
	names_free(&now);
}

static void find_shared(const struct place *pl, const char *dir, struct names *ret)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strstr(e->d_name, pl->id)) {
			char *full = text("%s/%s", dir, e->d_name);

			names_add(ret, full);
			free(full);
		}
	}
	if (d)
		closedir(d);
}

/* Filesystems of boxes lie in files without names below the harness's directory. The kernel takes a
 * device away a moment after its last mount. */
static void find_loops(const struct place *pl, struct names *ret)
{
	DIR *d = opendir("/sys/block");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path, *of;

		if (strncmp(e->d_name, "loop", 4) != 0)
			continue;
		path = text("/sys/block/%s/loop/backing_file", e->d_name);
		of = file_read(path, NULL);
		if (of && strncmp(of, pl->work, strlen(pl->work)) == 0)
			names_add(ret, e->d_name);
		free(of);
		free(path);
	}
	if (d)
		closedir(d);
}

void leak_note_files(struct place *p)
{
	names_free(&p->before);
	list_full(p->state, &p->before);
	for (size_t i = 0; i < p->temp.n; i++)
		list_full(p->temp.v[i], &p->before);
}

void leak_find(const struct place *p, struct leaks *ret)
{
	leak_free(ret);
	find_processes(p, &ret->kind[LEAK_PROCESS]);
	leak_cgroups(p, &ret->kind[LEAK_CGROUP]);
	find_mounts(p, &ret->kind[LEAK_MOUNT]);
	find_new(p, p->state, &ret->kind[LEAK_STATE]);
	for (size_t i = 0; i < p->temp.n; i++)
		find_new(p, p->temp.v[i], &ret->kind[LEAK_TEMP]);
	for (size_t i = 0; i < sizeof(shared_dirs) / sizeof(*shared_dirs); i++)
		find_shared(p, shared_dirs[i], &ret->kind[LEAK_TEMP]);
	if (p->units)
		leak_units(p, &ret->kind[LEAK_UNIT]);
	find_loops(p, &ret->kind[LEAK_LOOP]);
}

bool leak_none(const struct leaks *l)
{
	for (size_t k = 0; k < LEAK_KINDS; k++)
		if (l->kind[k].n)
			return false;
	return true;
}

void leak_free(struct leaks *l)
{
	for (size_t k = 0; k < LEAK_KINDS; k++)
		names_free(&l->kind[k]);
}

/* Lets frozen tasks run again, or they can't die. */
static void thaw(const struct names *cgroups)
{
	static const char *const how[][2] = { { "freezer.state", "THAWED" },
					      { "cgroup.freeze", "0" } };

	for (size_t i = 0; i < cgroups->n; i++) {
		for (size_t k = 0; k < 2; k++) {
			char *path = text("%s/%s", cgroups->v[i], how[k][0]);

			if (access(path, W_OK) == 0)
				file_write(path, how[k][1]);
			free(path);
		}
	}
}

/* One that ends by itself meanwhile can't be stopped any more. */
static void stop_unit(const char *unit)
{
	char *command = text("systemctl stop %s; systemctl reset-failed %s; true", unit, unit);

	free(command_read(command));
	free(command);
}

static void remove_once(const struct place *p, struct leaks *l)
{
	thaw(&l->kind[LEAK_CGROUP]);
	for (size_t i = 0; i < l->kind[LEAK_PROCESS].n; i++)
		kill((pid_t)strtol(l->kind[LEAK_PROCESS].v[i], NULL, 10), SIGKILL);
	while (reap_one(5))
		;
	for (size_t i = l->kind[LEAK_MOUNT].n; i-- > 0;)
		(void)umount2(l->kind[LEAK_MOUNT].v[i], MNT_DETACH | UMOUNT_NOFOLLOW);
	for (size_t i = l->kind[LEAK_CGROUP].n; i-- > 0;)
		(void)rmdir(l->kind[LEAK_CGROUP].v[i]);
	for (size_t k = LEAK_STATE; k <= LEAK_TEMP; k++)
		for (size_t i = l->kind[k].n; i-- > 0;) {
			tree_empty(l->kind[k].v[i]);
			(void)remove(l->kind[k].v[i]);
		}
	for (size_t i = 0; i < l->kind[LEAK_UNIT].n; i++)
		stop_unit(l->kind[LEAK_UNIT].v[i]);
	leak_find(p, l);
}

void leak_remove(const struct place *p)
{
	long long end = now_ms() + 20000;
	struct leaks l = { 0 };

	leak_find(p, &l);
	while (!leak_none(&l)) {
		remove_once(p, &l);
		if (now_ms() > end) {
			for (size_t k = 0; k < LEAK_KINDS; k++)
				for (size_t i = 0; i < l.kind[k].n; i++)
					printf("# can't be removed: %s\n", l.kind[k].v[i]);
			die("leftovers of %s can't be removed", p->id);
		}
	}
	leak_free(&l);
}

/* How often in a row all processes must look the same to be at rest. Who waits for a disk looks
 * like who is frozen. */
enum { ROUNDS_ASLEEP = 3, ROUNDS_FROZEN = 25 };

/* One line about each process below us; it changes when one of them has run. *ret_rounds: 0 if one
 * runs just now. */
static char *activity(int *ret_rounds)
{
	char *all = text("%s", "");
	struct procs l;

	*ret_rounds = ROUNDS_ASLEEP;
	procs_read(&l);
	for (size_t i = 0; i < l.n; i++) {
		char *status, *at, *more;

		if (!is_below_us(&l, &l.v[i]))
			continue;
		if (l.v[i].state == 'R')
			*ret_rounds = 0;
		else if (l.v[i].state == 'D' && *ret_rounds)
			*ret_rounds = ROUNDS_FROZEN;
		status = proc_text(l.v[i].pid, "status");
		at = strstr(status, "voluntary_ctxt_switches");
		more = text("%s%d %c %s\n", all, l.v[i].pid, l.v[i].state, at ? at : "");
		free(all);
		all = more;
		free(status);
	}
	free(l.v);
	return all;
}

void leak_settle(int limit_ms)
{
	long long end = now_ms() + limit_ms;
	char *last = NULL;
	int same = 0;

	while (now_ms() < end) {
		char *now;
		int rounds;

		while (reap_one(0))
			;
		now = activity(&rounds);
		same = last && rounds && strcmp(last, now) == 0 ? same + 1 : 0;
		free(last);
		last = now;
		if (*now == '\0' || (rounds && same >= rounds))
			break;
		sleep_ms(8);
	}
	free(last);
}
