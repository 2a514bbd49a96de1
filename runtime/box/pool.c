#include "box/pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/timing.h"
#include "box/disk.h"
#include "box/profiles.h"
#include "box/running.h"
#include "box/sandbox.h"
#include "json/json.h"
#include "policy/policy.h"
#include "state/store.h"
#include "sys/loop.h"
#include "sys/unix.h"

enum {
	TALK_MS = 5000,
	END_MS = 15000,
	ROUND_MS = 50,
	TELL_MS = 2000,
	CONFIG_MAX = 4 << 20,
	REOPENS = 8
};

/* ---- which boxes are alike ---- */

bool pool_is_possible(const struct box_request *q, struct error *e)
{
	const char *why = NULL;

	if (!q->language)
		why = "a command";
	else if (q->language->compile[0])
		why = "what is compiled first";
	else if (q->pure)
		why = "--preset pure, whose programs may not wait at a pipe";
	else if (q->allow.n)
		why = "what reaches hosts (--allow)";
	else if (disk_is_wanted(q))
		why = "a workspace on disk (--disk is more than half of --memory)";
	else if (box_workspace_is_volume(q) || q->cwd)
		why = "a workspace of the caller's (-v DIR:" BOX_WORKSPACE ", --workdir)";
	return !why || err_set(e, ERR_USAGE, "no box waits for %s", why) == 0;
}

/* A place may become another one, and its contents may change; of a file both count. */
static void print_place(struct sha256 *s, const char *path, bool is_file)
{
	struct stat st = {0};
	const bool is = stat(path, &st) == 0;
	const struct {
		uint64_t is, dev, ino, size;
		int64_t mtime[2], ctime[2];
	} place = {is,
		   st.st_dev,
		   st.st_ino,
		   is_file ? (uint64_t)st.st_size : 0,
		   {is_file ? st.st_mtim.tv_sec : 0, is_file ? st.st_mtim.tv_nsec : 0},
		   {is_file ? st.st_ctim.tv_sec : 0, is_file ? st.st_ctim.tv_nsec : 0}};

	sha256_add(s, &place, sizeof(place));
}

/* Of the caller himself: namespaces, limits, processors. They pass on to a box as far as its config
 * says nothing else (box/config.c: NOFILE, CORE), and its sources are looked up in his tree. */
static void print_caller(struct sha256 *s)
{
	static const char *const names[] = {"cgroup", "ipc",  "mnt",  "net",
					    "pid",    "time", "user", "uts"};
	char path[64], link[64];
	struct rlimit limit;
	cpu_set_t cpus;
	size_t i;
	ssize_t n;
	int r;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		n = readlink(path, link, sizeof(link));
		sha256_add(s, link, n > 0 ? (size_t)n : 0);
	}
	for (r = 0; r < RLIM_NLIMITS; r++)
		if (r != RLIMIT_NOFILE && r != RLIMIT_CORE &&
		    getrlimit((__rlimit_resource_t)r, &limit) == 0)
			sha256_add(s, &limit, sizeof(limit));
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		sha256_add(s, &cpus, sizeof(cpus));
}

/* Where no place is given away for boxes, they are below the caller's own cgroups, and held to his
 * limits. */
static int print_cgroups(struct sha256 *s, const struct box_request *q, struct arena *a,
			 struct error *e)
{
	struct box_root ignored = BOX_ROOT_NONE;
	struct cgroup_boxes boxes = CGROUP_BOXES_NONE;
	autoclose int fd = -1;
	char text[8192];
	ssize_t n;

	if (box_cgroup_open(q, false, "-", a, &boxes, &ignored, e) < 0)
		return -1;
	cgroup_boxes_close(&boxes);
	if (ignored.cgroup) {
		sha256_add(s, ignored.cgroup, strlen(ignored.cgroup));
		return 0;
	}
	fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0)
		sha256_add(s, text, (size_t)n);
	return 0;
}

