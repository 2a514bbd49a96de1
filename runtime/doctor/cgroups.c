/*
 * cgroups: which there are, and whether ones can be made. They are made below the caller's own and
 * nowhere else, empty, and removed at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/systemd.h"
#include "doctor/check.h"
#include "doctor/words.h"
#include "sys/child.h"
#include "sys/sys.h"

#define DELEGATE_DIR "/etc/systemd/system/user@.service.d"

static int probe(struct look *l, struct cgroup_host *ret, struct error *e)
{
	return cgroup_host_probe(l->who != WHO_ROOT, l->arena, ret, e);
}

/* The directory of our own cgroup; NULL: the mount doesn't show it. */
static char *own_dir(const struct cgroup_hierarchy *h, struct arena *a)
{
	const char *own = h->own;

	if (!str_eq(h->root, "/") && (!(own = str_after(own, h->root)) || (*own && *own != '/')))
		return NULL;
	return arena_printf(a, "%s%s", h->mount, str_eq(own, "/") ? "" : own);
}

static const struct cgroup_hierarchy *find_unified(const struct cgroup_host *host)
{
	size_t i;

	for (i = 0; i < host->n; i++)
		if (host->v[i].unified)
			return &host->v[i];
	return NULL;
}

static unsigned int controllers_of(const struct cgroup_host *host)
{
	unsigned int bits = 0;
	size_t i;

	for (i = 0; i < host->n; i++)
		bits |= words_read_controllers(host->v[i].unified ? host->v[i].v2_controllers :
								    host->v[i].controllers);
	return bits;
}

/* ---- what systemd gives to ordinary users ---- */

static unsigned int read_delegates(struct look *l, const char *pattern, unsigned int bits)
{
	glob_t found;
	size_t i;

	if (glob(pattern, 0, NULL, &found) != 0)
		return bits;
	for (i = 0; i < found.gl_pathc; i++) {
		const char *text = look_file(l, found.gl_pathv[i], NULL);

		if (text)
			bits = words_read_delegate(text, bits);
	}
	globfree(&found);
	return bits;
}

/* A running session counts more than unit files, which hold from the next one on. */
static unsigned int delegated(struct look *l, const char *mount, const char **ret_from)
{
	const char *user = l->who == WHO_ROOT ? "*" : arena_printf(l->arena, "%u", geteuid());
	const char *text = NULL;
	unsigned int bits;
	glob_t found;

	*ret_from = "a running session";
	if (glob(arena_printf(l->arena,
			      "%s/user.slice/user-%s.slice/user@%s.service/cgroup.controllers",
			      mount, user, user),
		 0, NULL, &found) == 0) {
		text = look_file(l, found.gl_pathv[0], NULL);
		globfree(&found);
	}
	if (text)
		return words_read_controllers(text);
	*ret_from = "the unit files";
	bits = read_delegates(l, "/usr/lib/systemd/system/user@.service", 0);
	bits = read_delegates(l, "/usr/lib/systemd/system/user@.service.d/*.conf", bits);
	return read_delegates(l, DELEGATE_DIR "/*.conf", bits);
}

static void remedy_delegate(struct look *l)
{
	look_remedy(l, "mkdir -p " DELEGATE_DIR " && printf '[Service]\\nDelegate=cpu cpuset io "
		       "memory pids\\n' >" DELEGATE_DIR "/delegate.conf && systemctl "
		       "daemon-reload");
}

/* Those that the machine has, and that can be given. */
static unsigned int controllers_there(struct look *l, const struct cgroup_hierarchy *unified)
{
	const char *text =
		look_file(l, arena_printf(l->arena, "%s/cgroup.controllers", unified->mount), NULL);

	return text ? words_read_controllers(text) : CONTROLLERS_ALL;
}

/* A user's systemd looks at what is delegated to it when it starts. */
static void remedy_controllers(struct look *l, const struct cgroup_host *host, unsigned int lacking)
{
	const struct cgroup_hierarchy *unified = find_unified(host);
	const char *from;

	if (l->who != WHO_USER || !unified || !systemd_is_running() ||
	    !(lacking & controllers_there(l, unified)))
		return;
	if (lacking & controllers_there(l, unified) & ~delegated(l, unified->mount, &from))
		remedy_delegate(l);
	else
		look_remedy(l, "systemctl restart user@%u.service", geteuid());
}

/* ---- which there are ---- */

