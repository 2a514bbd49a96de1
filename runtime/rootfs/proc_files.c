#include "rootfs/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/attach.h"
#include "rootfs/nodes.h"
#include "sys/sys.h"

enum { NAME_SIZE = 32 };

static void proc_file_name(const struct proc_file *f, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "proc-%s", f->name);
}

int proc_files_write(const struct proc_files *files, int nodes_fd)
{
	char name[NAME_SIZE];
	size_t i;

	for (i = 0; i < files->n; i++) {
		autoclose int fd = -1;

		proc_file_name(&files->v[i], name);
		fd = openat(nodes_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		/* The caller's umask has no say. */
		if (fd < 0 || fchmod(fd, 0444) < 0 ||
		    fd_write_all(fd, files->v[i].text, strlen(files->v[i].text)) < 0)
			return -1;
	}
	return 0;
}

/* One that the kernel was built without is none that programs count on here. */
static int proc_file_cover(const struct proc_file *f, bool peers, int nodes_fd, int proc_dfd,
			   struct error *e)
{
	auto_in_root struct in_root target = IN_ROOT_NONE;
	autoclose int fd = -1;
	char name[NAME_SIZE];

	proc_file_name(f, name);
	target.fd = openat(proc_dfd, f->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (target.fd < 0 && errno == ENOENT)
		return 0;
	if (target.fd < 0)
		return err_sys(e, "open /proc/%s", f->name);
	fd = nodes_clone(nodes_fd, name, MOUNT_ATTR_NODEV);
	if (fd < 0)
		return err_sys(e, "make /proc/%s", f->name);
	return attach_tree(peers, fd, target, e) < 0 ? err_wrap(e, "/proc/%s", f->name) : 0;
}

static int proc_show_processes(int proc_dfd, struct error *e)
{
	autoclose int fs_fd = fspick(proc_dfd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);

	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return err_sys(e, "have /proc show processes alone");
	return 0;
}

/* Judges by the effect: a remount passes over words that the kernel does not know. */
static int proc_check(int proc_dfd, struct error *e)
{
	if (faccessat(proc_dfd, "sys", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return err_set(e, ERR_SYSTEM, "/proc shows more than processes");
	return 0;
}

int proc_files_cover(const struct plan *p, const struct mount_plan *m, bool peers, int nodes_fd,
		     int proc_dfd, struct error *e)
{
	size_t i;

	for (i = 0; i < p->proc_files.n; i++)
		if (proc_file_cover(&p->proc_files.v[i], peers, nodes_fd, proc_dfd, e) < 0)
			return err_wrap(e, "%s", m->field);
	if (proc_show_processes(proc_dfd, e) < 0 || proc_check(proc_dfd, e) < 0)
		return err_wrap(e, "%s", m->field);
	return 0;
}
