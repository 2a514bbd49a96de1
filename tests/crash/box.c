/* box.c: the container under test. What can't be had ends the harness. */
#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	GRACE_MS = 5000
}; /* a killed process needs a moment to be gone, a long one on a busy machine */

/* Words of a command line that are filled in for each container. */
#define A_ID "@id"
#define A_BUNDLE "@bundle"
#define A_PIDFILE "@pidfile"
#define A_PROGRAM "@program"
/* Of a box that stays (verbs that begin with "box-"): its name, which is the container's without
 * "box-"; another one's; its root; a directory and where that is shown. */
#define A_BOX "@box"
#define A_OTHER "@other"
#define A_OTHER_ID "@otherid"
#define A_ROOTFS "@rootfs"
#define A_VOLUME "@volume"

/* clang-format off */
const struct verb verbs[] = {
	{ "create",       NEED_NOTHING, STARTS_CONTAINER, true,  false, NO_LAB,
	  { "create", "--bundle", A_BUNDLE, "--pid-file", A_PIDFILE, A_ID } },
	{ "start",        NEED_CREATED, STARTS_CONTAINER, true,  true, NO_LAB, { "start", A_ID } },
	{ "run",          NEED_NOTHING, STARTS_CONTAINER, false, false, NO_LAB,
	  { "run", "--bundle", A_BUNDLE, A_ID } },
	{ "run-detach",   NEED_NOTHING, STARTS_CONTAINER, true,  false, NO_LAB,
	  { "run", "--detach", "--bundle", A_BUNDLE, "--pid-file", A_PIDFILE, A_ID } },
	{ "exec",         NEED_RUNNING, STARTS_EXTRA,     true,  false, NO_LAB, { "exec", A_ID, A_PROGRAM } },
	{ "exec-detach",  NEED_RUNNING, STARTS_EXTRA,     true,  false, NO_LAB,
	  { "exec", "--detach", A_ID, A_PROGRAM } },
	{ "kill",         NEED_RUNNING, STARTS_NOTHING,   true,  false, NO_LAB, { "kill", A_ID, "KILL" } },
	{ "update",       NEED_RUNNING, STARTS_NOTHING,   true,  false, NO_LAB,
	  { "update", "--memory", "33554432", "--pids-limit", "32", "--cpu-share", "256", A_ID } },
	{ "pause",        NEED_RUNNING, STARTS_NOTHING,   true,  false, NO_LAB, { "pause", A_ID } },
	{ "resume",       NEED_PAUSED,  STARTS_NOTHING,   true,  false, NO_LAB, { "resume", A_ID } },
	{ "delete",       NEED_STOPPED, STARTS_NOTHING,   false, false, NO_LAB, { "delete", A_ID } },
	{ "delete-force", NEED_RUNNING, STARTS_NOTHING,   true,  false, NO_LAB, { "delete", "--force", A_ID } },
	{ "do",           NEED_NOTHING, STARTS_NOTHING,   true,  false, NO_LAB,
	  { "do", "--rootfs", A_ROOTFS, "--", "/bin/true" } },
	{ "box-create",   NEED_NOTHING, STARTS_NOTHING,   true,  false, NO_LAB,
	  { "box", "create", "--rootfs", A_ROOTFS, "--id", A_BOX } },
	{ "box-create-root", NEED_NOTHING, STARTS_NOTHING, true, false, NO_LAB,
	  { "box", "create", "--rootfs", A_ROOTFS, "--id", A_BOX, "--memory", "32m", "--writable-root", "20m" } },
	{ "box-create-disk", NEED_NOTHING, STARTS_NOTHING, true, false, NO_LAB,
	  { "box", "create", "--rootfs", A_ROOTFS, "--id", A_BOX, "--memory", "32m", "--disk", "20m" } },
	{ "box-create-volume", NEED_NOTHING, STARTS_NOTHING, true, false, NO_LAB,
	  { "box", "create", "--rootfs", A_ROOTFS, "--id", A_BOX, "-v", A_VOLUME } },
	{ "box-exec",     NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "exec", A_BOX, "--", "/bin/true" } },
	{ "box-write",    NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB,
	  { "box", "write", A_BOX, "some/file", "/proc/self/cmdline" } },
	{ "box-run",      NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "run", A_BOX, "bash", "true" } },
	{ "box-read",     NEED_FILE,    STARTS_NOTHING,   true,  false, NO_LAB, { "box", "read", A_BOX, "some/file" } },
	{ "box-stat",     NEED_FILE,    STARTS_NOTHING,   true,  false, NO_LAB, { "box", "stat", A_BOX, "some/file" } },
	{ "box-rm-file",  NEED_FILE,    STARTS_NOTHING,   true,  false, NO_LAB, { "box", "rm-file", A_BOX, "some/file" } },
	{ "box-logs",     NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "logs", A_BOX } },
	{ "box-list",     NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "list" } },
	{ "box-rules",    NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "rules", A_BOX } },
	{ "box-resume",   NEED_FROZEN_BOX, STARTS_NOTHING, true, false, NO_LAB, { "box", "resume", A_BOX } },
	{ "box-unkeep",   NEED_SNAPSHOT, STARTS_NOTHING,  true,  false, NO_LAB, { "box", "snapshots", "--remove", "kept" } },
	{ "box-fork-box", NEED_OTHER_BOX, STARTS_NOTHING, true,  false, NO_LAB, { "box", "fork", "--id", A_BOX, A_OTHER } },
	{ "box-ls",       NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "ls", A_BOX } },
	{ "box-pause",    NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "pause", A_BOX } },
	{ "box-diff",     NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "diff", A_BOX } },
	{ "box-snapshot", NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "snapshot", A_BOX, "kept" } },
	{ "box-fork",     NEED_SNAPSHOT, STARTS_NOTHING,  true,  false, NO_LAB, { "box", "fork", "--id", A_BOX, "kept" } },
	{ "box-session",  NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "run", "--session", A_BOX, "bash", "x=1" } },
	{ "box-cell",     NEED_SESSION, STARTS_NOTHING,   true,  false, NO_LAB, { "box", "run", "--session", A_BOX, "bash", "x=2" } },
	{ "box-sessions", NEED_SESSION, STARTS_NOTHING,   true,  false, NO_LAB, { "box", "sessions", A_BOX } },
	{ "box-end-session", NEED_SESSION, STARTS_NOTHING, true, false, NO_LAB, { "box", "end-session", A_BOX } },
	{ "box-keep",     NEED_SESSION, STARTS_NOTHING,   true,  false, NO_LAB, { "box", "snapshot", A_BOX, "kept" } },
	{ "box-end",      NEED_SESSION, STARTS_NOTHING,   true,  false, NO_LAB, { "box", "destroy", A_BOX } },
	{ "box-gc",       NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "gc" } },
	{ "box-destroy",  NEED_BOX,     STARTS_NOTHING,   true,  false, NO_LAB, { "box", "destroy", A_BOX } },
	/* In a lab (egress.sh). */
	{ "box-reach",    NEED_NOTHING, STARTS_NOTHING,   true,  false, IN_LAB,
	  { "box", "create", "--rootfs", A_ROOTFS, "--id", A_BOX, "--allow", "good.example:22" } },
	{ "box-allow",    NEED_REACHING, STARTS_NOTHING,  true,  false, WITH_CARRIER,
	  { "box", "allow", A_BOX, "www.good.example:22" } },
	{ "box-allow-first", NEED_BOX,  STARTS_NOTHING,   true,  false, IN_LAB, { "box", "allow", A_BOX, "good.example:22" } },
	{ "box-deny",     NEED_REACHING, STARTS_NOTHING,  true,  false, WITH_CARRIER, { "box", "deny", A_BOX, "good.example:22" } },
	{ "box-install",  NEED_REACHING, STARTS_NOTHING,  true,  false, WITH_CARRIER, { "box", "install", A_BOX, "pypi", "x" } },
	{ "box-install-first", NEED_BOX, STARTS_NOTHING,  true,  false, IN_LAB, { "box", "install", A_BOX, "pypi", "x" } },
	{ "box-carried",  NEED_REACHING, STARTS_NOTHING,  true,  false, WITH_CARRIER,
	  { "box", "exec", A_BOX, "--", "/bin/sh", "-c", "nc good.example 22 </dev/null; nc other.example 22 </dev/null; true" } },
};
/* clang-format on */
const size_t verbs_n = sizeof(verbs) / sizeof(*verbs);

