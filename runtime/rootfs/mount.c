#include "rootfs/mount.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "rootfs/attach.h"
#include "rootfs/guard.h"
#include "rootfs/idmap.h"
#include "rootfs/procfs.h"
#include "sys/sys.h"

/* fsconfig() takes strings of up to this many bytes. */
enum { FS_STRING_MAX = 255 };

/* Adds the kernel's word on a refused parameter, if there is one. */
static void mount_add_fs_log(int fs_fd, struct error *e)
{
	char text[256];
	ssize_t n = read(fs_fd, text, sizeof(text) - 1);
	size_t len = strlen(e->text);

	if (n <= 2)
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	/* The first two characters are the kind of message and a space. */
	snprintf(e->text + len, sizeof(e->text) - len, " (%s)", text + 2);
}

static int mount_set_attributes(int fd, const struct mount_plan *m, struct error *e)
{
	if (sys_set_attr(fd, true, m->set_all, m->clear_all, 0) == 0 &&
	    sys_set_attr(fd, false, m->set, m->clear, 0) == 0)
		return 0;
	if (errno == EPERM)
		return err_set(
			e, ERR_HOST,
			"%s.options: the host's mount of %s is more restricted than that, and "
			"a user namespace can't lift it",
			m->field, m->source ? m->source : m->type);
	return err_sys(e, "%s.options: set attributes of %s", m->field, m->destination);
}

static int mount_set_propagation(int fd, const struct mount_plan *m, struct error *e)
{
	if (sys_set_attr(fd, m->propagation_all, 0, 0, m->propagation) < 0)
		return err_sys(e, "%s.options: set propagation of %s", m->field, m->destination);
	return 0;
}

static int mount_set_idmap(int fd, const struct mount_plan *m, int source_fd, int userns_fd,
			   struct error *e)
{
	if (m->idmap == IDMAP_NONE)
		return 0;
	return idmap_set(fd, m->idmap == IDMAP_ALL, userns_fd, source_fd, m->field, m->source, e);
}

/* Rule R7: on /proc and /sys only the real thing, also when it is bound, and the whole of it: masks
 * would find nothing in a part. */
static int mount_check_special(int fd, const struct mount_plan *m, struct error *e)
{
	static const struct {
		const char *destination;
		long magic;
		const char *name;
	} special[] = {{"/proc", PROC_SUPER_MAGIC, "procfs"}, {"/sys", SYSFS_MAGIC, "sysfs"}};
	enum { TOP_INODE = 1 }; /* of both */
	struct statfs fs;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(special); i++) {
		if (!str_eq(m->destination, special[i].destination))
			continue;
		if (fstatfs(fd, &fs) < 0 || fs.f_type != special[i].magic || fstat(fd, &st) < 0 ||
		    st.st_ino != TOP_INODE)
			return err_set(
				e, ERR_CONFIG,
				"%s.source: %s is not a %s, and only a %s may be bound to %s",
				m->field, m->source, special[i].name, special[i].name,
				m->destination);
	}
	return 0;
}

/* Trust: what lies in the root filesystem is the image's, links on the way among it. */
static int mount_open_inside(const struct plan *p, const char *path)
{
	autoclose int root_dfd = open(p->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return root_dfd < 0 ? -1 : resolve_open(root_dfd, path, O_PATH);
}

/* Without links on the way, and spelt plainly, its name is the one that the kernel has for it. */
static int mount_open_outside(const char *path, const char **ret_name)
{
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);

	*ret_name = fd >= 0 && path_is_clean(path) ? path : NULL;
	return fd >= 0 ? fd : open(path, O_PATH | O_CLOEXEC);
}

/* Trust: who may write to a directory above a source can put a link, or another directory, in its
 * place. What is looked at is what is mounted. */
