/*
 * Answers that stay: for a box, until it ends, or for good. What is granted is a tool up to a risk,
 * so what the rules call riskier is asked about again, and what they let no answer be good for is
 * too. One file each, in the directory of the queue.
 *
 * A grant for a box has the moment when the box was made: another one of that name is another box.
 * One for good holds in boxes that sbxrun mcp makes, and in no box that a person has made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "approve/approve.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "box/sandbox.h"
#include "json/rows.h"

enum { GRANT_MAX = 4096, GRANTS_MAX = 1024, GRANT_VERSION = 2, SINCE_SIZE = 32 };

static const struct json_row approve_grant_rows[] = {
	F(approve_grant, "version", U32, version, REQUIRED),
	F(approve_grant, "id", STR, id, REQUIRED),
	F(approve_grant, "tool", STR, tool, REQUIRED),
	F(approve_grant, "box", STR, box),
	F(approve_grant, "born", STR, born),
	W(approve_grant, "risk", risk, approve_risk, approve_risk_words, REQUIRED),
	F(approve_grant, "by", STR, by, REQUIRED),
	F(approve_grant, "since", STR, since, REQUIRED),
};
TABLE(approve_grant);

/* Trust: it may be anybody's; it becomes the name of a file. */
static bool is_grant(const char *id)
{
	return strlen(id) == APPROVE_GRANT_SIZE - 1 && str_after(id, "gr_") &&
	       strspn(id + 3, "0123456789abcdef") == APPROVE_GRANT_SIZE - 4;
}

static const char *grant_id(const char *tool, const char *box, struct arena *a)
{
	const char *both = arena_printf(a, box ? "%s\n%s" : "%s", tool, box);
	char hex[SHA256_HEX_SIZE];

	sha256_hex(both, strlen(both), hex);
	return arena_printf(a, "gr_%.*s", APPROVE_GRANT_SIZE - 4, hex);
}

/* When the box was made; NULL: there is none. */
static char *box_born(const char *root, const char *box, struct arena *a)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct error ignored;

	if (sandbox_check_id(box, &ignored) < 0 ||
	    sandbox_look(root, sandbox_container(box, a), a, &s, NULL, &ignored) < 0)
		return NULL;
	return s.record.created ? arena_strdup(a, s.record.created) : NULL;
}

/* Its box is gone. It goes when that is recorded. */
static void grant_end(struct approve_queue *q, const struct approve_grant *g)
{
	struct error e;

	if (approve_record_grant(q, "ended", g, NULL, &e) < 0)
		log_warn("%s: %s", g->id, e.text);
	else
		unlinkat(q->dfd, g->id, 0);
}

/* false: there is none, or it is no more. */
static bool grant_read(struct approve_queue *q, const char *id, struct arena *a,
		       struct approve_grant *ret)
{
	struct approve_grant g = {0};
	struct error ignored;
	const char *born;
	size_t len;
	char *text = approve_read(q, id, GRANT_MAX, a, &len);

	if (!text)
		return false;
	if (json_read(id, text, len, &approve_grant_table, &json_default_limits, &g, a,
		      &ignored) < 0 ||
	    g.version != GRANT_VERSION || !str_eq(g.id, id) || !g.box != !g.born ||
	    g.risk >= RISK_CRITICAL) {
		unlinkat(q->dfd, id, 0);
		return false;
	}
	born = g.box ? box_born(q->root, g.box, a) : NULL;
	if (g.box && !(born && str_eq(born, g.born))) {
		grant_end(q, &g);
		return false;
	}
	*ret = g;
	return true;
}

