/*
 * The log of a box: a line of JSON for each deed, beside its record and gone with the box. The
 * audit has what is to outlive it, or to be proved (audit.h).
 *
 * Lines are appended whole. Past a size the file becomes the old one, and what was older is gone.
 * Trust: paths and arguments are the caller's; they are escaped and shortened.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/sandbox.h"
#include "json/json.h"

#define LOG_NAME "log"
#define LOG_OLD "log.old"

enum { LOG_MAX = 1 << 20, LINE_MAX_BYTES = 64 << 10, WORDS_MAX = 32, WORD_MAX = 256 };

static void log_word(struct buf *b, const char *word, struct arena *a)
{
	json_write_string(b, strlen(word) > WORD_MAX ? arena_strndup(a, word, WORD_MAX) : word);
}

static void log_result(struct buf *b, const struct box_result *r)
{
	buf_printf(b, ",\"status\":\"%s\",\"exit_code\":%d", box_status_words[r->status],
		   r->exit_code);
	if (*r->code_sha256)
		buf_printf(b, ",\"code_sha256\":\"%s\"", r->code_sha256);
	if (r->language)
		buf_printf(b, ",\"language\":\"%s\"", r->language->name);
	buf_printf(b, ",\"execution_ms\":%" PRId64 ",\"denials\":%zu", r->wall_ns / 1000000,
		   r->n_denials);
}

int sandbox_log_make(int dfd, struct error *e)
{
	autoclose int fd = openat(dfd, LOG_NAME,
				  O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(e, "make the log of a box") : 0;
}

int sandbox_log(const struct sandbox *s, const struct sandbox_event *ev, struct arena *a,
		struct error *e)
{
	struct buf b = buf_new(a, LINE_MAX_BYTES);
	autoclose int fd = -1;
	struct stat st;
	size_t i;

	buf_printf(&b, "{\"time\":\"%s\",\"verb\":\"%s\"", record_now(a), ev->verb);
	if (ev->path) {
		buf_str(&b, ",\"path\":");
		log_word(&b, ev->path, a);
	}
	if (ev->result)
		log_result(&b, ev->result);
	for (i = 0; i < ev->args.n && i < WORDS_MAX; i++) {
		buf_str(&b, i ? "," : ",\"args\":[");
		log_word(&b, ev->args.v[i], a);
	}
	buf_str(&b, ev->args.n ? "]" : "");
	buf_printf(&b, ",\"success\":%s}\n", ev->failed ? "false" : "true");
	if (fstatat(s->dfd, LOG_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > LOG_MAX &&
	    renameat(s->dfd, LOG_NAME, s->dfd, LOG_OLD) == 0 &&
	    sandbox_log_make(s->dfd, e) < 0)
		return -1;
	/* Not made here: a destroy that is at work would find its directory not empty. */
	fd = openat(s->dfd, LOG_NAME, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0; /* it was destroyed meanwhile */
	if (fd < 0 || write(fd, b.data, b.len) != (ssize_t)b.len)
		return err_sys(e, "write the log of box \"%s\"", s->id);
	return 0;
}

static int log_add(const struct sandbox *s, const char *name, struct buf *b, struct arena *a,
		   struct error *e)
{
	autoclose int fd = openat(s->dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len;
	char *text;

	if (fd < 0 && errno == ENOENT)
		return 0;
	text = fd < 0 ? NULL : fd_read_all(fd, LOG_MAX + LINE_MAX_BYTES, a, &len);
	if (!text)
		return err_sys(e, "read the log of box \"%s\"", s->id);
	buf_add(b, text, len);
	return 0;
}

int sandbox_read_log(const struct sandbox *s, struct buf *b, struct arena *a, struct error *e)
{
	return log_add(s, LOG_OLD, b, a, e) < 0 ? -1 : log_add(s, LOG_NAME, b, a, e);
}
