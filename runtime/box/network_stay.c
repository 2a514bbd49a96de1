#include "box/network_stay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/network_listen.h"
#include "json/rows.h"
#include "sys/patience.h"

#define RULES_NAME "egress"
#define DOOR_NAME "egress.sock"

enum { RULES_SIZE_MAX = 256 << 10, DOOR_QUEUE = 16, RULES_VERSION = 1 };

/* ---- the record ---- */

struct rules_record {
	uint32_t version;
	struct network_rules rules;
};

static const struct json_row network_rules_rows[] = {
	L(network_rules, "allow", STRINGS, allow, EGRESS_RULES_MAX),
	L(network_rules, "deny", STRINGS, deny, EGRESS_RULES_MAX),
	F(network_rules, "bytes", I64, most),
	F(network_rules, "rate", I64, rate),
};
TABLE(network_rules);

static const struct json_row rules_record_rows[] = {
	F(rules_record, "version", U32, version, REQUIRED),
	O(rules_record, "rules", rules, network_rules, REQUIRED),
};
TABLE(rules_record);

static void record_write(const struct network_rules *r, struct buf *b)
{
	const struct rules_record record = {.version = RULES_VERSION, .rules = *r};

	json_write(b, &rules_record_table, &record, 0);
	buf_char(b, '\n');
}

static int record_read(int dfd, struct arena *a, struct network_rules *ret, struct error *e)
{
	autoclose int fd =
		openat(dfd, RULES_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct rules_record record = {0};
	char *text;
	size_t len;

	*ret = (struct network_rules){0};
	if (fd < 0 && errno == ENOENT)
		return 0;
	text = fd < 0 ? NULL : fd_read_all(fd, RULES_SIZE_MAX, a, &len);
	if (!text)
		return err_sys(e, "read what the box may reach");
	if (json_read(RULES_NAME, text, len, &rules_record_table, &json_default_limits, &record, a,
		      e) < 0)
		return err_wrap(e, "what the box may reach");
	if (record.version != RULES_VERSION)
		return err_set(e, ERR_HOST, "the box was made by a newer sbxrun");
	*ret = record.rules;
	return 0;
}

int network_read_record(const struct sandbox *s, struct arena *a, struct network_rules *ret,
			struct error *e)
{
	return record_read(s->dfd, a, ret, e);
}

static int record_put(const struct store *s, const struct network_rules *r, struct arena *a,
		      struct error *e)
{
	struct buf b = buf_new(a, RULES_SIZE_MAX);

	record_write(r, &b);
	return store_put(s, RULES_NAME, b.data, b.len, e);
}

/* ---- the door ---- */

static struct sockaddr_un door_address(int dfd)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" DOOR_NAME, dfd);
	return at;
}

static int door_make(int dfd, struct error *e)
{
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at = door_address(dfd);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    fchmodat(dfd, DOOR_NAME, 0600, 0) < 0 || listen(fd, DOOR_QUEUE) < 0)
		return err_sys(e, "make the socket of the box's network");
	return fd_steal(&fd);
}

