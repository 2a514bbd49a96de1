/*
 * The keeper of a pool (pool.h). It makes no box itself: a server should not make containers from
 * its own heap, and while one is made nobody would be served. It starts holders, two at a time at
 * most, and passes callers on.
 *
 * The parts of a box can change while it waits: the policy's file is edited, a rootfs built
 * anew. Callers then look for a pool of another name. The keeper looks every few seconds whether
 * its own name still holds, and begins anew under the other one if not.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "box/pool.h"
#include "box/sandbox.h"
#include "sys/child.h"
#include "sys/crowd.h"
#include "sys/loop.h"
#include "sys/self.h"
#include "sys/unix.h"

enum {
	PLACES = 2 * POOL_MOST, /* holders: those that wait, and those that are lent */
	AT_ONCE = 2,		/* holders that make their box */
	GUESTS = 16,		/* callers who have not said yet what they want */
	LOOK_MS = 3000,		/* whether the name still holds */
	RETRY_MS = 200,		/* after a failure, and twice as long after each further one … */
	RETRY_MOST = 60000,
	END_MS = 10000,
};

struct keeper;

/* A holder, as its keeper sees it. */
struct holder {
	struct keeper *keeper;
	struct crowd_member member; /* its socket; -1: the place is free */
	pid_t pid;
	uint32_t room; /* 0: its box is not ready */
	bool is_lent;  /* it has its caller, and ends by itself */
	bool is_ending;
};

struct guest {
	struct keeper *keeper;
	struct crowd_member member;
};

struct keeper {
	struct pool_keeping *k;
	int crowd_fd;
	struct crowd_member listener, signals;
	struct holder *holders; /* PLACES of them */
	struct guest guests[GUESTS];
	int ender_fd; /* of who wants it to end, and hears that it has; -1: nobody */
	int64_t retry_at;
	int retry_ms;
	bool ends;
};

/* ---- holders ---- */

static void keeper_count(const struct keeper *k, uint32_t *ret_waiting, uint32_t *ret_ready,
			 uint32_t *ret_all)
{
	size_t i;

	*ret_waiting = *ret_ready = *ret_all = 0;
	for (i = 0; i < PLACES; i++) {
		const struct holder *h = &k->holders[i];

		if (h->member.fd < 0)
			continue;
		++*ret_all;
		*ret_waiting += !h->is_lent;
		*ret_ready += !h->is_lent && h->room;
	}
}

/* It has ended, or is about to: nothing of it is worth waiting for but its status. */
static void holder_forget(struct holder *h)
{
	struct error ignored;

	crowd_close(h->keeper->crowd_fd, &h->member);
	if (child_collect_within(h->pid, END_MS, NULL, &ignored) < 0)
		child_end(h->pid);
	*h = (struct holder){.keeper = h->keeper, .member = {.fd = -1}};
}

static void keeper_note_failure(struct keeper *k, const char *why)
{
	k->k->view.failures++;
	snprintf(k->k->view.failure, sizeof(k->k->view.failure), "%s", why);
	k->retry_at = loop_now() + k->retry_ms * LOOP_MS;
	k->retry_ms = k->retry_ms * 2 < RETRY_MOST ? k->retry_ms * 2 : RETRY_MOST;
}

static void holder_serve(struct crowd_member *m, uint32_t events)
{
	struct holder *h = m->context;
	struct pool_word word;
	const ssize_t n = recv(m->fd, &word, sizeof(word), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(word) && word.room) {
		h->room = word.room;
		h->keeper->retry_ms = RETRY_MS;
		return;
	}
	word.failure[sizeof(word.failure) - 1] = '\0';
	if (n == (ssize_t)sizeof(word))
		keeper_note_failure(h->keeper, word.failure);
	else if (!h->is_lent)
		keeper_note_failure(h->keeper, "a box that waited has ended");
	holder_forget(h);
}

static struct holder *keeper_place(struct keeper *k)
{
	size_t i;

	for (i = 0; i < PLACES; i++)
		if (k->holders[i].member.fd < 0)
			return &k->holders[i];
	return NULL;
}

/* In the child nothing of the keeper's is left open. */
static void keeper_start_holder(struct keeper *k, struct holder *h)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		keeper_note_failure(k, err_text(errno));
		return;
	}
	pid = fork();
	if (pid == 0) {
		fd_close_all_but(3, &pair[1], 1);
		pool_hold(k->k->q, pair[1]);
	}
	fd_close(&pair[1]);
	if (pid < 0) {
		keeper_note_failure(k, err_text(errno));
		fd_close(&pair[0]);
		return;
	}
	*h = (struct holder){.keeper = k,
			     .pid = pid,
			     .member = {.fd = pair[0], .serve = holder_serve, .context = h}};
	if (crowd_wait_for(k->crowd_fd, &h->member, EPOLLIN) < 0)
		holder_forget(h);
}

