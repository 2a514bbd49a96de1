/* sbxrun do: the command line becomes a request, and a result becomes output and a status. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/timing.h"
#include "box/audit.h"
#include "box/box.h"
#include "box/explain.h"
#include "box/network.h"
#include "box/profiles.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "cli/explain.h"
#include "cli/units.h"
#include "json/json.h"
#include "life/life.h"
#include "oci/names.h"
#include "sys/loop.h"
#include "sys/sys.h"

enum { RESULT_MAX = 1 << 30 }; /* four outputs of 64 MB, escaped */

/* Code that computes alone has no use for these: whoever asks means something else. */
static int do_check_pure(const struct box_request *q, struct error *e)
{
	size_t i;

	if (q->language && !q->language->pure)
		return err_set(e, ERR_USAGE,
			       "--preset pure: %s needs processes or threads to begin; python, "
			       "shell and c do not",
			       q->language->name);
	if (q->denials == DENIALS_NONE)
		return err_set(e, ERR_USAGE,
			       "--preset pure: --denials none contradicts it: who answers for what "
			       "is refused lets the program itself pass");
	if (q->allow.n)
		return err_set(e, ERR_USAGE, "--preset pure: nothing is reached, so --allow "
					     "contradicts it");
	if (q->copy_out)
		return err_set(e, ERR_USAGE, "--preset pure: nothing is written, so --copy-out "
					     "takes nothing out");
	for (i = 0; i < q->n_volumes; i++)
		if (q->volumes[i].writable)
			return err_set(e, ERR_USAGE,
				       "--preset pure: nothing is written: -v %s:%s:ro",
				       q->volumes[i].source, q->volumes[i].target);
	return 0;
}

int do_profile(struct cli *c, struct box_request *q, struct error *e)
{
	struct buf all = buf_new(c->arena, sizeof(e->text));
	size_t i;

	q->profile = c->profile;
	for (i = 0; box_profiles[i]; i++)
		buf_printf(&all, "%s, ", box_profiles[i]);
	if (q->profile && !box_profile_exists(q->profile))
		return err_set(e, ERR_USAGE, "--profile: there is no \"%s\" (there are %s%s)",
			       q->profile, all.data, BOX_PROFILE_NONE);
	if (c->profile_add.n && (q->profile ? str_eq(q->profile, BOX_PROFILE_NONE) :
					      !q->language || q->policy))
		return err_set(e, ERR_USAGE,
			       "--profile-add: there is no profile to add to; --profile names one");
	for (i = 0; i < c->profile_add.n; i++)
		if (box_profile_read(c->profile_add.v[i], c->arena, &q->calls_added, e) < 0)
			return -1;
	return 0;
}

static int do_request(struct cli *c, struct box_request *q, int *ret_stdin_fd, struct error *e)
{
	if (do_begin(c, q, e) < 0)
		return -1;
	q->learning = c->learning;
	q->copy_out = c->copy_out;
	q->list_files = c->json || c->stream;
	q->may_be_warm = !c->no_pool;
	q->build = cli_version;
	if (c->network && !str_eq(c->network, "none"))
		return err_set(e, ERR_USAGE,
			       "--network: \"%s\" can't be had: a box has loopback alone, and the "
			       "hosts that --allow names",
			       c->network);
	q->allow = c->allow;
	q->deny = c->deny;
	if (c->network && c->allow.n)
		return err_set(e, ERR_USAGE, "--network none and --allow contradict each other");
	if (network_check(&q->allow, &q->deny, e) < 0)
		return -1;
	if (!c->n_args)
		return err_set(e, ERR_USAGE,
			       "a language and code, or a command behind -- (sbxrun help do)");
	if (do_limits(c, q, e) < 0 || do_volumes(c, q, e) < 0 ||
	    do_ulimits(c, q, e) < 0 || do_env(c, q, e) < 0 || do_user(c, q, e) < 0 ||
	    do_denials(c, q, e) < 0 || do_program(c, q, e) < 0 || do_profile(c, q, e) < 0)
		return -1;
	if (q->pure && do_check_pure(q, e) < 0)
		return -1;
	if (q->copy_out && box_workspace_is_volume(q))
		return err_set(e, ERR_USAGE,
			       "--copy-out: " BOX_WORKSPACE " is a volume, and what the program "
			       "writes is there already");
	return do_stdin(c, q, ret_stdin_fd, e);
}

