/*
 * fault.c: the fault-injection harness. Every system call of a verb fails in turn with every errno
 * of a list, in the process of the command line and in those that it makes, up to the execve of the
 * program.
 *
 *	fault --runtime R --bundle TEMPLATE [--verbs LIST] [--who parent|child|both] [--errnos LIST]
 *	      [--sample N] [--seed S] [--calls LIST] [--without LIST] [--brief] [--tag NAME]
 *	      [--watch DIR]… [--only PROC:N] [--allocations [--every K]] [--systemd]
 *
 * Without --verbs it takes all but those that need a lab (box.c).
 *
 * What must hold after each fault:
 *   no crash	 no process of the runtime is ended by a signal
 *   not silent	 a status other than 0 comes with a message
 *   not weaker	 if the verb succeeded all the same, everything looks as it does without a fault:
 *		 what the probe (probe.c) says from inside, the container's status, its cgroups and
 *		 their limits. And if a program was started by a verb that failed, it was not
 *		 started with less protection
 *   no leftover after `delete --force` nothing is there
 *   no hang
 *
 * The caller (this program) has what a container must not inherit: a group, an ignored signal, a
 * session keyring, an ambient capability, a descriptor, a scheduling policy.
 *
 * --sample N takes N points of each verb and side, evenly spread, with the errnos in turn; with
 * --seed S one of each stretch by chance, and the errnos begin elsewhere; --calls only those of
 * system calls with these names. --without leaves calls out, by name: here one that fails has done
 * nothing, which is not so of every call. --brief leaves out what lies inside a row of the same
 * call (64 times rt_sigaction).
 * --allocations: not system calls but the allocations of memory fail, in a runtime that was linked
 * with alloc.c. With --every K only every K-th, --seed says which.
 * --systemd: containers are scopes of systemd, and what that says of them is looked at, too.
 */
#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	IMAGES = 2,
	PICTURE_MS = 20000, /* for a detached program to have said what it sees */
	CALLER_GROUP = 4242,
	CALLER_FD = 77,
};

static const struct fault_errno {
	const char *name;
	int value;
} errnos[] = {
	{ "EIO", EIO },	      { "ENOMEM", ENOMEM }, { "EMFILE", EMFILE },
	{ "ENOSPC", ENOSPC }, { "EINTR", EINTR },   { "EPERM", EPERM },
};
#define ERRNOS (sizeof(errnos) / sizeof(*errnos))

/* Where another way to the same end is by design. */
static const struct {
	long nr;
	int err;
} designed[] = {
	{ SYS_mknodat, EPERM }, /* a user namespace around us: the host's node is bound instead */
};

/* What can be wrong after a fault. */
enum wrong { CRASH, SILENT, WEAKER, LEFT, HUNG, WRONGS };
static const char *const wrong_names[WRONGS] = {"crashes", "silent", "weaker", "leftovers",
						"hangs"};

struct tally {
	unsigned long tried, refused, tolerated, missed;
	unsigned long wrong[WRONGS];
};

struct options {
	const char *verbs, *who, *errnos, *calls, *tag, *without;
	unsigned long sample, every;
	int only_proc;
	unsigned long only_at;
	bool brief;
	bool allocations;
};

static struct options opt;
static struct box box;
static struct trace_call calls[CALLS_MAX];
static char *baseline; /* the picture without a fault */
static volatile sig_atomic_t stop_asked;

static void on_signal(int sig)
{
	(void)sig;
	stop_asked = 1;
}

/* ---- the caller ---- */

