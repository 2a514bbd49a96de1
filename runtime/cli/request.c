/* From the command line to a request, option by option: for do and for box. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/box.h"
#include "box/network.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "cli/units.h"
#include "oci/names.h"
#include "sys/loop.h"
#include "sys/sys.h"

enum { ENV_FILE_MAX = 1 << 20, OPEN_FILES_MIN = 16 };

/* ---- what every request has ---- */

int do_begin(const struct cli *c, struct box_request *q, struct error *e)
{
	const char *manager = c->cgroup_manager ? c->cgroup_manager : "";

	box_request_default(q);
	q->state_root = c->root;
	q->policy = c->policy_by_name ? NULL : c->policy; /* a box is held to code */
	q->rootfs = c->rootfs;
	q->cwd = c->cwd;
	q->strict_limits = c->strict_limits || c->strict;
	q->systemd = cli_wants_systemd(c);
	q->systemd_timeout_s = c->systemd_timeout;
	q->own_cgroups = str_eq(manager, "cgroupfs");
	q->no_cgroups = str_eq(manager, "disabled");
	q->redact = c->redact || c->redact_rules;
	q->redact_rules = c->redact_rules;
	q->output = c->json ? OUTPUT_KEEP : c->stream ? OUTPUT_EVENTS : OUTPUT_PASS;
	if (c->json && c->stream)
		return err_set(e, ERR_USAGE, "--json and --stream contradict each other");
	return 0;
}

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
	q->usual_disk = !c->disk;
	l->network = q->allow.n > 0;
	if (do_size("memory", c->memory, 4 << 20, &l->memory, e) < 0 ||
	    do_cpus(c->cpus, &l->cpus, e) < 0 ||
	    do_number("pids-limit", c->pids_limit, &l->pids, e) < 0 ||
	    do_duration("timeout", c->timeout, &l->timeout_ns, c->arena, e) < 0 ||
	    do_duration("cpu-time", c->cpu_time, &l->cpu_time_ns, c->arena, e) < 0 ||
	    do_size("disk", c->disk, 4096, &l->disk, e) < 0 ||
	    do_size("tmpfs", c->tmpfs, 4096, &l->tmpfs, e) < 0 ||
	    do_size("writable-root", c->writable_root, 64 << 10, &q->writable_root, e) < 0 ||
	    do_size("output-limit", c->output_limit, 0, &l->output, e) < 0 ||
	    do_size("file-size", c->file_size, 1, &l->file_size, e) < 0 ||
	    do_size("net-limit", c->net_limit, NETWORK_BYTES_LEAST, &l->net_bytes, e) < 0 ||
	    do_size("net-rate", c->net_rate, NETWORK_BYTES_LEAST, &l->net_rate, e) < 0)
		return -1;
	if ((c->net_limit || c->net_rate) && !q->allow.n)
		return err_set(e, ERR_USAGE,
			       "--net-limit, --net-rate: nothing is reached without --allow");
	if (l->output > 64 << 20)
		return err_set(e, ERR_USAGE, "--output-limit: more than 64m");
	if (l->disk > INT64_C(1) << 40 || q->writable_root > INT64_C(1) << 40)
		return err_set(e, ERR_USAGE, "--%s: more than 1t",
			       l->disk > INT64_C(1) << 40 ? "disk" : "writable-root");
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
	struct buf all = buf_new(c->arena, ENV_FILE_MAX);
	struct error one;
	size_t i;

	/* All that is wrong at once: else each would be found by another try. */
	for (i = 0; i < c->volumes.n; i++)
		if (do_volume(c->volumes.v[i], c->arena, &v[i], &one) < 0) {
			buf_printf(&all, "%s%s", all.len ? "; " : "", one.text);
			*e = one;
		}
	q->volumes = v;
	q->n_volumes = c->volumes.n;
	return all.len ? err_set(e, e->class, "%s", all.data) : 0;
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

