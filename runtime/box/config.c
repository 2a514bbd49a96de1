/*
 * From a request to a config. It asks for what a box is to have; that it can't have more is the
 * policy's affair (policy/), which holds whatever is written here.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "box/box.h"
#include "egress/egress.h"
#include "oci/oci.h"
#include "sys/loop.h"
#include "sys/sys.h"

enum { MOUNTS_MAX = 128, WORDS_MAX = 12, BOX_CPU_PERIOD = 100000, BYTES_A_FILE = 4096 };

/* A config at work, and its memory. */
struct writing {
	const struct box_request *q;
	struct arena *a;
	struct oci_config *c;
	bool ordinary; /* the caller is not the machine's root */
};

static void config_word(struct writing *w, struct strings *list, const char *word)
{
	size_t cap = list->n;

	list->v = arena_grow(w->a, list->v, &cap, list->n + 2, sizeof(char *));
	list->v[list->n++] = arena_strdup(w->a, word);
	list->v[list->n] = NULL;
}

static struct oci_mount *config_mount(struct writing *w, const char *type, const char *source,
				      const char *at, const char *const *options)
{
	struct oci_mount *m = &w->c->mounts.v[w->c->mounts.n++];

	m->type = arena_strdup(w->a, type);
	m->source = arena_strdup(w->a, source);
	m->destination = arena_strdup(w->a, at);
	for (; *options; options++)
		config_word(w, &m->options, *options);
	return m;
}
#define MOUNT(w, type, source, at, ...)                                                            \
	config_mount(w, type, source, at, (const char *const[]){__VA_ARGS__, NULL})

static void config_tmpfs(struct writing *w, const char *at, int64_t size, const char *mode)
{
	/* A file takes a page at least, so this many are never missing for want of a number. */
	const int64_t files = size / BYTES_A_FILE + 64;

	MOUNT(w, "tmpfs", "tmpfs", at, "nosuid", "nodev", mode,
	      arena_printf(w->a, "size=%lld", (long long)size),
	      arena_printf(w->a, "nr_inodes=%lld", (long long)files));
}

/* Of the program's own id, and its files may be executed. */
static void config_workspace(struct writing *w)
{
	struct oci_mount *m;

	if (box_workspace_is_volume(w->q))
		return;
	if (w->q->workspace_dir) {
		MOUNT(w, "none", w->q->workspace_dir, BOX_WORKSPACE, "bind", "rw", "nosuid",
		      "nodev");
		return;
	}
	config_tmpfs(w, BOX_WORKSPACE, box_workspace_size(&w->q->limits), "mode=0755");
	m = &w->c->mounts.v[w->c->mounts.n - 1];
	config_word(w, &m->options, arena_printf(w->a, "uid=%u", w->q->uid));
	config_word(w, &m->options, arena_printf(w->a, "gid=%u", w->q->gid));
	config_word(w, &m->options, "exec");
}

/* Where there is no rootfs: the host's programs, to read. */
static void config_host(struct writing *w)
{
	static const char *const paths[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
					    "/etc/alternatives", "/etc/ld.so.cache",
					    "/etc/ssl/certs", "/etc/R", NULL};
	char target[64];
	size_t i;

	for (i = 0; paths[i]; i++)
		/* A link is in the frame (rootfs.c). */
		if (access(paths[i], F_OK) == 0 && readlink(paths[i], target, sizeof(target)) < 0)
			MOUNT(w, "none", paths[i], paths[i], "rbind", "ro", "nosuid", "nodev");
}

static void config_mounts(struct writing *w, const struct box_root *root)
{
	const struct box_request *q = w->q;
	size_t i;

	w->c->mounts.v = arena_array(w->a, MOUNTS_MAX + q->n_volumes, struct oci_mount);
	MOUNT(w, "proc", "proc", "/proc", "nosuid", "nodev", "noexec");
	/* Its devices, and few more: whoever is root in the box can make files there, too. */
	MOUNT(w, "tmpfs", "tmpfs", "/dev", "nosuid", "noexec", "mode=755", "size=65536",
	      "nr_inodes=64");
	MOUNT(w, "devpts", "devpts", "/dev/pts", "nosuid", "noexec", "newinstance",
	      "ptmxmode=0666", "mode=0620");
	config_tmpfs(w, "/dev/shm", q->limits.tmpfs, "mode=1777");
	if (root->host)
		config_host(w);
	config_tmpfs(w, "/tmp", q->limits.tmpfs, "mode=1777");
	/* Where it holds the program. */
	if (q->language && q->language->product && (q->cwd || box_workspace_is_volume(q)))
		config_word(w, &w->c->mounts.v[w->c->mounts.n - 1].options, "exec");
	config_workspace(w);
	for (i = 0; i < q->n_volumes; i++)
		MOUNT(w, "none", q->volumes[i].source, q->volumes[i].target, "rbind",
		      q->volumes[i].writable ? "rw" : "ro", "nosuid", "nodev");
}

