#include "mcp/line.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "mcp/message.h"
#include "sys/loop.h"

enum { READ_SIZE = 64 << 10, SOCKET_SIZE = 64 << 10 };

static void text_grow(char **text, size_t *cap, size_t need)
{
	size_t more = *cap ? *cap : READ_SIZE;
	char *p;

	if (need <= *cap)
		return;
	while (more < need)
		more *= 2;
	p = realloc(*text, more);
	if (!p)
		arena_out_of_memory();
	*text = p;
	*cap = more;
}

int line_in_fill(struct line_in *in)
{
	ssize_t n;

	if (in->at) {
		memmove(in->text, in->text + in->at, in->len - in->at);
		in->len -= in->at;
		in->at = 0;
	}
	text_grow(&in->text, &in->cap, in->len + READ_SIZE);
	n = read(in->fd, in->text + in->len, READ_SIZE);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -1;
	in->len += (size_t)n;
	in->ended = n == 0;
	return n ? 0 : -1;
}

enum line_verdict line_in_next(struct line_in *in, const char **ret, size_t *ret_len)
{
	while (in->at < in->len) {
		const char *from = in->text + in->at, *feed = memchr(from, '\n', in->len - in->at);
		size_t len = feed ? (size_t)(feed - from) : in->len - in->at;
		bool dropping = in->dropping;

		if (!feed && len <= MESSAGE_MAX && !dropping)
			return LINE_NONE;
		in->at += len + (feed != NULL);
		in->dropping = !feed;
		if (dropping)
			continue;
		*ret = from;
		*ret_len = len;
		return len > MESSAGE_MAX ? LINE_TOO_LONG : LINE_FOUND;
	}
	return LINE_NONE;
}

void line_out_put(struct line_out *out, const char *text, size_t len)
{
	if (out->broken)
		return;
	if (out->at == out->len)
		out->at = out->len = 0;
	text_grow(&out->text, &out->cap, out->len + len + 1);
	memcpy(out->text + out->len, text, len);
	out->text[out->len + len] = '\n';
	out->len += len + 1;
	line_out_flush(out);
}

/* A pipe that is ready takes PIPE_BUF bytes; a socket is told not to wait. The descriptor's own
 * flags are shared with whoever else has it, and stay as they are. */
static ssize_t write_some(int fd, const char *p, size_t n)
{
	ssize_t wrote = send(fd, p, n < SOCKET_SIZE ? n : SOCKET_SIZE, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (wrote >= 0 || errno != ENOTSOCK)
		return wrote;
	if (!loop_is_ready(fd, POLLOUT, loop_now())) {
		errno = EAGAIN;
		return -1;
	}
	return write(fd, p, n < PIPE_BUF ? n : PIPE_BUF);
}

void line_out_flush(struct line_out *out)
{
	ssize_t n;

	while (!out->broken && line_out_pending(out)) {
		n = write_some(out->fd, out->text + out->at, line_out_pending(out));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		out->broken = n < 0;
		if (n > 0)
			out->at += (size_t)n;
	}
	if (out->at == out->len && out->cap > LINES_PENDING_MAX / 8) {
		free(out->text);
		out->text = NULL;
		out->cap = 0;
	}
	if (out->at == out->len)
		out->at = out->len = 0;
}

void line_free(struct line_in *in, struct line_out *out)
{
	free(in->text);
	free(out->text);
	in->text = out->text = NULL;
}
