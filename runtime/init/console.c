#include "init/console.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/attach.h"
#include "rootfs/resolve.h"
#include "sys/sys.h"
#include "sys/unix.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

static int console_open_master(int dfd, const char *ptmx, struct error *e)
{
	autoclose int fd = resolve_open(dfd, ptmx, O_RDWR | O_NOCTTY | O_NONBLOCK);
	struct statfs fs;
	int unlock = 0;

	if (fd < 0)
		return err_sys(e,
			       "process.terminal: open /dev/pts/ptmx (is there a devpts mount?)");
	if (fstatfs(fd, &fs) < 0 || fs.f_type != DEVPTS_SUPER_MAGIC)
		return err_set(e, ERR_CONFIG, "process.terminal: /dev/pts is not a devpts");
	/* It was only not to be held up by what the container has put there. */
	if (fcntl(fd, F_SETFL, O_RDWR) < 0)
		return err_sys(e, "process.terminal");
	if (ioctl(fd, TIOCSPTLCK, &unlock) < 0)
		return err_sys(e, "process.terminal: unlock the terminal");
	return fd_steal(&fd);
}

/* Programs write "\n"; where the terminal at the other end makes "\r\n" of that, ours must not. */
static int console_clear_onlcr(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return -1;
	t.c_oflag &= ~(tcflag_t)ONLCR;
	return tcsetattr(fd, TCSANOW, &t);
}

int console_open(int dfd, const char *ptmx, const struct oci_console_size *size, bool relayed,
		 int sock, struct console *ret, struct error *e)
{
	const struct winsize w = {.ws_row = (unsigned short)size->height,
				  .ws_col = (unsigned short)size->width};
	autoclose int master_fd = console_open_master(dfd, ptmx, e);
	autoclose int slave_fd = -1;
	static const char name[] = "/dev/ptmx";

	if (master_fd < 0)
		return -1;
	/* The peer by ioctl, never by its name, which somebody could have exchanged. */
	slave_fd = ioctl(master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave_fd < 0 || (relayed && console_clear_onlcr(slave_fd) < 0))
		return err_sys(e, "process.terminal: open the terminal");
	if (size->set && ioctl(slave_fd, TIOCSWINSZ, &w) < 0)
		return err_sys(e, "process.consoleSize");
	if (unix_send_fds(sock, name, sizeof(name) - 1, &master_fd, 1, e) < 0)
		return err_wrap(e, "--console-socket: the terminal");
	ret->slave_fd = fd_steal(&slave_fd);
	return 0;
}

int console_bind(const struct rootfs *r, const struct console *c, struct error *e)
{
	auto_in_root struct in_root target = IN_ROOT_NONE;
	autoclose int tree_fd = open_tree(c->slave_fd, "",
					  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (tree_fd < 0)
		return err_sys(e, "process.terminal: clone the terminal's mount");
	if (resolve_make(&r->mounted, "/dev/console", false, &target, e) < 0)
		return err_wrap(e, "process.terminal");
	if (attach_tree(r->peers, tree_fd, target, e) < 0)
		return err_wrap(e, "process.terminal: bind /dev/console");
	return 0;
}

int console_use(struct console *c, struct error *e)
{
	int fd;

	if (c->slave_fd < 0)
		return 0;
	for (fd = 0; fd < 3; fd++)
		if (dup2(c->slave_fd, fd) < 0)
			return err_sys(e, "process.terminal: standard streams");
	fd_close(&c->slave_fd);
	c->in_use = true;
	return 0;
}

int console_own(const struct console *c, struct error *e)
{
	if (c->in_use && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
		return err_sys(e, "process.terminal: take the controlling terminal");
	return 0;
}