const char *const box_create[BOX_ARGS] = { "create",	 "--bundle", A_BUNDLE,
					   "--pid-file", A_PIDFILE,  A_ID };
const char *const box_start[BOX_ARGS] = { "start", A_ID };
const char *const box_delete[BOX_ARGS] = { "delete", "--force", A_ID };
const char *const box_state[BOX_ARGS] = { "state", A_ID };
static const char *const pause_argv[BOX_ARGS] = { "pause", A_ID };
static const char *const make_box[BOX_ARGS] = {"box",	 "create", "--rootfs",
					       A_ROOTFS, "--id",   A_BOX};

static const char *const make_reaching[BOX_ARGS] = {
	"box", "create", "--rootfs", A_ROOTFS, "--id", A_BOX, "--allow", "good.example:22"};

static const char *const fill_box[BOX_ARGS] = {"box", "write", A_BOX, "some/file",
					       "/proc/self/cmdline"};
static const char *const begin_session[BOX_ARGS] = {"box", "run",  "--session",
						    A_BOX, "bash", "x=1"};
static const char *const keep_box[BOX_ARGS] = {"box", "snapshot", A_BOX, "kept"};
static const char *const end_box[BOX_ARGS] = {"box", "destroy", A_BOX};
static const char *const freeze_box[BOX_ARGS] = {"box", "pause", A_BOX};
static const char *const make_other[BOX_ARGS] = {"box",	   "create", "--rootfs",
						 A_ROOTFS, "--id",   A_OTHER};
