#include "box/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/sandbox.h"
#include "json/json.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "sys/unix.h"

enum { TALK_MS = 10000, END_MS = 6000 };

void session_close(struct session *s)
{
	fd_close(&s->sock);
	fd_close(&s->driver_fd);
	fd_close(&s->out_fd);
	fd_close(&s->err_fd);
	fd_close(&s->control_fd);
	fd_close(&s->listener_fd);
	fd_close(&s->reaper_pidfd);
}

int session_check_name(const char *name, struct error *e)
{
	const char *p = name;

	while (*p && (strchr("_.-", *p) || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		      (*p >= 'A' && *p <= 'Z')))
		p++;
	if (*p || p == name || p - name > SESSION_NAME_MAX)
		return err_set(
			e, ERR_USAGE,
			"%s is no name of a session: letters, digits, \"_\", \".\" and \"-\", "
			"at most %d of them",
			json_show(name).text, SESSION_NAME_MAX);
	return 0;
}

const char *session_file(const char *name, struct arena *a)
{
	return arena_printf(a, SESSION_PREFIX "%s", name);
}

bool session_is_any(const struct sandbox *box)
{
	autoclose int fd =
		openat(box->dfd, SESSION_LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

/* ---- the keeper's socket ---- */

/* 1; 0: nobody is there (*ret_was: there was); -1. */
static int keeper_connect(const struct sandbox *box, const char *name, struct arena *a,
			  int *ret_sock, bool *ret_was, struct error *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who;
	socklen_t len = sizeof(who);

	*ret_was = false;
	if (fd < 0)
		return err_sys(e, "make a socket");
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", box->dfd,
		 session_file(name, a));
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		*ret_was = errno == ECONNREFUSED;
		if (errno == ENOENT || errno == ECONNREFUSED)
			return 0;
		return err_sys(e, "reach session \"%s\"", name);
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.uid != geteuid())
		return err_set(e, ERR_SYSTEM, "session \"%s\" is kept by another user", name);
	*ret_sock = fd_steal(&fd);
	return 1;
}

static int keeper_ask(int sock, enum session_ask what, struct error *e)
{
	const char ask = (char)what;

	return send(sock, &ask, 1, MSG_NOSIGNAL) == 1 ? 0 : err_sys(e, "ask the session's keeper");
}

static ssize_t keeper_hear(int sock, void *to, size_t size, int *fds, size_t max, size_t *ret_n)
{
	*ret_n = 0;
	if (!loop_is_ready(sock, POLLIN, loop_now() + TALK_MS * LOOP_MS))
		return -1;
	return unix_recv_fds(sock, to, size, fds, max, ret_n);
}

static int keeper_read_judge(int fd, struct session *s, struct arena *a, struct error *e)
{
	const size_t size = s->hello.judge_len * sizeof(struct sock_filter);

	s->judge = (struct seccomp_program){.len = (unsigned short)s->hello.judge_len};
	s->judge.filter = arena_array(a, s->hello.judge_len + 1U, struct sock_filter);
	if (s->hello.judge_len > UINT16_MAX || pread(fd, s->judge.filter, size, 0) != (ssize_t)size)
		return err_set(e, ERR_SYSTEM, "the filter of session \"%s\" can't be read",
			       s->name);
	return 0;
}

/* Borrows from the keeper. 0: it has ended meanwhile. */
static int session_borrow(struct session *s, struct arena *a, struct error *e)
{
	int first[4], second[4] = {-1, -1, -1, -1};
	char byte;
	size_t n;
	ssize_t len;

	if (keeper_ask(s->sock, SESSION_TAKE, e) < 0)
		return 0;
	len = keeper_hear(s->sock, &s->hello, sizeof(s->hello), first, 4, &n);
	if (len != (ssize_t)sizeof(s->hello) || s->hello.version != SESSION_VERSION)
		return len <= 0 ? 0 :
				  err_set(e, ERR_SYSTEM,
					  "session \"%s\" is kept by another version of sbxrun: "
					  "--restart begins it anew",
					  s->name);
	s->hello.text[sizeof(s->hello.text) - 1] = s->hello.language[23] = '\0';
	if (s->hello.failed)
		return err_set(e, (enum err_class)s->hello.failed, "%s", s->hello.text);
	if (n != 4)
		return 0;
	s->driver_fd = first[0];
	s->out_fd = first[1];
	s->err_fd = first[2];
	s->control_fd = first[3];
	if (keeper_hear(s->sock, &byte, 1, second, 3, &n) != 1 || n < 2)
		return 0;
	s->reaper_pidfd = second[1];
	s->listener_fd = second[2];
	len = keeper_read_judge(second[0], s, a, e);
	fd_close(&second[0]);
	return len < 0 ? -1 : 1;
}

int session_take(const struct sandbox *box, const char *name, struct arena *a, struct session *ret,
		 bool *ret_was, struct error *e)
{
	auto_session struct session s = SESSION_NONE;
	int result;

	s.name = name;
	result = keeper_connect(box, name, a, &s.sock, ret_was, e);
	if (result > 0) {
		result = session_borrow(&s, a, e);
		*ret_was = result == 0;
	}
	if (result > 0) {
		*ret = s;
		s = SESSION_NONE;
	}
	return result;
}

