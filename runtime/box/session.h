/*
 * Sessions: interpreters that stay between the calls of a box (sandbox.h), so that variables do.
 *
 * Processes. A session is a call that does not end: a reaper of its own in the box, and the
 * interpreter, which runs a driver of ours (drivers/). Its keeper is outside: a small process of
 * the caller's that stays, the reaper's parent. It holds what the session is reached by: the
 * driver's socket, the pipes of its output, the reaper's socket, the listener of its filter. Nobody
 * in the box can ask it for anything, for it reads nothing from there. Callers find it by a socket
 * in the directory of the box's record, and get copies of all these for one call; so it is the
 * caller who reads what the interpreter says, watches its time and answers its denials. Between
 * calls the keeper answers those.
 *
 * Calls. They hold the lock of the box, as all do: sessions of one box take turns, with each other
 * and with other calls. How other calls leave sessions alone is in sandbox.h.
 *
 *	caller ── "take" ─────────────────────► keeper      (ROOT/box-ID/session-NAME)
 *	       ◄─ session_hello, descriptors ──
 *	       ── "ID LENGTH\n", code ────────► driver      (its standard input)
 *	       ◄─ lines of JSON ───────────────             (session_frame.h)
 *	       ── "left" ─────────────────────► keeper
 *
 * After SIGKILL of …
 *	the caller: the keeper ends the session, for nobody knows what it was doing
 *	the keeper: the reaper reads the end of its socket, and takes the session along; a call that
 *		runs gets its result and hears that the session has ended
 *	the reaper: the keeper ends; the interpreter is an orphan, which the next call ends with all
 *		that is in the box
 *	the interpreter: the reaper takes its own along, and says so
 *	the first process of the box, destroy: the kernel kills all in the box, and the keeper ends
 * A keeper's parent is the call that started it, and then the machine's first process, or whoever
 * has asked for orphans: as for each process that stays behind a command, which the box's first one
 * is, too. Where that one reaps nobody (a container of docker's without --init), the keeper that
 * has ended stays as a zombie, without memory or descriptors. No fork more or less changes whose
 * child an orphan is, and who is to outlive its caller is one.
 *
 * Trust: all that comes from the driver, for whatever runs in the interpreter can write it. What is
 * no frame, or one at the wrong time, ends the session. The keeper is of the caller's own user, in
 * a directory that nobody else can enter; that is looked at all the same.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "box/box.h"
#include "life/life.h"

struct sandbox;

#define SESSION_DEFAULT "default"
#define SESSION_PREFIX "session-" /* … NAME: the socket of its keeper */
#define SESSION_LOCK "sessions"	  /* each keeper holds a lock on it */

enum { SESSION_NAME_MAX = 32, SESSION_MOST = 8, SESSION_VERSION = 1 };

/* Which program runs a language's driver, and the driver. */
struct session_driver {
	const char *language; /* as box_language has it */
	const char *words[4]; /* a program that reads what follows from its standard input */
	const char *text;
};
const struct session_driver *session_driver_find(const struct box_language *l);

/* ---- what keeper and caller say ---- */

enum session_ask {
	SESSION_TAKE = 't',
	SESSION_LEFT = 'd', /* code has run … */
	SESSION_BACK = 'b', /* … and none has */
	SESSION_LOOK = 'l',
	SESSION_END = 'e',
};

struct session_hello {
	uint32_t version;
	uint32_t failed; /* it could not be started: an err_class, and the text is why */
	char text[1024];
	char language[24];
	uint32_t denials; /* enum box_denials */
	uint32_t cells;	  /* that were run in it */
	uint32_t
		judge_len; /* of the program that says what to answer; in a file that comes along */
	uint32_t answered; /* denials between calls */
	int64_t begun;	   /* sandbox_now() */
	int32_t pid;	   /* of the reaper */
};

/* The last that is said of a session. */
struct session_end {
	uint32_t collected; /* else nobody could be asked */
	struct life_end end;
};

/* ---- a session in the hands of a call ---- */

struct session {
	const char *name;
	int sock; /* of the keeper */
	int driver_fd, out_fd, err_fd, control_fd;
	int listener_fd, reaper_pidfd;
	struct session_hello hello;
	struct seccomp_program judge;
	bool is_new; /* this call has started it */
};
#define SESSION_NONE                                                                               \
	((struct session){.sock = -1,                                                              \
			  .driver_fd = -1,                                                         \
			  .out_fd = -1,                                                            \
			  .err_fd = -1,                                                            \
			  .control_fd = -1,                                                        \
			  .listener_fd = -1,                                                       \
			  .reaper_pidfd = -1})
void session_close(struct session *s);
#define auto_session __attribute__((cleanup(session_close)))

int session_check_name(const char *name, struct error *e);

/* Whether a box has any. One system call. */
bool session_is_any(const struct sandbox *box);

/* Takes one that is there. 1; 0: there is none (*ret_was: there was one that has ended); -1. The
 * box is locked. */
int session_take(const struct sandbox *box, const char *name, struct arena *a, struct session *ret,
		 bool *ret_was, struct error *e);

/* Starts one, and takes it. */
int session_start(const struct box_request *q, const char *name, struct arena *a,
		  struct session *ret, struct error *e);

/* The call is over, and the session stays. */
void session_leave(struct session *s, bool has_run);

/* Ends it, if it hasn't, and hears what became of it. */
void session_await_end(struct session *s, struct session_end *ret);

/* Whether what it had started has ended with it: its reaper sees to that, unless it was killed
 * itself, which a program in the box can do. */
bool session_has_ended_all(const struct session_end *end);

/* Ends one that is there. 1; 0: there is none; -1. */
int session_stop(struct sandbox *box, const char *name, struct arena *a, struct error *e);

struct session_view {
	const char *name;
	struct session_hello hello;
};
int session_list(const struct sandbox *box, struct arena *a, struct session_view **ret,
		 size_t *ret_n, struct error *e);
void session_write(const struct session_view *v, struct buf *b);

/* One call: q->code runs in the session; it is started where there is none. restart: one that is
 * there ends before. As box_do() otherwise. */
int session_run(const struct box_request *q, const char *name, bool restart, struct arena *a,
		struct box_result *ret, struct error *e);

/* ---- for session*.c ---- */

/* The keeper, in a process of its own: it does not return. sock: of the call that starts it. */
__attribute__((noreturn)) void session_keep(const struct box_request *q, const char *name,
					    int sock);

/* Names of the files. */
const char *session_file(const char *name, struct arena *a);
