/* The client, and what runs for it. */
#pragma once

#include "mcp/call.h"
#include "mcp/keeper.h"
#include "mcp/line.h"
#include "mcp/mcp.h"
#include "mcp/message.h"

struct server {
	const struct mcp_options *o;
	int crowd_fd;
	struct line_in in;
	struct line_out out;
	struct crowd_member in_member, out_member, signal_member;
	bool in_is_file, out_is_file; /* always ready, which the kernel doesn't watch */
	struct client client;	      /* of the legacy era */
	struct call *calls[CALLS_MAX];
	struct keeper keeper;
	uint64_t asked; /* requests of ours */
	bool over;
};

/* One message being answered. */
struct request {
	struct server *server;
	struct arena *arena;
	const struct message *message;
	bool modern;
	struct client client;
	struct json_span meta;
};

/* ---- what calls tell ---- */

/* The child of a step has ended: the next one, or the answer. */
void server_step_done(struct call *c);
void server_tell_progress(struct call *c, unsigned int seconds);

/* Begins what was planned. */
void server_begin(struct call *c);

/* … and what may run. */
void server_go(struct call *c);

/* ---- who is asked before (consent.c) ---- */

/* Ends in server_go(), an answer, or a wait. */
void consent_begin(struct call *c);

/* An answer of the client's to what it was asked. */
void consent_hear(struct server *s, const struct message *m, struct arena *a);
void consent_child_done(struct call *c);
void consent_look(struct call *c, int64_t now);

/* The question is nobody's any more. */
void consent_drop(struct call *c);

/* A line of the audit files, before the client is told. -1: there is none, and the client was told
 * that instead. */
int consent_record(struct call *c, const char *outcome);

/* ---- answers (answer.c) ---- */

/* An error of the protocol; id NULL: null. data is JSON or NULL. */
void answer_error(struct server *s, const char *id, int code, const char *text, const char *data,
		  struct arena *a);

/* A result begins; members follow, each with a comma before it but the first, and the end. */
void answer_begin(struct buf *b, const struct server *s, const char *id, bool modern);
void answer_cache(struct buf *b, bool modern, unsigned int ttl_ms, bool is_public);
void answer_end(struct server *s, struct buf *b, const char *id, struct arena *a);

/* The result of a tool that did not do its work, in words for a model. */
void answer_failure(struct call *c, const char *text);

/* Answers a call whose last step has ended. */
void answer_call(struct call *c);

/* Head and tail of what is too long; never half a character. Of base64: the head, in whole groups.
 * *cut: whether it was. */
const char *answer_shorten(const char *text, bool base64, bool *cut, struct arena *a);

/* An image's kind by its first bytes, as base64 has them; NULL: it is none. */
const char *answer_image_kind(const char *base64);

/* ---- values of a session (values.c) ---- */

enum { VALUES_IMAGES_MOST = 8, VALUES_IMAGE_MAX = 5 << 20 };

struct values_images {
	size_t n, bytes;
	const char *kinds[VALUES_IMAGES_MOST], *texts[VALUES_IMAGES_MOST];
};

/* Members for an object: session, result, displays, exception, if the child tells of them. Images
 * are left for who answers. */
void values_write(struct call *c, struct json_span said, struct buf *b, struct values_images *ret);

/* ---- resources (resource.c) ---- */

void resource_templates(const struct request *q);
void resource_list(const struct request *q);
void resource_read(const struct request *q);
void answer_roots(struct call *c, struct json_span said);
void answer_resource(struct call *c, const char *mime, const char *text, bool blob);

/* A call of this request, that has been answered if NULL. */
struct call *server_new_call(const struct request *q);
