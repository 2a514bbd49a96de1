/*
 * The program's output on its way to whoever wants it: passed on, kept, or told as events. Up to a
 * limit, behind which it is counted and dropped, so that the program goes on.
 */
#pragma once

#include "box/box.h"
#include "box/redact.h"
#include "sys/loop.h"

enum { STREAM_CHUNK = 65536, OUTLET_CHUNK = 4096, OUTLET_MAX = 8 << 20 };

/* A descriptor of our own that bytes go to, without ever waiting for its reader elsewhere than in
 * the loop. */
struct outlet {
	int fd;
	struct buf pending;
	size_t at;
	uint64_t written;
	bool broken; /* nobody takes it any more */
	int error; /* why, as errno has it */
	struct loop_source *source;
	struct arena memory;
};

struct stream {
	const char *name; /* stdout, stderr */
	int from;	  /* our end of the pipe, -1: it has ended */
	struct outlet *outlet; /* NULL: it is kept */
	bool events;
	uint64_t cap;
	uint64_t bytes;	 /* that came */
	uint64_t passed; /* of what came out of redaction, within the cap */
	bool truncated;
	bool finished;
	struct redact *redact; /* NULL: nothing is taken out */
	enum redact_stream which;
	struct buf kept;
	char tail[4]; /* of an event: a character that is not whole yet */
	size_t tail_len;
	struct arena *arena;
	struct loop_source *source;
};

void outlet_add(struct outlet *o, int fd, size_t max, struct loop *l);
/* A line, or bytes, to be written when there is room. */
void outlet_put(struct outlet *o, const void *p, size_t n);
/* Drops what is not written yet. */
void outlet_cut(struct outlet *o);
bool outlet_is_empty(const struct outlet *o);
void outlet_free(struct outlet *o);

void stream_add(struct stream *s, struct loop *l);

/* Nothing more will come: the mark of truncation, if there is anything to be marked. */
void stream_finish(struct stream *s);

/* Looks whether there is room to read more. Before each round of the loop. */
void stream_settle(struct stream *s);

/* As a string of JSON; what is not UTF-8 has to be base64. */
void stream_write_data(struct buf *b, const char *data, size_t n, bool base64);
bool stream_is_text(const char *data, size_t n);
