/*
 * Tests whether a file can be executed while `create` can still say so: engines clean up after a
 * create that fails, but some leave a shim and cgroups behind after a failed start.
 *
 * Nobody but the kernel knows: a handler of binfmt_misc may take any file, and who is inside a
 * container can't list them. So what is surely good is told by a few reads, and anything else is
 * tried.
 */
#include "init/format.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/child.h"
#include "sys/sys.h"

enum {
	HEAD = 256, /* what the kernel looks at, a line of #! included */
	SCRIPTS =
		4, /* scripts that are interpreters of scripts: the kernel's limit is a bit above */
	PROGRAM_PARTS = 64 /* entries of the program header that are looked at */
};

/* This program's own header; the linker puts it there. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Trust: a pipe or a device may be there by now, so no open may wait. */
static int format_open(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -1;
	return fd_steal(&fd);
}

/* Of this program's own kind, which surely runs here. */
static bool format_is_native(const ElfW(Ehdr) *head, size_t len)
{
	return len >= sizeof(*head) &&
	       memcmp(head->e_ident, __ehdr_start.e_ident, EI_VERSION + 1) == 0 &&
	       head->e_machine == __ehdr_start.e_machine &&
	       head->e_phentsize == sizeof(ElfW(Phdr)) &&
	       (head->e_type == ET_EXEC || head->e_type == ET_DYN);
}

static bool format_is_native_file(const char *path)
{
	autoclose int fd = format_open(path);
	ElfW(Ehdr) head;
	ssize_t len = fd < 0 ? -1 : pread(fd, &head, sizeof(head), 0);

	return len >= 0 && format_is_native(&head, (size_t)len);
}

static bool format_has_loader(int fd, const ElfW(Ehdr) *head)
{
	char path[4096];
	ElfW(Phdr) part;
	size_t i;

	if (head->e_phnum == 0 || head->e_phnum > PROGRAM_PARTS)
		return false;
	for (i = 0; i < head->e_phnum; i++) {
		off_t at = (off_t)(head->e_phoff + i * sizeof(part));

		if (at < 0 || pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
			return false;
		if (part.p_type != PT_INTERP)
			continue;
		if (part.p_filesz < 2 || part.p_filesz > sizeof(path) || (off_t)part.p_offset < 0 ||
		    pread(fd, path, part.p_filesz, (off_t)part.p_offset) !=
			    (ssize_t)part.p_filesz ||
		    path[part.p_filesz - 1] != '\0')
			return false;
		return format_is_native_file(path);
	}
	return true; /* static */
}

/* The interpreter that a line of #! names, cut out of it; NULL if the line is not a plain one. */
static char *format_interpreter(char *line, size_t len)
{
	char *end = memchr(line, '\n', len), *path;

	if (!end)
		return NULL;
	*end = '\0';
	path = line + strspn(line, " \t");
	path[strcspn(path, " \t")] = '\0';
	return *path ? path : NULL;
}

static bool format_is_plain_at(const char *path, int scripts)
{
	autoclose int fd = format_open(path);
	union {
		char text[HEAD];
		ElfW(Ehdr) elf;
	} head = {0};
	ssize_t len = fd < 0 ? -1 : pread(fd, head.text, sizeof(head.text), 0);
	const char *interpreter;

	if (len < 2)
		return false;
	if (memcmp(head.text, "#!", 2) != 0)
		return format_is_native(&head.elf, (size_t)len) && format_has_loader(fd, &head.elf);
	interpreter = format_interpreter(head.text + 2, (size_t)len - 2);
	return interpreter && scripts < SCRIPTS && format_is_plain_at(interpreter, scripts + 1);
}

bool format_is_plain(const char *path)
{
	return format_is_plain_at(path, 0);
}

/* ---- other architectures ---- */

/* Where both are: e_machine has the same place in headers of 32 and of 64 bits. */
static const char *format_foreign_head(const Elf32_Ehdr *head)
{
	static const struct {
		uint16_t own, machine;
		const char *word;
	} rows[] = {
		{EM_X86_64, EM_386, "i386"},
		{EM_X86_64, EM_X86_64, "x32"},
		{EM_AARCH64, EM_ARM, "32-bit ARM"},
	};
	size_t i;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS32)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].own == __ehdr_start.e_machine && rows[i].machine == head->e_machine)
			return rows[i].word;
	return NULL;
}

static const char *format_foreign_at(const char *path, int scripts)
{
	autoclose int fd = format_open(path);
	union {
		char text[HEAD];
		Elf32_Ehdr elf;
	} head = {0};
	ssize_t len = fd < 0 ? -1 : pread(fd, head.text, sizeof(head.text), 0);
	const char *interpreter;

	if (len < 2)
		return NULL;
	if (memcmp(head.text, "#!", 2) != 0)
		return len >= (ssize_t)sizeof(head.elf) ? format_foreign_head(&head.elf) : NULL;
	interpreter = format_interpreter(head.text + 2, (size_t)len - 2);
	return interpreter && scripts < SCRIPTS ? format_foreign_at(interpreter, scripts + 1) :
						  NULL;
}

const char *format_foreign(const char *path)
{
	return format_foreign_at(path, 0);
}

/* ---- trying ---- */

/* Stops before execve(), so that the other one can see to it that this process
 * never outlives it. */
__attribute__((noreturn)) static void format_child(const char *path, char *const *args,
						   char *const *env)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* execve makes us traceable before it closes what is close-on-exec (rule R3). */
	if (fd_close_all_but(3, NULL, 0) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ||
	    kill(getpid(), SIGSTOP) < 0)
		_exit(0);
	execve(path, args, env);
	_exit(errno > 0 && errno < 256 ? errno : 0);
}

/* The child is about to execute; status is what child_stopped() said of it. */
static int format_watch(pid_t pid, int *status)
{
	if (child_stopped(pid, status) < 0 || !WIFSTOPPED(*status) || WSTOPSIG(*status) != SIGSTOP)
		return -1;
	/* PTRACE_O_EXITKILL: should this process die, the other must not run on as the program. */
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) < 0 ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) < 0 || child_stopped(pid, status) < 0)
		return -1;
	if (WIFEXITED(*status))
		return WEXITSTATUS(*status) ? WEXITSTATUS(*status) : -1;
	return WIFSTOPPED(*status) && *status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8)) ? 0 : -1;
}

int format_try(const char *path, char *const *args, char *const *env)
{
	int status = 0, result, pidfd = -1;
	pid_t pid = sys_fork(&pidfd);

	if (pid == 0)
		format_child(path, args, env);
	if (pid < 0)
		return -1;
	result = format_watch(pid, &status);
	while (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		kill(pid, SIGKILL);
		if (child_stopped(pid, &status) < 0)
			break;
	}
	fd_close(&pidfd);
	return result;
}
