/* The calls. A unit's job may have ended before the call that queued it is answered: ends of jobs
 * are noted from the moment the call is sent. */
#include "cgroup/systemd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "sys/loop.h"

#define ROOT "/org/freedesktop/systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"

/* Errors that mean something to us. */
#define UNIT_EXISTS "org.freedesktop.systemd1.UnitExists"
#define NO_SUCH_UNIT "org.freedesktop.systemd1.NoSuchUnit"
#define UNKNOWN_PROPERTY "org.freedesktop.DBus.Error.PropertyReadOnly"

enum {
	UNIT_NAME_MAX = 255,
	TRIES_MAX = 32,
	ENDING_MS = 2000, /* for a unit whose container is gone to follow it */
	ENDING_LOOK_US = 2000,
};

/* ---- bodies ---- */

static void put_texts(struct buf *b, const struct strings *texts)
{
	const struct dbus_array array = dbus_array_begin(b, 4);
	size_t i;

	for (i = 0; i < texts->n; i++)
		dbus_put_string(b, texts->v[i]);
	dbus_array_end(b, array);
}

static void put_pairs(struct buf *b, const struct unit_property *p)
{
	const struct dbus_array array = dbus_array_begin(b, 8);
	size_t i;

	for (i = 0; i < p->pairs.n; i++) {
		dbus_put_struct(b);
		dbus_put_string(b, p->pairs.v[i].name);
		if (p->type == UNIT_WEIGHTS)
			dbus_put_u64(b, p->pairs.v[i].number);
		else
			dbus_put_string(b, p->pairs.v[i].text);
	}
	dbus_array_end(b, array);
}

static void put_bytes(struct buf *b, const uint8_t *v, size_t n)
{
	const struct dbus_array array = dbus_array_begin(b, 1);

	if (n)
		buf_add(b, v, n);
	dbus_array_end(b, array);
}

static void put_property(struct buf *b, const struct unit_property *p)
{
	static const char *const types[] = {
		[UNIT_BOOL] = "b",	  [UNIT_TEXT] = "s",   [UNIT_NUMBER] = "t",
		[UNIT_BYTES] = "ay",	  [UNIT_TEXTS] = "as", [UNIT_PAIRS] = "a(ss)",
		[UNIT_WEIGHTS] = "a(st)", [UNIT_SIGNED] = "i",
	};

	dbus_put_struct(b);
	dbus_put_string(b, p->name);
	dbus_put_signature(b, types[p->type]);
	switch (p->type) {
	case UNIT_BOOL:
		dbus_put_u32(b, p->yes);
		break;
	case UNIT_TEXT:
		dbus_put_string(b, p->text);
		break;
	case UNIT_NUMBER:
		dbus_put_u64(b, p->number);
		break;
	case UNIT_SIGNED:
		dbus_put_u32(b, (uint32_t)p->number);
		break;
	case UNIT_BYTES:
		put_bytes(b, p->bytes.v, p->bytes.n);
		break;
	case UNIT_TEXTS:
		put_texts(b, &p->texts);
		break;
	case UNIT_PAIRS:
	case UNIT_WEIGHTS:
		put_pairs(b, p);
		break;
	}
}

/* The unit's process: an array of u. */
static void put_process(struct buf *b, pid_t pid)
{
	struct dbus_array array;

	dbus_put_struct(b);
	dbus_put_string(b, "PIDs");
	dbus_put_signature(b, "au");
	array = dbus_array_begin(b, 4);
	dbus_put_u32(b, (uint32_t)pid);
	dbus_array_end(b, array);
}

static void put_properties(struct buf *b, const struct unit_properties *p, pid_t pid)
{
	const struct dbus_array array = dbus_array_begin(b, 8);
	size_t i;

	for (i = 0; i < p->n; i++)
		put_property(b, &p->v[i]);
	if (pid)
		put_process(b, pid);
	dbus_array_end(b, array);
}

