/*
 * Questions on disk: ROOT/approvals:queue, a directory of the user's with mode 0700. A question is
 * a file, replaced by renaming, under a lock that whoever dies lets go. It is used by removing it,
 * so that nobody uses it twice, also after a crash: one before that leaves an answer that holds
 * until its time is over.
 *
 *	lock        held by whoever works here        ap_HEX   a question
 *	key         of approve_seal()                 gr_HEX   an answer that stays (grants.c)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "approve/approve.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "json/rows.h"
#include "state/store.h"
#include "sys/patience.h"

#define QUEUE_DIR "approvals:queue"
enum { QUESTION_MAX = 256 << 10, KEY_SIZE = 32, LOCK_S = 5, QUESTION_VERSION = 2 };

/* clang-format off */
static const struct json_row approve_question_rows[] = {
	F(approve_question, "version", U32, version, REQUIRED), F(approve_question, "id", STR, id, REQUIRED),
	F(approve_question, "tool", STR, tool, REQUIRED), F(approve_question, "box", STR, box),
	W(approve_question, "risk", risk, approve_risk, approve_risk_words, REQUIRED),
	F(approve_question, "why", STR, why, REQUIRED), F(approve_question, "shown", STR, shown, REQUIRED),
	F(approve_question, "digest", STR, digest, REQUIRED), F(approve_question, "boot", STR, boot, REQUIRED),
	F(approve_question, "asked", I64, asked, REQUIRED), F(approve_question, "until", I64, until, REQUIRED),
	F(approve_question, "uid", U32, uid, REQUIRED), F(approve_question, "status", STR, status, REQUIRED),
	W(approve_question, "most", most, approve_scope, approve_scope_words, REQUIRED),
	W(approve_question, "scope", scope, approve_scope, approve_scope_words, REQUIRED), F(approve_question, "by", STR, by),
};
/* clang-format on */
TABLE(approve_question);

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec;
}

static char *boot_id(struct arena *a)
{
	char text[64] = "";

	fd_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, sizeof(text));
	return arena_strdup(a, *text ? text : "unknown");
}

/* ---- the directory ---- */

void approve_queue_close(struct approve_queue *q)
{
	fd_close(&q->lock_fd);
	fd_close(&q->dfd);
}

/* Ours, or its owner's if we are root; and nobody else's to write to. */
static bool is_trusted(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && !(st.st_mode & 0077) &&
	       (st.st_uid == geteuid() || geteuid() == 0) && (type == S_IFDIR || st.st_nlink == 1);
}

/* Its holder has it for a moment, or was stopped in it. */
static int lock_take(int fd, struct error *e)
{
	const int64_t until = patience_until(LOCK_S * 1000);

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "approvals: lock %s", QUEUE_DIR);
		if (patience_nap(until, e) < 0)
			return err_set(e, ERR_WRONG_STATE,
				       "approvals: another process has the lock of %s, and keeps it",
				       QUEUE_DIR);
	}
	return 0;
}