static bool door_is_there(int dfd)
{
	return faccessat(dfd, DOOR_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Nobody behind it is no failure: the box has no network then. */
static int door_enter(int dfd, struct network *n, struct error *e)
{
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int64_t until = patience_until(PATIENCE_PEER_MS);
	const struct sockaddr_un at = door_address(dfd);

	*n = NETWORK_NONE;
	if (!door_is_there(dfd))
		return 0;
	if (fd < 0)
		return err_sys(e, "socket");
	while (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		n->lost = errno == ECONNREFUSED;
		if (n->lost)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "connect to what carries for the box");
		if (patience_nap(until, e) < 0)
			return err_wrap(e, "connect to what carries for the box");
	}
	n->control_fd = fd_steal(&fd);
	return 0;
}

/* ---- rules ---- */

static int stay_start(int dfd, const struct network_rules *r, int pidfd, uint16_t *ret_taken,
		      struct error *e)
{
	autoclose int door_fd = door_make(dfd, e);
	const struct network_stay stay = {.box_pidfd = pidfd, .door_fd = door_fd};
	struct network n = NETWORK_NONE;

	if (door_fd < 0)
		return -1;
	if (network_set_up(&n, r, pidfd, &stay, ret_taken, e) < 0) {
		network_close(&n);
		unlinkat(dfd, DOOR_NAME, 0);
		return err_wrap(e, "give the box a network");
	}
	fd_close(&n.control_fd); /* it is nobody's child from here on */
	return 0;
}

int network_stay(int dfd, const struct network_rules *r, int pidfd, struct arena *a,
		 struct error *e)
{
	autoclose int fd = openat(dfd, RULES_NAME,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct buf b = buf_new(a, RULES_SIZE_MAX);

	record_write(r, &b);
	if (fd < 0 || fd_write_all(fd, b.data, b.len) < 0)
		return err_sys(e, "write down what the box may reach");
	return r->allow.n ? stay_start(dfd, r, pidfd, NULL, e) : 0;
}

/* All of them, with listeners for those ports that have none yet. */
static int stay_tell(const struct sandbox *s, const struct network *n,
		     const struct network_rules *r, enum net_kind kind, bool listens,
		     uint16_t *ret_taken, struct error *e)
{
	const struct net_message apply = {.kind = kind};
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t n_ports;

	if (network_ports(r, ports, &n_ports, e) < 0 ||
	    network_send_rules(n->control_fd, r, e) < 0 ||
	    (listens &&
	     network_listen_more(s->init_pidfd, n->control_fd, ports, n_ports, e) < 0) ||
	    network_send(n->control_fd, &apply, -1, e) < 0)
		return -1;
	return network_await_ready(n->control_fd, ret_taken, e);
}

static const char *stay_note(uint16_t taken, struct arena *a)
{
	return taken ? arena_printf(a,
				    "a program in the box listens at port %u, so its connections to "
				    "hosts at that port reach the program itself",
				    taken) :
		       NULL;
}

int network_join(const struct sandbox *s, struct network *n, struct arena *a, struct error *e)
{
	const struct net_message forget = {.kind = NET_FORGET};
	auto_store struct store store = STORE_NONE;
	struct network_rules r;
	struct error why;

	*n = NETWORK_NONE;
	if (!door_is_there(s->dfd))
		return 0;
	if (store_open(s->root, s->container, STORE_LOCK, &store, e) < 0 ||
	    record_read(s->dfd, a, &r, e) < 0 || door_enter(s->dfd, n, e) < 0)
		return -1;
	n->rules = r;
	/* It went meanwhile: a call goes on without. */
	if (n->control_fd >= 0 && (stay_tell(s, n, &r, NET_APPLY, false, NULL, &why) < 0 ||
				   network_send(n->control_fd, &forget, -1, &why) < 0)) {
		network_close(n);
		n->lost = true;
	}
	return 0;
}

int network_join_alone(const struct sandbox *s, const struct network_rules *r, struct network *n,
		       struct error *e)
{
	const struct net_message forget = {.kind = NET_FORGET};
	auto_store struct store store = STORE_NONE;

	*n = NETWORK_NONE;
	if (store_open(s->root, s->container, STORE_LOCK, &store, e) < 0)
		return -1;
	if (!door_is_there(s->dfd)) {
		if (network_open(n, r, s->init_pidfd, e) < 0)
			return -1;
		n->alone_pidfd = s->init_pidfd;
		return 0;
	}
	if (door_enter(s->dfd, n, e) < 0)
		return -1;
	if (n->lost)
		return err_set(e, ERR_WRONG_STATE,
			       "the process that carried the connections of box \"%s\" has ended: it "
			       "has no network any more, and a new box is needed",
			       s->id);
	n->rules = *r;
	if (stay_tell(s, n, r, NET_ALONE, true, NULL, e) == 0 &&
	    network_send(n->control_fd, &forget, -1, e) == 0)
		return 0;
	network_close(n);
	return err_wrap(e, "give box \"%s\" the network of a registry", s->id);
}

/* ---- changes ---- */

static bool list_has(const struct strings *l, const char *word, size_t *ret_at)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (str_eq(l->v[i], word)) {
			*ret_at = i;
			return true;
		}
	return false;
}

static int list_change(struct strings *l, const struct strings *words, bool remove,
		       const char *verb, struct arena *a, struct error *e)
{
	struct strings all = {.v = arena_array(a, l->n + words->n + 1, char *)};
	size_t i, at;

	for (i = 0; i < l->n; i++)
		all.v[all.n++] = l->v[i];
	for (i = 0; i < words->n; i++) {
		if (!list_has(&all, words->v[i], &at)) {
			if (remove)
				return err_set(e, ERR_USAGE,
					       "%s --remove %s: there is no such rule (box rules "
					       "shows those that there are)",
					       verb, words->v[i]);
			all.v[all.n++] = words->v[i];
		} else if (remove) {
			memmove(&all.v[at], &all.v[at + 1], (--all.n - at) * sizeof(char *));
		}
	}
	*l = all;
	return 0;
}

int network_rules_change(struct network_rules *r, const struct network_change *c, struct arena *a,
			 struct error *e)
{
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t n, i, at;

	for (i = 0; i < c->allow.n; i++)
		if (!c->remove && list_has(&r->deny, c->allow.v[i], &at))
			return err_set(e, ERR_USAGE,
				       "%s is denied, and stays so whatever is allowed: box deny "
				       "--remove takes that away",
				       c->allow.v[i]);
	if (list_change(&r->allow, &c->allow, c->remove, "box allow", a, e) < 0 ||
	    list_change(&r->deny, &c->deny, c->remove, "box deny", a, e) < 0)
		return -1;
	return network_ports(r, ports, &n, e);
}

/* The box has its network already, or had one. */
static int change_tell(const struct sandbox *s, const struct network_rules *r, uint16_t *ret_taken,
		       struct error *e)
{
	struct network n;
	int result;

	if (door_enter(s->dfd, &n, e) < 0)
		return -1;
	if (n.lost)
		return err_set(e, ERR_WRONG_STATE,
			       "the process that carried the connections of box \"%s\" has ended: it "
			       "has no network any more, and a new box is needed",
			       s->id);
	result = stay_tell(s, &n, r, NET_APPLY, true, ret_taken, e);
	network_close(&n);
	return result;
}

int network_change(struct sandbox *s, const struct network_change *c, struct arena *a,
		   struct network_rules *ret, const char **ret_note, struct error *e)
{
	auto_store struct store store = STORE_NONE;
	struct network_rules r;
	uint16_t taken = 0;

	*ret_note = NULL;
	if (store_open(s->root, s->container, STORE_LOCK, &store, e) < 0 ||
	    record_read(s->dfd, a, &r, e) < 0 || network_rules_change(&r, c, a, e) < 0 ||
	    record_put(&store, &r, a, e) < 0)
		return -1;
	if (door_is_there(s->dfd) ?
		    change_tell(s, &r, &taken, e) < 0 :
		    r.allow.n && stay_start(s->dfd, &r, s->init_pidfd, &taken, e) < 0)
		return -1;
	*ret_note = stay_note(taken, a);
	*ret = r;
	return 0;
}
