/*
 * sbxrun: an OCI container runtime for code that is not trusted.
 *
 * Which processes there are: this one (called by an engine or a person), for create and run also
 * init, which becomes the container's program, and where namespaces are joined a launcher between
 * the two (ns/spawn.h). Nothing stays behind but init, and what waits beside a box
 * (runtime/README.md, "Who is alive while a box waits?").
 *
 * Order here: read the command line, shut out what the caller left open, open the log, run from a
 * protected copy of our own file if the command enters a container, then do it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "base/timing.h"
#include "cli/cli.h"
#include "cli/foreign.h"
#include "cli/suggest.h"
#include "security/identity.h"
#include "state/store.h"
#include "sys/self.h"
#include "sys/sys.h"

static const struct cli_command *const commands[] = {
	&cli_create,   &cli_start,  &cli_run,	  &cli_state,	  &cli_kill,  &cli_delete,
	&cli_list,     &cli_exec,   &cli_pause,	  &cli_resume,	  &cli_ps,    &cli_update,
	&cli_events,   &cli_spec,   &cli_plan,	  &cli_explain,	  &cli_audit, &cli_policy,
	&cli_features, &cli_doctor, &cli_install, &cli_uninstall, &cli_do,    &cli_box,
	&cli_pool,     &cli_mcp,    &cli_approve, &cli_learn,
};

static void main_out_of_memory(void)
{
	static const char text[] = "sbxrun: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

static const struct cli_command *main_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (str_eq(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Commands of runc that callers ask for to see whether they are there. */
static const char *const refused_commands[] = {"checkpoint", "restore"};

static int main_unknown_command(const char *name, struct error *e)
{
	struct suggest s = {.word = name};
	const char *here = foreign_command(name);
	size_t i;

	if (here)
		return err_set(e, ERR_USAGE, "unknown command \"%s\" (that is: %s)", name, here);
	for (i = 0; i < ARRAY_SIZE(refused_commands); i++)
		if (str_eq(refused_commands[i], name))
			return err_set(
				e, ERR_USAGE,
				"%s is not supported: containers can't be saved and restored",
				name);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		suggest_try(&s, commands[i]->name);
	suggest_try(&s, "help");
	if (s.best)
		return err_set(e, ERR_USAGE, "unknown command \"%s\" (did you mean %s?)", name,
			       s.best);
	return err_set(e, ERR_USAGE, "unknown command \"%s\" (see sbxrun help)", name);
}

static void main_usage(FILE *out)
{
	size_t i;

	fprintf(out, "sbxrun [OPTION…] COMMAND [ARGUMENT…]\n\nCommands:\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->help);
	fprintf(out, "  %-10s %s\n\nOptions:\n", "help", "print this, or what a command takes");
	cli_print_options(out, cli_globals, cli_n_globals);
}

static void main_usage_of(FILE *out, const struct cli_command *command)
{
	fprintf(out, "sbxrun %s%s%s%s: %s\n", command->name, command->n_options ? " [OPTION…]" : "",
		*command->synopsis ? " " : "", command->synopsis, command->help);
	cli_print_options(out, command->options, command->n_options);
}

static bool main_asks_for_help(const char *word)
{
	static const char *const words[] = {"help", "h", "--help", "-help", "-h"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(words[i], word))
			return true;
	return false;
}

/* sbxrun help [COMMAND] */
static int main_help(const char *name, struct error *e)
{
	const struct cli_command *command = name ? main_find(name) : NULL;

	if (name && !command && !main_asks_for_help(name))
		return main_unknown_command(name, e);
	if (command)
		main_usage_of(stdout, command);
	else
		main_usage(stdout);
	return 0;
}

/* Found out anyway, so it can only be right or wrong. Root of a user namespace is both. */
static int main_check_rootless(const char *word, struct error *e)
{
	const struct {
		const char *word;
		bool right;
	} words[] = {{"auto", true}, {"true", !sys_is_machine_root()}, {"false", geteuid() == 0}};
	size_t i;

	for (i = 0; word && i < ARRAY_SIZE(words); i++)
		if (str_eq(word, words[i].word) && words[i].right)
			return 0;
	return word ? err_set(e, ERR_USAGE, "--rootless=%s: the caller's uid is %u", word,
			      geteuid()) :
		      0;
}

static int main_check_cgroup_manager(const struct cli *c, struct error *e)
{
	static const char *const words[] = {"cgroupfs", "systemd", "disabled"};
	const char *word = c->cgroup_manager;
	size_t i = 0;

	while (word && i < ARRAY_SIZE(words) && !str_eq(word, words[i]))
		i++;
	if (i == ARRAY_SIZE(words))
		return err_set(e, ERR_USAGE,
			       "--cgroup-manager: \"%s\" is neither cgroupfs, systemd nor disabled",
			       word);
	if (c->systemd_cgroup && word && !str_eq(word, "systemd"))
		return err_set(e, ERR_USAGE,
			       "--systemd-cgroup and --cgroup-manager=%s contradict each other",
			       word);
	return 0;
}

/* A link is how a shim that passes no arguments chooses: sbxrun-code. */
static void main_read_name(struct cli *c)
{
	const char *slash = strrchr(c->argv[0], '/');
	const char *name = str_after(slash ? slash + 1 : c->argv[0], "sbxrun-");

	if (name && *name && !c->policy) {
		c->policy = arena_strdup(c->arena, name);
		c->policy_by_name = true;
	}
}

static int main_check_globals(const struct cli *c, struct error *e)
{
	if (c->log_format && !str_eq(c->log_format, "text") && !str_eq(c->log_format, "json"))
		return err_set(e, ERR_USAGE, "--log-format: \"%s\" is neither text nor json",
			       c->log_format);
	if (main_check_cgroup_manager(c, e) < 0)
		return -1;
	return main_check_rootless(c->rootless, e);
}

/* A caller that ignores SIGCHLD would take the exit codes of our children away from us; one with a
 * umask of 0777 would lock us out of our own directories. */
static void main_tidy_caller(void)
{
	signal(SIGCHLD, SIG_DFL);
	/* A reader of our log or output may leave before we are done. Programs start with the
	 * default. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a log that may not grow any more is a failed write */
	umask(022);
}

/* Socket activation: descriptors that a service manager passed to this very process are meant for
 * the container's program. */
static void main_read_activation(struct cli *c)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint32_t owner, n;

	if (!pid || !fds || !str_to_u32(pid, &owner) || owner != (uint32_t)getpid() ||
	    !str_to_u32(fds, &n) || n > 1024)
		return;
	c->listen_fds = n;
	c->preserve_fds += n;
}