int approve_grants(struct approve_queue *q, struct arena *a, struct approve_grant **ret,
		   size_t *ret_n, struct error *e)
{
	int fd = openat(q->dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct approve_grant *v = NULL, g;
	struct dirent *d;
	size_t n = 0, cap = 0;

	if (!dir) {
		err_sys(e, "approvals: list");
		fd_close(&fd);
		return -1;
	}
	while ((d = readdir(dir))) {
		if (!is_grant(d->d_name) || !grant_read(q, d->d_name, a, &g))
			continue;
		v = arena_grow(a, v, &cap, n + 1, sizeof(*v));
		v[n++] = g;
	}
	closedir(dir);
	*ret = v;
	*ret_n = n;
	return 0;
}

static char *now_text(struct arena *a)
{
	char text[SINCE_SIZE] = "";
	time_t now = time(NULL);
	struct tm t;

	if (gmtime_r(&now, &t))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &t);
	return arena_strdup(a, text);
}

int approve_grant(struct approve_queue *q, const struct approve_question *x, struct arena *a,
		  struct error *e)
{
	const bool always = x->scope == SCOPE_ALWAYS;
	struct approve_grant g = {
		.version = GRANT_VERSION,
		.tool = x->tool,
		.box = always ? NULL : x->box,
		.risk = x->risk,
		.by = x->by ? x->by : arena_strdup(a, "somebody"),
		.since = now_text(a),
	};
	struct approve_grant *v, before;
	struct buf b = buf_new(a, GRANT_MAX);
	size_t n;

	if (x->scope <= SCOPE_ONCE || x->risk >= RISK_CRITICAL || (!always && !x->box))
		return 0;
	g.born = g.box ? box_born(q->root, g.box, a) : NULL;
	if (g.box && !g.born)
		return 0; /* it has ended meanwhile, and the grant with it */
	if (approve_grants(q, a, &v, &n, e) < 0)
		return -1;
	if (n >= GRANTS_MAX)
		return err_set(e, ERR_HOST, "approvals: there are too many grants");
	g.id = arena_strdup(a, grant_id(g.tool, g.box, a));
	if (grant_read(q, g.id, a, &before) && before.risk > g.risk)
		return 0;
	json_write(&b, &approve_grant_table, &g, 0);
	if (b.overflow)
		return err_set(e, ERR_HOST, "approvals: the grant is too long");
	if (approve_record_grant(q, "granted", &g, x, e) < 0)
		return -1;
	return approve_write(q, g.id, b.data, b.len, e);
}

static bool grants_up_to(struct approve_queue *q, const char *tool, const char *box,
			 enum approve_risk risk, struct arena *a)
{
	struct approve_grant g;

	return grant_read(q, grant_id(tool, box, a), a, &g) && str_eq(g.tool, tool) &&
	       (box ? g.box && str_eq(g.box, box) : !g.box) && risk <= g.risk;
}

enum approve_scope approve_is_granted(struct approve_queue *q, const char *tool, const char *box,
				      const struct approve_judgement *j, struct arena *a)
{
	if (box && j->most >= SCOPE_BOX && grants_up_to(q, tool, box, j->risk, a))
		return SCOPE_BOX;
	if ((!box || str_after(box, APPROVE_OWN_BOX)) && j->most >= SCOPE_ALWAYS &&
	    grants_up_to(q, tool, NULL, j->risk, a))
		return SCOPE_ALWAYS;
	return SCOPE_UNSAID;
}

int approve_take_back(struct approve_queue *q, const char *id, struct arena *a, struct error *e)
{
	struct approve_grant g = {.id = arena_strdup(a, id)};

	if (!is_grant(id))
		return err_set(e, ERR_USAGE, "%s is no id of a grant", json_show(id).text);
	/* One that can't be read allows nothing, and is removed all the same. */
	if ((grant_read(q, id, a, &g) || faccessat(q->dfd, id, F_OK, AT_SYMLINK_NOFOLLOW) == 0) &&
	    approve_record_grant(q, "revoked", &g, NULL, e) < 0)
		return -1;
	if (unlinkat(q->dfd, id, 0) == 0)
		return 0;
	return errno == ENOENT ? err_set(e, ERR_NOT_FOUND, "there is no grant %s", id) :
				 err_sys(e, "approvals: take back %s", id);
}
