/*
 * Asks a person before something is done, if he must be asked, and keeps his answer.
 *
 *	rules.c  how risky is it        show.c  what a model wrote, fit to be shown
 *	queue.c  questions and answers, on disk
 *	grants.c answers that stay        record.c  a line in the audit about each of them
 *
 * A question is bound to a digest of exactly what will run: the words of the command line and the
 * input. It is answered once, by whoever comes first (a client's user, a terminal, or
 * `sbxrun approve`), and an answer is used once. No answer is no.
 *
 * Trust: the queue belongs to a user, and whoever has this user's rights can answer, an agent with
 * a shell of its own too. Against such a one it is no boundary; the prompts say so.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "json/json.h"
#include "json/types.h"

#define APPROVE_FILE "/etc/sbxrun/approvals.json"

enum approve_risk { RISK_LOW, RISK_MEDIUM, RISK_HIGH, RISK_CRITICAL };
extern const struct json_word approve_risk_words[];
const char *approve_risk_word(enum approve_risk r);

/* The reach of an answer: this call, all of its box, or all until it is taken back. */
enum approve_scope { SCOPE_UNSAID, SCOPE_ONCE, SCOPE_BOX, SCOPE_ALWAYS };
extern const struct json_word approve_scope_words[];
const char *approve_scope_word(enum approve_scope s);

/* Boxes that sbxrun mcp has made are called so. */
#define APPROVE_OWN_BOX "mcp-"

/* ---- rules ---- */

struct approve_rules;

/* The administrator's file and another one (NULL: none). One that can't be read or understood is an
 * error. */
int approve_rules_read(const char *file, struct arena *a, const struct approve_rules **ret,
		       struct error *e);

/* Pure. `name` is what errors say. Adds to what is there (NULL: nothing). */
int approve_rules_parse(const char *name, const char *text, size_t len,
			const struct approve_rules *before, struct arena *a,
			const struct approve_rules **ret, struct error *e);

struct approve_judgement {
	enum approve_risk risk;
	uint32_t timeout_s; /* how long a person has */
	const char *why;
	bool denied; /* nobody is asked */
	enum approve_scope most; /* that an answer may be good for */
};

/* Parameters of a call. But for the first ones a key may be there several times. Trust: they are a
 * model's. */
struct approve_call {
	struct pairs used;    /* as they will be used */
	struct pairs written; /* … and as they were given, lists also one by one */
	/* … and what means the same, for `equals` alone: a pattern for all but "python" would find
	 * "py" here. */
	struct pairs equal;
};

/* The highest of what the rules of each file say of what is used, else what is built in. In the
 * other spellings any one makes a rule fit that denies or raises; none makes a call less risky. */
struct approve_judgement approve_judge(const struct approve_rules *r, const char *tool,
				       const struct approve_call *c);

/* ---- showing ---- */

/* Lines that begin with "| ", without control, bidi and zero-width characters, shortened. How many
 * bytes of the text are not shown. */
size_t approve_show(struct buf *b, const char *text, size_t most);

/* ---- questions ---- */

enum {
	APPROVE_ID_SIZE = 3 + 32 + 1,
	APPROVE_PENDING_MAX = 16,
	APPROVE_RATE = 20,
	APPROVE_RATE_S = 60,
	APPROVE_GOOD_S = 300, /* so long an answer can be used */
	APPROVE_GRANT_SIZE = 3 + 32 + 1,
};

struct approve_question {
	uint32_t version;
	char *id;
	char *tool;
	char *box; /* NULL: none */
	enum approve_risk risk;
	char *why;
	char *shown; /* what will run, as it came */
	char *digest;
	char *boot;	      /* whose clock the moments are of */
	int64_t asked, until; /* seconds of CLOCK_BOOTTIME */
	uint32_t uid;
	char *status; /* asked, yes, no */
	enum approve_scope most;  /* that the answer may be good for … */
	enum approve_scope scope; /* … and that it is */
	char *by; /* who answered, and how */
	const char *channel, *client; /* by which it is asked, for whom; known while it is asked */
};

/* The questions of a state root. What happens to them has a line in each of the files before it
 * happens: what can't be recorded is not done. */
