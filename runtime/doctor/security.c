/* Confinement of a container's program, and of us. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "doctor/check.h"
#include "oci/names.h"
#include "plan/landlock.h"
#include "security/caps.h"
#include "security/lsm.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* ---- seccomp ---- */

/* Puts a filter that allows everything on this process. */
static int load_filter(unsigned long flags)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) < 0 ? -1 : 0;
}

static int look_filter(struct look *l)
{
	if (load_filter(0) == 0)
		return look_fine(l, "filters can be loaded");
	if (errno == EINVAL || errno == ENOSYS)
		return look_missing(l, "this kernel has no CONFIG_SECCOMP_FILTER");
	look_remedy_container(l, "--security-opt seccomp=unconfined",
			      "--security-opt seccomp=unconfined");
	return look_missing(l, "no filter can be loaded: %s", err_text(errno));
}

/* A kernel that has it says EINVAL to none of these flags. */
static int look_listener(struct look *l)
{
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	if (l->check->what)
		flags |= SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	if (load_filter(flags) == 0)
		return look_fine(l, "can be loaded");
	if (errno == EBUSY)
		return look_less(l, "a filter around us listens already, and there can be one");
	if (errno == EINVAL)
		return look_missing(l, "this kernel has none (%s)",
				    l->check->what ? "since 5.19" : "since 5.0");
	return look_missing(l, "no filter can be loaded: %s", err_text(errno));
}

/* ---- LSMs ---- */

static int look_landlock(struct look *l)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	char lsm[512];

	if (abi > 0)
		return plan_landlock_lack((int)abi) ?
			       look_less(l, "ABI %ld: %s", abi, plan_landlock_lack((int)abi)) :
			       look_fine(l, "ABI %ld", abi);
	if (errno == EOPNOTSUPP &&
	    fd_read_at(AT_FDCWD, "/sys/kernel/security/lsm", lsm, sizeof(lsm)) > 0)
		look_remedy_boot(l, arena_printf(l->arena, "lsm=landlock,%s", lsm));
	if (errno == EOPNOTSUPP)
		return look_missing(l, "the kernel has it, and was started without it");
	return look_missing(l, "%s", errno == ENOSYS ? "this kernel has none" : err_text(errno));
}

static bool knows_securityfs(struct look *l)
{
	const char *text = look_file(l, "/proc/filesystems", NULL);

	return text && strstr(text, "\tsecurityfs\n");
}

static int look_lsm(struct look *l)
{
	struct lsm_host host;
	char list[512];

	if (fd_read_at(AT_FDCWD, "/sys/kernel/security/lsm", list, sizeof(list)) >= 0)
		return look_fine(l, "%s", *list ? list : "none");
	lsm_probe_host(&host);
	if (host.apparmor || host.selinux)
		return look_fine(l, "%s", host.apparmor ? "apparmor" : "selinux");
	if (!knows_securityfs(l))
		return look_fine(l, "none: this kernel has no securityfs");
	if (l->who == WHO_ROOT)
		look_remedy(l, "mount -t securityfs securityfs /sys/kernel/security");
	return look_less(l, "neither AppArmor nor SELinux; securityfs, which lists the others, is "
			    "not mounted");
}

/* ---- what we are confined by ---- */

static int look_own_filter(struct look *l)
{
	const char *text = look_file(l, "/proc/self/status", NULL);
	const char *line = text ? strstr(text, "\nSeccomp:\t") : NULL;

	if (!line)
		return look_less(l, "/proc/self/status doesn't say");
	if (line[strlen("\nSeccomp:\t")] == '0')
		return look_fine(l, "there is none on us");
	look_remedy_container(l, "--security-opt seccomp=unconfined",
			      "--security-opt seccomp=unconfined");
	return look_less(l, "there is one on us, and on all containers then");
}

static char *list_caps(uint64_t caps, struct arena *a)
{
	struct buf b = buf_new(a, 2048);
	int n;

	for (n = 0; n < 64; n++)
		if (caps & CAPS_BIT(n))
			buf_printf(&b, "%s%s", b.len ? " " : "",
				   oci_cap_name(n) ? oci_cap_name(n) : "another");
	return b.data ? b.data : arena_strdup(a, "none");
}

static int look_caps(struct look *l)
{
	static const uint64_t needed = CAPS_BIT(CAP_SYS_ADMIN) | CAPS_BIT(CAP_SETUID) |
				       CAPS_BIT(CAP_SETGID) | CAPS_BIT(CAP_SETPCAP) |
				       CAPS_BIT(CAP_SYS_CHROOT);
	struct cap_host host;
	struct error e;
	uint64_t lost;

	if (caps_probe_host(&host, &e) < 0)
		return look_missing(l, "%s", e.text);
	lost = host.known & ~host.available;
	if (!lost)
		return look_fine(l, "all that the kernel knows");
	look_remedy_container(l, "--privileged", "--privileged");
	if (lost & needed)
		return look_missing(l, "%s: containers can't be made without",
				    list_caps(lost & needed, l->arena));
	return look_less(l, "lacking: %s; no container gets them", list_caps(lost, l->arena));
}

static int look_box(struct look *l)
{
	const char *engine = look_container(l);

	if (!engine)
		return look_fine(l, "this is none, as far as it shows");
	return look_less(l, "this is one (%s): what it forbids is forbidden to containers in it",
			 engine);
}

static const struct doctor_check checks[] = {
	{"seccomp.filter", "seccomp", WHO_ALL, WHO_ALL, look_filter},
	{"seccomp.notify", "seccomp notification", WHO_ALL, 0, look_listener},
	{"seccomp.killable", "seccomp WAIT_KILLABLE_RECV", WHO_ALL, 0, look_listener, "killable"},
	{"landlock", "Landlock", WHO_ALL, 0, look_landlock},
	{"lsm", "security modules", WHO_ALL, 0, look_lsm},
	{"own.container", "container around us", WHO_ALL, 0, look_box},
	{"own.seccomp", "seccomp filter around us", WHO_ALL, 0, look_own_filter},
	{"own.capabilities", "our capabilities", WHO_ROOT | WHO_INNER_ROOT,
	 WHO_ROOT | WHO_INNER_ROOT, look_caps},
};

const struct doctor_group doctor_security = {checks, ARRAY_SIZE(checks)};
