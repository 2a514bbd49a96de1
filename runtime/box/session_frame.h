/*
 * Words of a session's driver: lines of JSON, one object each.
 *
 *	{"t":"result","id":N,"data":{MIME:TEXT}}	the value of the last expression
 *	{"t":"display","id":N,"data":{MIME:TEXT}}	a figure
 *	{"t":"done","id":N,"ok":BOOL,"exit":CODE,"name":…,"value":…,"traceback":…}
 *
 * N is the call's number. Bytes are base64. Pure: bytes in, structs out.
 *
 * Trust: whatever runs in the interpreter can write here. All of it is checked, and bounded: the
 * size of a frame, of all frames of a call, their number, their order, the kinds, the base64. What
 * is not as above ends the session (an error), and never a call of another number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "box/redact.h"

enum {
	SESSION_FRAME_MAX = 8 << 20,   /* of one line */
	SESSION_FRAMES_MAX = 16 << 20, /* of all of a call */
	SESSION_DISPLAYS_MAX = 64,
	SESSION_KINDS_MAX = 16, /* of one value */
	SESSION_KIND_MAX = 64,	/* bytes of a kind's name */
};

struct session_pair {
	const char *kind;
	const char *text;
};
struct session_value {
	size_t n;
	struct session_pair *v;
};

/* Frames of a call. */
struct session_frames {
	uint32_t id; /* the call's */
	bool has_result, is_done, ok;
	struct session_value result;
	size_t n_displays;
	struct session_value displays[SESSION_DISPLAYS_MAX];
	int exit_code;
	const char *name, *value, *traceback; /* of an exception; NULL: none */
	/* how far it has come */
	struct arena *arena;
	struct arena partial_memory;
	struct buf partial; /* of a line */
	uint64_t bytes;
};

void session_frames_begin(struct session_frames *f, uint32_t id, struct arena *a);

/* Takes what has come. -1: the driver does not speak as it should. Nothing may come behind the
 * frame that is the last. */
int session_frames_feed(struct session_frames *f, const char *p, size_t n, struct error *e);
void session_frames_end(struct session_frames *f);

/* Takes secrets out of what is text. */
void session_frames_redact(struct session_frames *f, struct redact *r);

/* Members of the result: "result":…,"displays":…,"exception":… */
void session_frames_write(const struct session_frames *f, struct buf *b);

/* Shows a person a value: its plain text, or which kinds there are. */
void session_value_tell(const struct session_value *v, struct buf *b);
