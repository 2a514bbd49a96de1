/*
 * The library's edge, with real containers: whatever a call does, the process that made it is as it
 * was before. Needs root and busybox, else it is skipped: one line for all.
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "life/life.h"
#include "ns/userns.h"
#include "same.h"
#include "sys/loop.h"
#include "sys/unix.h"
#include "unit.h"

enum { TIMES = 100 };

#ifdef __SANITIZE_ADDRESS__ /* it keeps what was freed */
#define ALL_FREED 0
#else
#define ALL_FREED 1
#endif

static char place[] = "/tmp/sbxt-life.XXXXXX";
static char config[8192];

static void check_same(const struct same *before)
{
	const char *what = same_differs(before);

	if (what)
		FAIL("not as before: %s", what);
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static bool can_run(void)
{
	return geteuid() == 0 && access("/bin/busybox", X_OK) == 0;
}

static void make_config(const char *script)
{
	snprintf(config, sizeof(config),
		 "{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"rootfs\", \"readonly\": true},"
		 " \"process\": {\"args\": [\"/bin/sh\", \"-c\", \"%s\"], \"env\": [\"PATH=/bin\"], \"cwd\": \"/\","
		 "  \"user\": {\"uid\": 0, \"gid\": 0}, \"noNewPrivileges\": true},"
		 " \"mounts\": [{\"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\"}],"
		 " \"linux\": {\"cgroupsPath\": \"/sbxt-life-%d/box\", \"maskedPaths\": [\"/proc/keys\"],"
		 "  \"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"mount\"}, {\"type\": \"ipc\"}, {\"type\": \"uts\"}]}}",
		 script, getpid());
}

static struct create_options options(const int streams[3])
{
	static char state[64], bundle[64];

	snprintf(state, sizeof(state), "%s/state", place);
	snprintf(bundle, sizeof(bundle), "%s/b", place);
	return (struct create_options){.policy = "oci",
				       .root = state,
				       .id = "box",
				       .bundle = bundle,
				       .config_text = config,
				       .config_len = strlen(config),
				       .console_fd = -1,
				       .streams = streams};
}

/* One life: made, started, waited for, removed. What it printed is in text. */
static void live(struct life_end *ret, char *text, size_t size)
{
	struct create_options o;
	struct arena a = {0};
	struct created c;
	struct error e = {0};
	int out[2], null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;

	CHECK(null_fd >= 0 && pipe2(out, O_CLOEXEC) == 0);
	o = options((const int[]){null_fd, out[1], out[1]});
	if (life_create(&o, &a, &c, &e) < 0)
		FAIL("create: %s", e.text);
	if (life_launch(&c, NULL, &a, &e) < 0)
		FAIL("launch: %s", e.text);
	CHECK_INT(life_wait(&c, loop_now() + 60 * LOOP_SECOND, ret, &e), 1);
	if (life_remove(&c, &a, &e) < 0)
		FAIL("remove: %s", e.text);
	fd_close(&out[1]);
	n = read(out[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	fd_close(&out[0]);
	fd_close(&null_fd);
	arena_free(&a);
}

TEST(a_hundred_lives_leave_the_process_as_it_was)
{
	struct same before;
	struct life_end end;
	char text[64];
	long memory = 0;
	int i;

	if (!can_run())
		return;
	make_config("echo hello; exit 7");
	for (i = 0; i < TIMES; i++) {
		if (i == 3) { /* once the allocator has what it wants */
			same_look(&before);
			memory = resident_kb();
		}
		live(&end, text, sizeof(text));
		CHECK_STR(text, "hello\n");
		CHECK_INT(end.status, 7);
		CHECK_INT(end.signal, 0);
		CHECK(!end.oom);
		CHECK(end.wall_ns > 0 && end.cpu_ns > 0);
		if (i > 3)
			check_same(&before);
	}
	CHECK(resident_kb() - memory < (ALL_FREED ? 256 : LONG_MAX));
}

static void read_text(int fd, char *text, size_t size)
{
	ssize_t n = read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
}

TEST(each_stream_is_the_one_that_was_given)
{
	int in[2], out[2], err[2];
	struct create_options o;
	struct life_end end;
	struct arena a = {0};
	struct created c;
	struct error e = {0};
	char text[64];

	if (!can_run())
		return;
	make_config("cat; echo out; echo err >&2");
	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
	      pipe2(err, O_CLOEXEC) == 0);
	CHECK_INT(write(in[1], "in ", 3), 3);
	fd_close(&in[1]);
	o = options((const int[]){in[0], out[1], err[1]});
	CHECK(life_create(&o, &a, &c, &e) == 0 && life_launch(&c, NULL, &a, &e) == 0);
	CHECK_INT(life_wait(&c, loop_now() + 60 * LOOP_SECOND, &end, &e), 1);
	CHECK_INT(life_remove(&c, &a, &e), 0);
	fd_close(&out[1]);
	fd_close(&err[1]);
	read_text(out[0], text, sizeof(text));
	CHECK_STR(text, "in out\n");
	read_text(err[0], text, sizeof(text));
	CHECK_STR(text, "err\n");
	fd_close(&in[0]);
	fd_close(&out[0]);
	fd_close(&err[0]);
	arena_free(&a);
}

TEST(a_program_that_is_not_done_is_not_waited_for_longer)
{
	struct create_options o;
	struct same before;
	struct life_end end;
	struct arena a = {0};
	struct created c;
	struct error e = {0};

	if (!can_run())
		return;
	make_config("sleep 1000");
	same_look(&before);
	o = options(NULL);
	CHECK(life_create(&o, &a, &c, &e) == 0 && life_launch(&c, NULL, &a, &e) == 0);
	CHECK_INT(life_wait(&c, loop_now() + 20 * LOOP_MS, &end, &e), 0);
	kill(c.pid, SIGKILL);
	CHECK_INT(life_wait(&c, LOOP_NEVER, &end, &e), 1);
	CHECK_INT(end.status, 128 + SIGKILL);
	CHECK_INT(end.signal, SIGKILL);
	CHECK_INT(life_remove(&c, &a, &e), 0);
	arena_free(&a);
	check_same(&before);
}

/* Configs that fail at one place after the other. */
TEST(calls_that_fail_leave_the_process_as_it_was)
{
	static const struct {
		const char *find, *put;
	} faults[] = {
		{"\"ociVersion\"", "\"nothing\""},
		{"/bin/sh", "/no/shell"},
		{"\"type\": \"uts\"", "\"type\": \"uts\", \"path\": \"/nowhere\""},
		{"\"rootfs\"", "\"nothing\""},
		{"\"source\": \"proc\"", "\"source\": \"proc\", \"options\": [\"nosuchoption\"]"},
		{"\"uid\": 0", "\"uid\": 4294967295"},
		{"\"noNewPrivileges\": true", "\"terminal\": true"},
	};
	struct same before;
	size_t i;

	if (!can_run())
		return;
	same_look(&before);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct create_options o;
		struct arena a = {0};
		struct created c;
		struct error e = {0};
		char rest[8192], *at;

		make_config("true");
		at = strstr(config, faults[i].find);
		CHECK(at);
		snprintf(rest, sizeof(rest), "%s", at + strlen(faults[i].find));
		snprintf(at, sizeof(config) - (size_t)(at - config), "%s%s", faults[i].put, rest);
		o = options(NULL);
		if (life_create(&o, &a, &c, &e) == 0)
			FAIL("%s: created", faults[i].put);
		CHECK(e.text[0]);
		arena_free(&a);
		check_same(&before);
	}
}

/* A container that runs, for those who enter it. */
static void begin(struct created *c, struct arena *a)
{
	struct create_options o;
	struct error e = {0};

	make_config("sleep 1000");
	o = options(NULL);
	if (life_create(&o, a, c, &e) < 0 || life_launch(c, NULL, a, &e) < 0)
		FAIL("%s", e.text);
}

static void end(struct created *c, struct arena *a)
{
	struct error e = {0};

	if (life_remove(c, a, &e) < 0)
		FAIL("remove: %s", e.text);
	arena_free(a);
}

static char *exits_with_5[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"exit 5"}, NULL};

