/*
 * A further process in a running container: the same confinement as its init, and never more. The
 * launcher (init/join.c, join_enter) enters cgroups and namespaces; its child becomes the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "base/timing.h"
#include "cgroup/rdt.h"
#include "cgroup/stats.h"
#include "init/init.h"
#include "init/reaper.h"
#include "init/stage.h"
#include "init/streams.h"
#include "life/foreground.h"
#include "life/guard.h"
#include "life/internal.h"
#include "life/policy.h"
#include "life/settle.h"
#include "ns/launch.h"
#include "oci/names.h"
#include "oci/oci.h"
#include "policy/conditions.h"
#include "policy/tighten.h"
#include "security/caps.h"
#include "security/identity.h"
#include "security/lsm.h"
#include "security/seccomp_install.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "sys/sys.h"
#include "sys/unix.h"


static int exec_read_file(const char *path, struct arena *a, char **ret, size_t *ret_len,
			  struct error *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_sys(e, "open %s", path);
	*ret = fd_read_all(fd, JSON_BYTES_MAX, a, ret_len);
	return *ret ? 0 : err_sys(e, "read %s", path);
}

static void exec_append(struct strings *list, const struct strings *more, struct arena *a)
{
	struct strings joined = {.v = arena_array(a, list->n + more->n + 1, char *)};
	size_t i;

	for (i = 0; i < list->n; i++)
		joined.v[joined.n++] = list->v[i];
	for (i = 0; i < more->n; i++)
		joined.v[joined.n++] = more->v[i];
	*list = joined;
}

/* NAME=VALUE: a name that is given replaces the container's own. */
static void exec_set_env(struct strings *env, const struct strings *more, struct arena *a)
{
	struct strings kept = {.v = arena_array(a, env->n + 1, char *)};
	size_t i, k, len;

	for (i = 0; i < env->n; i++) {
		for (k = 0; k < more->n; k++) {
			len = strcspn(more->v[k], "=");
			if (strncmp(env->v[i], more->v[k], len) == 0 && env->v[i][len] == '=')
				break;
		}
		if (k == more->n)
			kept.v[kept.n++] = env->v[i];
	}
	*env = kept;
	exec_append(env, more, a);
}

/* UID[:GID], numbers and nothing else (CVE-2026-30892). */
static int exec_parse_user(const char *text, struct oci_user *user, struct arena *a,
			   struct error *e)
{
	const char *colon = strchr(text, ':');
	char *uid = colon ? arena_strndup(a, text, (size_t)(colon - text)) : arena_strdup(a, text);

	if (!str_to_u32(uid, &user->uid) || user->uid == UINT32_MAX ||
	    (colon && (!str_to_u32(colon + 1, &user->gid) || user->gid == UINT32_MAX)))
		return err_set(e, ERR_USAGE, "--user: %s is not UID[:GID] in numbers",
			       json_show(text).text);
	return 0;
}

static int exec_add_gids(const struct strings *gids, struct oci_user *user, struct arena *a,
			 struct error *e)
{
	struct ids all = {.v = arena_array(a, user->additional_gids.n + gids->n + 1, uint32_t)};
	size_t i;

	for (i = 0; i < user->additional_gids.n; i++)
		all.v[all.n++] = user->additional_gids.v[i];
	for (i = 0; i < gids->n; i++)
		if (!str_to_u32(gids->v[i], &all.v[all.n++]))
			return err_set(e, ERR_USAGE, "--additional-gids: %s is not a number",
				       json_show(gids->v[i]).text);
	user->additional_gids = all;
	return 0;
}

/* The kernel takes as ambient what is inheritable alone. */
static void exec_append_ambient(struct oci_capabilities *c, const struct strings *caps,
				struct arena *a)
{
	struct strings more = {.v = arena_array(a, caps->n + 1, char *)};
	size_t i, k;

