/* Verbs of box that have a file of their own. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "cli/cli.h"

struct noted;
struct sandbox;
struct box_request;
struct box_result;
struct sandbox_event;

/* Notes what was done in a box. */
void box_log(const struct cli *c, const struct sandbox *s, const struct sandbox_event *ev);

/* A box that isn't there is a result, too, for who asked for one. */
struct box_result;
void box_call_explain(struct box_result *r, const char *id, const struct error *e, struct arena *a);
/* Prints notes as warnings, or as the end of an object. */
void box_show_notes(const struct noted *notes);
void box_write_notes(const struct noted *notes, struct buf *b);
int box_create_show(const struct cli *c, const char *id, const struct noted *notes,
		    struct error *e);

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