static int mount_open_pinned(const struct mount_plan *m, const char **ret_name, struct error *e)
{
	autoclose int fd =
		sys_openat2(AT_FDCWD, m->source, O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return err_set(e, ERR_CONFIG,
			       "%s.source: %s is a link or lies behind one, which it did not when "
			       "the box was made",
			       m->field, m->source);
	if (fd < 0)
		return err_sys(e, "%s.source: open %s", m->field, m->source);
	if (m->inode && fstat(fd, &st) < 0)
		return err_sys(e, "%s.source: look at %s", m->field, m->source);
	if (m->inode && (st.st_dev != m->device || st.st_ino != m->inode))
		return err_set(
			e, ERR_CONFIG,
			"%s.source: %s is not the directory or file that it was when the box "
			"was made",
			m->field, m->source);
	*ret_name = path_is_clean(m->source) ? m->source : NULL;
	return fd_steal(&fd);
}

int mount_open_source(const struct plan *p, const struct mount_plan *m, struct guard_look *looks,
		      struct error *e)
{
	const char *name = NULL;
	bool pinned = m->pinned && !m->inside;
	autoclose int fd = m->inside ? mount_open_inside(p, m->inside) :
			   pinned    ? mount_open_pinned(m, &name, e) :
				       mount_open_outside(m->source, &name);

	if (fd < 0 && pinned)
		return -1;
	if (fd < 0)
		return err_sys(e, "%s.source: open %s", m->field, m->source);
	if (!m->inside && !m->stands_in && !m->ours &&
	    guard_check_source(p, looks, m, fd, name, e) < 0)
		return -1;
	return fd_steal(&fd);
}

bool mount_wants_directory(const struct mount_plan *m, int source_fd)
{
	struct stat st;

	return m->kind != MOUNT_BIND || fstat(source_fd, &st) < 0 || S_ISDIR(st.st_mode);
}

int mount_clone_bind(const struct plan *p, const struct mount_plan *m, int source_fd, int userns_fd,
		     struct error *e)
{
	unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
	autoclose int fd = open_tree(source_fd, "", flags | (m->recursive ? AT_RECURSIVE : 0U));

	if (fd < 0 && errno == EINVAL && !m->recursive)
		return err_set(
			e, ERR_CONFIG,
			"%s.options: %s can't be bound without the mounts below it: use rbind "
			"(invalid argument)",
			m->field, m->source);
	if (fd < 0)
		return err_sys(e, "%s.source: clone %s", m->field, m->source);
	if (mount_check_special(fd, m, e) < 0)
		return -1;
	/* Whatever is done inside stays inside, unless the root itself is shared with the host. */
	if (!p->keep_host_propagation && sys_set_attr(fd, true, 0, 0, MS_SLAVE) < 0)
		return err_sys(e, "%s: detach %s from the host", m->field, m->source);
	if (mount_set_propagation(fd, m, e) < 0 ||
	    mount_set_idmap(fd, m, source_fd, userns_fd, e) < 0 ||
	    mount_set_attributes(fd, m, e) < 0)
		return -1;
	return fd_steal(&fd);
}

static int mount_set_params(int fs_fd, const struct mount_plan *m, struct error *e)
{
	size_t i;

	for (i = 0; i < m->n_params; i++) {
		const struct mount_param *q = &m->params[i];
		unsigned int command = q->value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		if (fsconfig(fs_fd, command, q->key, q->value, 0) == 0)
			continue;
		err_sys(e, "%s.options: %s refuses %s%s%s", m->field, m->type, q->key,
			q->value ? "=" : "", q->value ? q->value : "");
		mount_add_fs_log(fs_fd, e);
		return -1;
	}
	return 0;
}

static bool mount_has_param(const struct mount_plan *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->n_params; i++)
		if (str_eq(m->params[i].key, key))
			return true;
	return false;
}

/* A tmpfs without a mode takes that of the directory it covers; where the image has none, the
 * kernel's 1777, or a program that is not root could not use it. */
