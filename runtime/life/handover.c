/* What an engine is handed once a process exists: its pid in a file, its pidfd over a socket. */
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
static int pid_file_look(const char *file, struct error *e)
{
	struct stat st;

	if (lstat(file, &st) < 0)
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
	return !file || pid_file_look(file, e) >= 0 ? 0 : -1;
}

/* For file systems without unnamed files: the pid file is written under another name first. */
static int pid_file_rename(const char *file, const char *digits, struct arena *a, struct error *e)
{
	const char *slash = strrchr(file, '/');
	int dir = slash ? (int)(slash - file) + 1 : 0;
	char *other = arena_printf(a, "%.*s.%s.%d", dir, file, file + dir, getpid());
	autoclose int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int result;

	if (fd < 0)
		return err_sys(e, "--pid-file: write %s", file);
	result = pid_file_look(file, e) < 0 ? -1 : 0;
	if (result == 0 &&
	    (fd_write_all(fd, digits, strlen(digits)) < 0 || rename(other, file) < 0))
		result = err_sys(e, "--pid-file: write %s", file);
	if (result < 0)
		unlink(other);
	return result;
}

/* Digits alone; whoever waits for the file reads it whole. It has no name until it is complete, so
 * that being killed here leaves nothing. */
int life_write_pid_file(const char *file, pid_t pid, struct arena *a, struct error *e)
{
	const char *slash = strrchr(file, '/');
	char *dir =
		slash ? arena_strndup(a, file, (size_t)(slash - file) + 1) : arena_strdup(a, ".");
	char *digits = arena_printf(a, "%d", pid);
	autoclose int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	char own[64];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (fd < 0 || fd_write_all(fd, digits, strlen(digits)) < 0)
		return pid_file_rename(file, digits, a, e);
	if (linkat(AT_FDCWD, own, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return err_sys(e, "--pid-file: write %s", file);
	if (pid_file_look(file, e) < 0)
		return -1;
	/* An old one stands in the way. */
	if (unlink(file) < 0 || linkat(AT_FDCWD, own, AT_FDCWD, file, AT_SYMLINK_FOLLOW) < 0)
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
