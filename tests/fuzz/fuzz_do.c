/* sbxrun do: a word a line, and after an empty one what --env-file has. What is taken is within
 * bounds, and becomes a config that can be read again. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "json/json.h"
#include "oci/oci.h"
/* What is static there. */
#include "cli/do.c"

enum { WORDS_MAX = 48, CONFIG_BYTES = 8 << 20 };

/* Words that name files of this machine lead to ones that are ours. */
static void tame(struct cli *c, struct bytes *rest, int env_fd)
{
	size_t i;

	if (c->env_file) {
		DEMAND(write(env_fd, rest->p, rest->left) == (ssize_t)rest->left);
		c->env_file = arena_printf(c->arena, "/proc/self/fd/%d", env_fd);
	}
	if (c->stdin_file)
		c->stdin_file = arena_strdup(c->arena, "/dev/null");
	for (i = 0; i < c->volumes.n; i++)
		if (strchr(c->volumes.v[i], ':'))
			c->volumes.v[i] =
				arena_printf(c->arena, "/%s", strchr(c->volumes.v[i], ':'));
	for (i = 0; i < c->n_args; i++)
		if (str_eq(c->args[i], "-") || strchr(c->args[i], '/'))
			c->args[i] = arena_strdup(c->arena, "1 + 1");
}

static void check_limits(const struct box_request *q)
{
	const struct box_limits *l = &q->limits;
	size_t i;

	DEMAND(l->memory >= 4 << 20 && l->pids >= 1 && l->cpus >= 10 && l->cpus <= 1024000);
	DEMAND(l->timeout_ns > 0 && l->timeout_ns <= DURATION_MAX_S * LOOP_SECOND);
	DEMAND(l->cpu_time_ns >= 0 && l->cpu_time_ns <= DURATION_MAX_S * LOOP_SECOND);
	DEMAND(l->output >= 0 && l->output <= 64 << 20 && l->tmpfs >= 4096 && l->file_size >= 0);
	DEMAND(box_workspace_size(l) > 0 && box_workspace_size(l) <= l->memory);
	for (i = 0; i < q->n_rlimits; i++)
		DEMAND(oci_rlimit_number(q->rlimits[i].type) >= 0 &&
		       q->rlimits[i].soft <= q->rlimits[i].hard);
	for (i = 0; i < q->n_volumes; i++)
		DEMAND(q->volumes[i].target[0] == '/' && q->volumes[i].source[0] == '/');
	for (i = 0; i < q->env.n; i++)
		DEMAND(strchr(q->env.v[i], '='));
}

static void check_config(const struct box_request *q, struct arena *a)
{
	const struct box_root root = {.path = "/root", .name = "root"};
	struct buf b = buf_new(a, CONFIG_BYTES);
	struct oci_config *c = arena_new(a, struct oci_config);
	struct error e = {0};

	if (box_config_write(q, &root, a, &b, &e) < 0 ||
	    json_read("config", b.data, b.len, &oci_config_table, &json_default_limits, c, a, &e) <
		    0) {
		fuzz_check_error(&e); /* of bytes that are no text, and numbers of words */
		return;
	}
	DEMAND(c->process.set && c->process.no_new_privileges && c->root.readonly);
	DEMAND(c->linux_.resources.memory.limit.set && c->linux_.resources.pids_limit.set);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	struct cli c = {.arena = a, .args = arena_array(a, WORDS_MAX + 1, char *)};
	char **argv = arena_array(a, WORDS_MAX + 1, char *);
	autoclose int env_fd = memfd_create("env", MFD_CLOEXEC), stdin_fd = -1;
	struct box_request q;
	size_t n = 0, at = 0;
	struct error e = {0};

	while (b.left && n < WORDS_MAX && *(argv[n] = bytes_string(&b, a)))
		n++;
	argv[n] = NULL;
	c.argv = argv;
	if (cli_read_options(&c, argv, &at, do_options, ARRAY_SIZE(do_options), 1, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	tame(&c, &b, env_fd);
	if (do_request(&c, &q, &stdin_fd, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	check_limits(&q);
	check_config(&q, a);
}
