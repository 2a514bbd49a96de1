#include <arpa/inet.h>
#include <string.h>

#include "base/str.h"
#include "egress/egress.h"

/* clang-format off */
/* The list of BOXES: what is not public. Rows that say never come before none: the worst counts. */
static const struct {
	struct egress_address net;
	unsigned int bits;
	enum egress_place place;
} places[] = {
	{{false, {0}}, 8, EGRESS_NEVER},
	{{false, {10}}, 8, EGRESS_PRIVATE},
	{{false, {100, 64}}, 10, EGRESS_PRIVATE},
	{{false, {100, 100, 100, 200}}, 32, EGRESS_NEVER}, /* metadata */
	{{false, {127}}, 8, EGRESS_NEVER},
	{{false, {168, 63, 129, 16}}, 32, EGRESS_NEVER}, /* metadata */
	{{false, {169, 254}}, 16, EGRESS_NEVER},
	{{false, {172, 16}}, 12, EGRESS_PRIVATE},
	{{false, {192, 0, 0}}, 24, EGRESS_NEVER},
	{{false, {192, 0, 2}}, 24, EGRESS_NEVER},
	{{false, {192, 88, 99}}, 24, EGRESS_NEVER},
	{{false, {192, 168}}, 16, EGRESS_PRIVATE},
	{{false, {198, 18}}, 15, EGRESS_NEVER}, /* those that stand for names in a box are of these */
	{{false, {198, 51, 100}}, 24, EGRESS_NEVER},
	{{false, {203, 0, 113}}, 24, EGRESS_NEVER},
	{{false, {224}}, 4, EGRESS_NEVER},
	{{false, {240}}, 4, EGRESS_NEVER},
	{{true, {0}}, 127, EGRESS_NEVER}, /* :: and ::1 */
	{{true, {0x01}}, 64, EGRESS_NEVER},
	{{true, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}}, 48, EGRESS_NEVER},
	{{true, {0x20, 0x01}}, 32, EGRESS_NEVER}, /* Teredo, which has an IPv4 address in disguise */
	{{true, {0x20, 0x01, 0x0d, 0xb8}}, 32, EGRESS_NEVER},
	{{true, {0xfc}}, 7, EGRESS_PRIVATE},
	{{true, {0xfd, 0x00, 0x0e, 0xc2}}, 32, EGRESS_NEVER}, /* metadata, and the next five */
	{{true, {0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54}}, 128, EGRESS_NEVER},
	{{true, {0xfd, 0x00, 0x00, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe}}, 128, EGRESS_NEVER},
	{{true, {0xfd, 0x00, 0x00, 0x42, [14] = 0x00, 0x42}}, 128, EGRESS_NEVER},
	{{true, {0xfd, 0x00, 0xa9, 0xfe, 0xa9, 0xfe, [15] = 0x01}}, 128, EGRESS_NEVER},
	{{true, {0xfd, 0x00, 0x01, 0x00, [12] = 0x01, 0x00, 0x02, 0x00}}, 128, EGRESS_NEVER},
	{{true, {0xfe, 0x80}}, 10, EGRESS_NEVER},
	{{true, {0xfe, 0xc0}}, 10, EGRESS_NEVER},
	{{true, {0xff}}, 8, EGRESS_NEVER},
};

/* Where an IPv6 address has one of IPv4 inside. */
static const struct {
	struct egress_address net;
	unsigned int bits, at;
} insides[] = {
	{{true, {0}}, 96, 12},
	{{true, {[10] = 0xff, 0xff}}, 96, 12},
	{{true, {[8] = 0xff, 0xff}}, 96, 12},
	{{true, {0x00, 0x64, 0xff, 0x9b}}, 96, 12},
	{{true, {0x20, 0x02}}, 16, 2},
};
/* clang-format on */

bool egress_address_is_in(const struct egress_address *a, const struct egress_address *net,
			  unsigned int bits)
{
	const size_t whole = bits / 8;
	const unsigned int rest = bits % 8;

	if (a->v6 != net->v6 || memcmp(a->b, net->b, whole) != 0)
		return false;
	return !rest || (a->b[whole] ^ net->b[whole]) >> (8 - rest) == 0;
}

static enum egress_place address_place_as_it_is(const struct egress_address *a)
{
	enum egress_place worst = EGRESS_PUBLIC;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].place > worst &&
		    egress_address_is_in(a, &places[i].net, places[i].bits))
			worst = places[i].place;
	return worst;
}

enum egress_place egress_address_place(const struct egress_address *a)
{
	enum egress_place worst = address_place_as_it_is(a), inside;
	struct egress_address v4 = {0};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(insides); i++) {
		if (!egress_address_is_in(a, &insides[i].net, insides[i].bits))
			continue;
		memcpy(v4.b, a->b + insides[i].at, 4);
		inside = address_place_as_it_is(&v4);
		worst = inside > worst ? inside : worst;
	}
	return worst;
}

/* Four numbers from 0 to 255 in decimal, as everybody writes them. */
static bool address_read_v4(const char *text, size_t len, struct egress_address *ret)
{
	struct egress_address a = {0};
	unsigned int value = 0, digits = 0, n = 0;
	size_t i;

	for (i = 0; i <= len; i++) {
		if (i == len || text[i] == '.') {
			if (!digits || n == 4)
				return false;
			a.b[n++] = (unsigned char)value;
			value = digits = 0;
			continue;
		}
		/* 010 is eight to some. */
		if (text[i] < '0' || text[i] > '9' || (digits && !value))
			return false;
		value = value * 10 + (unsigned int)(text[i] - '0');
		if (++digits > 3 || value > 255)
			return false;
	}
	*ret = a;
	return n == 4;
}

bool egress_address_read(const char *text, size_t len, struct egress_address *ret)
{
	struct egress_address a = {.v6 = true};
	char copy[EGRESS_ADDRESS_SIZE];
	size_t i;

	if (address_read_v4(text, len, ret))
		return true;
	if (len >= sizeof(copy))
		return false;
	for (i = 0; i < len; i++)
		if (!text[i] || !strchr("0123456789abcdefABCDEF:.", text[i]))
			return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET6, copy, a.b) != 1)
		return false;
	if (egress_address_is_in(&a, &insides[1].net, insides[1].bits)) {
		struct egress_address v4 = {0};

		memcpy(v4.b, a.b + 12, 4);
		a = v4;
	}
	*ret = a;
	return true;
}

void egress_address_write(const struct egress_address *a, char ret[EGRESS_ADDRESS_SIZE])
{
	if (!inet_ntop(a->v6 ? AF_INET6 : AF_INET, a->b, ret, EGRESS_ADDRESS_SIZE))
		ret[0] = '\0';
}
