/* Verbs of box that have a file of their own. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "cli/cli.h"

struct noted;
struct sandbox;
struct box_request;
struct box_result;
struct sandbox_event;

/* ---- what is recorded of a verb, and when it is answered (box_audit.c) ---- */

struct box_swept {
	char *id, *why;
};

struct box_deed {
	const char *verb;
	const char *id;	      /* of the box; NULL: it is about none, or none was made */
	const char *made;     /* the box that is new */
	const char *path;     /* of a file, for the answer */
	struct strings files; /* of the audit; none: nothing is recorded */
	struct strings words; /* what was asked */
	const char *language, *rootfs, *limits; /* of a box that is new */
	char content_sha256[SHA256_HEX_SIZE];
	size_t content_bytes;
	size_t n_swept;
	struct box_swept *swept;
	bool is_recorded; /* by the verb itself … */
	bool is_shown;	  /* … and answered */
	bool has_answer;
	struct buf answer;
};

/* has_box: the first word behind the verb is a box's id. */
int box_deed_begin(struct cli *c, const char *verb, bool has_box, const struct cli_option *options,
		   size_t n_options, struct error *e);
/* Records it, with what was swept meanwhile; `result` and *e are those of the deed, and what comes
 * back is those, or a failure to record it. */
int box_deed_end(struct cli *c, int result, struct error *e);

/* Prints the answer when it is recorded, in place of cli_print(). */
void box_answer(struct cli *c, const struct buf *b);
/* Notes for the record a box that was made, and what was written or read. */
void box_deed_made(struct cli *c, const struct sandbox *s);
void box_deed_content(struct cli *c, const char *data, size_t len);

/* A failure as an object, and a name as its members: bytes that are no text can't be told from
 * others in JSON. */
void box_failure_write(const struct cli *c, const struct error *e, struct buf *b);
void box_write_name(const char *key, const char *name, struct buf *b);

/* Notes what was done in a box. */
void box_log(const struct cli *c, const struct sandbox *s, const struct sandbox_event *ev);

/* A box that isn't there is a result, too, for who asked for one. */
struct box_result;
void box_call_explain(struct box_result *r, const char *id, const struct error *e, struct arena *a);
/* Prints notes as warnings, or as the end of an object. */
void box_show_notes(const struct noted *notes);
void box_write_notes(const struct noted *notes, struct buf *b);
int box_create_show(struct cli *c, const char *id, const struct noted *notes, struct error *e);

int box_diff(struct cli *c, const char *id, struct error *e);
int box_snapshot(struct cli *c, const char *id, struct error *e);
int box_snapshots(struct cli *c, const char *none, struct error *e);
int box_fork(struct cli *c, const char *from, struct error *e);

/* Makes the request of a call one of a session, or refuses what sessions do not have. */
int session_request(struct cli *c, bool is_command, struct box_request *q, struct error *e);

/* For people: what the code came to. */
int session_show(const struct cli *c, const struct box_result *r, struct error *e);
int box_list_sessions(struct cli *c, const char *id, struct error *e);
int box_end_session(struct cli *c, const char *id, struct error *e);

int box_write_file(struct cli *c, const char *id, struct error *e);
int box_read_file(struct cli *c, const char *id, struct error *e);
int box_list_files(struct cli *c, const char *id, struct error *e);
int box_stat_file(struct cli *c, const char *id, struct error *e);
int box_remove_file(struct cli *c, const char *id, struct error *e);

int box_allow(struct cli *c, const char *id, struct error *e);
int box_deny(struct cli *c, const char *id, struct error *e);
int box_rules(struct cli *c, const char *id, struct error *e);

int box_install(struct cli *c, const char *id, struct error *e);
