/*
 * What attacks need and a shell can't do. Statically linked, so that it runs in any image.
 *
 *	attacker swap A B [C D]…	exchange A with B, over and over, until killed
 *	attacker ioctl REQUEST		ioctl(0, REQUEST) with all 64 bits; prints the error
 *	attacker calls NAME…		prints "NAME ERROR" for each system call of the table below
 *	attacker domain			prints the domain name of the uts namespace, without /proc
 *	attacker persona		prints the execution domain
 *	attacker securebits		prints the securebits
 *	attacker settings		prints what a process passes on to its children besides, in
 *					words
 *	attacker set PROGRAM [ARG]…	sets all of that to something else, and executes the program
 *	attacker abstract NAME		connects to an abstract unix socket; prints the error
 *	attacker terminal DIR		sits at a new terminal of the devpts DIR, which is its
 *					number 0 if there was none; says what is written to it
 *	attacker reopen DEV INO		lies in wait for the file DEV:INO as somebody's program or
 *					descriptor, holds it, and tries to get it for writing until
 *					/end is there
 *	attacker uncover FILE		takes its root away, enters its mount namespace anew, prints
 *					FILE or the error
 *	attacker lock PATH		locks PATH, makes /held or says why it can't, and waits
 *	attacker headless		goes on in a thread when its main thread has ended
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *error_name(long result)
{
	return result >= 0 ? "OK" : strerrorname_np(errno);
}

__attribute__((noreturn)) static void swap(char **pairs, int n)
{
	int i;

	for (;;)
		for (i = 0; i + 1 < n; i += 2)
			renameat2(AT_FDCWD, pairs[i], AT_FDCWD, pairs[i + 1], RENAME_EXCHANGE);
}

/* ---- calls ---- */

static long call_mkdir(void)
{
	return mkdir("/made-by-mkdir", 0755);
}

/* The same by the numbers of other architectures: i386's 39 and x32's 0x40000053. */
static long call_mkdir_i386(void)
{
#ifdef __x86_64__
	static char path[] = "/made-by-i386";
	long result = 39;
	/* int 0x80 takes 32-bit pointers: the path must lie low. */
	char *low = (char *)syscall(SYS_mmap, 0x10000000, 4096, 3, 0x22 | 0x100000, -1, 0);
	if (low == (char *)-1)
		return -1;
	memcpy(low, path, sizeof(path));
	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(low), "c"(0755)
			 : "memory", "r8", "r9", "r10", "r11");
	if (result >= 0)
		return 0;
	errno = (int)-result;
	return -1;
#else
	errno = ENOSYS;
	return -1;
#endif
}

static long call_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

/* The same through i386's socketcall, whose arguments lie in memory. */
static long call_unix_socketcall(void)
{
#ifdef __x86_64__
	long result = 102;
	unsigned int *low =
		(unsigned int *)syscall(SYS_mmap, 0x10000000, 4096, 3, 0x22 | 0x100000, -1, 0);
	if (low == (unsigned int *)-1)
		return -1;
	low[0] = AF_UNIX;
	low[1] = SOCK_STREAM;
	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(1), "c"(low)
			 : "memory", "r8", "r9", "r10", "r11");
	if (result >= 0)
		return 0;
	errno = (int)-result;
	return -1;
#else
	errno = ENOSYS;
	return -1;
#endif
}

static long call_mkdir_x32(void)
{
#ifdef __x86_64__
	return syscall(0x40000000 + 83, "/made-by-x32", 0755);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static long call_renameat(void)
{
	return renameat(AT_FDCWD, "/from", AT_FDCWD, "/to");
}

static long call_userns(void)
{
	return unshare(CLONE_NEWUSER);
}

static long call_mntns(void)
{
	return unshare(CLONE_NEWNS);
}

static long call_clone3(void)
{
	return syscall(SYS_clone3, NULL, 0);
}

static long call_fsopen(void)
{
	return syscall(SYS_fsopen, "tmpfs", 0);
}

static long call_mount(void)
{
	return mount("tmpfs", "/", "tmpfs", 0, NULL);
}

static long call_io_uring(void)
{
	char params[256] = {0};

	return syscall(SYS_io_uring_setup, 1, params);
}

static long call_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

static long call_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, 0);
}

static long call_perf(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
}

static long call_add_key(void)
{
	return syscall(SYS_add_key, "user", "attack", "x", 1, -3 /* session keyring */);
}

static long call_vsock(void)
{
	return socket(AF_VSOCK, SOCK_STREAM, 0);
}

