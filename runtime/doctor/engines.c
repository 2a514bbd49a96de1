/*
 * Engines: whether they are here, whether they know sbxrun, and, if the caller wants that tried,
 * whether a container runs. What `sbxrun install` would change tells whether it has been called.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "doctor/check.h"
#include "setup/engine.h"
#include "sys/child.h"
#include "sys/loop.h"

enum { TRY_SECONDS = 60, ANSWER_SECONDS = 10, LEAVE_SECONDS = 5, WORDS_MAX = 16 };

struct engine {
	const char *name;
	const char *client; /* that can be told to run a container; NULL: by a pod alone */
};

static const struct engine docker = {"docker", "docker"}, containerd = {"containerd", NULL},
			   podman = {"podman", "podman"}, crio = {"crio", NULL};

/* ---- a command ---- */

/* The words of a command of ours. */
static void split(char *line, char *words[WORDS_MAX])
{
	size_t n = 0;

	while (line && n < WORDS_MAX - 1)
		words[n++] = strsep(&line, " ");
	words[n] = NULL;
}

/* The last line of what it said. */
static char *last_line(struct look *l, int fd)
{
	size_t len = 0;
	char *text = lseek(fd, 0, SEEK_SET) < 0 ? NULL : fd_read_all(fd, 1 << 20, l->arena, &len);
	char *newline;

	if (!text)
		return arena_strdup(l->arena, "");
	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	newline = strrchr(text, '\n');
	return newline ? newline + 1 : text;
}

static int spawn(const char *path, char *const argv[], int said_fd, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc == 0) {
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
		posix_spawn_file_actions_adddup2(&actions, 0, 1);
		posix_spawn_file_actions_adddup2(&actions, said_fd, 2);
		rc = posix_spawn(ret, path, &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	errno = rc;
	return rc ? -1 : 0;
}

/* An engine's client that is asked to end has time to tell the engine. */
static int await(pid_t pid, int seconds)
{
	struct error e;
	int status;

	if (child_collect_within(pid, seconds * 1000, &status, &e) == 0)
		return child_exit_code(status);
	kill(pid, SIGTERM);
	if (child_collect_within(pid, LEAVE_SECONDS * 1000, NULL, &e) < 0)
		child_end(pid);
	return -1;
}

/* Its exit code; -1: it took too long, or could not be started. *ret_said: its last words. */
static int run(struct look *l, const char *path, const char *line, int seconds, char **ret_said)
{
	autoclose int said_fd = memfd_create("said", MFD_CLOEXEC);
	char *words[WORDS_MAX];
	pid_t pid;
	int code;

	split(arena_strdup(l->arena, line), words);
	if (said_fd < 0 || spawn(path, words, said_fd, &pid) < 0) {
		*ret_said = arena_printf(l->arena, "%s", err_text(errno));
		return -1;
	}
	code = await(pid, seconds);
	*ret_said = code < 0 ? arena_printf(l->arena, "not done within %d s", seconds) :
			       last_line(l, said_fd);
	return code;
}

/* ---- an engine ---- */

static int try_engine(struct look *l, const struct engine *engine, const char *command)
{
	auto_tree struct tree tree = TREE_NONE;
	const char *path;
	struct error e;
	char *said;

	if (tree_open(NULL, l->arena, &tree, &e) < 0)
		return look_less(l, "%s", e.text);
	path = setup_find_binary(&tree, engine->client);
	if (!path)
		return look_less(l, "sbxrun is registered; there is no program %s to try it with",
				 engine->client);
	if (run(l, path, arena_printf(l->arena, "%s version", engine->client), ANSWER_SECONDS,
		&said) != 0)
		return look_less(l, "sbxrun is registered; the engine doesn't answer: %s", said);
	if (run(l, path, command, TRY_SECONDS, &said) == 0)
		return look_fine(l, "sbxrun is registered, and a container ran");
	look_remedy(l, "%s", command);
	return look_less(l, "sbxrun is registered, and no container ran: %s", said);
}

static int look_registered(struct look *l, const struct engine *engine,
			   const struct setup_report *r)
{
	if (!engine->client)
		return look_fine(l, "sbxrun is registered; to be tried by %s", r->try_it);
	if (l->options->try_engines)
		return try_engine(l, engine, r->try_it);
	return look_fine(l, "sbxrun is registered; to be tried by --try, or: %s", r->try_it);
}

/* The title has it already. */
static const char *without_name(const char *text, const char *name)
{
	const char *rest = str_after(text, name);

	return rest && str_after(rest, ": ") ? rest + 2 : text;
}

static int look_engine(struct look *l)
{
	const struct engine *engine = l->check->what;
	char *name = arena_strdup(l->arena, engine->name);
	const struct setup_options o = {
		.dry_run = true, .only_looks = true, .names = &name, .n = 1};
	const struct setup_report *r;
	struct setup_result result;
	struct error e;

	if (setup_run(&o, l->arena, &result, &e) < 0)
		return look_less(l, "whether sbxrun is registered can't be told: %s", e.text);
	r = &result.v[0];
	if (r->outcome == SETUP_ABSENT)
		return look_fine(l, "%s", r->said.v[0]);
	if (r->outcome == SETUP_FAILED)
		return look_less(l, "is here; %s", without_name(r->error.text, engine->name));
	if (r->outcome == SETUP_NOTHING)
		return look_registered(l, engine, r);
	look_remedy(l, "sbxrun install %s", engine->name);
	return look_less(l, "is here, and doesn't know sbxrun");
}

/* Longer than all that a try waits for. */
enum { TRY_IN_ALL = TRY_SECONDS + ANSWER_SECONDS + 2 * LEAVE_SECONDS + 2 };

static const struct doctor_check checks[] = {
	{"engine.docker", "docker", WHO_ALL, 0, look_engine, &docker, .try_seconds = TRY_IN_ALL},
	{"engine.containerd", "containerd", WHO_ALL, 0, look_engine, &containerd},
	{"engine.podman", "podman", WHO_ALL, 0, look_engine, &podman, .try_seconds = TRY_IN_ALL},
	{"engine.crio", "CRI-O", WHO_ALL, 0, look_engine, &crio},
};

const struct doctor_group doctor_engines = {checks, ARRAY_SIZE(checks)};
