/*
 * crash.c: the crash-point harness. SIGKILL at every system call of a runtime's verb, then `delete
 * --force`, then a look at what is left: cgroups, mounts, processes, state, temporary files and,
 * with --systemd, which asks the runtime for that driver, units.
 *
 *	crash --runtime R --bundle TEMPLATE [--verbs create,start,run,delete]
 *	      [--who parent|child|both|tied|pipe] [--sample N] [--calls LIST] [--tag NAME] [--watch
 *	      DIR]… [--rush] [--seed S] [--only PROC:N] [--systemd] [--ask PROGRAM]
 *
 * TEMPLATE/config.json holds @ID@ (in cgroupsPath, so that leftover cgroups can be found) and
 * @ARGS@ (the program's arguments: /bin/sleep or /bin/true, by verb). Each point gets a container
 * of its own with a new id.
 *
 * Who dies: parent is the process of the command line; child is any process it makes, up to its
 * execve of the program. For start the child is the container's waiting init. tied and pipe: it is
 * the caller that dies, a process that called the runtime and held the other ends of its standard
 * streams; as tied it had asked the kernel to kill the runtime then, as pipe the runtime goes on.
 *
 * --sample N takes N points of each verb and side, evenly spread, or with --seed S one of each
 * stretch by chance; --calls only those of system calls with these names.
 *
 * --ask PROGRAM is called before the deletion, with the runtime, its --root, the container's id and
 * the verb; if it fails, the point is dirty, and the first line that it says is why.
 *
 * One line `ok NAME` or `not ok NAME: …` for each verb and side, lines with `#` before it say what
 * was left where.
 */
#define _GNU_SOURCE
#include "box.h"

#include <getopt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whose system calls are counted, and who dies. */
struct side {
	const char *name;
	bool child; /* the calls of children; else those of the parent */
	enum trace_caller caller;
	bool by_default; /* part of "both" */
};

static const struct side sides[] = {
	{ "parent", false, CALLER_NONE, true },
	{ "child", true, CALLER_NONE, true },
	{ "tied", false, CALLER_TIED, false },
	{ "pipe", false, CALLER_PIPE, false },
};

struct options {
	const char *verbs;
	const char *who;
	const char *tag;
	const char *calls;    /* NULL: all */
	unsigned long sample; /* 0: all points */
	const char *ask;      /* NULL: nobody */
	bool rush;	      /* delete at once, while survivors are still on their way */
	int only_proc;	      /* -1: not one point only */
	unsigned long only_at;
};

/* One harness run. */
struct crash {
	struct options opt;
	struct box box;
};

struct tally {
	unsigned long points, clean, dirty, rc, hung, missed;
	unsigned long kind[LEAK_KINDS];
};

/* What the verb does without a kill. */
static struct trace_call calls[CALLS_MAX];

/* The one run of this program; static so that die() can tidy up. */
static struct crash run;

static volatile sig_atomic_t stop_asked;

static void on_signal(int sig)
{
	(void)sig;
	stop_asked = 1;
}

/* Does the verb once, with at most one process killed. */
static void act(struct crash *c, const struct verb *v, const struct side *s,
		const struct trace_call *p, struct trace_result *ret)
{
	char **argv = box_command(&c->box, v->argv);
	struct trace_spec spec = {
		.argv = argv,
		.attach = v->init_too	   ? box_init_pid(&c->box) :
			  v->lab == WITH_CARRIER ? box_carrier_pid() :
					   0,
		.payload = box_program(&c->box, v),
		.log_fd = c->box.log_fd,
		.victim = p ? (int)p->proc : -1,
		.at = p ? p->at : 0,
		.nth = p ? p->nth : 0,
		.nr = p ? p->nr : 0,
		.caller = s->caller,
		.ret_calls = p ? NULL : calls,
		.max_calls = p ? 0 : CALLS_MAX,
		.limit_ms = TRACE_MS,
	};

	trace_run(&spec, ret);
	box_name(&c->box, ret->pid);
	command_free(argv);
	if (!p || !c->opt.rush)
		leak_settle(SETTLE_MS);
}

