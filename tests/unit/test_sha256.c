/* SHA-256 against the vectors of FIPS 180-4 and NIST's CAVP, however the bytes come. */
#include "base/sha256.h"
#include "unit.h"

static const char *hex_of(const void *p, size_t len)
{
	static char hex[SHA256_HEX_SIZE];

	sha256_hex(p, len, hex);
	return hex;
}

TEST(known_vectors)
{
	CHECK_STR(hex_of("", 0),
		  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK_STR(hex_of("abc", 3),
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK_STR(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	CHECK_STR(hex_of("\xbd", 1),
		  "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
}

/* Lengths around the borders of a block and of its padding. */
TEST(lengths_around_a_block)
{
	static const struct {
		size_t len;
		const char *hex;
	} zeros[] = {
		{55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
		{56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
		{57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"},
		{64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
		{1000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"},
	};
	static const char none[1000];
	size_t i;

	for (i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		CHECK_STR(hex_of(none, zeros[i].len), zeros[i].hex);
}

TEST(a_million_letters_in_pieces)
{
	unsigned char digest[SHA256_BYTES];
	char text[997], hex[SHA256_HEX_SIZE];
	size_t left = 1000000, n;
	struct sha256 s;

	memset(text, 'a', sizeof(text));
	sha256_begin(&s);
	for (; left; left -= n) {
		n = left < sizeof(text) ? left : sizeof(text);
		sha256_add(&s, text, n);
	}
	sha256_end(&s, digest);
	sha256_to_hex(digest, hex);
	CHECK_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(pieces_of_any_size_give_the_same)
{
	unsigned char digest[SHA256_BYTES];
	char text[200], whole[SHA256_HEX_SIZE], hex[SHA256_HEX_SIZE];
	size_t cut, i;
	struct sha256 s;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (char)i;
	sha256_hex(text, sizeof(text), whole);
	for (cut = 0; cut <= sizeof(text); cut++) {
		sha256_begin(&s);
		sha256_add(&s, text, cut);
		sha256_add(&s, text + cut, sizeof(text) - cut);
		sha256_end(&s, digest);
		sha256_to_hex(digest, hex);
		CHECK_STR(hex, whole);
	}
}

int main(void)
{
	return unit_main();
}