/* Has what must not pass on; the text tells the probe what is the host's. */
static const char *be_caller(void)
{
	static const char *const names[] = { "cgroup", "ipc",  "mnt",  "net",
					     "pid",    "time", "user", "uts" };
	const gid_t group = CALLER_GROUP;
	struct sched_param none = { 0 };
	char *facts = text("%s", "");
	long serial;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = text("/proc/self/ns/%s", names[i]), link[64] = "", *more;

		/* An older kernel has no time namespaces. */
		if (readlink(path, link, sizeof(link) - 1) < 0 && errno != ENOENT)
			die("%s: %s", path, strerror(errno));
		more = text("%s%s;", facts, link);
		free(path);
		free(facts);
		facts = more;
	}
	serial = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0);
	if (serial < 0 || setgroups(1, &group) < 0 ||
	    sched_setscheduler(0, SCHED_BATCH, &none) < 0 || setpriority(PRIO_PROCESS, 0, 0) < 0 ||
	    dup2(open("/", O_RDONLY | O_CLOEXEC), CALLER_FD) < 0)
		die("keyring, groups, scheduler, nice or descriptor: %s", strerror(errno));
	signal(SIGUSR2, SIG_IGN);
	return text("%skey:%ld;", facts, serial);
}

/* ---- the picture ---- */

static const char *const limit_files[] = {
	"memory.limit_in_bytes", "memory.max", "memory.swap.max", "pids.max",	 "cpu.shares",
	"cpu.weight",		 "cpu.max",    "devices.list",	  "cpuset.cpus", "freezer.state",
	"cgroup.freeze",
};

static char *add(char *all, const char *more)
{
	char *s = text("%s%s", all, more);

	free(all);
	return s;
}

/* The container's cgroups, their limits, and whether something is in them. */
static char *picture_cgroups(char *all)
{
	struct names dirs = { NULL, 0 };

	leak_cgroups(&box.place, &dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		char *path = text("%s/cgroup.procs", dirs.v[i]), *s = file_read(path, NULL), *line;

		line = text("cgroup %s: %s\n", dirs.v[i], s && *s ? "in use" : "empty");
		all = add(all, line);
		free(line);
		free(path);
		free(s);
		for (size_t k = 0; k < sizeof(limit_files) / sizeof(*limit_files); k++) {
			path = text("%s/%s", dirs.v[i], limit_files[k]);
			s = file_read(path, NULL);
			if (s) {
				line = text("%s: %s", path, s);
				all = add(all, line);
				free(line);
			}
			free(path);
			free(s);
		}
	}
	names_free(&dirs);
	return all;
}

/* What systemd would set again. Not the description, which is of one container alone. */
static char *picture_units(char *all)
{
	struct names units = { NULL, 0 };

	if (box.systemd)
		leak_units(&box.place, &units);
	for (size_t i = 0; i < units.n; i++) {
		char *command = text(
			"systemctl show -p Id,ActiveState,Slice,Delegate,DevicePolicy,DeviceAllow,MemoryMax,"
			"MemoryLimit,MemorySwapMax,TasksMax,CPUWeight,CPUShares,CollectMode %s",
			units.v[i]);
		char *said = command_read(command);

		all = add(all, said);
		free(said);
		free(command);
	}
	names_free(&units);
	return all;
}

/* What the probe said, or "" if it did not. */
static char *probe_text(void)
{
	char *log = box_log(&box), *from = strstr(log, "probe begins\n");
	char *to = from ? strstr(from, "probe ends\n") : NULL, *s;

	s = to ? text("%.*s", (int)(to - from), from) : text("%s", "");
	free(log);
	/* A node that was made for the program alone is as good as the container's. */
	log = text_replace(s, ": /node, ", ": /dev/null, ");
	free(s);
	return log;
}

/* The status in the runtime's own words. */
static char *picture_status(char *all)
{
	char *path = text("%s/status", box.place.work), **argv = box_command(&box, box_state);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status = plain_run(argv, fd, VERB_MS);
	char *said = file_read(path, NULL), *at = said ? strstr(said, "\"status\": \"") : NULL,
	     *line;

	line = status == 0 && at ? text("status: %.*s\n", (int)strcspn(at + 11, "\""), at + 11) :
				   text("status: gone\n");
	close(fd);
	command_free(argv);
	all = add(all, line);
	free(path);
	free(said);
	free(line);
	return all;
}

/* Everything that a verb's success means, with the id as a constant. */
static char *picture_take(void)
{
	char *all = picture_status(probe_text()), *s;

	all = picture_units(picture_cgroups(all));
	s = text_replace(all, box.id, "ID");
	free(all);
	return s;
}

