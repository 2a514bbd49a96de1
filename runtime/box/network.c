#include "box/network.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/denials.h"
#include "box/hints.h"
#include "box/network_image.h"
#include "box/network_listen.h"
#include "box/registries.h"
#include "egress/egress.h"
#include "egress/wire.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "sys/sys.h"
#include "sys/unix.h"

enum {
	NOBODY = 65534,
	READY_MS = 10000,
	TELL_MS = 2000,
	TELL_MOST = 400,
	REACHED_MOST = 32,
	NOTES_MOST = 16,
	RESOLV_MAX = 64 << 10,
};

/* ---- rules ---- */

static int network_read_rules(const struct strings *list, bool denies, struct egress_rules *r,
			      struct error *e)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (*list->v[i] == '@' && !denies ? registry_check(list->v[i], e) < 0 :
						    egress_rules_add(r, list->v[i], denies, e) < 0)
			return err_wrap(e, "--%s %s", denies ? "deny" : "allow", list->v[i]);
	return 0;
}

static int network_read(const struct strings *allow, const struct strings *deny,
			uint16_t ports[EGRESS_PORTS_MAX], size_t *ret_n, struct error *e)
{
	static struct egress_rules r; /* large, and read once at a time */

	r.n = 0;
	if (network_read_rules(allow, false, &r, e) < 0 ||
	    network_read_rules(deny, true, &r, e) < 0)
		return -1;
	return egress_rules_ports(&r, ports, ret_n, e) < 0 ? err_wrap(e, "--allow") : 0;
}

int network_ports(const struct network_rules *r, uint16_t ports[EGRESS_PORTS_MAX], size_t *ret_n,
		  struct error *e)
{
	return network_read(&r->allow, &r->deny, ports, ret_n, e);
}

int network_check(const struct strings *allow, const struct strings *deny, struct error *e)
{
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t n;

	if (deny->n && !allow->n)
		return err_set(e, ERR_USAGE,
			       "--deny: nothing is allowed without --allow, so there is nothing to "
			       "deny");
	return network_read(allow, deny, ports, &n, e);
}

struct network_rules box_network_rules(const struct box_request *q)
{
	return (struct network_rules){.allow = q->allow,
				      .deny = q->deny,
				      .most = q->limits.net_bytes,
				      .rate = q->limits.net_rate};
}

int box_expand_rules(struct box_request *q, const struct box_root *root, struct arena *a,
		     struct error *e)
{
	struct operator_file f;
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t i, n;

	for (i = 0; i < q->allow.n && *q->allow.v[i] != '@'; i++)
		;
	if (i == q->allow.n)
		return 0;
	if (operator_read(a, &f, e) < 0 ||
	    registry_expand(&q->allow, registry_root(root), &f, a, e) < 0)
		return -1;
	return network_read(&q->allow, &q->deny, ports, &n, e);
}

/* The first rule for addresses, or for a name; NULL: there is none. */
static const char *network_find_rule(const struct strings *list, bool address)
{
	static struct egress_rules r;
	struct error ignored;
	size_t i;

	for (i = 0; i < list->n; i++) {
		r.n = 0;
		if (egress_rules_add(&r, list->v[i], true, &ignored) == 0 &&
		    (r.v[0].match == EGRESS_RANGE) == address)
			return list->v[i];
	}
	return NULL;
}

const char *network_note(const struct strings *allow, const struct strings *deny, struct arena *a)
{
	const char *name = network_find_rule(deny, false);
	const char *range = name ? network_find_rule(allow, true) : NULL;

	return !range ? NULL :
			arena_printf(a,
				     "--deny %s is about the name alone: what it stands for is reached "
				     "by its address if --allow %s has that; --deny ADDRESS refuses it",
				     name, range);
}

/* ---- words ---- */

int network_send(int fd, const struct net_message *m, int pass_fd, struct error *e)
{
	return unix_send_fds(fd, m, sizeof(*m), &pass_fd, pass_fd < 0 ? 0 : 1, e);
}

static int network_send_text(int fd, enum net_kind kind, const char *text, struct error *e)
{
	struct net_message m = {.kind = kind};

	snprintf(m.text, sizeof(m.text), "%s", text);
	return network_send(fd, &m, -1, e);
}

/* Trust: sbxrun-net's word, which may be the box's. */
static bool network_receive(int fd, int64_t until, struct net_message *ret)
{
	ssize_t n;

	while (!loop_is_ready(fd, POLLIN, until))
		if (loop_now() >= until)
			return false;
	n = recv(fd, ret, sizeof(*ret), MSG_DONTWAIT);
	ret->text[sizeof(ret->text) - 1] = '\0';
	return n == (ssize_t)sizeof(*ret);
}