static int look_mode(struct look *l)
{
	static const char *const words[] = {
		[CGROUP_V1] = "cgroup v1",
		[CGROUP_HYBRID] = "hybrid: cgroup v1, and a unified tree beside it",
		[CGROUP_V2] = "cgroup v2",
	};
	struct cgroup_host host;
	struct error e;

	if (probe(l, &host, &e) < 0)
		return look_missing(l, "%s", e.text);
	if (host.mode != CGROUP_NONE)
		return look_fine(l, "%s", words[host.mode]);
	look_remedy(l, "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
	return look_missing(l, "none is mounted");
}

/* There is nothing to say of limits where no cgroup can be made, which has a line of its own. */
static bool is_shut_out(struct look *l, const struct cgroup_host *host)
{
	size_t i;

	for (i = 0; i < host->n; i++)
		if (l->who == WHO_ROOT || host->v[i].base)
			return false;
	return true;
}

static int look_controllers(struct look *l)
{
	struct cgroup_host host;
	unsigned int bits;
	struct error e;

	if (probe(l, &host, &e) < 0 || is_shut_out(l, &host))
		return LOOK_NOTHING;
	bits = controllers_of(&host);
	if (bits == CONTROLLERS_ALL)
		return look_fine(l, "%s", words_list_controllers(bits, l->arena));
	if (l->who == WHO_ROOT && !(bits & words_read_controllers("memory")))
		look_remedy_boot(l, "cgroup_enable=memory");
	remedy_controllers(l, &host, CONTROLLERS_ALL & ~bits);
	return look_missing(l, "%s; there is no %s: limits of these can't be set",
			    bits ? words_list_controllers(bits, l->arena) : "none",
			    words_list_controllers(CONTROLLERS_ALL & ~bits, l->arena));
}

static int look_pids(struct look *l)
{
	struct cgroup_host host;
	struct error e;

	if (probe(l, &host, &e) < 0 || is_shut_out(l, &host))
		return LOOK_NOTHING;
	if (controllers_of(&host) & words_read_controllers("pids"))
		return look_fine(l, "can be set");
	remedy_controllers(l, &host, words_read_controllers("pids"));
	return look_missing(l, "there is no controller pids: nothing stops a fork bomb");
}

/* The file that a limit would be written to; the root of the unified tree has none. */
static int look_swap(struct look *l)
{
	unsigned int memory = words_read_controllers("memory");
	struct cgroup_host host;
	struct error e;
	size_t i;

	if (probe(l, &host, &e) < 0 || is_shut_out(l, &host) || !(controllers_of(&host) & memory))
		return LOOK_NOTHING;
	for (i = 0; i < host.n; i++) {
		const struct cgroup_hierarchy *h = &host.v[i];
		const char *dir = own_dir(h, l->arena);
		const char *file = h->unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes";

		if (!dir ||
		    !(words_read_controllers(h->unified ? h->v2_controllers : h->controllers) &
		      memory))
			continue;
		if (access(arena_printf(l->arena, "%s/%s", dir, file), F_OK) == 0 ||
		    (h->unified && access("/proc/swaps", F_OK) == 0))
			return look_fine(l, "limits of swap can be set");
	}
	look_remedy_boot(l, "swapaccount=1");
	return look_missing(l, "swap is not accounted: a limit of memory alone bounds nothing "
			       "where there is swap");
}

/* ---- making one ---- */

static char *trial_dir(struct look *l, const struct cgroup_hierarchy *h)
{
	const char *own = own_dir(h, l->arena);

	return own ? arena_printf(l->arena, "%s/sbxrun-doctor-%d", own, l->doctor) : NULL;
}

static void remove_trials(struct look *l)
{
	struct cgroup_host host;
	struct error e;
	size_t i;

	for (i = 0; probe(l, &host, &e) == 0 && i < host.n; i++) {
		const char *dir = trial_dir(l, &host.v[i]);

		if (dir)
			rmdir(dir);
	}
}

static int explain_create(struct look *l, const struct cgroup_hierarchy *h, int why)
{
	if (why == EROFS) {
		look_remedy(l, "mount -o remount,bind,rw %s", h->mount);
		return look_missing(l, "%s is mounted read-only", h->mount);
	}
	if ((why == EACCES || why == EPERM) && l->who != WHO_ROOT && h->unified &&
	    systemd_is_running()) {
		look_remedy(l, "systemd-run --user --scope --property=Delegate=yes sbxrun doctor");
		return look_missing(l, "our own cgroup, %s, is not delegated to us", h->own);
	}
	return look_missing(l, "not below our own, %s of %s: %s", h->own, h->mount, err_text(why));
}

static int look_create(struct look *l)
{
	struct cgroup_host host;
	struct error e;
	size_t i, n = 0;

	if (probe(l, &host, &e) < 0 || host.mode == CGROUP_NONE)
		return LOOK_NOTHING;
	if (l->who == WHO_USER && host.mode != CGROUP_V2) {
		look_remedy_boot(l, "systemd.unified_cgroup_hierarchy=1");
		return look_missing(l, "with cgroup v1 ordinary users have none: their containers "
				       "run without limits");
	}
	for (i = 0; i < host.n; i++) {
		const char *dir = trial_dir(l, &host.v[i]);

		if (!dir)
			continue;
		if (mkdir(dir, 0755) < 0)
			return explain_create(l, &host.v[i], errno);
		if (rmdir(dir) < 0)
			return look_less(l, "%s was made, and can't be removed: %s", dir,
					 err_text(errno));
		n++;
	}
	if (!n)
		return look_missing(l, "our own is not to be seen in what is mounted");
	return look_fine(l, "below our own, in %zu of %zu hierarchies", n, host.n);
}

static int look_clone(struct look *l)
{
	const struct cgroup_hierarchy *unified;
	autoclose int dfd = -1;
	struct cgroup_host host;
	const char *dir;
	struct error e;
	pid_t pid;

	if (probe(l, &host, &e) < 0 || is_shut_out(l, &host) || !(unified = find_unified(&host)) ||
	    !(dir = own_dir(unified, l->arena)))
		return LOOK_NOTHING;
	dfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd < 0)
		return look_missing(l, "open %s: %s", dir, err_text(errno));
	pid = sys_clone3(0, dfd, NULL);
	if (pid == 0)
		_exit(0);
	if (pid > 0) {
		child_collect(pid);
		return look_fine(l, "processes start in their cgroup");
	}
	if (l->who != WHO_ROOT && (errno == EACCES || errno == EPERM))
		return look_less(l, "not in our own cgroup, which is not delegated to us");
	return look_missing(l, "clone3 with CLONE_INTO_CGROUP: %s", err_text(errno));
}