/* Takes pictures until one is like the baseline; the last one. */
static char *picture_await(void)
{
	long long end = now_ms() + PICTURE_MS;
	char *now = picture_take();

	while (baseline && strcmp(now, baseline) != 0 && now_ms() < end) {
		free(now);
		(void)reap_one(20);
		now = picture_take();
	}
	return now;
}

/* Waits for the first picture of all, to which nothing can be compared: until two are the same. */
static char *picture_first(const struct verb *v)
{
	long long end = now_ms() + PICTURE_MS;
	char *last = picture_take();

	for (;;) {
		char *now;
		bool same;

		(void)reap_one(50);
		now = picture_take();
		same = strcmp(now, last) == 0 &&
		       (v->starts == STARTS_NOTHING || strncmp(now, "probe", 5) == 0);
		free(last);
		last = now;
		if (same)
			return last;
		if (now_ms() > end)
			die("%s: the picture without a fault does not settle:\n%s", v->name, now);
	}
}

/* The first line of a that b lacks. */
static const char *line_lacking(const char *a, const char *b)
{
	static char line[512];

	while (*a) {
		size_t len = strcspn(a, "\n");

		snprintf(line, sizeof(line), "%.*s\n", (int)len, a);
		if (!strstr(b, line)) {
			line[strlen(line) - 1] = '\0';
			return line;
		}
		a += len + (a[len] == '\n');
	}
	return NULL;
}

/* ---- a fault ---- */

struct fault {
	struct trace_call call; /* of allocations: at */
	const struct fault_errno *err;
};

static void act(const struct verb *v, const struct fault *f, struct trace_result *ret)
{
	char **argv = box_command(&box, v->argv);
	struct trace_spec spec = {
		.argv = argv,
		.attach = v->init_too ? box_init_pid(&box) : 0,
		.payload = box_program(&box, v),
		.log_fd = box.log_fd,
		.victim = f ? (int)f->call.proc : -1,
		.at = f ? f->call.at : 0,
		.nth = f ? f->call.nth : 0,
		.nr = f ? f->call.nr : 0,
		.fault = f && f->err ? f->err->value : 0,
		.ret_calls = f ? NULL : calls,
		.max_calls = f ? 0 : CALLS_MAX,
		.limit_ms = TRACE_MS,
	};

	trace_run(&spec, ret);
	box_name(&box, ret->pid);
	command_free(argv);
}

/* The verb without a trace; the n-th allocation of this image fails, 0: none. */
static void act_allocating(const struct verb *v, size_t image, unsigned long n,
			   struct trace_result *ret)
{
	char *number = text("%lu", n), *which = text("%zu", image);

	memset(ret, 0, sizeof(*ret));
	setenv("FAIL_ALLOCATION", number, 1);
	setenv("FAIL_IMAGE", which, 1);
	ret->status = box_run(&box, v->argv);
	unsetenv("FAIL_ALLOCATION");
	unsetenv("FAIL_IMAGE");
	free(which);
	ret->hung = ret->status == -1;
	free(number);
	number = box_log(&box);
	ret->reached = strstr(number, "allocation failed\n") != NULL;
	free(number);
}

/* A line that is neither the probe's nor the note of alloc.c. */
static bool has_message(void)
{
	char *log = box_log(&box), *save = NULL;
	bool probing = false, found = false;

	for (char *line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strcmp(line, "probe begins") == 0)
			probing = true;
		else if (strcmp(line, "probe ends") == 0)
			probing = false;
		else if (!probing && strcmp(line, "allocation failed") != 0)
			found = true;
	}
	free(log);
	return found;
}

/* A child that ended without having said why. */
static bool child_crashed(void)
{
	char *log = box_log(&box);
	bool yes = strstr(log, "died") && !strstr(log, "out of memory");

	free(log);
	return yes;
}

/* ---- what is wrong after it ---- */

/* The findings about the present fault, each behind "; ". */
static char *findings;