static struct exec_options exec_options(void)
{
	const struct create_options o = options(NULL);

	return (struct exec_options){
		.root = o.root, .id = o.id, .args = {.n = 3, .v = exits_with_5}};
}

TEST(further_programs_leave_the_process_as_it_was)
{
	struct exec_options o = exec_options();
	struct same before;
	struct arena a = {0};
	struct created c;
	int i;

	if (!can_run())
		return;
	begin(&c, &a);
	same_look(&before);
	for (i = 0; i < 10; i++) {
		struct arena own = {0};
		struct error e = {0};
		int status;

		if (life_exec(&o, &own, &status, &e) < 0)
			FAIL("exec: %s", e.text);
		CHECK_INT(status, 5);
		arena_free(&own);
		check_same(&before);
	}
	end(&c, &a);
}

/* One step further each. */
TEST(further_programs_that_fail_leave_the_process_as_it_was)
{
	char *missing[] = {(char[]){"/no/program"}, NULL};
	char *unknown[] = {(char[]){"CAP_NONSENSE"}, NULL};
	char *below[] = {(char[]){"../../elsewhere"}, NULL};
	const struct exec_options good = exec_options();
	struct exec_options faults[] = {good, good, good, good, good, good,
					good, good, good, good, good, good};
	struct same before;
	struct arena a = {0};
	struct created c;
	size_t i;

	if (!can_run())
		return;
	faults[0].id = "nobody";
	faults[1].pid_file = "/dev/null";
	faults[2].process_file = "/nowhere";
	faults[3].caps = (struct strings){.n = 1, .v = unknown};
	faults[4].user = "root";
	faults[5].cgroups = (struct strings){.n = 1, .v = below};
	faults[6].console_socket = "/nowhere";
	faults[7].console_socket = "/nowhere";
	faults[7].tty = true;
	faults[8].detach = faults[8].tty = true;
	faults[9].args = (struct strings){.n = 1, .v = missing};
	faults[10].pidfd_socket = "/nowhere";
	faults[11].cwd = "/bin/sh";
	begin(&c, &a);
	same_look(&before);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct arena own = {0};
		struct error e = {0};
		int status;

		if (life_exec(&faults[i], &own, &status, &e) == 0)
			FAIL("exec %zu succeeded", i);
		CHECK(e.text[0]);
		arena_free(&own);
		check_same(&before);
	}
	end(&c, &a);
}