static long call_packet(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0);
}

static long call_handle(void)
{
	return syscall(SYS_open_by_handle_at, -1, NULL, 0);
}

static long call_kexec(void)
{
	return syscall(SYS_kexec_load, 0, 0, NULL, 0);
}

static long call_module(void)
{
	return syscall(SYS_init_module, NULL, 0, NULL);
}

static const struct {
	const char *name;
	long (*call)(void);
} calls[] = {
	{"mkdir", call_mkdir},
	{"mkdir-i386", call_mkdir_i386},
	{"mkdir-x32", call_mkdir_x32},
	{"unix", call_unix},
	{"unix-socketcall", call_unix_socketcall},
	{"renameat", call_renameat},
	{"userns", call_userns},
	{"mntns", call_mntns},
	{"clone3", call_clone3},
	{"fsopen", call_fsopen},
	{"mount", call_mount},
	{"io_uring", call_io_uring},
	{"bpf", call_bpf},
	{"userfaultfd", call_userfaultfd},
	{"perf", call_perf},
	{"add_key", call_add_key},
	{"vsock", call_vsock},
	{"packet", call_packet},
	{"handle", call_handle},
	{"kexec", call_kexec},
	{"module", call_module},
};

static int make_calls(char **names, int n)
{
	size_t k;
	int i;

	for (i = 0; i < n; i++)
		for (k = 0; k < ARRAY_SIZE(calls); k++)
			if (strcmp(calls[k].name, names[i]) == 0) {
				/* One by one, for the filter may kill. */
				printf("%s ", names[i]);
				fflush(stdout);
				puts(error_name(calls[k].call()));
				fflush(stdout);
			}
	return 0;
}

/* ---- reopen ---- */

static struct stat want;
static int held[64];
static size_t n_held;

/* Through any descriptor on the mount: take the read-only flag off, bind it, open it anew. */
static void try_to_write(int fd)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
	static const int flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_APPEND, O_WRONLY | O_TRUNC};
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof(attr));
	mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		int w = open(path, flags[i] & ~O_TRUNC);

		if (w >= 0 && write(w, "attack", 6) == 6) {
			puts("GOT it for writing");
			fflush(stdout);
		}
		if (w >= 0)
			close(w);
	}
	if (fchmod(fd, 0777) == 0 || truncate(path, 0) == 0) {
		puts("GOT it changed");
		fflush(stdout);
	}
}

static void hold(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) < 0 || st.st_ino != want.st_ino || st.st_dev != want.st_dev)
		return;
	fd = open(path, n_held % 2 ? O_PATH : O_RDONLY);
	if (fd < 0)
		return;
	/* It may have executed its program meanwhile, and that is the container's own. */
	if (fstat(fd, &st) < 0 || st.st_ino != want.st_ino || st.st_dev != want.st_dev) {
		close(fd);
		return;
	}
	try_to_write(fd);
	if (n_held < ARRAY_SIZE(held))
		held[n_held++] = fd;
	else
		close(fd);
}

static void look_at(const char *pid)
{
	char path[600];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	hold(path);
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, d->d_name);
		hold(path);
	}
	if (dir)
		closedir(dir);
}

static int reopen(const char *dev, const char *ino)
{
	unsigned long looks = 0;
	struct dirent *d;
	size_t i;
	DIR *proc = opendir("/proc");

	want.st_dev = strtoul(dev, NULL, 10);
	want.st_ino = strtoul(ino, NULL, 10);
	if (!proc)
		return 1;
	puts("waiting");
	fflush(stdout);
	while (access("/end", F_OK) < 0) {
		rewinddir(proc);
		while ((d = readdir(proc)) != NULL)
			if (d->d_name[0] > '0' && d->d_name[0] <= '9' &&
			    strcmp(d->d_name, "1") != 0) {
				looks++;
				look_at(d->d_name);
			}
		if (looks % 64 == 0)
			for (i = 0; i < n_held; i++)
				try_to_write(held[i]);
	}
	for (i = 0; i < n_held; i++)
		try_to_write(held[i]);
	printf("looked %lu held %zu\nend\n", looks, n_held);
	return 0;
}

/* ---- the rest ---- */

static int abstract(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(a.sun_path + 1, name, sizeof(a.sun_path) - 2);
	puts(error_name(
		connect(fd, (struct sockaddr *)&a,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)))));
	return 0;
}

