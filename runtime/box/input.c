#include "box/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { PAGE = 4096 };

/* How much is in a pipe that nobody has read yet. */
static size_t pipe_rest(int fd)
{
	int n = 0;

	return fd >= 0 && ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* ---- a pipe ---- */

/* Others may read it, too, so this must not wait for what they have taken. */
static void pipe_take(struct input *x, size_t n)
{
	ssize_t got;

	x->shown -= n;
	while (n && (got = splice(x->from, NULL, x->null_fd, NULL, n, SPLICE_F_NONBLOCK)) > 0)
		n -= (size_t)got;
}

/* Whatever stands in the way: from here on it is taken as it comes. */
static void pipe_give_up(struct input *x, struct loop_source *in, struct loop_source *out)
{
	pipe_take(x, x->shown);
	x->is_pipe = false;
	x->relay.from = x->from;
	x->relay.to = x->to;
	in->fd = out->fd = -1;
	/* The relay's own sources are there already. */
	x->relay.in->fd = x->from;
}

static int pipe_show(void *context, short events)
{
	struct input *x = context;
	ssize_t n = tee(x->from, x->to, PAGE, SPLICE_F_NONBLOCK);

	(void)events;
	if (n > 0)
		x->shown = (size_t)n;
	else if (n == 0 || errno == EPIPE)
		x->from = -1;
	else if (errno != EAGAIN && errno != EINTR)
		pipe_give_up(x, x->in, x->out);
	return 0;
}

/* There is room for a page, and no more is in it: so it is empty, unless the program has made its
 * pipe larger or has closed it. */
static int pipe_has_room(void *context, short events)
{
	struct input *x = context;
	const size_t rest = pipe_rest(x->to);

	if (events & (POLLERR | POLLNVAL)) {
		pipe_take(x, x->shown - (rest < x->shown ? rest : x->shown));
		x->from = -1;
	} else if (rest) {
		pipe_give_up(x, x->in, x->out);
	} else {
		pipe_take(x, x->shown);
	}
	return 0;
}

static bool pipe_set_up(struct input *x, int from, int to)
{
	if (fcntl(to, F_SETPIPE_SZ, PAGE) != PAGE)
		return false;
	x->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	x->from = from;
	x->to = to;
	return x->null_fd >= 0;
}

/* ---- all kinds ---- */

void input_add(struct input *x, int from, int to, int *at, struct loop *l)
{
	struct stat st;

	*x = INPUT_NONE;
	if (to >= 0 && from >= 0 && fstat(from, &st) == 0) {
		x->is_pipe = S_ISFIFO(st.st_mode) && pipe_set_up(x, from, to);
		if (S_ISREG(st.st_mode)) {
			x->file_fd = from;
			x->rest_fd = *at;
			*at = -1;
		}
	}
	if (!x->is_pipe && to >= 0)
		x->relay = (struct relay){.from = from, .to = to};
	relay_add(&x->relay, l);
	x->in = loop_add(l, -1, POLLIN, pipe_show, x);
	x->out = loop_add(l, -1, POLLOUT, pipe_has_room, x);
	input_settle(x);
}

void input_add_terminal(struct input *x, int from, int master_fd, struct loop *l)
{
	*x = INPUT_NONE;
	x->relay = (struct relay){.from = from, .to = master_fd, .is_input = true, .last = '\n'};
	relay_add(&x->relay, l);
}

void input_settle(struct input *x)
{
	/* The end of our input is the end of the program's. */
	relay_repeat_end(&x->relay);
	if (!x->is_pipe)
		return;
	x->in->fd = x->shown ? -1 : x->from;
	x->out->fd = x->shown && x->from >= 0 ? x->to : -1;
}

bool input_is_done(const struct input *x)
{
	if (x->is_pipe)
		return x->from < 0;
	return relay_is_done(&x->relay) || x->relay.broken;
}

/* A box can have put something into its own pipe: no more is given back than was taken. */
static void file_give_back(const struct input *x)
{
	size_t rest = pipe_rest(x->rest_fd) + x->relay.len;

	if (x->file_fd < 0)
		return;
	if (rest > x->relay.passed)
		rest = (size_t)x->relay.passed;
	if (rest)
		lseek(x->file_fd, -(off_t)rest, SEEK_CUR);
}

void input_finish(struct input *x)
{
	size_t rest;

	file_give_back(x);
	x->file_fd = -1;
	if (x->is_pipe && x->from >= 0 && x->shown) {
		rest = pipe_rest(x->to);
		pipe_take(x, x->shown - (rest < x->shown ? rest : x->shown));
	}
	if (x->is_pipe) {
		x->from = -1;
		x->in->fd = x->out->fd = -1;
	}
	if (x->relay.in)
		relay_cut(&x->relay);
}

void input_close(struct input *x)
{
	fd_close(&x->rest_fd);
	fd_close(&x->null_fd);
}