/* Puts more into the config, behind a text that it has. */
static void config_add(const char *after, const char *text)
{
	char rest[sizeof(config)], *at = strstr(config, after);

	CHECK(at);
	at += strlen(after);
	snprintf(rest, sizeof(rest), "%s", at);
	snprintf(at, sizeof(config) - (size_t)(at - config), "%s%s", text, rest);
}

TEST(a_program_that_memory_ran_out_for_has_ended_so)
{
	struct create_options o;
	struct life_end how;
	struct arena a = {0};
	struct created c;
	struct error e = {0};

	if (!can_run())
		return;
	make_config("a=0123456789; while :; do a=$a$a; done");
	config_add("\"linux\": {", "\"resources\": {\"memory\": {\"limit\": 33554432}},");
	o = options(NULL);
	if (life_create(&o, &a, &c, &e) < 0 || life_launch(&c, NULL, &a, &e) < 0)
		FAIL("%s", e.text);
	CHECK_INT(life_wait(&c, loop_now() + 120 * LOOP_SECOND, &how, &e), 1);
	CHECK(how.oom);
	CHECK_INT(how.signal, SIGKILL);
	CHECK(how.peak_memory > 16 << 20);
	/* v1 counts what it refuses, too, a page at most. */
	CHECK(how.peak_memory <= (32 << 20) + 65536);
	end(&c, &a);
}

struct seen {
	size_t n;
	bool running;
	pid_t pid;
};

