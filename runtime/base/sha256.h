/*
 * SHA-256 (FIPS 180-4), for what is named by its bytes: code that was run, images, the lines of an
 * audit file. Nothing secret goes through it, so it takes no care about timing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX_SIZE = 2 * SHA256_BYTES + 1, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes so far */
	unsigned char block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t len);

/* The digest of all that was added. The state is used up. */
void sha256_end(struct sha256 *s, unsigned char ret_digest[SHA256_BYTES]);

/* A digest in small hexadecimal digits, terminated. */
void sha256_to_hex(const unsigned char digest[SHA256_BYTES], char ret_hex[SHA256_HEX_SIZE]);

/* All of it at once. */
void sha256_hex(const void *p, size_t len, char ret_hex[SHA256_HEX_SIZE]);
