/*
 * From a bundle to a container that waits for `start`. The record is written before anything that
 * it describes is made; init dies with this process until the record says that the container is
 * committed; so a create that is killed anywhere leaves nothing that `delete --force` can't find.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/timing.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "cgroup/stats.h"
#include "init/hooks.h"
#include "init/init.h"
#include "init/reaper.h"
#include "init/stage.h"
#include "init/streams.h"
#include "life/bundle.h"
#include "life/guard.h"
#include "life/internal.h"
#include "life/notify.h"
#include "life/policy.h"
#include "life/range.h"
#include "life/settle.h"
#include "ns/members.h"
#include "ns/netdev.h"
#include "ns/spawn.h"
#include "ns/userns.h"
#include "rootfs/mount.h"
#include "rootfs/nodes.h"
#include "rootfs/stage.h"
#include "security/identity.h"
#include "sys/child.h"
#include "sys/msg.h"
#include "sys/patience.h"
#include "sys/proc.h"
#include "sys/sys.h"
#include "sys/unix.h"

/* The state of one create. */
struct making {
	const struct create_options *o;
	struct arena *a;
	struct bundle bundle;
	struct plan plan;
	struct tightened tightened;
	struct joins joins;
	struct init init;
	struct netdevs netdevs;
	struct created made;
	pid_t launcher; /* which has ended, or is about to, and is not collected yet; or 0 */
};

/*
 * The record of what is about to be made. It asks the host for what others may change at any time
 * and what decides what will be removed: which cgroups are missing, what the root lies on. The
 * later, the less can come in between.
 */
static int create_record(const struct making *m, const struct host_facts *facts,
			 struct record *ret, struct error *e)
{
	const struct oci_config *c = m->bundle.config;
	const struct plan *p = &m->plan;
	struct arena *a = m->a;
	struct cgroup_dirs dirs = {0};

	if (p->rdt.group.ours && facts->rdt_class_exists)
		return err_set(e, ERR_EXISTS, "linux.intelRdt: %s exists", p->rdt.group.class);
	if (!p->cgroup.skipped_reason)
		dirs = cgroup_dirs_settle(&p->cgroup, life_state_dir(m->o->root, m->o->id, a), a);
	*ret = (struct record){
		.version = RECORD_VERSION,
		.id = arena_strdup(a, p->id),
		.oci_version = c->oci_version,
		.bundle = arena_strdup(a, p->bundle),
		.rootfs = path_clean(a, p->rootfs),
		.created = record_now(a),
		.boot_id = arena_strdup(a, facts->boot_id),
		.owner = geteuid(),
		.has_process = p->program.set,
		.notify = m->o->notify && p->program.set,
		.own_pid_ns = plan_has_new(p, CLONE_NEWPID),
		.own_mount_ns = p->new_root,
		.own_user_ns = p->owns_userns,
		.user_id = facts->joined_user_id,
		.id_range = p->id_range,
		.overlay_work = m->tightened.overlay_work,
		.root_upper = p->root_upper,
		.root_on_host = p->attach_on_host,
		.root_mount_id = p->attach_on_host ? sys_mount_id(p->rootfs) : 0,
		.cgroups = {.n = dirs.n, .v = dirs.v},
		.unit = p->cgroup.unit,
		.rdt = p->rdt.group,
		.listener_path = c->linux_.seccomp.listener_path,
		.listener_metadata = c->linux_.seccomp.listener_metadata,
		.hooks = {.poststart = c->hooks.poststart, .poststop = c->hooks.poststop},
		.annotations = c->annotations,
	};
	life_record_policy(&m->tightened.policy, &m->tightened.clamps, a, ret);
	ret->rdt.made = p->rdt.may_make && !ret->rdt.ours && !facts->rdt_class_exists;
	return 0;
}

/* A child that nobody has collected keeps its number and the time of its birth. */
static int create_look_at_init(struct created *c, struct error *e)
{
	struct proc_stat stat;

	if (proc_stat_read(c->pid, &stat) < 0)
		return err_sys(e, "read /proc/%d/stat", c->pid);
	c->record.pid = c->pid;
	c->record.pid_start = stat.start;
	return 0;
}

