#include "sys/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include "sys/unix.h"

bool terminal_size(struct winsize *ret)
{
	return ioctl(STDIN_FILENO, TIOCGWINSZ, ret) == 0 ||
	       ioctl(STDOUT_FILENO, TIOCGWINSZ, ret) == 0;
}

void terminal_resize(const struct terminal *t)
{
	struct winsize w;

	if (t->master_fd >= 0 && terminal_size(&w))
		ioctl(t->master_fd, TIOCSWINSZ, &w);
}

static void terminal_apply_raw(struct terminal *t)
{
	struct termios raw = t->own;

	cfmakeraw(&raw);
	/* The container's terminal leaves "\n" alone (ONLCR is off there), so ours
	 * turns it around. */
	raw.c_oflag |= OPOST | ONLCR;
	t->own_is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void terminal_make_raw_again(struct terminal *t)
{
	if (t->own_is_raw)
		terminal_apply_raw(t); /* what it was before is known already */
}

void terminal_make_sane(struct terminal *t)
{
	if (t->own_is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW,
			  &t->own); /* not to wait for a line that is held up */
	t->own_is_raw = false;
}

int terminal_take(struct terminal *t, int sock, struct error *e)
{
	char name[256];

	t->master_fd = unix_recv_fd(sock, name, sizeof(name));
	if (t->master_fd < 0)
		return err_sys(e, "process.terminal: receive the terminal");
	fcntl(t->master_fd, F_SETFL, O_NONBLOCK | O_RDWR);
	if (tcgetattr(STDIN_FILENO, &t->own) == 0)
		terminal_apply_raw(t);
	return 0;
}