/* NULL, or why it is not content. */
static char *ask(const struct crash *c, const struct verb *v)
{
	char *argv[] = { (char *)(uintptr_t)c->opt.ask, (char *)(uintptr_t)c->box.runtime,
			 (char *)(uintptr_t)c->box.place.state, c->box.id,
			 (char *)(uintptr_t)v->name, NULL };
	char *said, *end;

	if (!c->opt.ask)
		return NULL;
	box_log_clear(&c->box);
	if (plain_run(argv, c->box.log_fd, VERB_MS) == 0)
		return NULL;
	said = box_log(&c->box);
	end = strchr(said, '\n');
	if (end)
		*end = '\0';
	return said;
}

static void print_point(const struct crash *c, const struct verb *v, const struct side *s,
			const struct trace_call *p, const struct trace_result *r, int status,
			const struct leaks *l, const char *asked)
{
	char *log = box_log(&c->box), *left = leaks_text(l), *end;

	printf("# dirty: %s %s", v->name, s->name);
	if (p->proc > 1)
		printf(" %zu", p->proc);
	printf(" at %lu (%s)%s%s", p->at, syscall_name(r->nr), r->hung ? ", hung" : "", left);
	if (asked)
		printf("; asked: %.160s", asked);
	if (status == -1)
		printf("; delete hung");
	else if (status != 0) {
		end = strchr(log, '\n');
		if (end)
			*end = '\0';
		printf("; delete status %#x: %.160s", (unsigned)status, log);
	}
	putchar('\n');
	free(left);
	free(log);
}

static void try_point(struct crash *c, const struct verb *v, const struct side *s,
		      const struct trace_call *p, struct tally *t)
{
	struct trace_result r;
	struct leaks l = { 0 };
	char *asked;
	bool dirty;
	int status;

	box_prepare(&c->box, v);
	act(c, v, s, p, &r);
	asked = ask(c, v);
	box_log_clear(&c->box);
	status = box_remove(&c->box, &l);
	dirty = status != 0 || r.hung || !leak_none(&l) || asked;
	if (dirty)
		print_point(c, v, s, p, &r, status, &l, asked);
	free(asked);
	t->rc += status != 0;
	t->hung += r.hung;
	t->missed += !r.reached;
	t->points += r.reached;
	t->dirty += dirty;
	t->clean += r.reached && !dirty;
	for (size_t k = 0; k < LEAK_KINDS; k++)
		t->kind[k] += l.kind[k].n > 0;
	leak_remove(&c->box.place);
	leak_free(&l);
	fflush(stdout);
}

/* A run without a kill: warms up, counts the system calls, and must itself leave nothing. */
static bool count(struct crash *c, const struct verb *v, struct trace_result *ret)
{
	struct leaks l = { 0 };
	bool clean;

	box_prepare(&c->box, v);
	act(c, v, &sides[0], NULL, ret);
	if (ret->ncalls == CALLS_MAX)
		die("%s: more than %d system calls", v->name, CALLS_MAX);
	if (ret->hung || ret->status != 0)
		die("%s fails without a kill: status %#x%s\n%s", v->name, (unsigned)ret->status,
		    ret->hung ? ", hung" : "", box_log(&c->box));
	clean = box_remove(&c->box, &l) == 0 && leak_none(&l);
	if (!clean) {
		char *left = leaks_text(&l);

		printf("not ok crash %s%s: not clean without a kill%s\n", c->opt.tag, v->name,
		       left);
		free(left);
	}
	leak_remove(&c->box.place);
	leak_free(&l);
	return clean;
}

static bool is_wanted(const struct crash *c, const struct trace_call *p, bool child)
{
	return (p->proc > 0) == child &&
	       (!c->opt.calls || box_wanted(c->opt.calls, syscall_name(p->nr)));
}

static bool report(const struct crash *c, const struct verb *v, const char *who,
		   unsigned long total, const struct tally *t)
{
	char *line =
		text("%s %s: %lu syscalls, %lu points, %lu clean, %lu dirty; delete rc!=0: %lu;",
		     v->name, who, total, t->points, t->clean, t->dirty, t->rc);
	bool good = t->dirty == 0 && t->points > 0;

	for (size_t k = 0; k < LEAK_KINDS; k++) {
		char *more = text("%s %s %lu", line, leak_names[k], t->kind[k]);

		free(line);
		line = more;
	}
	if (good)
		printf("# %s; hung %lu, not reached %lu\nok crash %s%s-%s\n", line, t->hung,
		       t->missed, c->opt.tag, v->name, who);
	else
		printf("not ok crash %s%s-%s: %s; hung %lu, not reached %lu\n", c->opt.tag, v->name,
		       who, line, t->hung, t->missed);
	fflush(stdout);
	free(line);
	return good;
}