static void config_rlimit(struct writing *w, const char *type, uint64_t soft, uint64_t hard)
{
	struct oci_process *p = &w->c->process;
	size_t i = 0;

	while (i < p->rlimits.n && !str_eq(p->rlimits.v[i].type, type))
		i++;
	p->rlimits.v[i] = (struct oci_rlimit){arena_strdup(w->a, type), hard, soft};
	p->rlimits.n += i == p->rlimits.n;
}

static void config_rlimits(struct writing *w)
{
	const struct box_limits *l = &w->q->limits;
	size_t i;

	w->c->process.rlimits.v = arena_array(w->a, w->q->n_rlimits + 8, struct oci_rlimit);
	config_rlimit(w, "RLIMIT_NOFILE", l->open_files, l->open_files);
	config_rlimit(w, "RLIMIT_CORE", 0, 0);
	if (l->cpu_time_ns)
		config_rlimit(w, "RLIMIT_CPU", (uint64_t)(l->cpu_time_ns / LOOP_SECOND) + 1,
			      (uint64_t)(l->cpu_time_ns / LOOP_SECOND) + 2);
	if (l->file_size)
		config_rlimit(w, "RLIMIT_FSIZE", (uint64_t)l->file_size, (uint64_t)l->file_size);
	for (i = 0; i < w->q->n_rlimits; i++)
		config_rlimit(w, w->q->rlimits[i].type, w->q->rlimits[i].soft,
			      w->q->rlimits[i].hard);
}

static void config_resources(struct writing *w)
{
	struct oci_resources *r = &w->c->linux_.resources;
	const struct box_limits *l = &w->q->limits;

	r->memory.limit = r->memory.swap = (struct opt_i64){true, l->memory};
	r->cpu.quota = (struct opt_i64){true, (int64_t)l->cpus * (BOX_CPU_PERIOD / 1000)};
	r->cpu.period = (struct opt_u64){true, BOX_CPU_PERIOD};
	/* The reaper is none of its own; a box that stays has one more for a call. */
	r->pids_limit = (struct opt_i64){true, l->pids + (w->q->facts ? 2 : 1)};
}

static void config_namespaces(struct writing *w)
{
	static const enum oci_ns kinds[] = {OCI_NS_PID,	  OCI_NS_NETWORK, OCI_NS_IPC, OCI_NS_UTS,
					    OCI_NS_MOUNT, OCI_NS_CGROUP,  OCI_NS_USER};
	struct oci_linux *l = &w->c->linux_;
	size_t i, n = ARRAY_SIZE(kinds) - (w->ordinary ? 0 : 1);

	l->namespaces.v = arena_array(w->a, n, struct oci_namespace);
	for (i = 0; i < n; i++)
		l->namespaces.v[l->namespaces.n++].type = kinds[i];
	if (!w->ordinary)
		return; /* the policy gives it a range of ids */
	l->uid_mappings.n = l->gid_mappings.n = 1;
	l->uid_mappings.v = arena_array(w->a, 1, struct oci_id_map);
	l->gid_mappings.v = arena_array(w->a, 1, struct oci_id_map);
	l->uid_mappings.v[0] = (struct oci_id_map){w->q->uid, geteuid(), 1};
	l->gid_mappings.v[0] = (struct oci_id_map){w->q->gid, getegid(), 1};
}

static bool config_is_code(const struct writing *w, const char *word)
{
	const struct box_language *l = w->q->language;

	return str_eq(word, l->file) || (!w->q->compiles && l->product && str_eq(word, "./main"));
}

/* Programs that ask a proxy are told why something is refused; to those that do not know these,
 * hosts are there all the same. An http: URL also for ALL_PROXY: some fail at socks5h:. */