static void keeper_fill(struct keeper *k)
{
	uint32_t waiting, ready, all;
	struct holder *h;

	for (;;) {
		keeper_count(k, &waiting, &ready, &all);
		h = keeper_place(k);
		if (!h || waiting >= k->k->size || waiting - ready >= AT_ONCE ||
		    loop_now() < k->retry_at)
			return;
		keeper_start_holder(k, h);
	}
}

/* Ends those that wait, from the last one on, until there are no more than that. */
static void keeper_shrink(struct keeper *k, uint32_t most)
{
	uint32_t waiting, ready, all;
	size_t i;

	keeper_count(k, &waiting, &ready, &all);
	for (i = PLACES; i-- > 0 && waiting > most;) {
		if (k->holders[i].member.fd < 0 || k->holders[i].is_lent)
			continue;
		crowd_close(k->crowd_fd, &k->holders[i].member);
		k->holders[i].is_ending = true;
		waiting--;
	}
	/* They remove their boxes side by side. */
	for (i = 0; i < PLACES; i++)
		if (k->holders[i].is_ending)
			holder_forget(&k->holders[i]);
}

/* ---- callers ---- */

static bool keeper_lend(struct keeper *k, int guest_fd, uint32_t code_len)
{
	struct error ignored;
	size_t i;

	for (i = 0; i < PLACES; i++) {
		struct holder *h = &k->holders[i];

		if (h->member.fd < 0 || h->is_lent || h->room < code_len || !h->room)
			continue;
		if (unix_send_fds(h->member.fd, "", 1, &guest_fd, 1, &ignored) < 0)
			continue; /* it is ending: its socket says so next */
		h->is_lent = true;
		k->k->view.served++;
		return true;
	}
	return false;
}

