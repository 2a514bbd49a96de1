/*
 * Lines in the files of the audit: each question, how it was answered, by whom and for how long, or
 * that nobody did; each answer that stays, and its end. They are written under the queue's lock,
 * before what they tell of: SIGKILL in between leaves a line of what did not happen, and never an
 * answer without a line. What an answer was used for is in the line of the call (mcp/consent.c).
 *
 * Trust: a tool and a box are a model's words, a client's name is the client's; who writes the line
 * escapes them.
 */
#include <unistd.h>

#include "approve/approve.h"
#include "base/log.h"
#include "base/str.h"
#include "box/audit.h"

enum { WORDS_MAX = 10 };

struct words {
	struct arena *a;
	char *v[WORDS_MAX];
	size_t n;
};

static void word_add(struct words *w, const char *key, const char *value)
{
	if (value && w->n < WORDS_MAX)
		w->v[w->n++] = arena_printf(w->a, "%s=%s", key, value);
}

static int record(const struct approve_queue *q, const char *what, const char *box,
		  const char *digest, struct words *w, struct error *e)
{
	const struct audit_entry line = {
		.uid = getuid(),
		.verb = arena_printf(w->a, "approve %s", what),
		.id = box,
		.code_sha256 = digest,
		.status = "ok",
		.args = {.n = w->n, .v = w->v},
	};
	const char *found;
	size_t i;

	for (i = 0; q->audits && i < q->audits->n; i++) {
		const struct audit_place place = {.path = q->audits->v[i]};

		found = NULL;
		if (audit_append(&place, &line, w->a, &found, e) < 0)
			return err_wrap(e, "the audit %s has no line about it, so it is not done",
					place.path);
		if (found)
			log_warn("%s: %s", place.path, found);
	}
	return 0;
}

int approve_record_question(const struct approve_queue *q, const char *what,
			    const struct approve_question *x, struct error *e)
{
	const bool is_over = str_eq(what, "expired") || str_eq(what, "withdrawn");
	struct arena a = {0};
	struct words w = {.a = &a};
	int result;

	word_add(&w, "question", x->id);
	word_add(&w, "tool", x->tool);
	word_add(&w, "risk", x->tool ? approve_risk_word(x->risk) : NULL);
	word_add(&w, "channel", x->channel);
	word_add(&w, "client", x->client);
	if (str_eq(what, "asked"))
		word_add(&w, "seconds", arena_printf(&a, "%lld", (long long)(x->until - x->asked)));
	if (str_eq(what, "yes"))
		word_add(&w, "scope", approve_scope_word(x->scope));
	word_add(&w, "was", is_over ? x->status : NULL);
	word_add(&w, "by", x->by);
	result = record(q, what, x->box, x->digest, &w, e);
	arena_free(&a);
	return result;
}

int approve_record_grant(const struct approve_queue *q, const char *what,
			 const struct approve_grant *g, const struct approve_question *x,
			 struct error *e)
{
	struct arena a = {0};
	struct words w = {.a = &a};
	int result;

	word_add(&w, "grant", g->id);
	word_add(&w, "question", x ? x->id : NULL);
	word_add(&w, "tool", g->tool);
	if (g->tool) {
		word_add(&w, "risk", approve_risk_word(g->risk));
		word_add(&w, "scope", approve_scope_word(g->box ? SCOPE_BOX : SCOPE_ALWAYS));
	}
	word_add(&w, "by", g->by);
	result = record(q, what, g->box, x ? x->digest : NULL, &w, e);
	arena_free(&a);
	return result;
}