void box_proxy_words(struct strings *env, struct arena *a)
{
	static const char *const names[] = {"http_proxy",  "https_proxy", "all_proxy",
					    "HTTP_PROXY",  "HTTPS_PROXY", "ALL_PROXY"};
	static const char *const others[] = {"no_proxy=localhost,127.0.0.1,::1",
					     "NO_PROXY=localhost,127.0.0.1,::1",
					     "NODE_USE_ENV_PROXY=1"};
	size_t i;

	env->v = arena_array(a, ARRAY_SIZE(names) + ARRAY_SIZE(others) + 1, char *);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		env->v[env->n++] =
			arena_printf(a, "%s=http://127.0.0.1:%d", names[i], EGRESS_PROXY_PORT);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		env->v[env->n++] = arena_strdup(a, others[i]);
}

static void config_proxies(struct writing *w)
{
	struct strings env = {0};
	size_t i;

	box_proxy_words(&env, w->a);
	for (i = 0; i < env.n; i++)
		config_word(w, &w->c->process.env, env.v[i]);
}

static void config_process(struct writing *w, const char *const *words)
{
	struct oci_process *p = &w->c->process;
	size_t i;

	p->set = p->user.set = p->no_new_privileges = true;
	p->capabilities.set = true;
	p->terminal = w->q->terminal;
	p->user.uid = w->q->uid;
	p->user.gid = w->q->gid;
	p->cwd = arena_strdup(w->a, w->q->cwd ? w->q->cwd : BOX_WORKSPACE);
	for (; words && *words; words++)
		config_word(w, &p->args,
			    config_is_code(w, *words) ? box_code_path(w->q, w->a) : *words);
	for (i = 0; i < w->q->args.n && !w->q->compiles; i++)
		config_word(w, &p->args, w->q->args.v[i]);
	config_word(w, &p->env, "PATH=/usr/local/bin:/usr/bin:/bin");
	config_word(w, &p->env, "HOME=" BOX_WORKSPACE);
	config_word(w, &p->env, "LANG=C.UTF-8");
	if (w->q->terminal)
		config_word(w, &p->env, "TERM=xterm-256color");
	if (w->q->limits.network)
		config_proxies(w);
	for (i = 0; i < w->q->env.n; i++)
		config_word(w, &p->env, w->q->env.v[i]);
}

/* The policy leaves of it what it gives itself. */
static void config_calls(struct writing *w)
{
	struct oci_seccomp *c = &w->c->linux_.seccomp;

	if (!w->q->calls.n)
		return;
	c->set = true;
	c->default_action = OCI_ACT_ERRNO;
	c->default_errno_ret = (struct opt_u32){.set = true, .v = EPERM};
	c->syscalls.n = 1;
	c->syscalls.v = arena_array(w->a, 1, struct oci_seccomp_rule);
	c->syscalls.v[0] =
		(struct oci_seccomp_rule){.names = w->q->calls, .action = OCI_ACT_ALLOW};
}

int box_config_write(const struct box_request *q, const struct box_root *root, struct arena *a,
		     struct buf *b, struct error *e)
{
	struct oci_config *c = arena_new(a, struct oci_config);
	struct writing w = {.q = q, .a = a, .c = c, .ordinary = !sys_is_machine_root()};

	c->oci_version = arena_strdup(a, OCI_VERSION_MAX);
	c->hostname = arena_strdup(a, "box");
	c->root.path = arena_strdup(a, root->path);
	c->root.readonly = true;
	if (root->cgroup)
		c->linux_.cgroups_path = arena_strdup(a, root->cgroup);
	config_process(&w, !q->language ? NULL :
			   q->compiles	? q->language->compile :
					  q->language->run);
	config_rlimits(&w);
	config_mounts(&w, root);
	config_namespaces(&w);
	config_resources(&w);
	if (q->facts) {
		c->annotations.v = arena_new(a, struct pair);
		c->annotations.v[c->annotations.n++] = (struct pair){
			arena_strdup(a, BOX_FACTS), arena_strdup(a, q->facts)};
	}
	config_calls(&w);
	json_write(b, &oci_config_table, c, 0);
	return b->overflow ? err_set(e, ERR_USAGE, "the request is too large for a config") : 0;
}