/* D-Bus carries UTF-8 alone, and a peer that gets something else hangs up without a word. */
static bool is_sendable(const struct unit_property *p)
{
	size_t i;

	switch (p->type) {
	case UNIT_TEXT:
		return str_is_utf8(p->text);
	case UNIT_TEXTS:
		for (i = 0; i < p->texts.n; i++)
			if (!str_is_utf8(p->texts.v[i]))
				return false;
		return true;
	case UNIT_PAIRS:
	case UNIT_WEIGHTS:
		for (i = 0; i < p->pairs.n; i++)
			if (!str_is_utf8(p->pairs.v[i].name) ||
			    (p->type == UNIT_PAIRS && !str_is_utf8(p->pairs.v[i].text)))
				return false;
		return true;
	default:
		return true;
	}
}

static int check_properties(const struct unit_properties *p, struct error *e)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!is_sendable(&p->v[i]))
			return err_set(e, ERR_CONFIG, "%s: not UTF-8",
				       p->v[i].field ? p->v[i].field : p->v[i].name);
	return 0;
}

static int check_unit_name(const char *unit, struct error *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789:_.\\@-";
	const size_t len = strlen(unit);

	if (!len || len > UNIT_NAME_MAX || strspn(unit, allowed) != len)
		return err_set(e, ERR_CONFIG,
			       "%s: not the name of a unit of systemd: up to %d letters, digits "
			       "and any of :_.\\@-",
			       dbus_show(unit).text, UNIT_NAME_MAX);
	return 0;
}

/* ---- jobs that have ended ---- */

struct job_end {
	char job[128]; /* its path */
	char result[32];
};

/* The last ones of one unit: others than ours may end while we wait. */
struct job_ends {
	const char *unit;
	size_t n;
	struct job_end v[8];
};

/* JobRemoved(number, job, unit, result) */
static void job_ends_hear(void *context, const struct dbus_message *m)
{
	struct dbus_reader r = dbus_body(m);
	struct job_ends *ends = context;
	const char *job, *unit, *result;
	struct job_end *end;
	uint32_t number;

	if (m->type != DBUS_SIGNAL || !str_eq(m->member, "JobRemoved") ||
	    !str_eq(m->interface, MANAGER) || !str_eq(m->path, ROOT) ||
	    !str_eq(m->signature, "uoss") || !dbus_get_u32(&r, &number) ||
	    !dbus_get_string(&r, &job) || !dbus_get_string(&r, &unit) ||
	    !dbus_get_string(&r, &result) || !dbus_at_end(&r) || !str_eq(unit, ends->unit) ||
	    strlen(job) >= sizeof(end->job) || strlen(result) >= sizeof(end->result))
		return;
	end = &ends->v[ends->n++ % ARRAY_SIZE(ends->v)];
	memcpy(end->job, job, strlen(job) + 1);
	memcpy(end->result, result, strlen(result) + 1);
}

static const struct job_end *job_ends_find(const struct job_ends *ends, const char *job)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends->v); i++)
		if (ends->v[i].job[0] && str_eq(ends->v[i].job, job))
			return &ends->v[i];
	return NULL;
}

/* ---- calls ---- */

/* A call in the making, and its answer. */
struct ask {
	struct systemd *systemd;
	const char *member;
	const char *unit; /* NULL: the manager itself */
	const char *path; /* of the object that is asked; NULL: the manager's */
	struct arena arena;
	struct buf body;
	struct job_ends ends;
	struct dbus_message answer; /* good until the next call */
};

static struct ask ask_begin(struct systemd *s, const char *member, const char *unit)
{
	return (struct ask){.systemd = s, .member = member, .unit = unit, .ends = {.unit = unit}};
}

/* The buffer for the next try, empty. */
static struct buf *ask_body(struct ask *q)
{
	arena_free(&q->arena);
	q->body = buf_new(&q->arena, DBUS_BODY_MAX);
	return &q->body;
}

static void ask_end(struct ask *q)
{
	arena_free(&q->arena);
}

static const char *ctl(const struct ask *q)
{
	return q->systemd->manager == SYSTEMD_OF_USER ? "systemctl --user" : "systemctl";
}