struct approve_queue {
	const char *root;
	const struct strings *audits; /* NULL: none */
	int dfd;
	int lock_fd;
};
#define APPROVE_QUEUE_NONE ((struct approve_queue){.dfd = -1, .lock_fd = -1})
void approve_queue_close(struct approve_queue *q);
#define autoqueue __attribute__((cleanup(approve_queue_close)))

/* Opened and locked; not if somebody else keeps it locked for seconds. make: also if there is none
 * yet. ERR_NOT_FOUND: there is none. */
int approve_queue_open(const char *root, const struct strings *audits, bool make,
		       struct approve_queue *ret, struct error *e);

/* Writes a question; its id, boot, moments and status are filled in. */
int approve_ask(struct approve_queue *q, struct approve_question *x, uint32_t timeout_s,
		struct arena *a, struct error *e);

/* ERR_NOT_FOUND: there is none of that id, or its time is over. */
int approve_find(struct approve_queue *q, const char *id, struct arena *a,
		 struct approve_question *ret, struct error *e);
int approve_list(struct approve_queue *q, struct arena *a, struct approve_question **ret,
		 size_t *ret_n, struct error *e);

/* Only what was asked and not answered. *ret is the question with its answer. */
int approve_answer(struct approve_queue *q, const char *id, bool yes, enum approve_scope scope,
		   const char *by, struct arena *a, struct approve_question *ret,
		   struct error *e);

/* Whether it may be answered for good. */
bool approve_may_always(const struct approve_question *x);

/* Uses an answer: once, and only for what was asked. 0: yes, and *ret says by whom. */
int approve_take(struct approve_queue *q, const char *id, const char *digest, struct arena *a,
		 struct approve_question *ret, struct error *e);

/* Removes it, if it is there. That one can't be recorded is a warning: nothing is gained by it. */
void approve_forget(struct approve_queue *q, const char *id);

/* ---- answers that stay ---- */

struct approve_grant {
	uint32_t version;
	char *id;
	char *tool;
	char *box;  /* NULL: each that sbxrun mcp makes or has made */
	char *born; /* when this box was made: the grant ends with it */
	enum approve_risk risk; /* up to this one */
	char *by;
	char *since; /* for people */
};

/* Keeps what an answer was good for besides the call itself. */
int approve_grant(struct approve_queue *q, const struct approve_question *x, struct arena *a,
		  struct error *e);

/* box NULL: one that is still to be made. The scope that grants it, or SCOPE_UNSAID. */
enum approve_scope approve_is_granted(struct approve_queue *q, const char *tool, const char *box,
				      const struct approve_judgement *j, struct arena *a);

/* Those whose box is gone are removed, and not listed. */
int approve_grants(struct approve_queue *q, struct arena *a, struct approve_grant **ret,
		   size_t *ret_n, struct error *e);
int approve_take_back(struct approve_queue *q, const char *id, struct arena *a, struct error *e);

/* ---- lines of the audit (record.c) ---- */

/* what: asked, yes, no, expired (nobody answered, or nobody used the answer), withdrawn (nobody
 * waits for it). */
int approve_record_question(const struct approve_queue *q, const char *what,
			    const struct approve_question *x, struct error *e);

/* what: granted, revoked, ended (with its box). */
int approve_record_grant(const struct approve_queue *q, const char *what,
			 const struct approve_grant *g, const struct approve_question *x,
			 struct error *e);

/* ---- for grants.c ---- */

char *approve_read(const struct approve_queue *q, const char *name, size_t most, struct arena *a,
		   size_t *ret_len);
int approve_write(const struct approve_queue *q, const char *name, const void *p, size_t len,
		  struct error *e);

/* ---- a question in a client's hands ---- */

/* A text that a client gives back with the answer: it can't be made up, or changed. */
int approve_seal(struct approve_queue *q, const char *id, const char *digest, struct arena *a,
		 const char **ret, struct error *e);

/* The id, if the text is one that we made for this digest; NULL: it isn't. */
const char *approve_unseal(struct approve_queue *q, const char *text, const char *digest,
			   struct arena *a);

/* The whole prompt. terminal: with what can be typed, and a word on what its rows (0: nobody knows)
 * don't hold. */
void approve_prompt(const struct approve_question *x, bool terminal, unsigned int rows,
		    size_t most, struct buf *b);
