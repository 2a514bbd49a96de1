/* One message of JSON-RPC 2.0, which is one line. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "json/json.h"
#include "json/span.h"

enum { MESSAGE_MAX = 8 << 20, MESSAGE_ID_MAX = 256 };

enum {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_VERSION = -32022,
	RPC_NOT_FOUND = -32002, /* a resource, in the legacy era */
};

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTIFICATION, MESSAGE_RESPONSE };

struct message {
	enum message_kind kind;
	const char *id; /* as it was written: a string or an integer; NULL: none that is one */
	char *method;
	struct json_span params; /* an object, or none */
	struct json_span result; /* of a response; none: it is an error */
};

/* Limits of a message: large files are text of one string. */
extern const struct json_limits message_limits;

/* Reads a line. -1: it is none; *ret_code says why, and ret->id whom to tell, as far as that can be
 * told. Trust: all of it is the client's, and in the end a model's. */
int message_parse(const char *line, size_t len, struct arena *a, struct message *ret, int *ret_code,
		  struct error *e);

/* Reads params, or a part of them, by the rows of a table. */
int message_read_part(const char *what, struct json_span part, const struct json_table *table,
		      void *ret, struct arena *a, struct error *e);

/* A string of JSON as text; NULL: it is none. */
char *message_text(struct json_span s, struct arena *a);
