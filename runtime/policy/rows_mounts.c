/* Rows that say what a container sees as files: what is mounted, with which flags, what is covered.
 */
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "json/json.h"
#include "oci/mount_options.h"
#include "policy/row.h"

static bool mount_has(const struct oci_mount *m, const char *option)
{
	size_t i;

	for (i = 0; i < m->options.n; i++)
		if (str_eq(m->options.v[i], option))
			return true;
	return false;
}

/* As plan/mounts.c takes it. */
static bool mount_binds(const struct oci_mount *m)
{
	return (m->type && (str_eq(m->type, "bind") || str_eq(m->type, "rbind"))) ||
	       mount_has(m, "bind") || mount_has(m, "rbind");
}

static bool mount_is(const struct oci_mount *m, const char *type)
{
	return m->type && str_eq(m->type, type) && !mount_binds(m);
}

static bool mount_is_cgroup(const struct oci_mount *m)
{
	return mount_is(m, "cgroup") || mount_is(m, "cgroup2");
}

/* The last one counts, so these hold whatever stands before them. */
static void mount_add(struct tightening *t, struct oci_mount *m, const char *option)
{
	ROW_EXTEND(t, m->options, 1);
	m->options.v[m->options.n++] = arena_strdup(t->a, option);
}

/* Does the last word on it say so? */
static bool mount_ends_with(const struct oci_mount *m, const char *yes, const char *no)
{
	size_t i;

	for (i = m->options.n; i > 0; i--) {
		if (str_eq(m->options.v[i - 1], yes))
			return true;
		if (str_eq(m->options.v[i - 1], no))
			return false;
	}
	return false;
}

/* Leaves out the mounts that go() names. */
static void mounts_drop(struct tightening *t, bool (*go)(const struct oci_mount *m))
{
	struct oci_config *c = t->c;
	size_t n = 0, i;

	for (i = 0; i < c->mounts.n; i++) {
		if (go(&c->mounts.v[i]))
			row_clamped(t, "mounts[%zu]: %s is left out", c->mounts.v[i].at,
				    json_show(c->mounts.v[i].destination).text);
		else
			c->mounts.v[n++] = c->mounts.v[i];
	}
	c->mounts.n = n;
}

/* Covered and read-only paths */

static void paths_unite(struct tightening *t, const char *field, struct strings *paths,
			const char *const *more, size_t n)
{
	size_t had = paths->n, i, k;

	ROW_EXTEND(t, *paths, n);
	for (i = 0; i < n; i++) {
		for (k = 0; k < had; k++)
			if (str_eq(paths->v[k], more[i]))
				break;
		if (k == had)
			paths->v[paths->n++] = arena_strdup(t->a, more[i]);
	}
	if (paths->n > had)
		row_clamped(t, "%s: %zu more below %.*s", field, paths->n - had,
			    (int)strcspn(more[0] + 1, "/") + 1, more[0]);
}

int row_proc(struct tightening *t, struct error *e)
{
	static const char *const masked[] = {
		"/proc/acpi", "/proc/asound", "/proc/buddyinfo", "/proc/cmdline",
		"/proc/config.gz", "/proc/consoles", "/proc/diskstats", "/proc/interrupts",
		"/proc/iomem", "/proc/ioports", "/proc/kallsyms", "/proc/kcore",
		"/proc/key-users", "/proc/keys", "/proc/kpagecgroup", "/proc/kpagecount",
		"/proc/kpageflags", "/proc/latency_stats", "/proc/locks", "/proc/pagetypeinfo",
		"/proc/partitions", "/proc/pressure", "/proc/sched_debug", "/proc/scsi",
		"/proc/slabinfo", "/proc/softirqs", "/proc/timer_list", "/proc/timer_stats",
		"/proc/vmallocinfo", "/proc/zoneinfo",
	};
	static const char *const readonly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
					       "/proc/sysrq-trigger"};
	struct oci_config *c = t->c;
	size_t i;

	(void)e;
	if (row_level(t, LEVEL_PROC) == AS_ASKED)
		return 0;
	if (row_level(t, LEVEL_PROC) == PROC_MASKED) {
		paths_unite(t, "linux.maskedPaths", &c->linux_.masked_paths, masked,
			    ARRAY_SIZE(masked));
		paths_unite(t, "linux.readonlyPaths", &c->linux_.readonly_paths, readonly,
			    ARRAY_SIZE(readonly));
		return 0;
	}
	for (i = 0; i < c->mounts.n; i++)
		if (mount_is(&c->mounts.v[i], "proc") &&
		    !mount_has(&c->mounts.v[i], "subset=pid")) {
			mount_add(t, &c->mounts.v[i], "subset=pid");
			row_clamped(t, "mounts[%zu]: only processes are in %s", c->mounts.v[i].at,
				    json_show(c->mounts.v[i].destination).text);
		}
	return 0;
}

static bool mount_is_sys(const struct oci_mount *m)
{
	return mount_is(m, "sysfs") || path_is_below(m->destination, "/sys");
}

int row_sys(struct tightening *t, struct error *e)
{
	static const char *const masked[] = {
		"/sys/block",  "/sys/bus",    "/sys/class/dmi", "/sys/devices/virtual/dmi",
		"/sys/devices/virtual/powercap", "/sys/firmware", "/sys/fs/bpf", "/sys/hypervisor",
		"/sys/kernel", "/sys/module", "/sys/power",
	};
	struct oci_config *c = t->c;
	bool there = false;
	size_t i;

	(void)e;
	if (row_level(t, LEVEL_SYS) == AS_ASKED)
		return 0;
	if (row_level(t, LEVEL_SYS) == SYS_NONE) {
		mounts_drop(t, mount_is_sys);
		return 0;
	}
	for (i = 0; i < c->mounts.n; i++) {
		if (!mount_is(&c->mounts.v[i], "sysfs"))
			continue;
		there = true;
		if (!mount_ends_with(&c->mounts.v[i], "ro", "rw")) {
			mount_add(t, &c->mounts.v[i], "ro");
			row_clamped(t, "mounts[%zu]: %s is read-only", c->mounts.v[i].at,
				    json_show(c->mounts.v[i].destination).text);
		}
	}
	for (i = 0; i < c->mounts.n; i++)
		there = there || path_is_below(c->mounts.v[i].destination, "/sys");
	if (there)
		paths_unite(t, "linux.maskedPaths", &c->linux_.masked_paths, masked,
			    ARRAY_SIZE(masked));
	return 0;
}

