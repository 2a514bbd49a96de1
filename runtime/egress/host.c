#include <string.h>

#include "egress/egress.h"

enum { LABEL_MAX = 63 };

static bool host_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool host_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether a label is a number to inet_aton(): 127, 0177, 0x7f, and 0x alone. */
static bool host_is_number(const char *label, size_t len)
{
	const bool hex = len >= 2 && label[0] == '0' && label[1] == 'x';
	size_t i;

	for (i = hex ? 2 : 0; i < len; i++)
		if (!host_is_digit(label[i]) && !(hex && label[i] >= 'a' && label[i] <= 'f'))
			return false;
	return len > 0;
}

/* Names are compared by their bytes, so there is one way to write each. */
static bool host_read_name(const char *text, size_t len, struct egress_host *ret)
{
	size_t i, label = 0;

	for (i = 0; i < len; i++) {
		const char c = text[i];

		if (c == '.') {
			if (i == label || i - label > LABEL_MAX)
				return false;
			label = i + 1;
		} else if (!host_is_letter(c) && !host_is_digit(c) && c != '-' && c != '_') {
			return false;
		}
		ret->name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
	}
	ret->name[len] = '\0';
	ret->len = len;
	/* The last label says what it is: one that ends in a number is an address, or nothing. */
	return len > label && len - label <= LABEL_MAX &&
	       !host_is_number(ret->name + label, len - label);
}

bool egress_host_read(const char *text, size_t len, struct egress_host *ret)
{
	struct egress_host h = {0};

	if (egress_address_read(text, len, &h.address)) {
		h.is_address = true;
		egress_address_write(&h.address, h.name);
		h.len = strlen(h.name); /* ours, not theirs */
		*ret = h;
		return true;
	}
	if (len && text[len - 1] == '.')
		len--;
	if (!len || len > EGRESS_NAME_MAX || !host_read_name(text, len, &h))
		return false;
	*ret = h;
	return true;
}

bool egress_port_read(const char *text, size_t len, uint16_t *ret)
{
	unsigned int value = 0;
	size_t i;

	if (!len || len > 5)
		return false;
	for (i = 0; i < len; i++) {
		if (!host_is_digit(text[i]))
			return false;
		value = value * 10 + (unsigned int)(text[i] - '0');
	}
	if (!value || value > UINT16_MAX)
		return false;
	*ret = (uint16_t)value;
	return true;
}

bool egress_host_port_read(const char *text, size_t len, struct egress_host *ret,
			   uint16_t *ret_port)
{
	const char *colon, *end;
	struct egress_host h;

	if (len && text[0] == '[') {
		end = memchr(text, ']', len);
		if (!end || !egress_host_read(text + 1, (size_t)(end - text) - 1, &h) ||
		    !h.is_address)
			return false;
		end++;
		/* Brackets are IPv6's, also where it turns out to be IPv4. */
		if (!memchr(text, ':', (size_t)(end - text)) ||
		    (end < text + len &&
		     (*end != ':' ||
		      !egress_port_read(end + 1, (size_t)(text + len - end) - 1, ret_port))))
			return false;
		*ret = h;
		return true;
	}
	colon = memchr(text, ':', len);
	if (colon && memchr(colon + 1, ':', len - (size_t)(colon - text) - 1))
		colon = NULL; /* IPv6 without brackets, and so without a port */
	if (colon && !egress_port_read(colon + 1, len - (size_t)(colon - text) - 1, ret_port))
		return false;
	if (!egress_host_read(text, colon ? (size_t)(colon - text) : len, &h))
		return false;
	*ret = h;
	return true;
}
