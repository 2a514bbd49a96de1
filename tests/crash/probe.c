/*
 * probe.c: a container's program that tells what it is allowed to and what it sees: ids,
 * capabilities, limits, signals, namespaces, mounts, descriptors, keyring, seccomp, devices.
 * fault.c compares what it says with what it said when nothing had failed.
 *
 * One write, so that it is seen whole or not at all. With the argument "stay" it sleeps afterwards.
 * PROBE_FACTS holds what the host has (its namespaces, the caller's keyring), to be told apart from
 * the container's own. Static.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/keyctl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

static char out[256 * 1024];
static size_t len;

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(out + len, sizeof(out) - len, fmt, ap);
	va_end(ap);
	if (n > 0 && len + (size_t)n < sizeof(out))
		len += (size_t)n;
}

/* The word for how a call went. */
static const char *outcome(long result)
{
	return result < 0 ? strerrorname_np(errno) : "works";
}

/* Lines of a file that begin with one of the words; all without words. */
static void say_file(const char *path, const char *const *words)
{
	char line[4096];
	FILE *f = fopen(path, "re");

	if (!f) {
		say("%s: %s\n", path, strerrorname_np(errno));
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		size_t i;

		for (i = 0; words && words[i]; i++)
			if (strncmp(line, words[i], strlen(words[i])) == 0)
				break;
		if (!words || words[i])
			say("%s: %s", path, line);
	}
	fclose(f);
}

static void say_status(void)
{
	static const char *const words[] = { "Umask:",	 "Uid:",      "Gid:",	   "Groups:",
					     "SigBlk:",	 "SigIgn:",   "SigCgt:",   "Cap",
					     "NoNew",	 "Seccomp",   "Speculation", "Cpus_allowed:",
					     "Mems_allowed:", NULL };

	say_file("/proc/self/status", words);
	say_file("/proc/self/limits", NULL);
	say_file("/proc/self/cgroup", NULL);
	say_file("/proc/self/oom_score_adj", NULL);
	say_file("/proc/self/uid_map", NULL);
	say_file("/proc/self/gid_map", NULL);
	say_file("/proc/self/timerslack_ns", NULL);
}

/* Numbers that differ each time (ids of mounts, devices and peer groups) are left out. */
static void say_mounts(void)
{
	char line[4096], root[1024], point[1024], options[1024], *rest;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f && fgets(line, sizeof(line), f)) {
		rest = strstr(line, " - ");
		if (!rest ||
		    sscanf(line, "%*s %*s %*s %1023s %1023s %1023s", root, point, options) != 3)
			continue;
		say("mount: %s %s %s%s%s%s%s", root, point, options,
		    strstr(line, " shared:") ? " shared" : "",
		    strstr(line, " master:") ? " slave" : "",
		    strstr(line, " unbindable") ? " unbindable" : "", rest);
	}
	if (f)
		fclose(f);
}

static bool is_hosts(const char *word)
{
	const char *facts = getenv("PROBE_FACTS");

	return facts && strstr(facts, word);
}

static void say_namespaces(void)
{
	static const char *const names[] = { "cgroup", "ipc",  "mnt", "net",
					     "pid",    "time", "user", "uts" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[64], mine[64], first[64];
		ssize_t n, m;

		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		n = readlink(path, mine, sizeof(mine) - 1);
		mine[n > 0 ? n : 0] = '\0';
		snprintf(path, sizeof(path), "/proc/1/ns/%s", names[i]);
		m = readlink(path, first, sizeof(first) - 1);
		first[m > 0 ? m : 0] = '\0';
		say("namespace %s: %s, %s pid 1's\n", names[i], is_hosts(mine) ? "the host's" : "own",
		    strcmp(mine, first) == 0 ? "as" : "unlike");
	}
}

static void say_keyring(void)
{
	long serial = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
	char word[64];

	snprintf(word, sizeof(word), "key:%ld;", serial);
	say("keyring: %s\n", serial < 0 ? strerrorname_np(errno) : is_hosts(word) ? "the caller's" : "own");
}

static void say_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	char target[512];

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);
		ssize_t n;

		if (e->d_name[0] == '.' || fd == dirfd(d))
			continue;
		n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		target[strcspn(target, "[")] = '\0';
		say("descriptor %d: %s, flags %#x\n", fd, target, (unsigned)fcntl(fd, F_GETFL));
	}
	if (d)
		closedir(d);
}

static void say_dev(void)
{
	struct dirent **list;
	int n = scandir("/dev", &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		struct stat st;
		char path[300];

		if (list[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/dev/%s", list[i]->d_name);
		if (lstat(path, &st) == 0)
			say("%s: %o %u:%u %u %u\n", path, st.st_mode, major(st.st_rdev),
			    minor(st.st_rdev), st.st_uid, st.st_gid);
	}
}

static void say_process(void)
{
	struct sched_param sp = { 0 };
	int death = 0;
	char cwd[512];

	prctl(PR_GET_PDEATHSIG, &death);
	sched_getparam(0, &sp);
	say("process: dumpable %d, keepcaps %d, securebits %#x, no_new_privs %d, pdeathsig %d\n",
	    prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS), (unsigned)prctl(PR_GET_SECUREBITS),
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), death);
	say("process: personality %#x, nice %d, policy %d, priority %d, ioprio %ld\n",
	    (unsigned)personality(0xffffffff), getpriority(PRIO_PROCESS, 0), sched_getscheduler(0),
	    sp.sched_priority, syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0));
	say("process: session %s, cwd %s\n", getsid(0) == getpid() ? "own" : "shared",
	    getcwd(cwd, sizeof(cwd)) ? cwd : "?");
}

static void say_network(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	say("loopback: %s\n", ioctl(fd, SIOCGIFFLAGS, &lo) < 0 ? "?" : lo.ifr_flags & IFF_UP ? "up" : "down");
	close(fd);
}

/* What is forbidden must fail, each in its own way. */
static void say_attempts(void)
{
	struct utsname u;

	say("add_key: %s\n",
	    outcome(syscall(SYS_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING)));
	say("bpf: %s\n", outcome(syscall(SYS_bpf, 0, NULL, 0)));
	say("mknod of a device that is not allowed: %s\n",
	    outcome(mknod("/dev/probe-mem", S_IFCHR | 0600, makedev(1, 1))));
	(void)unlink("/dev/probe-mem");
	say("file in /: %s\n", outcome(open("/probe-file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)));
	say("write to a sysctl: %s\n",
	    outcome(open("/proc/sys/kernel/shmmax", O_WRONLY | O_CLOEXEC)));
	say("masked file: %s\n", outcome(open("/proc/kcore", O_RDONLY | O_CLOEXEC)));
	say("setuid: %s\n", outcome(syscall(SYS_setuid, 0)));
	uname(&u);
	say("hostname: %s\n", u.nodename);
	say_file("/proc/sys/kernel/shmmni", NULL);
}

int main(int argc, char **argv)
{
	say("probe begins\n");
	say_fds();
	say_status();
	say_namespaces();
	say_mounts();
	say_keyring();
	say_process();
	say_network();
	say_dev();
	for (size_t i = 0; environ[i]; i++)
		if (strncmp(environ[i], "PROBE_FACTS=", 12) != 0)
			say("environment: %s\n", environ[i]);
	say_attempts();
	say("probe ends\n");
	if (write(STDOUT_FILENO, out, len) != (ssize_t)len)
		return 1;
	while (argc > 1 && strcmp(argv[1], "stay") == 0)
		pause();
	return 0;
}