/* Names the call that failed. */
static int ask_failed(const struct ask *q, struct error *e)
{
	if (e->sys == ETIMEDOUT) {
		const size_t len = strlen(e->text);

		snprintf(e->text + len, sizeof(e->text) - len,
			 ": it is busy or stuck, see %s list-jobs", ctl(q));
	}
	return err_wrap(e, "systemd: %s%s%s", q->member, q->unit ? " of " : "",
			q->unit ? q->unit : "");
}

static struct dbus_message ask_message(const struct ask *q, const char *interface,
				       const char *signature)
{
	return (struct dbus_message){.path = q->path ? q->path : ROOT,
				     .interface = interface,
				     .member = q->member,
				     .signature = signature,
				     .body = q->body.data,
				     .body_len = q->body.len};
}

/* 0 also when the answer is an error. */
static int ask_send(struct ask *q, const char *interface, const char *signature, struct error *e)
{
	const struct dbus_message m = ask_message(q, interface, signature);

	if (q->body.overflow)
		err_set(e, ERR_CONFIG, "the call is larger than %d bytes", DBUS_BODY_MAX);
	else if (dbus_call(&q->systemd->bus, m, q->unit ? job_ends_hear : NULL, &q->ends,
			   &q->answer, e) == 0)
		return 0;
	return ask_failed(q, e);
}

static bool answer_is(const struct ask *q, const char *error_name)
{
	return q->answer.type == DBUS_ERROR && str_eq(q->answer.error_name, error_name);
}

/* The text of an answer that is an error. */
static const char *answer_text(const struct ask *q)
{
	struct dbus_reader r = dbus_body(&q->answer);
	const char *text;

	return q->answer.signature[0] == 's' && dbus_get_string(&r, &text) ? text : "";
}

/* 0, or -1 when the answer is an error. */
static int ask_check(const struct ask *q, struct error *e)
{
	if (q->answer.type != DBUS_ERROR)
		return 0;
	err_set(e, ERR_SYSTEM, "it refused: %s (%s)", dbus_show(answer_text(q)).text,
		dbus_show(q->answer.error_name).text);
	return ask_failed(q, e);
}

static int ask_misunderstood(const struct ask *q, struct error *e)
{
	err_set(e, ERR_SYSTEM, "its answer is not what this call is answered with");
	return ask_failed(q, e);
}

static int ask_for_signals(struct systemd *s, const char *unit, struct error *e)
{
	char rule[UNIT_NAME_MAX + 256];

	snprintf(rule, sizeof(rule),
		 "type='signal',sender='org.freedesktop.systemd1',interface='" MANAGER
		 "',path='" ROOT "',member='JobRemoved',arg2='%s'",
		 unit);
	return dbus_match(&s->bus, rule, e) < 0 ? err_wrap(e, "systemd's bus") : 0;
}

/* Until the job that the answer names has ended well. */
static int ask_await_job(struct ask *q, struct error *e)
{
	struct dbus_reader r = dbus_body(&q->answer);
	const struct job_end *end;
	struct dbus_message m;
	char job[sizeof(end->job)];
	const char *path;

	if (!str_eq(q->answer.signature, "o") || !dbus_get_string(&r, &path) || !*path ||
	    strlen(path) >= sizeof(job))
		return ask_misunderstood(q, e);
	memcpy(job, path, strlen(path) + 1);
	while (!(end = job_ends_find(&q->ends, job))) {
		if (dbus_next(&q->systemd->bus, &m, e) < 0)
			return ask_failed(q, e);
		if (m.type == DBUS_SIGNAL)
			job_ends_hear(&q->ends, &m);
	}
	if (str_eq(end->result, "done"))
		return 0;
	err_set(e, ERR_SYSTEM, "the job ended as \"%s\": see %s status %s",
		dbus_show(end->result).text, ctl(q), q->unit);
	return ask_failed(q, e);
}

/* Forgets that the unit has failed. Its answer says nothing that we could act on. */
static int reset_unit(struct systemd *s, const char *unit, struct error *e)
{
	struct ask q = ask_begin(s, "ResetFailedUnit", unit);
	int result;

	dbus_put_string(ask_body(&q), unit);
	result = ask_send(&q, MANAGER, "s", e);
	ask_end(&q);
	return result;
}

