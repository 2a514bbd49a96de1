/* A run of a box, in the hands of its three files: launch.c makes it, attend.c is there while it
 * runs, judge.c says what became of it; run.c has them in order. Inside box/ only. */
#pragma once

#include "box/box.h"
#include "box/denials.h"
#include "box/disk.h"
#include "box/input.h"
#include "box/later.h"
#include "box/network.h"
#include "box/redact.h"
#include "box/resolver.h"
#include "box/stream.h"
#include "box/workspace.h"
#include "life/life.h"
#include "reaper/order.h"
#include "sys/terminal.h"

enum { RUN_TEXT_MAX = 4 << 20 };

enum phase {
	RUNS,
	TOLD,	/* to end, by a signal that it may handle */
	ENDING, /* its reaper kills it */
	KILLED,
};

/* The state of one run. */
struct running {
	const struct box_request *q;
	struct arena *a;
	struct box_result *r;
	struct box_root root;
	struct cgroup_boxes boxes;
	struct created box;
	bool is_made;
	int pipes[3][2]; /* of the program's three streams: its end, ours */
	int control[2];	 /* of the reaper: its end, ours */
	struct loop loop;
	struct loop_signals signals;
	struct outlet outlets[2], orders;
	struct denials denials;
	struct resolver resolver;
	struct network network;
	struct stream streams[2];
	struct input input;
	int input_at; /* where the program reads it */
	struct terminal terminal;
	int console[2]; /* where its master comes from: init's end, ours */
	struct redact *redact;
	struct workspace workspace;
	struct later later; /* before anything ran */
	struct disk disk;
	struct reaper_word last; /* how the program ended, or why it never began */
	enum phase phase;
	int64_t begun, started, kill_at, cpu_look;
	bool has_ended;
	bool is_collected;
	struct life_end end;
	struct cell *cell; /* of a session (session_cell.c); NULL: a program of its own */
	int warm_sock; /* of who holds the box, which was warm (pool.h); -1: it is ours */
};

/* A run of which nothing has happened yet, and what its result says at first. */
void run_begin(struct running *x, const struct box_request *q, struct arena *a,
	       struct box_result *ret);

/* Before the program runs: who reads along learns then what can't be had, and all do by the
 * result. */
void run_note(struct running *x, const char *text);

/* Joins the network of a box that stays for the time of a call; tells what it has carried. */
int run_join_network(struct running *x, struct error *e);
void run_tell_network(struct running *x);

/* The root, and what follows from it: the profile, and rules that name its registries. */
int run_find_root(struct running *x, struct box_request *own, struct error *e);

/* The rules of redaction, if it is asked for. */
int run_read_rules(struct running *x, struct error *e);

/* Pipes and sockets, before anything is made. */
int run_open_pipes(struct running *x, struct error *e);

/* A workspace that is too large for memory; own is the request that is carried out. */
int run_make_disk(struct running *x, struct box_request *own, struct error *e);

/* The container, up to a reaper that waits for its orders; or one's own reaper in a box that is
 * there already. */
int run_create(struct running *x, struct error *e);
int run_join(struct running *x, struct error *e);

/* Whether memory must not be both written and executed. */
bool run_denies_write_execute(const struct running *x);

/* Sends the orders, and is there until the program has ended and its output is passed on. */
void run_set_up_loop(struct running *x);
void run_send_order(struct running *x);
void run_attend(struct running *x);

/* Of our own, as far as they have come: who gets one ends his box, or what he does after it. */
void run_take_signals(struct running *x);

/* Its pieces, for who attends otherwise: before a round; after it; when the next one is due; all
 * that is in the pipes, at the end. */
void run_settle(struct running *x);
void run_look_at_clock(struct running *x);
int64_t run_next_moment(const struct running *x);
void run_drain(struct running *x);
void run_kill(struct running *x);

/* Adds a session's part to the loop. */
void session_cell_add(struct running *x);

/* Why a box that was made never had a program. Returns -1. */
int run_explain_start(const struct running *x, struct error *e);

/* Fills the result after the end. */
void run_judge(struct running *x, const struct life_end *end);
void run_keep_output(struct running *x);
void run_tell_limits(struct running *x);
void run_note_lost(struct running *x);
void run_note_missing(struct running *x);
void run_count_redactions(struct running *x);
void run_fail(struct box_result *r, const char *type, const char *text);
const char *run_seconds(int64_t ns, struct arena *a);