static bool do_side(struct crash *c, const struct verb *v, const struct trace_result *r,
		    const struct side *s)
{
	static struct trace_call points[CALLS_MAX];
	unsigned long total = 0, n;
	struct tally t = { 0 };

	for (size_t i = 0; i < r->ncalls; i++)
		if (is_wanted(c, &calls[i], s->child))
			points[total++] = calls[i];
	if (total == 0) {
		printf("# %s: nothing to kill as %s\n", v->name, s->name);
		return true;
	}
	n = c->opt.sample && c->opt.sample < total ? c->opt.sample : total;
	for (unsigned long i = 0; i < n && !stop_asked; i++)
		try_point(c, v, s, &points[spread(i, n, total)], &t);
	return report(c, v, s->name, total, &t);
}

static bool do_verb(struct crash *c, const struct verb *v)
{
	struct trace_result r;
	bool good, both = strcmp(c->opt.who, "both") == 0;

	good = count(c, v, &r);
	if (c->opt.only_proc >= 0) {
		struct trace_call p = { .proc = (size_t)c->opt.only_proc, .at = c->opt.only_at };
		struct tally t = { 0 };

		try_point(c, v, &sides[p.proc ? 1 : 0], &p, &t);
		return report(c, v, p.proc ? "child" : "parent", r.calls[p.proc], &t);
	}
	for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++)
		if (both ? sides[i].by_default : box_wanted(c->opt.who, sides[i].name))
			good = do_side(c, v, &r, &sides[i]) && good;
	return good;
}

static void options_read(struct crash *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "runtime", required_argument, NULL, 'r' },
		{ "bundle", required_argument, NULL, 'b' },
		{ "verbs", required_argument, NULL, 'v' },
		{ "who", required_argument, NULL, 'w' },
		{ "sample", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'E' },
		{ "calls", required_argument, NULL, 'c' },
		{ "tag", required_argument, NULL, 't' },
		{ "watch", required_argument, NULL, 'W' },
		{ "rush", no_argument, NULL, 'R' },
		{ "only", required_argument, NULL, 'o' },
		{ "systemd", no_argument, NULL, 'S' },
		{ "ask", required_argument, NULL, 'a' },
		{ NULL, 0, NULL, 0 },
	};
	struct options *o = &c->opt;
	int k;

	*o = (struct options){
		.verbs = "create,start,run,delete", .who = "both", .tag = "", .only_proc = -1
	};
	while ((k = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (k) {
		case 'r':
			c->box.runtime = optarg;
			break;
		case 'b':
			c->box.template = optarg;
			break;
		case 'v':
			o->verbs = optarg;
			break;
		case 'w':
			o->who = optarg;
			break;
		case 's':
			o->sample = strtoul(optarg, NULL, 10);
			break;
		case 'E':
			spread_seed = strtoul(optarg, NULL, 10);
			break;
		case 'c':
			o->calls = optarg;
			break;
		case 't':
			o->tag = text("%s-", optarg);
			break;
		case 'W':
			names_add(&c->box.place.temp, optarg);
			break;
		case 'R':
			o->rush = true;
			break;
		case 'o':
			if (sscanf(optarg, "%d:%lu", &o->only_proc, &o->only_at) != 2)
				die("--only wants PROC:N");
			break;
		case 'a':
			o->ask = optarg;
			break;
		case 'S':
			c->box.systemd = true;
			break;
		default:
			die("see the head of crash.c for the options");
		}
	}
	if (!c->box.runtime || !c->box.template || optind != argc)
		die("--runtime and --bundle are needed");
}

static void tidy_up(void)
{
	box_close(&run.box);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct crash *c = &run;
	bool good = true;
	size_t done = 0;

	options_read(c, argc, argv);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	box_open(&c->box);
	die_cleanup = tidy_up;
	for (size_t i = 0; i < verbs_n && !stop_asked; i++) {
		if (!box_wanted(c->opt.verbs, verbs[i].name))
			continue;
		good = do_verb(c, &verbs[i]) && good;
		done++;
	}
	if (!done)
		die("no such verb: %s", c->opt.verbs);
	tidy_up();
	return good && !stop_asked ? 0 : 1;
}
