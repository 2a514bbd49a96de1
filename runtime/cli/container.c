/* The commands that make, change and show containers: argument checks, and the call of the verb. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/cli.h"
#include "life/life.h"
#include "life/notify.h"
#include "oci/names.h"

enum { OUTPUT_MAX = 64 << 20 };

#define BUNDLE CLI_OPTION(bundle, "bundle", 'b', CLI_TEXT, "DIR", "the bundle (default: .)")
// clang-format off
#define CREATE_OPTIONS \
	BUNDLE, \
	CLI_OPTION(config, "config", 'f', CLI_TEXT, "FILE", "another file than config.json of the bundle"), \
	CLI_OPTION(console_socket, "console-socket", 0, CLI_TEXT, "PATH", "unix socket that gets the terminal's master"), \
	CLI_OPTION(pidfd_socket, "pidfd-socket", 0, CLI_TEXT, "PATH", "unix socket that gets a pidfd of init"), \
	CLI_OPTION(pid_file, "pid-file", 0, CLI_TEXT, "FILE", "write init's pid there"), \
	CLI_OPTION(preserve_fds, "preserve-fds", 0, CLI_NUMBER, "N", "pass N descriptors from 3 on"), \
	CLI_OPTION(no_pivot, "no-pivot", 0, CLI_FLAG, NULL, "move the root mount where pivot_root is refused"), \
	CLI_OPTION(no_new_keyring, "no-new-keyring", 0, CLI_FLAG, NULL, "keep the caller's session keyring"), \
	CLI_OPTION(no_subreaper, "no-subreaper", 0, CLI_FLAG, NULL, "accepted for compatibility: sbxrun leaves no process behind")
// clang-format on

static struct create_options container_options(const struct cli *c)
{
	return (struct create_options){
		.root = c->root,
		.id = c->args[0],
		.bundle = c->bundle ? c->bundle : ".",
		.config = c->config,
		.pid_file = c->pid_file,
		.console_socket = c->console_socket,
		.console_fd = -1,
		.pidfd_socket = c->pidfd_socket,
		.no_pivot = c->no_pivot,
		.no_new_keyring = c->no_new_keyring,
		.no_cgroups = c->cgroup_manager && str_eq(c->cgroup_manager, "disabled"),
		.systemd = cli_wants_systemd(c),
		.systemd_timeout_s = c->systemd_timeout,
		.policy = c->policy,
		.strict = c->strict,
		.preserve_fds = c->preserve_fds,
		.listen_fds = c->listen_fds,
		.notify = notify_is_wanted(),
		.noter = &cli_noter,
	};
}

static int create_run(struct cli *c, struct error *e)
{
	struct create_options o = container_options(c);
	struct created created;

	if (life_create(&o, c->arena, &created, e) < 0)
		return -1;
	life_let_go(&created);
	return 0;
}

static const struct cli_option create_options[] = {CREATE_OPTIONS};
const struct cli_command cli_create = {
	"create", "ID", "make a container that waits for start", create_options,
	ARRAY_SIZE(create_options), 1, 1, true, create_run};

/* Without an id the plan is that of a container called "example". */
static int plan_run(struct cli *c, struct error *e)
{
	char example[] = "example", *args[] = {example, NULL};
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct create_options o;

	if (!c->n_args)
		c->args = args;
	o = container_options(c);
	if (life_describe(&o, c->json ? PLAN_JSON : PLAN_TEXT, c->arena, &b, e) < 0)
		return -1;
	return cli_print(&b, e);
}

/* clang-format off */
static const struct cli_option plan_options[] = {
	BUNDLE,
	CLI_OPTION(config, "config", 'f', CLI_TEXT, "FILE", "another file than config.json of the bundle"),
	CLI_OPTION(no_pivot, "no-pivot", 0, CLI_FLAG, NULL, "as for create"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "an array of objects instead of lines"),
};
/* clang-format on */
const struct cli_command cli_plan = {
	"plan", "[ID]", "print what create would do, and do nothing", plan_options,
	ARRAY_SIZE(plan_options), 0, 1, false, plan_run, .answers = true};

static int start_run(struct cli *c, struct error *e)
{
	return life_start(c->root, c->args[0], &cli_noter, c->arena, e);
}

const struct cli_command cli_start = {
	"start", "ID", "run the program of a created container", NULL, 0, 1, 1, false, start_run};

static int run_run(struct cli *c, struct error *e)
{
	struct run_options o = {
		.create = container_options(c),
		.detach = c->detach,
		.keep = c->keep,
	};

	if (c->learning && c->detach)
		return err_set(e, ERR_USAGE,
			       "--detach: learn watches the container until it ends");
	o.create.learning = c->learning;
	if (life_run(&o, c->arena, &c->status, e) == 0)
		return 0;
	cli_held(c, &o.create, e);
	return -1;
}

static const struct cli_option run_options[] = {
	CREATE_OPTIONS,
	CLI_OPTION(detach, "detach", 'd', CLI_FLAG, NULL, "return once the program runs"),
	CLI_OPTION(keep, "keep", 0, CLI_FLAG, NULL, "don't delete the container when it has ended"),
};
const struct cli_command cli_run = {"run", "ID", "create, start, wait and delete", run_options,
				    ARRAY_SIZE(run_options), 1, 1, true, run_run,
				    .watched = true};

static int kill_run(struct cli *c, struct error *e)
{
	const char *name = c->n_args > 1 ? c->args[1] : "TERM";
	int sig = oci_signal_number(name);

	if (sig < 0)
		return err_set(e, ERR_USAGE, "unknown signal \"%s\"", name);
	return life_kill(c->root, c->args[0], sig, c->all, &cli_noter, c->arena, e);
}

/* clang-format off */
static const struct cli_option kill_options[] = {
	CLI_OPTION(all, "all", 'a', CLI_FLAG, NULL, "all processes of the container, not only init"),
};
/* clang-format on */
const struct cli_command cli_kill = {
	"kill", "ID [SIGNAL]", "send a signal (default: TERM)", kill_options,
	ARRAY_SIZE(kill_options), 1, 2, false, kill_run};

static int delete_run(struct cli *c, struct error *e)
{
	return life_delete(c->root, c->args[0], c->force, &cli_noter, c->arena, e);
}

/* clang-format off */
static const struct cli_option delete_options[] = {
	CLI_OPTION(force, "force", 'f', CLI_FLAG, NULL, "also a running one, and no error if there is none"),
};
/* clang-format on */
const struct cli_command cli_delete = {
	"delete", "ID", "remove a container and all that it holds", delete_options,
	ARRAY_SIZE(delete_options), 1, 1, false, delete_run};