static void put_stop(struct buf *b, const char *unit)
{
	dbus_put_string(b, unit);
	dbus_put_string(b, "replace");
}

/* Ends a unit that we had begun, and waits for nothing. */
static void stop_unseen(struct systemd *s, const char *unit)
{
	struct arena a = {0};
	struct buf b = buf_new(&a, DBUS_BODY_MAX);

	put_stop(&b, unit);
	dbus_tell(&s->bus, (struct dbus_message){.path = ROOT,
						 .interface = MANAGER,
						 .member = "StopUnit",
						 .signature = "ss",
						 .body = b.data,
						 .body_len = b.len});
	arena_free(&a);
}

/* ---- properties that this systemd doesn't know ---- */

/* Whether the name is a word of the text. */
static bool names(const char *text, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len;

	for (; *text; text += len) {
		text += strcspn(text, letters);
		len = strspn(text, letters);
		if (len && strlen(name) == len && strncmp(text, name, len) == 0)
			return true;
	}
	return false;
}

/* Takes those that the answer names out of the list; the limits among them are written to the
 * cgroup's files as well. false: it names none, or one that a config chose, which is an error. */
static bool drop_unknown(const struct ask *q, struct unit_properties *p)
{
	const char *text = answer_text(q);
	const size_t before = p->n;
	size_t i, n = 0;

	for (i = 0; i < before; i++) {
		if (!p->v[i].chosen && names(text, p->v[i].name))
			log_info("systemd: unit %s is without %s, which this systemd doesn't know",
				 q->unit, p->v[i].name);
		else
			p->v[n++] = p->v[i];
	}
	p->n = n;
	return n < before;
}

static struct unit_properties copy_properties(const struct unit_properties *p, struct arena *a)
{
	struct unit_properties copy = {.n = p->n, .v = arena_array(a, p->n, struct unit_property)};

	if (p->n)
		memcpy(copy.v, p->v, p->n * sizeof(*p->v));
	return copy;
}

/* ---- units ---- */

/* Whose it is, its description says: a container's has the path of its record. */
static int start_refuse(struct ask *q, struct error *e)
{
	struct error ignored;
	struct arena a = {0};
	char *text;

	if (systemd_describe_unit(q->systemd, q->unit, &a, &text, &ignored) < 0)
		text = NULL;
	err_set(e, ERR_EXISTS,
		"linux.cgroupsPath: systemd has a unit %s already%s%s: choose another name, or delete "
		"that container first",
		q->unit, text ? ", which is " : "", text ? dbus_show(text).text : "");
	arena_free(&a);
	return -1;
}

static const char *description_of(const struct unit_properties *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->v[i].type == UNIT_TEXT && str_eq(p->v[i].name, "Description"))
			return p->v[i].text;
	return NULL;
}

/* The path of the container's record in the description of its unit; NULL: it has none. */
static const char *unit_record(const char *description)
{
	const char *claim = description ? str_after(description, SYSTEMD_CONTAINER) : NULL;
	const char *space = claim ? strchr(claim, ' ') : NULL;

	return space ? space + 1 : NULL;
}

/* The unit of a container that was deleted is let go by systemd in its own time (cgroup/scope.c).
 * Its name is free a moment later.
 *
 * Trust: anybody may have described the unit. At worst we wait in vain. */
static bool unit_is_ending(struct ask *q, const struct unit_properties *p)
{
	struct error ignored;
	struct arena a = {0};
	const char *record = NULL, *own = unit_record(description_of(p));
	bool ending = false;
	char *text;

	if (systemd_describe_unit(q->systemd, q->unit, &a, &text, &ignored) == 0) {
		ending = str_eq(text, q->unit); /* what systemd says of a unit that it has not */
		record = unit_record(text);
	}
	if (record) /* of the same id: it was there before us, and we have its place */
		ending = (own && str_eq(record, own)) ||
			 (access(record, F_OK) < 0 && errno == ENOENT);
	arena_free(&a);
	if (ending)
		usleep(ENDING_LOOK_US);
	return ending;
}

