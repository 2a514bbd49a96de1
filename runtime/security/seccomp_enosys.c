/*
 *	ld arch
 *	jne ARCH, over it	for each audit architecture
 *	  ld nr
 *	  jge X32, to the second part	x86-64 only
 *	  jeq -1, to the ja	a tracer's "skip this call": for the rest to judge
 *	  jgt LAST, 0, 1
 *	  ret ENOSYS
 *	  ja the end
 *	  …the same four for x32…
 */
#include "security/seccomp_enosys.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>

#define X32_BIT UINT32_C(0x40000000)
#define NR_SKIP UINT32_C(0xffffffff)

enum { RANGE_LEN = 4, SECTION_MAX = 3 + 2 * RANGE_LEN };

static struct sock_filter op_load(uint32_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

static struct sock_filter op_jump(uint16_t test, uint32_t k, size_t yes, size_t no)
{
	return (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), k, (uint8_t)yes,
					    (uint8_t)no);
}

static uint32_t audit_arch(uint32_t token)
{
	return token == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : token;
}

/* Four instructions for one range of numbers; the ja is aimed when the end is known. */
static size_t range_write(uint32_t last, struct sock_filter *out)
{
	out[0] = op_jump(BPF_JEQ, NR_SKIP, 2, 0);
	out[1] = op_jump(BPF_JGT, last, 0, 1);
	out[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	out[3] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0);
	return RANGE_LEN;
}

/* A range that is left to the rest of the program. */
static size_t range_pass(struct sock_filter *out)
{
	out[0] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0);
	return 1;
}

static uint32_t last_of(const struct seccomp_last *v, size_t n, uint32_t token)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i].arch == token)
			return v[i].last;
	return 0;
}

/* x86-64 and x32 share an audit architecture and differ in a bit of the number. */
static size_t section_write_x86_64(uint32_t last, uint32_t last_x32, struct sock_filter *out)
{
	size_t n = 2, first;

	out[0] = op_load(offsetof(struct seccomp_data, nr));
	first = last ? range_write(last, out + n) : range_pass(out + n);
	out[1] = op_jump(BPF_JGE, X32_BIT, first, 0);
	n += first;
	n += last_x32 ? range_write(last_x32 | X32_BIT, out + n) : range_pass(out + n);
	return n;
}

static size_t section_write(const struct seccomp_last *v, size_t n, uint32_t arch,
			    struct sock_filter *out)
{
	if (arch == SCMP_ARCH_X86_64)
		return section_write_x86_64(last_of(v, n, SCMP_ARCH_X86_64),
					    last_of(v, n, SCMP_ARCH_X32), out);
	out[0] = op_load(offsetof(struct seccomp_data, nr));
	return 1 + range_write(last_of(v, n, arch), out + 1);
}

static bool seen_before(const struct seccomp_last *v, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (v[k].last && audit_arch(v[k].arch) == audit_arch(v[i].arch))
			return true;
	return false;
}

size_t seccomp_enosys_max(size_t n)
{
	return 1 + n * SECTION_MAX;
}

size_t seccomp_enosys_write(const struct seccomp_last *v, size_t n, struct sock_filter *out)
{
	size_t i, len = 0, section;

	out[len++] = op_load(offsetof(struct seccomp_data, arch));
	for (i = 0; i < n; i++) {
		if (!v[i].last || seen_before(v, i))
			continue;
		section = section_write(v, n, audit_arch(v[i].arch), out + len + 1);
		out[len] = op_jump(BPF_JEQ, audit_arch(v[i].arch), 0, section);
		len += 1 + section;
	}
	for (i = 0; i < len; i++)
		if (out[i].code == (BPF_JMP | BPF_JA))
			out[i].k = (uint32_t)(len - i - 1);
	return len > 1 ? len : 0;
}
