/*
 * The lines of an audit file, as text: pure, for who writes them and who checks them.
 *
 * A line is one JSON object that begins with its number and ends with its hash:
 *
 *	{"n":17,"time":"…",…,"hash":"64 hexadecimal digits"}
 *
 * The hash is SHA-256 of the hash of the line before (as digits; 64 zeros before line 1) and of the
 * line itself without ,"hash":"…". So it vouches for every byte up to there, in this order.
 *
 * Anything else than such a line is torn: an append that was cut short. The next append leaves it,
 * and writes a line of the verb AUDIT_RECOVERY behind it that has its length and its hash. Without
 * that, it is not explained, and the file not good.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sha256.h"

#define AUDIT_RECOVERY "audit-recovery"
/* A recovery's word on the file before it: a crash explains it, or nothing does. */
#define AUDIT_CRASH "\"kind\":\"crash\""
#define AUDIT_LOST "\"kind\":\"lost\""

enum { AUDIT_LINE_MAX = 256 << 10, AUDIT_TORN_SIZE = 160 };

/* A place in the chain: so many lines, and the hash of the last of them. */
struct audit_head {
	uint64_t count;
	char hash[SHA256_HEX_SIZE];
};

struct audit_chain {
	struct audit_head head; /* of the lines so far that are good */
	size_t lines;		/* of the file, torn ones too */
	size_t torn_line;	/* where those begin that nothing has explained yet; 0: none */
	const char *torn_why;
	uint64_t torn_bytes;
	struct sha256 torn;
	size_t lost_line; /* says that the file before it is not what the head knew; 0: none */
	size_t recoveries;
	size_t recovered_line; /* the last of them */
};

extern const struct audit_head audit_head_none;

void audit_chain_begin(struct audit_chain *c, const struct audit_head *from);

/* Adds the hash to b, which holds a line up to before its last brace; with a line feed. */
void audit_chain_seal(struct buf *b, struct audit_head *head);

/* Takes the next line, without its line feed; `ended`: it had one. true: the chain goes on by it.
 */
bool audit_chain_add(struct audit_chain *c, const char *line, size_t len, bool ended);

/* Reads a line without knowing the one before. false: it is no line of ours. */
bool audit_line_read(const char *line, size_t len, struct audit_head *ret);

/* The text of a head file. */
void audit_head_write(const struct audit_head *h, struct buf *b);
bool audit_head_read(const char *text, size_t len, struct audit_head *ret);

/* Length and hash of what is torn, as a recovery has them, behind a comma. */
void audit_torn_write(const struct audit_chain *c, char ret_text[AUDIT_TORN_SIZE]);
