/*
 * What a process looks like after init's steps, as the kernel shows it. Each case runs in a child;
 * those that need root say so and are left out for an ordinary user.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "security/caps.h"
#include "security/identity.h"
#include "security/lsm.h"
#include "filter/seccomp.h"
#include "init/listener.h"
#include "security/seccomp_install.h"
#include "sys/loop.h"
#include "sys/proc.h"

enum { CHOWN = 0, KILL = 5, SETPCAP = 8, NET_BIND = 10, SYS_ADMIN = 21 };

static struct error err;

/* Runs in a child and returns its exit status; a failed step in it prints where. */
static int in_child(int (*run)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(run());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define NEED(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("# %s:%d: %s: %s\n", __FILE__, __LINE__, #what, err.text);          \
			fflush(stdout);                                                            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

/* A line of /proc/self/status as a number of the given base. */
static uint64_t status_of(const char *key, int base)
{
	char text[4096], line[64];
	const char *at;

	if (fd_read_at(AT_FDCWD, "/proc/self/status", text, sizeof(text)) < 0)
		return UINT64_MAX;
	snprintf(line, sizeof(line), "\n%s:\t", key);
	at = strstr(text, line);
	return at ? strtoull(at + strlen(line), NULL, base) : UINT64_MAX;
}

static bool is_root(void)
{
	struct cap_host host;

	return geteuid() == 0 && caps_probe_host(&host, &err) == 0 &&
	       (host.available & CAPS_BIT(SYS_ADMIN)) && (host.available & CAPS_BIT(SETPCAP));
}

static const struct cap_sets some_caps = {
	.bounding = CAPS_BIT(CHOWN) | CAPS_BIT(KILL) | CAPS_BIT(NET_BIND),
	.permitted = CAPS_BIT(KILL) | CAPS_BIT(NET_BIND),
	.effective = CAPS_BIT(NET_BIND),
	.inheritable = CAPS_BIT(NET_BIND),
	.ambient = CAPS_BIT(NET_BIND),
};

static int become_user_with_caps(void)
{
	uint32_t list[] = {7, 9};
	struct ids groups = {2, list};
	gid_t got[8];

	NEED(caps_drop_bounding(&some_caps, &err) == 0);
	NEED(status_of("CapBnd", 16) == some_caps.bounding);
	NEED(identity_set_groups(&groups, true, &err) == 0);
	NEED(identity_set_ids(1234, 5678, &err) == 0);
	NEED(status_of("CapEff", 16) == 0);
	NEED(caps_set_for_setup(&some_caps, CAPS_BIT(SYS_ADMIN), &err) == 0);
	NEED(status_of("CapEff", 16) == (some_caps.effective | CAPS_BIT(SYS_ADMIN)));
	NEED(status_of("CapPrm", 16) == (some_caps.permitted | CAPS_BIT(SYS_ADMIN)));
	NEED(caps_apply_final(&some_caps, &err) == 0);
	NEED(status_of("CapEff", 16) == some_caps.effective);
	NEED(status_of("CapPrm", 16) == some_caps.permitted);
	NEED(status_of("CapInh", 16) == some_caps.inheritable);
	NEED(status_of("CapAmb", 16) == some_caps.ambient);
	NEED(status_of("Uid", 10) == 1234 && status_of("Gid", 10) == 5678);
	NEED(getgroups(8, got) == 2 && got[0] == 7 && got[1] == 9);
	NEED(setresuid(0, 0, 0) < 0 && errno == EPERM);
	return 0;
}

TEST(ids_groups_and_capabilities_are_the_plan_s)
{
	if (is_root())
		CHECK_INT(in_child(become_user_with_caps), 0);
}

static int lose_everything(void)
{
	const struct cap_sets none = {0};

	NEED(caps_drop_bounding(&none, &err) == 0);
	NEED(caps_apply_final(&none, &err) == 0);
	NEED(status_of("CapBnd", 16) == 0 && status_of("CapPrm", 16) == 0);
	/* Twice is no error: nothing is left to drop. */
	NEED(caps_drop_bounding(&none, &err) == 0);
	return 0;
}

TEST(no_capabilities_are_none_at_all)
{
	if (is_root())
		CHECK_INT(in_child(lose_everything), 0);
}

/* This program again, as the payload: what did execve leave? */
static int exec_self(const char *role)
{
	char *argv[] = {(char *)(uintptr_t) "payload", (char *)(uintptr_t)role, NULL},
	     *env[] = {NULL};

	execve("/proc/self/exe", argv, env);
	return 99;
}

/* The order without no_new_privs: the filter forbids what init might still want. It doesn't kill,
 * for libcap asks the kernel a question when this program starts again. */
static int exec_behind_filter(void)
{
	const char *names[] = {"capset", "prctl"};
	struct oci_seccomp_rule rule = {.names = {2, (char **)(uintptr_t)names},
					.action = OCI_ACT_ERRNO};
	struct oci_seccomp c = {
		.set = true, .default_action = OCI_ACT_ALLOW, .syscalls = {1, &rule}};
	struct seccomp_program program;
	struct notes notes = {0};
	struct arena arena = {0};
	int fd;

	NEED(seccomp_program_build(&c, &arena, &program, &notes, &err) == 0);
	NEED(caps_drop_bounding(&some_caps, &err) == 0);
	NEED(identity_set_ids(1234, 5678, &err) == 0);
	NEED(caps_set_for_setup(&some_caps, CAPS_BIT(SYS_ADMIN), &err) == 0);
	NEED(seccomp_install(&program, &fd, &err) == 0);
	return exec_self("user");
}

static int payload_user(void)
{
	NEED(status_of("CapBnd", 16) == some_caps.bounding);
	NEED(status_of("CapPrm", 16) == some_caps.ambient);
	NEED(status_of("CapEff", 16) == some_caps.ambient);
	NEED(status_of("NoNewPrivs", 10) == 0);
	NEED(status_of("Seccomp", 10) == 2);
	return 0;
}

static int exec_root_behind_filter(void)
{
	struct oci_seccomp c = {.set = true, .default_action = OCI_ACT_ALLOW};
	struct seccomp_program program;
	struct notes notes = {0};
	struct arena arena = {0};
	int fd;

	NEED(seccomp_program_build(&c, &arena, &program, &notes, &err) == 0);
	NEED(caps_drop_bounding(&some_caps, &err) == 0);
	NEED(caps_set_for_setup(&some_caps, CAPS_BIT(SYS_ADMIN), &err) == 0);
	NEED(seccomp_install(&program, &fd, &err) == 0);
	return exec_self("root");
}

/* For root the kernel gives bounding and inheritable; what setup kept is gone. */
static int payload_root(void)
{
	NEED(status_of("CapPrm", 16) == (some_caps.bounding | some_caps.inheritable));
	NEED(!(status_of("CapEff", 16) & CAPS_BIT(SYS_ADMIN)));
	return 0;
}

TEST(what_setup_kept_does_not_pass_execve)
{
	if (is_root()) {
		CHECK_INT(in_child(exec_behind_filter), 0);
		CHECK_INT(in_child(exec_root_behind_filter), 0);
	}
}

static int exec_with_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGRTMAX, SIG_IGN);
	NEED(identity_reset_signals(&err) == 0);
	return exec_self("signals");
}

static int payload_signals(void)
{
	NEED(status_of("SigBlk", 16) == 0);
	NEED(status_of("SigIgn", 16) == 0);
	return 0;
}

TEST(no_signal_stays_blocked_or_ignored)
{
	CHECK_INT(in_child(exec_with_signals), 0);
}

static int set_no_new_privs(void)
{
	NEED(identity_set_no_new_privs(&err) == 0);
	NEED(status_of("NoNewPrivs", 10) == 1);
	return 0;
}

TEST(no_new_privs_is_set)
{
	CHECK_INT(in_child(set_no_new_privs), 0);
}

static int set_umask(void)
{
	struct opt_u32 given = {true, 077}, absent = {0};

	umask(0);
	identity_set_umask(&absent);
	NEED(umask(0) == 022);
	identity_set_umask(&given);
	NEED(umask(0) == 077);
	return 0;
}

TEST(the_umask_is_given_or_022)
{
	CHECK_INT(in_child(set_umask), 0);
}

static int set_limits(void)
{
	struct rlimit_plan v[] = {{RLIMIT_NOFILE, 64, 128, "RLIMIT_NOFILE"},
				  {RLIMIT_CORE, 0, 0, "RLIMIT_CORE"},
				  {RLIMIT_MEMLOCK, UINT64_MAX, UINT64_MAX, "RLIMIT_MEMLOCK"}};
	struct rlimit_plans plans = {ARRAY_SIZE(v), v};
	struct rlimit r;

	/* MEMLOCK can't be raised here, and that is no error. */
	NEED(setgroups(0, NULL) == 0 || geteuid());
	NEED(geteuid() || identity_set_ids(1234, 1234, &err) == 0);
	r = (struct rlimit){4096, 8192};
	NEED(setrlimit(RLIMIT_MEMLOCK, &r) == 0);
	NEED(identity_set_rlimits(&plans, &err) == 0);
	NEED(getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur == 64 && r.rlim_max == 128);
	NEED(getrlimit(RLIMIT_CORE, &r) == 0 && r.rlim_cur == 0 && r.rlim_max == 0);
	NEED(getrlimit(RLIMIT_MEMLOCK, &r) == 0 && r.rlim_cur == 8192 && r.rlim_max == 8192);
	v[0].hard = 129;
	NEED(identity_set_rlimits(&plans, &err) < 0);
	NEED(str_eq(err.text, "process.rlimits: set RLIMIT_NOFILE: operation not permitted"));
	return 0;
}

TEST(rlimits_are_exact_and_memlock_is_best_effort)
{
	CHECK_INT(in_child(set_limits), 0);
}

/* From here on, call nr with this first argument (-1: any) gives EPERM. */
static int forbid(unsigned int nr, int first)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)first, 0, first < 0 ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(filter), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int drop_unseen(void)
{
	const struct cap_sets none = {0};
	struct cap_host host;

	NEED(forbid(SYS_prctl, PR_CAPBSET_READ));
	NEED(caps_drop_bounding(&none, &err) < 0);
	NEED(str_eq(err.text, "capabilities: read the bounding set: operation not permitted"));
	NEED(caps_probe_host(&host, &err) < 0);
	return 0;
}

