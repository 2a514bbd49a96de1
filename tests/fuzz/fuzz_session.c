/* What a session's driver says: any bytes, in any pieces. What is taken is within its bounds, and
 * is written as one JSON object; how the bytes were cut makes no difference. */
#include "box/session_frame.h"
#include "fuzz.h"
#include "json/json.h"

enum { RESULT_BYTES = 32 << 20 };

static const struct json_row top_rows[] = {{.key = NULL}};
static const struct json_table top = {.name = "result", .size = 1, .rows = top_rows, .count = 0};

static int feed(struct session_frames *f, const char *text, size_t len, size_t piece,
		struct arena *a)
{
	struct error e = {0};
	size_t at, n;
	int result = 0;

	session_frames_begin(f, 1, a);
	for (at = 0; at < len && result == 0; at += n) {
		n = len - at < piece ? len - at : piece;
		result = session_frames_feed(f, text + at, n, &e);
	}
	session_frames_end(f);
	return result;
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	static const struct json_limits limits = {
		.bytes = RESULT_BYTES, .depth = 16, .elements = 100000, .string = RESULT_BYTES};
	struct session_frames *whole = arena_new(a, struct session_frames);
	struct session_frames *cut = arena_new(a, struct session_frames);
	struct buf out = buf_new(a, RESULT_BYTES), told = buf_new(a, RESULT_BYTES);
	struct buf again = buf_new(a, RESULT_BYTES);
	struct error e = {0};
	char ignored[1];
	size_t i;
	int result;

	result = feed(whole, text, len, len ? len : 1, a);
	DEMAND(whole->n_displays <= SESSION_DISPLAYS_MAX);
	if (result < 0)
		return;
	DEMAND(feed(cut, text, len, 1, a) == 0);
	buf_char(&out, '{');
	session_frames_write(whole, &out);
	buf_char(&out, '}');
	buf_char(&again, '{');
	session_frames_write(cut, &again);
	buf_char(&again, '}');
	DEMAND(out.len == again.len && memcmp(out.data, again.data, out.len) == 0);
	DEMAND(!out.overflow && !strchr(out.data, '\n'));
	DEMAND(json_read("result", out.data, out.len, &top, &limits, ignored, a, &e) == 0);
	DEMAND(whole->exit_code >= 0 && whole->exit_code <= 255);
	for (i = 0; i < whole->n_displays; i++)
		session_value_tell(&whole->displays[i], &told);
}