	for (i = 0; i < caps->n; i++)
		for (k = 0; k < c->inheritable.n; k++)
			if (oci_cap_number(caps->v[i]) == oci_cap_number(c->inheritable.v[k])) {
				more.v[more.n++] = caps->v[i];
				break;
			}
	exec_append(&c->ambient, &more, a);
}

/* Create has told which ambient capabilities the kernel would not take; exec does not repeat it
 * with each process: `runc spec` writes such a config. */
static void exec_drop_ambient(struct oci_capabilities *c, struct arena *a)
{
	const struct strings asked = c->ambient;

	c->ambient = (struct strings){0};
	exec_append_ambient(c, &asked, a);
}

/* The config's process as the command line changes it. */
static int exec_process_from_options(const struct exec_options *o, struct oci_process *p,
				     struct arena *a, struct error *e)
{
	size_t i;

	if (!o->args.n)
		return err_set(e, ERR_USAGE, "exec: no program given");
	p->set = true;
	exec_drop_ambient(&p->capabilities, a);
	p->args = o->args;
	p->terminal = o->tty;
	p->console_size.set = false;
	if (o->cwd)
		p->cwd = arena_strdup(a, o->cwd);
	if (!p->cwd)
		p->cwd = arena_strdup(a, "/");
	exec_set_env(&p->env, &o->env, a);
	if (o->no_new_privs)
		p->no_new_privileges = true;
	if (o->apparmor)
		p->apparmor_profile = arena_strdup(a, o->apparmor);
	if (o->label)
		p->selinux_label = arena_strdup(a, o->label);
	for (i = 0; i < o->caps.n; i++)
		if (oci_cap_number(o->caps.v[i]) < 0)
			return err_set(e, ERR_USAGE, "--cap: unknown capability %s",
				       json_show(o->caps.v[i]).text);
	exec_append(&p->capabilities.bounding, &o->caps, a);
	exec_append(&p->capabilities.effective, &o->caps, a);
	exec_append(&p->capabilities.permitted, &o->caps, a);
	exec_append_ambient(&p->capabilities, &o->caps, a);
	p->capabilities.set |= o->caps.n > 0;
	if (o->user && exec_parse_user(o->user, &p->user, a, e) < 0)
		return -1;
	if (exec_add_gids(&o->gids, &p->user, a, e) < 0)
		return -1;
	return oci_process_validate(p, "process.", e);
}

/* A whole process document; what it leaves out is the container's own. */
static int exec_process_from_file(const struct exec_options *o, struct oci_process *p,
				  struct arena *a, struct error *e)
{
	const struct oci_process container = *p;
	size_t len = 0;
	char *text = NULL;

	if (exec_read_file(o->process_file, a, &text, &len, e) < 0)
		return err_wrap(e, "--process");
	*p = (struct oci_process){0};
	if (json_read(o->process_file, text, len, &oci_process_table, &json_default_limits, p, a,
		      e) < 0 ||
	    oci_process_validate(p, "process.", e) < 0)
		return err_wrap(e, "--process");
	p->set = true;
	if (!p->capabilities.set)
		p->capabilities = container.capabilities;
	if (!p->rlimits.n)
		p->rlimits = container.rlimits;
	/* Absent is not root. */
	if (!p->user.set)
		p->user = container.user;
	if (!p->oom_score_adj.set)
		p->oom_score_adj = container.oom_score_adj;
	/* Never more than the container's own. */
	p->no_new_privileges |= container.no_new_privileges;
	if (!p->apparmor_profile)
		p->apparmor_profile = container.apparmor_profile;
	if (!p->selinux_label)
		p->selinux_label = container.selinux_label;
	if (!p->exec_cpu_affinity.initial && !p->exec_cpu_affinity.final)
		p->exec_cpu_affinity = container.exec_cpu_affinity;
	return 0;
}

static int exec_load(const struct store *s, const struct exec_options *o, struct arena *a,
		     struct oci_config *c, struct error *e)
{
	if (life_read_config(s, a, c, e) < 0 ||
	    (o->process_file ? exec_process_from_file(o, &c->process, a, e) :
			       exec_process_from_options(o, &c->process, a, e)) < 0)
		return -1;
	life_settle_oom_score(&c->process);
	return 0;
}

