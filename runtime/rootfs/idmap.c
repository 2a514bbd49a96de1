#include "rootfs/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/mountinfo.h"
#include "sys/sys.h"

bool idmap_is_needless(int fd)
{
	static const unsigned long kinds[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	 CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		DEVPTS_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,    SECURITYFS_MAGIC,
		BPF_FS_MAGIC,	  NSFS_MAGIC,
	};
	struct statfs fs;
	struct stat st;
	size_t i;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return true;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((unsigned long)fs.f_type == kinds[i])
			return true;
	return false;
}

struct idmap_search {
	uint64_t id;
	char type[64];
};

static int idmap_look(const struct mountinfo_line *line, void *context, struct error *e)
{
	struct idmap_search *s = context;

	(void)e;
	if (line->id != s->id)
		return 0;
	snprintf(s->type, sizeof(s->type), "%s", line->type);
	return 1;
}

static int idmap_call(int tree_fd, bool recursive, int userns_fd)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_IDMAP,
		.userns_fd = (unsigned int)userns_fd,
	};

	return mount_setattr(tree_fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0U), &attr,
			     sizeof(attr));
}

/* The kernel maps all of the tree or nothing; who can't may be mounted below. */
static int idmap_refuse(int tree_fd, bool recursive, int userns_fd, int source_fd,
			const char *field, const char *source, struct error *e)
{
	bool below = recursive && idmap_call(tree_fd, false, userns_fd) == 0;
	struct idmap_search s = {.id = sys_mount_id_of(source_fd), .type = "unknown"};
	struct error ignored;

	mountinfo_each(idmap_look, &s, &ignored);
	return err_set(e, ERR_HOST,
		       "%s: %s %s (%s) can't map ids (idmapped mounts) on this kernel: keep it on "
		       "ext4, xfs, btrfs or a tmpfs",
		       field, below ? "a filesystem that is mounted below" : "the filesystem of",
		       source, below ? "itself on one that can" : s.type);
}

int idmap_set(int tree_fd, bool recursive, int userns_fd, int source_fd, const char *field,
	      const char *source, struct error *e)
{
	if (idmap_call(tree_fd, recursive, userns_fd) == 0)
		return 0;
	if (errno == EINVAL)
		return idmap_refuse(tree_fd, recursive, userns_fd, source_fd, field, source, e);
	if (errno == EPERM)
		return err_set(e, ERR_HOST,
			       "%s: the mount of %s maps ids already, or may not", field, source);
	return err_sys(e, "%s: map ids of %s", field, source);
}

int idmap_clone(int source_fd, bool recursive, int userns_fd, const char *field, const char *source,
		struct error *e)
{
	const unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
	autoclose int fd = open_tree(source_fd, "", flags | (recursive ? AT_RECURSIVE : 0U));

	if (fd < 0)
		return err_sys(e, "%s: clone %s", field, source);
	if (idmap_set(fd, recursive, userns_fd, source_fd, field, source, e) < 0)
		return -1;
	return fd_steal(&fd);
}