static void see(void *context, const struct life_view *v, struct arena *a)
{
	struct seen *s = context;

	(void)a;
	s->n++;
	s->running = strcmp(v->record.id, "box") == 0 && v->status == STATUS_RUNNING;
	s->pid = v->pid;
}

TEST(a_container_is_listed_with_its_processes_and_what_they_use)
{
	struct seen seen = {0};
	struct life_stats stats;
	struct same before;
	struct arena a = {0}, own = {0};
	struct created c;
	struct error e = {0};
	pid_t *pids;
	size_t n;

	if (!can_run())
		return;
	begin(&c, &a);
	same_look(&before);
	CHECK_INT(life_list(options(NULL).root, see, &seen, NULL, &own, &e), 0);
	CHECK_INT(seen.n, 1);
	CHECK(seen.running);
	CHECK_INT(seen.pid, c.pid);
	CHECK_INT(life_pids(options(NULL).root, "box", &own, &pids, &n, &e), 0);
	CHECK(n >= 1 && pids[0] == c.pid);
	if (life_stats(options(NULL).root, "box", &own, &stats, &e) < 0)
		FAIL("stats: %s", e.text);
	CHECK_INT(stats.cgroup.pids.current, n);
	CHECK(stats.cgroup.cpu.total > 0);
	CHECK(!stats.net_dev); /* its interfaces are ours */
	/* Nobody else is there. */
	CHECK(life_pids(options(NULL).root, "nobody", &own, &pids, &n, &e) < 0);
	CHECK(life_stats(options(NULL).root, "nobody", &own, &stats, &e) < 0);
	arena_free(&own);
	check_same(&before);
	end(&c, &a);
}

/* The terminal's master comes over the caller's own descriptor, which stays his. */
TEST(a_terminal_comes_to_who_gave_a_descriptor_for_it)
{
	struct create_options o;
	struct same before;
	struct life_end how;
	struct arena a = {0};
	struct created c;
	struct error e = {0};
	int socks[2], master_fd;
	char text[64];

	if (!can_run())
		return;
	make_config("test -t 0 && test -t 1 && test -t 2 && echo terminal; exit 3");
	config_add("\"process\": {", "\"terminal\": true, ");
	config_add("\"mounts\": [", "{\"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\"},"
		   "{\"destination\": \"/dev/pts\", \"type\": \"devpts\", \"source\": \"devpts\","
		   " \"options\": [\"newinstance\", \"ptmxmode=0666\"]}, ");
	same_look(&before);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) == 0);
	o = options(NULL);
	o.console_fd = socks[1];
	if (life_create(&o, &a, &c, &e) < 0)
		FAIL("create: %s", e.text);
	CHECK(c.terminal_is_ours);
	master_fd = unix_recv_fd(socks[0], text, sizeof(text));
	CHECK(master_fd >= 0);
	if (life_launch(&c, NULL, &a, &e) < 0)
		FAIL("launch: %s", e.text);
	read_text(master_fd, text, sizeof(text));
	CHECK_STR(text, "terminal\n"); /* carried to another terminal, which makes lines */
	CHECK_INT(life_wait(&c, loop_now() + 60 * LOOP_SECOND, &how, &e), 1);
	CHECK_INT(how.status, 3);
	CHECK(fcntl(socks[1], F_GETFD) >= 0);
	CHECK_INT(life_remove(&c, &a, &e), 0);
	fd_close(&master_fd);
	fd_close(&socks[0]);
	fd_close(&socks[1]);
	arena_free(&a);
	check_same(&before);
}

static void have_failing_poststop(void)
{
	static const char hook[] = ", \"hooks\": {\"poststop\": [{\"path\": \"/bin/false\"}]}}";
	size_t len = strlen(config);

	CHECK(len && config[len - 1] == '}');
	snprintf(config + len - 1, sizeof(config) - len + 1, "%s", hook);
}