static const char *const fill_other[BOX_ARGS] = {"box", "write", A_OTHER, "some/file",
						 "/proc/self/cmdline"};
static const char *const end_other[BOX_ARGS] = {"delete", "--force", A_OTHER_ID};

/* What a run that was killed has left, the next one takes away. */
static const char *const do_again[BOX_ARGS] = {"do", "--rootfs", A_ROOTFS, "--", "/bin/true"};

static bool is_about_boxes(const struct verb *v)
{
	return strncmp(v->name, "box-", 4) == 0;
}

static bool is_do(const struct verb *v)
{
	return strcmp(v->name, "do") == 0;
}

bool box_wanted(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

const char *syscall_name(long nr)
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

/* ---- the place ---- */

static char *new_dir(const char *work, const char *name)
{
	char *path = text("%s/%s", work, name);

	if (mkdir(path, 0700) < 0)
		die("%s: %s", path, strerror(errno));
	return path;
}

static void be_tracer(void)
{
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die("subreaper: %s", strerror(errno));
}

static void clean_environment(void)
{
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("NOTIFY_SOCKET");
	unsetenv("LISTEN_FDS");
}

void box_open(struct box *b)
{
	const char *tmp = getenv("TMPDIR");
	char *work = text("%s/crash-XXXXXX", tmp ? tmp : "/tmp"), *path, *pid_dir;

	be_tracer();
	b->place.units = b->systemd;
	if (!mkdtemp(work))
		die("%s: %s", work, strerror(errno));
	b->place.work = work;
	b->place.state = new_dir(work, "state");
	b->bundle = new_dir(work, "bundle");
	b->rootfs = text("%s/../rootfs", b->template); /* as lib.sh makes it */
	pid_dir = new_dir(work, "pid");
	b->pidfile = text("%s/pid", pid_dir);
	b->volume = text("%s:/workspace", b->bundle);
	path = new_dir(work, "disks");
	names_add(&b->place.temp, path);
	setenv("SBXRUN_DISK_DIR", path, 1);
	free(path);
	path = new_dir(work, "tmp");
	names_add(&b->place.temp, b->bundle);
	names_add(&b->place.temp, pid_dir);
	names_add(&b->place.temp, path);
	setenv("TMPDIR", path, 1);
	clean_environment();
	free(path);
	path = text("%s/config.json", b->template);
	b->config = file_read(path, NULL);
	if (!b->config)
		die("%s: %s", path, strerror(errno));
	free(path);
	path = text("%s/config.json", b->bundle);
	file_write(path, b->config);
	free(path);
	path = text("%s/log", work);
	b->log_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (b->log_fd < 0)
		die("%s: %s", path, strerror(errno));
	free(path);
	free(pid_dir);
	leak_note_files(&b->place);
}

void box_close(struct box *b)
{
	if (b->id)
		leak_remove(&b->place);
	tree_empty(b->place.work);
	(void)rmdir(b->place.work);
}

/* ---- command lines ---- */

const char *box_program(const struct box *b, const struct verb *v)
{
	if (is_about_boxes(v) || is_do(v))
		return "reaper";
	if (b->probe && v->starts != STARTS_NOTHING)
		return "/bin/probe";
	return v->lasting && v->starts != STARTS_EXTRA ? "/bin/sleep" : "/bin/true";
}

/* The container's own arguments, as JSON. */
static const char *box_args(const struct box *b, const struct verb *v)
{
	if (b->probe && v->starts == STARTS_CONTAINER)
		return v->lasting ? "\"/bin/probe\", \"stay\"" : "\"/bin/probe\"";
	return v->lasting ? "\"/bin/sleep\", \"1000\"" : "\"/bin/true\"";
}

static const char *box_word(const struct box *b, const char *word)
{
	if (strcmp(word, A_ID) == 0)
		return b->id;
	if (strcmp(word, A_BOX) == 0)
		return b->id + strlen("box-");
	if (strcmp(word, A_OTHER) == 0)
		return b->other + strlen("box-");
	if (strcmp(word, A_OTHER_ID) == 0)
		return b->other;
	if (strcmp(word, A_ROOTFS) == 0)
		return b->rootfs;
	if (strcmp(word, A_VOLUME) == 0)
		return b->volume;
	if (strcmp(word, A_BUNDLE) == 0)
		return b->bundle;
	if (strcmp(word, A_PIDFILE) == 0)
		return b->pidfile;
	if (strcmp(word, A_PROGRAM) == 0)
		return b->probe ? "/bin/probe" : "/bin/true";
	return word;
}

char **box_command(const struct box *b, const char *const *args)
{
	char **v = calloc(BOX_ARGS + 5, sizeof(*v));
	size_t n = 0;

	if (!v)
		die("out of memory");
	v[n++] = text("%s", b->runtime);
	v[n++] = text("--root");
	v[n++] = text("%s", b->place.state);
	if (b->systemd && (strcmp(args[0], "create") == 0 || strcmp(args[0], "run") == 0))
		v[n++] = text("--systemd-cgroup");
	for (size_t i = 0; i < BOX_ARGS && args[i]; i++)
		v[n++] = text("%s", box_word(b, args[i]));
	return v;
}

void command_free(char **v)
{
	for (size_t i = 0; v[i]; i++)
		free(v[i]);
	free(v);
}

int box_run(const struct box *b, const char *const *args)
{
	char **v = box_command(b, args);
	int status = plain_run(v, b->log_fd, VERB_MS);

	command_free(v);
	return status;
}

char *box_log(const struct box *b)
{
	char *path = text("%s/log", b->place.work);
	char *s = file_read(path, NULL);

	free(path);
	return s ? s : text("%s", "");
}

void box_log_clear(const struct box *b)
{
	if (ftruncate(b->log_fd, 0) < 0)
		die("ftruncate: %s", strerror(errno));
}

/* ---- a container in the state that a verb needs ---- */

static void must_run(const struct box *b, const char *const *args)
{
	int status = box_run(b, args);

	if (status != 0)
		die("%s: status %#x while preparing\n%s", args[0], (unsigned)status, box_log(b));
}

pid_t box_init_pid(const struct box *b)
{
	char *s = file_read(b->pidfile, NULL);
	pid_t pid = s ? (pid_t)strtol(s, NULL, 10) : 0;

	free(s);
	if (pid <= 0)
		die("no pid in the pid file");
	return pid;
}

pid_t box_carrier_pid(void)
{
	char *said = text("pgrep -x -P %d sbxrun-net", getpid());
	char *s = command_read(said);
	pid_t pid = (pid_t)strtol(s, NULL, 10);

	free(said);
	free(s);
	if (pid <= 0)
		die("nobody carries for the box");
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

static void write_config(struct box *b, const struct verb *v)
{
	char *path = text("%s/config.json", b->bundle);
	char *half = text_replace(b->config, "@ID@", b->id);
	char *more = text_replace(half, "@ARGS@", box_args(b, v));
	char *whole = text_replace(more, "@FACTS@", b->facts ? b->facts : "");

	file_write(path, whole);
	free(half);
	free(more);
	free(whole);
	free(path);
}

/* They are kept on purpose; what is half made is removed by the next one. */
static void remove_snapshots(const struct box *b)
{
	char *dir = text("%s/boxes:snapshots", b->place.state);
	char *one = text("%s/kept", dir);

	(void)unlink(one);
	free(one);
	free(dir);
}

void box_prepare(struct box *b, const struct verb *v)
{
	free(b->id);
	b->id = text("%scrash%dx%05u", is_about_boxes(v) ? "box-" : "", getpid(), ++b->serial);
	b->place.id = b->id;
	free(b->other);
	b->other = text("box-crash%dother", getpid()); /* facts that have it look alike */
	b->has_other = v->need == NEED_OTHER_BOX;
	b->swept = is_do(v);
	write_config(b, v);
	(void)unlink(b->pidfile);
	box_log_clear(b);
	if (v->need == NEED_NOTHING)
		return;
	if (is_about_boxes(v)) {
		remove_snapshots(b);
		must_run(b, v->need == NEED_REACHING ? make_reaching :
			    b->has_other	     ? make_other :
						       make_box);
	}
	if (b->has_other)
		must_run(b, fill_other);
	if (v->need == NEED_FILE)
		must_run(b, fill_box);
	if (v->need == NEED_FROZEN_BOX)
		must_run(b, freeze_box);
	if (v->need == NEED_SESSION)
		must_run(b, begin_session);
	if (v->need == NEED_SNAPSHOT) {
		must_run(b, fill_box);
		must_run(b, keep_box);
		must_run(b, end_box);
	}
	if (is_about_boxes(v))
		return;
	must_run(b, box_create);
	if (v->need == NEED_CREATED)
		return;
	must_run(b, box_start);
	if (v->need == NEED_STOPPED)
		wait_stopped(box_init_pid(b));
	if (v->need == NEED_PAUSED)
		must_run(b, pause_argv);
}

void box_name(struct box *b, pid_t pid)
{
	if (!b->swept)
		return;
	free(b->id);
	b->id = text("do-%d-", pid);
	b->place.id = b->id;
}

int box_remove(struct box *b, struct leaks *ret)
{
	int status = box_run(b, b->swept ? do_again : box_delete);
	long long end;

	if (b->has_other)
		must_run(b, end_other);
	b->has_other = false;
	end = now_ms() + GRACE_MS;
	/* the caller's own file, which the verb was asked to write */
	(void)unlink(b->pidfile);
	leak_find(&b->place, ret);
	while (!leak_none(ret) && now_ms() < end) {
		(void)reap_one(20);
		leak_find(&b->place, ret);
	}
	return status;
}

char *leaks_text(const struct leaks *l)
{
	char *all = text("%s", "");

	for (size_t k = 0; k < LEAK_KINDS; k++) {
		char *more;

		if (!l->kind[k].n)
			continue;
		more = text("%s; %s %zu, such as %s", all, leak_names[k], l->kind[k].n,
			    l->kind[k].v[0]);
		free(all);
		all = more;
	}
	return all;
}

unsigned long spread_seed;

unsigned long spread(unsigned long i, unsigned long n, unsigned long total)
{
	const unsigned long from = i * total / n, to = (i + 1) * total / n;
	unsigned long by_chance;

	if (spread_seed && to > from) {
		by_chance = (spread_seed * 2654435761UL + i) * 6364136223846793005UL;
		return from + (by_chance >> 33) % (to - from);
	}
	return n < 2 ? total / 2 : i * (total - 1) / (n - 1);
}
