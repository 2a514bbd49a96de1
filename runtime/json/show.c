/* Strings from outside, on their way into a line that a person or an engine reads. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"

enum { SHOWN_MAX = 64 };

struct json_shown json_show_n(const char *s, size_t len)
{
	struct json_shown r = {.text = "\""};
	const unsigned char *p = (const unsigned char *)s;
	size_t i, n, at = 1;

	for (i = 0; i < len && at < SHOWN_MAX; i += n) {
		n = str_utf8_len(p + i, len - i);
		if (n == 0 || p[i] < 0x20 || p[i] == 0x7f) {
			n = 1;
			at += (size_t)snprintf(r.text + at, sizeof(r.text) - at, "\\x%02x", p[i]);
		} else {
			if (p[i] == '"' || p[i] == '\\')
				r.text[at++] = '\\';
			memcpy(r.text + at, p + i, n);
			at += n;
		}
	}
	snprintf(r.text + at, sizeof(r.text) - at, i < len ? "…\"" : "\"");
	return r;
}

struct json_shown json_show(const char *s)
{
	return json_show_n(s, strlen(s));
}