/* "-c", "--timeout" or "--timeout=5": whoever writes that means an option. */
static bool do_is_flag(const char *word)
{
	const char *name = word + 1 + (word[0] == '-' && word[1] == '-');
	const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");

	return word[0] == '-' && len && name[0] != '-' && (!name[len] || name[len] == '=');
}

static int do_code_file(const char *name, struct box_request *q, struct arena *a, struct error *e)
{
	autoclose int fd = open(name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "open %s", name) : do_read(fd, name, q, a, e);
}

static void do_code_word(const char *word, struct box_request *q)
{
	q->code = word;
	q->code_len = strlen(word);
}

/* Code that looks like one ("1/0", "x/y") is code. */
static bool do_is_path(const char *word, const struct box_language *l)
{
	size_t i;

	if (word[strcspn(word, " \t\r\n()[]{}<>=;|&*+?!^%'\"`$\\,:")])
		return false;
	if (str_after(word, "/") || str_after(word, "./") || str_after(word, "../"))
		return true;
	for (i = 0; i < ARRAY_SIZE(l->endings) && l->endings[i]; i++)
		if (str_ends(word, l->endings[i]))
			return true;
	return false;
}

/* The argument is the code itself, unless there is a file of that name: a guess for people at a
 * terminal. Whoever passes on what others wrote says which it is. */
static int do_code_guess(const char *given, struct box_request *q, struct arena *a, struct error *e)
{
	struct stat st;

	if (strlen(given) < 4096 && !strchr(given, '\n') && stat(given, &st) == 0 &&
	    S_ISREG(st.st_mode))
		return do_code_file(given, q, a, e);
	/* Slips of the pen are no programs. */
	if (do_is_flag(given))
		return err_set(e, ERR_USAGE,
			       "%s stands where code is expected: options come before the language, "
			       "and behind it the code itself, a file, or - for standard input",
			       given);
	if (do_is_path(given, q->language))
		return err_set(e, ERR_USAGE, "there is no file %s (if it is code: --code)", given);
	do_code_word(given, q);
	return 0;
}

static bool do_code_is_input(const struct cli *c)
{
	return !c->dashes && !c->is_code && str_eq(c->args[1], "-");
}

static int do_code(const struct cli *c, struct box_request *q, struct error *e)
{
	if (do_code_is_input(c))
		return do_read(STDIN_FILENO, "standard input", q, c->arena, e);
	if (c->is_file)
		return do_code_file(c->args[1], q, c->arena, e);
	/* A variable of a session may be called like a file of the caller's directory. */
	if (!c->is_code && !c->session)
		return do_code_guess(c->args[1], q, c->arena, e);
	do_code_word(c->args[1], q);
	return 0;
}

int do_program(const struct cli *c, struct box_request *q, struct error *e)
{
	struct buf all = buf_new(c->arena, sizeof(e->text));
	size_t i, first = c->dashes ? 0 : 2;

	if (c->is_code && c->is_file)
		return err_set(e, ERR_USAGE, "--code and --file contradict each other");
	if (c->dashes && (c->is_code || c->is_file))
		return err_set(
			e, ERR_USAGE,
			"--%s is about code: it goes with a language, and not with a command",
			c->is_code ? "code" : "file");
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
	const bool is_taken = do_code_is_input(c);

	if (c->no_stdin && c->stdin_file)
		return err_set(e, ERR_USAGE, "--no-stdin and --stdin contradict each other");
	if (c->no_stdin)
		return 0;
	if (c->stdin_file) {
		*ret_fd = open(c->stdin_file, O_RDONLY | O_CLOEXEC);
		if (*ret_fd < 0)
			return err_sys(e, "--stdin: open %s", c->stdin_file);
		q->stdin_fd = *ret_fd;
	} else if (!is_taken && isatty(STDIN_FILENO)) {
		q->terminal = q->output == OUTPUT_PASS && isatty(STDOUT_FILENO) && !q->redact;
		q->stdin_fd = q->terminal ? -1 : STDIN_FILENO;
	} else if (!is_taken) {
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
