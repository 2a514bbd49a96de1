/* From a request to a result: a run from its beginning to its end, whatever fails on the way. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/timing.h"
#include "box/explain.h"
#include "box/pool.h"
#include "box/profiles.h"
#include "box/running.h"
#include "box/sandbox.h"
#include "sys/proc.h"

/* It names the process that looks after the box, by pid and start, so that others can tell whether
 * anybody still does (box_sweep()). */
static const char *run_new_id(struct arena *a)
{
	struct proc_stat stat = {0};
	uint32_t number = 0;

	proc_stat_read(getpid(), &stat);
	/* Without it, a second box of this process would be refused: the id is taken. */
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint32_t)loop_now();
	return arena_printf(a, BOX_ID_PREFIX "%d-%llu-%08x", getpid(),
			    (unsigned long long)stat.start, number);
}

/* Of a broken file of rules nobody should hear when the program has run. */
int run_read_rules(struct running *x, struct error *e)
{
	const char *path = x->q->redact_rules;
	struct redact_rules rules = {0};
	autoclose int fd = -1;
	char *text;
	size_t len;

	if (!x->q->redact)
		return 0;
	if (path) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		text = fd < 0 ? NULL : fd_read_all(fd, REDACT_FILE_MAX, x->a, &len);
		if (!text)
			return err_sys(e, "--redact-rules: read %s", path);
		if (redact_read_rules(text, len, x->a, &rules, e) < 0)
			return err_wrap(e, "--redact-rules: %s", path);
	}
	x->redact = redact_new(path ? &rules : NULL, x->a);
	return 0;
}

/* All processes of the call are gone. */
static void run_take(struct running *x)
{
	if (x->r->status == BOX_OK)
		x->r->product = workspace_take(&x->workspace, x->q->takes, BOX_CODE_MAX, x->a,
					       &x->r->product_len);
	if (x->q->takes_away && x->workspace.dfd >= 0)
		unlinkat(x->workspace.dfd, x->q->takes, 0);
}

void run_tell_network(struct running *x)
{
	network_tell(&x->network, &x->denials, &x->r->network, &x->r->notes.notes);
	if (x->r->network.has && !x->r->network.known)
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "the process that carried the box's connections ended "
					     "before it: it had no network since"),
			  x->a);
}

/* Whether what it wrote is of interest, and not only how full its places are. */
static bool run_looks(const struct running *x)
{
	return x->q->copy_out || x->q->list_files || x->q->compiles ||
	       x->q->takes;
}

static int run_finish(struct running *x, struct error *e)
{
	if (x->warm_sock >= 0 ? pool_await_end(x, e) < 0 :
	    !x->is_collected && life_wait(&x->box, LOOP_NEVER, &x->end, e) < 0)
		return -1;
	timing_mark("box ended");
	x->r->cpu_ns = x->end.cpu_ns;
	x->r->memory_peak = x->end.peak_memory;
	x->r->pids_peak = x->end.peak_pids;
	x->r->wall_ns = loop_now() - x->started;
	run_keep_output(x);
	run_note_lost(x);
	run_count_redactions(x);
	if (x->last.kind == REAPER_FAILED)
		return run_explain_start(x, e);
	run_judge(x, &x->end);
	run_note_missing(x);
	run_tell_network(x);
	later_tell(x->q, &x->later, x->a, &x->r->notes.notes);
	run_tell_limits(x);
	denials_tell(&x->denials, x->r);
	if (x->q->compiles && x->r->status == BOX_OK)
		x->r->product = workspace_take(&x->workspace, x->q->language->product,
					       BOX_CODE_MAX, x->a, &x->r->product_len);
	if (x->q->takes)
		run_take(x);
	if (x->q->sandbox || run_looks(x))
		workspace_measure(&x->workspace, x->q, x->r);
	if (run_looks(x))
		workspace_finish(&x->workspace, x->q, x->a, x->r);
	return 0;
}

static int run_in_box(struct running *x, struct error *e)
{
	struct error ignored;

	if (x->warm_sock < 0 && (x->q->sandbox ? run_join(x, e) : run_create(x, e)) < 0)
		return -1;
	if (workspace_open(&x->workspace, x->box.pid, x->box.pidfd, run_looks(x) ? e : &ignored) <
		    0 &&
	    run_looks(x))
		return -1;
	run_set_up_loop(x);
	if (x->warm_sock >= 0)
		pool_send_code(x);
	else
		run_send_order(x);
	x->started = loop_now();
	x->r->startup_ns = x->started - x->begun;
	run_attend(x);
	return run_finish(x, e);
}

/* A workspace on disk may have a million files. */
static bool run_is_told_to_end(void *context)
{
	struct running *x = context;

	if (x->r->interrupted)
		return true;
	x->phase = KILLED; /* there is nobody left to tell */
	if (x->signals.fd >= 0)
		run_take_signals(x);
	return x->r->interrupted != 0;
}