/* ---- the result ---- */

int do_show(const struct cli *c, const struct box_result *r, struct error *e)
{
	struct buf b = buf_new(c->arena, RESULT_MAX);

	if (c->json || c->stream) {
		if (r->unsent)
			buf_add(&b, r->unsent, r->unsent_len);
		if (c->stream)
			buf_str(&b, "{\"event\":\"end\",\"result\":");
		box_result_write(r, &b);
		buf_str(&b, c->stream ? "}\n" : "\n");
		return cli_print(&b, e);
	}
	box_tell(r, &b);
	if (b.len && fd_write_all(STDERR_FILENO, b.data, b.len) < 0)
		return err_sys(e, "write to standard error");
	return 0;
}

/* The administrator's files, which nobody can do without, and then the caller's own. */
int do_audit_files(const struct cli *c, const struct box_request *q, struct strings *ret,
		   struct error *e)
{
	size_t i;

	if (life_audit_files(q->policy, c->arena, ret, e) < 0)
		return -1;
	if (c->audit) {
		struct strings all = {.v = arena_array(c->arena, ret->n + 2, char *)};

		for (i = 0; i < ret->n; i++)
			if (!str_eq(ret->v[i], c->audit))
				all.v[all.n++] = ret->v[i];
		all.v[all.n++] = c->audit;
		*ret = all;
	}
	return 0;
}

const char *do_whose_audit(const struct cli *c, const char *file)
{
	return c->audit && str_eq(file, c->audit) ? "--audit" : "the policy's audit file";
}

int do_audit_try(const struct cli *c, const struct strings *files, struct error *e)
{
	size_t i;

	for (i = 0; i < files->n; i++)
		if (audit_try(&(struct audit_place){.path = files->v[i]}, c->arena, e) < 0)
			return err_wrap(e, "%s", do_whose_audit(c, files->v[i]));
	return 0;
}

int do_audit(const struct cli *c, const char *verb, const struct strings *files,
	     const struct box_request *q, const struct box_result *r, struct error *e)
{
	struct buf limits = buf_new(c->arena, RESULT_MAX), denials = buf_new(c->arena, RESULT_MAX);
	struct buf network = buf_new(c->arena, RESULT_MAX);
	struct audit_entry line = {
		.uid = getuid(),
		.verb = verb,
		.id = r->sandbox_id ? r->sandbox_id : r->id,
		.language = r->language ? r->language->name : NULL,
		.code_sha256 = *r->code_sha256 ? r->code_sha256 : NULL,
		.rootfs = r->rootfs,
		.status = box_status_words[r->status],
		.exit_code = r->exit_code,
		.signal = r->signal ? box_signal_name(r->signal) : NULL,
		.args = q->args,
	};
	const char *found;
	size_t i;

	box_write_limits(&r->limits, &limits);
	box_write_denials(r, &denials);
	line.limits = limits.data;
	line.denials = denials.data;
	if (r->network.has) {
		box_write_network(&r->network, &network);
		line.network = network.data;
	}
	for (i = 0; i < files->n; i++) {
		const struct audit_place place = {.path = files->v[i]};

		found = NULL;
		if (audit_append(&place, &line, c->arena, &found, e) < 0)
			return err_wrap(e, "the program has run, but %s has no line about it",
					do_whose_audit(c, files->v[i]));
		if (found)
			log_warn("%s: %s: %s", do_whose_audit(c, files->v[i]), files->v[i], found);
	}
	return 0;
}

static void do_explain_rows(const struct policy *p, bool json, struct buf *b)
{
	struct buf row;
	size_t i;

	buf_str(b, json ? ",\"rows\":{" : "\nRows of the policy\n");
	for (i = 0; i < POLICY_ROWS; i++) {
		row = buf_new(b->arena, RESULT_MAX);
		policy_print_row(&row, p, i);
		buf_printf(b, json ? "%s\"%s\":" : "%s  %-26s ", json && i ? "," : "",
			   policy_rows[i].id);
		if (json)
			json_write_string(b, row.data);
		else
			buf_printf(b, "%s\n", row.data);
	}
	buf_str(b, json ? "}" : "");
}

