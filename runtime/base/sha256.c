/* The algorithm as FIPS 180-4, sections 5 and 6.2, has it, with the standard's names. */
#include "base/sha256.h"

#include <string.h>

/* clang-format off */
static const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

static uint32_t rotr(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
	size_t t;

	for (t = 0; t < 16; t++)
		w[t] = load(block + 4 * t);
	for (; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = w[t - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[t - 7] +
		       (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
	}
}

static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], v[8], t1, t2;
	size_t t;

	schedule(block, w);
	memcpy(v, state, sizeof(v));
	for (t = 0; t < 64; t++) {
		t1 = v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[t] + w[t];
		t2 = (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (t = 0; t < 8; t++)
		state[t] += v[t];
}

void sha256_begin(struct sha256 *s)
{
	*s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				       0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *p, size_t len)
{
	const unsigned char *from = p;
	size_t have = s->len % SHA256_BLOCK, n;

	s->len += len;
	if (have && len) {
		n = len < SHA256_BLOCK - have ? len : SHA256_BLOCK - have;
		memcpy(s->block + have, from, n);
		from += n;
		len -= n;
		if (have + n < SHA256_BLOCK)
			return;
		compress(s->state, s->block);
	}
	for (; len >= SHA256_BLOCK; from += SHA256_BLOCK, len -= SHA256_BLOCK)
		compress(s->state, from);
	if (len)
		memcpy(s->block, from, len);
}

void sha256_end(struct sha256 *s, unsigned char ret_digest[SHA256_BYTES])
{
	static const unsigned char padding[SHA256_BLOCK] = {0x80};
	uint64_t bits = s->len * 8;
	unsigned char tail[8];
	size_t have = s->len % SHA256_BLOCK, i;

	for (i = 0; i < sizeof(tail); i++)
		tail[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(s, padding, (have < 56 ? 56 : 120) - have);
	sha256_add(s, tail, sizeof(tail));
	for (i = 0; i < SHA256_BYTES; i++)
		ret_digest[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_to_hex(const unsigned char digest[SHA256_BYTES], char ret_hex[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < SHA256_BYTES; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * SHA256_BYTES] = '\0';
}

void sha256_hex(const void *p, size_t len, char ret_hex[SHA256_HEX_SIZE])
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, p, len);
	sha256_end(&s, digest);
	sha256_to_hex(digest, ret_hex);
}
