/* Attempts at the machine: its clock, modules, ports, terminals, and memory that is code. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <asm/ldt.h>
#include <linux/quota.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

/* All of these ask for something impossible, and only the right one hears so. */
static long impossible(long r)
{
	static const int words[] = {EINVAL, ENOENT, ENOTDIR, ENOEXEC, ENOTBLK};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (r == -words[i])
			return 0;
	return r;
}

static long reboot_machine(const void *arg)
{
	(void)arg;
	return impossible(RESULT(syscall(SYS_reboot, 0, 0, 0xffffffff, NULL)));
}

static long kexec(const void *arg)
{
	(void)arg;
	return impossible(RESULT(syscall(SYS_kexec_load, 0UL, ~0UL, NULL, 0UL)));
}

static long module(const void *arg)
{
	(void)arg;
	return impossible(RESULT(syscall(SYS_init_module, "no module", 9UL, "")));
}

static long swap_on(const void *arg)
{
	(void)arg;
	return impossible(RESULT(swapon("/dev/null", 0)));
}

static long quota(const void *arg)
{
	struct if_dqinfo info;
	long r;

	(void)arg;
	r = RESULT(syscall(SYS_quotactl, QCMD(Q_GETINFO, USRQUOTA), "/dev/null", 0, &info));
	return impossible(r);
}

static long accounting(const void *arg)
{
	(void)arg;
	return impossible(RESULT(acct("/dev/null/none")));
}

static long kernel_log(const void *arg)
{
	char text[4096];

	(void)arg;
	return RESULT(klogctl(3 /* read all, and leave it */, text, sizeof(text)));
}

/* Neither a time nor a zone: nothing but the check. */
static long set_time(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_settimeofday, NULL, NULL));
}

static long adjust_clock(const void *arg)
{
	struct timex t = {.modes = ADJ_TICK, .tick = 1};

	(void)arg;
	return impossible(RESULT(adjtimex(&t)));
}

/* Of this process, which ends. */
static long io_ports_all(const void *arg)
{
	(void)arg;
	return RESULT(iopl(3));
}

static long io_ports(const void *arg)
{
	(void)arg;
	return RESULT(ioperm(0x80, 1, 1));
}

static long segment(const void *arg)
{
	struct user_desc d = {.entry_number = 0, .limit = 1, .seg_32bit = 1, .read_exec_only = 1};

	(void)arg;
	/* With -1 for a failure in 32 bits, whatever its width. */
	return (int)syscall(SYS_modify_ldt, 1, &d, sizeof(d)) < 0 ? -(long)errno : 0;
}

static long no_random_addresses(const void *arg)
{
	(void)arg;
	return RESULT(personality(ADDR_NO_RANDOMIZE));
}

static long vsyscall(const void *arg)
{
	/* time(), where kernels of 2002 had it */
	long (*const at)(long *) = (long (*)(long *))0xffffffffff600400UL;

	(void)arg;
	return at(NULL) > 0 ? 0 : -ENOSYS;
}

/* mov $42, %eax; ret */
static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};

static long run_code(void *memory)
{
	int (*fn)(void);

	memcpy(&fn, &memory, sizeof(fn));
	return fn() == 42 ? 0 : -EIO;
}

static long writable_code(const void *arg)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	(void)arg;
	if (p == MAP_FAILED)
		return -errno;
	memcpy(p, code, sizeof(code));
	return run_code(p);
}

static long written_code(const void *arg)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (p == MAP_FAILED)
		return -errno;
	memcpy(p, code, sizeof(code));
	return mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0 ? -errno : run_code(p);
}

static int copy_to_memory(void)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("probe", MFD_CLOEXEC);
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			return -1;
	return n == 0 ? to : -1;
}

/* A program that no file holds: the copy says with its status that it ran. */
static long program_in_memory(const void *arg)
{
	char *const argv[] = {(char[]){"probe"}, (char[]){"--am-i-setuid"}, NULL};
	int fd = copy_to_memory(), status;
	pid_t pid = fd < 0 ? -1 : fork();

	(void)arg;
	if (pid == 0) {
		fexecve(fd, argv, (char *const[]){NULL});
		_exit(3);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) != 3 ? 0 : -EACCES;
}

static long secret_memory(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_memfd_secret, 0));
}

static long speculation(const void *arg)
{
	(void)arg;
	return RESULT(prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0));
}

static long write_or_execute(const void *arg)
{
	(void)arg;
	return RESULT(prctl(PR_GET_MDWE, 0, 0, 0, 0));
}

/* A terminal of our own, which becomes our controlling one. */
static int own_terminal(void)
{
	int unlock = 0, number, master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[32];

	setsid();
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 ||
	    ioctl(master, TIOCGPTN, &number) < 0)
		return -1;
	snprintf(name, sizeof(name), "/dev/pts/%d", number);
	return open(name, O_RDWR | O_CLOEXEC);
}

static long on_terminal(unsigned long request, const void *argument)
{
	int fd = own_terminal();

	return fd < 0 ? -errno : RESULT(ioctl(fd, request, argument));
}

static long type_into_terminal(const void *arg)
{
	(void)arg;
	return on_terminal(TIOCSTI, "x");
}

static long use_console(const void *arg)
{
	static const char ask_shift_state = 6;
	long r = on_terminal(TIOCLINUX, &ask_shift_state);

	(void)arg;
	/* Ours is no console of Linux, but it was asked. */
	return r == -ENOTTY ? 0 : r;
}

/* Reported, not counted: whatever runs programs that are files allows it. */
const struct feature features_other[] = {
	{"memfd_exec", program_in_memory},
	{NULL, NULL},
};

const struct feature features_machine[] = {
	{"reboot", reboot_machine},
	{"kexec_load", kexec},
	{"init_module", module},
	{"swapon", swap_on},
	{"quotactl", quota},
	{"acct", accounting},
	{"syslog_read", kernel_log},
	{"settimeofday", set_time},
	{"adjtimex", adjust_clock},
	{"iopl", io_ports_all},
	{"ioperm", io_ports},
	{"modify_ldt", segment},
	{"personality_no_randomize", no_random_addresses},
	{"vsyscall_exec", vsyscall},
	{"mmap_wx", writable_code},
	{"mprotect_w_to_x", written_code},
	{"memfd_secret", secret_memory},
	{"spec_get", speculation},
	{"mdwe_get", write_or_execute},
	{"tiocsti", type_into_terminal},
	{"tioclinux", use_console},
	{NULL, NULL},
};
