#include "filter/syscalls.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

/* Architectures */

/* clang-format off */
const struct syscall_arch syscall_archs[] = {
	{"X86_64",      COLUMN_X86_64,      64,    0, AUDIT_ARCH_X86_64},
	{"X86",         COLUMN_X86,         32,    0, AUDIT_ARCH_I386},
	{"X32",         COLUMN_X32,         32, 0x40000000, SYSCALL_TOKEN_X32},
	{"ARM",         COLUMN_ARM,         32,    0, AUDIT_ARCH_ARM},
	{"AARCH64",     COLUMN_AARCH64,     64,    0, AUDIT_ARCH_AARCH64},
	{"MIPS",        COLUMN_MIPS,        32, 4000, AUDIT_ARCH_MIPS},
	{"MIPS64",      COLUMN_MIPS64,      64, 5000, AUDIT_ARCH_MIPS64},
	{"MIPS64N32",   COLUMN_MIPS64N32,   32, 6000, AUDIT_ARCH_MIPS64N32},
	{"MIPSEL",      COLUMN_MIPS,        32, 4000, AUDIT_ARCH_MIPSEL},
	{"MIPSEL64",    COLUMN_MIPS64,      64, 5000, AUDIT_ARCH_MIPSEL64},
	{"MIPSEL64N32", COLUMN_MIPS64N32,   32, 6000, AUDIT_ARCH_MIPSEL64N32},
	{"PPC",         COLUMN_PPC,         32,    0, AUDIT_ARCH_PPC},
	{"PPC64",       COLUMN_PPC64,       64,    0, AUDIT_ARCH_PPC64},
	{"PPC64LE",     COLUMN_PPC64,       64,    0, AUDIT_ARCH_PPC64LE},
	{"S390",        COLUMN_S390,        32,    0, AUDIT_ARCH_S390},
	{"S390X",       COLUMN_S390X,       64,    0, AUDIT_ARCH_S390X},
	{"PARISC",      COLUMN_PARISC,      32,    0, AUDIT_ARCH_PARISC},
	{"PARISC64",    COLUMN_PARISC64,    64,    0, AUDIT_ARCH_PARISC64},
	{"RISCV64",     COLUMN_RISCV64,     64,    0, AUDIT_ARCH_RISCV64},
	{"LOONGARCH64", COLUMN_LOONGARCH64, 64,    0, AUDIT_ARCH_LOONGARCH64},
	{"M68K",        COLUMN_M68K,        32,    0, AUDIT_ARCH_M68K},
	{"SH",          COLUMN_SH,          32,    0, AUDIT_ARCH_SHEL},
	{"SHEB",        COLUMN_SH,          32,    0, AUDIT_ARCH_SH},
};
/* clang-format on */
const size_t syscall_arch_count = ARRAY_SIZE(syscall_archs);

#if defined(__x86_64__)
#define NATIVE "X86_64"
#elif defined(__aarch64__)
#define NATIVE "AARCH64"
#else
#error "add this architecture's name"
#endif

const struct syscall_arch *syscall_arch_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(syscall_archs); i++)
		if (str_eq(syscall_archs[i].name, name))
			return &syscall_archs[i];
	return NULL;
}

const struct syscall_arch *syscall_arch_native(void)
{
	return syscall_arch_find(NATIVE);
}

/* Calls */

enum { NEIGHBOURS = 4 };

const struct syscall_row *syscall_find(const char *name)
{
	size_t from = 0, to = syscall_row_count, middle;
	int order;

	while (from < to) {
		middle = from + (to - from) / 2;
		order = strcmp(name, syscall_rows[middle].name);
		if (order == 0)
			return &syscall_rows[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

const struct syscall_row *syscall_find_next(const char *name, const struct syscall_row **at)
{
	const struct syscall_row *r = *at, *end = syscall_rows + syscall_row_count;
	size_t i;

	for (i = 0; r && i < NEIGHBOURS && ++r < end; i++)
		if (str_eq(name, r->name))
			return *at = r;
	r = syscall_find(name);
	if (r)
		*at = r;
	return r;
}

#define ARM_PRIVATE_BASE 0x0f0000

int syscall_number(const struct syscall_row *r, const struct syscall_arch *a)
{
	unsigned int nr = r->nr[a->column];

	if (nr == SYSCALL_NONE)
		return -1;
	if (nr >= SYSCALL_ARM_PRIVATE)
		return (int)(nr - SYSCALL_ARM_PRIVATE + ARM_PRIVATE_BASE);
	return (int)(nr + a->base);
}

/* The kernel has no token for x32: its numbers tell. */
static const struct syscall_arch *arch_seen(uint32_t token, uint32_t nr)
{
	const struct syscall_arch *x32 = syscall_arch_find("X32");
	size_t i;

	if (x32 && token == AUDIT_ARCH_X86_64 && (nr & x32->base))
		return x32;
	for (i = 0; i < ARRAY_SIZE(syscall_archs); i++)
		if (syscall_archs[i].token == token)
			return &syscall_archs[i];
	return NULL;
}

const struct syscall_row *syscall_seen(uint32_t token, uint32_t nr,
				       const struct syscall_arch **ret_arch)
{
	const struct syscall_arch *arch = arch_seen(token, nr);
	size_t i;

	*ret_arch = arch;
	for (i = 0; arch && i < syscall_row_count; i++)
		if (syscall_number(&syscall_rows[i], arch) == (int)nr)
			return &syscall_rows[i];
	return NULL;
}

/* Whether the row below is the same call with ids of 32 bits. */
static bool row_has_twin(const struct syscall_row *r, const struct syscall_arch *a)
{
	const char *twin_suffix = str_after(r[1].name, r->name);

	return twin_suffix && str_eq(twin_suffix, "32") && syscall_number(&r[1], a) >= 0;
}

/* x32 has calls of its own from here on, which take what a program of 32 bits has. All below are
 * those of x86_64, registers of 64 bits included. */
#define X32_OWN 512

unsigned int syscall_register_bits(const struct syscall_arch *a, uint32_t nr)
{
	return a->column == COLUMN_X32 && nr - a->base < X32_OWN ? 64 : a->bits;
}

unsigned int syscall_arg_bits(const struct syscall_row *r, const struct syscall_arch *a,
			      unsigned int index)
{
	unsigned int bits = syscall_register_bits(a, (uint32_t)syscall_number(r, a));

	if (index >= strlen(r->widths))
		return bits;
	switch (r->widths[index]) {
	case 'i':
		return 32;
	case 'h':
		return 16;
	case 'u': /* never in the last row */
		return row_has_twin(r, a) ? 16 : 32;
	default:
		return bits;
	}
}

const struct syscall_row *syscall_via(const struct syscall_row *r, const struct syscall_arch *a,
				      unsigned int *ret_selector)
{
	const struct syscall_row *through;

	if (!r->via)
		return NULL;
	through = syscall_find(r->via > SYSCALL_VIA_IPC ? "ipc" : "socketcall");
	if (!through || syscall_number(through, a) < 0)
		return NULL;
	*ret_selector = r->via > SYSCALL_VIA_IPC ? r->via - SYSCALL_VIA_IPC : r->via;
	return through;
}
