/* What an engine is handed once a process exists: its pid in a file, its pidfd over a socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "life/life.h"
#include "sys/unix.h"

/* Where unnamed files can't be had: under another name first. */
static int pid_file_rename(const char *file, const char *digits, struct arena *a)
{
	const char *slash = strrchr(file, '/');
	int dir = slash ? (int)(slash - file) + 1 : 0;
	char *other = arena_printf(a, "%.*s.%s.%d", dir, file, file + dir, getpid());
	autoclose int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -1;
	if (fd_write_all(fd, digits, strlen(digits)) == 0 && rename(other, file) == 0)
		return 0;
	unlink(other);
	return -1;
}

/* Digits alone; whoever waits for the file reads it whole. It has no name until it is complete, so
 * that being killed here leaves nothing. */
int life_write_pid_file(const char *file, pid_t pid, struct arena *a, struct error *e)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash ? arena_strndup(a, file, (size_t)(slash - file) + 1) : arena_strdup(a, ".");
	char *digits = arena_printf(a, "%d", pid);
	autoclose int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	char own[64];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (fd < 0 || fd_write_all(fd, digits, strlen(digits)) < 0)
		return pid_file_rename(file, digits, a) < 0 ?
			       err_sys(e, "--pid-file: write %s", file) :
			       0;
	if (linkat(AT_FDCWD, own, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	/* An old one stands in the way. */
	if (errno == EEXIST && unlink(file) == 0 &&
	    linkat(AT_FDCWD, own, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return err_sys(e, "--pid-file: write %s", file);
}

int life_send_pidfd(const char *path, int pidfd, struct error *e)
{
	static const char name[] = "pidfd";
	autoclose int sock = unix_connect(path, e);

	if (sock < 0)
		return err_wrap(e, "--pidfd-socket");
	if (unix_send_fds(sock, name, sizeof(name) - 1, &pidfd, 1) < 0)
		return err_sys(e, "--pidfd-socket: send");
	return 0;
}
