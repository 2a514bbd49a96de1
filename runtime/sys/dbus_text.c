#include "sys/dbus_text.h"

#include <string.h>

#include "sys/dbus_message.h"

/* ---- addresses ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* NULL: a % without its two digits, or what no error could name. */
static char *unescape(struct arena *a, const char *s, size_t len)
{
	char *text = arena_alloc(a, len + 1, 1);
	size_t i, n = 0;
	int high, low;
	char c;

	for (i = 0; i < len; i++) {
		c = s[i];
		if (c == '%') {
			if (len - i < 3 || (high = hex_digit(s[i + 1])) < 0 ||
			    (low = hex_digit(s[i + 2])) < 0)
				return NULL;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (!c)
			return NULL;
		text[n++] = c;
	}
	return dbus_can_be_shown(text) ? text : NULL;
}

/* One key=value of a unix address. */
static int address_set(struct dbus_address *at, const char *s, size_t len, struct arena *a,
		       struct error *e)
{
	const char *equals = memchr(s, '=', len), *value;
	size_t key;

	if (!equals || equals == s)
		return err_set(e, ERR_HOST, "no key=value where one should be");
	key = (size_t)(equals - s);
	value = unescape(a, equals + 1, len - key - 1);
	if (!value)
		return err_set(e, ERR_HOST, "a value that is no escaped text");
	if (!(key == 4 && strncmp(s, "path", key) == 0) &&
	    !(key == 8 && strncmp(s, "abstract", key) == 0))
		return 0; /* guid=, and what can only be listened on */
	if (at->name || !*value || (key == 4 && *value != '/'))
		return err_set(e, ERR_HOST, "not one absolute path, or one name");
	at->is_abstract = key == 8;
	at->name = value;
	return 0;
}

static int address_read(const char *s, size_t len, struct arena *a, struct dbus_address *ret,
			struct error *e)
{
	struct dbus_address at = {0};
	const char *comma;
	size_t n;

	for (; len; s += n, len -= n) {
		comma = memchr(s, ',', len);
		n = comma ? (size_t)(comma - s) : len;
		if (address_set(&at, s, n, a, e) < 0)
			return -1;
		n += comma != NULL;
	}
	*ret = at;
	return 0;
}

int dbus_address_next(const char **list, struct arena *a, struct dbus_address *ret, struct error *e)
{
	static const char ours[] = "unix:";
	struct dbus_address at;
	const char *s;
	size_t len;

	while (**list) {
		s = *list;
		len = strcspn(s, ";");
		*list += len + (s[len] == ';');
		if (len < strlen(ours) || strncmp(s, ours, strlen(ours)) != 0)
			continue;
		if (address_read(s + strlen(ours), len - strlen(ours), a, &at, e) < 0)
			return -1;
		if (at.name) {
			*ret = at;
			return 1;
		}
	}
	return 0;
}

/* ---- who we are ---- */

enum { AUTH_MAX = 4096 };

static bool line_is(const char *line, size_t len, const char *word)
{
	const size_t n = strlen(word);

	return len >= n && memcmp(line, word, n) == 0 && (len == n || line[n] == ' ');
}

enum dbus_auth dbus_auth_read(const char *p, size_t len, size_t *ret_len)
{
	bool asked = false;
	size_t at = 0, n;
	const char *end;

	while ((end = memmem(p + at, len - at, "\r\n", 2))) {
		n = (size_t)(end - (p + at));
		if (line_is(p + at, n, "OK")) {
			*ret_len = at + n + 2;
			return *ret_len <= AUTH_MAX ? DBUS_AUTH_OK : DBUS_AUTH_WRONG;
		}
		if (line_is(p + at, n, "REJECTED") || line_is(p + at, n, "ERROR"))
			return DBUS_AUTH_REFUSED;
		/* It asks once for the identity; our line that has none is on its way. */
		if (asked || !line_is(p + at, n, "DATA"))
			return DBUS_AUTH_WRONG;
		asked = true;
		at += n + 2;
	}
	return len > AUTH_MAX ? DBUS_AUTH_WRONG : DBUS_AUTH_MORE;
}