TEST(a_bounding_set_that_cannot_be_read_is_an_error)
{
	CHECK_INT(in_child(drop_unseen), 0);
}

static int keep_keyring(void)
{
	int skipped = 0;

	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0) < 0)
		return 0; /* no keyrings here */
	NEED(forbid(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING));
	NEED(identity_new_keyring(&skipped, &err) < 0);
	NEED(str_eq(err.text, "new session keyring: operation not permitted"));
	/* Where nobody has any, there is nothing to share. */
	NEED(forbid(SYS_keyctl, -1));
	NEED(identity_new_keyring(&skipped, &err) == 0);
	NEED(skipped == EPERM);
	return 0;
}

TEST(the_callers_keyring_is_not_kept_silently)
{
	CHECK_INT(in_child(keep_keyring), 0);
}

static int set_personality(void)
{
	struct personality_plan p = {true, PER_LINUX32};

	NEED(identity_set_personality(&p, &err) == 0);
	NEED(personality(0xffffffff) == PER_LINUX32);
	/* None in the config: the plain one, whatever the caller had. */
	NEED(personality(PER_LINUX32 | ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC) >= 0);
	p.set = false;
	NEED(identity_set_personality(&p, &err) == 0);
	NEED(personality(0xffffffff) == PER_LINUX);
	return 0;
}