/* The same hook, after a life and after a create that failed. */
TEST(notes_come_to_the_caller_whatever_becomes_of_the_call)
{
	static const char want[] = "error running poststop hook #0: /bin/false: exit status 1";
	struct arena a = {0};
	struct noted noted = {.arena = &a};
	const struct noter noter = {.take = noted_take, .context = &noted};
	struct create_options o;
	struct created c;
	struct error e = {0};

	if (!can_run())
		return;
	make_config("true");
	have_failing_poststop();
	o = options(NULL);
	o.noter = &noter;
	if (life_create(&o, &a, &c, &e) < 0 || life_launch(&c, NULL, &a, &e) < 0)
		FAIL("%s", e.text);
	CHECK_INT(noted.notes.n, 0);
	CHECK_INT(life_remove(&c, &a, &e), 0);
	CHECK_INT(noted.notes.n, 1);
	CHECK(strncmp(noted.notes.v[0], want, strlen(want)) == 0);
	memcpy(strstr(config, "/bin/sh"), "/bin/no", 7);
	CHECK(life_create(&o, &a, &c, &e) < 0);
	CHECK(strstr(e.text, "/bin/no"));
	CHECK_INT(noted.notes.n, 2);
	CHECK_STR(noted.notes.v[1], noted.notes.v[0]);
	arena_free(&a);
}

/* In a child, which is in the namespace afterwards: a map of its own, as the kernel shows it. */
static void check_map_inside(int ns_fd, const char *file, unsigned int inside, unsigned int outside)
{
	unsigned int map[3] = {0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		FILE *f = setns(ns_fd, CLONE_NEWUSER) < 0 ? NULL : fopen(file, "re");

		_exit(!f || fscanf(f, "%u %u %u", &map[0], &map[1], &map[2]) != 3 ||
		      map[0] != inside || map[1] != outside || map[2] != 10);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

TEST(a_map_of_ids_has_nobody_in_it_and_leaves_the_process_as_it_was)
{
	struct oci_id_map uid = {7, 300000, 10}, gid = {8, 400000, 10};
	const struct oci_id_maps uids = {.n = 1, .v = &uid}, gids = {.n = 1, .v = &gid};
	struct error e = {0};
	struct same before;
	int i, ns_fd;

	if (!can_run())
		return;
	same_look(&before);
	for (i = 0; i < TIMES; i++) {
		ns_fd = userns_open_map(&uids, &gids, false, &e);
		if (ns_fd < 0)
			FAIL("%s", e.text);
		CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
		if (i == 0) {
			check_map_inside(ns_fd, "/proc/self/uid_map", 7, 300000);
			check_map_inside(ns_fd, "/proc/self/gid_map", 8, 400000);
		}
		fd_close(&ns_fd);
	}
	gid.size = 0; /* the kernel takes no such map */
	CHECK(userns_open_map(&uids, &gids, false, &e) < 0);
	CHECK(strstr(e.text, "linux.gidMappings"));
	check_same(&before);
}

/* A test that failed may have left its container. */
static void remove_place(void)
{
	const struct create_options o = options(NULL);
	struct arena a = {0};
	char command[256];
	struct error e;

	if (life_delete(o.root, o.id, true, NULL, &a, &e) < 0)
		printf("# left: %s\n", e.text);
	arena_free(&a);
	snprintf(
		command, sizeof(command),
		"rm -rf --one-file-system %s; find /sys/fs/cgroup -maxdepth 2 -name sbxt-life-%d -exec rmdir {} + 2>/dev/null",
		place, getpid());
	if (system(command) < 0)
		return;
}

int main(void)
{
	char command[512];
	int result;

	if (!can_run()) {
		printf("skip life: needs root and busybox\n");
		return 0;
	}
	if (!mkdtemp(place))
		return 1;
	snprintf(
		command, sizeof(command),
		"mkdir -p %s/b/rootfs/bin %s/b/rootfs/proc && cp /bin/busybox %s/b/rootfs/bin/sh && ln -s sh %s/b/rootfs/bin/sleep && mkdir -m 700 %s/state",
		place, place, place, place, place);
	result = system(command) == 0 ? unit_main() : 1;
	remove_place();
	return result;
}
