/*
 * crash.c: the crash-point harness. SIGKILL at every system call of a runtime's verb, then `delete
 * --force`, then a look at what is left: cgroups, mounts, processes, state, temporary files.
 *
 *	crash --runtime R --bundle TEMPLATE [--verbs create,start,run,delete]
 *	      [--who parent|child|both] [--sample N] [--tag NAME] [--watch DIR]…
 *	      [--rush] [--only PROC:N]
 *
 * TEMPLATE/config.json holds @ID@ (in cgroupsPath, so that leftover cgroups can be found) and
 * @ARGS@ (the program's arguments: /bin/sleep or /bin/true, by verb). Each point gets a container
 * of its own with a new id.
 *
 * parent is the process of the command line; child is any process it makes, up to its execve of the
 * program. For start the child is the container's waiting init. One line `ok NAME` or `not ok NAME:
 * …` for each verb and side, lines with `#` before it say what was left where.
 */
#define _GNU_SOURCE
#include "leak.h"
#include "tool.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TRACE_MS = 15000,
	VERB_MS = 15000,
	SETTLE_MS = 3000,
	GRACE_MS = 300, /* a killed process needs a moment to be gone */
	ARGS = 12,
};

/* What must exist before the verb. */
enum need { NEED_NOTHING, NEED_CREATED, NEED_RUNNING, NEED_STOPPED };

/* A word of a verb's arguments that is filled in for each point. */
#define A_ID "@id"
#define A_BUNDLE "@bundle"
#define A_PIDFILE "@pidfile"

struct verb {
	const char *name;
	enum need need;
	bool lasting;  /* the program sleeps; else it ends at once */
	bool init_too; /* the container's init is the child */
	const char *argv[ARGS];
};

/* clang-format off */
static const struct verb verbs[] = {
	{ "create",       NEED_NOTHING, true,  false,
	  { "create", "--bundle", A_BUNDLE, "--pid-file", A_PIDFILE, A_ID } },
	{ "start",        NEED_CREATED, true,  true,  { "start", A_ID } },
	{ "run",          NEED_NOTHING, false, false, { "run", "--bundle", A_BUNDLE, A_ID } },
	{ "run-detach",   NEED_NOTHING, true,  false,
	  { "run", "--detach", "--bundle", A_BUNDLE, "--pid-file", A_PIDFILE, A_ID } },
	{ "kill",         NEED_RUNNING, true,  false, { "kill", A_ID, "KILL" } },
	{ "delete",       NEED_STOPPED, false, false, { "delete", A_ID } },
	{ "delete-force", NEED_RUNNING, true,  false, { "delete", "--force", A_ID } },
};
/* clang-format on */

static const char *const create_argv[ARGS] = { "create",     "--bundle", A_BUNDLE,
					       "--pid-file", A_PIDFILE,	 A_ID };
static const char *const start_argv[ARGS] = { "start", A_ID };
static const char *const remove_argv[ARGS] = { "delete", "--force", A_ID };

struct options {
	const char *runtime;
	const char *template;
	const char *verbs;
	const char *who;
	const char *tag;
	unsigned long sample; /* 0: all points */
	bool rush;	      /* delete at once, while survivors are still on their way */
	int only_proc;	      /* -1: not one point only */
	unsigned long only_at;
};

/* One harness run. */
struct crash {
	struct options opt;
	struct place place;
	char *bundle;
	char *pidfile;
	char *config; /* the template's text */
	int log_fd;
	unsigned serial;
	char *id;
};

struct point {
	size_t proc;
	unsigned long at;
};

struct tally {
	unsigned long points, clean, dirty, rc, hung, missed;
	unsigned long kind[LEAK_KINDS];
};

/* The one run of this program; static so that die() can tidy up. */
static struct crash run;

static volatile sig_atomic_t stop_asked;

static void on_signal(int sig)
{
	(void)sig;
	stop_asked = 1;
}

static const char *syscall_name(long nr)
{
	/* clang-format off */
	static const struct { long nr; const char *name; } table[] = {
#include "syscall-names.h"
	};
	/* clang-format on */
	static char number[32];

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].nr == nr)
			return table[i].name;
	snprintf(number, sizeof(number), "syscall %ld", nr);
	return number;
}

