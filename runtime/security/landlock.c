/*
 * A place of the plan is looked up by its name, in a root that the image could have prepared. So
 * it counts by what is found: the root of a mount that is writable now and is no procfs, or a
 * device. What is not found, or out of the program's reach, gives nothing.
 */
#include "security/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/sys.h"

enum { GET_VERSION = 1, RULE_PATH_BENEATH = 1 };

/* As much of it as is used: all kernels know that. */
struct ruleset_attr {
	uint64_t handled_access_fs;
};

struct path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

int landlock_probe(int *ret_abi, struct error *e)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

	if (abi < 0 && errno != ENOSYS && errno != EOPNOTSUPP)
		return err_sys(e, "ask for the ABI of Landlock");
	*ret_abi = abi < 0 ? 0 : (int)abi;
	return 0;
}

static int rule_add(int ruleset_fd, int fd, uint64_t rights)
{
	const struct path_beneath_attr attr = {rights, fd};

	return (int)syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &attr, 0);
}

static int rule_add_root(const struct landlock_plan *p, int ruleset_fd, struct error *e)
{
	autoclose int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || rule_add(ruleset_fd, fd, p->root) < 0 ? err_sys(e, "Landlock: /") : 0;
}

static int mount_look(int fd, bool *ret_writable)
{
	struct statvfs flags;
	struct statfs fs;
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, 0, &stx) < 0 || fstatfs(fd, &fs) < 0 ||
	    fstatvfs(fd, &flags) < 0)
		return -1;
	*ret_writable = (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) &&
			fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC &&
			!(flags.f_flag & ST_RDONLY);
	return 0;
}

/* 0: nothing. */
static int place_rights(const struct landlock_place *place, int fd, uint64_t handled,
			uint64_t *ret, struct error *e)
{
	struct stat st;
	bool writable;

	if (fstat(fd, &st) < 0 || mount_look(fd, &writable) < 0)
		return err_sys(e, "Landlock: look at %s", place->path);
	*ret = 0;
	if (place->on == ON_DEVICE) {
		if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISFIFO(st.st_mode))
			*ret = place->rights;
		return 0;
	}
	if (!writable)
		return 0;
	*ret = S_ISDIR(st.st_mode) ? place->rights : place->rights & LANDLOCK_OF_FILES;
	/* A policy gave it: no other mount shows one that can be opened. */
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		*ret |= LANDLOCK_IOCTL_DEV & handled;
	return 0;
}

/* Trust: the path leads through the image. */
static int rule_add_place(const struct landlock_plan *p, const struct landlock_place *place,
			  int ruleset_fd, struct error *e)
{
	autoclose int fd =
		sys_openat2(AT_FDCWD, place->path, O_PATH | O_CLOEXEC, 0, RESOLVE_NO_MAGICLINKS);
	uint64_t rights;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP))
		return 0;
	if (fd < 0)
		return err_sys(e, "Landlock: open %s", place->path);
	if (place_rights(place, fd, p->handled, &rights, e) < 0)
		return -1;
	return rights && rule_add(ruleset_fd, fd, rights) < 0 ?
		       err_sys(e, "Landlock: %s", place->path) :
		       0;
}

/* The streams may be files of the host: /dev/stdout opens them again. */
static int rule_add_stream(const struct landlock_plan *p, int stream_fd, int ruleset_fd,
			   struct error *e)
{
	static const uint64_t by_mode[] = {
		[O_RDONLY] = LANDLOCK_READ_FILE,
		[O_WRONLY] = LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE,
		[O_RDWR] = LANDLOCK_READ_FILE | LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE,
		[O_ACCMODE] = 0,
	};
	int flags = fcntl(stream_fd, F_GETFL);
	uint64_t rights;
	struct stat st;

	if (flags < 0 || fstat(stream_fd, &st) < 0)
		return errno == EBADF ? 0 : err_sys(e, "Landlock: stream %d", stream_fd);
	rights = by_mode[flags & O_ACCMODE];
	if (isatty(stream_fd))
		rights |= LANDLOCK_IOCTL_DEV;
	rights &= p->handled;
	if ((!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) || !rights)
		return 0;
	/* EBADFD: a file of the kernel's own, a memfd for one, to which nothing is denied. */
	return rule_add(ruleset_fd, stream_fd, rights) < 0 && errno != EBADFD ?
		       err_sys(e, "Landlock: stream %d", stream_fd) :
		       0;
}

int landlock_confine(const struct landlock_plan *p, struct error *e)
{
	const struct ruleset_attr attr = {p->handled};
	autoclose int fd = -1;
	int stream_fd;
	size_t i;

	if (!p->abi)
		return 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return err_sys(e, "Landlock: make a ruleset");
	if (rule_add_root(p, fd, e) < 0)
		return -1;
	for (i = 0; i < p->n; i++)
		if (rule_add_place(p, &p->places[i], fd, e) < 0)
			return -1;
	for (stream_fd = 0; stream_fd < 3; stream_fd++)
		if (rule_add_stream(p, stream_fd, fd, e) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return err_sys(e, "Landlock: restrict this process");
	return 0;
}
