/* Parts of checks. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "doctor/check.h"
#include "sys/child.h"
#include "sys/sys.h"

enum { NOBODY = 65534, FILE_MAX = 1 << 20 };

/* Paths and words of others are in it: a terminal gets no control characters, and one line. */
static void __attribute__((format(printf, 2, 0)))
text_set(char text[LOOK_TEXT], const char *fmt, va_list ap)
{
	char *p;

	vsnprintf(text, LOOK_TEXT, fmt, ap);
	for (p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
}

#define SAY(l, fmt, verdict)                                                                       \
	va_list ap;                                                                                \
	va_start(ap, fmt);                                                                         \
	text_set((l)->found, fmt, ap);                                                             \
	va_end(ap);                                                                                \
	return verdict

int look_fine(struct look *l, const char *fmt, ...)
{
	SAY(l, fmt, LOOK_FINE);
}

int look_less(struct look *l, const char *fmt, ...)
{
	SAY(l, fmt, LOOK_LESS);
}

int look_missing(struct look *l, const char *fmt, ...)
{
	SAY(l, fmt, LOOK_MISSING);
}

void look_remedy(struct look *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_set(l->remedy, fmt, ap);
	va_end(ap);
}

/* ---- remedies ---- */

void look_remedy_package(struct look *l, const char *apt, const char *dnf)
{
	if (access("/usr/bin/apt-get", X_OK) == 0)
		look_remedy(l, "apt-get install %s", apt);
	else if (access("/usr/bin/dnf", X_OK) == 0)
		look_remedy(l, "dnf install %s", dnf);
}

void look_remedy_boot(struct look *l, const char *parameter)
{
	if (access("/usr/sbin/grubby", X_OK) == 0)
		look_remedy(l, "grubby --update-kernel=ALL --args='%s' && reboot", parameter);
	else if (access("/etc/default/grub", F_OK) == 0)
		look_remedy(l,
			    "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&%s /' /etc/default/grub && "
			    "update-grub && reboot",
			    parameter);
}

bool look_remedy_container(struct look *l, const char *docker, const char *podman)
{
	const char *engine = look_container(l);

	if (engine && str_eq(engine, "docker"))
		look_remedy(l, "docker run %s …", docker);
	else if (engine && str_eq(engine, "podman"))
		look_remedy(l, "podman run %s …", podman);
	return engine;
}

/* ---- facts ---- */

/* Images of virtual machines are made from those of containers, marks and all. A container has at
 * least one of these namespaces of its own. */
static bool has_own_namespaces(void)
{
	static const struct {
		const char *path;
		unsigned int first; /* the kernel's number for the one that it boots with */
	} machine[] = {
		{"/proc/self/ns/pid", 0xEFFFFFFC},
		{"/proc/self/ns/uts", 0xEFFFFFFE},
		{"/proc/self/ns/ipc", 0xEFFFFFFF},
	};
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machine); i++)
		if (stat(machine[i].path, &st) == 0 && st.st_ino != machine[i].first)
			return true;
	return false;
}

/* Where the cgroup namespace is the machine's, the engine's own names are in the path. */
static const char *engine_of_cgroup(struct look *l)
{
	static const char *const words[][2] = {
		{"/kubepods", "kubernetes"}, {"/docker", "docker"}, {"/libpod", "podman"}};
	const char *text = look_file(l, "/proc/self/cgroup", NULL);
	size_t i;

	for (i = 0; text && i < ARRAY_SIZE(words); i++)
		if (strstr(text, words[i][0]))
			return words[i][1];
	return NULL;
}

const char *look_container(struct look *l)
{
	const char *word = getenv("container");

	if (!has_own_namespaces())
		return NULL;
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return "kubernetes";
	if (access("/.dockerenv", F_OK) == 0)
		return "docker";
	if (access("/run/.containerenv", F_OK) == 0)
		return "podman";
	return word && *word ? word : engine_of_cgroup(l);
}

long look_sysctl(const char *path)
{
	char text[32], *end;
	long number;

	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	errno = 0;
	number = strtol(text, &end, 10);
	return errno || *end || number < 0 ? -1 : number;
}

char *look_file(struct look *l, const char *path, size_t *ret_len)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t len;

	return fd < 0 ? NULL : fd_read_all(fd, FILE_MAX, l->arena, ret_len ? ret_len : &len);
}

/* ---- other places ---- */

int look_drop(struct look *l)
{
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	/* With other ids a process hides, and its id maps with it. */
	prctl(PR_SET_DUMPABLE, 1);
	l->who = WHO_USER;
	return 0;
}

static int map_own_ids(uid_t uid, gid_t gid)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", uid);
	snprintf(gids, sizeof(gids), "0 %u 1", gid);
	if (fd_write_at(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
	    fd_write_at(AT_FDCWD, "/proc/self/uid_map", uids) < 0 ||
	    fd_write_at(AT_FDCWD, "/proc/self/gid_map", gids) < 0)
		return -1;
	return 0;
}

static int enter(int flags)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(flags | CLONE_NEWNS) < 0)
		return -1;
	if ((flags & CLONE_NEWUSER) && map_own_ids(uid, gid) < 0)
		return -1;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int look_enter_userns(struct look *l, int flags)
{
	(void)l;
	return enter(flags | CLONE_NEWUSER);
}

int look_enter(struct look *l, int flags)
{
	return enter(l->who == WHO_USER ? flags | CLONE_NEWUSER : flags);
}

int look_in_child(int (*run)(void *context), void *context)
{
	int pidfd = -1, status;
	pid_t pid = sys_fork(&pidfd);

	if (pid < 0)
		return -1;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(run(context) & 0xff);
	}
	fd_close(&pidfd);
	status = child_collect(pid);
	return status >= 0 && (status & 0x7f) == 0 ? child_exit_code(status) : -1;
}