static int sit_at_terminal(const char *dir)
{
	char text[4096];
	int master, slave, unlock = 0;
	struct termios t;
	ssize_t n;

	snprintf(text, sizeof(text), "%s/ptmx", dir);
	master = open(text, O_RDWR | O_NOCTTY);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return 1;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	if (slave < 0 || tcgetattr(slave, &t) < 0)
		return 1;
	cfmakeraw(&t);
	tcsetattr(slave, TCSANOW, &t);
	puts("waiting");
	fflush(stdout);
	while ((n = read(master, text, sizeof(text))) > 0)
		if (write(STDOUT_FILENO, text, (size_t)n) < 0)
			return 1;
	return 0;
}

static int uncover(const char *path)
{
	int ns_fd = open("/proc/self/ns/mnt", O_RDONLY), fd;
	char text[256];
	ssize_t n;

	if (ns_fd < 0 || umount2("/", MNT_DETACH) < 0 || setns(ns_fd, CLONE_NEWNS) < 0 ||
	    (fd = open(path, O_RDONLY)) < 0)
		return puts(error_name(-1)) < 0;
	while ((n = read(fd, text, sizeof(text))) > 0)
		if (write(STDOUT_FILENO, text, (size_t)n) < 0)
			return 1;
	return 0;
}

static int hold_lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
	    open("/held", O_CREAT | O_WRONLY, 0600) < 0)
		return puts(error_name(-1)) < 0;
	return pause();
}

/* ---- headless ---- */

static void *sit(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int headless(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sit, NULL) != 0)
		return 1;
	syscall(SYS_exit, 0);
	return 1;
}

/* ---- settings ---- */

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#define PR_GET_MEMORY_MERGE 68
#endif

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

static int settings(void)
{
	unsigned long nodes[16] = {0};
	char core[32] = "none";
	int mode = -1, fd = open("/proc/self/coredump_filter", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, core, sizeof(core) - 1);

	/* Headers of ELF files (bit 4) are in it or not by the kernel's configuration. */
	snprintf(core, sizeof(core), "%lx", n > 0 ? strtoul(core, NULL, 16) & ~0x10UL : 0);
	syscall(SYS_get_mempolicy, &mode, nodes, sizeof(nodes) * 8, NULL, 0);
	printf("huge-pages-off %d timer-slack %d memory-failure %d merging %d memory-policy %d core %s\n",
	       prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0),
	       prctl(PR_MCE_KILL_GET, 0, 0, 0, 0), prctl(PR_GET_MEMORY_MERGE, 0, 0, 0, 0), mode,
	       core);
	return 0;
}

static int set_all(char **argv)
{
	unsigned long node = 1;

	/* What this kernel doesn't have can't be passed on, either. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 777777, 0, 0, 0);
	prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0);
	prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0);
	syscall(SYS_set_mempolicy, 2 /* bind */, &node, 64);
	put("/proc/self/coredump_filter", "0x7f");
	execv(argv[0], argv);
	return 1;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	char name[256] = "";

	if (strcmp(verb, "swap") == 0)
		swap(argv + 2, argc - 2);
	if (strcmp(verb, "calls") == 0)
		return make_calls(argv + 2, argc - 2);
	if (strcmp(verb, "ioctl") == 0 && argc > 2)
		return puts(error_name(syscall(SYS_ioctl, 0, strtoull(argv[2], NULL, 0), ""))) < 0;
	if (strcmp(verb, "domain") == 0)
		return getdomainname(name, sizeof(name)), puts(name) < 0;
	if (strcmp(verb, "persona") == 0)
		return printf("%x\n", (unsigned int)personality(0xffffffff)) < 0;
	if (strcmp(verb, "securebits") == 0)
		return printf("%d\n", prctl(PR_GET_SECUREBITS)) < 0;
	if (strcmp(verb, "settings") == 0)
		return settings();
	if (strcmp(verb, "set") == 0 && argc > 2)
		return set_all(argv + 2);
	if (strcmp(verb, "abstract") == 0 && argc > 2)
		return abstract(argv[2]);
	if (strcmp(verb, "terminal") == 0 && argc > 2)
		return sit_at_terminal(argv[2]);
	if (strcmp(verb, "headless") == 0)
		return headless();
	if (strcmp(verb, "uncover") == 0 && argc > 2)
		return uncover(argv[2]);
	if (strcmp(verb, "lock") == 0 && argc > 2)
		return hold_lock(argv[2]);
	if (strcmp(verb, "reopen") == 0 && argc > 3)
		return reopen(argv[2], argv[3]);
	return 2;
}
