/* Mistakes of a rule that is none, and how it is written. Pure; the error is for people, and
 * shows only what can be read as a host. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "egress/mend.h"

/* Ports of schemes. Of http and https there is none to be named: a rule has both. */
static const struct {
	const char *scheme;
	uint16_t port;
} schemes[] = {
	{"http", 0},	   {"https", 0},       {"ws", 0},	 {"wss", 0},
	{"ssh", 22},	   {"git+ssh", 22},    {"sftp", 22},	 {"git", 9418},
	{"ftp", 21},	   {"postgres", 5432}, {"postgresql", 5432}, {"mysql", 3306},
	{"redis", 6379},   {"mongodb", 27017}, {"amqp", 5672},
};

static uint16_t mend_port(const char *scheme, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strlen(schemes[i].scheme) == len &&
		    strncasecmp(scheme, schemes[i].scheme, len) == 0)
			return schemes[i].port;
	return 0;
}

/* Of a URL, a place of git's, or a host with a path. */
static bool mend_find_host(const char *text, struct egress_host *ret, uint16_t *ret_port)
{
	const char *sign = strstr(text, "://"), *host = sign ? sign + 3 : text, *at, *colon;
	size_t len = strcspn(host, "/?#");

	*ret_port = sign ? mend_port(text, (size_t)(sign - text)) : 0;
	at = memrchr(host, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (egress_host_port_read(host, len, ret, ret_port))
		return true;
	/* user@host:path */
	colon = memchr(host, ':', len);
	return at && !sign && colon && egress_host_read(host, (size_t)(colon - host), ret) &&
	       (*ret_port = 22);
}

static int mend_to_host(const char *text, const char *what, struct error *e)
{
	struct egress_host h;
	uint16_t port;

	if (!mend_find_host(text, &h, &port))
		return err_set(e, ERR_USAGE,
			       "it is %s: a rule is a host alone (example.org, example.org:22)",
			       what);
	if (!port)
		return err_set(e, ERR_USAGE, "it is %s: a rule is its host alone, %s", what,
			       h.name);
	return err_set(e, ERR_USAGE,
		       h.is_address && h.address.v6 ?
			       "it is %s: a rule is its host and port alone, [%s]:%u" :
			       "it is %s: a rule is its host and port alone, %s:%u",
		       what, h.name, port);
}

/* Whether what stands before the last colon is a host, and the rest no port. */
static bool mend_is_about_port(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct egress_host h;
	uint16_t port;

	if (!colon || egress_port_read(colon + 1, strlen(colon + 1), &port))
		return false;
	if (text[0] == '[' && len > 2 && text[len - 1] == ']')
		return egress_host_read(text + 1, len - 2, &h) && h.address.v6;
	return !memchr(text, ':', len) && egress_host_read(text, len, &h);
}

/* Not a range: those have addresses. */
static bool mend_has_path(const char *text)
{
	struct egress_host h;
	uint16_t port;

	return strchr(text, '/') && mend_find_host(text, &h, &port) && !h.is_address;
}

static bool mend_is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789.")] == '\0';
}

static bool mend_is_foreign(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return *text != '\0';
}

int egress_mend(const char *text, struct error *e)
{
	const char *host = str_after(text, "**.") ? text + 3 :
			   str_after(text, "*.")  ? text + 2 :
						    text;

	if (strstr(text, "://"))
		return mend_to_host(text, "a URL", e);
	if (strchr(host, '*'))
		return err_set(e, ERR_USAGE,
			       "a * stands at the beginning alone, with a dot behind it: "
			       "*.example.org is all below a name, **.example.org that and itself");
	if (strchr(text, '@'))
		return mend_to_host(text, "an account at a host", e);
	if (mend_has_path(host))
		return mend_to_host(host, "a host with a path", e);
	if (strchr(text, '/'))
		return err_set(e, ERR_USAGE,
			       "it is no range (10.0.0.0/8, 10.0.0.0/8:5432, [fd00::]/8:5432)");
	if (mend_is_about_port(host))
		return err_set(e, ERR_USAGE,
			       "a port is one number from 1 to 65535, and each has a rule of its "
			       "own (example.org:22)");
	if (mend_is_number(text))
		return err_set(e, ERR_USAGE,
			       "it is no address: all four numbers of it are needed, in decimal "
			       "(10.1.2.3)");
	if (mend_is_foreign(text))
		return err_set(e, ERR_USAGE,
			       "a name with other letters than those of ASCII is written as the "
			       "resolvers know it (xn--...)");
	return err_set(e, ERR_USAGE,
		       "it is neither a host nor HOST:PORT (example.org, *.example.org, "
		       "example.org:22, 10.1.2.3, [fd00::1]:443)");
}
