/*
 * Runs as a container's first process and hunts processes that join it, as CVE-2016-9962 and
 * CVE-2019-5736 did: it opens their program for writing, their descriptors, root, directory and
 * memory, and attaches to them. Statically linked; `hunter idle` is the program that they become.
 *
 * What it gets of a process that is not yet a hunter itself is the host's: "GOT what". The root of
 * a neighbour's container, which has a file "prey", is no secret between containers that share a
 * pid namespace. So is what every process says of itself: a command line that holds the word
 * "canary"; and what is in its memory when it is traced: "canary-" and more. It ends
 * when the file "end" is there, and says how many looks it had at a process that
 * was not one yet ("looked N").
 *
 * One word may say how it hunts:
 *	first	the first process, too, which it is not itself; it ends after a few rounds
 *	thread	in a thread, while the main thread has given up all rights
 *	hop	in a new process each round, of which most do nothing else
 *	heir	not, but it could get the right to: it is inheritable, though out of the bounding
 *		set
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 20 };

static struct stat own;
static unsigned long looked;
static FILE *report;

static void got(const char *what, const char *pid, const char *more)
{
	fprintf(report, "GOT %s of %s: %s\n", what, pid, more);
	fflush(report);
}

static bool is_hunter(const char *pid)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	errno = 0;
	return stat(path, &st) == 0 && st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

static void hunt_program(const char *pid)
{
	char path[512];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && (st.st_dev != own.st_dev || st.st_ino != own.st_ino))
		got("program for writing", pid, path);
	close(fd);
}

static bool is_here(const char *path, const struct stat *st)
{
	struct stat here;

	return path[0] == '/' && stat(path, &here) == 0 && here.st_dev == st->st_dev &&
	       here.st_ino == st->st_ino;
}

/* The same in the neighbour's container. */
static bool is_preys(const char *pid, const char *path, const struct stat *st)
{
	char prey[64], there[600];

	snprintf(prey, sizeof(prey), "/proc/%s/root/prey", pid);
	snprintf(there, sizeof(there), "/proc/%s/root%s", pid, path);
	return access(prey, F_OK) == 0 && is_here(there, st);
}

/* Some descriptors can't be opened again, but taken. */
static void hunt_listener(const char *pid, int fd, const char *target)
{
	int pidfd, taken;

	if (strcmp(target, "anon_inode:seccomp notify") != 0)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);
	taken = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (taken >= 0)
		got("listener", pid, target);
	close(taken);
	close(pidfd);
}

static void hunt_descriptors(const char *pid)
{
	char path[600], target[512];
	struct dirent *d;
	struct stat st;
	ssize_t len;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.' || atoi(d->d_name) < 3)
			continue;
		len = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		hunt_listener(pid, atoi(d->d_name), target);
		fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			continue;
		/* A container's own files are found by their names. */
		if (fstat(fd, &st) == 0 && !is_here(target, &st) && !is_preys(pid, target, &st))
			got("descriptor", pid, target);
		close(fd);
	}
	closedir(dir);
}

static bool is_empty(int dfd)
{
	DIR *dir = fdopendir(openat(dfd, ".", O_RDONLY | O_DIRECTORY));
	bool empty = true;
	struct dirent *d;

	while (dir && (d = readdir(dir)) != NULL)
		empty &= strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
	if (dir)
		closedir(dir);
	return empty;
}

/* Its root, if that is not ours; once it is a hunter, that of its own container is no secret. An
 * empty one is worth nothing. Opened once, for it may be another's at the next look. */
static void hunt_places(const char *pid)
{
	char path[512];
	struct stat st, root;
	int dfd;

	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	dfd = open(path, O_RDONLY | O_DIRECTORY);
	if (dfd < 0)
		return;
	if (stat("/", &root) == 0 && fstat(dfd, &st) == 0 &&
	    (st.st_dev != root.st_dev || st.st_ino != root.st_ino) && !is_empty(dfd) &&
	    faccessat(dfd, "prey", F_OK, 0) < 0 && !is_hunter(pid) && errno != ENOENT &&
	    errno != ESRCH)
		got("root", pid,
		    path); /* and not of one that has ended, of which nothing can be told */
	close(dfd);
}

/* A field of a process's status, in hexadecimal; all bits if it can't be told. */
static unsigned long long status_of(const char *pid, const char *field)
{
	unsigned long long value = ~0ULL;
	char path[512], line[512], format[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	snprintf(format, sizeof(format), "%s: %%llx", field);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, format, &value) == 1)
			break;
	if (f)
		fclose(f);
	return value;
}

static unsigned long long powers_of(const char *pid)
{
	return status_of(pid, "CapPrm");
}