/* Instead of running it. */
static int do_explain(const struct cli *c, const struct box_request *q, struct error *e)
{
	struct buf b = buf_new(c->arena, RESULT_MAX);
	struct box_explanation x;

	if (box_explain(q, c->arena, &x, e) < 0)
		return -1;
	if (c->json) {
		buf_str(&b, "{\"v\":1,");
		box_explain_write(&x, &b);
		buf_char(&b, ',');
		explain_write(&b, &x.held, c->arena);
	} else {
		box_explain_print(&x, &b);
		explain_print(&b, &x.held, c->arena);
	}
	do_explain_rows(&x.held.policy, c->json, &b);
	buf_str(&b, c->json ? "}\n" : "");
	return cli_print(&b, e);
}

/* For learn, once the box was not made. */
static void do_held(struct cli *c, const struct box_request *q, const struct error *why)
{
	struct box_explanation *x = arena_new(c->arena, struct box_explanation);
	struct error ignored;

	if (c->learning && box_explain(q, c->arena, x, &ignored) == 0)
		cli_held_by(c, &x->held, why);
}

static int do_run(struct cli *c, struct error *e)
{
	struct box_result *r = arena_new(c->arena, struct box_result);
	autoclose int stdin_fd = -1;
	struct box_request q;
	struct strings audits;
	struct error ignored;
	int result;

	if (do_request(c, &q, &stdin_fd, e) < 0 || do_audit_files(c, &q, &audits, e) < 0)
		return -1;
	if (c->explain)
		return do_explain(c, &q, e);
	if (do_audit_try(c, &audits, e) < 0)
		return -1;
	result = box_do(&q, c->arena, r, e);
	c->profile_shown = r->profile;
	c->status = c->failure = box_exit_status(r);
	if (result < 0)
		do_held(c, &q, e);
	if (result < 0 && !c->json && !c->stream)
		return -1;
	c->fails = NULL; /* what follows is the object */
	if (do_audit(c, "do", &audits, &q, r, e) < 0) {
		c->failure = DO_FAILURE;
		notes_add(&r->notes.notes, arena_strdup(c->arena, e->text), c->arena);
		(void)!do_show(c, r, &ignored);
		return -1;
	}
	if (do_show(c, r, e) < 0) {
		c->failure = DO_FAILURE;
		return -1;
	}
	timing_mark("result shown");
	/* Others' leavings last, and not by who has no time. */
	if (!r->interrupted)
		box_sweep(q.state_root);
	return 0;
}

bool do_says(const struct cli *c, const char *option)
{
	char **word;

	for (word = c->argv; *word && !str_eq(*word, "--"); word++)
		if (str_eq(*word, option))
			return true;
	return false;
}

/* A caller who wants one object gets one, also where the command line was not understood. */
static void do_fail(struct cli *c, const struct error *e)
{
	struct box_result r = {
		.status = BOX_SANDBOX_ERROR,
		.exit_code = -1,
		.error_type = e->class == ERR_USAGE ? "UsageError" : "SandboxError",
		.error = e->text,
		.limits = box_presets[0].limits,
	};
	struct error ignored;

	c->json = c->json || do_says(c, "--json");
	c->stream = !c->json && (c->stream || do_says(c, "--stream"));
	if (c->json || c->stream)
		(void)!do_show(c, &r, &ignored);
}

