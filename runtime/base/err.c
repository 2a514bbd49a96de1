#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *err_text(int sys)
{
	static char text[128];
	const char *s = strerrordesc_np(sys);

	snprintf(text, sizeof(text), "%s", s ? s : "unknown error");
	/* "RPC struct is bad" keeps its capitals, "Operation not permitted" doesn't. */
	if (islower((unsigned char)text[1]))
		text[0] = (char)tolower((unsigned char)text[0]);
	return text;
}

int (err_set)(struct error *e, enum err_class class, const char *fmt, ...)
{
	va_list ap;

	e->sys = 0;
	e->class = class;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -1;
}

int (err_sys)(struct error *e, const char *fmt, ...)
{
	int sys = errno;
	va_list ap;
	size_t len;

	e->sys = sys;
	e->class = ERR_SYSTEM;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	len = strlen(e->text);
	snprintf(e->text + len, sizeof(e->text) - len, ": %s", err_text(sys));
	errno = sys;
	return -1;
}

int (err_wrap)(struct error *e, const char *fmt, ...)
{
	char prefix[512];
	size_t len, room;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix) - 2, fmt, ap);
	va_end(ap);
	len = strlen(prefix);
	prefix[len++] = ':';
	prefix[len++] = ' ';
	room = sizeof(e->text) - 1 - len;
	memmove(e->text + len, e->text, strnlen(e->text, room) + 1);
	e->text[sizeof(e->text) - 1] = '\0';
	memcpy(e->text, prefix, len);
	return -1;
}