static int mount_set_tmpfs_mode(int fs_fd, const struct mount_plan *m, struct in_root target)
{
	char mode[16];
	struct stat st;

	if (!str_eq(m->type, "tmpfs") || mount_has_param(m, "mode") || target.made)
		return 0;
	if (fstat(target.fd, &st) < 0)
		return -1;
	snprintf(mode, sizeof(mode), "%o", st.st_mode & 07777);
	return fsconfig(fs_fd, FSCONFIG_SET_STRING, "mode", mode, 0);
}

static bool mount_needs_old_call(const struct mount_plan *m)
{
	size_t i;

	/* A procfs may have to show another pid namespace, and has no long parameters. */
	if (str_eq(m->type, "proc"))
		return false;
	for (i = 0; i < m->n_params; i++)
		if (m->params[i].value && strlen(m->params[i].value) > FS_STRING_MAX)
			return true;
	return false;
}

/* A device that may only be read must not be opened for writing either. */
static bool mount_is_readonly_device(const struct mount_plan *m)
{
	return m->source && m->source[0] == '/' && (m->set & MOUNT_ATTR_RDONLY);
}

static int mount_call_old(const struct mount_plan *m, int place_fd, struct error *e)
{
	unsigned long flags = mount_is_readonly_device(m) ? MS_RDONLY : 0;
	char data[4096], path[64];
	size_t i, len = 0;

	for (i = 0; i < m->n_params && len < sizeof(data); i++)
		len += (size_t)snprintf(data + len, sizeof(data) - len, "%s%s%s%s", i ? "," : "",
					m->params[i].key, m->params[i].value ? "=" : "",
					m->params[i].value ? m->params[i].value : "");
	if (len >= sizeof(data))
		return err_set(e, ERR_CONFIG, "%s.options: more than %zu bytes in all", m->field,
			       sizeof(data) - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place_fd);
	if (mount(m->source ? m->source : m->type, path, m->type, flags, data) < 0)
		return err_sys(e, "%s: mount %s (type %s)", m->field, m->destination, m->type);
	return 0;
}

/* Mounts in a directory of scratch_dfd, where nobody else has a name for anything, and returns a
 * detached clone. */
