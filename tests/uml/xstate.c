/*
 * A library that in-uml preloads into linux.uml. This kernel gives its processes' registers back
 * with a buffer of 2696 bytes, as much as processors with AVX-512 have. One with AMX has 11008, and
 * Linux takes them whole or not at all (EFAULT): the first process would be the last, and a panic
 * names put_fp_registers. So the rest is added here: states that no process in there ever has, for
 * it would have to ask for them. Where the buffer is large enough, nothing is changed.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/types.h>
#include <unistd.h>

enum { BIGGEST = 65536, HEADER = 512 };

/* The states, a bit each, that end within the first LENGTH bytes. */
static uint64_t states_within(size_t length)
{
	unsigned int i, size, offset, c, d;
	uint64_t within = 3;

	for (i = 2; i < 63; i++) {
		__cpuid_count(13, i, size, offset, c, d);
		if (size && offset + (size_t)size <= length)
			within |= UINT64_C(1) << i;
	}
	return within;
}

/* What the whole of it takes, as the kernel gives it; 0: it can't be asked. */
static size_t size_of_state(pid_t pid)
{
	static size_t size;
	static char all[BIGGEST];
	struct iovec want = { all, sizeof(all) };

	if (!size && !syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &want))
		size = want.iov_len;
	return size;
}

static long set_whole_state(pid_t pid, const struct iovec *given)
{
	static char all[BIGGEST] __attribute__((aligned(64)));
	static uint64_t known;
	size_t size = size_of_state(pid);
	struct iovec whole = { all, size };
	uint64_t has;

	if (size <= given->iov_len || given->iov_len < HEADER + sizeof(has))
		return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, given);
	memset(all, 0, size);
	memcpy(all, given->iov_base, given->iov_len);
	memcpy(&has, all + HEADER, sizeof(has));
	if (!known)
		known = states_within(given->iov_len);
	has &= known;
	memcpy(all + HEADER, &has, sizeof(has));
	return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &whole);
}

/* As the C library has it: what is peeked at is returned. */
__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...)
{
	long peeked, rc;
	pid_t pid;
	void *addr, *data;
	va_list args;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (request == PTRACE_SETREGSET && addr == (void *)NT_X86_XSTATE)
		return set_whole_state(pid, data);
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
		return syscall(SYS_ptrace, request, pid, addr, data);
	rc = syscall(SYS_ptrace, request, pid, addr, &peeked);
	if (rc < 0)
		return rc;
	errno = 0;
	return peeked;
}
