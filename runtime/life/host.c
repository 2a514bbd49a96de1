/* Facts about the host, and the bundle as a plan. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "life/foreground.h"
#include "life/life.h"
#include "life/notify.h"
#include "ns/joins.h"
#include "oci/oci.h"
#include "security/caps.h"
#include "security/lsm.h"
#include "sys/sys.h"

enum { CONFIG_MAX = 16 << 20, KERNEL_MAJOR = 5, KERNEL_MINOR = 14 };

static int host_check_kernel(struct error *e)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0)
		return err_sys(e, "uname");
	if (sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR)))
		return 0;
	return err_set(e, ERR_HOST, "Linux %d.%d or newer is needed; this is %s", KERNEL_MAJOR,
		       KERNEL_MINOR, u.release);
}

int life_probe_host(bool cgroups, struct arena *a, struct host_facts *ret, struct error *e)
{
	struct host_facts f = {
		.uid = geteuid(),
		.gid = getegid(),
		.machine_root = sys_is_machine_root(),
		.has_time_ns = access("/proc/self/ns/time", F_OK) == 0,
	};

	if (host_check_kernel(e) < 0 || (cgroups && cgroup_host_probe(!f.machine_root, a, &f.cgroup, e) < 0) ||
	    caps_probe_host(false, &f.caps, e) < 0 || caps_probe_host(true, &f.caps_userns, e) < 0)
		return -1;
	f.privileged = (f.caps.available & CAPS_BIT(CAP_SYS_ADMIN)) != 0;
	*ret = f;
	return 0;
}

static int bundle_read(const struct create_options *o, const char *bundle, struct arena *a,
		       char **ret_text, size_t *ret_len, struct error *e)
{
	const char *path = o->config ? o->config : path_join(a, bundle, "config.json");
	/* A pipe may be given by name, but a bundle that has one in place of its config hangs nobody. */
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (o->config ? 0 : O_NONBLOCK));
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open %s", path);
	if (!o->config && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		return err_set(e, ERR_CONFIG, "%s: not a regular file", path);
	*ret_text = fd_read_all(fd, CONFIG_MAX, a, ret_len);
	if (*ret_text)
		return 0;
	if (errno == EFBIG)
		return err_set(e, ERR_CONFIG, "%s: larger than %d bytes", path, CONFIG_MAX);
	return err_sys(e, "read %s", path);
}

/* The bundle's absolute path, links resolved, as hooks and `state` are told it. */
static const char *bundle_path(const char *given, struct arena *a, struct error *e)
{
	char *path = realpath(given, NULL), *copy;

	if (!path) {
		err_sys(e, "--bundle: %s", given);
		return NULL;
	}
	copy = arena_strdup(a, path);
	free(path);
	return copy;
}

static bool host_has_own_mounts(const struct oci_config *c)
{
	const struct oci_namespace *ns = oci_namespace_find(c, OCI_NS_MOUNT);

	return ns && !ns->path;
}

const char *life_state_dir(const char *root, const char *id, struct arena *a)
{
	char cwd[4096];

	if (root[0] != '/' && getcwd(cwd, sizeof(cwd)))
		root = path_join(a, cwd, root);
	return path_join(a, root, id);
}

int life_plan(const struct create_options *o, const struct host_facts *facts, struct arena *a,
	      char **ret_config_text, size_t *ret_config_len, struct joins *ret_joins,
	      struct plan *ret_plan, struct error *e)
{
	struct oci_config *config = arena_new(a, struct oci_config);
	const char *bundle = bundle_path(o->bundle, a, e);
	struct host_facts f = *facts;

	if (!bundle || bundle_read(o, bundle, a, ret_config_text, ret_config_len, e) < 0 ||
	    oci_config_read("config.json", *ret_config_text, *ret_config_len, a, config, e) < 0)
		return -1;
	life_settle_oom_score(&config->process);
	if (o->notify && config->process.set)
		notify_add(config, life_state_dir(o->root, o->id, a), a);
	if (o->console_fd >= 0)
		foreground_own_size(&config->process.console_size);
	/* Two lookups that only a config with labels needs. */
	if (config->process.apparmor_profile || config->process.selinux_label ||
	    config->linux_.mount_label)
		lsm_probe_host(&f.lsm);
	if (config->linux_.intel_rdt.set)
		f.resctrl = rdt_find_root(a);
	if (!host_has_own_mounts(config))
		f.can_mount_detached = sys_can_mount_detached();
	if (joins_open(config, ret_joins, e) < 0)
		return -1;
	f.own_ns = ret_joins->own;
	f.host_ns = ret_joins->host;
	if (plan_make(config, o->id, bundle, &f, a, ret_plan, e) < 0)
		return -1;
	ret_plan->no_pivot = o->no_pivot;
	return 0;
}