int session_start(const struct box_request *q, const char *name, struct arena *a,
		  struct session *ret, struct error *e)
{
	auto_session struct session s = SESSION_NONE;
	int pair[2], result;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "make a socket");
	pid = fork();
	if (pid == 0)
		session_keep(q, name, pair[1]);
	s.sock = pair[0];
	fd_close(&pair[1]);
	if (pid < 0)
		return err_sys(e, "start the keeper of a session");
	s.name = name;
	s.is_new = true;
	result = session_borrow(&s, a, e);
	if (result == 0 && loop_is_ready(s.sock, POLLIN, 0))
		return err_set(e, ERR_SYSTEM, "session \"%s\" has ended as soon as it had begun",
			       name);
	if (result <= 0)
		return result < 0 ? -1 :
				    err_set(e, ERR_SYSTEM,
					    "the keeper of session \"%s\" does not answer", name);
	*ret = s;
	s = SESSION_NONE;
	return 0;
}

void session_leave(struct session *s, bool has_run)
{
	struct error ignored;

	(void)keeper_ask(s->sock, has_run ? SESSION_LEFT : SESSION_BACK, &ignored);
	session_close(s);
}

void session_await_end(struct session *s, struct session_end *ret)
{
	struct session_end end = {0};
	int64_t until = loop_now() + END_MS * LOOP_MS;
	ssize_t n;

	struct error ignored;

	fd_close(&s->control_fd); /* the keeper's is the last one then */
	(void)keeper_ask(s->sock, SESSION_END, &ignored);
	*ret = end;
	while (loop_now() < until && !loop_is_ready(s->sock, POLLIN, until))
		;
	n = recv(s->sock, &end, sizeof(end), MSG_DONTWAIT);
	/* The keeper was ending and did not read the question: that comes first, as an error. */
	if (n < 0 && errno == ECONNRESET)
		n = recv(s->sock, &end, sizeof(end), MSG_DONTWAIT);
	if (n == (ssize_t)sizeof(end))
		*ret = end;
}

bool session_has_ended_all(const struct session_end *end)
{
	return end->collected && !end->end.signal;
}

int session_stop(struct sandbox *box, const char *name, struct arena *a, struct error *e)
{
	struct session s = SESSION_NONE;
	struct session_end end;
	bool was;
	int result = keeper_connect(box, name, a, &s.sock, &was, e);

	if (result <= 0)
		return result;
	session_await_end(&s, &end);
	if (!session_has_ended_all(&end)) {
		/* Its reaper does not do its work any more. */
		sandbox_kill(box);
		box->has_sessions = false;
		if (!sandbox_settle(box, a))
			result = err_set(e, ERR_SYSTEM, "session \"%s\" does not end", name);
	}
	session_close(&s);
	return result;
}

/* ---- which there are ---- */

static bool session_look(const struct sandbox *box, const char *name, struct arena *a,
			 struct session_hello *ret)
{
	autoclose int sock = -1;
	struct error ignored;
	bool was;

	if (keeper_connect(box, name, a, &sock, &was, &ignored) <= 0 ||
	    keeper_ask(sock, SESSION_LOOK, &ignored) < 0 ||
	    !loop_is_ready(sock, POLLIN, loop_now() + TALK_MS * LOOP_MS) ||
	    recv(sock, ret, sizeof(*ret), MSG_DONTWAIT) != (ssize_t)sizeof(*ret) ||
	    ret->version != SESSION_VERSION)
		return false;
	ret->language[sizeof(ret->language) - 1] = '\0';
	return true;
}

int session_list(const struct sandbox *box, struct arena *a, struct session_view **ret,
		 size_t *ret_n, struct error *e)
{
	int fd = openat(box->dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	const char *name;
	size_t cap = 0;

	*ret_n = 0;
	*ret = NULL;
	if (!dir) {
		fd_close(&fd);
		return err_sys(e, "look for the sessions of box \"%s\"", box->id);
	}
	while ((entry = readdir(dir))) {
		name = str_after(entry->d_name, SESSION_PREFIX);
		if (!name)
			continue;
		*ret = arena_grow(a, *ret, &cap, *ret_n + 1, sizeof(**ret));
		(*ret)[*ret_n].name = arena_strdup(a, name);
		if (session_look(box, name, a, &(*ret)[*ret_n].hello))
			++*ret_n;
	}
	closedir(dir);
	return 0;
}

void session_write(const struct session_view *v, struct buf *b)
{
	buf_str(b, "{\"session\":");
	json_write_string(b, v->name);
	buf_str(b, ",\"language\":");
	json_write_string(b, v->hello.language);
	buf_printf(b, ",\"cells\":%u,\"age_s\":%" PRId64 "}", v->hello.cells,
		   (sandbox_now() - v->hello.begun) / LOOP_SECOND);
}
