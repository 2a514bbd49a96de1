#include "oci/mount_options.h"

#include <stddef.h>

#include "base/str.h"
#include "sys/sys.h"

/*
 * One list serves the table and the names. Columns: name, kind, set, clear, flag for fsconfig().
 *
 * Clearing MOUNT_ATTR__ATIME and setting nothing is relatime, the kernel's default; that is all
 * that the no…atime negations can mean. Options of OPT_NOTHING are flags that fsconfig() refuses
 * and that change nothing here: `silent` and `loud` concern the kernel's log, `iversion` is the
 * filesystem's own matter since Linux 5.16.
 */
#define ATIME MOUNT_ATTR__ATIME
// clang-format off
#define MOUNT_OPTIONS(X) \
	X("defaults",      OPT_NOTHING,  0, 0, NULL) \
	X("async",         OPT_FS_UNFLAG, 0, 0, "sync") \
	X("nolazytime",    OPT_FS_UNFLAG, 0, 0, "lazytime") \
	X("nomand",        OPT_FS_UNFLAG, 0, 0, "mand") \
	X("silent",        OPT_NOTHING,  0, 0, NULL) \
	X("loud",          OPT_NOTHING,  0, 0, NULL) \
	X("iversion",      OPT_NOTHING,  0, 0, NULL) \
	X("noiversion",    OPT_NOTHING,  0, 0, NULL) \
	X("sync",          OPT_FS_FLAG,  0, 0, "sync") \
	X("dirsync",       OPT_FS_FLAG,  0, 0, "dirsync") \
	X("lazytime",      OPT_FS_FLAG,  0, 0, "lazytime") \
	X("mand",          OPT_FS_FLAG,  0, 0, "mand") \
	X("ro",            OPT_ATTR,     MOUNT_ATTR_RDONLY, 0, NULL) \
	X("rw",            OPT_ATTR,     0, MOUNT_ATTR_RDONLY, NULL) \
	X("nosuid",        OPT_ATTR,     MOUNT_ATTR_NOSUID, 0, NULL) \
	X("suid",          OPT_ATTR,     0, MOUNT_ATTR_NOSUID, NULL) \
	X("nodev",         OPT_ATTR,     MOUNT_ATTR_NODEV, 0, NULL) \
	X("dev",           OPT_ATTR,     0, MOUNT_ATTR_NODEV, NULL) \
	X("noexec",        OPT_ATTR,     MOUNT_ATTR_NOEXEC, 0, NULL) \
	X("exec",          OPT_ATTR,     0, MOUNT_ATTR_NOEXEC, NULL) \
	X("noatime",       OPT_ATTR,     MOUNT_ATTR_NOATIME, ATIME, NULL) \
	X("atime",         OPT_ATTR,     0, ATIME, NULL) \
	X("relatime",      OPT_ATTR,     0, ATIME, NULL) \
	X("norelatime",    OPT_ATTR,     0, ATIME, NULL) \
	X("strictatime",   OPT_ATTR,     MOUNT_ATTR_STRICTATIME, ATIME, NULL) \
	X("nostrictatime", OPT_ATTR,     0, ATIME, NULL) \
	X("nodiratime",    OPT_ATTR,     MOUNT_ATTR_NODIRATIME, 0, NULL) \
	X("diratime",      OPT_ATTR,     0, MOUNT_ATTR_NODIRATIME, NULL) \
	X("nosymfollow",   OPT_ATTR,     MOUNT_ATTR_NOSYMFOLLOW, 0, NULL) \
	X("symfollow",     OPT_ATTR,     0, MOUNT_ATTR_NOSYMFOLLOW, NULL) \
	X("rro",           OPT_ATTR_ALL, MOUNT_ATTR_RDONLY, 0, NULL) \
	X("rrw",           OPT_ATTR_ALL, 0, MOUNT_ATTR_RDONLY, NULL) \
	X("rnosuid",       OPT_ATTR_ALL, MOUNT_ATTR_NOSUID, 0, NULL) \
	X("rsuid",         OPT_ATTR_ALL, 0, MOUNT_ATTR_NOSUID, NULL) \
	X("rnodev",        OPT_ATTR_ALL, MOUNT_ATTR_NODEV, 0, NULL) \
	X("rdev",          OPT_ATTR_ALL, 0, MOUNT_ATTR_NODEV, NULL) \
	X("rnoexec",       OPT_ATTR_ALL, MOUNT_ATTR_NOEXEC, 0, NULL) \
	X("rexec",         OPT_ATTR_ALL, 0, MOUNT_ATTR_NOEXEC, NULL) \
	X("rnoatime",      OPT_ATTR_ALL, MOUNT_ATTR_NOATIME, ATIME, NULL) \
	X("ratime",        OPT_ATTR_ALL, 0, ATIME, NULL) \
	X("rrelatime",     OPT_ATTR_ALL, 0, ATIME, NULL) \
	X("rnorelatime",   OPT_ATTR_ALL, 0, ATIME, NULL) \
	X("rstrictatime",  OPT_ATTR_ALL, MOUNT_ATTR_STRICTATIME, ATIME, NULL) \
	X("rnostrictatime", OPT_ATTR_ALL, 0, ATIME, NULL) \
	X("rnodiratime",   OPT_ATTR_ALL, MOUNT_ATTR_NODIRATIME, 0, NULL) \
	X("rdiratime",     OPT_ATTR_ALL, 0, MOUNT_ATTR_NODIRATIME, NULL) \
	X("rnosymfollow",  OPT_ATTR_ALL, MOUNT_ATTR_NOSYMFOLLOW, 0, NULL) \
	X("rsymfollow",    OPT_ATTR_ALL, 0, MOUNT_ATTR_NOSYMFOLLOW, NULL) \
	X("private",       OPT_PROPAGATION,     MS_PRIVATE, 0, NULL) \
	X("shared",        OPT_PROPAGATION,     MS_SHARED, 0, NULL) \
	X("slave",         OPT_PROPAGATION,     MS_SLAVE, 0, NULL) \
	X("unbindable",    OPT_PROPAGATION,     MS_UNBINDABLE, 0, NULL) \
	X("rprivate",      OPT_PROPAGATION_ALL, MS_PRIVATE, 0, NULL) \
	X("rshared",       OPT_PROPAGATION_ALL, MS_SHARED, 0, NULL) \
	X("rslave",        OPT_PROPAGATION_ALL, MS_SLAVE, 0, NULL) \
	X("runbindable",   OPT_PROPAGATION_ALL, MS_UNBINDABLE, 0, NULL) \
	X("bind",          OPT_BIND,      0, 0, NULL) \
	X("rbind",         OPT_RBIND,     0, 0, NULL) \
	X("remount",       OPT_REMOUNT,   0, 0, NULL) \
	X("tmpcopyup",     OPT_TMPCOPYUP, 0, 0, NULL) \
	X("idmap",         OPT_IDMAP,     0, 0, NULL) \
	X("ridmap",        OPT_RIDMAP,    0, 0, NULL)
// clang-format on

#define ROW(name, kind, set, clear, flag) {name, kind, set, clear, flag},
#define NAME(name, kind, set, clear, flag) name,

static const struct mount_option options[] = {MOUNT_OPTIONS(ROW)};
const char *const mount_option_names[] = {MOUNT_OPTIONS(NAME) NULL};

const struct mount_option *mount_option_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (str_eq(options[i].name, name))
			return &options[i];
	return NULL;
}