#define START_SIGNATURE "ssa(sv)a(sa(sv))"

static void put_start(struct ask *q, const struct unit_properties *p, pid_t pid)
{
	struct buf *b = ask_body(q);

	dbus_put_string(b, q->unit);
	dbus_put_string(b, "fail");
	put_properties(b, p, pid);
	dbus_array_end(b, dbus_array_begin(b, 8)); /* no other units with it */
}

/* The call, again without what it stumbles over. 0 when a job is queued. */
static int start_tries(struct ask *q, struct unit_properties *p, pid_t pid, struct error *e)
{
	const int64_t until = loop_now() + ENDING_MS * LOOP_SECOND / 1000;
	bool was_reset = false;
	int tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		put_start(q, p, pid);
		if (ask_send(q, MANAGER, START_SIGNATURE, e) < 0)
			return -1;
		if (answer_is(q, UNKNOWN_PROPERTY) && drop_unknown(q, p) && p->n)
			continue;
		if (!answer_is(q, UNIT_EXISTS))
			break;
		if (was_reset && loop_now() < until && unit_is_ending(q, p)) {
			tries--;
			continue;
		}
		if (was_reset)
			return start_refuse(q, e);
		was_reset = true;
		if (reset_unit(q->systemd, q->unit, e) < 0)
			return -1;
	}
	return ask_check(q, e);
}

int systemd_start_unit(struct systemd *s, const char *unit, const struct unit_properties *p,
		       pid_t pid, struct error *e)
{
	struct ask q = ask_begin(s, "StartTransientUnit", unit);
	struct arena a = {0};
	struct unit_properties left = copy_properties(p, &a);
	int result = -1;

	if (check_unit_name(unit, e) == 0 && check_properties(p, e) == 0 &&
	    ask_for_signals(s, unit, e) == 0 && start_tries(&q, &left, pid, e) == 0) {
		result = ask_await_job(&q, e);
		if (result < 0)
			stop_unseen(s, unit);
	}
	ask_end(&q);
	arena_free(&a);
	return result;
}

int systemd_open_and_start_at(enum systemd_manager m, const struct systemd_places *places,
			      int64_t until, const char *unit, const struct unit_properties *p,
			      pid_t pid, struct error *e)
{
	struct ask q = ask_begin(NULL, "StartTransientUnit", unit);
	struct dbus_first first = {0};
	struct systemd s;
	int rc = -1;

	if (check_unit_name(unit, e) < 0 || check_properties(p, e) < 0)
		return -1;
	put_start(&q, p, pid);
	if (!q.body.overflow)
		first.call = ask_message(&q, MANAGER, START_SIGNATURE);
	if (systemd_open_at(m, places, until, q.body.overflow ? NULL : &first, &s, e) == 0) {
		rc = systemd_start_unit(&s, unit, p, pid, e);
		systemd_close(&s);
	}
	ask_end(&q);
	return rc;
}

int systemd_open_and_start(enum systemd_manager m, int64_t until, const char *unit,
			   const struct unit_properties *p, pid_t pid, struct error *e)
{
	struct systemd_places places;
	struct arena a = {0};
	int rc;

	systemd_list_places(m, &a, &places);
	rc = systemd_open_and_start_at(m, &places, until, unit, p, pid, e);
	arena_free(&a);
	return rc;
}

static int stop_and_wait(struct ask *q, struct error *e)
{
	put_stop(ask_body(q), q->unit);
	if (ask_send(q, MANAGER, "ss", e) < 0)
		return -1;
	if (answer_is(q, NO_SUCH_UNIT))
		return 0;
	if (ask_check(q, e) < 0 || ask_await_job(q, e) < 0)
		return -1;
	return reset_unit(q->systemd, q->unit, e);
}

int systemd_stop_unit(struct systemd *s, const char *unit, struct error *e)
{
	struct ask q = ask_begin(s, "StopUnit", unit);
	int result = -1;

	if (check_unit_name(unit, e) == 0 && ask_for_signals(s, unit, e) == 0)
		result = stop_and_wait(&q, e);
	ask_end(&q);
	return result;
}

