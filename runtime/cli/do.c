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

enum { RESULT_MAX = 256 << 20, ENV_FILE_MAX = 1 << 20, DURATION_MAX_S = 366 * 86400,
       OPEN_FILES_MIN = 16 };

/* ---- limits ---- */

static int do_size(const char *option, const char *text, int64_t least, int64_t *ret,
		   struct error *e)
{
	int64_t v;

	if (!text)
		return 0;
	if (!units_size(text, &v) || v < least)
		return err_set(e, ERR_USAGE,
			       "--%s: \"%s\" is no size of at least %lld bytes (512m, 1g …)",
			       option, text, (long long)least);
	*ret = v;
	return 0;
}

/* Seconds, or with a unit: 5, 0.5, 500ms, 2m. */
int do_duration(const char *option, const char *text, int64_t *ret, struct arena *a,
		struct error *e)
{
	int64_t v;

	if (!text)
		return 0;
	if ((!units_duration(text, &v) && !units_duration(arena_printf(a, "%ss", text), &v)) ||
	    v <= 0 || v > DURATION_MAX_S * LOOP_SECOND)
		return err_set(e, ERR_USAGE,
			       "--%s: \"%s\" is no duration above 0 and up to a year (5, 0.5, 500ms, "
			       "2m …)",
			       option, text);
	*ret = v;
	return 0;
}

/* A number of processors with at most three digits behind the point. */
static int do_cpus(const char *text, uint32_t *ret, struct error *e)
{
	char *end;
	double v;

	if (!text)
		return 0;
	v = strtod(text, &end);
	if (*end || end == text || text[strspn(text, "0123456789.")] || !(v >= 0.01 && v <= 1024))
		return err_set(e, ERR_USAGE, "--cpus: \"%s\" is no number from 0.01 to 1024",
			       text);
	*ret = (uint32_t)(v * 1000 + 0.5);
	return 0;
}

static int do_number(const char *option, const char *text, uint32_t *ret, struct error *e)
{
	if (text && (!str_to_u32(text, ret) || !*ret || *ret > 1 << 22))
		return err_set(e, ERR_USAGE, "--%s: \"%s\" is no number from 1 to 4194304", option,
			       text);
	return 0;
}