/* ---- systemd ---- */

static int look_driver(struct look *l)
{
	if (systemd_is_running())
		return look_fine(l, "systemd runs: --systemd-cgroup makes scopes, cgroupfs works "
				    "as well");
	return look_fine(l, "cgroupfs: systemd is not the init of this machine");
}

static int look_delegation(struct look *l)
{
	const struct cgroup_hierarchy *unified;
	struct cgroup_host host;
	unsigned int bits, there;
	const char *from;
	struct error e;

	if (probe(l, &host, &e) < 0 || host.mode != CGROUP_V2 || !systemd_is_running() ||
	    !(unified = find_unified(&host)))
		return LOOK_NOTHING;
	there = controllers_there(l, unified);
	bits = delegated(l, unified->mount, &from) & there;
	if (bits == there)
		return look_fine(l, "%s (by %s)", words_list_controllers(bits, l->arena), from);
	remedy_delegate(l);
	return look_less(l, "systemd gives ordinary users %s (by %s), and not %s",
			 bits ? words_list_controllers(bits, l->arena) : "none", from,
			 words_list_controllers(there & ~bits, l->arena));
}

/* An ordinary user's containers run without, and say which limits have no effect. */
static const struct doctor_check checks[] = {
	{"cgroup.mode", "cgroups", WHO_ALL, WHO_ROOT, look_mode},
	{"cgroup.controllers", "controllers", WHO_ALL, 0, look_controllers},
	{"cgroup.create", "making cgroups", WHO_ALL, WHO_ROOT, look_create, .tidy = remove_trials},
	{"cgroup.clone", "CLONE_INTO_CGROUP", WHO_ALL, WHO_ROOT, look_clone},
	{"cgroup.pids", "limit of processes", WHO_ALL, 0, look_pids},
	{"cgroup.swap", "limit of swap", WHO_ALL, 0, look_swap},
	{"cgroup.driver", "cgroup driver", WHO_ALL, 0, look_driver},
	{"cgroup.delegation", "delegation to ordinary users", WHO_ROOT | WHO_USER, 0,
	 look_delegation},
};

const struct doctor_group doctor_cgroups = {checks, ARRAY_SIZE(checks)};
