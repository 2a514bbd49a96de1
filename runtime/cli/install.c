/* The commands that tell engines of this program, and make them forget it. */
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/cli.h"
#include "setup/setup.h"

static void print_report(const struct setup_report *r, bool dry_run)
{
	size_t i;

	for (i = 0; i < r->said.n; i++)
		printf("%s: %s\n", r->engine, r->said.v[i]);
	if (r->outcome == SETUP_NOTHING && !r->said.n)
		printf("%s: nothing to do\n", r->engine);
	if (r->outcome != SETUP_DONE)
		return;
	if (dry_run) {
		printf("%s: would be changed so:\n%s", r->engine, r->diff ? r->diff : "");
		return;
	}
	if (r->reload)
		printf("%s: now: %s\n", r->engine, r->reload);
	if (r->try_it)
		printf("%s: try: %s\n", r->engine, r->try_it);
}

/* The last failure is the command's; those before it are told on the way. */
static int print_result(const struct setup_result *r, bool dry_run, struct error *e)
{
	const struct error *last = NULL;
	size_t i;

	for (i = 0; i < r->n; i++) {
		print_report(&r->v[i], dry_run);
		if (r->v[i].outcome != SETUP_FAILED)
			continue;
		fflush(stdout);
		if (last)
			log_failure(last);
		last = &r->v[i].error;
	}
	for (i = 0; i < r->warnings.n; i++)
		log_warn("%s", r->warnings.v[i]);
	if (fflush(stdout) < 0 || ferror(stdout))
		return err_sys(e, "write to standard output");
	if (!last)
		return 0;
	*e = *last;
	return -1;
}

static int run_setup(struct cli *c, bool remove, struct error *e)
{
	const struct setup_options o = {.sysroot = c->sysroot,
					.program = c->program_path,
					.remove = remove,
					.force = c->force,
					.dry_run = c->dry_run,
					.names = c->args,
					.n = c->n_args};
	struct setup_result r;

	if (setup_run(&o, c->arena, &r, e) < 0)
		return -1;
	return print_result(&r, c->dry_run, e);
}

static int install_run(struct cli *c, struct error *e)
{
	return run_setup(c, false, e);
}

static int uninstall_run(struct cli *c, struct error *e)
{
	return run_setup(c, true, e);
}

/* clang-format off */
static const struct cli_option install_options[] = {
	CLI_OPTION(dry_run, "dry-run", 'n', CLI_FLAG, NULL, "print what would be changed, as a diff, and change nothing"),
	CLI_OPTION(force, "force", 'f', CLI_FLAG, NULL, "replace what somebody else has registered as sbxrun"),
	CLI_OPTION(program_path, "path", 0, CLI_TEXT, "FILE", "the program to register (default: this one)"),
	CLI_OPTION(sysroot, "sysroot", 0, CLI_TEXT, "DIR", "the tree of another machine (default: /)"),
};
static const struct cli_option uninstall_options[] = {
	CLI_OPTION(dry_run, "dry-run", 'n', CLI_FLAG, NULL, "print what would be changed, as a diff, and change nothing"),
	CLI_OPTION(force, "force", 'f', CLI_FLAG, NULL, "remove also what install has not made"),
	CLI_OPTION(sysroot, "sysroot", 0, CLI_TEXT, "DIR", "the tree of another machine (default: /)"),
};
/* clang-format on */

static const char synopsis[] = "[docker|containerd|podman|crio]…";

const struct cli_command cli_install = {"install",
					synopsis,
					"register sbxrun with the engines of this machine",
					install_options,
					ARRAY_SIZE(install_options),
					0,
					SIZE_MAX,
					false,
					install_run,
					.stateless = true};

const struct cli_command cli_uninstall = {"uninstall",
					  synopsis,
					  "take sbxrun out of the engines' config files",
					  uninstall_options,
					  ARRAY_SIZE(uninstall_options),
					  0,
					  SIZE_MAX,
					  false,
					  uninstall_run,
					  .stateless = true};
