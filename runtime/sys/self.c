/*
 * Runs in the host's namespaces, before anything of a container is read. The test for "already
 * protected" asks the kernel about the file this process was started from; an environment variable
 * only stops a loop, it never grants anything.
 */
#include "sys/self.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/sys.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#define SELF_EXE "/proc/self/exe"
#define LOOP_GUARD "_SBXRUN_PROTECTED"

static const int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/* A file can only be the root of a mount that stands in no tree when its path reads "/". */
static bool self_is_detached_readonly(int exe_fd)
{
	char link[8];
	struct statfs fs;

	return readlink(SELF_EXE, link, sizeof(link)) == 1 && link[0] == '/' &&
	       fstatfs(exe_fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

static bool self_is_sealed(int exe_fd)
{
	int seals = fcntl(exe_fd, F_GET_SEALS);

	return seals >= 0 && (seals & all_seals) == all_seals;
}

/* An inode without a name: whoever writes it changes no later run. */
static bool self_is_nameless(int exe_fd)
{
	struct stat st;

	return fstat(exe_fd, &st) == 0 && st.st_nlink == 0;
}

static int self_clone_mount(int exe_fd)
{
	autoclose int fd = open_tree(exe_fd, "",
				     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (fd < 0 || sys_set_attr(fd, false, MOUNT_ATTR_RDONLY, 0, MS_PRIVATE) < 0)
		return -1;
	return fd_steal(&fd);
}

static int self_copy(int exe_fd, int copy_fd)
{
	struct stat st;
	off_t at = 0;

	if (fstat(exe_fd, &st) < 0)
		return -1;
	while (at < st.st_size)
		if (sendfile(copy_fd, exe_fd, &at, (size_t)(st.st_size - at)) <= 0)
			return -1;
	return 0;
}

static int self_copy_to_memfd(int exe_fd)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	autoclose int fd = memfd_create("sbxrun", flags | MFD_EXEC);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("sbxrun", flags);
	if (fd < 0 || self_copy(exe_fd, fd) < 0 || fcntl(fd, F_ADD_SEALS, all_seals) < 0)
		return -1;
	return fd_steal(&fd);
}

static int self_copy_to_unnamed_file(int exe_fd)
{
	static const char *const places[] = {"/run", "/dev/shm", "/tmp"};
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		autoclose int fd = open(places[i], O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0500);

		if (fd < 0 || self_copy(exe_fd, fd) < 0)
			continue;
		/* A file open for writing can't be executed: only the second descriptor stays. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		return open(path, O_RDONLY | O_CLOEXEC);
	}
	return -1;
}

int self_protect(char *const argv[], struct error *e)
{
	static int (*const ways[])(int) = {self_clone_mount, self_copy_to_memfd,
					   self_copy_to_unnamed_file};
	autoclose int exe_fd = open(SELF_EXE, O_RDONLY | O_CLOEXEC);
	size_t i;

	if (exe_fd < 0)
		return err_sys(e, "open %s", SELF_EXE);
	if (self_is_detached_readonly(exe_fd) || self_is_sealed(exe_fd) || self_is_nameless(exe_fd))
		return unsetenv(LOOP_GUARD);
	if (getenv(LOOP_GUARD))
		return err_set(e, ERR_HOST, "can't tell a protected copy of sbxrun from its file");
	if (setenv(LOOP_GUARD, "1", 1) < 0)
		return err_sys(e, "setenv");
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		autoclose int fd = ways[i](exe_fd);

		if (fd >= 0)
			execveat(fd, "", argv, environ, AT_EMPTY_PATH);
	}
	return err_sys(e,
		       "can't make a copy of sbxrun that the container can't write (tried a "
		       "read-only clone, a memfd and an unnamed file)");
}

/* The kernel shows them as the command line, however it was split. */
static char **arguments;

char **self_copy_arguments(char **argv, struct arena *a)
{
	size_t i, n = 0;
	char **copy;

	while (argv[n])
		n++;
	copy = arena_array(a, n + 1, char *);
	for (i = 0; i < n; i++)
		copy[i] = arena_strdup(a, argv[i]);
	arguments = argv;
	return copy;
}

static void self_wipe(char **words)
{
	for (; words && *words; words++)
		explicit_bzero(*words, strlen(*words));
}

void self_forget_words(void)
{
	self_wipe(arguments);
	self_wipe(environ);
	clearenv();
}

/* The kernel says so when it started us with more than the caller had; root's capabilities are its
 * own. Not AT_SECURE alone, which a security module's transition sets too. */
static bool self_has_file_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return geteuid() != 0 && getauxval(AT_SECURE) &&
	       syscall(SYS_capget, &header, data) == 0 && (data[0].permitted || data[1].permitted);
}

int self_refuse_setuid(struct error *e)
{
	if (getuid() != geteuid() || getgid() != getegid() || self_has_file_capabilities())
		return err_set(
			e, ERR_USAGE,
			"sbxrun must not be installed set-user-ID, set-group-ID or with file "
			"capabilities: chmod ug-s it, setcap -r it");
	return 0;
}