/* Nothing else could tell whose processes outlive init. */
static bool create_needs_ns_ids(const struct record *r)
{
	return !r->cgroups.n && !r->own_pid_ns && r->own_mount_ns;
}

/* The record that create_commit() makes the container's. It is written while init is busy, which
 * would have to wait for it later. */
static int create_prepare_record(const struct making *m, struct error *e)
{
	struct record r = m->made.record;

	r.committed = true;
	r.rdt.made = false; /* a shared class outlives its maker */
	return store_prepare(&m->made.store, &r, m->a, e);
}

/* A parent that may look at it at any time does so now. Others had to do so while it waited for its
 * maps. */
static int create_find_ns_ids(struct making *m, struct error *e)
{
	struct record *r = &m->made.record;
	uint64_t user_id;

	if (!create_needs_ns_ids(r) || r->mnt_id)
		return 0;
	members_ids(m->made.pid, &r->mnt_id, r->own_user_ns ? &r->user_id : &user_id);
	return create_prepare_record(m, e);
}

static int create_run_hooks(struct making *m, struct error *e)
{
	const struct oci_hooks *h = &m->plan.hooks;
	struct created *c = &m->made;
	const struct plan_guard *g = &m->plan.guard;
	const struct hook_setting setting = {.dir = c->record.bundle,
					     .trust_policy = g->hooks ? g->policy : NULL};
	const char *state;

	if (!h->prestart.n && !h->create_runtime.n)
		return 0;
	/* A hook may ask for the state, and must find the pid there. */
	if (store_write(&c->store, &c->record, m->a, e) < 0)
		return -1;
	/* "created" is the specification's word for what comes after the namespaces are made,
	 * though `state` says "creating" until create has succeeded. */
	state = record_state_text(&c->record, STATUS_CREATED, c->pid, m->a);
	if (hooks_run(&h->prestart, "prestart", state, &setting, e) < 0)
		return -1;
	return hooks_run(&h->create_runtime, "createRuntime", state, &setting, e);
}

/* Gives the terminal's other end to the caller's socket, or to the foreground run that we serve. */
static int create_open_console(struct making *m, struct error *e)
{
	const struct create_options *o = m->o;
	struct init *in = &m->init;
	bool terminal = m->plan.program.terminal;

	if (!terminal && o->console_socket)
		return err_set(e, ERR_USAGE,
			       "--console-socket: the config has no process.terminal");
	if (!terminal)
		return 0;
	if (o->console_fd >= 0) {
		in->io.console_fd = o->console_fd;
		in->io.terminal_is_relayed = true;
		return 0;
	}
	if (!o->console_socket)
		return err_set(
			e, ERR_USAGE,
			"process.terminal: cannot allocate tty if sbxrun will detach without "
			"--console-socket: use run, or set it to false");
	in->io.console_fd = unix_connect(o->console_socket, e);
	return in->io.console_fd < 0 ? err_wrap(e, "--console-socket") : 0;
}

/* Init goes on as another process, born into a pid namespace that it was not in. */
static int create_await_birth(struct making *m, int sock, struct error *e)
{
	const bool listens = m->plan.filter.notify;
	autoclose int listener_fd = -1, pidfd = -1;
	struct created *c = &m->made;
	pid_t pid;

	if (msg_wait(sock, e) < 0 ||
	    (listens && (listener_fd = stage_await_fd(sock, STAGE_LISTENER, e)) < 0) ||
	    msg_wait(sock, e) < 0 || (pidfd = stage_await_fd(sock, STAGE_BORN, e)) < 0)
		return -1;
	pid = proc_pid_of_child(pidfd);
	if (pid < 0)
		return err_sys(e, "find the pid of init");
	child_collect(c->pid);
	fd_close(&c->pidfd);
	c->pid = pid;
	c->pidfd = fd_steal(&pidfd);
	c->record.pid = pid;
	if (listens &&
	    life_serve_listener(&listener_fd, pid, &c->record,
				m->o->take_listener ? &c->listener_fd : NULL, m->a, e) < 0)
		return -1;
	if (init_is_given_scheduler(&m->init) &&
	    identity_set_scheduler(pid, &m->plan.scheduler, e) < 0)
		return -1;
	return stage_say(sock, STAGE_BORN, e);
}