__attribute__((format(printf, 3, 4))) static void find(struct tally *t, enum wrong kind,
						       const char *fmt, ...)
{
	char *what = NULL, *more;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	more = text("%s; %s", findings, what);
	free(findings);
	free(what);
	findings = more;
	t->wrong[kind]++;
}

/* After a create only the start shows whether the container is what it should be. */
static void judge_success(const struct verb *v, struct tally *t)
{
	const char *line;
	char *now;

	if (strcmp(v->name, "create") == 0 && box_run(&box, box_start) != 0) {
		find(t, SILENT, "succeeded, but can't be started");
		return;
	}
	now = picture_await();
	if (strcmp(now, baseline) != 0) {
		line = line_lacking(now, baseline);
		if (!line)
			line = line_lacking(baseline, now);
		find(t, WEAKER, "differs: %s", line ? line : "the order of lines");
	}
	free(now);
}

static void judge_failure(struct tally *t)
{
	char *said = probe_text(), *now = text_replace(said, box.id, "ID");

	if (!has_message())
		find(t, SILENT, "no message");
	if (*now && strncmp(now, baseline, strlen(now)) != 0)
		find(t, WEAKER, "failed, but a program ran: %s", line_lacking(now, baseline));
	free(said);
	free(now);
}

static void judge(const struct verb *v, const struct trace_result *r, struct tally *t)
{
	if (r->hung)
		find(t, HUNG, "hung");
	else if (!WIFEXITED(r->status))
		find(t, CRASH, "ended by signal %d", WTERMSIG(r->status));
	else if (child_crashed())
		find(t, CRASH, "a child ended without a word");
	else if (WEXITSTATUS(r->status) == 0)
		judge_success(v, t);
	else
		judge_failure(t);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0)
		t->tolerated++;
	else
		t->refused++;
}

static void judge_leftovers(struct tally *t)
{
	struct leaks l = { 0 };
	char *left;
	int status;

	leak_settle(SETTLE_MS);
	status = box_remove(&box, &l);
	left = leaks_text(&l);
	if (status != 0)
		find(t, LEFT, "delete --force: status %#x", (unsigned)status);
	if (*left)
		find(t, LEFT, "left%s", left);
	free(left);
	leak_free(&l);
	leak_remove(&box.place);
}

/* The line about a fault that was not taken well. */
static void print_findings(const struct verb *v, const struct fault *f, long nr)
{
	char *log = box_log(&box);

	log[strcspn(log, "\n")] = '\0';
	printf("# bad: %s%s %zu:%lu %s %s%s | %.200s\n", opt.tag, v->name, f->call.proc,
	       f->call.at,
	       opt.allocations ? "allocation" : syscall_name(nr), f->err ? f->err->name : "",
	       findings, log);
	free(log);
}

static void try_fault(const struct verb *v, const struct fault *f, struct tally *t)
{
	struct trace_result r;

	findings = text("%s", "");
	box_prepare(&box, v);
	if (opt.allocations)
		act_allocating(v, f->call.proc, f->call.at, &r);
	else
		act(v, f, &r);
	if (r.reached || r.hung) {
		t->tried++;
		judge(v, &r, t);
	} else {
		t->missed++;
	}
	judge_leftovers(t);
	if (*findings)
		print_findings(v, f, r.nr);
	free(findings);
	fflush(stdout);
}

/* ---- the matrix ---- */

/* A run without a fault: notes the calls and takes the picture. */
static void learn(const struct verb *v, struct trace_result *r)
{
	struct leaks l = { 0 };

	box_prepare(&box, v);
	if (opt.allocations)
		act_allocating(v, 1, 0, r);
	else
		act(v, NULL, r);
	if (r->hung || r->status != 0)
		die("%s fails without a fault: status %#x%s\n%s", v->name, (unsigned)r->status,
		    r->hung ? ", hung" : "", box_log(&box));
	if (strcmp(v->name, "create") == 0 && box_run(&box, box_start) != 0)
		die("start fails without a fault\n%s", box_log(&box));
	free(baseline);
	baseline = picture_first(v);
	if (box_remove(&box, &l) != 0 || !leak_none(&l))
		die("%s is not clean without a fault%s\n%s", v->name, leaks_text(&l),
		    box_log(&box));
	leak_free(&l);
}