/* The caller's descriptors are not to be trusted (rule R3). Before anything is opened. */
static int main_tidy_fds(const struct cli *c, struct error *e)
{
	unsigned int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl((int)fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != (int)fd)
			return err_sys(e, "open /dev/null for descriptor %u", fd);
	if (c->preserve_fds > 1024)
		return err_set(e, ERR_USAGE, "--preserve-fds: %u is more than 1024",
			       c->preserve_fds);
	for (fd = 3; fd < 3 + c->preserve_fds; fd++)
		if (fcntl((int)fd, F_GETFD) < 0)
			return err_sys(e, "--preserve-fds %u: descriptor %u", c->preserve_fds, fd);
	if (fd_cloexec_from(fd) < 0)
		return err_sys(e, "close_range");
	return 0;
}

static int main_open_log(const struct cli *c, bool answers, struct error *e)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};
	struct log_options o = {
		.file = c->log,
		.json = c->log_format && str_eq(c->log_format, "json"),
		.level = c->debug ? LOG_DEBUG : answers ? LOG_ERROR : LOG_WARN,
	};
	size_t i;

	for (i = 0; c->log_level && i < ARRAY_SIZE(levels); i++)
		if (str_eq(c->log_level, levels[i]))
			break;
	if (i == ARRAY_SIZE(levels))
		return err_set(e, ERR_USAGE, "--log-level: unknown level \"%s\"", c->log_level);
	if (c->log_level && !c->debug)
		o.level = (enum log_level)i;
	return log_open(&o, e);
}

/* A shell names what `<(…)` prints by a descriptor: it must outlive our own start from a protected
 * copy. */
static void main_keep_named(const char *file, bool keep)
{
	const char *name = file ? str_after(file, "/dev/fd/") : NULL;
	uint32_t fd;

	if (file && !name)
		name = str_after(file, "/proc/self/fd/");
	if (name && str_to_u32(name, &fd) && fd > STDERR_FILENO && fd < INT32_MAX)
		fcntl((int)fd, F_SETFD, keep ? 0 : FD_CLOEXEC);
}

static int main_protect(const struct cli *c, struct error *e)
{
	const char *const files[] = {c->config, c->process};
	size_t i;
	int result;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		main_keep_named(files[i], true);
	result = self_protect(c->argv, e);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		main_keep_named(files[i], false);
	return result;
}

/* Engines read the reason there: also of a command line that was understood only so far. */
static void main_log_failure(const struct cli *c, bool log_is_open, const struct error *why)
{
	const struct log_options o = {.file = c->log,
				      .json = c->log_format && str_eq(c->log_format, "json")};
	struct error also;

	if (!log_is_open && c->log && log_open(&o, &also) < 0 && !str_eq(also.text, why->text))
		log_failure(&also);
	log_failure(why);
}