/* Anybody may read it, whatever a process hides. */
static void hunt_words(const char *pid)
{
	char path[512], text[8192];
	size_t i, n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	f = fopen(path, "r");
	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	for (i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	if (strstr(text, "canary"))
		got("words", pid, text);
}

/* Its memory, which who may trace it may read: words with "canary-" in it. */
static void hunt_memory(const char *pid)
{
	static char text[1 << 20];
	char path[512], line[512], word[64], *at, *end;
	unsigned long from, to;
	FILE *maps;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	fd = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fd < 0 ? NULL : fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || !strstr(line, " rw"))
			continue;
		for (; from < to; from += (unsigned long)n) {
			n = pread(fd, text, to - from < sizeof(text) ? to - from : sizeof(text),
				  (off_t)from);
			if (n <= 0)
				break;
			for (at = text; (at = memmem(at, (size_t)(text + n - at), "canary-", 7));
			     at = end) {
				snprintf(word, sizeof(word), "%.*s", (int)strnlen(at, 30), at);
				end = at + 7;
				if (!is_hunter(pid) && errno != ENOENT)
					got("words in memory", pid, word);
			}
		}
	}
	if (maps)
		fclose(maps);
	close(fd);
}

/* What is in a user namespace below ours has no power that we couldn't make ourselves: only of such
 * a one does the kernel tell the parent. */
static bool is_below(const char *pid)
{
	struct stat ours, its;
	char path[512];
	int fd, parent;

	snprintf(path, sizeof(path), "/proc/%s/ns/user", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || stat("/proc/self/ns/user", &ours) < 0 || fstat(fd, &its) < 0 ||
	    ours.st_ino == its.st_ino) {
		close(fd);
		return false;
	}
	parent = ioctl(fd, NS_GET_PARENT);
	close(fd);
	close(parent);
	return parent >= 0;
}

static void hunt_by_trace(const char *text)
{
	pid_t pid = atoi(text);
	char more[64];
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (!is_hunter(text) && !is_below(text) &&
		    (powers_of(text) & ~powers_of("thread-self"))) {
			snprintf(more, sizeof(more), "capabilities %llx", powers_of(text));
			got("trace", text, more);
		}
		if (!is_hunter(text) && status_of(text, "Seccomp") == 0 &&
		    status_of("self", "Seccomp") == 2)
			got("trace", text, "no filter");
		hunt_memory(text);
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
}

static void hunt(const char *pid, unsigned long round)
{
	if (is_hunter(pid) || errno == ENOENT)
		return;
	looked++;
	hunt_words(pid);
	hunt_program(pid);
	hunt_descriptors(pid);
	hunt_places(pid);
	if (round % 2)
		hunt_by_trace(pid);
}

/* From here on this thread has no rights, nor can it get them; but for those that are
 * inheritable. */
static void give_up_rights(unsigned int inheritable)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{.permitted = 1U << CAP_SETPCAP, .inheritable = inheritable}};
	int cap;

	data[0].effective = data[0].permitted;
	syscall(SYS_capset, &header, data);
	for (cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
		;
	data[0].permitted = data[0].effective = 0;
	syscall(SYS_capset, &header, data);
}

static void *hunt_all(void *how)
{
	bool first = strcmp(how, "first") == 0, hop = strcmp(how, "hop") == 0;
	DIR *proc = opendir("/proc");
	unsigned long round;
	struct dirent *d;

	for (round = 0; proc && access("/end", F_OK) < 0 && !(first && round == ROUNDS); round++) {
		if (hop && fork() > 0)
			_exit(0);
		if (hop && round % 8) {
			usleep(100);
			continue;
		}
		rewinddir(proc);
		while ((d = readdir(proc)) != NULL)
			if (d->d_name[0] >= '0' && d->d_name[0] <= '9' &&
			    (first || strcmp(d->d_name, "1") != 0))
				hunt(d->d_name, hop ? 1 : round);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	fprintf(report, "looked %lu\nend\n", looked);
	fclose(report);
	exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(how, "idle") == 0) {
		usleep(2000);
		return 0;
	}
	stat("/proc/self/exe", &own);
	if (strcmp(how, "heir") == 0)
		give_up_rights(1U << CAP_SYS_PTRACE);
	report = fopen(strcmp(how, "thread") == 0 ? "/report.new" : "/report", "w");
	if (!report)
		return 1;
	if (strcmp(how, "thread") == 0) {
		pthread_create(&thread, NULL, hunt_all, (void *)how);
		give_up_rights(0);
		rename("/report.new", "/report");
		pthread_join(thread, NULL);
	}
	hunt_all((void *)how);
	return 0;
}