/* Init has a few calls to make. Others in a pid namespace that it joined may stop it whenever they
 * like. */
static int create_wait_briefly(int sock, struct error *e)
{
	if (patience_wait(sock, POLLIN, patience_until(PATIENCE_PEER_MS), e) < 0)
		return err_wrap(e,
				"init, which processes of a pid namespace that it joins can stop");
	return 0;
}

static int create_set_oom_score(const struct plan *p, pid_t pid, struct error *e)
{
	autoclose int proc_dfd = -1;

	if (!init_is_given_oom_score(p))
		return 0;
	proc_dfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_dfd < 0)
		return err_sys(e, "open /proc");
	return identity_set_oom_score_adj(proc_dfd, pid, p->program.oom_score_adj.v, e);
}

/* In a user namespace init can't raise the priority that the caller has lowered. */
static int create_lift_scheduler(const struct plan *p, pid_t pid, struct error *e)
{
	if (!p->by_machine_root || !p->owns_userns || p->scheduler.set)
		return 0;
	return identity_lift_scheduler(pid, e);
}

/* The record says that the container is there, and then init is told. */
static int create_commit(struct making *m, int sock, struct error *e)
{
	const struct create_options *o = m->o;
	struct created *c = &m->made;

	if (create_lift_scheduler(&m->plan, c->pid, e) < 0 || create_find_ns_ids(m, e) < 0 ||
	    store_commit(&c->store, e) < 0)
		return -1;
	c->record.committed = true;
	c->record.rdt.made = false;
	range_settle(&m->tightened, c->record.pid, c->record.pid_start);
	if (o->pidfd_socket && life_send_pidfd(o->pidfd_socket, c->pidfd, e) < 0)
		return -1;
	/* A user who ends a create believes that there will be no container. */
	if (patience_is_signalled() && patience_check(e) < 0)
		return -1;
	if (stage_say(sock, STAGE_COMMITTED, e) < 0)
		return -1;
	/* Until init has cut the tie to this process, it would die with it. */
	if (create_wait_briefly(sock, e) < 0 || stage_await(sock, STAGE_COMMITTED, e) < 0)
		return err_wrap(e, "init failed after it was ready");
	/* Last: it must not name a process that is gone. */
	return o->pid_file ? life_write_pid_file(o->pid_file, c->pid, m->a, e) : 0;
}

/* Its end takes down the mounts in which binds were prepared, for which the kernel waits. Init goes
 * on meanwhile, and nothing needs the launcher gone before the parent has to wait for init anyway;
 * by then a hook or a test of the program finds it collected. */
static void create_collect_launcher(struct making *m)
{
	if (m->launcher > 0)
		child_collect(m->launcher);
	m->launcher = 0;
}

/* The parent's side of the stages. */
static int create_attend(struct making *m, int sock, struct error *e)
{
	const struct plan *p = &m->plan;
	struct created *c = &m->made;

	if (create_set_oom_score(p, c->pid, e) < 0 || create_look_at_init(c, e) < 0)
		return -1;
	if (m->init.way.parent_acts) {
		create_collect_launcher(m);
		/* Interfaces first: hooks may want to set them up further. */
		if (msg_wait(sock, e) < 0 || stage_await(sock, STAGE_MOUNTED, e) < 0 ||
		    netdevs_move(p, c->pid, m->o->noter, m->a, &m->netdevs, e) < 0 ||
		    create_run_hooks(m, e) < 0 || stage_say(sock, STAGE_HOOKS_RUN, e) < 0)
			return -1;
	}
	if (m->init.way.forks_program &&
	    (create_await_birth(m, sock, e) < 0 || create_wait_briefly(sock, e) < 0 ||
	     create_look_at_init(c, e) < 0))
		return -1;
	if (create_prepare_record(m, e) < 0)
		return -1;
	create_collect_launcher(m);
	if (msg_wait(sock, e) < 0 || stage_await(sock, STAGE_READY, e) < 0)
		return -1;
	timing_mark("ready");
	return create_commit(m, sock, e);
}

