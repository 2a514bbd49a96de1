#include "base/str.h"
#include "cli/cli.h"
#include "life/life.h"

static int exec_run(struct cli *c, struct error *e)
{
	size_t first = c->n_args > 1 && str_eq(c->args[1], "--") ? 2 : 1;
	struct exec_options o = {
		.root = c->root,
		.id = c->args[0],
		.process_file = c->process,
		.cwd = c->cwd,
		.user = c->user,
		.apparmor = c->apparmor,
		.label = c->process_label,
		.pid_file = c->pid_file,
		.console_socket = c->console_socket,
		.pidfd_socket = c->pidfd_socket,
		.args = {.n = c->n_args - first, .v = c->args + first},
		.env = c->env,
		.gids = c->gids,
		.caps = c->caps,
		.cgroups = c->cgroups,
		.tty = c->tty,
		.no_new_privs = c->no_new_privs,
		.ignore_paused = c->ignore_paused,
		.detach = c->detach,
		.strict = c->strict,
		.preserve_fds = c->preserve_fds,
		.noter = &cli_noter,
	};

	if (o.process_file && o.args.n)
		return err_set(e, ERR_USAGE, "exec: --process and a program on the command line");
	if (o.process_file && (o.user || o.cwd || o.env.n || o.caps.n || o.gids.n))
		return err_set(
			e, ERR_USAGE,
			"exec: --process and %s: the document says it, the option would have no effect",
			o.user	 ? "--user" :
			o.cwd	 ? "--cwd" :
			o.env.n	 ? "--env" :
			o.caps.n ? "--cap" :
				   "--additional-gids");
	return life_exec(&o, c->arena, &c->status, e);
}

// clang-format off
static const struct cli_option options[] = {
	CLI_OPTION(process, "process", 'p', CLI_TEXT, "FILE", "the process as JSON, instead of a command line"),
	CLI_OPTION(detach, "detach", 'd', CLI_FLAG, NULL, "return once the program runs"),
	CLI_OPTION(tty, "tty", 't', CLI_FLAG, NULL, "give it a terminal"),
	CLI_OPTION(user, "user", 'u', CLI_TEXT, "UID[:GID]", "in numbers"),
	CLI_OPTION(gids, "additional-gids", 'g', CLI_LIST, "GID", "a further group; may be repeated"),
	CLI_OPTION(cwd, "cwd", 0, CLI_TEXT, "DIR", "working directory"),
	CLI_OPTION(env, "env", 'e', CLI_LIST, "NAME=VALUE", "add to the environment; may be repeated"),
	CLI_OPTION(caps, "cap", 'c', CLI_LIST, "CAP_NAME", "add a capability; may be repeated"),
	CLI_OPTION(no_new_privs, "no-new-privs", 0, CLI_FLAG, NULL, "set no_new_privs"),
	CLI_OPTION(apparmor, "apparmor", 0, CLI_TEXT, "PROFILE", "AppArmor profile"),
	CLI_OPTION(process_label, "process-label", 0, CLI_TEXT, "LABEL", "SELinux label"),
	CLI_OPTION(cgroups, "cgroup", 0, CLI_LIST, "[CONTROLLER[,…]:]PATH", "run in this cgroup below the container's; may be repeated"),
	CLI_OPTION(ignore_paused, "ignore-paused", 0, CLI_FLAG, NULL, "wait in a paused container instead of failing"),
	CLI_OPTION(console_socket, "console-socket", 0, CLI_TEXT, "PATH", "unix socket that gets the terminal's master"),
	CLI_OPTION(pidfd_socket, "pidfd-socket", 0, CLI_TEXT, "PATH", "unix socket that gets a pidfd of the process"),
	CLI_OPTION(pid_file, "pid-file", 0, CLI_TEXT, "FILE", "write the process's pid there"),
	CLI_OPTION(preserve_fds, "preserve-fds", 0, CLI_NUMBER, "N", "pass N descriptors from 3 on"),
};
// clang-format on

const struct cli_command cli_exec = {
	"exec", "ID [PROGRAM [ARGUMENT…]]", "run a further program in a container", options,
	ARRAY_SIZE(options), 1, SIZE_MAX, true, exec_run, .program = true, .failure = 255};