/* Sends the resolvers for names outside: the machine's own, read here, since sbxrun-net opens no
 * file. */
static int network_send_servers(int fd, struct error *e)
{
	struct arena memory = {0};
	autoclose int file = open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC);
	char *line = NULL, *next;
	size_t len;
	int result = 0;

	if (file >= 0)
		line = fd_read_all(file, RESOLV_MAX, &memory, &len);
	for (; line && result == 0; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!str_after(line, "nameserver"))
			continue;
		line += strlen("nameserver");
		line += strspn(line, " \t");
		line[strcspn(line, " \t\r;#")] = '\0';
		result = network_send_text(fd, NET_SERVER, line, e);
	}
	arena_free(&memory);
	return result;
}

static int network_send_list(int fd, const struct strings *list, enum net_kind kind,
			     struct error *e)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (strlen(list->v[i]) >= NET_TEXT_MAX)
			return err_set(e, ERR_USAGE, "%s is longer than any host", list->v[i]);
		else if (network_send_text(fd, kind, list->v[i], e) < 0)
			return -1;
	return 0;
}

int network_send_rules(int fd, const struct network_rules *r, struct error *e)
{
	const struct net_message caps = {.kind = NET_CAPS,
					 .bytes_in = (uint64_t)r->most,
					 .count = (uint64_t)r->rate};

	if (network_send_list(fd, &r->allow, NET_ALLOW, e) < 0 ||
	    network_send_list(fd, &r->deny, NET_DENY, e) < 0)
		return -1;
	return network_send(fd, &caps, -1, e);
}

static int network_send_stay(int fd, const struct network_stay *stay, struct error *e)
{
	const struct net_message box = {.kind = NET_BOX}, door = {.kind = NET_DOOR};

	if (!stay)
		return 0;
	if (network_send(fd, &box, stay->box_pidfd, e) < 0)
		return -1;
	return network_send(fd, &door, stay->door_fd, e);
}

/* ---- the process that carries ---- */

