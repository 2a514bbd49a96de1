#include "box/audit_chain.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define HASH_KEY ",\"hash\":\""
#define HASH_END "\"}"
#define NUMBER_KEY "{\"n\":"
#define RECOVERY_KEY ",\"verb\":\"" AUDIT_RECOVERY "\","

enum {
	TAIL = sizeof(HASH_KEY) - 1 + 2 * SHA256_BYTES + sizeof(HASH_END) - 1,
	DIGITS_MAX = 20,
};

const struct audit_head audit_head_none = {
	.hash = "0000000000000000000000000000000000000000000000000000000000000000"};

void audit_chain_begin(struct audit_chain *c, const struct audit_head *from)
{
	*c = (struct audit_chain){.head = *from};
}

/* body: the line as far as its hash vouches for it, but for the brace at its end. */
static void line_hash(const char *before, const char *body, size_t len, char ret[SHA256_HEX_SIZE])
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, before, 2 * SHA256_BYTES);
	sha256_add(&s, body, len);
	sha256_add(&s, "}", 1);
	sha256_end(&s, digest);
	sha256_to_hex(digest, ret);
}

void audit_chain_seal(struct buf *b, struct audit_head *head)
{
	if (b->overflow)
		return;
	line_hash(head->hash, b->data, b->len, head->hash);
	head->count++;
	buf_printf(b, HASH_KEY "%s" HASH_END "\n", head->hash);
}

/* Decimal digits without a leading zero, at *at; 0: none. */
static uint64_t number_read(const char *text, size_t len, size_t *at)
{
	char digits[DIGITS_MAX + 1];
	uint64_t n;
	size_t i = 0;

	while (*at + i < len && i < DIGITS_MAX && text[*at + i] >= '0' && text[*at + i] <= '9') {
		digits[i] = text[*at + i];
		i++;
	}
	digits[i] = '\0';
	*at += i;
	return digits[0] != '0' && str_to_u64(digits, UINT64_MAX, &n) ? n : 0;
}

static bool hash_read(const char *text, char ret[SHA256_HEX_SIZE])
{
	memcpy(ret, text, SHA256_HEX_SIZE - 1);
	ret[SHA256_HEX_SIZE - 1] = '\0';
	return strspn(ret, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

bool audit_line_read(const char *line, size_t len, struct audit_head *ret)
{
	size_t at = sizeof(NUMBER_KEY) - 1;
	const char *tail;

	if (len < at + TAIL || memcmp(line, NUMBER_KEY, at) != 0)
		return false;
	tail = line + len - TAIL;
	if (memcmp(tail, HASH_KEY, sizeof(HASH_KEY) - 1) != 0 ||
	    memcmp(line + len - (sizeof(HASH_END) - 1), HASH_END, sizeof(HASH_END) - 1) != 0 ||
	    !hash_read(tail + sizeof(HASH_KEY) - 1, ret->hash))
		return false;
	ret->count = number_read(line, len, &at);
	return ret->count != 0 && line[at] == ',';
}

/* It stands behind the time, at a place where nothing that a caller gives can stand. */
static bool line_is_recovery(const char *line, size_t len)
{
	const char *verb = memmem(line, len, ",\"verb\":\"", strlen(",\"verb\":\""));

	return verb && (size_t)(line + len - verb) >= sizeof(RECOVERY_KEY) - 1 &&
	       memcmp(verb, RECOVERY_KEY, sizeof(RECOVERY_KEY) - 1) == 0;
}

static void torn_hash(const struct audit_chain *c, char ret[SHA256_HEX_SIZE])
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 s = c->torn;

	sha256_end(&s, digest);
	sha256_to_hex(digest, ret);
}

void audit_torn_write(const struct audit_chain *c, char ret_text[AUDIT_TORN_SIZE])
{
	char hash[SHA256_HEX_SIZE] = "";

	if (c->torn_line)
		torn_hash(c, hash);
	snprintf(ret_text, AUDIT_TORN_SIZE, ",\"torn_bytes\":%ju,\"torn_sha256\":\"%s\"",
		 (uintmax_t)c->torn_bytes, hash);
}

static bool explains(const struct audit_chain *c, const char *line, size_t len)
{
	char text[AUDIT_TORN_SIZE];

	audit_torn_write(c, text);
	return line_is_recovery(line, len) && memmem(line, len, text, strlen(text));
}

static void torn_add(struct audit_chain *c, const char *why, const char *line, size_t len)
{
	if (!c->torn_line) {
		c->torn_line = c->lines;
		c->torn_why = why;
		c->torn_bytes = 0;
		sha256_begin(&c->torn);
	}
	/* A recovery ends what has no end. */
	sha256_add(&c->torn, line, len);
	sha256_add(&c->torn, "\n", 1);
	c->torn_bytes += len + 1;
}

/* Why the line doesn't go on with the chain; NULL: it does. */
static const char *line_judge(const struct audit_chain *c, const char *line, size_t len, bool ended,
			      struct audit_head *ret)
{
	char hash[SHA256_HEX_SIZE];

	if (!ended)
		return "half a line: an append was cut short, or the file was";
	if (!audit_line_read(line, len, ret))
		return "not a line of an audit file";
	if (ret->count != c->head.count + 1)
		return "it has another number than the line that belongs here: lines were taken "
		       "out, put in or exchanged";
	line_hash(c->head.hash, line, len - TAIL, hash);
	if (!str_eq(hash, ret->hash))
		return "its hash is not that of its text and the line before: one of them was "
		       "changed";
	if (c->torn_line && !explains(c, line, len))
		return "it follows what nothing explains";
	return NULL;
}

bool audit_chain_add(struct audit_chain *c, const char *line, size_t len, bool ended)
{
	struct audit_head head;
	const char *why;

	c->lines++;
	why = line_judge(c, line, len, ended, &head);
	if (why) {
		torn_add(c, why, line, len);
		return false;
	}
	c->head = head;
	c->torn_line = 0;
	c->torn_bytes = 0;
	if (line_is_recovery(line, len) && memmem(line, len, AUDIT_LOST, strlen(AUDIT_LOST)) &&
	    !c->lost_line)
		c->lost_line = c->lines;
	if (line_is_recovery(line, len)) {
		c->recoveries++;
		c->recovered_line = c->lines;
	}
	return true;
}

#define HEAD_KEY "{\"count\":"
#define HEAD_END "\"}\n"

void audit_head_write(const struct audit_head *h, struct buf *b)
{
	buf_printf(b, HEAD_KEY "%ju" HASH_KEY "%s" HEAD_END, (uintmax_t)h->count, h->hash);
}

bool audit_head_read(const char *text, size_t len, struct audit_head *ret)
{
	size_t at = sizeof(HEAD_KEY) - 1, key = sizeof(HASH_KEY) - 1;

	if (len < at || memcmp(text, HEAD_KEY, at) != 0)
		return false;
	ret->count = number_read(text, len, &at);
	return ret->count && len == at + key + 2 * SHA256_BYTES + sizeof(HEAD_END) - 1 &&
	       memcmp(text + at, HASH_KEY, key) == 0 && hash_read(text + at + key, ret->hash) &&
	       memcmp(text + at + key + 2 * SHA256_BYTES, HEAD_END, sizeof(HEAD_END) - 1) == 0;
}
