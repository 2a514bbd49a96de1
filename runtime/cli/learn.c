/* sbxrun learn: another command, watched, and what its program was seen to need. */
#include "learn/report.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/cli.h"
#include "life/explain.h"
#include "policy/remedy.h"

enum { OUTPUT_MAX = 16 << 20 };

/* Before anything runs, so that nothing runs in vain. What the file has stays until there is
 * something to put in its place. */
static int learn_open_output(const char *path, struct error *e)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : STDERR_FILENO;

	return fd < 0 ? err_sys(e, "--output: open %s", path) : fd;
}

void cli_held_by(struct cli *c, struct explanation *x, const struct error *why)
{
	/* Left are things that only init could judge, such as who owns a hook. */
	if (policy_remedy_add(why->text, NULL, c->arena, &x->needed))
		policy_clamps_add(&x->refusals, policy_remedy_row(why->text, c->arena), why->text,
				  c->arena);
	if (x->refusals.n)
		c->held = x;
}

void cli_held(struct cli *c, const struct create_options *o, const struct error *why)
{
	struct explanation *x = arena_new(c->arena, struct explanation);
	struct error ignored;

	if (c->learning && life_explain(o, c->arena, x, &ignored) == 0)
		cli_held_by(c, x, why);
}

static int learn_print(const struct cli *c, enum learn_format format, int fd, struct error *e)
{
	const struct learn_view view = {.learning = c->learning,
					.profile = c->profile_shown,
					.with_refused = c->with_refused};
	struct buf b = buf_new(c->arena, OUTPUT_MAX);

	if (c->held) {
		const struct learn_refusal refusal = {.policy = &c->held->policy,
						      .refusals = &c->held->refusals,
						      .needed = &c->held->needed};

		learn_write_refusal(&refusal, format, c->arena, &b);
	} else {
		learn_write(&view, format, c->arena, &b);
	}
	if (b.overflow)
		return err_set(e, ERR_SYSTEM, "learn: the output is too large");
	/* EINVAL: no file, but a pipe or a terminal. */
	if (c->output && ftruncate(fd, 0) < 0 && errno != EINVAL)
		return err_sys(e, "--output: %s", c->output);
	if (fd_write_all(fd, b.data, b.len) < 0)
		return err_sys(e, "--output: write %s",
			       c->output ? c->output : "to standard error");
	return 0;
}

/* The status is the program's; a report that can't be written is a failure of ours. */
static int learn_watch(struct cli *c, enum learn_format format, int fd, struct error *e)
{
	const int result = c->wrapped->run(c, e);
	struct error ignored;

	if (c->held && format == LEARN_OCI && result == 0)
		return err_set(e, ERR_CONFIG,
			       "learn: the policy refused it, so that there is no profile; "
			       "--format text says what it would have to give");
	if (c->held && (format == LEARN_OCI || learn_print(c, format, fd, &ignored) == 0))
		return result;
	if (result < 0 || learn_end(c->learning, e) < 0)
		return -1;
	if (!c->learning->tally->tasks)
		return err_set(e, ERR_SYSTEM, "learn: no program was executed");
	return learn_print(c, format, fd, e);
}

static int learn_run(struct cli *c, struct error *e)
{
	const int format = learn_format_find(c->format ? c->format : "text");
	int result, fd;

	if (format < 0)
		return err_set(e, ERR_USAGE, "--format: \"%s\" is neither text, json nor oci",
			       c->format);
	fd = learn_open_output(c->output, e);
	c->learning = arena_new(c->arena, struct learning);
	if (fd < 0 || learn_open(c->learning, e) < 0)
		return -1;
	result = learn_watch(c, (enum learn_format)format, fd, e);
	learn_close(c->learning);
	if (c->output)
		fd_close(&fd);
	return result;
}

/* clang-format off */
static const struct cli_option learn_options[] = {
	CLI_OPTION(format, "format", 0, CLI_TEXT, "text|json|oci", "how it is told (default: text); oci: a seccomp profile"),
	CLI_OPTION(output, "output", 'o', CLI_TEXT, "FILE", "where it goes (default: standard error)"),
	CLI_OPTION(with_refused, "with-refused", 0, CLI_FLAG, NULL, "put refused calls into the profile, too"),
};
/* clang-format on */
const struct cli_command cli_learn = {
	"learn", "do … | run …", "do or run something, and say which system calls it needs",
	learn_options, ARRAY_SIZE(learn_options), 1, SIZE_MAX, true, learn_run, .wraps = true};