int do_limits(const struct cli *c, struct box_request *q, struct error *e)
{
	struct box_limits *l = &q->limits;
	const struct box_preset *preset = c->preset ? box_preset_find(c->preset) : NULL;
	struct buf all = buf_new(c->arena, sizeof(e->text));
	size_t i;

	for (i = 0; i < box_n_presets; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", box_presets[i].name);
	if (c->preset && !preset)
		return err_set(e, ERR_USAGE, "--preset: there is no \"%s\" (there are %s)",
			       c->preset, all.data);
	if (preset)
		q->pure = preset->pure;
	if (preset)
		*l = preset->limits;
	l->network = q->allow.n > 0;
	if (do_size("memory", c->memory, 4 << 20, &l->memory, e) < 0 ||
	    do_cpus(c->cpus, &l->cpus, e) < 0 ||
	    do_number("pids-limit", c->pids_limit, &l->pids, e) < 0 ||
	    do_duration("timeout", c->timeout, &l->timeout_ns, c->arena, e) < 0 ||
	    do_duration("cpu-time", c->cpu_time, &l->cpu_time_ns, c->arena, e) < 0 ||
	    do_size("disk", c->disk, 4096, &l->disk, e) < 0 ||
	    do_size("tmpfs", c->tmpfs, 4096, &l->tmpfs, e) < 0 ||
	    do_size("output-limit", c->output_limit, 0, &l->output, e) < 0 ||
	    do_size("file-size", c->file_size, 1, &l->file_size, e) < 0)
		return -1;
	if (l->output > 64 << 20)
		return err_set(e, ERR_USAGE, "--output-limit: more than 64m");
	if (l->disk > INT64_C(1) << 40)
		return err_set(e, ERR_USAGE, "--disk: more than 1t");
	return 0;
}

/* ---- what is given to it ---- */

/* SOURCE:TARGET[:ro|rw]. */
static int do_volume(const char *text, struct arena *a, struct box_volume *ret, struct error *e)
{
	char *copy = arena_strdup(a, text), *target = strchr(copy, ':'), *mode;
	char *real;

	if (!target || target == copy || target[1] != '/')
		return err_set(e, ERR_USAGE,
			       "-v %s: it is SOURCE:TARGET or SOURCE:TARGET:ro, with an absolute "
			       "TARGET",
			       text);
	*target++ = '\0';
	mode = strchr(target, ':');
	if (mode)
		*mode++ = '\0';
	if (mode && !str_eq(mode, "ro") && !str_eq(mode, "rw"))
		return err_set(e, ERR_USAGE, "-v %s: \"%s\" is neither ro nor rw", text, mode);
	real = realpath(copy, NULL);
	if (!real)
		return err_sys(e, "-v %s: %s", text, copy);
	*ret = (struct box_volume){.source = arena_strdup(a, real),
				   .target = path_clean(a, target),
				   .writable = !mode || str_eq(mode, "rw")};
	free(real);
	return 0;
}

int do_volumes(const struct cli *c, struct box_request *q, struct error *e)
{
	struct box_volume *v = arena_array(c->arena, c->volumes.n + 1, struct box_volume);
	size_t i;

	for (i = 0; i < c->volumes.n; i++)
		if (do_volume(c->volumes.v[i], c->arena, &v[i], e) < 0)
			return -1;
	q->volumes = v;
	q->n_volumes = c->volumes.n;
	return 0;
}

/* The first process of a box has descriptors of its own before the program's. */
static int do_ulimit_check(const char *text, const struct box_rlimit *r, struct error *e)
{
	if (r->soft > r->hard)
		return err_set(e, ERR_USAGE, "--ulimit %s: SOFT is above HARD", text);
	if (str_eq(r->type, "RLIMIT_NOFILE") && r->soft < OPEN_FILES_MIN)
		return err_set(e, ERR_USAGE, "--ulimit %s: a box needs %d open files at least",
			       text, OPEN_FILES_MIN);
	return 0;
}

/* NAME=SOFT[:HARD], as docker has it: names in small letters, without "RLIMIT_". */
static bool do_ulimit_value(const char *text, uint64_t *ret)
{
	if (str_eq(text, "-1") || str_eq(text, "unlimited")) {
		*ret = UINT64_MAX;
		return true;
	}
	return str_to_u64(text, UINT64_MAX, ret);
}

static int do_ulimit(const char *text, struct arena *a, struct box_rlimit *ret, struct error *e)
{
	char *name = arena_strdup(a, text), *soft = strchr(name, '='), *hard, *p;

	if (soft) {
		*soft++ = '\0';
		hard = strchr(soft, ':');
		if (hard)
			*hard++ = '\0';
		for (p = name; *p; p++)
			*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
		ret->type = arena_printf(a, "RLIMIT_%s", name);
		if (oci_rlimit_number(ret->type) < 0)
			return err_set(e, ERR_USAGE,
				       "--ulimit %s: there is no such limit (nofile, nproc, stack, "
				       "fsize, cpu, data, as, memlock, core …)",
				       text);
		if (do_ulimit_value(soft, &ret->soft) &&
		    do_ulimit_value(hard ? hard : soft, &ret->hard))
			return do_ulimit_check(text, ret, e);
	}
	return err_set(e, ERR_USAGE, "--ulimit %s: it is NAME=SOFT or NAME=SOFT:HARD", text);
}

int do_ulimits(const struct cli *c, struct box_request *q, struct error *e)
{
	struct box_rlimit *v = arena_array(c->arena, c->ulimits.n + 1, struct box_rlimit);
	size_t i;

	for (i = 0; i < c->ulimits.n; i++)
		if (do_ulimit(c->ulimits.v[i], c->arena, &v[i], e) < 0)
			return -1;
	q->rlimits = v;
	q->n_rlimits = c->ulimits.n;
	return 0;
}

static void do_add_env(struct cli *c, struct strings *env, const char *word)
{
	const char *value;
	size_t cap = env->n;

	/* A name alone takes the caller's value, if he has one. */
	if (!strchr(word, '=')) {
		value = getenv(word);
		if (!value)
			return;
		word = arena_printf(c->arena, "%s=%s", word, value);
	}
	env->v = arena_grow(c->arena, env->v, &cap, env->n + 2, sizeof(char *));
	env->v[env->n++] = arena_strdup(c->arena, word);
}

int do_env(struct cli *c, struct box_request *q, struct error *e)
{
	autoclose int fd = -1;
	char *text, *line, *next;
	size_t len, i;

	if (c->env_file) {
		fd = open(c->env_file, O_RDONLY | O_CLOEXEC);
		text = fd < 0 ? NULL : fd_read_all(fd, ENV_FILE_MAX, c->arena, &len);
		if (!text)
			return err_sys(e, "--env-file: read %s", c->env_file);
		for (line = text; line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			if (*line && *line != '#')
				do_add_env(c, &q->env, line);
		}
	}
	for (i = 0; i < c->env.n; i++)
		do_add_env(c, &q->env, c->env.v[i]);
	return 0;
}

int do_user(const struct cli *c, struct box_request *q, struct error *e)
{
	const char *colon;

	/* An ordinary user has one id to give, which the box has to have as 0. */
	if (!sys_is_machine_root())
		q->uid = q->gid = 0;
	if (!c->user)
		return 0;
	if (!sys_is_machine_root())
		return err_set(e, ERR_USAGE,
			       "--user: the box of an ordinary user has one id, the user's own");
	colon = strchr(c->user, ':');
	q->gid = 0;
	if (!str_to_u32(colon ? arena_strndup(c->arena, c->user, (size_t)(colon - c->user)) :
				c->user,
			&q->uid) ||
	    (colon && !str_to_u32(colon + 1, &q->gid)))
		return err_set(e, ERR_USAGE, "--user: \"%s\" is neither UID nor UID:GID",
			       c->user);
	if (!colon)
		q->gid = q->uid;
	return 0;
}

/* ---- the code ---- */

static int do_read(int fd, const char *name, struct box_request *q, struct arena *a,
		   struct error *e)
{
	q->code = fd_read_all(fd, BOX_CODE_MAX, a, &q->code_len);
	if (!q->code && errno == EFBIG)
		return err_set(e, ERR_USAGE, "%s: more than 16 MB of code", name);
	return q->code ? 0 : err_sys(e, "read %s", name);
}

/* What is given is the code itself, unless there is a file of that name. */
static int do_code(const struct cli *c, struct box_request *q, struct error *e)
{
	const char *given = c->args[1];
	autoclose int fd = -1;
	struct stat st;

	if (str_eq(given, "-"))
		return do_read(STDIN_FILENO, "standard input", q, c->arena, e);
	if (strlen(given) < 4096 && !strchr(given, '\n') && stat(given, &st) == 0 &&
	    S_ISREG(st.st_mode)) {
		fd = open(given, O_RDONLY | O_CLOEXEC);
		return fd < 0 ? err_sys(e, "open %s", given) : do_read(fd, given, q, c->arena, e);
	}
	/* A slip of the pen is no program. */
	if (!strpbrk(given, " \t\n()=;") && (strchr(given, '/') || str_ends(given, ".py") ||
					     str_ends(given, ".js") || str_ends(given, ".sh") ||
					     str_ends(given, ".c") || str_ends(given, ".R")))
		return err_set(e, ERR_USAGE, "there is no file %s", given);
	q->code = given;
	q->code_len = strlen(given);
	return 0;
}

int do_program(const struct cli *c, struct box_request *q, struct error *e)
{
	struct buf all = buf_new(c->arena, sizeof(e->text));
	size_t i, first = c->dashes ? 0 : 2;

	for (i = 0; i < box_n_languages; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", box_languages[i].name);
	if (!c->dashes) {
		q->language = box_language_find(c->args[0]);
		if (!q->language)
			return err_set(e, ERR_USAGE,
				       "there is no language \"%s\" (there are %s); a command "
				       "stands behind --",
				       c->args[0], all.data);
		if (c->n_args < 2)
			return err_set(e, ERR_USAGE,
				       "code is missing: the code itself, a file, or - for "
				       "standard input");
		if (do_code(c, q, e) < 0)
			return -1;
	}
	q->args = (struct strings){.n = c->n_args - first, .v = c->args + first};
	return 0;
}

/* Its input is ours, unless that is where the code comes from. */
int do_stdin(const struct cli *c, struct box_request *q, int *ret_fd, struct error *e)
{
	bool is_code = !c->dashes && str_eq(c->args[1], "-");

	if (c->stdin_file) {
		*ret_fd = open(c->stdin_file, O_RDONLY | O_CLOEXEC);
		if (*ret_fd < 0)
			return err_sys(e, "--stdin: open %s", c->stdin_file);
		q->stdin_fd = *ret_fd;
	} else if (!is_code && isatty(STDIN_FILENO)) {
		q->terminal = q->output == OUTPUT_PASS && isatty(STDOUT_FILENO) && !q->redact;
	} else if (!is_code) {
		q->stdin_fd = STDIN_FILENO;
	}
	return 0;
}

int do_denials(const struct cli *c, struct box_request *q, struct error *e)
{
	static const char *const words[] = {
		[DENIALS_NONE] = "none", [DENIALS_CALLS] = "calls", [DENIALS_FULL] = "full"};
	size_t i;

	for (i = 0; c->denials && i < ARRAY_SIZE(words); i++)
		if (str_eq(c->denials, words[i]))
			q->denials = (enum box_denials)i;
	if (c->denials && !str_eq(c->denials, words[q->denials]))
		return err_set(e, ERR_USAGE, "--denials: \"%s\" is neither full, calls nor none",
			       c->denials);
	return 0;
}

/* What computes alone has no use for these, and whoever asks for them means something else. */
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

static int do_profile(struct cli *c, struct box_request *q, struct error *e)
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
	box_request_default(q);
	q->state_root = c->root;
	q->learning = c->learning;
	q->policy = c->policy_by_name ? NULL : c->policy; /* a box is held to code */
	q->rootfs = c->rootfs;
	q->cwd = c->cwd;
	q->strict_limits = c->strict_limits || c->strict;
	q->systemd = cli_wants_systemd(c);
	q->systemd_timeout_s = c->systemd_timeout;
	q->own_cgroups = c->cgroup_manager && str_eq(c->cgroup_manager, "cgroupfs");
	q->no_cgroups = c->cgroup_manager && str_eq(c->cgroup_manager, "disabled");
	q->copy_out = c->copy_out;
	q->list_files = c->json || c->stream;
	q->redact = c->redact || c->redact_rules;
	q->redact_rules = c->redact_rules;
	q->output = c->json ? OUTPUT_KEEP : c->stream ? OUTPUT_EVENTS : OUTPUT_PASS;
	if (c->json && c->stream)
		return err_set(e, ERR_USAGE, "--json and --stream contradict each other");
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

static const char *do_whose_audit(const struct cli *c, const char *file)
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
	if (result < 0 && !c->json && !c->stream)
		return -1;
	c->fails = NULL; /* what follows is the object */
	box_sweep(q.state_root);
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
	return 0;
}

/* Whoever wants one object gets one, also where the command line was not understood. */
static bool do_says(const struct cli *c, const char *option)
{
	char **word;

	for (word = c->argv; *word && !str_eq(*word, "--"); word++)
		if (str_eq(*word, option))
			return true;
	return false;
}

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
	CLI_OPTION(rootfs, "rootfs", 0, CLI_TEXT, "NAME|DIR|FILE", "the root filesystem (default: the language's, or the host's /usr)"),
	CLI_OPTION(volumes, "volume", 'v', CLI_LIST, "SOURCE:TARGET[:ro]", "show a directory or file of the host in the box"),
	CLI_OPTION(env, "env", 'e', CLI_LIST, "NAME[=VALUE]", "a variable of its environment"),
	CLI_OPTION(env_file, "env-file", 0, CLI_TEXT, "FILE", "variables, one a line"),
	CLI_OPTION(cwd, "workdir", 'w', CLI_TEXT, "DIR", "where it runs (default: /workspace)"),
	CLI_OPTION(user, "user", 'u', CLI_TEXT, "UID[:GID]", "who it is inside (default: 65534)"),
	CLI_OPTION(stdin_file, "stdin", 0, CLI_TEXT, "FILE", "its input (default: ours)"),
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
	CLI_OPTION(allow, "allow", 0, CLI_LIST, "HOST[:PORT]", "a host that it may reach: a name, *.NAME, **.NAME, an address, a range"),
	CLI_OPTION(deny, "deny", 0, CLI_LIST, "HOST[:PORT]", "one that it may not reach, whatever is allowed"),
	CLI_OPTION(strict_limits, "strict-limits", 0, CLI_FLAG, NULL, "fail if a limit can't be held on this host"),
	CLI_OPTION(denials, "denials", 0, CLI_TEXT, "full|calls|none", "what was refused (default: full)"),
	CLI_OPTION(redact, "redact", 0, CLI_FLAG, NULL, "take secrets out of the output: keys, addresses, paths"),
	CLI_OPTION(redact_rules, "redact-rules", 0, CLI_TEXT, "FILE", "further rules for that, as JSON"),
	CLI_OPTION(copy_out, "copy-out", 0, CLI_TEXT, "DIR", "copy what it wrote to /workspace there"),
	CLI_OPTION(audit, "audit", 0, CLI_TEXT, "FILE", "append a line about the run to a chained file"),
	CLI_OPTION(explain, "explain", 0, CLI_FLAG, NULL, "say what it would be held to on this host, and run nothing"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "print the result as one JSON object, and nothing else"),
	CLI_OPTION(stream, "stream", 0, CLI_FLAG, NULL, "print events as they happen, a JSON object a line"),
};
/* clang-format on */
const struct cli_command cli_do = {
	"do", "LANGUAGE CODE|FILE|- [ARG…] | -- COMMAND [ARG…]",
	"run code in a box of its own, and say what happened", do_options, ARRAY_SIZE(do_options),
	0, SIZE_MAX, true, do_run, .program = true, .failure = DO_FAILURE, .fails = do_fail,
	.passing = true, .watched = true};