static bool report(const struct verb *v, const char *who, unsigned long points,
		   const struct tally *t)
{
	char *line = text("%s %s: %lu %s, %lu faults tried, %lu refused, %lu tolerated;", v->name,
			  who, points, opt.allocations ? "allocations" : "system calls", t->tried,
			  t->refused, t->tolerated);
	bool good = t->tried > 0;

	for (size_t k = 0; k < WRONGS; k++) {
		char *more = text("%s %s %lu", line, wrong_names[k], t->wrong[k]);

		free(line);
		line = more;
		good = good && t->wrong[k] == 0;
	}
	printf(good ? "# %s; not reached %lu\nok fault %s%s-%s\n" :
		      "not ok fault %s; not reached %lu [%s%s-%s]\n",
	       line, t->missed, opt.tag, v->name, who);
	fflush(stdout);
	free(line);
	return good;
}

/* The errnos that are asked for. */
static size_t errnos_wanted(const struct fault_errno **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < ERRNOS; i++)
		if (!opt.errnos || box_wanted(opt.errnos, errnos[i].name))
			ret[n++] = &errnos[i];
	if (!n)
		die("no such errno: %s", opt.errnos);
	return n;
}

static bool is_designed(long nr, int err)
{
	for (size_t i = 0; i < sizeof(designed) / sizeof(*designed); i++)
		if (designed[i].nr == nr && designed[i].err == err)
			return true;
	return false;
}

/* Neither the first nor the last of a row of the same call. */
static bool is_inside_row(const struct trace_result *r, size_t i)
{
	const struct trace_call *c = &calls[i];

	return i > 0 && i + 1 < r->ncalls && c[-1].nr == c->nr && c[1].nr == c->nr &&
	       c[-1].proc == c->proc && c[1].proc == c->proc;
}

static bool is_wanted(const struct trace_call *c, bool child)
{
	if (opt.only_proc >= 0)
		return c->proc == (size_t)opt.only_proc && c->at == opt.only_at;
	if (opt.without && box_wanted(opt.without, syscall_name(c->nr)))
		return false;
	/* Before main the C library has no way to say what failed; nothing of ours has happened by
	 * then. */
	return (c->proc > 0) == child && !c->loading && trace_can_fail(c->nr) &&
	       (!opt.calls || box_wanted(opt.calls, syscall_name(c->nr)));
}

/* All errnos at all calls of a side; of a sample, one errno at each. */
static bool do_side(const struct verb *v, const struct trace_result *r, bool child)
{
	static struct trace_call points[CALLS_MAX];
	const struct fault_errno *list[ERRNOS];
	size_t total = 0, n, kinds = errnos_wanted(list);
	struct tally t = { 0 };

	for (size_t i = 0; i < r->ncalls; i++)
		if (is_wanted(&calls[i], child) && !(opt.brief && is_inside_row(r, i)))
			points[total++] = calls[i];
	if (!total)
		return true;
	n = opt.sample && opt.sample < total ? opt.sample : total;
	for (size_t i = 0; i < n && !stop_asked; i++) {
		const struct trace_call *c = &points[spread(i, n, total)];

		for (size_t k = 0; k < kinds && !stop_asked; k++) {
			struct fault f = { *c, list[k] };
			bool turn = n == total || k == (i + spread_seed) % kinds;

			if (!turn || is_designed(c->nr, list[k]->value))
				continue;
			try_fault(v, &f, &t);
		}
	}
	return report(v, child ? "child" : "parent", total, &t);
}

/* The n-th allocation fails for n from 1 on, until there is no n-th any more: in the program that
 * was called, and in its protected copy. */
static bool do_allocations(const struct verb *v)
{
	struct tally t = { 0 };

	for (size_t image = 1; image <= IMAGES; image++) {
		struct fault f = { .call = { .proc = image, .at = 1 + spread_seed % opt.every } };
		unsigned long before = t.tried;

		for (t.missed = 0; !t.missed && !stop_asked; f.call.at += opt.every) {
			if (opt.sample && t.tried - before == opt.sample)
				break;
			try_fault(v, &f, &t);
		}
	}
	return report(v, "allocations", t.tried, &t);
}