static int mount_make_in_scratch(const struct mount_plan *m, int scratch_dfd, struct error *e)
{
	autoclose int place_fd = -1, made_fd = -1;
	int fd;

	if (mkdirat(scratch_dfd, "place", 0700) < 0 ||
	    (place_fd = openat(scratch_dfd, "place", O_PATH | O_CLOEXEC)) < 0)
		return err_sys(e, "%s: make a place to mount on", m->field);
	if (mount_call_old(m, place_fd, e) < 0)
		return -1;
	made_fd = openat(scratch_dfd, "place", O_PATH | O_CLOEXEC);
	fd = made_fd < 0 ?
		     -1 :
		     open_tree(made_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (fd < 0)
		return err_sys(e, "%s: clone what was mounted", m->field);
	return fd;
}

/*
 * The exception of rule R2: a parameter is too long for fsconfig(). mount(2) leaves no descriptor
 * of what it has mounted, and looking it up again by name would be a race with whoever shares the
 * image. So it is done in a tmpfs of our own that stands at the target for that moment.
 */
static int mount_make_fs_old(const struct mount_plan *m, const struct sources *s,
			     struct in_root target, struct error *e)
{
	autoclose int scratch_dfd = sys_mount_new("tmpfs", "mode", "700", 0);
	char path[64];
	int fd;

	if (scratch_dfd < 0)
		return err_sys(e, "%s: prepare %s", m->field, m->destination);
	if (attach_tree(s->peers, scratch_dfd, target, e) < 0)
		return err_wrap(e, "%s", m->field);
	fd = mount_make_in_scratch(m, scratch_dfd, e);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", scratch_dfd);
	if (umount2(path, MNT_DETACH) < 0 && fd >= 0) {
		err_sys(e, "%s: unmount the scratch tmpfs", m->field);
		fd_close(&fd);
	}
	return fd;
}

static int mount_open_fs(const struct mount_plan *m, const struct sources *s)
{
	if (s->pid_ns_fd >= 0 && str_eq(m->type, "proc"))
		return procfs_open(s->pid_ns_fd, !s->pid_ns_entered);
	return fsopen(m->type, FSOPEN_CLOEXEC);
}

/* In a user namespace the kernel makes these only as restricted as those that it has already: a
 * nested engine's /sys is read-only. Others may have to be filled first. */
static unsigned int mount_first_attrs(const struct mount_plan *m)
{
	return str_eq(m->type, "proc") || str_eq(m->type, "sysfs") ? (unsigned int)m->set : 0;
}

static int mount_make_fs_new(const struct mount_plan *m, const struct sources *s,
			     struct in_root target, struct error *e)
{
	autoclose int fs_fd = mount_open_fs(m, s);
	autoclose int fd = -1;
	struct statfs fs;

	if (fs_fd < 0 && errno == ENODEV)
		return err_set(e, ERR_HOST,
			       "%s.type: this kernel has no filesystem \"%s\": no such device",
			       m->field, m->type);
	if (fs_fd < 0)
		return err_sys(e, "%s: mount %s (type %s)", m->field, m->destination, m->type);
	if (m->source && *m->source &&
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", m->source, 0) < 0)
		return err_sys(e, "%s.source: %s", m->field, m->source);
	if (mount_set_params(fs_fd, m, e) < 0)
		return -1;
	if (mount_is_readonly_device(m) &&
	    fsconfig(fs_fd, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0)
		return err_sys(e, "%s.options: ro", m->field);
	if (mount_set_tmpfs_mode(fs_fd, m, target) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ||
	    (fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, mount_first_attrs(m))) < 0) {
		err_sys(e, "%s: mount %s (type %s)", m->field, m->destination, m->type);
		mount_add_fs_log(fs_fd, e);
		return -1;
	}
	/* Another process may have asked the kernel for it (rootfs/procfs.h), and could have sent
	 * anything. */
	if (str_eq(m->type, "proc") && (fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC))
		return err_set(e, ERR_SYSTEM, "%s: what was to be mounted on %s is not a procfs",
			       m->field, m->destination);
	return fd_steal(&fd);
}

int mount_make_fs(const struct mount_plan *m, const struct sources *s, struct in_root target,
		  struct error *e)
{
	return mount_needs_old_call(m) ? mount_make_fs_old(m, s, target, e) :
					 mount_make_fs_new(m, s, target, e);
}

int mount_bind_outer_sys(const struct plan *p, const struct mount_plan *m, struct error *e)
{
	struct mount_plan bind = *m;
	autoclose int source_fd = -1;

	bind.kind = MOUNT_BIND;
	bind.source = "/sys";
	bind.recursive = true;
	bind.stands_in = true;
	bind.set_all |= MOUNT_ATTR_RDONLY;
	source_fd = mount_open_source(p, &bind, NULL, e); /* it stands in: no guard */
	return source_fd < 0 ? -1 : mount_clone_bind(p, &bind, source_fd, -1, e);
}

int mount_change(const struct mount_plan *m, struct in_root target, struct error *e)
{
	if (m->n_params && m->kind == MOUNT_REMOUNT) {
		autoclose int fs_fd = fspick(target.fd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);

		if (fs_fd < 0)
			return err_sys(e, "%s: remount %s", m->field, m->destination);
		if (mount_set_params(fs_fd, m, e) < 0)
			return -1;
		if (fsconfig(fs_fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
			return err_sys(e, "%s: remount %s", m->field, m->destination);
	}
	if (mount_set_attributes(target.fd, m, e) < 0)
		return -1;
	return mount_set_propagation(target.fd, m, e);
}