/* The runtime's command line for a verb; the caller frees the array only. */
static char **command(const struct crash *c, const char *const *args)
{
	char **v = calloc(ARGS + 4, sizeof(*v));
	size_t n = 0;

	if (!v)
		die("out of memory");
	v[n++] = text("%s", c->opt.runtime);
	v[n++] = text("--root");
	v[n++] = text("%s", c->place.state);
	for (size_t i = 0; i < ARGS && args[i]; i++) {
		const char *a = args[i];

		if (strcmp(a, A_ID) == 0)
			a = c->id;
		else if (strcmp(a, A_BUNDLE) == 0)
			a = c->bundle;
		else if (strcmp(a, A_PIDFILE) == 0)
			a = c->pidfile;
		v[n++] = text("%s", a);
	}
	return v;
}

static void command_free(char **v)
{
	for (size_t i = 0; v[i]; i++)
		free(v[i]);
	free(v);
}

static int run_plain(const struct crash *c, const char *const *args)
{
	char **v = command(c, args);
	int status = plain_run(v, c->log_fd, VERB_MS);

	command_free(v);
	return status;
}

static char *log_text(const struct crash *c)
{
	char *path = text("%s/log", c->place.work);
	char *s = file_read(path, NULL);

	free(path);
	return s ? s : text("%s", "");
}

static void must_run(const struct crash *c, const char *const *args)
{
	int status = run_plain(c, args);

	if (status != 0)
		die("%s: status %#x while preparing\n%s", args[0], (unsigned)status, log_text(c));
}

static pid_t init_pid(const struct crash *c)
{
	char *s = file_read(c->pidfile, NULL);
	pid_t pid = s ? (pid_t)strtol(s, NULL, 10) : 0;

	free(s);
	if (pid <= 0)
		die("no pid in the pid file");
	return pid;
}

/* The container's program ends by itself; it is our child, so it must be reaped too. */
static void wait_stopped(pid_t pid)
{
	long long end = now_ms() + VERB_MS;

	while (kill(pid, 0) == 0) {
		(void)reap_one(5);
		if (now_ms() > end)
			die("the container's program does not end");
	}
}

/* Makes a new id and bundle, and the container in the state that the verb needs. */
static void prepare(struct crash *c, const struct verb *v)
{
	const char *args = v->lasting ? "\"/bin/sleep\", \"1000\"" : "\"/bin/true\"";
	char *half, *whole, *path;

	free(c->id);
	c->id = text("crash%dx%05u", getpid(), ++c->serial);
	c->place.id = c->id;
	half = text_replace(c->config, "@ID@", c->id);
	whole = text_replace(half, "@ARGS@", args);
	path = text("%s/config.json", c->bundle);
	file_write(path, whole);
	free(half);
	free(whole);
	free(path);
	(void)unlink(c->pidfile);
	if (ftruncate(c->log_fd, 0) < 0)
		die("ftruncate: %s", strerror(errno));
	if (v->need == NEED_NOTHING)
		return;
	must_run(c, create_argv);
	if (v->need == NEED_CREATED)
		return;
	must_run(c, start_argv);
	if (v->need == NEED_STOPPED)
		wait_stopped(init_pid(c));
}

/* Does the verb once, with at most one process killed. */
static void act(struct crash *c, const struct verb *v, const struct point *p,
		struct trace_result *ret)
{
	char **argv = command(c, v->argv);
	struct trace_spec spec = {
		.argv = argv,
		.attach = v->init_too ? init_pid(c) : 0,
		.payload = v->lasting ? "/bin/sleep" : "/bin/true",
		.log_fd = c->log_fd,
		.victim = p ? (int)p->proc : -1,
		.at = p ? p->at : 0,
		.limit_ms = TRACE_MS,
	};

	trace_run(&spec, ret);
	command_free(argv);
	if (!p || !c->opt.rush)
		leak_settle(SETTLE_MS);
}

/* delete --force, then everything that is still there after a moment. */
static int remove_and_look(struct crash *c, struct leaks *ret)
{
	int status = run_plain(c, remove_argv);
	long long end = now_ms() + GRACE_MS;

	/* the caller's own file, which the verb was asked to write */
	(void)unlink(c->pidfile);
	leak_find(&c->place, ret);
	while (!leak_none(ret) && now_ms() < end) {
		(void)reap_one(20);
		leak_find(&c->place, ret);
	}
	return status;
}