TEST(the_personality_is_set_or_the_plain_one)
{
	CHECK_INT(in_child(set_personality), 0);
}

static int set_oom_score(void)
{
	autoclose int proc_dfd = proc_open(&err);
	char text[16];

	NEED(proc_dfd >= 0);
	NEED(identity_set_oom_score_adj(proc_dfd, 0, 765, &err) == 0);
	NEED(fd_read_at(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) > 0);
	NEED(str_eq(text, "765"));
	NEED(identity_set_oom_score_adj(proc_dfd, 0, 1001, &err) < 0);
	NEED(str_eq(err.text, "process.oomScoreAdj: set 1001: invalid argument"));
	return 0;
}

TEST(the_oom_score_is_set)
{
	CHECK_INT(in_child(set_oom_score), 0);
}

static bool is_hosts_proc(int dfd)
{
	struct stat st, host;

	return fstat(dfd, &st) == 0 && stat("/proc", &host) == 0 && st.st_dev == host.st_dev;
}

/* The first process of a pid namespace that /proc is not of: numbers there are those of others. */
static int open_proc_below(void)
{
	autoclose int proc_dfd = proc_open_for(1, "oom_score_adj", &err);
	char self[16] = "";

	NEED(proc_dfd >= 0);
	NEED(getpid() == 1 && !is_hosts_proc(proc_dfd));
	NEED(readlinkat(proc_dfd, "self", self, sizeof(self) - 1) == 1 && self[0] == '1');
	return 0;
}

