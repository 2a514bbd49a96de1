/*
 * Messages of D-Bus as bytes. Pure: nothing here waits, and nothing that is read is believed.
 *
 * Byte order is the machine's own: who speaks with us runs on it, and answers in the same. Offsets,
 * which alignment counts, are from a message's first byte; its body begins at a multiple of 8, so a
 * body is written apart and put behind its header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	DBUS_HEADER_MAX = 64 * 1024, /* all that stands before the body */
	DBUS_BODY_MAX = 1024 * 1024,
	DBUS_MESSAGE_MAX = DBUS_HEADER_MAX + DBUS_BODY_MAX,
	DBUS_NAME_MAX = 255, /* of buses, interfaces, members, errors */
};

enum dbus_type { DBUS_CALL = 1, DBUS_RETURN, DBUS_ERROR, DBUS_SIGNAL };
enum { DBUS_NO_REPLY = 1, DBUS_NO_AUTOSTART = 2 };

struct dbus_message {
	enum dbus_type type; /* or a number that nobody has given a meaning to: for ignoring */
	uint8_t flags;
	uint32_t serial;
	uint32_t reply_serial; /* 0: none */
	/* NULL: not there. Those that were read end in a NUL and lie in what was read. */
	const char *path;
	const char *interface;
	const char *member;
	const char *error_name;
	const char *destination;
	const char *sender;
	const char *signature; /* of the body; never NULL when read, "" for none */
	const char *body;
	size_t body_len;
};

/* ---- writing: to a buffer of which .overflow is looked at once, at the end ---- */

void dbus_put_byte(struct buf *b, uint8_t v);
void dbus_put_u32(struct buf *b, uint32_t v); /* also a boolean: 0 or 1 */
void dbus_put_u64(struct buf *b, uint64_t v);
void dbus_put_string(struct buf *b, const char *s);    /* types s and o */
void dbus_put_signature(struct buf *b, const char *s); /* type g, and what a variant begins with */
void dbus_put_struct(struct buf *b);		       /* what stands before its first member */

struct dbus_array {
	size_t length_at;
	size_t begin;
};

/* align: of the elements, 1, 4 or 8 (structs). */
struct dbus_array dbus_array_begin(struct buf *b, size_t align);
void dbus_array_end(struct buf *b, struct dbus_array array);

/* The whole message with its body. A body larger than allowed overflows. */
void dbus_message_write(struct buf *b, const struct dbus_message *m);

/* ---- reading ---- */

/* Trust: the bytes come from whoever listens at an address. 1: a whole message, of *ret_len bytes;
 * 0: more bytes are needed; -1: no message can begin like that. */
int dbus_message_read(const char *p, size_t len, struct dbus_message *ret, size_t *ret_len,
		      struct error *e);

/* The body's values, one after the other. false: that is not what stands there; then nothing of
 * the body is to be used. */
struct dbus_reader {
	const char *p;
	size_t len;
	size_t at;
};
struct dbus_reader dbus_body(const struct dbus_message *m);
bool dbus_get_u32(struct dbus_reader *r, uint32_t *ret);
bool dbus_get_string(struct dbus_reader *r, const char **ret);	  /* s and o; UTF-8 */
bool dbus_get_signature(struct dbus_reader *r, const char **ret); /* of a variant, for one */
bool dbus_at_end(const struct dbus_reader *r);

/* A peer's text, for a line that a person reads: control characters and what is no UTF-8 become
 * question marks, and a long text is cut. */
struct dbus_shown {
	char text[400];
};
struct dbus_shown dbus_show(const char *s);
bool dbus_can_be_shown(const char *s);
