#include "box/denials.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/hints.h"
#include "box/sandbox.h"
#include "box/network.h"
#include "box/profiles.h"
#include "egress/egress.h"
#include "filter/seccomp_eval.h"
#include "filter/syscalls.h"
#include "json/json.h"
#include "life/life.h"

/* ---- the program's memory ---- */

/* Up to n bytes from there; how many, or -1. */
static ssize_t memory_read(const struct seccomp_notif *ask, uint64_t at, void *to, size_t n)
{
	autoclose int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/mem", ask->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : pread(fd, to, n, (off_t)at);
}

/* A string, shortened; false: it can't be read. */
static bool memory_text(const struct seccomp_notif *ask, uint64_t at, char *to, size_t size)
{
	/* Not across a page that may not be there. */
	size_t most = 4096 - at % 4096, n = most < size - 1 ? most : size - 1;
	ssize_t got = memory_read(ask, at, to, n);

	if (got <= 0)
		return false;
	to[got] = '\0';
	if (strlen(to) == (size_t)got && (size_t)got < size - 1) {
		ssize_t rest = memory_read(ask, at + (uint64_t)got, to + got,
					   size - 1 - (size_t)got);

		to[got + (rest > 0 ? rest : 0)] = '\0';
	}
	return true;
}

/* ---- what is told ---- */

static struct box_denial *told_find(struct denials *d, const struct box_denial *what,
				    size_t *ret_of_call)
{
	size_t i;

	*ret_of_call = 0;
	for (i = 0; i < d->n; i++) {
		struct box_denial *old = &d->v[i];

		if (!str_eq(old->name, what->name) || !str_eq(old->kind, what->kind))
			continue;
		++*ret_of_call;
		if (old->target && what->target ? str_eq(old->target, what->target) :
						  old->target == what->target)
			return old;
	}
	return NULL;
}

void denials_note(struct denials *d, struct box_denial what)
{
	denials_note_times(d, what, 1);
}

void denials_note_times(struct denials *d, struct box_denial what, uint64_t times)
{
	size_t of_call;
	struct box_denial *old = told_find(d, &what, &of_call);

	/* The last of its kind stands for all that follow. */
	if (!old && of_call >= DENIALS_A_CALL) {
		what.target = "others";
		what.host = NULL;
		what.port = 0;
		old = told_find(d, &what, &of_call);
	}
	if (old) {
		old->count += times;
		return;
	}
	if (d->n == DENIALS_MAX) {
		d->more = true;
		return;
	}
	what.count = times;
	what.name = arena_strdup(d->arena, what.name);
	what.target = what.target ? arena_strdup(d->arena, what.target) : NULL;
	what.host = what.host ? arena_strdup(d->arena, what.host) : NULL;
	d->v[d->n++] = what;
}

/* ---- calls that the filter refuses ---- */

/* As of a program of 32 bits on a machine of 64. */
static bool call_is_foreign(const struct seccomp_data *data)
{
	const struct syscall_arch *arch;

	syscall_seen(data->arch, (uint32_t)data->nr, &arch);
	return arch != syscall_arch_native();
}

static const char *call_name(const struct seccomp_data *data, struct arena *a)
{
	const struct syscall_arch *arch;
	const struct syscall_row *row = syscall_seen(data->arch, (uint32_t)data->nr, &arch);

	if (arch != syscall_arch_native())
		return arena_printf(a, "call %d of another architecture", data->nr);
	return row ? row->name : arena_printf(a, "call %d", data->nr);
}

/* Programs that give up rights which they may have: to be who one is is no wish. And what runtimes
 * try at their start, and do without: where memory lies, another way to wait for files. */
static bool call_is_idle(const struct denials *d, const char *name, const uint64_t *args)
{
	const struct box_language *l = d->q->language;

	return str_eq(name, "mbind") || str_eq(name, "set_mempolicy") ||
	       str_eq(name, "get_mempolicy") ||
	       (str_eq(name, "io_uring_setup") && l && l->just_in_time) ||
	       (str_eq(name, "setuid") && args[0] == d->q->uid) ||
	       (str_eq(name, "setgid") && args[0] == d->q->gid);
}