/* clang-format off */
static const struct cli_option do_options[] = {
	CLI_OPTION(is_code, "code", 'c', CLI_FLAG, NULL, "the word behind the language is code, whatever it looks like"),
	CLI_OPTION(is_file, "file", 0, CLI_FLAG, NULL, "that word is a file (default: guessed)"),
	CLI_OPTION(rootfs, "rootfs", 0, CLI_TEXT, "NAME|DIR|FILE", "the root filesystem (default: the language's, or the host's /usr)"),
	CLI_OPTION(volumes, "volume", 'v', CLI_LIST, "SOURCE:TARGET[:ro]", "show a directory or file of the host in the box"),
	CLI_OPTION(env, "env", 'e', CLI_LIST, "NAME[=VALUE]", "a variable of its environment"),
	CLI_OPTION(env_file, "env-file", 0, CLI_TEXT, "FILE", "variables, one a line"),
	CLI_OPTION(cwd, "workdir", 'w', CLI_TEXT, "DIR", "where it runs (default: /workspace)"),
	CLI_OPTION(user, "user", 'u', CLI_TEXT, "UID[:GID]", "who it is inside (default: 65534)"),
	CLI_OPTION(stdin_file, "stdin", 0, CLI_TEXT, "FILE", "its input (default: ours)"),
	CLI_OPTION(no_stdin, "no-stdin", 0, CLI_FLAG, NULL, "it has no input"),
	CLI_OPTION(preset, "preset", 0, CLI_TEXT, "NAME", "limits of another system: default, judge, harombe, openmanus, lesson, pure, research"),
	CLI_OPTION(memory, "memory", 'm', CLI_TEXT, "SIZE", "memory, without swap (default: 512m)"),
	CLI_OPTION(cpus, "cpus", 0, CLI_TEXT, "NUMBER", "processors (default: 1)"),
	CLI_OPTION(pids_limit, "pids-limit", 0, CLI_TEXT, "NUMBER", "processes and threads (default: 64)"),
	CLI_OPTION(timeout, "timeout", 't', CLI_TEXT, "SECONDS", "time by the clock (default: 30)"),
	CLI_OPTION(cpu_time, "cpu-time", 0, CLI_TEXT, "SECONDS", "time on processors, all together"),
	CLI_OPTION(disk, "disk", 0, CLI_TEXT, "SIZE", "of /workspace, on disk if more than half of the memory (default: that, at most 256m)"),
	CLI_OPTION(tmpfs, "tmpfs", 0, CLI_TEXT, "SIZE", "of /tmp (default: 64m)"),
	CLI_OPTION(output_limit, "output-limit", 0, CLI_TEXT, "SIZE", "of each output stream (default: 1m)"),
	CLI_OPTION(file_size, "file-size", 0, CLI_TEXT, "SIZE", "of a file that it writes"),
	CLI_OPTION(ulimits, "ulimit", 0, CLI_LIST, "NAME=SOFT[:HARD]", "another resource limit"),
	CLI_OPTION(profile, "profile", 0, CLI_TEXT, "NAME", "its system calls: python, node, bash, c, r, union, none (default: the language's)"),
	CLI_OPTION(profile_add, "profile-add", 0, CLI_LIST, "FILE", "and those that a file names, one a line"),
	CLI_OPTION(network, "network", 0, CLI_TEXT, "none", "there is none but loopback"),
	CLI_OPTION(allow, "allow", 0, CLI_LIST, "HOST[:PORT]", "a host that it may reach: a name, *.NAME, **.NAME, an address, a range; @pypi, @npm, @debian"),
	CLI_OPTION(deny, "deny", 0, CLI_LIST, "HOST[:PORT]", "one that it may not reach, whatever is allowed"),
	CLI_OPTION(net_limit, "net-limit", 0, CLI_TEXT, "SIZE", "bytes that its connections carry, in all"),
	CLI_OPTION(net_rate, "net-rate", 0, CLI_TEXT, "SIZE", "bytes in a second"),
	CLI_OPTION(strict_limits, "strict-limits", 0, CLI_FLAG, NULL, "fail if a limit can't be held on this host"),
	CLI_OPTION(denials, "denials", 0, CLI_TEXT, "full|calls|none", "which refusals to watch for (default: full)"),
	CLI_OPTION(redact, "redact", 0, CLI_FLAG, NULL, "take secrets out of the output: keys, addresses, paths"),
	CLI_OPTION(redact_rules, "redact-rules", 0, CLI_TEXT, "FILE", "further rules for that, as JSON"),
	CLI_OPTION(copy_out, "copy-out", 0, CLI_TEXT, "DIR", "copy its files of /workspace there"),
	CLI_OPTION(audit, "audit", 0, CLI_TEXT, "FILE", "append a line about the run to a chained file"),
	CLI_OPTION(explain, "explain", 0, CLI_FLAG, NULL, "say what it would be held to on this host, and run nothing"),
	CLI_OPTION(no_pool, "no-pool", 0, CLI_FLAG, NULL, "a box of its own, though one waits (sbxrun pool)"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "print the result as one JSON object, and nothing else"),
	CLI_OPTION(stream, "stream", 0, CLI_FLAG, NULL, "print events as they happen, a JSON object a line"),
};
/* clang-format on */
const struct cli_command cli_do = {
	"do", "LANGUAGE CODE|FILE|- [ARG…] | -- COMMAND [ARG…]",
	"run code in a box of its own, and say what happened", do_options, ARRAY_SIZE(do_options),
	0, SIZE_MAX, true, do_run, .program = true, .failure = DO_FAILURE, .fails = do_fail,
	.passing = true, .watched = true};
