/* Attempts at parts of the kernel that have been ways out, and at other processes. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_alg.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/nsfs.h>
#include <linux/perf_event.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of ours that waits to be looked at, and ends with us. */
static pid_t somebody(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(5);
		pause();
		_exit(0);
	}
	return pid;
}

static long with_somebody(long (*act)(pid_t pid))
{
	pid_t pid = somebody();
	long r;

	if (pid < 0)
		return -errno;
	r = act(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return r;
}

#define WITH_SOMEBODY(name, act)                                                                   \
	static long name(const void *arg)                                                          \
	{                                                                                          \
		(void)arg;                                                                         \
		return with_somebody(act);                                                         \
	}

static long do_ptrace(pid_t pid)
{
	return RESULT(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
}
WITH_SOMEBODY(ptrace_child, do_ptrace)

static char looked_at[16] = "looked at";

static long do_readv(pid_t pid)
{
	char bytes[sizeof(looked_at)];
	const struct iovec to = {bytes, sizeof(bytes)}, from = {looked_at, sizeof(looked_at)};

	return RESULT(process_vm_readv(pid, &to, 1, &from, 1, 0));
}
WITH_SOMEBODY(vm_readv, do_readv)

static long do_kcmp(pid_t pid)
{
	return RESULT(syscall(SYS_kcmp, getpid(), pid, 1 /* KCMP_VM */, 0, 0));
}
WITH_SOMEBODY(compare_kernel_pointers, do_kcmp)

static long do_getfd(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : RESULT(syscall(SYS_pidfd_getfd, fd, 1, 0));
}
WITH_SOMEBODY(pidfd_getfd, do_getfd)

static long do_move_pages(pid_t pid)
{
	void *pages[1] = {looked_at};
	int status[1];

	return RESULT(syscall(SYS_move_pages, pid, 1UL, pages, NULL, status, 0));
}
WITH_SOMEBODY(move_pages_of_others, do_move_pages)

static long do_migrate(pid_t pid)
{
	unsigned long node = 1;

	return RESULT(syscall(SYS_migrate_pages, pid, 2UL, &node, &node));
}
WITH_SOMEBODY(migrate_pages, do_migrate)

static long io_uring(const void *arg)
{
	struct io_uring_params params = {0};

	(void)arg;
	return RESULT(syscall(SYS_io_uring_setup, 1, &params));
}

static long userfaultfd(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */));
}

static long bpf_map(const void *arg)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	(void)arg;
	return RESULT(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static long bpf_prog(const void *arg)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
			       .insns = (uintptr_t)code,
			       .insn_cnt = ARRAY_SIZE(code),
			       .license = (uintptr_t) "GPL"};

	(void)arg;
	return RESULT(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
}

static long perf_event_open(const void *arg)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .disabled = 1,
				       .exclude_kernel = 1};

	(void)arg;
	return RESULT(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

/* In a keyring that ends with this process. */
static long add_key(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_add_key, "user", "probe", "x", 1UL, KEY_SPEC_PROCESS_KEYRING));
}

static long request_key(const void *arg)
{
	long r = RESULT(syscall(SYS_request_key, "user", "probe-has-no-such-key", NULL, 0));

	(void)arg;
	return r == -ENOKEY ? 0 : r;
}

static long keyctl_keyring(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1));
}

struct handle {
	struct file_handle h;
	unsigned char bytes[64];
};

static long name_to_handle(const void *arg)
{
	struct handle handle = {.h.handle_bytes = sizeof(handle.bytes)};
	int mount;

	(void)arg;
	return RESULT(name_to_handle_at(AT_FDCWD, "/proc/self/exe", &handle.h, &mount,
					AT_SYMLINK_FOLLOW));
}

/* Of nothing that there is: whoever has the right hears that it is stale, or not of this kind. */
static long open_by_handle(const void *arg)
{
	struct handle handle = {.h.handle_bytes = 8, .h.handle_type = 1};
	int dfd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long r = RESULT(open_by_handle_at(dfd, &handle.h, O_RDONLY));

	(void)arg;
	return r == -ESTALE || r == -EINVAL || r == -EOPNOTSUPP ? 0 : r;
}

static long fanotify(const void *arg)
{
	(void)arg;
	return RESULT(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY));
}

static long inotify(const void *arg)
{
	int fd = inotify_init1(IN_CLOEXEC);

	(void)arg;
	return fd < 0 ? -errno : RESULT(inotify_add_watch(fd, "/", IN_OPEN));
}

static long splice_memory(const void *arg)
{
	const struct iovec from = {looked_at, sizeof(looked_at)};
	int fds[2];

	(void)arg;
	return pipe(fds) < 0 ? -errno : RESULT(vmsplice(fds[1], &from, 1, 0));
}

static long remap_pages(const void *arg)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	return p == MAP_FAILED ? -errno : RESULT(remap_file_pages(p, 4096, 0, 1, 0));
}

static long bind_memory(const void *arg)
{
	unsigned long node = 1;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	return p == MAP_FAILED ?
		       -errno :
		       RESULT(syscall(SYS_mbind, p, 4096UL, 2 /* MPOL_BIND */, &node, 8UL, 0));
}

static long packet_socket(const void *arg)
{
	(void)arg;
	return RESULT(socket(AF_PACKET, SOCK_RAW, 0));
}

static long raw_socket(const void *arg)
{
	(void)arg;
	return RESULT(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

static long crypto_socket(const void *arg)
{
	const struct sockaddr_alg address = {
		.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha256"};
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)arg;
	return fd < 0 ? -errno :
			RESULT(bind(fd, (const struct sockaddr *)&address, sizeof(address)));
}

static long vsock_socket(const void *arg)
{
	(void)arg;
	return RESULT(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static long owner_of_namespace(const void *arg)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	(void)arg;
	return fd < 0 ? -errno : RESULT(ioctl(fd, NS_GET_USERNS));
}

const struct feature features_kernel[] = {
	{"io_uring", io_uring},
	{"userfaultfd", userfaultfd},
	{"bpf_map", bpf_map},
	{"bpf_prog", bpf_prog},
	{"perf_event_open", perf_event_open},
	{"add_key", add_key},
	{"request_key", request_key},
	{"keyctl", keyctl_keyring},
	{"ptrace_child", ptrace_child},
	{"process_vm_readv", vm_readv},
	{"kcmp", compare_kernel_pointers},
	{"pidfd_getfd", pidfd_getfd},
	{"name_to_handle_at", name_to_handle},
	{"open_by_handle_at", open_by_handle},
	{"fanotify", fanotify},
	{"inotify", inotify},
	{"vmsplice", splice_memory},
	{"remap_file_pages", remap_pages},
	{"move_pages_of_others", move_pages_of_others},
	{"migrate_pages", migrate_pages},
	{"mbind", bind_memory},
	{"packet_socket", packet_socket},
	{"raw_icmp", raw_socket},
	{"alg_socket", crypto_socket},
	{"vsock_socket", vsock_socket},
	{"ns_get_userns", owner_of_namespace},
	{NULL, NULL},
};