static int open_proc_of_another_pid_ns(void)
{
	autoclose int own_dfd = proc_open(&err), proc_dfd = -1;

	NEED(own_dfd >= 0);
	proc_dfd = proc_open_for(getpid(), "oom_score_adj", &err);
	NEED(proc_dfd >= 0 && is_hosts_proc(proc_dfd));
	/* In a container with a masked /proc the kernel gives no private one. */
	if (is_hosts_proc(own_dfd))
		return 0;
	NEED(unshare(CLONE_NEWPID) == 0);
	return in_child(open_proc_below);
}

TEST(maps_are_written_by_a_procfs_that_has_our_numbers)
{
	if (is_root())
		CHECK_INT(in_child(open_proc_of_another_pid_ns), 0);
}

static int reset_scheduler(void)
{
	cpu_set_t before, one, after;
	size_t cpu = 0;

	NEED(sched_getaffinity(0, sizeof(before), &before) == 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	NEED(sched_setaffinity(0, sizeof(one), &one) == 0);
	NEED(setpriority(PRIO_PROCESS, 0, 5) == 0);
	NEED(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6) == 0);
	NEED(identity_reset_scheduler(&err) == 0);
	NEED(sched_getaffinity(0, sizeof(after), &after) == 0);
	NEED(CPU_COUNT(&after) >= CPU_COUNT(&before));
	/* An ordinary user can't go back up. */
	NEED(getpriority(PRIO_PROCESS, 0) == (geteuid() ? 5 : 0));
	NEED(syscall(SYS_ioprio_get, 1, 0) >> 13 != 2 || (syscall(SYS_ioprio_get, 1, 0) & 7) == 4);
	return 0;
}

TEST(nice_affinity_and_io_priority_are_not_inherited)
{
	CHECK_INT(in_child(reset_scheduler), 0);
}

static int set_scheduler(void)
{
	struct scheduler_plan s = {.set = true, .policy = SCHED_BATCH, .nice = 3};
	struct io_priority_plan p = {true, 2 << 13 | 7};
	struct memory_policy_plan m = {.set = true, .mode = 4 /* MPOL_LOCAL */};

	NEED(identity_set_scheduler(0, &s, &err) == 0);
	NEED(sched_getscheduler(0) == SCHED_BATCH && getpriority(PRIO_PROCESS, 0) == 3);
	NEED(identity_set_io_priority(&p, &err) == 0);
	NEED(syscall(SYS_ioprio_get, 1, 0) == (2 << 13 | 7));
	NEED(identity_set_memory_policy(&m, &err) == 0 || err.sys == ENOSYS);
	s.policy = 4; /* SCHED_ISO: reserved, and in no kernel */
	NEED(identity_set_scheduler(0, &s, &err) < 0);
	NEED(str_eq(err.text, "process.scheduler: invalid argument"));
	return 0;
}

TEST(the_config_s_scheduling_is_set)
{
	CHECK_INT(in_child(set_scheduler), 0);
}

static long session(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
}

static int new_keyring(void)
{
	int skipped = -1;
	long first, second;

	NEED(identity_new_keyring(&skipped, &err) == 0);
	if (skipped) /* a kernel or an outer sandbox without keyrings */
		return 0;
	first = session();
	NEED(identity_new_keyring(&skipped, &err) == 0);
	second = session();
	NEED(first > 0 && second > 0 && first != second);
	return 0;
}

TEST(every_session_keyring_is_new)
{
	CHECK_INT(in_child(new_keyring), 0);
}

