/*
 * The first instructions of the program, before the C library's. A verb that enters a container has
 * to start again from a copy of its file that the container can't write (sys/self.h). All that the
 * library does at a start would be done twice then, a fourth of a millisecond on a machine whose
 * processor questions trap; so the most usual case, the read-only clone, is tried here.
 *
 * Nothing is decided here, and nothing is granted: a start that fails, or that has anything unusual
 * to it, goes on as if this were not here, and self_protect() judges every process by what the
 * kernel says of its file. At worst a verb starts from a clone that needed none.
 *
 * Caveat: there are no relocations, no thread pointer and no library yet. So there are no tables of
 * pointers, no stack protector, and no function of another file (the Makefile has the flags).
 */
#include <fcntl.h>
#include <linux/auxvec.h>
#include <linux/close_range.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

/* The kernel gives the stack, and the library wants it and rdx as they were. */
__asm__(".text\n"
	".globl early_start\n"
	".hidden early_start\n"
	".type early_start, @function\n"
	"early_start:\n"
	"	endbr64\n"
	"	xorl %ebp, %ebp\n"
	"	movq %rdx, %rbx\n"
	"	movq %rsp, %r12\n"
	"	movq %rsp, %rdi\n"
	"	andq $-16, %rsp\n"
	"	call early_main\n"
	"	movq %r12, %rsp\n"
	"	movq %rbx, %rdx\n"
	"	jmp _start\n"
	".size early_start, . - early_start\n");

static long early_call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

__asm__(".text\n"
	".globl early_start\n"
	".hidden early_start\n"
	".type early_start, %function\n"
	"early_start:\n"
	"	hint #34\n" /* bti c */
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x19, x0\n"
	"	mov x0, sp\n"
	"	bl early_main\n"
	"	mov x0, x19\n"
	"	mov x30, #0\n"
	"	b _start\n"
	".size early_start, . - early_start\n");

static long early_call(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

#define SELF_EXE "/proc/self/exe"

enum { ENV_MAX = 512 }; /* a copy of more takes the usual way */

static bool early_begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

static bool early_is(const char *text, const char *word)
{
	while (*word && *text == *word) {
		text++;
		word++;
	}
	return *text == *word;
}

/* Does it speak of descriptors? --preserve-fds, /dev/fd/N, /proc/self/fd/N: those must outlive the
 * start, and self_protect()'s caller knows which. */
static bool early_names_fds(const char *word)
{
	for (; *word; word++)
		if (word[0] == 'f' && word[1] == 'd')
			return true;
	return false;
}

/* By a word anywhere: what is an option's value is not known here. */
static bool early_enters(char *const *argv, unsigned int *ret_first_fd)
{
	bool enters = false;
	size_t i;

	for (i = 1; argv[i]; i++) {
		if (early_names_fds(argv[i]))
			return false;
		enters = enters || early_is(argv[i], "run") || early_is(argv[i], "create") ||
			 early_is(argv[i], "exec") || early_is(argv[i], "do") ||
			 early_is(argv[i], "box");
	}
	*ret_first_fd = 3;
	if (i == 2 && early_is(argv[1], "worker")) {
		*ret_first_fd = 4; /* its socket */
		return true;
	}
	return enters;
}

/* A caller who got more rights by starting us is refused later, and not started once more. */
static bool early_is_plain(const uintptr_t *auxv)
{
	for (; auxv[0] != AT_NULL; auxv += 2)
		if (auxv[0] == AT_SECURE)
			return !auxv[1];
	return false;
}

static bool early_has_streams(void)
{
	return early_call(SYS_fcntl, 0, F_GETFD, 0, 0, 0) >= 0 &&
	       early_call(SYS_fcntl, 1, F_GETFD, 0, 0, 0) >= 0 &&
	       early_call(SYS_fcntl, 2, F_GETFD, 0, 0, 0) >= 0;
}

static bool early_is_a_clone(void)
{
	char link[8];

	return early_call(SYS_readlinkat, AT_FDCWD, (long)SELF_EXE, (long)link, sizeof(link), 0) ==
		       1 &&
	       link[0] == '/';
}

/* As self_clone_mount(). */
static long early_clone(void)
{
	struct mount_attr attr;
	long exe_fd, fd;

	exe_fd = early_call(SYS_openat, AT_FDCWD, (long)SELF_EXE, O_RDONLY | O_CLOEXEC, 0, 0);
	if (exe_fd < 0)
		return -1;
	fd = early_call(SYS_open_tree, exe_fd, (long)"",
			OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH, 0, 0);
	early_call(SYS_close, exe_fd, 0, 0, 0, 0);
	if (fd < 0)
		return -1;
	attr.attr_set = MOUNT_ATTR_RDONLY;
	attr.attr_clr = 0;
	attr.propagation = 1UL << 18; /* MS_PRIVATE, whose header knows another struct mount_attr */
	attr.userns_fd = 0;
	if (early_call(SYS_mount_setattr, fd, (long)"", AT_EMPTY_PATH, (long)&attr, sizeof(attr)) ==
	    0)
		return fd;
	early_call(SYS_close, fd, 0, 0, 0, 0);
	return -1;
}

/* Returns unless the program was started again. */
static void early_start_again(char *const *argv, char *const *env, size_t n_env,
			      unsigned int first_fd)
{
	char *with_guard[ENV_MAX + 2];
	char guard[] = "_SBXRUN_PROTECTED=1";
	long fd;
	size_t i;

	for (i = 0; i < n_env; i++)
		with_guard[i] = env[i];
	with_guard[n_env] = guard;
	with_guard[n_env + 1] = NULL;
	/* Later than here, what the caller left open would stay open in everything that follows. */
	if (early_call(SYS_close_range, first_fd, ~0U, CLOSE_RANGE_CLOEXEC, 0, 0) < 0)
		return;
	fd = early_clone();
	if (fd < 0)
		return;
	early_call(SYS_execveat, fd, (long)"", (long)argv, (long)with_guard, AT_EMPTY_PATH);
	early_call(SYS_close, fd, 0, 0, 0, 0);
}

void early_main(uintptr_t *stack);

/* Trust: the stack is the caller's: words and environment are of any kind and number. */
void early_main(uintptr_t *stack)
{
	char *const *argv = (char *const *)(stack + 1);
	char *const *env = argv + stack[0] + 1;
	unsigned int first_fd;
	size_t n = 0;

	for (; env[n]; n++)
		if (early_begins(env[n], "LISTEN_FDS=") ||
		    early_begins(env[n], "_SBXRUN_PROTECTED="))
			return;
	if (!stack[0] || n > ENV_MAX || !early_enters(argv, &first_fd) ||
	    !early_is_plain((const uintptr_t *)(env + n + 1)) || !early_has_streams() ||
	    early_is_a_clone())
		return;
	early_start_again(argv, env, n, first_fd);
}

#endif
