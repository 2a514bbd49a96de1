/* A box before its program: pipes, the container, and what the reaper is told. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/timing.h"
#include "box/network_stay.h"
#include "box/profiles.h"
#include "box/running.h"
#include "box/sandbox.h"

static bool run_is_null(int fd)
{
	struct stat st;

	return fd < 0 || (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
			  st.st_rdev == makedev(1, 3));
}

/* The program's input comes through a pipe: a file of the caller's in its hands could be written,
 * truncated, locked. */
int run_open_pipes(struct running *x, struct error *e)
{
	size_t i;
	int *p;

	if (x->q->terminal && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, x->console) < 0)
		return err_sys(e, "make a socket");
	for (i = 0; i < 3 && !x->q->terminal; i++) {
		p = x->pipes[i];
		if (i == 0 && !x->q->waits && run_is_null(x->q->stdin_fd))
			p[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		else if (pipe2(p, O_CLOEXEC) < 0)
			return err_sys(e, "make a pipe");
		if (p[0] < 0)
			return err_sys(e, "open /dev/null");
		if (i > 0) {
			int other = p[0];

			p[0] = p[1]; /* it writes, and we read */
			p[1] = other;
		}
		if (p[1] >= 0 && fcntl(p[1], F_SETFL, O_NONBLOCK) < 0)
			return err_sys(e, "set up a pipe");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, x->control) < 0)
		return err_sys(e, "make a socket");
	return 0;
}

/* A reader of events learns before the program runs what can't be had. */
void run_note(struct running *x, const char *text)
{
	struct noted *notes = &x->r->notes;
	struct buf b = buf_new(x->a, RUN_TEXT_MAX);

	noted_take(notes, box_words(text, x->a));
	if (x->q->output == OUTPUT_KEEP)
		return;
	box_tell_note(notes->notes.v[notes->notes.n - 1], x->q->output == OUTPUT_EVENTS, &b);
	x->r->notes_told = notes->notes.n;
	(void)!fd_write_all(x->q->output == OUTPUT_EVENTS ? STDOUT_FILENO : STDERR_FILENO, b.data,
			    b.len);
}

static void run_take_note(void *context, const char *text)
{
	run_note(context, text);
}

struct create_options box_options(const struct box_request *q, const struct box_root *root)
{
	return (struct create_options){
		.root = q->state_root,
		.bundle = root->path,
		.console_fd = -1,
		.policy = q->policy ? q->policy : "code",
		.strict = q->strict_limits,
		.no_cgroups = q->no_cgroups,
		.systemd = q->systemd,
		.systemd_timeout_s = q->systemd_timeout_s,
		.learning = q->learning,
		.take_listener = q->denials != DENIALS_NONE,
		.box = {.ids_if_possible = !q->policy,
			.limits_if_possible = true,
			.few_cgroups = true,
			.reaped = true,
			.keep_root = true,
			.program_comes = q->language && q->language->compile[0] && !q->compiles,
			.pure = q->pure,
			.observe = q->denials == DENIALS_FULL  ? OBSERVE_FULL :
				   q->denials == DENIALS_CALLS ? OBSERVE_CALLS :
								 OBSERVE_NOTHING},
	};
}

/* Closes what only the box needs. */
static void run_close_theirs(struct running *x)
{
	size_t i;

	fd_close(&x->control[0]);
	fd_close(&x->console[0]);
	x->input_at = fd_steal(&x->pipes[0][0]); /* until it is known whether it is of use */
	for (i = 1; i < 3; i++)
		fd_close(&x->pipes[i][0]);
}

/* Before the program is there. Packages have a network of their own. */
int run_join_network(struct running *x, struct error *e)
{
	const struct network_rules *alone = x->q->alone;
	const int result = alone ? network_join_alone(x->q->sandbox, alone, &x->network, e) :
				   network_join(x->q->sandbox, &x->network, x->a, e);

	x->r->limits.network = x->network.control_fd >= 0;
	return result;
}

/* In a box that is there already. */
int run_join(struct running *x, struct error *e)
{
	const int streams[3] = {x->pipes[0][0], x->pipes[1][0], x->pipes[2][0]};
	int listener_fd = -1;

	if (run_join_network(x, e) < 0 ||
	    sandbox_join(x->q, x->network.control_fd >= 0, streams, x->control[0], x->a, &x->box,
			 &listener_fd, e) < 0)
		return -1;
	x->is_made = true;
	run_close_theirs(x);
	denials_open(&x->denials, x->q, &x->box.judge, listener_fd, x->a);
	x->denials.reaper = x->box.pid;
	if (x->network.control_fd >= 0)
		x->denials.network = &x->network;
	else if (x->q->denials == DENIALS_FULL)
		resolver_open(&x->resolver, x->box.pidfd, &x->denials);
	return 0;
}

int run_make_disk(struct running *x, struct box_request *own, struct error *e)
{
	if (disk_make(own, x->r->id, x->a, &x->disk, e) < 0)
		return -1;
	own->workspace_dir = x->disk.path;
	x->r->disk_backing = "disk";
	if (x->disk.note)
		run_note(x, x->disk.note);
	timing_mark("disk made");
	return 0;
}

