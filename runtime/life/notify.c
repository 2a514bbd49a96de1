/* Trust: datagrams come from the container. */
#include "life/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "sys/loop.h"
#include "sys/patience.h"

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
				       .options = options,
				       .ours = true};
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
	if (mkdirat(s->dfd, "notify", 0755) < 0)
		return err_sys(e, "make the notify directory");
	return 0;
}

int notify_bind(const struct store *s, struct error *e)
{
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	mode_t mask;
	int bound;

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/notify/notify.sock", s->dfd);
	/* The name gets the mode that the socket has when it is bound. Never by the name
	 * afterwards: the container can have a process by now (exec), and may have put something
	 * else there. */
	if (fd < 0 || fchmod(fd, 0777) < 0)
		return err_sys(e, "make the notify socket");
	mask = umask(0);
	bound = bind(fd, (struct sockaddr *)&at, sizeof(at));
	umask(mask);
	return bound < 0 ? err_sys(e, "bind the notify socket") : fd_steal(&fd);
}

/* The manager may have more to read than it takes: it has its time, as every peer. */
static int notify_send(int fd, const struct sockaddr_un *at, socklen_t size, const char *text,
		       struct error *e)
{
	const int64_t until = patience_until(PATIENCE_PEER_MS);

	if (connect(fd, (const struct sockaddr *)at, size) < 0)
		return err_sys(e, "connect");
	while (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "send");
		if (patience_wait(fd, POLLOUT, until, e) < 0)
			return -1;
	}
	return 0;
}

static int notify_tell_manager(pid_t pid, struct error *e)
{
	const char *path = getenv("NOTIFY_SOCKET");
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	char text[64];

	if (fd < 0)
		return err_sys(e, "socket");
	if (!len || len >= sizeof(at.sun_path))
		return err_set(e, ERR_USAGE, "not the address of a socket");
	snprintf(text, sizeof(text), "READY=1\nMAINPID=%d", pid);
	memcpy(at.sun_path, path, len);
	if (path[0] == '@') /* abstract: the name has no end but its length */
		at.sun_path[0] = '\0';
	else
		len++;
	return notify_send(fd, &at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len), text,
			   e);
}

static bool notify_says_ready(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		if (str_eq(line, "READY=1"))
			return true;
	return false;
}

bool notify_forward(int fd, pid_t pid, const struct noter *noter)
{
	/* More than the kernel keeps for a socket, but not all that a container may send: signals
	 * wait. */
	enum { AT_ONCE = 64 };
	char text[DATAGRAM_MAX + 1];
	struct error why;
	ssize_t n;
	int i;

	for (i = 0; i < AT_ONCE && ((n = recv(fd, text, DATAGRAM_MAX, 0)) >= 0 || errno == EINTR);
	     i++) {
		if (n < 0)
			continue;
		text[n] = '\0';
		if (!notify_says_ready(text))
			continue;
		if (notify_tell_manager(pid, &why) < 0)
			note(noter, "NOTIFY_SOCKET: %s", why.text);
		return true;
	}
	return false;
}

struct notify_watch {
	int fd;
	pid_t pid;
	const struct noter *noter;
};

static int notify_serve(void *context, short events)
{
	const struct notify_watch *w = context;

	(void)events;
	return notify_forward(w->fd, w->pid, w->noter) ? 1 : 0;
}

static int notify_serve_end(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

int notify_wait(int fd, pid_t pid, int pidfd, const struct noter *noter, struct error *e)
{
	struct notify_watch w = {.fd = fd, .pid = pid, .noter = noter};
	struct loop l = {0};

	loop_add(&l, fd, POLLIN, notify_serve, &w);
	loop_add(&l, pidfd, POLLIN, notify_serve_end, NULL);
	while (loop_round(&l, LOOP_NEVER) == 0)
		if (patience_is_signalled())
			return err_set(
				e, ERR_SYSTEM,
				"interrupted by a signal: the container runs, but has not said that it is ready");
	return 0;
}