static void run_close(struct running *x)
{
	struct error ignored;
	size_t i;

	if (x->is_made && x->q->sandbox)
		life_leave(&x->box);
	else if (x->is_made && life_remove(&x->box, x->a, &ignored) < 0)
		notes_add(&x->r->notes.notes,
			  arena_printf(x->a, "the box could not be removed: %s", ignored.text),
			  x->a);
	timing_mark("box removed");
	cgroup_boxes_close(&x->boxes);
	workspace_close(&x->workspace);
	disk_remove(&x->disk, run_is_told_to_end, x);
	denials_close(&x->denials);
	resolver_close(&x->resolver);
	network_close(&x->network);
	outlet_free(&x->orders);
	input_close(&x->input);
	fd_close(&x->input_at);
	for (i = 0; i < 3; i++) {
		fd_close(&x->pipes[i][0]);
		fd_close(&x->pipes[i][1]);
	}
	terminal_make_sane(&x->terminal);
	fd_close(&x->terminal.master_fd);
	if (x->redact)
		redact_free(x->redact);
	for (i = 0; i < 2; i++) {
		fd_close(&x->control[i]);
		fd_close(&x->console[i]);
		fd_close(&x->streams[i].from);
		outlet_free(&x->outlets[i]);
	}
	fd_close(&x->warm_sock);
	if (x->r->warm)
		fd_close(&x->box.pidfd);
	loop_signals_give_back(&x->signals);
	box_root_close(&x->root);
}

void run_begin(struct running *x, const struct box_request *q, struct arena *a,
	       struct box_result *ret)
{
	*x = (struct running){
		.q = q,
		.a = a,
		.r = ret,
		.pipes = {{-1, -1}, {-1, -1}, {-1, -1}},
		.control = {-1, -1},
		.console = {-1, -1},
		.input = INPUT_NONE,
		.input_at = -1,
		.terminal = TERMINAL_NONE,
		.signals = LOOP_SIGNALS_NONE,
		.streams = {{.from = -1}, {.from = -1}},
		.workspace = WORKSPACE_NONE,
		.boxes = CGROUP_BOXES_NONE,
		.denials = DENIALS_CLOSED,
		.resolver = RESOLVER_CLOSED,
		.network = NETWORK_NONE,
		.root = BOX_ROOT_NONE,
		.disk = DISK_NONE,
		.warm_sock = -1,
		.begun = loop_now(),
	};
	*ret = (struct box_result){
		.id = run_new_id(a),
		.language = q->language,
		.status = BOX_SANDBOX_ERROR,
		.exit_code = -1,
		.limits = q->limits,
		.notes = {.arena = a},
		.rootfs = "",
		.disk_backing = q->sandbox ? sandbox_backing(&q->sandbox->facts) :
				box_workspace_is_volume(q) ? "volume" : "memory",
	};
	ret->limits.disk = box_workspace_size(&q->limits);
	ret->sandbox_id = q->sandbox ? q->sandbox->id : NULL;
	later_look(q, a, &x->later);
}

int run_find_root(struct running *x, struct box_request *own, struct error *e)
{
	const char *note;

	if (denials_settle_request(own, &note, e) < 0)
		return -1;
	if (note)
		run_note(x, note);
	if ((own->sandbox ? sandbox_root(own->sandbox, &x->root) :
			    box_root_find(own, x->a, &x->root, e)) < 0)
		return -1;
	timing_mark("root found");
	x->r->rootfs = x->root.name;
	if (x->root.note)
		run_note(x, x->root.note);
	/* A box that stays is not for one language alone. */
	if (!own->sandbox)
		box_choose_profile(own, &x->root, x->a);
	x->r->profile = own->profile;
	return box_expand_rules(own, &x->root, x->a, e);
}

int box_run(const struct box_request *q, struct arena *a, struct box_result *ret, struct error *e)
{
	static const int left_out[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGPIPE};
	struct box_request own = *q;
	struct running x;
	int result;

	run_begin(&x, &own, a, ret);
	result = run_find_root(&x, &own, e);
	if (result == 0)
		result = loop_signals_take(left_out, ARRAY_SIZE(left_out), &x.signals, e);
	if (result == 0)
		result = workspace_open_target(&x.workspace, q, e);
	if (q->policy && !str_eq(q->policy, "code"))
		run_note(&x, arena_printf(a, "the box is held to the policy %s, and not to code",
					  q->policy));
	if (result == 0)
		result = run_read_rules(&x, e);
	if (result == 0)
		pool_take(&x);
	if (result == 0 && x.warm_sock < 0 && !q->sandbox && disk_is_wanted(q))
		result = run_make_disk(&x, &own, e);
	if (result == 0 && x.warm_sock < 0)
		result = run_open_pipes(&x, e);
	if (result == 0)
		result = run_in_box(&x, e);
	run_close(&x);
	if (result < 0) {
		ret->status = BOX_SANDBOX_ERROR;
		ret->error_class = e->class;
		err_set(e, e->class, "%s", box_words(e->text, a));
		if (!q->sandbox)
			box_refuse_all(q, a, e);
		run_fail(ret, "SandboxError", arena_strdup(a, e->text));
	}
	return result;
}