/* Root's becomes nobody's before it begins; an ordinary user's has nothing to give up. */
static void network_become(int image_fd, int control_fd, bool stays)
{
	static char name[] = "sbxrun-net";
	char *const argv[] = {name, NULL}, *const env[] = {NULL};
	const int null_fd = open("/dev/null", O_RDWR);
	int i;

	if (fd_move_above(&control_fd, 10) < 0 || fd_move_above(&image_fd, 10) < 0 || null_fd < 0 ||
	    chdir("/") < 0)
		_exit(1);
	for (i = 0; i < 3; i++)
		if (dup2(null_fd, i) < 0)
			_exit(1);
	if (dup2(control_fd, NET_CONTROL_FD) < 0 || fd_cloexec_from(NET_CONTROL_FD + 1) < 0)
		_exit(1);
	if (sys_is_machine_root() &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		_exit(1);
	/* The signals of our terminal are not meant for a box that stays. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || (stays && setsid() < 0))
		_exit(1);
	execveat(image_fd, "", argv, env, AT_EMPTY_PATH);
	_exit(1);
}

static int network_start(struct network *n, bool stays, struct error *e)
{
	autoclose int image_fd = network_image_open(e);
	int pair[2];

	if (image_fd < 0 || msg_pair(pair, e) < 0)
		return -1;
	n->control_fd = pair[0];
	n->pid = fork();
	if (n->pid == 0)
		network_become(image_fd, pair[1], stays);
	fd_close(&pair[1]);
	return n->pid < 0 ? err_sys(e, "start sbxrun-net") : 0;
}

int network_await_ready(int fd, uint16_t *ret_taken, struct error *e)
{
	struct net_message m;

	if (!network_receive(fd, loop_now() + READY_MS * LOOP_MS, &m))
		return err_set(e, ERR_SYSTEM,
			       "sbxrun-net ended, or did not answer within %d s", READY_MS / 1000);
	if (m.kind != NET_READY)
		return err_set(e, ERR_SYSTEM, "sbxrun-net: %s", m.text);
	if (ret_taken)
		*ret_taken = m.port <= UINT16_MAX ? (uint16_t)m.port : 0;
	return 0;
}

int network_set_up(struct network *n, const struct network_rules *r, int pidfd,
		   const struct network_stay *stay, uint16_t *ret_taken, struct error *e)
{
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t n_ports;

	if (network_ports(r, ports, &n_ports, e) < 0 || network_start(n, stay, e) < 0 ||
	    network_send_stay(n->control_fd, stay, e) < 0 ||
	    network_send_rules(n->control_fd, r, e) < 0 ||
	    network_send_servers(n->control_fd, e) < 0 ||
	    network_listen(pidfd, n->control_fd, ports, n_ports, stay != NULL, e) < 0 ||
	    network_send_text(n->control_fd, NET_BEGIN, "", e) < 0)
		return -1;
	return network_await_ready(n->control_fd, ret_taken, e);
}

int network_open(struct network *n, const struct network_rules *r, int pidfd, struct error *e)
{
	*n = NETWORK_NONE;
	n->rules = *r;
	if (network_set_up(n, r, pidfd, NULL, NULL, e) == 0)
		return 0;
	network_close(n);
	return err_wrap(e, "give the box a network");
}

/* ---- while it runs, and after ---- */

void network_seen(const struct network *n, const char *address, uint16_t port)
{
	struct net_message m = {.kind = NET_SEEN, .port = port};

	snprintf(m.text, sizeof(m.text), "%s", address);
	send(n->control_fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void network_take_refusal(const struct net_message *m, struct denials *d)
{
	const char *host = hint_clean(m->text, &d->scratch);
	const uint16_t port = m->port <= UINT16_MAX ? (uint16_t)m->port : 0;
	const char *target = !*host ? "a host whose name is none" :
			     port   ? arena_printf(&d->scratch,
						   strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
						   port) :
				      host;

	denials_note_times(d,
			   (struct box_denial){.kind = "network",
					       .name = port ? "connect" : "resolve",
					       .target = target,
					       .host = *host ? host : NULL,
					       .port = port,
					       .error = port ? "ECONNREFUSED" : "ENOENT",
					       .hint = hint_of_host(host, port, m->what, d->arena)},
			   m->count);
}

static void network_take_reached(const struct net_message *m, struct denials *d,
				 struct box_network *ret)
{
	if (ret->n_reached >= REACHED_MOST || !m->port || m->port > UINT16_MAX)
		return;
	if (!ret->reached)
		ret->reached = arena_array(d->arena, REACHED_MOST, struct box_reached);
	ret->reached[ret->n_reached++] = (struct box_reached){
		.host = hint_clean(m->text, d->arena),
		.port = (uint16_t)m->port,
		.count = m->count,
	};
}

static void network_take_failure(const struct net_message *m, struct denials *d,
				 struct notes *notes)
{
	static const char *const why[] = {
		[NET_NO_NAME] = "there is no such host",
		[NET_NO_ANSWER] = ("none of this machine's resolvers (/etc/resolv.conf) has "
				   "answered"),
		[NET_UNREACHABLE] = "nobody has answered at its addresses from this machine",
	};
	const char *host = hint_clean(m->text, &d->scratch);

	if (m->what < ARRAY_SIZE(why))
		notes_add(notes,
			  arena_printf(d->arena,
				       strchr(host, ':') ? "[%s]:%u was not reached: %s" :
							   "%s:%u was not reached: %s",
				       host, m->port, why[m->what]),
			  d->arena);
}

void network_tell(const struct network *n, struct denials *d, struct box_network *ret,
		  struct notes *notes)
{
	const int64_t until = loop_now() + TELL_MS * LOOP_MS;
	struct net_message m = {.kind = NET_TELL};
	size_t i;

	ret->has = n->control_fd >= 0 || n->lost;
	ret->allow = n->rules.allow;
	ret->deny = n->rules.deny;
	if (n->control_fd < 0)
		return;
	/* Also where no call can be watched; but not if nobody wants to know. */
	d->known = d->q->denials != DENIALS_NONE;
	send(n->control_fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
	for (i = 0; i < TELL_MOST && network_receive(n->control_fd, until, &m); i++) {
		if (m.kind == NET_REFUSED && d->known)
			network_take_refusal(&m, d);
		if (m.kind == NET_UNREACHED && notes->n < NOTES_MOST)
			network_take_failure(&m, d, notes);
		if (m.kind == NET_REACHED)
			network_take_reached(&m, d, ret);
		if (m.kind != NET_TOTAL)
			continue;
		ret->more_reached = m.what != 0;
		d->more |= m.more != 0;
		ret->known = true;
		ret->connections = m.connections;
		ret->refused = m.refused;
		ret->bytes_in = m.bytes_in;
		ret->bytes_out = m.bytes_out;
		break;
	}
	arena_free(&d->scratch);
}

void network_close(struct network *n)
{
	struct error ignored;

	fd_close(&n->control_fd);
	if (n->pid > 0)
		child_end(n->pid);
	n->pid = 0;
	/* If it can't be removed: everything is local there, and nobody listens. */
	if (n->alone_pidfd >= 0)
		network_listen_end(n->alone_pidfd, &ignored);
	n->alone_pidfd = -1;
}
