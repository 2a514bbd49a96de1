/* One box for a program; where it must be compiled, another one before, with limits of its own. */
#include <stdio.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/str.h"
#include "box/box.h"
#include "box/disk.h"
#include "life/life.h"
#include "state/ranges.h"
#include "sys/loop.h"
#include "sys/proc.h"

enum { SWEEP_MOST = 4, COMPILE_S = 60, COMPILE_MB = 512, COMPILE_PIDS = 64 };
enum { RANGES_EVERY = 16, RANGES_MOST = 64 };

/* A compiler is no program of the caller's: it gets what compilers need at least. */
static struct box_request do_compile_request(const struct box_request *q)
{
	struct box_request c = *q;
	struct box_limits *l = &c.limits;

	c.compiles = true;
	c.sandbox = NULL; /* what is in the caller's box is none of the compiler's business */
	c.code_path = NULL;
	c.pure = false; /* which starts processes and writes files */
	c.stdin_fd = -1;
	c.copy_out = NULL;
	c.n_volumes = 0;
	c.cwd = NULL;
	c.n_rlimits = 0;
	c.allow = c.deny = (struct strings){0};
	l->network = false;
	l->memory = l->memory > COMPILE_MB << 20 ? l->memory : COMPILE_MB << 20;
	l->pids = l->pids > COMPILE_PIDS ? l->pids : COMPILE_PIDS;
	l->timeout_ns = COMPILE_S * LOOP_SECOND;
	l->cpu_time_ns = l->disk = l->file_size = 0;
	return c;
}

static int do_compile(const struct box_request *q, struct arena *a, struct box_result *ret,
		      struct error *e)
{
	const struct box_request c = do_compile_request(q);

	if (box_run(&c, a, ret, e) < 0)
		return e->class != ERR_NO_PROGRAM ?
			       -1 :
			       err_set(e, ERR_NO_PROGRAM,
				       "%s: this root filesystem can't compile %s; sbxrun-rootfs build %s "
				       "makes one that can",
				       arena_strdup(a, e->text), c.language->name,
				       c.language->rootfs);
	if (ret->status == BOX_OK && !ret->product)
		return err_set(e, ERR_SYSTEM, "the compiler made no program of at most 16 MB");
	return 0;
}

static int do_run(const struct box_request *q, struct arena *a, struct box_result *ret,
		  struct error *e)
{
	if (box_run(q, a, ret, e) == 0)
		return 0;
	if (e->class != ERR_NO_PROGRAM || !q->language || q->language->compile[0])
		return -1;
	err_set(e, ERR_NO_PROGRAM,
		"%s: this root filesystem has no %s; sbxrun-rootfs build %s makes one that has it",
		arena_strdup(a, e->text), q->language->name, q->language->rootfs);
	ret->error = arena_strdup(a, e->text);
	return -1;
}

/* The result of a program that never ran. */
static void do_take_over(const struct box_result *compile, struct box_result *ret)
{
	const struct box_result copy = *compile;

	*ret = copy;
	ret->product = NULL;
	if (!ret->error_type) {
		ret->error_type = "CompileError";
		ret->error = "it could not be compiled";
	}
}

/* Whether somebody will remove it himself: he may still pass its output on, and ask its cgroups.
 * A container of somebody's that happens to have such a name is his. */
static bool sweep_is_looked_after(const char *id)
{
	unsigned long long start;
	struct proc_stat stat;
	int pid;

	if (sscanf(id, BOX_ID_PREFIX "%d-%llu-", &pid, &start) != 2)
		return true;
	return proc_stat_read(pid, &stat) == 0 && stat.start == start;
}

/* One whose keeper is gone. A record that can't be read, or isn't there yet, is of a create that
 * was cut short: nobody else can have begun it, for its id has the keeper's number and start. */
static void sweep_one(const char *state_root, const char *id, struct arena *a)
{
	struct life_view view;
	struct error ignored;
	const bool is_read = life_state(state_root, id, a, &view, &ignored) == 0;

	if (!is_read || view.status == STATUS_STOPPED)
		life_delete(state_root, id, !is_read, NULL, a, &ignored);
}

/* The box itself ends with who runs it; its record and cgroups do not. */
void box_sweep(const char *state_root)
{
	struct arena memory = {0};
	struct strings ids = {0};
	struct error ignored;
	size_t i, at;

	if (life_ids(state_root, &memory, &ids, &ignored) < 0)
		ids.n = 0;
	/* From a place of our own, so that those who sweep at the same time share the work. */
	for (i = 0; i < ids.n && i < SWEEP_MOST; i++) {
		at = ((size_t)getpid() + i) % ids.n;
		if (str_after(ids.v[at], BOX_ID_PREFIX) && !sweep_is_looked_after(ids.v[at]))
			sweep_one(state_root, ids.v[at], &memory);
	}
	arena_free(&memory);
	image_sweep(state_root);
	disk_sweep();
	/* Rarely are there any, and looking costs. */
	if (getpid() % RANGES_EVERY == 0)
		ranges_sweep(RANGES_MOST);
}

int box_do(const struct box_request *q, struct arena *a, struct box_result *ret, struct error *e)
{
	struct box_request run = *q;
	struct box_result *compile = NULL;
	char digest[SHA256_HEX_SIZE] = "";
	int result = 0;

	if (q->code)
		sha256_hex(q->code, q->code_len, digest);
	if (q->language && q->language->compile[0]) {
		compile = arena_new(a, struct box_result);
		result = do_compile(q, a, compile, e);
		run.code = compile->product;
		run.code_len = compile->product_len;
	}
	if (result < 0 || (compile && compile->status != BOX_OK))
		do_take_over(compile, ret);
	else
		result = do_run(&run, a, ret, e);
	ret->compile = compile;
	memcpy(ret->code_sha256, digest, sizeof(digest));
	return result;
}