static void print_leaks(const struct leaks *l)
{
	for (size_t k = 0; k < LEAK_KINDS; k++) {
		if (!l->kind[k].n)
			continue;
		printf("; %s %zu:", leak_names[k], l->kind[k].n);
		for (size_t i = 0; i < l->kind[k].n && i < 3; i++)
			printf(" %s", l->kind[k].v[i]);
		if (l->kind[k].n > 3)
			printf(" …");
	}
}

static void print_point(const struct crash *c, const struct verb *v, const struct point *p,
			const struct trace_result *r, int status, const struct leaks *l)
{
	char *log = log_text(c), *end;

	printf("# dirty: %s %s", v->name, p->proc ? "child" : "parent");
	if (p->proc > 1)
		printf(" %zu", p->proc);
	printf(" at %lu (%s)%s", p->at, syscall_name(r->nr), r->hung ? ", hung" : "");
	print_leaks(l);
	if (status == -1)
		printf("; delete hung");
	else if (status != 0) {
		end = strchr(log, '\n');
		if (end)
			*end = '\0';
		printf("; delete status %#x: %.160s", (unsigned)status, log);
	}
	putchar('\n');
	free(log);
}

static void try_point(struct crash *c, const struct verb *v, const struct point *p, struct tally *t)
{
	struct trace_result r;
	struct leaks l = { 0 };
	bool dirty;
	int status;

	prepare(c, v);
	act(c, v, p, &r);
	if (ftruncate(c->log_fd, 0) < 0)
		die("ftruncate: %s", strerror(errno));
	status = remove_and_look(c, &l);
	dirty = status != 0 || r.hung || !leak_none(&l);
	if (dirty)
		print_point(c, v, p, &r, status, &l);
	t->rc += status != 0;
	t->hung += r.hung;
	t->missed += !r.reached;
	t->points += r.reached;
	t->dirty += dirty;
	t->clean += r.reached && !dirty;
	for (size_t k = 0; k < LEAK_KINDS; k++)
		t->kind[k] += l.kind[k].n > 0;
	leak_remove(&c->place);
	leak_free(&l);
	fflush(stdout);
}

/* A run without a kill: warms up, counts the system calls, and must itself leave nothing. */
static bool count(struct crash *c, const struct verb *v, struct trace_result *ret)
{
	struct leaks l = { 0 };
	bool clean;

	prepare(c, v);
	act(c, v, NULL, ret);
	if (ret->hung || ret->status != 0)
		die("%s fails without a kill: status %#x%s\n%s", v->name, (unsigned)ret->status,
		    ret->hung ? ", hung" : "", log_text(c));
	clean = remove_and_look(c, &l) == 0 && leak_none(&l);
	if (!clean) {
		printf("not ok crash %s%s: not clean without a kill", c->opt.tag, v->name);
		print_leaks(&l);
		putchar('\n');
	}
	leak_remove(&c->place);
	leak_free(&l);
	return clean;
}

/* The i-th of n points spread evenly over total, both ends included. */
static unsigned long spread(unsigned long i, unsigned long n, unsigned long total)
{
	return n < 2 ? total / 2 : i * (total - 1) / (n - 1);
}

/* The k-th system call of the chosen side, counted through its processes in order of birth. */
static struct point pick(const struct trace_result *r, bool child, unsigned long k)
{
	size_t proc = child ? 1 : 0;

	while (k >= r->calls[proc])
		k -= r->calls[proc++];
	return (struct point){ proc, k + 1 };
}