static int set_tries(struct ask *q, struct unit_properties *p, struct error *e)
{
	int tries;

	for (tries = 0; tries < TRIES_MAX && p->n; tries++) {
		struct buf *b = ask_body(q);

		dbus_put_string(b, q->unit);
		dbus_put_u32(b, true); /* until the next boot */
		put_properties(b, p, 0);
		if (ask_send(q, MANAGER, "sba(sv)", e) < 0)
			return -1;
		if (!answer_is(q, UNKNOWN_PROPERTY) || !drop_unknown(q, p))
			return ask_check(q, e);
	}
	return p->n ? ask_check(q, e) : 0;
}

int systemd_set_properties(struct systemd *s, const char *unit, const struct unit_properties *p,
			   struct error *e)
{
	struct ask q = ask_begin(s, "SetUnitProperties", unit);
	struct arena a = {0};
	struct unit_properties left = copy_properties(p, &a);
	int result = -1;

	if (check_unit_name(unit, e) == 0 && check_properties(p, e) == 0)
		result = set_tries(&q, &left, e);
	ask_end(&q);
	arena_free(&a);
	return result;
}

/* ---- the manager ---- */

static bool is_group_path(const char *s)
{
	const char *end;

	if (!dbus_can_be_shown(s) || strlen(s) >= 4096)
		return false;
	for (; *s == '/'; s = end) {
		end = s + 1 + strcspn(s + 1, "/");
		if (end == s + 1 || (end == s + 2 && s[1] == '.') ||
		    (end == s + 3 && s[1] == '.' && s[2] == '.'))
			return false;
	}
	return !*s;
}

/* A property that is a text. *ret: good until the next call. */
static int get_text(struct ask *q, const char *interface, const char *property, const char **ret,
		    struct error *e)
{
	struct buf *b = ask_body(q);
	struct dbus_reader r;
	const char *type;
	int result;

	dbus_put_string(b, interface);
	dbus_put_string(b, property);
	result = ask_send(q, "org.freedesktop.DBus.Properties", "ss", e) < 0 ? -1 : ask_check(q, e);
	ask_end(q);
	if (result < 0)
		return -1;
	r = dbus_body(&q->answer);
	if (!str_eq(q->answer.signature, "v") || !dbus_get_signature(&r, &type) ||
	    !str_eq(type, "s") || !dbus_get_string(&r, ret))
		return ask_misunderstood(q, e);
	return 0;
}

int systemd_control_group(struct systemd *s, struct arena *a, char **ret, struct error *e)
{
	struct ask q = ask_begin(s, "Get", NULL);
	const char *path;

	if (get_text(&q, MANAGER, "ControlGroup", &path, e) < 0)
		return -1;
	if (!str_eq(path, "/") && !is_group_path(path))
		return ask_misunderstood(&q, e);
	*ret = arena_strdup(a, str_eq(path, "/") ? "" : path);
	return 0;
}

/* Where a unit's object is: bytes that are no letters or digits as _XX. */
static const char *unit_path(const char *unit, struct arena *a)
{
	char *path = arena_array(a, strlen(ROOT "/unit/") + 3 * strlen(unit) + 1, char), *end;

	end = stpcpy(path, ROOT "/unit/");
	for (; *unit; unit++)
		end += sprintf(end, isalnum((unsigned char)*unit) ? "%c" : "_%02x",
			       (unsigned char)*unit);
	return path;
}

int systemd_describe_unit(struct systemd *s, const char *unit, struct arena *a, char **ret,
			  struct error *e)
{
	struct ask q = ask_begin(s, "Get", unit);
	const char *text;

	if (check_unit_name(unit, e) < 0)
		return -1;
	q.path = unit_path(unit, a);
	if (get_text(&q, "org.freedesktop.systemd1.Unit", "Description", &text, e) < 0)
		return -1;
	*ret = arena_strdup(a, text);
	return 0;
}