/* Nothing that was made so far stays. What hangs in the kernel, at a file system that
 * doesn't answer for instance, can't be waited for: then the record is left, for a later
 * `delete --force`. */
static void create_roll_back(struct created *c, struct arena *a)
{
	struct error why;

	fd_close(&c->pidfd);
	if (c->pid > 0)
		kill(c->pid, SIGKILL);
	if ((c->pid > 0 && child_collect_within(c->pid, PATIENCE_PEER_MS, NULL, &why) < 0) ||
	    life_destroy(&c->store, &c->record, -1, c->noter, a, &why) < 0)
		note(c->noter, "clean-up after the failure: %s", why.text);
	store_close(&c->store);
}

static int create_stage(void *context, struct error *e)
{
	struct init *in = context;

	return stage_set(in->plan, &in->host.sources, in->arena, e);
}

static int create_cgroups(struct making *m, struct error *e)
{
	struct record *r = &m->made.record;
	struct cgroup_dirs dirs = life_cgroups(r);
	struct init *in = &m->init;

	if (dirs.n && cgroup_make(&m->plan.cgroup, &dirs, &in->host.cgroup, e) < 0) {
		/* It has removed what it made; what is there now is somebody else's. */
		r->cgroups.n = 0;
		r->unit = (struct cgroup_unit){0};
		return -1;
	}
	if (rdt_make(&m->plan.rdt, &in->host.cgroup, e) < 0) {
		r->rdt.set = false; /* the same */
		return -1;
	}
	if (in->host.cgroup.warning[0] && m->o->strict)
		return err_set(e, ERR_HOST, "--strict: %s", in->host.cgroup.warning);
	if (in->host.cgroup.warning[0])
		note(m->o->noter, "%s", in->host.cgroup.warning);
	timing_mark("cgroups made");
	return 0;
}

/* Closes what is init's alone, once init is there or never was. */
static void create_close_inits(struct making *m)
{
	struct init *in = &m->init;

	joins_close(&m->joins);
	fd_close(&in->talk.stage_fd);
	fd_close(&in->talk.listen_fd);
	fd_close(&in->reaper.file_fd);
	cgroup_handle_close(&in->host.cgroup);
	sources_close(&m->plan, &in->host.sources);
	if (in->io.console_fd != m->o->console_fd)
		fd_close(&in->io.console_fd);
}

static int create_spawn(struct making *m, struct error *e)
{
	const struct plan *p = &m->plan;
	struct created *c = &m->made;
	struct init *in = &m->init;
	struct spawn spawn = {.plan = p,
			      .joins = &m->joins,
			      .main = init_main,
			      .context = in,
			      .unified_dfd = in->host.cgroup.unified_dfd,
			      .userns_fd = p->id_range.size ? m->tightened.userns_fd : -1,
			      .pid_ns = &in->host.pid_ns,
			      .ret_launcher = &m->launcher};
	int socks[2], result;

	if (p->id_range.size)
		streams_give(m->o->streams, p->id_range.first);
	if (stage_is_wanted(p))
		spawn.before = create_stage;
	if (create_needs_ns_ids(&c->record)) {
		spawn.ret_mnt_id = &c->record.mnt_id;
		spawn.ret_user_id = &c->record.user_id;
	}
	in->way.make_cgroup_ns = plan_has_new(p, CLONE_NEWCGROUP) && spawn_leaves_cgroup_ns(&spawn);
	in->talk.listen_fd = store_listen(&c->store, e);
	if (in->talk.listen_fd < 0 || msg_pair(socks, e) < 0)
		return -1;
	in->talk.stage_fd = socks[1];
	in->talk.parent_fd = socks[0];
	c->pid = spawn_init(&spawn, &c->pidfd, e);
	timing_mark("init cloned");
	log_debug("init is process %d", c->pid);
	create_close_inits(m);
	result = c->pid < 0 ? -1 : create_attend(m, socks[0], e);
	create_collect_launcher(m);
	/* Before init is killed, and the namespace with it. */
	if (result < 0)
		netdevs_bring_back(&m->netdevs);
	netdevs_close(&m->netdevs);
	fd_close(&socks[0]);
	return result;
}

