/*
 * The log is the process's: level, descriptor and what waits are in one static struct. The others
 * of that kind, of the library: the signals that end a wait (sys/patience.c), the timing file
 * (base/timing.c), the handler of base/arena.h, where the command line is (sys/self.c), the boot's
 * id once it was read (sys/proc.c), and the number of the last request (sys/netlink.c). In init
 * alone: what it keeps (init/forget.c) and the listener that it awaits (init/listener.c).
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/date.h"
#include "base/fd.h"
#include "base/output.h"
#include "base/str.h"

static struct {
	int fd;
	int stderr_fd; /* for lines without a file; number 2 may become the program's terminal */
	bool json;
	enum log_level level;
	size_t held_len; /* warnings that wait for the command's end, each with its NUL */
	size_t held_lost; /* that there was no room for */
	char held[8192];
} logger = {.fd = -1, .stderr_fd = STDERR_FILENO, .level = LOG_ERROR};

static const char *const level_names[] = {"error", "warning", "info", "debug"};

int log_open(const struct log_options *o, struct error *e)
{
	logger.json = o->json;
	logger.level = o->level;
	if (!o->file && o->level > LOG_WARN) {
		int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

		logger.stderr_fd = fd < 0 ? STDERR_FILENO : fd;
	}
	if (!o->file)
		return 0;
	/* Not blocking: it may be a pipe that nobody reads, and a verb must not
	 * wait for its log. */
	logger.fd = output_open("--log", o->file, O_APPEND, e);
	if (logger.fd < 0)
		return -1;
	if (fd_move_above(&logger.fd, 3) < 0)
		return err_sys(e, "--log: open %s", o->file);
	return 0;
}

/* Trust: the text may quote what a config or a caller wrote. The line stays one line, and UTF-8. */
static void log_quote(char *out, size_t size, const char *s)
{
	size_t n = 0, len = strlen(s), i, k;

	for (i = 0; i < len && n + 8 < size; i += k ? k : 1) {
		unsigned char c = (unsigned char)s[i];

		k = str_utf8_len((const unsigned char *)s + i, len - i);
		if (c == '"' || c == '\\') {
			out[n++] = '\\';
			out[n++] = (char)c;
		} else if (k == 0 || c < 0x20 || c == 0x7f) {
			n += (size_t)snprintf(out + n, size - n, "\\u%04x", k ? c : 0xfffdU);
		} else {
			memcpy(out + n, s + i, k);
			n += k;
		}
	}
	out[n] = '\0';
}

static void log_line(int fd, enum log_level level, const char *text)
{
	char quoted[6144], stamp[DATE_SIZE], line[7168];
	struct timespec now;
	int len;

	clock_gettime(CLOCK_REALTIME, &now);
	date_format(now.tv_sec, stamp);
	log_quote(quoted, sizeof(quoted), text);
	if (logger.json)
		len = snprintf(line, sizeof(line),
			       "{\"level\":\"%s\",\"msg\":\"%s\",\"time\":\"%sZ\"}\n",
			       level_names[level], quoted, stamp);
	else
		len = snprintf(line, sizeof(line), "time=\"%sZ\" level=%s msg=\"%s\"\n", stamp,
			       level_names[level], quoted);
	/* A full disk or a closed pipe must not change what the verb does. */
	if (len > 0 && fd_write_all(fd, line, (size_t)len) < 0)
		return;
}

/* Trust: the text may quote a config or an image, and this may be a terminal. */
static void log_say(const char *kind, const char *text)
{
	char line[2 * sizeof(((struct error *)NULL)->text)], *p;
	int len = snprintf(line, sizeof(line) - 1, "sbxrun: %s%s", kind, text);

	if (len >= (int)sizeof(line) - 1)
		len = (int)sizeof(line) - 2;
	if (len > 0)
		line[len++] = '\n';
	for (p = line; len > 0 && p < line + len - 1; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
		else if (p[0] == '\xc2' && (unsigned char)p[1] < 0xa0) /* U+0080 to U+009F */
			p[0] = p[1] = '?';
	if (len > 0 && fd_write_all(STDERR_FILENO, line, (size_t)len) < 0)
		return;
}

/* Until the outcome is known: a failure is one line, with its warnings. */
static void log_hold(const char *text)
{
	size_t len = strlen(text) + 1;

	if (len > sizeof(logger.held) - logger.held_len) {
		logger.held_lost++;
		return;
	}
	memcpy(logger.held + logger.held_len, text, len);
	logger.held_len += len;
}

static void log_warning(const char *text)
{
	if (logger.fd >= 0)
		log_hold(text);
	else
		log_say("warning: ", text);
}

bool log_wants(enum log_level level)
{
	return level <= logger.level;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	char text[1024];
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (level == LOG_WARN && logger.level < LOG_DEBUG)
		log_warning(text);
	else
		log_line(logger.fd >= 0 ? logger.fd : logger.stderr_fd, level, text);
	errno = saved;
}

void log_debug_lines(const char *prefix, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		if (*line)
			log_debug("%s%s", prefix, line);
}

void log_flush(void)
{
	char more[64];
	size_t at;

	for (at = 0; at < logger.held_len; at += strlen(logger.held + at) + 1)
		log_line(logger.fd, LOG_WARN, logger.held + at);
	if (logger.held_lost) {
		snprintf(more, sizeof(more), "%zu more warnings", logger.held_lost);
		log_line(logger.fd, LOG_WARN, more);
	}
	logger.held_len = logger.held_lost = 0;
}

/* The error comes first: engines look for its words, and people read no further. */
static void log_failure_line(const struct error *e)
{
	char text[2 * sizeof(e->text)];
	size_t at, len;

	len = (size_t)snprintf(text, sizeof(text), "%s", e->text);
	for (at = 0; at < logger.held_len && len < sizeof(text); at += strlen(logger.held + at) + 1)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
					at ? "; " : " (warnings: ", logger.held + at);
	if (logger.held_len && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, ")");
	log_line(logger.fd, LOG_ERROR, text);
}

void log_failure(const struct error *e)
{
	if (logger.fd >= 0)
		log_failure_line(e);
	if (logger.fd < 0 && logger.json)
		log_line(STDERR_FILENO, LOG_ERROR, e->text);
	else
		log_say("", e->text);
}

void log_close(void)
{
	fd_close(&logger.fd);
	if (logger.stderr_fd > STDERR_FILENO)
		fd_close(&logger.stderr_fd);
	logger.stderr_fd = STDERR_FILENO;
	logger.level = LOG_ERROR;
}