/* 1 or 0; -1 if it can't be told, for the process has ended. */
static int exec_is_in_other_ns(pid_t pid, const char *name)
{
	char own[64], other[64];
	struct stat a, b;

	snprintf(own, sizeof(own), "/proc/self/ns/%s", name);
	snprintf(other, sizeof(other), "/proc/%d/ns/%s", pid, name);
	if (stat(own, &a) < 0)
		return 0; /* a kind that this kernel doesn't have */
	return stat(other, &b) < 0 ? -1 : a.st_dev != b.st_dev || a.st_ino != b.st_ino;
}

/* "0-3,7" as a set; validated before. */
static cpu_set_t *exec_cpus(const char *list, struct arena *a)
{
	cpu_set_t *set;
	long from, to;
	char *end;

	if (!list)
		return NULL;
	set = arena_new(a, cpu_set_t);
	while (*list) {
		from = to = strtol(list, &end, 10);
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (; from <= to && from < CPU_SETSIZE; from++)
			CPU_SET((size_t)from, set);
		list = *end == ',' ? end + 1 : end;
	}
	return set;
}

/* Those that init has and we don't. *ret_own: the kinds that it shares with us. */
static int exec_find_namespaces(struct join *j, const struct record *r, unsigned int *ret_own,
				struct error *e)
{
	size_t i;

	*ret_own = 0;

	for (i = 0; i < OCI_NS_COUNT; i++) {
		int other = exec_is_in_other_ns(r->pid, oci_ns_names[i].proc);

		if (other < 0 && errno == EACCES)
			return err_set(
				e, ERR_WRONG_STATE,
				"container not running yet: until it is started, or when its program "
				"can't be read, only root may enter it");
		if (other < 0)
			return err_set(e, ERR_WRONG_STATE, "container not running");
		if (other)
			j->namespaces |= oci_ns_names[i].flag;
		else
			*ret_own |= 1U << i;
	}
	return 0;
}