/* Its top belongs to the program, by the id that this has outside. */
static int create_take_tree(const struct making *m, const struct given_tree *given,
			    struct sources *s, struct error *e)
{
	const struct plan *p = &m->plan;
	size_t i;

	for (i = 0; i < p->n_mounts; i++) {
		if (p->mounts[i].kind != MOUNT_FS ||
		    !str_eq(p->mounts[i].destination, given->destination))
			continue;
		s->mounts[i] = fcntl(given->tree_fd, F_DUPFD_CLOEXEC, 3);
		if (s->mounts[i] < 0 ||
		    fchownat(s->mounts[i], "", p->id_range.first + p->program.uid,
			     p->id_range.first + p->program.gid, AT_EMPTY_PATH) < 0)
			return err_sys(e, "%s: give %s to the program", p->mounts[i].field,
				       given->destination);
		return 0;
	}
	return err_set(e, ERR_BUG, "nothing is mounted on %s", given->destination);
}

/* The layer below a writable root is its namespace's root's. */
static int create_take_upper(const struct making *m, const struct given_tree *given,
			     struct sources *s, struct error *e)
{
	const struct id_range *r = &m->plan.id_range;

	s->upper_fd = fcntl(given->tree_fd, F_DUPFD_CLOEXEC, 3);
	if (s->upper_fd < 0 ||
	    fchownat(s->upper_fd, "", r->first, r->first, AT_EMPTY_PATH) < 0)
		return err_sys(e, "give its layer to the root");
	return 0;
}

static int create_take_given(const struct making *m, struct sources *s, struct error *e)
{
	const struct given_tree *given = m->o->box.given;
	size_t i;

	for (i = 0; i < m->o->box.n_given; i++)
		if ((str_eq(given[i].destination, "/") ?
			     create_take_upper(m, &given[i], s, e) :
			     create_take_tree(m, &given[i], s, e)) < 0)
			return -1;
	return 0;
}

/* A record is JSON: what it can't keep as it is would be looked for, and not found, by every later
 * verb. */
static int create_check_names(const struct making *m, struct error *e)
{
	if (!str_is_utf8(life_state_dir(m->o->root, m->o->id, m->a)))
		return err_set(e, ERR_USAGE, "--root: its path is not UTF-8, which records are");
	if (!str_is_utf8(m->bundle.dir))
		return err_set(e, ERR_USAGE, "--bundle: its path is not UTF-8, which records are");
	return 0;
}

/* All that can be done, and can fail, before anything is made. */
static int create_prepare(struct making *m, struct error *e)
{
	const struct create_options *o = m->o;
	struct bundle *b = &m->bundle;
	struct init *in = &m->init;
	struct host_facts facts;

	if (store_check_id(o->id, e) < 0 || life_check_pid_file(o->pid_file, e) < 0 ||
	    life_probe_for(o, m->a, &facts, e) < 0)
		return -1;
	timing_mark("host probed");
	if (bundle_load(o, m->a, b, e) < 0 || create_check_names(m, e) < 0 ||
	    settle_config(o, b, &facts, m->a, &m->joins, &m->tightened, e) < 0 ||
	    life_plan(o, &facts, b->config, b->dir, &m->tightened, m->a, &m->plan, e) < 0)
		return -1;
	timing_mark("planned");
	life_log_plan(&m->plan, m->a);
	if (guard_check_joins(&m->plan, &m->joins, e) < 0)
		return -1;
	in->host.sources = sources_none(&m->plan, m->a);
	if (create_take_given(m, &in->host.sources, e) < 0)
		return -1;
	in->way.forks_program = plan_join(&m->plan, OCI_NS_PID) != NULL;
	in->way.parent_acts =
		m->plan.hooks.prestart.n || m->plan.hooks.create_runtime.n || m->plan.n_netdevs;
	/* Files and helpers of others may keep us waiting: all of them before the id is claimed,
	 * and locked. */
	if (create_open_console(m, e) < 0 ||
	    range_open_mapped(&m->plan, &m->tightened, &in->host.sources, m->a, e) < 0)
		return -1;
	timing_mark("binds prepared");
	in->host.sources.nodes_fd = nodes_new_for(&m->plan);
	if (o->box.reaped && (in->reaper.file_fd = reaper_open(e)) < 0)
		return -1;
	if ((m->plan.program.set && init_check_filter(in, e) < 0) ||
	    life_settle_notes(&m->plan, o->strict, o->noter, m->a, e) < 0)
		return -1;
	return create_record(m, &facts, &m->made.record, e);
}