int pool_fingerprint(const struct box_request *q, const struct box_root *root, struct arena *a,
		     char ret[SHA256_HEX_SIZE], struct error *e)
{
	const char *policy = q->policy ? q->policy : "code";
	struct box_root plain = *root;
	struct buf config = buf_new(a, CONFIG_MAX);
	unsigned char digest[SHA256_BYTES];
	const struct {
		uint32_t version, denials, flags, uid, gid;
	} facts = {POOL_VERSION, q->denials,
		   (uint32_t)(q->strict_limits | q->systemd << 1 | q->no_cgroups << 2 |
			      q->own_cgroups << 3 | root->host << 4 |
			      box_is_own_root(q, root) << 5),
		   geteuid(), getegid()};
	struct sha256 s;
	size_t i;

	plain.cgroup = NULL;
	if (box_config_write(q, &plain, a, &config, e) < 0)
		return -1;
	sha256_begin(&s);
	sha256_add(&s, &facts, sizeof(facts));
	sha256_add(&s, q->build, strlen(q->build) + 1);
	sha256_add(&s, config.data, config.len + 1);
	sha256_add(&s, root->path, strlen(root->path) + 1);
	sha256_add(&s, policy, strlen(policy) + 1);
	print_place(&s, POLICY_FILE, true);
	if (strchr(policy, '/'))
		print_place(&s, policy, true);
	print_place(&s, root->path, false);
	for (i = 0; i < q->n_volumes; i++)
		print_place(&s, q->volumes[i].source, false);
	print_caller(&s);
	if (print_cgroups(&s, q, a, e) < 0)
		return -1;
	sha256_end(&s, digest);
	sha256_to_hex(digest, ret);
	return 0;
}

int pool_name(const struct box_request *q, struct arena *a, char ret_id[SHA256_HEX_SIZE],
	      char ret_rootfs[POOL_ROOTFS], struct error *e)
{
	struct box_request own = *q;
	struct box_result r;
	struct running x;
	int result;

	run_begin(&x, &own, a, &r);
	result = run_find_root(&x, &own, e);
	if (result == 0)
		result = pool_fingerprint(&own, &x.root, a, ret_id, e);
	if (result == 0)
		snprintf(ret_rootfs, POOL_ROOTFS, "%s", x.root.name);
	box_root_close(&x.root);
	return result;
}

/* ---- the directory ---- */

