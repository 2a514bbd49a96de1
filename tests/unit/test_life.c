/*
 * The library's edge, with real containers: whatever a call does, the process that made it is as it was before. Needs
 * root and busybox, else it is skipped: one line for all.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "life/life.h"
#include "sys/loop.h"
#include "unit.h"

enum { TIMES = 100 };

#ifdef __SANITIZE_ADDRESS__ /* it keeps what was freed */
#define ALL_FREED 0
#else
#define ALL_FREED 1
#endif

static char place[] = "/tmp/sbxt-life.XXXXXX";
static char config[8192];

/* What must be the same before and after. */
struct process {
	char fds[2048];
	sigset_t mask;
	void (*handlers[65])(int);
	mode_t mask_of_files;
	char cwd[1024];
	int reaps;
	int has_children;
};

static void list_fds(char *text, size_t size)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[300], to[256];
	size_t len = 0;

	while (dir && (entry = readdir(dir))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(dir) || n < 0)
			continue;
		to[n] = '\0';
		len += (size_t)snprintf(text + len, size - len, "%s=%s ", entry->d_name, to);
	}
	if (dir)
		closedir(dir);
}

static void look(struct process *p)
{
	struct sigaction act;
	int sig;

	memset(p, 0, sizeof(*p));
	list_fds(p->fds, sizeof(p->fds));
	sigprocmask(SIG_BLOCK, NULL, &p->mask);
	for (sig = 1; sig < 65; sig++)
		if (sigaction(sig, NULL, &act) == 0)
			p->handlers[sig] = act.sa_handler;
	p->mask_of_files = umask(022);
	umask(p->mask_of_files);
	CHECK(getcwd(p->cwd, sizeof(p->cwd)));
	prctl(PR_GET_CHILD_SUBREAPER, &p->reaps);
	p->has_children = !(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD);
}

static void check_same(const struct process *before)
{
	struct process now;
	int sig;

	look(&now);
	CHECK(strcmp(now.fds, before->fds) == 0);
	for (sig = 1; sig < 65; sig++) {
		CHECK_INT(sigismember(&now.mask, sig), sigismember(&before->mask, sig));
		CHECK(now.handlers[sig] == before->handlers[sig]);
	}
	CHECK_INT(now.mask_of_files, before->mask_of_files);
	CHECK(strcmp(now.cwd, before->cwd) == 0);
	CHECK_INT(now.reaps, before->reaps);
	CHECK_INT(now.has_children, before->has_children);
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
	return (struct create_options){.root = state,
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
	CHECK_INT(life_wait(&c, loop_now() + 60 * LOOP_SECOND, &a, ret, &e), 1);
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
	struct process before;
	struct life_end end;
	char text[64];
	long memory = 0;
	int i;

	if (!can_run())
		return;
	make_config("echo hello; exit 7");
	for (i = 0; i < TIMES; i++) {
		if (i == 3) { /* once the allocator has what it wants */
			look(&before);
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

TEST(a_program_that_is_not_done_is_not_waited_for_longer)
{
	struct create_options o;
	struct process before;
	struct life_end end;
	struct arena a = {0};
	struct created c;
	struct error e = {0};

	if (!can_run())
		return;
	make_config("sleep 1000");
	look(&before);
	o = options(NULL);
	CHECK(life_create(&o, &a, &c, &e) == 0 && life_launch(&c, NULL, &a, &e) == 0);
	CHECK_INT(life_wait(&c, loop_now() + 20 * LOOP_MS, &a, &end, &e), 0);
	kill(c.pid, SIGKILL);
	CHECK_INT(life_wait(&c, LOOP_NEVER, &a, &end, &e), 1);
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
	struct process before;
	size_t i;

	if (!can_run())
		return;
	look(&before);
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

static void remove_place(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf --one-file-system %s; find /sys/fs/cgroup -maxdepth 2 -name sbxt-life-%d -exec rmdir {} + 2>/dev/null",
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
	snprintf(command, sizeof(command), "mkdir -p %s/b/rootfs/bin %s/b/rootfs/proc && cp /bin/busybox %s/b/rootfs/bin/sh && ln -s sh %s/b/rootfs/bin/sleep && mkdir -m 700 %s/state",
		 place, place, place, place, place);
	result = system(command) == 0 ? unit_main() : 1;
	remove_place();
	return result;
}
