#include "sys/journal.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

enum { TEXT_MAX = 2048, MESSAGE_MAX = 512, VALUE_MAX = 256 };

/* Makes it one line of the journal's protocol. */
static void plain(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
	for (; *to; to++)
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			*to = '?';
}

static int journal_text(char text[TEXT_MAX], const char *message,
			const struct journal_field *fields, size_t n)
{
	char value[VALUE_MAX];
	int len = snprintf(text, TEXT_MAX, "PRIORITY=6\nSYSLOG_IDENTIFIER=sbxrun\nMESSAGE=%s\n",
			   message);
	size_t i;

	for (i = 0; i < n && len > 0 && len < TEXT_MAX; i++) {
		plain(value, sizeof(value), fields[i].value);
		len += snprintf(text + len, (size_t)(TEXT_MAX - len), "%s=%s\n", fields[i].name,
				value);
	}
	return len;
}

/* The journal's own protocol, or else the older one. */
void journal_say(const char *message, const struct journal_field *fields, size_t n)
{
	static const char *const places[] = {"/run/systemd/journal/socket", "/dev/log"};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char text[TEXT_MAX], line[MESSAGE_MAX];
	autoclose int fd = -1;
	size_t i;
	int len;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], W_OK) == 0)
			break;
	if (i == ARRAY_SIZE(places))
		return;
	plain(line, sizeof(line), message);
	len = i == 0 ? journal_text(text, line, fields, n) :
		       snprintf(text, sizeof(text), "<14>sbxrun: %s", line);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", places[i]);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && len > 0 && (size_t)len < sizeof(text))
		sendto(fd, text, (size_t)len, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to));
}
