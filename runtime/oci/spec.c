/*
 * The config that `sbxrun spec` writes: a shell in a container with every namespace of its own, few
 * capabilities and a read-only root. Data first; the functions only copy it.
 */
#include "base/str.h"
#include "oci/oci.h"

enum { MAX_WORDS = 16 };

struct spec_mount {
	const char *destination;
	const char *type;
	const char *source;
	const char *options[MAX_WORDS];
};

#define SHELL_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* clang-format off */
static const struct spec_mount proc = {"/proc", "proc", "proc", {NULL}};
static const struct spec_mount dev = {
	"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}};
/* Group 5 is tty in most images. A single mapped id has no group 5. */
static const struct spec_mount pts = {
	"/dev/pts", "devpts", "devpts",
	{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}};
static const struct spec_mount pts_rootless = {
	"/dev/pts", "devpts", "devpts",
	{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}};
static const struct spec_mount shm = {
	"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}};
static const struct spec_mount mqueue = {
	"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}};
static const struct spec_mount sys = {
	"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}};
/* Read-only all the way down: the cgroup tree is mounted below the host's /sys. */
static const struct spec_mount sys_rootless = {
	"/sys", "none", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro", "rro"}};
static const struct spec_mount cgroup = {
	"/sys/fs/cgroup", "cgroup", "cgroup", {"nosuid", "noexec", "nodev", "relatime", "ro"}};

static const struct spec_mount *const mounts[] = {
	&proc, &dev, &pts, &shm, &mqueue, &sys, &cgroup, NULL};
static const struct spec_mount *const mounts_rootless[] = {
	&proc, &dev, &pts_rootless, &shm, &mqueue, &sys_rootless, NULL};

static const char *const args[] = {"sh", NULL};
static const char *const env[] = {SHELL_PATH, "TERM=xterm", NULL};
static const char *const caps[] = {
	"CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE", NULL};

static const char *const masked_paths[] = {
	"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
	"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
	"/sys/firmware", "/sys/devices/virtual/powercap", NULL};
static const char *const readonly_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL};

static const enum oci_ns namespaces[] = {
	OCI_NS_PID, OCI_NS_NETWORK, OCI_NS_IPC, OCI_NS_UTS, OCI_NS_MOUNT, OCI_NS_CGROUP};
/* clang-format on */

static struct strings spec_strings(struct arena *a, const char *const *words)
{
	struct strings s = {0};
	size_t i;

	while (words[s.n])
		s.n++;
	s.v = arena_array(a, s.n, char *);
	for (i = 0; i < s.n; i++)
		s.v[i] = arena_strdup(a, words[i]);
	return s;
}

static void spec_process(struct arena *a, struct oci_process *p)
{
	p->set = true;
	p->user.set = true;
	p->terminal = true;
	p->args = spec_strings(a, args);
	p->env = spec_strings(a, env);
	p->cwd = arena_strdup(a, "/");
	p->capabilities.set = true;
	p->capabilities.bounding = spec_strings(a, caps);
	p->capabilities.effective = spec_strings(a, caps);
	p->capabilities.permitted = spec_strings(a, caps);
	p->rlimits.n = 1;
	p->rlimits.v = arena_array(a, 1, struct oci_rlimit);
	p->rlimits.v[0] = (struct oci_rlimit){arena_strdup(a, "RLIMIT_NOFILE"), 1024, 1024};
	p->no_new_privileges = true;
}

static void spec_mounts(struct arena *a, const struct spec_mount *const *list,
			struct oci_config *c)
{
	struct oci_mount *m;
	size_t n = 0, i;

	while (list[n])
		n++;
	m = arena_array(a, n, struct oci_mount);
	for (i = 0; i < n; i++) {
		m[i].destination = arena_strdup(a, list[i]->destination);
		m[i].type = arena_strdup(a, list[i]->type);
		m[i].source = arena_strdup(a, list[i]->source);
		m[i].options = spec_strings(a, list[i]->options);
	}
	c->mounts.n = n;
	c->mounts.v = m;
}

/* With room for one more. */
static void spec_namespaces(struct arena *a, struct oci_config *c)
{
	size_t i;

	c->linux_.namespaces.n = ARRAY_SIZE(namespaces);
	c->linux_.namespaces.v = arena_array(a, ARRAY_SIZE(namespaces) + 1, struct oci_namespace);
	for (i = 0; i < ARRAY_SIZE(namespaces); i++)
		c->linux_.namespaces.v[i].type = namespaces[i];
}

static void spec_common(struct arena *a, struct oci_config *c)
{
	*c = (struct oci_config){0};
	c->oci_version = arena_strdup(a, OCI_VERSION_MAX);
	spec_process(a, &c->process);
	c->root.path = arena_strdup(a, "rootfs");
	c->root.readonly = true;
	c->hostname = arena_strdup(a, "sbxrun");
	spec_namespaces(a, c);
	c->linux_.masked_paths = spec_strings(a, masked_paths);
	c->linux_.readonly_paths = spec_strings(a, readonly_paths);
}

void oci_spec_default(struct arena *a, struct oci_config *ret_config)
{
	struct oci_config *c = ret_config;

	spec_common(a, c);
	spec_mounts(a, mounts, c);
	c->linux_.resources.devices.n = 1;
	c->linux_.resources.devices.v = arena_array(a, 1, struct oci_device_rule);
	c->linux_.resources.devices.v[0].access = arena_strdup(a, "rwm");
}

static struct oci_id_maps spec_one_id(struct arena *a, uint32_t host_id)
{
	struct oci_id_maps m = {1, arena_array(a, 1, struct oci_id_map)};

	m.v[0] = (struct oci_id_map){.container_id = 0, .host_id = host_id, .size = 1};
	return m;
}

void oci_spec_rootless(struct arena *a, uint32_t uid, uint32_t gid, struct oci_config *ret_config)
{
	struct oci_config *c = ret_config;

	spec_common(a, c);
	spec_mounts(a, mounts_rootless, c);
	c->linux_.namespaces.v[c->linux_.namespaces.n++].type = OCI_NS_USER;
	c->linux_.uid_mappings = spec_one_id(a, uid);
	c->linux_.gid_mappings = spec_one_id(a, gid);
}