static bool do_verb(const struct verb *v)
{
	struct trace_result r;
	bool good = true;

	learn(v, &r);
	if (opt.allocations)
		return do_allocations(v);
	if (opt.only_proc >= 0)
		return do_side(v, &r, opt.only_proc > 0);
	if (strcmp(opt.who, "child") != 0)
		good = do_side(v, &r, false);
	if (strcmp(opt.who, "parent") != 0)
		good = do_side(v, &r, true) && good;
	return good;
}

static void options_read(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "runtime", required_argument, NULL, 'r' },
		{ "bundle", required_argument, NULL, 'b' },
		{ "verbs", required_argument, NULL, 'v' },
		{ "who", required_argument, NULL, 'w' },
		{ "errnos", required_argument, NULL, 'e' },
		{ "calls", required_argument, NULL, 'c' },
		{ "sample", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'E' },
		{ "every", required_argument, NULL, 'y' },
		{ "tag", required_argument, NULL, 't' },
		{ "watch", required_argument, NULL, 'W' },
		{ "only", required_argument, NULL, 'o' },
		{ "systemd", no_argument, NULL, 'S' },
		{ "brief", no_argument, NULL, 'B' },
		{ "allocations", no_argument, NULL, 'a' },
		{ "without", required_argument, NULL, 'x' },
		{ NULL, 0, NULL, 0 },
	};
	int k;

	opt = (struct options){ .who = "both", .tag = "", .only_proc = -1, .every = 1 };
	while ((k = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (k) {
		case 'r':
			box.runtime = optarg;
			break;
		case 'b':
			box.template = optarg;
			break;
		case 'v':
			opt.verbs = optarg;
			break;
		case 'w':
			opt.who = optarg;
			break;
		case 'e':
			opt.errnos = optarg;
			break;
		case 'c':
			opt.calls = optarg;
			break;
		case 's':
			opt.sample = strtoul(optarg, NULL, 10);
			break;
		case 'y':
			opt.every = strtoul(optarg, NULL, 10);
			break;
		case 'E':
			spread_seed = strtoul(optarg, NULL, 10);
			break;
		case 't':
			opt.tag = text("%s-", optarg);
			break;
		case 'W':
			names_add(&box.place.temp, optarg);
			break;
		case 'o':
			if (sscanf(optarg, "%d:%lu", &opt.only_proc, &opt.only_at) != 2)
				die("--only wants PROC:N");
			break;
		case 'S':
			box.systemd = true;
			break;
		case 'B':
			opt.brief = true;
			break;
		case 'a':
			opt.allocations = true;
			break;
		case 'x':
			opt.without = optarg;
			break;
		default:
			die("see the head of fault.c for the options");
		}
	}
	if (!box.runtime || !box.template || !opt.every || optind != argc)
		die("--runtime and --bundle are needed");
}

static void tidy_up(void)
{
	box_close(&box);
}

/* Verbs that need a lab are tried in one, by their names. */
static bool is_asked_for(const struct verb *v)
{
	return opt.verbs ? box_wanted(opt.verbs, v->name) : v->lab == NO_LAB;
}

int main(int argc, char **argv)
{
	struct sigaction act_on = { .sa_handler = on_signal };
	bool good = true;
	size_t done = 0;

	options_read(argc, argv);
	sigaction(SIGINT, &act_on, NULL);
	sigaction(SIGTERM, &act_on, NULL);
	box.facts = be_caller();
	box.probe = true;
	box_open(&box);
	die_cleanup = tidy_up;
	for (size_t i = 0; i < verbs_n && !stop_asked; i++) {
		if (!is_asked_for(&verbs[i]))
			continue;
		good = do_verb(&verbs[i]) && good;
		done++;
	}
	if (!done)
		die("no such verb: %s", opt.verbs);
	tidy_up();
	return good && !stop_asked ? 0 : 1;
}