static int exec_check_namespaces(struct join *j, const struct record *r, const struct plan *p,
				 struct error *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", r->pid);
	if (!p->new_root && (j->root_dfd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_sys(e, "open %s", path);
	/* Only if it lives now was all of this about the container's init, and not about whoever
	 * has its number by now. A program must never run on the host because there was nothing to
	 * join. */
	if (pidfd_send_signal(j->init_pidfd, 0, NULL, 0) < 0 || !store_is_alive(j->init_pidfd))
		return err_set(e, ERR_WRONG_STATE, "container not running");
	if (p->ns.new_flags & ~(uint64_t)j->namespaces & ~(uint64_t)CLONE_NEWTIME)
		return err_set(
			e, ERR_WRONG_STATE,
			"container not running: its init is not in the namespaces of its config");
	return 0;
}

static int exec_check_status(const struct store *s, const struct record *r,
			     const struct exec_options *o, int *ret_pidfd, struct error *e)
{
	const struct cgroup_dirs dirs = life_cgroups(r);
	enum status status;

	if (store_status(s, r, &status, ret_pidfd, e) < 0)
		return -1;
	if (status == STATUS_STOPPED || status == STATUS_CREATING)
		return err_set(e, ERR_WRONG_STATE,
			       "cannot exec in a stopped container: container not running");
	if (!o->ignore_paused && cgroup_is_frozen(&dirs))
		return err_set(
			e, ERR_WRONG_STATE,
			"cannot exec in a paused container (use --ignore-paused to override)");
	return 0;
}

/* The state of one exec. */
struct joining {
	const struct exec_options *o;
	struct arena *a;
	struct store store;
	struct record record;
	struct oci_config config;
	struct plan plan;
	struct join join;
	struct foreground foreground;
	int console_fd; /* our end of the terminal's way to us, or -1 */
	bool joins;	/* life_join(): a reaper, whose parent waits for it by itself */
};

static int exec_open_console(struct joining *x, struct error *e)
{
	const struct exec_options *o = x->o;
	const bool terminal = x->config.process.terminal;
	struct init *in = &x->join.init;
	int pair[2];

	if (!terminal && o->console_socket)
		return err_set(e, ERR_USAGE, "--console-socket: the process has no terminal");
	if (!terminal)
		return 0;
	if (o->console_socket) {
		in->io.console_fd = unix_connect(o->console_socket, e);
		return in->io.console_fd < 0 ? err_wrap(e, "--console-socket") : 0;
	}
	if (o->detach)
		return err_set(
			e, ERR_USAGE,
			"cannot allocate tty if sbxrun will detach without --console-socket");
	if (msg_stream_pair(pair, e) < 0)
		return -1;
	x->console_fd = pair[0];
	in->io.console_fd = pair[1];
	in->io.terminal_is_relayed = true;
	foreground_own_size(&x->plan.program.console_size);
	return 0;
}

static int exec_hand_over(const struct exec_options *o, pid_t pid, int pidfd, struct arena *a,
			  struct error *e)
{
	if (o->pidfd_socket && life_send_pidfd(o->pidfd_socket, pidfd, e) < 0)
		return -1;
	/* Last: it must not name a process that is gone. */
	return o->pid_file ? life_write_pid_file(o->pid_file, pid, a, e) : 0;
}

static int exec_give_scheduler(const struct init *in, int sock, pid_t pid, struct error *e)
{
	if (!init_is_given_scheduler(in))
		return 0;
	if (identity_set_scheduler(pid, &in->plan->scheduler, e) < 0)
		return -1;
	return stage_say(sock, STAGE_BORN, e);
}

/* Closes what the new process alone needs. */
static void exec_close_inits(struct join *j)
{
	fd_close(&j->init.talk.stage_fd);
	fd_close(&j->init.io.console_fd);
	fd_close(&j->init.reaper.file_fd);
	cgroup_handle_close(&j->init.host.cgroup);
}

/* The program runs when this returns. *ret_pid may be a process though it failed. */
static int exec_launch(struct joining *x, pid_t *ret_pid, int *ret_pidfd, int *take_fd,
		       struct error *e)
{
	struct launch l = {.context = &x->join,
			   .enter = join_enter,
			   .main = join_main,
			   .unified_dfd = x->join.init.host.cgroup.unified_dfd};
	const struct record *r = &x->record;
	struct init *in = &x->join.init;
	int socks[2], result;

	*ret_pid = -1;
	if (msg_pair(socks, e) < 0)
		return -1;
	in->talk.stage_fd = socks[1];
	in->talk.parent_fd = socks[0];
	if (r->id_range.size)
		streams_give(in->io.streams, r->id_range.first);
	*ret_pid = launch(&l, ret_pidfd, e);
	timing_mark("process cloned");
	exec_close_inits(&x->join);
	result = *ret_pid < 0 ? -1 : exec_give_scheduler(in, socks[0], *ret_pid, e);
	if (result == 0)
		result = life_await_program(socks[0], *ret_pid, *ret_pidfd, r, take_fd, x->a, e);
	fd_close(&socks[0]);
	return result;
}

static int exec_start(struct joining *x, int *ret_status, struct error *e)
{
	const struct record *r = &x->record;
	autoclose int pidfd = -1;
	pid_t pid;
	int result = exec_launch(x, &pid, &pidfd, NULL, e);

	if (result == 0 && x->console_fd >= 0)
		result = foreground_open_terminal(&x->foreground, x->console_fd, e);
	if (result == 0)
		result = exec_hand_over(x->o, pid, pidfd, x->a, e);
	timing_mark("program runs");
	if (result == 0)
		log_info("process %d started in container %s", pid, r->id);
	if (result < 0 && pid > 0)
		child_end(pid);
	if (result == 0 && !x->o->detach)
		*ret_status = foreground_wait(&x->foreground, pid, pidfd);
	return result;
}

static int exec_probe_labels(const struct joining *x, struct lsm_host *ret, struct error *e)
{
	const struct exec_options *o = x->o;
	const struct oci_process *p = &x->config.process;

	if (p->apparmor_profile || p->selinux_label)
		lsm_probe_host(ret);
	if ((o->apparmor && !ret->apparmor) || (o->label && !ret->selinux))
		return err_set(e, ERR_HOST, "%s: this host does not run %s",
			       o->apparmor ? "--apparmor" : "--process-label",
			       o->apparmor ? "AppArmor" : "SELinux");
	return 0;
}

static int exec_check_policy(const struct policy *p, const struct exec_options *o, struct error *e)
{
	if (p->level[LEVEL_DESCRIPTORS] == DESCRIPTORS_NONE && o->preserve_fds)
		return err_set(e, ERR_USAGE,
			       "policy %s refuses --preserve-fds [descriptors]; to allow it, an "
			       "administrator gives \"descriptors\": \"as-asked\" to a policy in "
			       POLICY_FILE,
			       p->name);
	return 0;
}

static int exec_plan(struct joining *x, const char *const **ret_subs, struct error *e)
{
	const struct exec_options *o = x->o;
	const struct cgroup_dirs cgroups = life_cgroups(&x->record);
	struct policy_clamps clamps = {0};
	struct host_facts facts;
	struct policy policy;

	if (life_probe_host(cgroup_sub_has_controller(&o->cgroups), x->a, &facts, e) < 0 ||
	    cgroup_plan_sub(&o->cgroups, &cgroups, &facts.cgroup, x->a, ret_subs, e) < 0)
		return -1;
	facts.can_mount_detached = true; /* nothing is mounted here */
	if (x->record.id_range.size)
		ids_give_range(&x->config, x->record.id_range, x->a);
	/* Rlimits, which hold a box without cgroups, have to hold its calls, too. */
	if (x->joins && !cgroups.n)
		settle_limits_by_rlimits(&x->config, x->a);
	if (exec_probe_labels(x, &facts.lsm, e) < 0 ||
	    exec_find_namespaces(&x->join, &x->record, &facts.own_ns, e) < 0)
		return -1;
	if (life_policy_of(&x->record, x->a, &policy, e) < 0 ||
	    exec_check_policy(&policy, o, e) < 0 ||
	    policy_tighten_exec(&policy, &facts, &x->config, x->a, &clamps, e) < 0)
		return -1;
	settle_filter(&x->config.linux_.seccomp, o->observe, false, x->a, &facts);
	if (plan_make_exec(&x->config, o->id, &facts, x->a, &x->plan, e) < 0)
		return -1;
	x->plan.root_upper = x->record.root_upper;
	policy_set_conditions_exec(&policy, &x->config, &facts, x->a, &x->plan);
	return 0;
}

/* All that can fail before there is a process. */
static int exec_prepare(struct joining *x, struct error *e)
{
	const struct exec_options *o = x->o;
	const struct oci_cpu_affinity *affinity = &x->config.process.exec_cpu_affinity;
	const struct record *r = &x->record;
	struct plan *p = &x->plan;
	struct join *j = &x->join;
	struct cgroup_dirs cgroups;
	const char *const *subs;

	if (life_check_pid_file(o->pid_file, e) < 0 ||
	    life_load(o->root, o->id, STORE_LOOK, x->a, &x->store, &x->record, e) < 0 ||
	    exec_check_status(&x->store, r, o, &j->init_pidfd, e) < 0 ||
	    exec_load(&x->store, o, x->a, &x->config, e) < 0 || exec_plan(x, &subs, e) < 0)
		return -1;
	cgroups = life_cgroups(r);
	if (x->joins && (j->init.reaper.file_fd = reaper_open(e)) < 0)
		return -1;
	if (guard_check_init(r, p, e) < 0 || seccomp_check_host(&p->filter, e) < 0 ||
	    life_settle_notes(p, o->strict, o->noter, x->a, e) < 0 ||
	    exec_check_namespaces(j, r, p, e) < 0 || guard_check_filter(j, r, e) < 0 ||
	    cgroup_open(&cgroups, subs, r->pid, o->ignore_paused, &j->init.host.cgroup, e) < 0 ||
	    rdt_open(&r->rdt, &j->init.host.cgroup, e) < 0)
		return -1;
	j->affinity_initial = exec_cpus(affinity->initial, x->a);
	j->affinity_final = exec_cpus(affinity->final, x->a);
	timing_mark("planned");
	life_log_plan(p, x->a);
	if (!o->detach && foreground_prepare(&x->foreground, e) < 0)
		return -1;
	return exec_open_console(x, e);
}

static void exec_close(struct joining *x)
{
	exec_close_inits(&x->join);
	fd_close(&x->console_fd);
	foreground_close(&x->foreground);
	fd_close(&x->join.init_pidfd);
	fd_close(&x->join.root_dfd);
	store_close(&x->store);
}

static struct joining *exec_begin(const struct exec_options *o, struct arena *a)
{
	struct joining *x = arena_new(a, struct joining);

	*x = (struct joining){
		.o = o,
		.a = a,
		.store = STORE_NONE,
		.foreground = FOREGROUND_NONE,
		.console_fd = -1,
		.join = {.root_dfd = -1,
			 .init_pidfd = -1,
			 .init = {.plan = &x->plan,
				  .arena = a,
				  .host = {.cgroup = CGROUP_HANDLE_NONE,
					   .pid_ns = PID_NS_NONE,
					   .store = &x->store},
				  .talk = {.stage_fd = -1, .parent_fd = -1, .listen_fd = -1},
				  .way = {.forks_program = true},
				  .io = {.preserve_fds = o->preserve_fds, .console_fd = -1},
				  .reaper = {.file_fd = -1, .control_fd = -1}}},
	};
	x->foreground.noter = o->noter;
	return x;
}

int life_exec(const struct exec_options *o, struct arena *a, int *ret_status, struct error *e)
{
	struct joining *x = exec_begin(o, a);
	int result = exec_prepare(x, e);

	*ret_status = 0;
	if (result == 0 && exec_start(x, ret_status, e) < 0)
		result = err_wrap(e, "exec failed");
	exec_close(x);
	return result;
}

/* ---- a reaper that joins ---- */

static void join_count(const struct record *r, struct created *ret)
{
	const struct cgroup_dirs dirs = life_cgroups(r);
	struct cgroup_used used;

	cgroup_used_read(&dirs, &used);
	ret->cpu_before = used.cpu_ns;
	ret->oom_before = used.oom_kills;
	ret->pids_before = used.pids_refused;
}

int life_join(const struct exec_options *o, struct arena *a, struct created *ret,
	      int *ret_listener_fd, struct error *e)
{
	struct joining *x = exec_begin(o, a);
	struct created c = {
		.store = STORE_NONE, .pidfd = -1, .listener_fd = -1, .notify_fd = -1};
	int result;

	x->joins = true;
	x->join.init.io.streams = o->streams;
	x->join.init.reaper.control_fd = o->control_fd;
	x->join.init.reaper.program_comes = o->program_comes;
	result = exec_prepare(x, e);
	if (result == 0) {
		c.record = x->record;
		c.judge = x->plan.judge;
		join_count(&x->record, &c);
		result = exec_launch(x, &c.pid, &c.pidfd, &c.listener_fd, e);
	}
	exec_close(x);
	if (result < 0) {
		life_leave(&c);
		return -1;
	}
	c.started = loop_now();
	*ret_listener_fd = fd_steal(&c.listener_fd);
	*ret = c;
	return 0;
}

void life_leave(struct created *c)
{
	if (c->pidfd >= 0 && c->pid > 0)
		child_end(c->pid);
	fd_close(&c->pidfd);
	fd_close(&c->listener_fd);
}