static int main_run(struct cli *c, const struct cli_command *command, struct error *e)
{
	const struct cli_command *given = c->wrapped ? c->wrapped : command;
	int result;

	if (c->n_args < given->min_args || c->n_args > given->max_args)
		return err_set(e, ERR_USAGE, "usage: sbxrun %s%s%s%s", given->name,
			       given->n_options ? " [OPTION…]" : "", *given->synopsis ? " " : "",
			       given->synopsis);
	if (command->enters && (main_protect(c, e) < 0 || identity_reset_settings(e) < 0))
		return -1;
	prctl(PR_SET_NAME, "sbxrun");
	if (c->timing && timing_start(c->timing, e) < 0)
		return -1;
	timing_mark("begin");
	log_debug("%s: process %d, root %s", command->name, getpid(), c->root ? c->root : "none");
	result = command->run(c, e);
	if (result == 0)
		timing_write();
	return result;
}

/* A command in front of another: what follows the options of the one is read as the other's. */
static int main_parse_wrapped(struct cli *c, const struct cli_command *outer, struct error *e)
{
	char **words = c->args;
	const struct cli_command *inner = c->n_args ? main_find(words[0]) : NULL;
	size_t at = 1, n = c->n_args;

	if (!inner || !inner->watched)
		return err_set(e, ERR_USAGE, "usage: sbxrun %s [OPTION…] %s", outer->name,
			       outer->synopsis);
	c->args = arena_array(c->arena, n + 1, char *);
	c->n_args = 0;
	c->dashes = false;
	c->wrapped = inner;
	c->failure = inner->failure;
	c->reading = inner->name;
	return cli_read_options(c, words, &at, inner->options, inner->n_options,
				inner->program ? 1 : SIZE_MAX, e);
}

/* *ret_command is NULL when what was asked for is done. */
static int main_parse(struct cli *c, const struct cli_command **ret_command, struct error *e)
{
	const struct cli_command *command;
	size_t at = 1;

	*ret_command = NULL;
	if (cli_read_options(c, c->argv, &at, cli_globals, cli_n_globals, 0, e) < 0)
		return -1;
	main_read_name(c);
	if (c->version) {
		fputs(cli_version, stdout);
		return 0;
	}
	if (c->help || !c->argv[at]) {
		main_usage(c->help ? stdout : stderr);
		c->status = c->help ? 0 : 1;
		return 0;
	}
	if (main_asks_for_help(c->argv[at]))
		return main_help(c->argv[at + 1], e);
	c->n_globals = at - 1;
	command = main_find(c->argv[at]);
	if (!command && str_eq(c->argv[at], cli_worker.name))
		command = &cli_worker;
	if (!command)
		return main_unknown_command(c->argv[at], e);
	c->failure = command->failure;
	c->fails = command->fails;
	c->reading = command->name;
	at++;
	if (cli_read_options(c, c->argv, &at, command->options, command->n_options,
			     command->program || command->wraps ? 1 : SIZE_MAX, e) < 0 ||
	    (command->wraps && !c->help && main_parse_wrapped(c, command, e) < 0))
		return -1;
	if (c->help)
		main_usage_of(stdout, c->wrapped ? c->wrapped : command);
	else
		*ret_command = command;
	return 0;
}

int main(int argc, char **argv)
{
	const struct cli_command *command = NULL;
	struct arena arena = {0};
	struct error e = {0};
	struct cli c = {.arena = &arena};
	bool log_is_open = false;

	arena_out_of_memory = main_out_of_memory;
	main_tidy_caller();
	if (argc < 1)
		return 1;
	c.argv = self_copy_arguments(argv, &arena);
	c.args = arena_array(&arena, (size_t)argc + 1, char *);
	if (self_refuse_setuid(&e) < 0 || main_parse(&c, &command, &e) < 0)
		goto fail;
	if (!command)
		return c.status;
	if (command->hidden)
		c.preserve_fds = fcntl(3, F_GETFD) < 0 ? 0 : 1;
	else if (command->enters && !(c.wrapped ? c.wrapped : command)->program)
		main_read_activation(&c);
	if (main_tidy_fds(&c, &e) < 0 || main_check_globals(&c, &e) < 0 ||
	    main_open_log(&c, command->answers, &e) < 0)
		goto fail;
	log_is_open = true;
	if (command->stateless)
		c.root = NULL;
	else if ((!c.root || !*c.root) && !(c.root = store_default_root(&arena, &e)) &&
		 !(command->passing && (c.root = store_passing_root(&arena))) &&
		 !command->diagnoses)
		goto fail;
	if (main_run(&c, command, &e) < 0)
		goto fail;
	log_flush();
	return c.status;
fail:
	if (c.fails)
		c.fails(&c, &e);
	main_log_failure(&c, log_is_open, &e);
	return c.failure ? c.failure : 1;
}
