/* The table of system calls against libseccomp's and against the headers of the machine that
 * builds. */
#include "unit.h"

#include <seccomp.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "filter/syscalls.h"

static int number(const char *arch, const char *name)
{
	const struct syscall_row *row = syscall_find(name);

	CHECK(row);
	return syscall_number(row, syscall_arch_find(arch));
}

TEST(rows_are_sorted_and_found)
{
	size_t i;

	for (i = 0; i < syscall_row_count; i++) {
		if (i && strcmp(syscall_rows[i - 1].name, syscall_rows[i].name) >= 0)
			FAIL("%s stands in the wrong place", syscall_rows[i].name);
		CHECK(syscall_find(syscall_rows[i].name) == &syscall_rows[i]);
	}
	CHECK(!syscall_find("") && !syscall_find("rea") && !syscall_find("read_") &&
	      !syscall_find("~"));
	CHECK(!syscall_arch_find("") && !syscall_arch_find("x86_64"));
}

TEST(widths_are_letters_that_mean_something)
{
	size_t i;

	for (i = 0; i < syscall_row_count; i++) {
		const char *w = syscall_rows[i].widths;

		if (strspn(w, ".ihu") != strlen(w) || strlen(w) > 6)
			FAIL("%s: %s", syscall_rows[i].name, w);
		/* an id looks at the row below */
		CHECK(!strchr(w, 'u') || i + 1 < syscall_row_count);
	}
}

/* Two names for one number would be a slip, but for these. */
static bool is_an_alias(const char *a, const char *b)
{
	return str_eq(a, "arm_sync_file_range") && str_eq(b, "sync_file_range2");
}

TEST(no_number_is_given_twice)
{
	static const char *names[COLUMN_COUNT][0x10000];
	unsigned int column, nr;
	size_t i;

	memset(names, 0, sizeof(names));
	for (i = 0; i < syscall_row_count; i++) {
		for (column = 0; column < COLUMN_COUNT; column++) {
			const char **slot;

			nr = syscall_rows[i].nr[column];
			slot = &names[column][nr];
			if (nr == SYSCALL_NONE)
				continue;
			if (*slot && !is_an_alias(*slot, syscall_rows[i].name))
				FAIL("%s and %s are both %u in column %u", *slot,
				     syscall_rows[i].name, nr, column);
			*slot = syscall_rows[i].name;
		}
	}
}

/* Where libseccomp has a number, it is ours. It has none below socketcall and ipc, and for new
 * calls. */
TEST(libseccomp_has_the_same_numbers)
{
	unsigned int compared = 0;
	size_t i, k;

	for (i = 0; i < syscall_arch_count; i++) {
		const struct syscall_arch *a = &syscall_archs[i];

		for (k = 0; k < syscall_row_count; k++) {
			const struct syscall_row *r = &syscall_rows[k];
			int theirs = seccomp_syscall_resolve_name_arch(a->token, r->name);

			if (theirs >= 0 && theirs != syscall_number(r, a))
				FAIL("%s on %s: %d, libseccomp's is %d", r->name, a->name,
				     syscall_number(r, a), theirs);
			compared += theirs >= 0;
		}
	}
	CHECK(compared > 7000);
}

/* The other way round: no name of libseccomp's is missing. */
TEST(libseccomp_knows_no_name_that_is_missing)
{
	static const uint32_t first[] = {0, 4000, 5000, 6000, 0x40000000, 0x0f0000};
	size_t i, k;
	uint32_t n;

	for (i = 0; i < syscall_arch_count; i++) {
		for (k = 0; k < ARRAY_SIZE(first); k++) {
			for (n = first[k]; n < first[k] + 460; n++) {
				char *name = seccomp_syscall_resolve_num_arch(
					syscall_archs[i].token, (int)n);
				bool known = !name || syscall_find(name);

				if (!known)
					snprintf(unit_why, sizeof(unit_why), "%s", name);
				free(name);
				if (!known)
					longjmp(unit_failed, 1);
			}
		}
	}
}

#ifdef __x86_64__
/* Lines "#define __NR_name 123", or "(__X32_SYSCALL_BIT + 123)", of a header. */
static unsigned int compare_header(const char *path, const char *arch)
{
	const struct syscall_arch *a = syscall_arch_find(arch);
	FILE *f = fopen(path, "re");
	char line[256], name[64];
	unsigned int nr, seen = 0;

	if (!f)
		FAIL("%s can't be read", path);
	while (fgets(line, sizeof(line), f)) {
		const struct syscall_row *r;

		if (sscanf(line, "#define __NR_%63s %u", name, &nr) != 2 &&
		    sscanf(line, "#define __NR_%63s (__X32_SYSCALL_BIT + %u", name, &nr) != 2)
			continue;
		r = syscall_find(name);
		/* a header may be newer than the table */
		if (r ? (int)(nr + a->base) != syscall_number(r, a) : nr <= 471) {
			fclose(f);
			FAIL("%s: %s is %u, not %d", path, name, nr, r ? syscall_number(r, a) : -1);
		}
		seen++;
	}
	fclose(f);
	return seen;
}
#endif

