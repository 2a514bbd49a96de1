/*
 * lives.c: a program that makes containers by life/life.h, in the clothes of a runtime, so that the
 * harnesses can let its calls fail.
 *
 *	lives --root ROOT run --bundle DIR ID	create, start, wait and remove, in this process
 *	lives --root ROOT exec ID PROGRAM	a further program in a container
 *	lives --root ROOT VERB …		is for LIVES_RUNTIME, the true one
 *
 * Whatever fails, and wherever: afterwards the process is as it was before (tests/unit/same.h), and
 * life_delete(force) leaves nothing. If it isn't so, the program says it and aborts, which the
 * harness takes for a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "life/life.h"
#include "same.h"
#include "sys/loop.h"

static void out_of_memory(void)
{
	static const char text[] = "lives: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

__attribute__((noreturn)) static void accuse(const char *what)
{
	fprintf(stderr, "lives: %s\n", what);
	abort();
}

/* What fails once may be one of our own looks: then a second one is like the first. */
static void look(struct same *ret)
{
	do
		same_look(ret);
	while (same_differs(ret));
}

static void check_same(const struct same *before)
{
	const char *what = same_differs(before);

	if (what && (what = same_differs(before)))
		accuse(what);
}

static int say(const char *step, const struct error *e)
{
	fprintf(stderr, "lives: %s: %s\n", step, e->text[0] ? e->text : "failed without a word");
	return 1;
}

static void delete_all(const char *root, const char *id)
{
	struct arena a = {0};
	struct error e = {0};
	char path[PATH_MAX];

	if (life_delete(root, id, true, NULL, &a, &e) < 0 &&
	    life_delete(root, id, true, NULL, &a, &e) < 0)
		accuse(e.text);
	arena_free(&a);
	snprintf(path, sizeof(path), "%s/%s", root, id);
	if (faccessat(AT_FDCWD, path, F_OK, 0) == 0)
		accuse("life_delete() has left the state");
}

/* 0, or 1 after a failure; a container that is still there is the caller's. */
static int live(const char *root, const char *bundle, const char *id, struct arena *a)
{
	const struct create_options o = {
		.root = root, .id = id, .bundle = bundle, .policy = "oci", .console_fd = -1};
	struct life_end end = {.status = -1};
	struct created c;
	struct error e = {0};
	int got, result = 0;

	if (life_create(&o, a, &c, &e) < 0)
		return say("create", &e);
	if (life_launch(&c, NULL, a, &e) < 0) {
		result = say("launch", &e);
	} else {
		got = life_wait(&c, loop_now() + 60 * LOOP_SECOND, &end, &e);
		if (got != 1)
			result = got < 0 ? say("wait", &e) :
					   say("wait",
					       &(struct error){.text = "no end within a minute"});
	}
	if (life_remove(&c, a, &e) < 0)
		result = say("remove", &e);
	return result ? result : end.status;
}

static int do_run(const char *root, char **argv)
{
	const char *bundle = argv[1], *id = argv[2];
	struct arena a = {0};
	struct same before;
	int result;

	look(&before);
	result = live(root, bundle, id, &a);
	arena_free(&a);
	if (result)
		delete_all(root, id);
	check_same(&before);
	return result;
}

static int do_exec(const char *root, char **argv)
{
	struct exec_options o = {.root = root, .id = argv[0], .args = {.n = 1, .v = argv + 1}};
	struct arena a = {0};
	struct error e = {0};
	struct same before;
	int status, result;

	look(&before);
	result = life_exec(&o, &a, &status, &e) < 0 ? say("exec", &e) : status;
	arena_free(&a);
	check_same(&before);
	return result;
}

int main(int argc, char **argv)
{
	char *runtime = getenv("LIVES_RUNTIME");

	if (argc < 5 || strcmp(argv[1], "--root") != 0)
		return 2;
	arena_out_of_memory = out_of_memory;
	if (strcmp(argv[3], "run") == 0 && argc == 7) {
		fd_cloexec_from(3); /* what the caller has open is not for the container */
		return do_run(argv[2], argv + 4);
	}
	if (strcmp(argv[3], "exec") == 0 && argc == 6) {
		fd_cloexec_from(3);
		return do_exec(argv[2], argv + 4);
	}
	if (!runtime)
		return 2;
	argv[0] = runtime;
	execv(runtime, argv);
	perror(runtime);
	return 2;
}