int box_cgroup_open(const struct box_request *q, bool start, const char *id, struct arena *a,
		    struct cgroup_boxes *ret, struct box_root *root, struct error *e)
{
	if (q->no_cgroups || q->own_cgroups || q->systemd)
		return 0;
	if (life_open_boxes(start, a, ret, e) < 0)
		return -1;
	if (ret->path)
		root->cgroup = arena_printf(a, "%s/%s", ret->path, id);
	return 0;
}

/* Names are asked of it then, and what is seen of connections it is told. */
static int run_open_network(struct running *x, struct error *e)
{
	const struct network_rules r = box_network_rules(x->q);
	const char *note = network_note(&x->q->allow, &x->q->deny, x->a);

	if (note)
		run_note(x, note);
	if (network_open(&x->network, &r, x->box.pidfd, e) < 0)
		return -1;
	x->denials.network = &x->network;
	timing_mark("network of the box open");
	return 0;
}

int run_create(struct running *x, struct error *e)
{
	const struct box_request *q = x->q;
	const int streams[3] = {x->pipes[0][0], x->pipes[1][0], x->pipes[2][0]};
	const struct noter noter = {.take = run_take_note, .context = x};
	struct buf config = buf_new(x->a, RUN_TEXT_MAX);
	const struct given_tree given = {BOX_WORKSPACE, x->disk.tree_fd};
	struct create_options o = box_options(q, &x->root);
	int listener_fd = -1;

	o.id = x->r->id;
	o.console_fd = x->console[0];
	o.streams = q->terminal ? NULL : streams;
	o.box.control_fd = x->control[0];
	o.box.given = &given;
	o.box.n_given = given.tree_fd >= 0 ? 1 : 0;
	o.noter = &noter;
	if (box_cgroup_open(q, true, x->r->id, x->a, &x->boxes, &x->root, e) < 0 ||
	    box_config_write(q, &x->root, x->a, &config, e) < 0)
		return -1;
	o.config_text = config.data;
	o.config_len = config.len;
	if (life_create(&o, x->a, &x->box, e) < 0)
		return -1;
	x->is_made = true;
	cgroup_boxes_close(&x->boxes);
	x->box.noter = NULL; /* what comes now is no longer about limits */
	run_close_theirs(x);
	if (q->terminal && terminal_take(&x->terminal, x->console[1], e) < 0)
		return -1;
	if (life_launch(&x->box, &listener_fd, x->a, e) < 0)
		return -1;
	denials_open(&x->denials, q, &x->box.judge, listener_fd, x->a);
	x->denials.reaper = x->box.pid;
	if (q->limits.network)
		return run_open_network(x, e);
	if (q->denials == DENIALS_FULL)
		resolver_open(&x->resolver, x->box.pidfd, &x->denials);
	return 0;
}

/* As many of our own processors as the box may use; else programs start a thread for each of the
 * machine's. Which ones is drawn, so that boxes don't crowd together; pids of boxes that follow
 * each other are a few apart, mostly the same number each time. */
static void run_choose_cpus(const struct running *x, uint64_t cpus[REAPER_CPU_WORDS])
{
	const uint32_t drawn = (uint32_t)x->box.pid * 2654435761U >> 16; /* Knuth's factor */
	unsigned int want = (x->q->limits.cpus + 999) / 1000, all, at = 0, skip;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	all = (unsigned int)CPU_COUNT(&set);
	if (want >= all)
		return;
	for (skip = drawn % all; want; at = (at + 1) % CPU_SETSIZE) {
		if (!CPU_ISSET(at, &set))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		cpus[at / 64] |= UINT64_C(1) << at % 64;
		want--;
	}
}

/* It passes on to whatever the program starts, and node or java, where they are at hand, would
 * end. */
bool run_denies_write_execute(const struct running *x)
{
	return x->q->language && !x->q->language->just_in_time && box_is_own_root(x->q, &x->root);
}

/* By the loop: the reaper may have to wait for an answer of ours before it reads on. */
void run_send_order(struct running *x)
{
	const struct box_language *l = x->q->language;
	const bool compiled = l && l->compile[0] && !x->q->compiles;
	const char *file = l ? box_code_path(x->q, x->a) : "";
	struct reaper_order order = {
		.name_size = l ? (uint32_t)strlen(file) + 1 : 0,
		.file_mode = compiled ? 0700 : 0600,
		.file_size = x->q->code_len,
		.deny_write_execute = run_denies_write_execute(x),
		.beside = x->q->sandbox && x->q->sandbox->has_sessions,
		.later = x->q->waits,
	};

	run_choose_cpus(x, order.cpus);
	outlet_put(&x->orders, &order, sizeof(order));
	if (l) {
		outlet_put(&x->orders, file, order.name_size);
		outlet_put(&x->orders, x->q->code, x->q->code_len);
	}
}