int approve_queue_open(const char *root, const struct strings *audits, bool make,
		       struct approve_queue *ret, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	autoclose int root_dfd = -1;

	if (!root)
		return err_set(e, ERR_USAGE, "approvals: there is no place for them: --root DIR");
	if (!make && access(root, F_OK) < 0)
		return err_set(e, ERR_NOT_FOUND, "approvals: there are none");
	root_dfd = store_open_root(root, make, e);
	if (root_dfd < 0)
		return -1;
	if (make && mkdirat(root_dfd, QUEUE_DIR, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "approvals: make %s", QUEUE_DIR);
	q.dfd = openat(root_dfd, QUEUE_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (q.dfd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "approvals: there are none");
	if (q.dfd < 0)
		return err_sys(e, "approvals: open %s", QUEUE_DIR);
	if (!is_trusted(q.dfd, S_IFDIR))
		return err_set(e, ERR_HOST, "approvals: %s/%s is not ours alone", root, QUEUE_DIR);
	q.lock_fd = openat(q.dfd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (q.lock_fd < 0 || !is_trusted(q.lock_fd, S_IFREG))
		return err_set(e, ERR_HOST, "approvals: the lock of %s can't be had", QUEUE_DIR);
	if (lock_take(q.lock_fd, e) < 0)
		return -1;
	q.root = root;
	q.audits = audits;
	*ret = q;
	q = APPROVE_QUEUE_NONE;
	return 0;
}

char *approve_read(const struct approve_queue *q, const char *name, size_t most, struct arena *a,
		   size_t *ret_len)
{
	autoclose int fd = openat(q->dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && !is_trusted(fd, S_IFREG)) {
		errno = EPERM;
		return NULL;
	}
	return fd < 0 ? NULL : fd_read_all(fd, most, a, ret_len);
}

/* The old one or the new one, whole. */
int approve_write(const struct approve_queue *q, const char *name, const void *p, size_t len,
		  struct error *e)
{
	autoclose int fd = -1;

	unlinkat(q->dfd, "next", 0);
	fd = openat(q->dfd, "next", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, p, len) < 0 || renameat(q->dfd, "next", q->dfd, name) < 0)
		return err_sys(e, "approvals: write %s", name);
	return 0;
}

static void hex_of(const unsigned char *p, size_t n, char *ret)
{
	size_t i;

	for (i = 0; i < n; i++) {
		ret[2 * i] = "0123456789abcdef"[p[i] >> 4];
		ret[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
	}
	ret[2 * n] = '\0';
}

/* Trust: it may be anybody's; it becomes the name of a file. */
static bool is_id(const char *id)
{
	return strlen(id) == APPROVE_ID_SIZE - 1 && str_after(id, "ap_") &&
	       strspn(id + 3, "0123456789abcdef") == APPROVE_ID_SIZE - 4;
}

/* ---- questions ---- */

static int question_write(const struct approve_queue *q, const struct approve_question *x,
			  struct arena *a, struct error *e)
{
	struct buf b = buf_new(a, QUESTION_MAX);

	json_write(&b, &approve_question_table, x, 0);
	if (b.overflow)
		return err_set(e, ERR_USAGE, "approvals: the question is too long to be asked");
	return approve_write(q, x->id, b.data, b.len, e);
}

static int question_none(const char *id, struct error *e)
{
	return err_set(e, ERR_NOT_FOUND,
		       "there is no question %s: it was answered and used, or its time is over",
		       json_show(id).text);
}

/* It goes when its end is recorded; a "no" has said all there is to say. */
static void question_expire(struct approve_queue *q, const char *id,
			    const struct approve_question *x)
{
	struct error e;

	if (!str_eq(x->status, "no") && approve_record_question(q, "expired", x, &e) < 0)
		log_warn("%s: %s", id, e.text);
	else
		unlinkat(q->dfd, id, 0);
}

int approve_find(struct approve_queue *q, const char *id, struct arena *a,
		 struct approve_question *ret, struct error *e)
{
	const struct approve_question unreadable = {.id = arena_strdup(a, id),
						    .status = arena_strdup(a, "unreadable")};
	struct approve_question x = {0};
	struct error damaged;
	bool is_read;
	char *text;
	size_t len;

	if (!is_id(id))
		return err_set(e, ERR_USAGE, "%s is no id of a question", json_show(id).text);
	text = approve_read(q, id, QUESTION_MAX, a, &len);
	if (!text)
		return errno == ENOENT ? question_none(id, e) :
					 err_sys(e, "approvals: read %s", id);
	/* A question that can't be read, or is another boot's, allows nothing and goes. */
	is_read = json_read(id, text, len, &approve_question_table, &json_default_limits, &x, a,
			    &damaged) == 0 &&
		  x.version == QUESTION_VERSION && str_eq(x.id, id);
	if (!is_read || !str_eq(x.boot, boot_id(a)) || x.until <= now_s()) {
		question_expire(q, id, is_read ? &x : &unreadable);
		return question_none(id, e);
	}
	*ret = x;
	return 0;
}

int approve_list(struct approve_queue *q, struct arena *a, struct approve_question **ret,
		 size_t *ret_n, struct error *e)
{
	int fd = openat(q->dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct approve_question *v = NULL, x;
	struct error ignored;
	struct dirent *d;
	size_t n = 0, cap = 0;

	if (!dir) {
		err_sys(e, "approvals: list");
		fd_close(&fd);
		return -1;
	}
	while ((d = readdir(dir))) {
		if (!is_id(d->d_name) || approve_find(q, d->d_name, a, &x, &ignored) < 0)
			continue;
		v = arena_grow(a, v, &cap, n + 1, sizeof(*v));
		v[n++] = x;
	}
	closedir(dir);
	*ret = v;
	*ret_n = n;
	return 0;
}

/* People who are asked too often say yes. */
static int ask_count(struct approve_queue *q, struct arena *a, struct error *e)
{
	struct approve_question *v;
	size_t n, i, open = 0;
	uint64_t asked = 0, began = 0;
	char *text, *space, rate[64];
	size_t len;
	int64_t now = now_s();

	if (approve_list(q, a, &v, &n, e) < 0)
		return -1;
	for (i = 0; i < n; i++)
		open += str_eq(v[i].status, "asked");
	if (open >= APPROVE_PENDING_MAX)
		return err_set(e, ERR_WRONG_STATE, "%d questions wait for an answer already",
			       APPROVE_PENDING_MAX);
	text = approve_read(q, "rate", sizeof(rate), a, &len);
	space = text ? strchr(text, ' ') : NULL;
	if (space) {
		*space = '\0';
		if (!str_to_u64(text, INT64_MAX, &began) ||
		    !str_to_u64(space + 1, APPROVE_RATE, &asked) || (int64_t)began > now)
			began = asked = 0;
	}
	if (now - (int64_t)began >= APPROVE_RATE_S) {
		began = (uint64_t)now;
		asked = 0;
	}
	if (asked >= APPROVE_RATE)
		return err_set(e, ERR_WRONG_STATE,
			       "%d questions were asked within a minute: wait for the next",
			       APPROVE_RATE);
	snprintf(rate, sizeof(rate), "%llu %llu", (unsigned long long)began,
		 (unsigned long long)asked + 1);
	return approve_write(q, "rate", rate, strlen(rate), e);
}

int approve_ask(struct approve_queue *q, struct approve_question *x, uint32_t timeout_s,
		struct arena *a, struct error *e)
{
	unsigned char bytes[16];
	char hex[2 * sizeof(bytes) + 1];

	if (ask_count(q, a, e) < 0)
		return -1;
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_sys(e, "make up an id");
	hex_of(bytes, sizeof(bytes), hex);
	x->version = QUESTION_VERSION;
	x->id = arena_printf(a, "ap_%s", hex);
	x->boot = boot_id(a);
	x->asked = now_s();
	x->until = x->asked + timeout_s;
	x->uid = getuid();
	x->scope = SCOPE_ONCE;
	x->status = arena_strdup(a, "asked");
	if (approve_record_question(q, "asked", x, e) < 0)
		return -1;
	return question_write(q, x, a, e);
}

/* The rules' word of when it was asked holds, whoever answers. */
static int answer_check(const struct approve_question *x, enum approve_scope scope,
			struct error *e)
{
	if (scope <= SCOPE_ONCE)
		return 0;
	if (x->risk == RISK_CRITICAL)
		return err_set(e, ERR_USAGE, "%s: what is critical is allowed once", x->id);
	if (scope == SCOPE_BOX && !x->box)
		return err_set(e, ERR_USAGE,
			       "%s: it is about no box that is there yet: it is allowed once",
			       x->id);
	if (scope == SCOPE_ALWAYS && x->box && !str_after(x->box, APPROVE_OWN_BOX))
		return err_set(e, ERR_USAGE,
			       "%s: a box that sbxrun mcp has not made is its owner's: "
			       "--for-box is the most",
			       x->id);
	if (scope > x->most)
		return err_set(e, ERR_USAGE,
			       "%s: the operator's rules let no answer be good for more than "
			       "\"%s\"",
			       x->id, approve_scope_word(x->most));
	return 0;
}

bool approve_may_always(const struct approve_question *x)
{
	struct error ignored;

	return answer_check(x, SCOPE_ALWAYS, &ignored) == 0;
}

int approve_answer(struct approve_queue *q, const char *id, bool yes, enum approve_scope scope,
		   const char *by, struct arena *a, struct approve_question *ret,
		   struct error *e)
{
	struct approve_question x;

	if (approve_find(q, id, a, &x, e) < 0)
		return -1;
	if (!str_eq(x.status, "asked"))
		return err_set(e, ERR_WRONG_STATE, "%s was answered already: %s", id, x.status);
	if (yes && answer_check(&x, scope, e) < 0)
		return -1;
	x.status = arena_strdup(a, yes ? "yes" : "no");
	x.scope = yes && scope ? scope : SCOPE_ONCE;
	x.by = arena_strdup(a, by);
	if (yes)
		x.until = now_s() + APPROVE_GOOD_S;
	if (approve_record_question(q, x.status, &x, e) < 0)
		return -1;
	if (question_write(q, &x, a, e) < 0)
		return -1;
	*ret = x;
	return 0;
}

int approve_take(struct approve_queue *q, const char *id, const char *digest, struct arena *a,
		 struct approve_question *ret, struct error *e)
{
	struct approve_question x;

	if (approve_find(q, id, a, &x, e) < 0)
		return -1;
	if (!str_eq(x.digest, digest))
		return err_set(e, ERR_USAGE, "%s was asked for something else", id);
	*ret = x;
	if (str_eq(x.status, "asked"))
		return err_set(e, ERR_WRONG_STATE, "%s is not answered yet", id);
	if (unlinkat(q->dfd, id, 0) < 0)
		return err_sys(e, "approvals: use %s", id);
	return str_eq(x.status, "yes") ? 0 : err_set(e, ERR_USAGE, "a person said no");
}

void approve_forget(struct approve_queue *q, const char *id)
{
	struct approve_question x;
	struct arena a = {0};
	struct error e;

	if (is_id(id) && approve_find(q, id, &a, &x, &e) == 0) {
		if (approve_record_question(q, "withdrawn", &x, &e) < 0)
			log_warn("%s: %s", id, e.text);
		unlinkat(q->dfd, id, 0);
	}
	arena_free(&a);
}

/* ---- in a client's hands ---- */

static int key_read(struct approve_queue *q, unsigned char ret[KEY_SIZE], struct arena *a,
		    struct error *e)
{
	size_t len = 0;
	char *text = approve_read(q, "key", KEY_SIZE, a, &len);

	if (text && len == KEY_SIZE) {
		memcpy(ret, text, KEY_SIZE);
		return 0;
	}
	if (getrandom(ret, KEY_SIZE, 0) != KEY_SIZE)
		return err_sys(e, "make a key");
	return approve_write(q, "key", ret, KEY_SIZE, e);
}

/* HMAC-SHA-256 (RFC 2104) of the id and the digest. */
static void seal_make(const unsigned char key[KEY_SIZE], const char *id, const char *digest,
		      char ret[SHA256_HEX_SIZE])
{
	unsigned char pad[SHA256_BLOCK], inner[SHA256_BYTES], outer[SHA256_BYTES];
	struct sha256 s;
	size_t i;

	for (i = 0; i < SHA256_BLOCK; i++)
		pad[i] = (unsigned char)((i < KEY_SIZE ? key[i] : 0) ^ 0x36);
	sha256_begin(&s);
	sha256_add(&s, pad, sizeof(pad));
	sha256_add(&s, id, strlen(id) + 1);
	sha256_add(&s, digest, strlen(digest));
	sha256_end(&s, inner);
	for (i = 0; i < SHA256_BLOCK; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	sha256_begin(&s);
	sha256_add(&s, pad, sizeof(pad));
	sha256_add(&s, inner, sizeof(inner));
	sha256_end(&s, outer);
	sha256_to_hex(outer, ret);
}

int approve_seal(struct approve_queue *q, const char *id, const char *digest, struct arena *a,
		 const char **ret, struct error *e)
{
	unsigned char key[KEY_SIZE];
	char seal[SHA256_HEX_SIZE];

	if (key_read(q, key, a, e) < 0)
		return -1;
	seal_make(key, id, digest, seal);
	*ret = arena_printf(a, "%s.%s", id, seal);
	return 0;
}

const char *approve_unseal(struct approve_queue *q, const char *text, const char *digest,
			   struct arena *a)
{
	unsigned char key[KEY_SIZE], differs = 0;
	char seal[SHA256_HEX_SIZE], *id;
	struct error ignored;
	size_t i;

	if (strlen(text) != APPROVE_ID_SIZE - 1 + 1 + SHA256_HEX_SIZE - 1 ||
	    text[APPROVE_ID_SIZE - 1] != '.')
		return NULL;
	id = arena_strndup(a, text, APPROVE_ID_SIZE - 1);
	if (!is_id(id) || key_read(q, key, a, &ignored) < 0)
		return NULL;
	seal_make(key, id, digest, seal);
	for (i = 0; i < SHA256_HEX_SIZE; i++)
		differs |= (unsigned char)(seal[i] ^ text[APPROVE_ID_SIZE + i]);
	return differs ? NULL : id;
}
