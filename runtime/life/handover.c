/* Hands an engine a process that exists: its pid in a file, its pidfd over a socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "life/internal.h"
#include "sys/unix.h"

/* Only an old pid file is replaced: no device, no pipe, and no link, as /dev/stdout is one. 1:
 * there is one; 0: there is nothing. */
static int pid_file_look(int dfd, const char *name, const char *file, struct error *e)
{
	struct stat st;

	if (fstatat(dfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "--pid-file: %s", file);
	if (!S_ISREG(st.st_mode))
		return err_set(
			e, ERR_USAGE,
			"--pid-file: %s is there, and is not a regular file: it is not replaced",
			file);
	return 1;
}

int life_check_pid_file(const char *file, struct error *e)
{
	return !file || pid_file_look(AT_FDCWD, file, file, e) >= 0 ? 0 : -1;
}

/* For file systems without unnamed files: the pid file is written under another name first. */
static int pid_file_rename(int dfd, const char *name, const char *digits, const char *file,
			   struct arena *a, struct error *e)
{
	char *other = arena_printf(a, ".%s.%d", name, getpid());
	autoclose int fd =
		openat(dfd, other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int result;

	if (fd < 0)
		return err_sys(e, "--pid-file: write %s", file);
	result = pid_file_look(dfd, name, file, e) < 0 ? -1 : 0;
	if (result == 0 &&
	    (fd_write_all(fd, digits, strlen(digits)) < 0 || renameat(dfd, other, dfd, name) < 0))
		result = err_sys(e, "--pid-file: write %s", file);
	if (result < 0)
		unlinkat(dfd, other, 0);
	return result;
}

/* Digits alone; whoever waits for the file reads it whole. It has no name until it is complete, so
 * that being killed here leaves nothing. Its directory is looked up once: what is looked at is what
 * is replaced, whoever exchanges directories meanwhile. */
int life_write_pid_file(const char *file, pid_t pid, struct arena *a, struct error *e)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	char *dir =
		slash ? arena_strndup(a, file, (size_t)(slash - file) + 1) : arena_strdup(a, ".");
	char *digits = arena_printf(a, "%d", pid);
	autoclose int dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = dfd < 0 ? -1 : openat(dfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	char own[64];

	if (dfd < 0)
		return err_sys(e, "--pid-file: write %s", file);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (fd < 0 || fd_write_all(fd, digits, strlen(digits)) < 0)
		return pid_file_rename(dfd, name, digits, file, a, e);
	if (linkat(AT_FDCWD, own, dfd, name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return err_sys(e, "--pid-file: write %s", file);
	if (pid_file_look(dfd, name, file, e) < 0)
		return -1;
	/* An old one stands in the way. */
	if (unlinkat(dfd, name, 0) < 0 || linkat(AT_FDCWD, own, dfd, name, AT_SYMLINK_FOLLOW) < 0)
		return err_sys(e, "--pid-file: write %s", file);
	return 0;
}

int life_send_pidfd(const char *path, int pidfd, struct error *e)
{
	static const char name[] = "pidfd";
	autoclose int sock = unix_connect(path, e);

	if (sock < 0)
		return err_wrap(e, "--pidfd-socket");
	if (unix_send_fds(sock, name, sizeof(name) - 1, &pidfd, 1, e) < 0)
		return err_wrap(e, "--pidfd-socket");
	return 0;
}
