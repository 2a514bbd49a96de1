#include "policy/conditions.h"

#include "base/str.h"

/*
 * These would hand over the host. Each is looked up when a source is judged, and compared by device
 * and inode: links, binds and other names of a directory make no difference.
 */
static const struct guard_path guarded_paths[] = {
	/* Engines make them for their containers. */
	{"/var/lib/docker/containers", GUARD_ENGINES},
	{"/var/lib/docker/volumes", GUARD_ENGINES},
	{"/var/lib/containers/storage/overlay-containers", GUARD_ENGINES},
	{"/var/lib/containers/storage/vfs-containers", GUARD_ENGINES},
	{"/var/lib/containers/storage/volumes", GUARD_ENGINES},
	{"/run/containers/storage/overlay-containers", GUARD_ENGINES},
	{"/run/containers/storage/vfs-containers", GUARD_ENGINES},
	{"/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes", GUARD_ENGINES},
	{"/run/containerd/io.containerd.grpc.v1.cri/sandboxes", GUARD_ENGINES},
	{"/var/lib/kubelet/pods", GUARD_ENGINES},
	/* The kernel's own files, and what it starts from. */
	{"/proc", GUARD_ANY},
	{"/sys", GUARD_ANY},
	{"/dev", GUARD_ANY},
	{"/boot", GUARD_ANY},
	/* A program that may speak to an engine has the host. */
	{"/run/docker.sock", GUARD_ANY},
	{"/run/docker", GUARD_ANY},
	{"/run/containerd", GUARD_ANY},
	{"/run/podman", GUARD_ANY},
	{"/run/crio", GUARD_ANY},
	{"/run/systemd/private", GUARD_ANY},
	{"/run/dbus/system_bus_socket", GUARD_ANY},
	/* Secrets, and our own word on what is allowed. */
	{"/etc/shadow", GUARD_ANY},
	{"/etc/shadow-", GUARD_ANY},
	{"/etc/gshadow", GUARD_ANY},
	{"/etc/gshadow-", GUARD_ANY},
	{"/etc/sudoers", GUARD_ANY},
	{"/etc/sudoers.d", GUARD_ANY},
	{"/etc/ssh", GUARD_ANY},
	{"/etc/kubernetes", GUARD_ANY},
	{"/var/lib/kubelet/pki", GUARD_ANY},
	{"/etc/sbxrun", GUARD_ANY},
	{"/run/sbxrun", GUARD_ANY},
	/* The host runs or believes them. */
	{"/etc", GUARD_WRITE},
	{"/usr", GUARD_WRITE},
	{"/bin", GUARD_WRITE},
	{"/sbin", GUARD_WRITE},
	{"/lib", GUARD_WRITE},
	{"/lib32", GUARD_WRITE},
	{"/lib64", GUARD_WRITE},
	{"/libx32", GUARD_WRITE},
	{"/run", GUARD_WRITE},
	{"/var/lib/docker", GUARD_WRITE},
	{"/var/lib/containerd", GUARD_WRITE},
	{"/var/lib/containers", GUARD_WRITE},
	{"/var/lib/kubelet", GUARD_WRITE},
	{"/var/spool/cron", GUARD_WRITE},
};

/* Where the row proc shows processes alone, at the place where programs look. */
static void make_up_proc_files(const struct oci_config *c, const struct host_facts *facts,
			       struct arena *a, struct plan *plan)
{
	size_t i, k, n;

	for (i = 0; i < plan->n_mounts; i++) {
		struct mount_plan *m = &plan->mounts[i];

		if (m->kind != MOUNT_FS || !str_eq(m->type, "proc") ||
		    !str_eq(m->destination, "/proc"))
			continue;
		for (k = n = 0; k < m->n_params; k++)
			if (!str_eq(m->params[k].key, "subset"))
				m->params[n++] = m->params[k];
		m->proc_files = n < m->n_params;
		m->n_params = n;
		if (m->proc_files && !plan->proc_files.n)
			plan->proc_files =
				plan_proc_files(&c->linux_.resources, &facts->machine, a);
	}
}

void policy_set_conditions(const struct policy *p, const struct oci_config *c,
			   const struct host_facts *facts, const char *state_root, struct arena *a,
			   struct plan *plan)
{
	const struct policy_words *allowed = &p->list[LIST_HOST_PATHS];
	bool flags = p->level[LEVEL_MOUNT_FLAGS] != AS_ASKED;

	plan->guard = (struct plan_guard){
		.policy = p->name,
		.sources = p->level[LEVEL_HOST_PATHS] != AS_ASKED,
		.hooks = p->level[LEVEL_HOOKS] != AS_ASKED,
		.paths = guarded_paths,
		.n_paths = ARRAY_SIZE(guarded_paths),
		.shows_sys = plan->owns_userns || !plan->by_machine_root ||
			     plan_join(plan, OCI_NS_USER),
		.state_root = state_root,
		.runtime_dir = plan->by_machine_root ?
				       NULL :
				       arena_printf(a, "/run/user/%u/containers", facts->uid),
		.allowed = allowed->v,
		.n_allowed = allowed->n,
	};
	/* The kernel keeps an ordinary user to what was delegated to him. */
	if (p->level[LEVEL_CGROUP_PATH] == CGROUP_PATH_APART && plan->by_machine_root)
		plan->cgroup.apart_for = p->name;
	plan->root_nosuid = flags;
	/* Without a /dev of its own the image's is where devices are made. */
	plan->root_nodev = plan->root_nodev || (flags && plan_has_dev_mount(plan));
	if (p->level[LEVEL_PROC] == PROC_PIDS)
		make_up_proc_files(c, facts, a, plan);
	policy_set_conditions_exec(p, c, facts, a, plan);
}

void policy_set_conditions_exec(const struct policy *p, const struct oci_config *c,
				const struct host_facts *facts, struct arena *a, struct plan *plan)
{
	plan->guard.policy = p->name;
	plan->guard.native_only = p->level[LEVEL_FOREIGN_ABI] != AS_ASKED;
	plan->no_write_execute = p->level[LEVEL_WRITE_EXECUTE] == WRITE_EXECUTE_DENIED;
	if (p->level[LEVEL_LANDLOCK] != AS_ASKED && facts->landlock_abi >= LANDLOCK_ABI_LEAST)
		plan->landlock = plan_landlock(
			c,
			!plan->root_upper && (c->root.readonly ||
					      p->level[LEVEL_ROOT] == ROOT_READ_ONLY),
			facts->landlock_abi, a);
}
