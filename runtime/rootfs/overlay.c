#include "rootfs/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rootfs/idmap.h"
#include "sys/mountinfo.h"
#include "sys/sys.h"

#ifndef OVERLAYFS_SUPER_MAGIC
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#endif

bool overlay_is_one(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* ---- what it is made of ---- */

static void overlay_add(struct strings *l, size_t *cap, const char *word, size_t len,
			struct arena *a)
{
	l->v = arena_grow(a, l->v, cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = arena_strndup(a, word, len);
}

/* The kernel writes \: and \\ in names between colons; what mountinfo made of the backslash is
 * undone first. */
static void overlay_split(char *names, struct overlay_layers *l, size_t *cap, struct arena *a)
{
	char *at = names, *to = names, *begin = names;

	mountinfo_decode(names);
	for (;; at++) {
		if (*at == '\\' && at[1]) {
			*to++ = *++at;
			continue;
		}
		if (*at && *at != ':') {
			*to++ = *at;
			continue;
		}
		overlay_add(&l->lower, cap, begin, (size_t)(to - begin), a);
		if (!*at)
			return;
		begin = to = at + 1;
	}
}

static char *overlay_name(const char *value, struct arena *a)
{
	char *name = arena_strdup(a, value);

	mountinfo_decode(name);
	return name;
}

/* Those without which other files would be seen; the rest is the kernel's own choice again. */
static bool overlay_keeps(const char *option)
{
	return str_eq(option, "userxattr") || str_eq(option, "metacopy=on") ||
	       str_after(option, "redirect_dir=");
}

static int overlay_check(const struct overlay_layers *l, struct error *e)
{
	bool plain = l->lower.n && (!l->upper || l->upper[0] == '/') &&
		     (!l->work || l->work[0] == '/');
	size_t i;

	for (i = 0; i < l->lower.n; i++)
		plain = plain && l->lower.v[i][0] == '/';
	return plain ? 0 :
		       err_set(e, ERR_HOST,
			       "the overlay's layers have no absolute names in mountinfo");
}

int overlay_parse(const char *options, struct arena *a, struct overlay_layers *ret,
		  struct error *e)
{
	char *text = arena_strdup(a, options), *option;
	size_t lowers = 0, others = 0;
	struct overlay_layers l = {0};
	const char *value;

	while ((option = strsep(&text, ","))) {
		if ((value = str_after(option, "lowerdir=")))
			overlay_split(arena_strdup(a, value), &l, &lowers, a);
		else if ((value = str_after(option, "lowerdir+=")))
			overlay_add(&l.lower, &lowers, overlay_name(value, a),
				    strlen(overlay_name(value, a)), a);
		else if ((value = str_after(option, "upperdir=")))
			l.upper = overlay_name(value, a);
		else if ((value = str_after(option, "workdir=")))
			l.work = overlay_name(value, a);
		else if (str_after(option, "datadir+="))
			return err_set(e, ERR_HOST, "the overlay has data-only layers");
		else if (overlay_keeps(option))
			overlay_add(&l.options, &others, option, strlen(option), a);
	}
	if (overlay_check(&l, e) < 0)
		return -1;
	*ret = l;
	return 0;
}

/* ---- the engine's ---- */

struct overlay_search {
	uint64_t id;
	struct arena *a;
	char *point, *options;
	bool covered; /* something is mounted in it */
};

static int overlay_look(const struct mountinfo_line *line, void *context, struct error *e)
{
	struct overlay_search *s = context;

	(void)e;
	if (line->parent == s->id)
		s->covered = true;
	if (line->id == s->id && line->options) {
		s->point = arena_strdup(s->a, line->point);
		s->options = arena_strdup(s->a, line->options);
	}
	return 0;
}

static int overlay_find(int root_fd, struct arena *a, struct overlay_layers *ret, struct error *e)
{
	struct overlay_search s = {.id = sys_mount_id_of(root_fd), .a = a};
	struct stat root, top;

	if (mountinfo_each(overlay_look, &s, e) < 0)
		return -1;
	if (!s.point)
		return err_set(e, ERR_HOST, "the overlay is not in mountinfo");
	if (fstat(root_fd, &root) < 0 || stat(s.point, &top) < 0 || root.st_dev != top.st_dev ||
	    root.st_ino != top.st_ino)
		return err_set(e, ERR_HOST, "it is not the top of the overlay at %s", s.point);
	if (s.covered)
		return err_set(e, ERR_HOST, "something is mounted in the overlay at %s", s.point);
	return overlay_parse(s.options, a, ret, e);
}

/* ---- ours ---- */

/* A detached mount ends with its descriptor: all stay open until the overlay has its own. */
struct overlay_fds {
	size_t n;
	int *v;
};

static int overlay_keep(struct overlay_fds *fds, int fd)
{
	if (fd >= 0)
		fds->v[fds->n++] = fd;
	return fd;
}

static void overlay_close(struct overlay_fds *fds)
{
	while (fds->n)
		fd_close(&fds->v[--fds->n]);
}

static int overlay_give(int fs_fd, const char *key, int layer_fd, struct error *e)
{
	char path[32];

	if (fsconfig(fs_fd, FSCONFIG_SET_FD, key, NULL, layer_fd) == 0)
		return 0;
	/* Linux 6.7 to 6.12 take names alone. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", layer_fd);
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, key, path, 0) == 0)
		return 0;
	return err_sys(e, "give a layer to an overlay (Linux 6.7)");
}

static int overlay_open_layer(const char *path, int userns_fd, const char *field, struct error *e)
{
	autoclose int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "%s: open the layer %s", field, path);
	/* Without what is mounted there: mostly the overlay itself. */
	return idmap_clone(fd, false, userns_fd, field, path, e);
}

static int overlay_add_lower(int fs_fd, const struct overlay_layers *l, int userns_fd,
			     const char *field, struct overlay_fds *fds, struct error *e)
{
	size_t i;

	for (i = 0; i < l->lower.n; i++) {
		int fd = overlay_keep(
			fds, overlay_open_layer(l->lower.v[i], userns_fd, field, e));

		if (fd < 0 || overlay_give(fs_fd, "lowerdir+", fd, e) < 0)
			return -1;
	}
	return 0;
}

/* The directory that both lie in: they have to be on one mount. */
static char *overlay_common_parent(const struct overlay_layers *l, struct arena *a)
{
	const char *upper = strrchr(l->upper, '/'), *work = strrchr(l->work, '/');
	size_t len = (size_t)(upper - l->upper);

	if (len != (size_t)(work - l->work) || strncmp(l->upper, l->work, len) != 0)
		return NULL;
	return arena_strndup(a, l->upper, len ? len : 1);
}

static int overlay_add_upper(int fs_fd, const struct overlay_layers *l, int userns_fd,
			     const char *field, struct overlay_fds *fds, struct arena *a,
			     char **ret_work, struct error *e)
{
	char *parent = l->work ? overlay_common_parent(l, a) : NULL;
	autoclose int upper_fd = -1, work_fd = -1;
	int parent_fd;

	if (!parent)
		return err_set(e, ERR_HOST,
			       "%s: upper layer and work directory of the overlay are not in the "
			       "same directory",
			       field);
	parent_fd = overlay_keep(fds, overlay_open_layer(parent, userns_fd, field, e));
	if (parent_fd < 0)
		return -1;
	*ret_work = arena_printf(a, "%s/" OVERLAY_WORK, parent);
	if (mkdir(*ret_work, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "%s: make %s", field, *ret_work);
	upper_fd = openat(parent_fd, strrchr(l->upper, '/') + 1,
			  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	work_fd = openat(parent_fd, OVERLAY_WORK, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper_fd < 0 || work_fd < 0)
		return err_sys(e, "%s: open the layer %s", field, l->upper);
	return overlay_give(fs_fd, "upperdir", upper_fd, e) < 0 ||
			       overlay_give(fs_fd, "workdir", work_fd, e) < 0 ?
		       -1 :
		       0;
}

/* The overlay itself writes with its maker's id, to the work directory for one, and that must be an
 * id which the layers have. No right is lost by it. */
static int overlay_create_as(int fs_fd, uint32_t id)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int result, saved;

	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	setfsgid(id);
	setfsuid(id);
	result = syscall(SYS_capset, &header, data) < 0 ?
			 -1 :
			 fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	saved = errno;
	setfsuid(geteuid());
	setfsgid(getegid());
	if (syscall(SYS_capset, &header, data) < 0)
		result = -1;
	errno = saved;
	return result;
}

static int overlay_set_options(int fs_fd, const struct overlay_layers *l)
{
	size_t i;

	for (i = 0; i < l->options.n; i++) {
		char *key = l->options.v[i], *value = strchr(key, '=');

		if (value)
			*value++ = '\0';
		if (fsconfig(fs_fd, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key, value,
			     0) < 0)
			return -1;
	}
	/* With an index the kernel lets no layer be used twice. */
	return fsconfig(fs_fd, FSCONFIG_SET_STRING, "index", "off", 0);
}

static unsigned int overlay_attrs(int root_fd)
{
	static const struct {
		unsigned long flag;
		unsigned int attr;
	} rows[] = {{ST_RDONLY, MOUNT_ATTR_RDONLY},
		    {ST_NOSUID, MOUNT_ATTR_NOSUID},
		    {ST_NODEV, MOUNT_ATTR_NODEV},
		    {ST_NOEXEC, MOUNT_ATTR_NOEXEC}};
	unsigned int attrs = 0;
	struct statvfs fs;
	size_t i;

	for (i = 0; fstatvfs(root_fd, &fs) == 0 && i < ARRAY_SIZE(rows); i++)
		attrs |= fs.f_flag & rows[i].flag ? rows[i].attr : 0;
	return attrs;
}

static int overlay_make(int root_fd, const struct overlay_layers *l, int userns_fd, uint32_t first,
			const char *field, struct arena *a, char **ret_work, struct error *e)
{
	struct overlay_fds fds = {.v = arena_array(a, l->lower.n + 1, int)};
	autoclose int fs_fd = fsopen("overlay", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs_fd < 0)
		return err_sys(e, "%s: make an overlay", field);
	if (overlay_add_lower(fs_fd, l, userns_fd, field, &fds, e) == 0 &&
	    (!l->upper ||
	     overlay_add_upper(fs_fd, l, userns_fd, field, &fds, a, ret_work, e) == 0)) {
		if (overlay_set_options(fs_fd, l) == 0 && overlay_create_as(fs_fd, first) == 0)
			fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, overlay_attrs(root_fd));
		if (fd < 0)
			err_sys(e, "%s: make an overlay of mapped layers", field);
	}
	overlay_close(&fds);
	return fd;
}

int overlay_clone(int root_fd, int userns_fd, uint32_t first, const char *field, const char *path,
		  struct arena *a, char **ret_work, struct error *e)
{
	struct overlay_layers l;

	*ret_work = NULL;
	if (overlay_find(root_fd, a, &l, e) < 0)
		return err_wrap(e, "%s: %s, an overlay, can't map ids", field, path);
	return overlay_make(root_fd, &l, userns_fd, first, field, a, ret_work, e);
}