TEST(the_kernel_s_headers_have_the_same_numbers)
{
#ifdef __x86_64__
	static const char dir[] = "/usr/include/x86_64-linux-gnu/asm";
	char path[128];
	static const char *const files[][2] = {
		{"unistd_64.h", "X86_64"}, {"unistd_32.h", "X86"}, {"unistd_x32.h", "X32"}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i][0]);
		CHECK(compare_header(path, files[i][1]) > 300);
	}
#endif
	CHECK_INT(number(syscall_arch_native()->name, "execveat"), SYS_execveat);
	CHECK_INT(number(syscall_arch_native()->name, "ioctl"), SYS_ioctl);
}

/* A few of each kind that neither of the two could tell. */
TEST(numbers_that_are_known_from_elsewhere)
{
	CHECK_INT(number("X86_64", "uretprobe"), 335);
	CHECK_INT(number("X32", "ioctl"), 0x40000000 + 514);
	CHECK_INT(number("X86", "socket"), 359);
	CHECK_INT(number("ARM", "set_tls"), 0x0f0005);
	CHECK_INT(number("ARM", "socketcall"), -1);
	CHECK_INT(number("LOONGARCH64", "openat"), 56);
	CHECK_INT(number("LOONGARCH64", "renameat"), -1);
	CHECK_INT(number("MIPSEL", "socketcall"), 4102);
	CHECK_INT(number("MIPSEL64N32", "mseal"), 6462);
	CHECK_INT(number("SHEB", "waitpid"), 7);
	CHECK_INT(number("M68K", "getpagesize"), 166);
	CHECK_INT(number("PPC64LE", "clock_gettime64"), -1);
	CHECK_INT(number("PPC", "clock_gettime64"), 403);
}

static unsigned int bits(const char *arch, const char *name, unsigned int arg)
{
	return syscall_arg_bits(syscall_find(name), syscall_arch_find(arch), arg);
}

TEST(arguments_have_the_width_that_the_kernel_takes)
{
	CHECK_INT(bits("X86_64", "ioctl", 1), 32);
	CHECK_INT(bits("X86_64", "ioctl", 2), 64);
	CHECK_INT(bits("X86", "ioctl", 2), 32);
	CHECK_INT(bits("X86_64", "socket", 0), 32);
	CHECK_INT(bits("AARCH64", "personality", 0), 32);
	CHECK_INT(bits("X86_64", "prctl", 0), 32);
	CHECK_INT(bits("X86_64", "prctl", 1), 64);
	CHECK_INT(bits("X86_64", "ptrace", 0), 64);
	CHECK_INT(bits("X86_64", "clone", 0), 32);
	CHECK_INT(bits("X86_64", "unshare", 0), 64);
	CHECK_INT(bits("X86_64", "chmod", 1), 16);
	CHECK_INT(bits("X86_64", "setuid", 0), 32);
	CHECK_INT(bits("X86", "setuid", 0), 16);
	CHECK_INT(bits("X86", "setuid32", 0), 32);
	CHECK_INT(bits("MIPSEL", "setuid", 0), 32);
	CHECK_INT(bits("X86_64", "openat", 3), 16);
	CHECK_INT(bits("X86_64", "openat", 5), 64);
}

TEST(calls_below_socketcall_and_ipc)
{
	const struct syscall_arch *x86 = syscall_arch_find("X86");
	const struct syscall_row *via;
	unsigned int selector = 0;

	via = syscall_via(syscall_find("accept4"), x86, &selector);
	CHECK(via && str_eq(via->name, "socketcall"));
	CHECK_INT(selector, 18);
	via = syscall_via(syscall_find("shmctl"), x86, &selector);
	CHECK(via && str_eq(via->name, "ipc"));
	CHECK_INT(selector, 24);
	CHECK(!syscall_via(syscall_find("read"), x86, &selector));
	CHECK(!syscall_via(syscall_find("socket"), syscall_arch_find("X86_64"), &selector));
	CHECK(!syscall_via(syscall_find("socket"), syscall_arch_find("ARM"), &selector));
}

int main(void)
{
	return unit_main();
}
