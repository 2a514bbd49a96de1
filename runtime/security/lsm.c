/*
 * The files and their words are the kernel's interface (Documentation/admin-guide/LSM, attr/exec);
 * tests/lsm/ tries them on kernels that run AppArmor or SELinux.
 */
#include "security/lsm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "base/fd.h"
#include "sys/proc.h"
#include "sys/sys.h"

enum { LABEL_MAX = 4096 };

/* Opens a file of /sys if it lies on a filesystem of the given kind, without following links. */
static int sys_open_verified(const char *path, unsigned long magic)
{
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0,
				       RESOLVE_NO_SYMLINKS);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || (unsigned long)fs.f_type != magic)
		return -1;
	return fd_steal(&fd);
}

void lsm_probe_host(struct lsm_host *ret_host)
{
	autoclose int apparmor_fd =
		sys_open_verified("/sys/module/apparmor/parameters/enabled", SYSFS_MAGIC);
	autoclose int selinux_dfd = sys_open_verified("/sys/fs/selinux", SELINUX_MAGIC);
	char answer = 'N';

	*ret_host = (struct lsm_host){
		.apparmor = apparmor_fd >= 0 && read(apparmor_fd, &answer, 1) == 1 && answer == 'Y',
		.selinux = selinux_dfd >= 0,
	};
}

static int lsm_set_apparmor(int self_dfd, const char *profile, struct error *e)
{
	char text[LABEL_MAX];
	int n = snprintf(text, sizeof(text), "exec %s", profile);

	if (n < 0 || (size_t)n >= sizeof(text))
		return err_set(e, ERR_CONFIG, "process.apparmorProfile: too long");
	if (proc_write(self_dfd, "attr/apparmor/exec", text) == 0)
		return 0;
	/* Without a directory of its own (no LSM stacking), the file is shared. */
	if (errno == ENOENT && proc_write(self_dfd, "attr/exec", text) == 0)
		return 0;
	return err_sys(e, "process.apparmorProfile: set %s", profile);
}

int lsm_set_exec(int self_dfd, const struct lsm_plan *p, struct error *e)
{
	if (p->apparmor_profile && lsm_set_apparmor(self_dfd, p->apparmor_profile, e) < 0)
		return -1;
	if (p->selinux_label && proc_write(self_dfd, "attr/exec", p->selinux_label) < 0)
		return err_sys(e, "process.selinuxLabel: set %s", p->selinux_label);
	return 0;
}