int row_cgroup_mounts(struct tightening *t, struct error *e)
{
	struct oci_config *c = t->c;
	size_t i;

	(void)e;
	if (row_level(t, LEVEL_CGROUP_MOUNTS) == CGROUP_MOUNTS_NONE)
		mounts_drop(t, mount_is_cgroup);
	if (row_level(t, LEVEL_CGROUP_MOUNTS) != CGROUP_MOUNTS_READ_ONLY ||
	    row_namespace(t, OCI_NS_CGROUP))
		return 0;
	for (i = 0; i < c->mounts.n; i++)
		if (mount_is_cgroup(&c->mounts.v[i]) &&
		    !mount_ends_with(&c->mounts.v[i], "ro", "rw")) {
			mount_add(t, &c->mounts.v[i], "ro");
			row_clamped(t, "mounts[%zu]: %s is read-only", c->mounts.v[i].at,
				    json_show(c->mounts.v[i].destination).text);
		}
	return 0;
}

/* Types and flags */

int row_filesystems(struct tightening *t, struct error *e)
{
	size_t i;

	for (i = 0; i < t->c->mounts.n; i++) {
		const struct oci_mount *m = &t->c->mounts.v[i];
		const char *type = mount_binds(m) ? "bind" : m->type;

		if (!type || mount_has(m, "remount") || policy_gives(t->p, LIST_FILESYSTEMS, type))
			continue;
		return row_refuse(t, e,
				  arena_printf(t->a, "\"filesystems\": {\"allow\": [%s]}",
					       json_show(type).text),
				  "a filesystem of type %s (mounts[%zu], on %s)",
				  json_show(type).text, m->at, json_show(m->destination).text);
	}
	return 0;
}

/* Devices are in /dev, and terminals in a devpts. */
static bool mount_holds_devices(const struct tightening *t, const struct oci_mount *m)
{
	const char *at = path_clean(t->a, m->destination);

	return str_eq(at, "/dev") || mount_is(m, "devpts") ||
	       (path_is_below(at, "/dev") && policy_gives(t->p, LIST_DEVICES, at));
}

int row_mount_flags(struct tightening *t, struct error *e)
{
	static const struct {
		const char *option, *all, *opposite;
	} flags[] = {{"nosuid", "rnosuid", "suid"},
		     {"nodev", "rnodev", "dev"},
		     {"noexec", "rnoexec", "exec"}};
	struct oci_config *c = t->c;
	size_t changed = 0, i, k;

	(void)e;
	if (row_level(t, LEVEL_MOUNT_FLAGS) == AS_ASKED)
		return 0;
	for (i = 0; i < c->mounts.n; i++) {
		struct oci_mount *m = &c->mounts.v[i];
		bool binds = mount_binds(m), any = false;

		for (k = 0; k < ARRAY_SIZE(flags); k++) {
			if ((k == 1 && mount_holds_devices(t, m)) ||
			    (k == 2 && (row_level(t, LEVEL_MOUNT_FLAGS) != MOUNTS_NOEXEC || binds ||
					mount_ends_with(m, "exec", "noexec"))))
				continue;
			any = any || !mount_ends_with(m, flags[k].option, flags[k].opposite);
			if (!mount_ends_with(m, flags[k].option, flags[k].opposite))
				mount_add(t, m, flags[k].option);
			/* Mounts in a volume come along. */
			if (binds && !mount_has(m, flags[k].all))
				mount_add(t, m, flags[k].all);
		}
		if (binds && mount_ends_with(m, "ro", "rw") && !mount_has(m, "rro"))
			mount_add(t, m, "rro");
		changed += any;
	}
	if (changed)
		row_clamped(t, "mounts: %zu of them are nosuid and nodev now", changed);
	return 0;
}

int row_root(struct tightening *t, struct error *e)
{
	(void)e;
	if (row_level(t, LEVEL_ROOT) == AS_ASKED || t->c->root.readonly)
		return 0;
	t->c->root.readonly = true;
	row_clamped(t, "root.readonly: true");
	return 0;
}

static bool word_shares(const char *word)
{
	return str_eq(word, "shared") || str_eq(word, "rshared");
}

int row_propagation(struct tightening *t, struct error *e)
{
	static const char how[] = "\"propagation\": \"as-asked\"";
	const struct oci_config *c = t->c;
	size_t i, k;

	if (row_level(t, LEVEL_PROPAGATION) == AS_ASKED)
		return 0;
	if (c->linux_.rootfs_propagation && word_shares(c->linux_.rootfs_propagation))
		return row_refuse(t, e, how,
				  "mounts that show up outside (linux.rootfsPropagation)");
	for (i = 0; i < c->mounts.n; i++)
		for (k = 0; k < c->mounts.v[i].options.n; k++)
			if (word_shares(c->mounts.v[i].options.v[k]))
				return row_refuse(t, e, how,
						  "mounts that show up outside (mounts[%zu]: %s)",
						  c->mounts.v[i].at,
						  c->mounts.v[i].options.v[k]);
	return 0;
}
