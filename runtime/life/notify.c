/* Trust: datagrams come from the container. */
#include "life/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"

#define INSIDE "/run/notify"
#define VARIABLE "NOTIFY_SOCKET="

enum { DATAGRAM_MAX = 4096 };

bool notify_is_wanted(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	return path && (path[0] == '/' || path[0] == '@');
}

void notify_add(struct oci_config *c, const char *state_dir, struct arena *a)
{
	static const char *const words[] = {"bind", "ro", "nosuid", "nodev", "noexec"};
	struct oci_mount *mounts = arena_array(a, c->mounts.n + 1, struct oci_mount);
	struct strings options = {.v = arena_array(a, ARRAY_SIZE(words) + 1, char *)};
	struct strings env = {.v = arena_array(a, c->process.env.n + 2, char *)};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		options.v[options.n++] = arena_strdup(a, words[i]);
	for (i = 0; i < c->mounts.n; i++)
		mounts[i] = c->mounts.v[i];
	mounts[i] = (struct oci_mount){.destination = arena_strdup(a, INSIDE),
				       .type = arena_strdup(a, "bind"),
				       .source = arena_printf(a, "%s/notify", state_dir),
				       .options = options};
	c->mounts.v = mounts;
	c->mounts.n++;
	for (i = 0; i < c->process.env.n; i++)
		if (!str_after(c->process.env.v[i], VARIABLE))
			env.v[env.n++] = c->process.env.v[i];
	env.v[env.n++] = arena_strdup(a, VARIABLE INSIDE "/notify.sock");
	c->process.env = env;
}

int notify_make(const struct store *s, struct error *e)
{
	if (mkdirat(s->dfd, "notify", 0755) < 0 || fchmodat(s->dfd, "notify", 0755, 0) < 0)
		return err_sys(e, "make the notify directory");
	return 0;
}

int notify_bind(const struct store *s, struct error *e)
{
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/notify/notify.sock", s->dfd);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    fchmodat(s->dfd, "notify/notify.sock", 0777, 0) < 0)
		return err_sys(e, "bind the notify socket");
	return fd_steal(&fd);
}

static int notify_tell_manager(pid_t pid)
{
	const char *path = getenv("NOTIFY_SOCKET");
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	char text[64];
	int n = snprintf(text, sizeof(text), "READY=1\nMAINPID=%d", pid);

	if (fd < 0)
		return -1;
	if (!len || len >= sizeof(at.sun_path)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(at.sun_path, path, len);
	if (path[0] == '@') /* abstract: the name has no end but its length */
		at.sun_path[0] = '\0';
	else
		len++;
	return sendto(fd, text, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&at,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0 ?
		       -1 :
		       0;
}

static bool notify_says_ready(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		if (str_eq(line, "READY=1"))
			return true;
	return false;
}

bool notify_forward(int fd, pid_t pid)
{
	/* More than the kernel keeps for a socket, but not all that a container may send: signals wait. */
	enum { AT_ONCE = 64 };
	char text[DATAGRAM_MAX + 1];
	ssize_t n;
	int i;

	for (i = 0; i < AT_ONCE && ((n = recv(fd, text, DATAGRAM_MAX, 0)) >= 0 || errno == EINTR); i++) {
		if (n < 0)
			continue;
		text[n] = '\0';
		if (!notify_says_ready(text))
			continue;
		if (notify_tell_manager(pid) < 0)
			log_warn("NOTIFY_SOCKET: %s", err_text(errno));
		return true;
	}
	return false;
}

void notify_wait(int fd, pid_t pid, int pidfd)
{
	for (;;) {
		struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};

		if (poll(p, 2, -1) < 0)
			continue;
		if ((p[0].revents && notify_forward(fd, pid)) || p[1].revents)
			return;
	}
}