int pool_open_dir(const char *state_root, bool make, struct error *e)
{
	autoclose int root_dfd = store_open_root(state_root, make, e), dfd = -1;
	struct stat st;

	if (root_dfd < 0)
		return -1;
	if (make && mkdirat(root_dfd, POOL_DIR, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make the directory of pools");
	dfd = openat(root_dfd, POOL_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd < 0 || fstat(dfd, &st) < 0)
		return err_sys(e, "open the directory of pools");
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return err_set(
			e, ERR_HOST,
			"the directory of pools is another user's, or others may write to it");
	return fd_steal(&dfd);
}

void pool_remove_dir(const char *state_root)
{
	struct error ignored;
	autoclose int root_dfd = store_open_root(state_root, false, &ignored);

	if (root_dfd >= 0)
		unlinkat(root_dfd, POOL_DIR, AT_REMOVEDIR);
}

/* Locked against others who start one, and there: who ends the last one removes it. */
static int pool_lock_dir(const char *state_root, struct error *e)
{
	struct stat st;
	int tries;

	for (tries = 0; tries < REOPENS; tries++) {
		autoclose int dfd = pool_open_dir(state_root, true, e);

		if (dfd < 0)
			return -1;
		if (flock(dfd, LOCK_EX) < 0 || fstat(dfd, &st) < 0)
			return err_sys(e, "lock the directory of pools");
		if (st.st_nlink)
			return fd_steal(&dfd);
	}
	return err_set(e, ERR_HOST, "the directory of pools is removed again and again");
}

/* 1; 0: nobody is there (errno); -1. */
static int pool_connect(int dir_dfd, const char *id, int *ret_sock, struct error *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who;
	socklen_t len = sizeof(who);

	if (fd < 0)
		return err_sys(e, "make a socket");
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", dir_dfd, id);
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN ?
			       0 :
			       err_sys(e, "reach pool %s", id);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.uid != geteuid())
		return err_set(e, ERR_HOST, "pool %s is another user's", id);
	*ret_sock = fd_steal(&fd);
	return 1;
}

static int pool_ask(int sock, enum pool_ask ask, uint32_t number)
{
	const struct pool_question q = {.ask = ask, .number = number};

	return send(sock, &q, sizeof(q), MSG_NOSIGNAL) == (ssize_t)sizeof(q) ? 0 : -1;
}

/* ---- taking one ---- */

/* An interpreter that reads its file from a pipe can't go back to read it in another encoding, and
 * a zero byte ends what some make of it. */
static bool pool_takes_code(const char *code, size_t len)
{
	const char *line = code;
	size_t i;

	if (strlen(code) != len || !str_is_utf8(code))
		return false;
	for (i = 0; i < 2 && line; i++) {
		const size_t n = strcspn(line, "\n");
		const char *word = memmem(line, n, "coding", strlen("coding"));

		if (word)
			return false;
		line = line[n] ? line + n + 1 : NULL;
	}
	return true;
}

static bool pool_may_serve(const struct box_request *q)
{
	struct error why;

	return q->may_be_warm && !q->sandbox && !q->terminal && !q->learning && !q->compiles &&
	       q->code && pool_is_possible(q, &why) && pool_takes_code(q->code, q->code_len);
}

static bool warm_read_judge(int fd, uint32_t len, struct running *x)
{
	struct seccomp_program *judge = &x->box.judge;
	const size_t size = len * sizeof(*judge->filter);

	if (len > UINT16_MAX)
		return false;
	judge->len = (unsigned short)len;
	judge->filter = arena_array(x->a, len + 1, struct sock_filter);
	return pread(fd, judge->filter, size, 0) == (ssize_t)size;
}

static void warm_take_notes(struct running *x, const char *notes)
{
	const char *end;

	for (; *notes; notes = end + (*end != '\0')) {
		end = notes + strcspn(notes, "\n");
		run_note(x, arena_strndup(x->a, notes, (size_t)(end - notes)));
	}
}

/* Processor time is asked of its cgroups while it runs, if that has a limit. */
static bool warm_find_record(struct running *x, const char *id)
{
	struct life_view view;
	struct error ignored;

	if (!x->q->limits.cpu_time_ns)
		return true;
	if (life_state(x->q->state_root, id, x->a, &view, &ignored) < 0)
		return false;
	x->box.record = view.record;
	return true;
}

/* From here on the box is in our hands, by its reaper's socket: if that is closed, it ends. */
static void warm_adopt(struct running *x, const struct warm_hello *h, int fds[WARM_FDS])
{
	x->r->id = arena_strdup(x->a, h->id);
	x->r->mdwe = h->mdwe != 0;
	x->r->warm = true;
	x->box.pid = h->pid;
	x->box.pidfd = fd_steal(&fds[WARM_PIDFD]);
	x->control[1] = fd_steal(&fds[WARM_CONTROL]);
	x->pipes[0][1] = fd_steal(&fds[WARM_STDIN]);
	x->input_at = fd_steal(&fds[WARM_STDIN_READ]);
	x->pipes[1][1] = fd_steal(&fds[WARM_STDOUT]);
	x->pipes[2][1] = fd_steal(&fds[WARM_STDERR]);
	denials_open(&x->denials, x->q, &x->box.judge,
		     h->has_listener ? fd_steal(&fds[WARM_LISTENER]) : -1, x->a);
	x->denials.reaper = h->pid;
	if (h->has_resolver)
		x->resolver = (struct resolver){.fd = fd_steal(&fds[WARM_RESOLVER]),
						.denials = &x->denials};
	warm_take_notes(x, h->notes);
}

/* false: there is none, or not for us. */
static bool warm_receive(struct running *x, int sock)
{
	struct warm_hello h = {0};
	int got[WARM_FDS], fds[WARM_FDS], next = 0;
	size_t n = 0, i;
	ssize_t len = -1;
	bool ok;

	for (i = 0; i < WARM_FDS; i++)
		fds[i] = -1;
	if (loop_is_ready(sock, POLLIN, loop_now() + TALK_MS * LOOP_MS))
		len = unix_recv_fds(sock, &h, sizeof(h), got, WARM_FDS, &n);
	ok = len == (ssize_t)sizeof(h) && h.version == POOL_VERSION &&
	     n == (size_t)WARM_LISTENER + (h.has_listener != 0) + (h.has_resolver != 0);
	for (i = 0; i < WARM_FDS && next < (int)n; i++)
		if (!ok || ((i != WARM_LISTENER || h.has_listener) &&
			    (i != WARM_RESOLVER || h.has_resolver)))
			fds[i] = got[next++];
	if (ok) {
		h.id[sizeof(h.id) - 1] = h.notes[sizeof(h.notes) - 1] = '\0';
		ok = warm_read_judge(fds[WARM_JUDGE], h.judge_len, x) && warm_find_record(x, h.id);
	}
	if (ok)
		warm_adopt(x, &h, fds);
	for (i = 0; i < WARM_FDS; i++)
		fd_close(&fds[i]);
	return ok;
}

void pool_take(struct running *x)
{
	char id[SHA256_HEX_SIZE];
	autoclose int dfd = -1, sock = -1;
	struct error ignored;

	if (!pool_may_serve(x->q))
		return;
	dfd = pool_open_dir(x->q->state_root, false, &ignored);
	if (dfd < 0 || pool_fingerprint(x->q, &x->root, x->a, id, &ignored) < 0 ||
	    pool_connect(dfd, id, &sock, &ignored) <= 0 ||
	    pool_ask(sock, POOL_TAKE, (uint32_t)x->q->code_len) < 0)
		return;
	if (warm_receive(x, sock))
		x->warm_sock = fd_steal(&sock);
	timing_mark("warm box taken");
}

void pool_send_code(struct running *x)
{
	const uint64_t size = x->q->code_len;
	const char what = REAPER_FILE_COMES;

	outlet_put(&x->orders, &what, 1);
	outlet_put(&x->orders, &size, sizeof(size));
	outlet_put(&x->orders, x->q->code, x->q->code_len);
}

int pool_await_end(struct running *x, struct error *e)
{
	(void)e;
	if (loop_is_ready(x->warm_sock, POLLIN, loop_now() + TALK_MS * LOOP_MS) &&
	    recv(x->warm_sock, &x->end, sizeof(x->end), 0) == (ssize_t)sizeof(x->end))
		return 0;
	/* The program has ended all the same, as its reaper said. */
	x->end = (struct life_end){0};
	notes_add(&x->r->notes.notes,
		  arena_strdup(x->a, "the process that held the box was killed: what the program "
				     "took, and whether it ran out of memory, is not known"),
		  x->a);
	return 0;
}

/* ---- starting, looking, ending ---- */

/* 1; 0: there is none; -1. */
static int pool_look(int dir_dfd, const char *id, struct pool_view *ret, struct error *e)
{
	autoclose int sock = -1;
	const int found = pool_connect(dir_dfd, id, &sock, e);

	if (found <= 0)
		return found;
	if (pool_ask(sock, POOL_LOOK, 0) < 0 ||
	    !loop_is_ready(sock, POLLIN, loop_now() + TALK_MS * LOOP_MS) ||
	    recv(sock, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret) ||
	    ret->version != POOL_VERSION)
		return err_set(e, ERR_HOST, "pool %s does not answer, or is of another version",
			       id);
	ret->id[sizeof(ret->id) - 1] = ret->language[sizeof(ret->language) - 1] =
		ret->rootfs[sizeof(ret->rootfs) - 1] = ret->failure[sizeof(ret->failure) - 1] =
			'\0';
	return 1;
}

int pool_listen(int dir_dfd, const char *id, struct error *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	unlinkat(dir_dfd, id, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", dir_dfd, id);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 128) < 0)
		return err_sys(e, "make the socket of a pool");
	return fd_steal(&fd);
}

static int pool_resize(int dir_dfd, const char *id, uint32_t size, struct error *e)
{
	autoclose int sock = -1;

	if (pool_connect(dir_dfd, id, &sock, e) <= 0 || pool_ask(sock, POOL_RESIZE, size) < 0 ||
	    !loop_is_ready(sock, POLLIN, loop_now() + TALK_MS * LOOP_MS))
		return err_set(e, ERR_HOST, "pool %s does not answer", id);
	return 0;
}

static int pool_begin(struct pool_keeping *k, struct error *e)
{
	pid_t pid;

	k->listen_fd = pool_listen(k->dir_dfd, k->view.id, e);
	if (k->listen_fd < 0)
		return -1;
	if (k->stays)
		return 0;
	pid = fork();
	if (pid < 0)
		return err_sys(e, "start the keeper of a pool");
	if (pid == 0) {
		pool_keep(k);
		_exit(0);
	}
	fd_close(&k->listen_fd);
	return 0;
}

/* Until all wait. Who can't make any has a reason, which is the same for the next one. */
static int pool_await(const struct pool_keeping *k, const struct pool_start *s,
		      struct pool_view *ret, struct error *e)
{
	int64_t told = loop_now() + TELL_MS * LOOP_MS;
	struct error ignored;

	for (;;) {
		if (pool_look(k->dir_dfd, k->view.id, ret, e) <= 0)
			return err_set(e, ERR_HOST, "the keeper of the pool has ended");
		if (ret->ready >= ret->size)
			return 0;
		if (ret->failures && !ret->ready && !ret->served) {
			pool_stop(k->q->state_root, k->view.id, &ignored);
			return err_set(e, ERR_HOST, "%s", ret->failure);
		}
		if (s->tell && loop_now() >= told) {
			s->tell(ret);
			told = loop_now() + TELL_MS * LOOP_MS;
		}
		loop_is_ready(-1, POLLIN, loop_now() + ROUND_MS * LOOP_MS);
	}
}

/* The keeper leaves the caller's working directory. */
static int pool_settle_path(const char **path, const char *what, struct arena *a, struct error *e)
{
	char *real = realpath(*path, NULL);

	if (!real)
		return err_sys(e, "%s: %s", what, *path);
	*path = arena_strdup(a, real);
	free(real);
	return 0;
}

static int pool_settle(struct box_request *q, struct arena *a, struct error *e)
{
	autoclose int root_dfd = store_open_root(q->state_root, true, e);

	if (root_dfd < 0 || pool_settle_path(&q->state_root, "--root", a, e) < 0 ||
	    (q->rootfs && (strchr(q->rootfs, '/') || str_eq(q->rootfs, ".")) &&
	     pool_settle_path(&q->rootfs, "--rootfs", a, e) < 0) ||
	    (q->policy && strchr(q->policy, '/') &&
	     pool_settle_path(&q->policy, "--policy", a, e) < 0))
		return -1;
	return 0;
}

static int pool_prepare(struct pool_keeping *k, struct arena *a, struct error *e)
{
	if (pool_name(k->q, a, k->view.id, k->view.rootfs, e) < 0)
		return -1;
	k->dir_dfd = pool_lock_dir(k->q->state_root, e);
	return k->dir_dfd < 0 ? -1 : 0;
}

int pool_start(const struct box_request *q, const struct pool_start *s, struct arena *a,
	       struct pool_view *ret, struct error *e)
{
	struct box_request own = *q;
	struct pool_keeping k = {
		.q = &own, .size = s->size, .stays = s->stays, .dir_dfd = -1, .listen_fd = -1};
	int found, result;

	if (!pool_is_possible(q, e) || pool_settle(&own, a, e) < 0 || pool_prepare(&k, a, e) < 0) {
		fd_close(&k.dir_dfd);
		return -1;
	}
	k.view.version = POOL_VERSION;
	k.view.size = s->size;
	k.view.begun = sandbox_now();
	snprintf(k.view.language, sizeof(k.view.language), "%s", q->language->name);
	found = pool_look(k.dir_dfd, k.view.id, ret, e);
	result = found < 0 ? -1 :
		 found	   ? pool_resize(k.dir_dfd, k.view.id, s->size, e) :
			     pool_begin(&k, e);
	flock(k.dir_dfd, LOCK_UN);
	if (result == 0 && !found && s->stays) {
		pool_keep(&k);
		*ret = k.view;
	} else if (result == 0) {
		result = pool_await(&k, s, ret, e);
	}
	fd_close(&k.dir_dfd);
	return result;
}

int pool_list(const char *state_root, struct arena *a, struct pool_view **ret, size_t *ret_n,
	      struct error *e)
{
	int dfd = pool_open_dir(state_root, false, e);
	DIR *dir = dfd < 0 ? NULL : fdopendir(dfd);
	struct dirent *entry;
	size_t cap = 0;
	int found;

	*ret = NULL;
	*ret_n = 0;
	if (!dir) {
		const bool none = e->sys == ENOENT;

		fd_close(&dfd);
		return none ? 0 : -1;
	}
	flock(dfd, LOCK_EX);
	while ((entry = readdir(dir))) {
		if (strlen(entry->d_name) != SHA256_HEX_SIZE - 1)
			continue;
		*ret = arena_grow(a, *ret, &cap, *ret_n + 1, sizeof(**ret));
		found = pool_look(dfd, entry->d_name, &(*ret)[*ret_n], e);
		if (found > 0)
			++*ret_n;
		else if (found == 0)
			unlinkat(dfd, entry->d_name, 0);
	}
	closedir(dir);
	if (!*ret_n)
		pool_remove_dir(state_root);
	return 0;
}

int pool_stop(const char *state_root, const char *id, struct error *e)
{
	autoclose int dfd = pool_open_dir(state_root, false, e), sock = -1;

	if (dfd < 0 || pool_connect(dfd, id, &sock, e) <= 0)
		return err_set(e, ERR_NOT_FOUND, "there is no pool %s (sbxrun pool list)", id);
	if (pool_ask(sock, POOL_END, 0) < 0 ||
	    !loop_is_ready(sock, POLLIN, loop_now() + END_MS * LOOP_MS))
		return err_set(e, ERR_HOST, "pool %s does not end", id);
	return 0;
}

void pool_write(const struct pool_view *v, struct buf *b)
{
	buf_str(b, "{\"id\":");
	json_write_string(b, v->id);
	buf_str(b, ",\"language\":");
	json_write_string(b, v->language);
	buf_str(b, ",\"rootfs\":");
	json_write_string(b, v->rootfs);
	buf_printf(b, ",\"size\":%u,\"ready\":%u,\"served\":%u,\"failures\":%u", v->size, v->ready,
		   v->served, v->failures);
	buf_printf(b, ",\"pid\":%d,\"age_s\":%" PRId64 ",\"failure\":", v->pid,
		   (sandbox_now() - v->begun) / LOOP_SECOND);
	if (*v->failure)
		json_write_string(b, v->failure);
	else
		buf_str(b, "null");
	buf_char(b, '}');
}