/* A death for want of memory looks like any other. */
static void create_explain(const struct making *m, struct error *e)
{
	const struct cgroup_dirs dirs = life_cgroups(&m->made.record);

	if (m->made.pid > 0 && dirs.n && cgroup_oom_kills(&dirs) > 0)
		err_set(e, ERR_CONFIG,
			"init was killed for want of memory: linux.resources.memory.limit is too small for a container");
}

/* The id is claimed, and from here on there is something to roll back. */
static int create_make(struct making *m, struct error *e)
{
	struct created *c = &m->made;

	if (store_claim(m->o->root, m->o->id, &c->store, e) < 0)
		return -1;
	timing_mark("id claimed");
	m->init.record = &c->record;
	m->init.host.store = &c->store;
	if (store_write(&c->store, &c->record, m->a, e) == 0 &&
	    store_put(&c->store, "config.json", m->bundle.text, m->bundle.len, e) == 0 &&
	    (!c->record.notify || notify_make(&c->store, e) == 0) && create_cgroups(m, e) == 0 &&
	    create_spawn(m, e) == 0)
		return 0;
	create_explain(m, e);
	range_settle(&m->tightened, 0, 0);
	create_roll_back(c, m->a);
	return -1;
}

int life_create(const struct create_options *o, struct arena *a, struct created *ret,
		struct error *e)
{
	struct making *m = arena_new(a, struct making);
	int result;

	*m = (struct making){
		.o = o,
		.a = a,
		.joins = JOINS_NONE,
		.netdevs = NETDEVS_NONE,
		.tightened = TIGHTENED_NONE,
		.made = {.store = STORE_NONE,
			 .pidfd = -1,
			 .listener_fd = -1,
			 .notify_fd = -1,
			 .noter = o->noter},
		.init = {.plan = &m->plan,
			 .arena = a,
			 .host = {.cgroup = CGROUP_HANDLE_NONE, .pid_ns = PID_NS_NONE},
			 .talk = {.stage_fd = -1, .listen_fd = -1},
			 .way = {.watched = o->learning != NULL},
			 .io = {.streams = o->streams,
				.preserve_fds = o->preserve_fds,
				.listen_fds = o->listen_fds,
				.console_fd = -1},
			 .reaper = {.file_fd = -1,
				    .control_fd = o->box.reaped ? o->box.control_fd : -1,
				    .program_comes = o->box.program_comes}},
	};
	m->tightened.takes_range = true;
	result = create_prepare(m, e);
	patience_catch_signals();
	if (result == 0)
		result = create_make(m, e);
	if (m->tightened.policy.name && result < 0)
		life_tell(o->root, o->id, &m->tightened, e->text, a);
	else if (m->tightened.policy.name)
		m->made.telling = life_tell_later(o->root, o->id, &m->tightened, a);
	range_end(&m->tightened);
	cgroup_holder_end(&m->init.host.cgroup);
	create_close_inits(m);
	if (result < 0) {
		fd_close(&m->made.listener_fd);
		patience_let_signals();
		return -1;
	}
	m->made.take_listener = o->take_listener;
	m->made.judge = m->plan.judge;
	m->made.learning = o->learning;
	m->made.reaped = o->box.reaped;
	timing_mark("created");
	log_info("container %s created, init is process %d", o->id, m->made.pid);
	m->made.terminal_is_ours = m->plan.program.terminal && !o->console_socket;
	*ret = m->made;
	return 0;
}