static void keeper_answer(struct keeper *k, int fd)
{
	struct pool_view *v = &k->k->view;
	uint32_t waiting, all;

	keeper_count(k, &waiting, &v->ready, &all);
	v->size = k->k->size;
	(void)!send(fd, v, sizeof(*v), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void keeper_resize(struct keeper *k, uint32_t size)
{
	if (size > POOL_MOST)
		return;
	k->k->size = size;
	keeper_shrink(k, size);
	k->retry_at = 0;
}

static void guest_serve(struct crowd_member *m, uint32_t events)
{
	struct guest *g = m->context;
	struct keeper *k = g->keeper;
	struct pool_question q;
	const ssize_t n = recv(m->fd, &q, sizeof(q), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(q) && q.ask == POOL_TAKE) {
		(void)keeper_lend(k, m->fd, q.number); /* the end of the socket says "none" */
	} else if (n == (ssize_t)sizeof(q) && q.ask == POOL_RESIZE) {
		keeper_resize(k, q.number);
		keeper_answer(k, m->fd);
	} else if (n == (ssize_t)sizeof(q) && q.ask == POOL_END) {
		k->ends = true;
		if (k->ender_fd < 0)
			k->ender_fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3);
	} else if (n == (ssize_t)sizeof(q) && q.ask == POOL_LOOK) {
		keeper_answer(k, m->fd);
	}
	crowd_close(k->crowd_fd, m);
}

static bool keeper_is_ours(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.uid == geteuid();
}

static void listener_serve(struct crowd_member *m, uint32_t events)
{
	struct keeper *k = m->context;
	int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	size_t i = 0;

	(void)events;
	if (fd < 0)
		return;
	while (i < GUESTS && k->guests[i].member.fd >= 0)
		i++;
	if (i == GUESTS || !keeper_is_ours(fd)) {
		fd_close(&fd);
		return;
	}
	k->guests[i] = (struct guest){
		.keeper = k, .member = {.fd = fd, .serve = guest_serve, .context = &k->guests[i]}};
	if (crowd_wait_for(k->crowd_fd, &k->guests[i].member, EPOLLIN) < 0)
		crowd_close(k->crowd_fd, &k->guests[i].member);
	else
		guest_serve(&k->guests[i].member, EPOLLIN); /* most have said it already */
}

static void signals_serve(struct crowd_member *m, uint32_t events)
{
	struct keeper *k = m->context;
	struct signalfd_siginfo info;

	(void)events;
	while (read(m->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT ||
		    (info.ssi_signo == SIGHUP && k->k->stays))
			k->ends = true;
}

/* ---- its name ---- */

static int keeper_listen(struct keeper *k)
{
	k->listener =
		(struct crowd_member){.fd = k->k->listen_fd, .serve = listener_serve, .context = k};
	return crowd_wait_for(k->crowd_fd, &k->listener, EPOLLIN);
}

/* The boxes that wait were made of things that are no more. */
static void keeper_look_at_name(struct keeper *k)
{
	struct pool_view *v = &k->k->view;
	struct arena memory = {0};
	char id[SHA256_HEX_SIZE], rootfs[POOL_ROOTFS];
	struct error e;

	if (pool_name(k->k->q, &memory, id, rootfs, &e) < 0) {
		keeper_note_failure(k, e.text);
	} else if (!str_eq(id, v->id)) {
		keeper_shrink(k, 0);
		unlinkat(k->k->dir_dfd, v->id, 0);
		crowd_close(k->crowd_fd, &k->listener);
		memcpy(v->id, id, sizeof(id));
		memcpy(v->rootfs, rootfs, sizeof(rootfs));
		k->k->listen_fd = pool_listen(k->k->dir_dfd, id, &e);
		k->ends = k->k->listen_fd < 0 || keeper_listen(k) < 0;
	}
	arena_free(&memory);
}

/* ---- its life ---- */

/* The keeper stays, and `ps` shows everybody how it was called: with what --env gave. Where things
 * lie is what it has to know further on. */
static void keeper_forget_words(void)
{
	static const char *const known[] = {"HOME=", "XDG_", "DBUS_", "SBXRUN_"};
	char *kept[32];
	size_t n = 0, i, k;

	for (i = 0; environ[i] && n < ARRAY_SIZE(kept); i++)
		for (k = 0; k < ARRAY_SIZE(known); k++)
			if (str_after(environ[i], known[k]) && (kept[n] = strdup(environ[i])))
				n++;
	self_forget_words();
	for (i = 0; i < n; i++)
		putenv(kept[i]);
}

/* Nothing of the caller's is left: its terminal and directory are none of the pool's business. */
static void keeper_let_go(const struct pool_keeping *k)
{
	const int keep[] = {k->dir_dfd, k->listen_fd};
	int fd;

	setsid();
	log_close();
	fd_close_all_but(3, keep, ARRAY_SIZE(keep));
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && dup2(fd, 0) == 0 && dup2(fd, 1) == 1 && dup2(fd, 2) == 2)
		fd_close(&fd);
	(void)!chdir("/");
}

static void keeper_attend(struct keeper *k)
{
	int64_t look = loop_now() + LOOK_MS * LOOP_MS;

	while (!k->ends) {
		keeper_fill(k);
		crowd_round(k->crowd_fd,
			    k->retry_at > loop_now() && k->retry_at < look ? k->retry_at : look);
		if (loop_now() < look)
			continue;
		keeper_look_at_name(k);
		look = loop_now() + LOOK_MS * LOOP_MS;
	}
}

void pool_keep(struct pool_keeping *keeping)
{
	static const int left_out[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGPIPE};
	struct loop_signals signals = LOOP_SIGNALS_NONE;
	struct keeper k = {.k = keeping, .ender_fd = -1, .retry_ms = RETRY_MS};
	struct error e;
	size_t i;

	if (!keeping->stays)
		keeper_let_go(keeping);
	prctl(PR_SET_NAME, "sbxrun-pool");
	keeper_forget_words();
	signal(SIGPIPE, SIG_IGN);
	keeping->view.pid = getpid();
	for (i = 0; i < GUESTS; i++)
		k.guests[i].member.fd = -1;
	k.crowd_fd = crowd_open();
	k.holders = calloc(PLACES, sizeof(*k.holders));
	for (i = 0; k.holders && i < PLACES; i++)
		k.holders[i] = (struct holder){.keeper = &k, .member = {.fd = -1}};
	if (k.holders && k.crowd_fd >= 0 &&
	    loop_signals_take(left_out, ARRAY_SIZE(left_out), &signals, &e) == 0) {
		k.signals = (struct crowd_member){
			.fd = signals.fd, .serve = signals_serve, .context = &k};
		if (keeper_listen(&k) == 0 && crowd_wait_for(k.crowd_fd, &k.signals, EPOLLIN) == 0)
			keeper_attend(&k);
	}
	unlinkat(keeping->dir_dfd, keeping->view.id, 0);
	fd_close(&keeping->listen_fd);
	if (k.holders)
		keeper_shrink(&k, 0);
	pool_remove_dir(keeping->q->state_root);
	free(k.holders);
	fd_close(&k.crowd_fd);
	fd_close(&k.ender_fd);
	loop_signals_give_back(&signals);
}