static bool report(const struct crash *c, const struct verb *v, const char *who,
		   unsigned long calls, const struct tally *t)
{
	char *line =
		text("%s %s: %lu syscalls, %lu points, %lu clean, %lu dirty; delete rc!=0: %lu;",
		     v->name, who, calls, t->points, t->clean, t->dirty, t->rc);
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

static bool do_side(struct crash *c, const struct verb *v, const struct trace_result *r, bool child)
{
	const char *who = child ? "child" : "parent";
	unsigned long total = 0, n;
	struct tally t = { 0 };

	for (size_t i = child ? 1 : 0; i < (child ? r->nprocs : 1); i++)
		total += r->calls[i];
	if (total == 0) {
		printf("# %s starts no process of its own: nothing to kill as child\n", v->name);
		return true;
	}
	n = c->opt.sample && c->opt.sample < total ? c->opt.sample : total;
	for (unsigned long i = 0; i < n && !stop_asked; i++) {
		struct point p = pick(r, child, spread(i, n, total));

		try_point(c, v, &p, &t);
	}
	return report(c, v, who, total, &t);
}

static bool do_verb(struct crash *c, const struct verb *v)
{
	struct trace_result r;
	bool good;

	good = count(c, v, &r);
	if (c->opt.only_proc >= 0) {
		struct point p = { (size_t)c->opt.only_proc, c->opt.only_at };
		struct tally t = { 0 };

		try_point(c, v, &p, &t);
		return report(c, v, p.proc ? "child" : "parent", r.calls[p.proc], &t);
	}
	if (strcmp(c->opt.who, "child") != 0)
		good = do_side(c, v, &r, false) && good;
	if (strcmp(c->opt.who, "parent") != 0)
		good = do_side(c, v, &r, true) && good;
	return good;
}

static bool wanted(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

static void options_read(struct crash *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "runtime", required_argument, NULL, 'r' },
		{ "bundle", required_argument, NULL, 'b' },
		{ "config", required_argument, NULL, 'b' },
		{ "verbs", required_argument, NULL, 'v' },
		{ "who", required_argument, NULL, 'w' },
		{ "sample", required_argument, NULL, 's' },
		{ "tag", required_argument, NULL, 't' },
		{ "watch", required_argument, NULL, 'W' },
		{ "rush", no_argument, NULL, 'R' },
		{ "only", required_argument, NULL, 'o' },
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
			o->runtime = optarg;
			break;
		case 'b':
			o->template = optarg;
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
		case 't':
			o->tag = text("%s-", optarg);
			break;
		case 'W':
			names_add(&c->place.temp, optarg);
			break;
		case 'R':
			o->rush = true;
			break;
		case 'o':
			if (sscanf(optarg, "%d:%lu", &o->only_proc, &o->only_at) != 2)
				die("--only wants PROC:N");
			break;
		default:
			die("see the head of crash.c for the options");
		}
	}
	if (!o->runtime || !o->template || optind != argc)
		die("--runtime and --bundle are needed");
}

static char *new_dir(const char *work, const char *name)
{
	char *path = text("%s/%s", work, name);

	if (mkdir(path, 0700) < 0)
		die("%s: %s", path, strerror(errno));
	return path;
}

/* Makes the directories of this run; the runtime's environment points into them. */
static void places_make(struct crash *c)
{
	const char *tmp = getenv("TMPDIR");
	char *work = text("%s/crash-XXXXXX", tmp ? tmp : "/tmp"), *path, *pid_dir;

	if (!mkdtemp(work))
		die("%s: %s", work, strerror(errno));
	c->place.work = work;
	c->place.state = new_dir(work, "state");
	c->bundle = new_dir(work, "bundle");
	pid_dir = new_dir(work, "pid");
	c->pidfile = text("%s/pid", pid_dir);
	path = new_dir(work, "tmp");
	names_add(&c->place.temp, c->bundle);
	names_add(&c->place.temp, pid_dir);
	names_add(&c->place.temp, path);
	setenv("TMPDIR", path, 1);
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("NOTIFY_SOCKET");
	unsetenv("LISTEN_FDS");
	free(path);
	path = text("%s/config.json", c->opt.template);
	c->config = file_read(path, NULL);
	if (!c->config)
		die("%s: %s", path, strerror(errno));
	free(path);
	path = text("%s/config.json", c->bundle);
	file_write(path, c->config);
	free(path);
	path = text("%s/log", work);
	c->log_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (c->log_fd < 0)
		die("%s: %s", path, strerror(errno));
	free(path);
	free(pid_dir);
}

static void be_tracer(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die("subreaper: %s", strerror(errno));
}

static void tidy_up(void)
{
	if (run.id)
		leak_remove(&run.place);
	tree_empty(run.place.work);
	(void)rmdir(run.place.work);
}

int main(int argc, char **argv)
{
	struct crash *c = &run;
	bool good = true;
	size_t done = 0;

	options_read(c, argc, argv);
	be_tracer();
	places_make(c);
	die_cleanup = tidy_up;
	leak_note_files(&c->place);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs) && !stop_asked; i++) {
		if (!wanted(c->opt.verbs, verbs[i].name))
			continue;
		good = do_verb(c, &verbs[i]) && good;
		done++;
	}
	if (!done)
		die("no such verb: %s", c->opt.verbs);
	tidy_up();
	return good && !stop_asked ? 0 : 1;
}
