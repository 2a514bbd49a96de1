/* The worker of a server (worker/worker.h). Not a command for people: it is in no list, and does
 * nothing without its socket. */
#include <fcntl.h>
#include <sys/socket.h>

#include "cli/cli.h"
#include "life/keeper.h"
#include "worker/wire.h"

static int socket_option(int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(WIRE_SOCK, SOL_SOCKET, option, &value, &len) < 0 ? -1 : value;
}

static int worker_run(struct cli *c, struct error *e)
{
	(void)c;
	if (socket_option(SO_DOMAIN) != AF_UNIX || socket_option(SO_TYPE) != SOCK_SEQPACKET)
		return err_set(
			e, ERR_USAGE,
			"worker is for programs, which give it a socket: see worker/worker.h");
	if (fcntl(WIRE_SOCK, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(e, "worker: its socket");
	return keeper_serve(WIRE_SOCK, e);
}

const struct cli_command cli_worker = {.name = "worker",
				       .synopsis = "",
				       .help = "",
				       .enters = true,
				       .run = worker_run,
				       .stateless = true,
				       .hidden = true};