static int forbidden_groups(void)
{
	uint32_t list[] = {7};
	struct ids some = {1, list}, none = {0};

	NEED(identity_set_groups(&none, false, &err) == 0);
	NEED(identity_set_groups(&some, false, &err) < 0);
	NEED(str_eq(err.text,
		    "process.user.additionalGids: this user namespace forbids setgroups"));
	return 0;
}

TEST(groups_that_can_not_be_set_are_refused)
{
	CHECK_INT(in_child(forbidden_groups), 0);
}

TEST(the_host_s_lsms_are_those_the_kernel_lists)
{
	struct lsm_host host;
	char list[256] = "";

	lsm_probe_host(&host);
	if (fd_read_at(AT_FDCWD, "/sys/kernel/security/lsm", list, sizeof(list)) < 0)
		return; /* securityfs isn't mounted: nothing to compare with */
	CHECK_INT(host.apparmor, strstr(list, "apparmor") != NULL);
}

TEST(a_new_user_namespace_has_every_capability)
{
	struct cap_host own, fresh;

	CHECK(caps_probe_host(&own, &err) == 0);
	fresh = caps_of_userns(&own);
	CHECK(own.known == fresh.known && fresh.available == fresh.known);
	CHECK((own.available & ~own.known) == 0);
	CHECK(own.known & CAPS_BIT(38)); /* every kernel that we run on has CAP_PERFMON */
}

/* What init offers in place of its listener; whoever can trace it may have chosen the number. */
static int offer_null(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int offer_named_alike(void)
{
	return memfd_create("anon_inode:seccomp notify", MFD_CLOEXEC);
}

static int offer_eventfd(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

static int offer_listener(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* What the other side takes out of a child that offers this, or -1. */
static int take_from_child(int (*offer)(void))
{
	struct listener_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pidfd, fd;
	pid_t pid;

	CHECK(page != MAP_FAILED && (pid = fork()) >= 0);
	if (pid == 0) {
		fd = offer();
		atomic_store(&page->number, fd < 0 ? INT_MAX : fd + 1);
		for (;;)
			pause();
	}
	pidfd = pidfd_open(pid, 0);
	fd = listener_take(page, pidfd, &err);
	kill(pid, SIGKILL);
	CHECK(pidfd >= 0 && waitpid(pid, NULL, 0) == pid);
	close(pidfd);
	listener_unmap(page);
	return fd;
}

enum { WAKES_S = 2 };

/* Wakes the other side as often as it can, for a while, and dies without an offer. */
static void wake_for_a_while(struct listener_page *page)
{
	const int64_t until = loop_now() + WAKES_S * LOOP_SECOND;

	while (loop_now() < until)
		syscall(SYS_futex, &page->number, FUTEX_WAKE, 1, NULL, NULL, 0);
	_exit(0);
}

static int64_t own_cpu_ns(void)
{
	struct timespec t;

	CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
	return t.tv_sec * LOOP_SECOND + t.tv_nsec;
}

/* Neither does it use up the patience that is counted in moments, nor does it keep us busy. */
TEST(who_wakes_the_parent_all_the_time_gains_nothing)
{
	struct listener_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t before;
	int pidfd;
	pid_t pid;

	CHECK(page != MAP_FAILED && (pid = fork()) >= 0);
	if (pid == 0)
		wake_for_a_while(page);
	before = own_cpu_ns();
	CHECK((pidfd = pidfd_open(pid, 0)) >= 0);
	CHECK_INT(listener_take(page, pidfd, &err), -1);
	CHECK_STR(err.text, "init died while its filter was loaded");
	CHECK(own_cpu_ns() - before < WAKES_S * LOOP_SECOND / 4);
	CHECK(waitpid(pid, NULL, 0) == pid);
	close(pidfd);
	listener_unmap(page);
}

TEST(what_is_no_listener_is_not_taken_for_one)
{
	int (*const others[])(void) = {offer_null, offer_named_alike, offer_eventfd};
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		CHECK_INT(take_from_child(others[i]), -1);
		CHECK(strstr(err.text, "not its listener"));
	}
	fd = take_from_child(offer_listener);
	CHECK(fd >= 0);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 2 && str_eq(argv[1], "user"))
		return payload_user();
	if (argc == 2 && str_eq(argv[1], "root"))
		return payload_root();
	if (argc == 2 && str_eq(argv[1], "signals"))
		return payload_signals();
	return unit_main();
}