static void call_tell(struct denials *d, const struct seccomp_data *data, uint32_t action)
{
	const uint32_t kind = action & SECCOMP_RET_ACTION_FULL;
	const char *name = call_name(data, &d->scratch);
	const uint64_t args[] = {data->args[0], data->args[1], data->args[2]};
	const int error = kind == SECCOMP_RET_ERRNO ? (int)(action & SECCOMP_RET_DATA) : 0;
	const char *hint = hint_of_call(name);

	if (call_is_idle(d, name, args))
		return;
	if (call_is_foreign(data))
		hint = hint_of_foreign();
	else if (box_profile_refuses(&d->q->calls, name))
		hint = hint_of_profile(d->q->profile, d->arena);
	denials_note(d, (struct box_denial){
			    .kind = "syscall",
			    .name = name,
			    .target = hint_arguments(name, args, &d->scratch),
			    .error = error ? strerrorname_np(error) : "SIGSYS",
			    .hint = hint,
		    });
}

/* ---- calls that are let pass ---- */

static bool address_is_local(const struct sockaddr_storage *s)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)s;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)s;

	if (s->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127 || !v4->sin_addr.s_addr;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127);
}

/* The number of a process that was killed meanwhile may be another one's: what was read of that is
 * not told. */
static bool ask_still_waits(const struct denials *d, const struct seccomp_notif *ask)
{
	uint64_t id = ask->id;

	return ioctl(d->listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static void connect_tell(struct denials *d, const struct seccomp_notif *ask)
{
	struct sockaddr_storage s = {0};
	char host[INET6_ADDRSTRLEN], text[96];
	uint16_t port;
	const uint64_t given = ask->data.args[2];
	const size_t len = given < sizeof(s) ? (size_t)given : sizeof(s);
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&s;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&s;

	if (memory_read(ask, ask->data.args[1], &s, len) < 8 ||
	    (s.ss_family != AF_INET && s.ss_family != AF_INET6) || address_is_local(&s))
		return;
	port = ntohs(s.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
	if (s.ss_family == AF_INET)
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
	snprintf(text, sizeof(text), s.ss_family == AF_INET ? "%s:%u" : "[%s]:%u", host, port);
	if (!ask_still_waits(d, ask))
		return;
	if (d->network) {
		/* Port 0 and that of names: C libraries try addresses so, and send nothing. */
		if (port && port != EGRESS_NAMES_PORT)
			network_seen(d->network, host, port);
		return;
	}
	denials_note(d, (struct box_denial){.kind = "network",
					.name = "connect",
					.target = text,
					.host = host,
					.port = port,
					.error = "ENETUNREACH",
					.hint = hint_of_network()});
}

/* Which argument names the file, and which the directory that the name counts from. */
static const struct {
	const char *call;
	int directory, path; /* -1: the working directory */
} file_calls[] = {
	{"open", -1, 0},	{"openat", 0, 1},   {"creat", -1, 0},	 {"truncate", -1, 0},
	{"unlink", -1, 0},	{"unlinkat", 0, 1}, {"rmdir", -1, 0},	 {"rename", -1, 1},
	{"renameat", 2, 3},	{"renameat2", 2, 3}, {"mkdir", -1, 0},	 {"mkdirat", 0, 1},
	{"link", -1, 1},	{"linkat", 2, 3},   {"symlink", -1, 1}, {"symlinkat", 1, 2},
	{"chmod", -1, 0},	{"fchmodat", 0, 1},
};

/* Where a relative name begins, as the program sees it. */
static bool file_directory(const struct seccomp_notif *ask, int fd, char *to, size_t size)
{
	char link[64];
	ssize_t n;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%u/cwd", ask->pid);
	else
		snprintf(link, sizeof(link), "/proc/%u/fd/%d", ask->pid, fd);
	n = readlink(link, to, size - 1);
	if (n <= 0)
		return false;
	to[n] = '\0';
	return to[0] == '/';
}

/* A box that stays can write there, too; a root of its own refuses by permissions alone. */
static bool file_is_writable_in(const struct sandbox_facts *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->volumes.n; i++)
		if (f->volumes.v[i].writable && path_is_below(path, f->volumes.v[i].target))
			return true;
	return f->writable_root > 0;
}

/* Places that can be written, or that nobody means when he speaks of files. */
static bool file_is_writable(const struct denials *d, const char *path)
{
	static const char *const places[] = {BOX_WORKSPACE, "/tmp", "/dev", "/proc"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (path_is_below(path, places[i]))
			return true;
	for (i = 0; i < d->q->n_volumes; i++)
		if (d->q->volumes[i].writable && path_is_below(path, d->q->volumes[i].target))
			return true;
	if (d->q->sandbox && file_is_writable_in(&d->q->sandbox->facts, path))
		return true;
	/* Runtimes keep what they have compiled beside it, libraries what they have found. */
	return strstr(path, "/__pycache__") || path_is_below(path, "/var/cache/fontconfig");
}

/* error: of the refusal; NULL: it is let pass, and the kernel may refuse it. */
static void file_tell(struct denials *d, const struct seccomp_notif *ask, const char *name,
		      const char *error)
{
	char text[4096], dir[4096];
	const char *path = text;
	size_t i = 0;
	int fd;

	while (i < ARRAY_SIZE(file_calls) && !str_eq(file_calls[i].call, name))
		i++;
	if (i == ARRAY_SIZE(file_calls) ||
	    !memory_text(ask, ask->data.args[file_calls[i].path], text, sizeof(text)))
		return;
	if (text[0] != '/') {
		fd = file_calls[i].directory < 0 ? AT_FDCWD :
						   (int)ask->data.args[file_calls[i].directory];
		if (!file_directory(ask, fd, dir, sizeof(dir)))
			return;
		path = path_join(&d->scratch, dir, text);
	}
	path = path_clean(&d->scratch, path);
	if ((!error && file_is_writable(d, path)) || !ask_still_waits(d, ask))
		return;
	denials_note(d, (struct box_denial){.kind = "file",
					.name = name,
					.target = hint_clean(path, &d->scratch),
					.error = error,
					.hint = error ? hint_of_pure() : hint_of_file()});
}

static void pass_tell(struct denials *d, const struct seccomp_notif *ask)
{
	const char *name = call_name(&ask->data, &d->scratch);

	if (str_eq(name, "connect"))
		connect_tell(d, ask);
	else
		file_tell(d, ask, name, NULL);
}

/* ---- of one that computes and does nothing else ---- */

/* The reaper calls these (reaper/reaper.c), such a program may not. */
static const struct {
	const char *name;
	bool before, after; /* the program is executed */
} reaper_calls[] = {
	{"clone", true, false},	  {"execve", true, false}, {"openat", true, false},
	{"setpgid", true, false}, {"sched_setaffinity", true, false},
	{"signalfd4", true, true}, {"kill", false, true},
};

/* Until the program is executed there are the reaper and its child, which is the reaper's own copy;
 * of that the first execve is the program's. */
static bool pure_passes(struct denials *d, const struct seccomp_notif *ask)
{
	const char *name = call_name(&ask->data, &d->scratch);
	const bool before = !d->program_runs, reaper = (pid_t)ask->pid == d->reaper;
	size_t i;

	if (before && str_eq(name, "execve"))
		return d->program_runs = !reaper;
	for (i = 0; i < ARRAY_SIZE(reaper_calls); i++)
		if (str_eq(reaper_calls[i].name, name))
			return (before && reaper_calls[i].before) ||
			       (reaper && reaper_calls[i].after);
	return false;
}

/* In words of files where it is about one. */
static void pure_tell(struct denials *d, const struct seccomp_notif *ask, uint32_t action)
{
	const char *name = call_name(&ask->data, &d->scratch);
	const size_t n = d->n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(file_calls); i++)
		if (str_eq(file_calls[i].call, name)) {
			file_tell(d, ask, name, "EPERM");
			return;
		}
	call_tell(d, &ask->data, action);
	if (d->n > n)
		d->v[n].hint = hint_of_pure();
}

/* ---- answers ---- */

static void answer(struct denials *d, const struct seccomp_notif *ask, int error, bool go_on)
{
	struct seccomp_notif_resp r = {
		.id = ask->id,
		.error = -error,
		.flags = go_on ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
	};

	ioctl(d->listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &r); /* ENOENT: it is gone */
}

/* The process that asks, unless its number is another's by now. */
static void answer_kill(struct denials *d, const struct seccomp_notif *ask)
{
	/* As the filter would have: a program that handles SIGSYS does not go on. */
	if (ask->pid && ask_still_waits(d, ask))
		kill((pid_t)ask->pid, SIGKILL);
	answer(d, ask, EPERM, false);
}

static void answer_one(struct denials *d, const struct seccomp_notif *ask)
{
	const struct bpf_result verdict = bpf_eval(d->judge.filter, d->judge.len, &ask->data);

	if (d->q->pure && pure_passes(d, ask)) {
		answer(d, ask, 0, true);
		return;
	}
	switch (verdict.error ? SECCOMP_RET_LOG : verdict.action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW: /* it is only watched */
		pass_tell(d, ask);
		answer(d, ask, 0, true);
		return;
	case SECCOMP_RET_KILL_PROCESS:
	case SECCOMP_RET_KILL_THREAD:
		call_tell(d, &ask->data, verdict.action);
		answer_kill(d, ask);
		return;
	case SECCOMP_RET_ERRNO:
		if (d->q->pure)
			pure_tell(d, ask, verdict.action);
		else
			call_tell(d, &ask->data, verdict.action);
		answer(d, ask, (int)(verdict.action & SECCOMP_RET_DATA), false);
		return;
	default: /* no policy answers so */
		answer(d, ask, EPERM, false);
	}
}

void denials_spend(struct denials *d)
{
	const int64_t now = loop_now();

	if (now >= d->window_ends) {
		d->window_ends = now + DENIALS_WINDOW_MS * LOOP_MS;
		d->in_window = 0;
	}
	if (++d->in_window >= DENIALS_A_WINDOW)
		d->pause_until = d->window_ends;
}

static int denials_serve(void *context, short events)
{
	struct denials *d = context;
	struct seccomp_notif ask = {0};

	if (!(events & POLLIN)) { /* nobody is left who could ask */
		fd_close(&d->listener_fd);
		d->source->fd = -1;
		return 0;
	}
	if (ioctl(d->listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &ask) < 0)
		return 0;
	answer_one(d, &ask);
	arena_free(&d->scratch);
	denials_spend(d);
	return 0;
}

void denials_settle(struct denials *d)
{
	if (d->pause_until && loop_now() >= d->pause_until)
		d->pause_until = 0;
	d->source->fd = d->pause_until ? -1 : d->listener_fd;
}

int denials_settle_request(struct box_request *q, const char **ret_note, struct error *e)
{
	*ret_note = NULL;
	if (q->denials == DENIALS_NONE || life_may_listen())
		return 0;
	if (q->pure)
		return err_set(e, ERR_HOST,
			       "--preset pure: it needs a seccomp listener, and whoever started "
			       "sbxrun has one on it, beside which the kernel gives no other: start "
			       "it from somewhere else");
	if (q->strict_limits)
		return err_set(e, ERR_HOST,
			       "--strict-limits: --denials can't be had here: whoever started "
			       "sbxrun has a seccomp listener on it, beside which the kernel gives "
			       "no other; --denials none asks for none");
	q->denials = DENIALS_NONE;
	*ret_note = "--denials: what is refused is not known: whoever started sbxrun has a seccomp "
		    "listener on it, beside which the kernel gives no other; the filter is the "
		    "same";
	return 0;
}

void denials_open(struct denials *d, const struct box_request *q,
		  const struct seccomp_program *judge, int listener_fd, struct arena *a)
{
	*d = (struct denials){.listener_fd = listener_fd,
			      .q = q,
			      .judge = *judge,
			      .arena = a,
			      .known = listener_fd >= 0};
}

void denials_add(struct denials *d, struct loop *l)
{
	d->source = loop_add(l, d->listener_fd, POLLIN, denials_serve, d);
}

void denials_tell(const struct denials *d, struct box_result *r)
{
	r->denials_known = d->known;
	r->more_denials = d->more;
	r->n_denials = d->n;
	r->denials = arena_array(d->arena, d->n + 1, struct box_denial);
	memcpy(r->denials, d->v, d->n * sizeof(*d->v));
}

void denials_close(struct denials *d)
{
	fd_close(&d->listener_fd);
}
