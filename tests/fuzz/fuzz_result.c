/* The result writer: whatever a program printed, named or asked for, what comes out is one JSON
 * document in one line, and what people are told has no controls in it. */
#include "box/box.h"
#include "box/hints.h"
#include "fuzz.h"
#include "json/json.h"

enum { RESULT_BYTES = 32 << 20, DENIALS = 4, FILES = 6 };

static struct box_captured captured(struct bytes *b)
{
	const size_t want = bytes_take(b, 2), n = want < b->left ? want : b->left;
	struct box_captured c = {.data = n ? b->p : bytes_choose(b, 2) ? "" : NULL,
				 .len = n,
				 .bytes = bytes_take(b, 4),
				 .truncated = bytes_choose(b, 2)};

	b->p += n < b->left ? n : b->left;
	b->left -= n < b->left ? n : b->left;
	if (!c.data)
		c.len = 0;
	return c;
}

static void denials(struct bytes *b, struct box_result *r, struct arena *a)
{
	static const char *const kinds[] = {"syscall", "network", "file"};
	size_t i;

	r->denials_known = bytes_choose(b, 8) != 0;
	r->n_denials = bytes_choose(b, DENIALS + 1);
	r->denials = arena_array(a, DENIALS, struct box_denial);
	for (i = 0; i < r->n_denials; i++)
		r->denials[i] = (struct box_denial){
			.kind = kinds[bytes_choose(b, ARRAY_SIZE(kinds))],
			.name = "openat",
			.target = bytes_choose(b, 4) ? hint_clean(bytes_string(b, a), a) : NULL,
			.error = bytes_choose(b, 2) ? "EPERM" : NULL,
			.hint = bytes_choose(b, 2) ? hint_of_file() : NULL,
			.count = bytes_take(b, 4),
		};
}

static struct box_result *result(struct bytes *b, struct arena *a, bool last)
{
	struct box_result *r = arena_new(a, struct box_result);
	size_t i;

	*r = (struct box_result){
		.id = bytes_string(b, a),
		.language = bytes_choose(b, 2) ? &box_languages[bytes_choose(b, 5)] : NULL,
		.rootfs = bytes_string(b, a),
		.status = (enum box_status)bytes_choose(b, 6),
		.exit_code = (int)bytes_take(b, 1), /* as wait() has it */
		.signal = (int)bytes_choose(b, 65),
		.error_type = "SandboxError",
		.error = bytes_choose(b, 2) ? bytes_string(b, a) : NULL,
		.wall_ns = bytes_take(b, 4) * INT64_C(1000003),
		.cpu_ns = bytes_take(b, 4),
		.memory_peak = bytes_take(b, 4),
		.pids_peak = bytes_take(b, 2),
		.disk_known = bytes_choose(b, 2),
		.limits = box_presets[bytes_choose(b, (uint32_t)box_n_presets)].limits,
		.notes = {.arena = a},
	};
	r->out[0] = captured(b);
	r->out[1] = captured(b);
	denials(b, r, a);
	r->files.known = bytes_choose(b, 4) != 0;
	r->files.n = bytes_choose(b, FILES + 1);
	r->files.v = arena_array(a, FILES, char *);
	for (i = 0; i < r->files.n; i++)
		r->files.v[i] = bytes_string(b, a);
	for (i = bytes_choose(b, 3); i; i--)
		notes_add(&r->notes.notes, bytes_string(b, a), a);
	if (!last && bytes_choose(b, 4) == 0)
		r->compile = result(b, a, true);
	return r;
}

static const struct json_row top_rows[] = {{.key = NULL}};
static const struct json_table top = {.name = "result", .size = 1, .rows = top_rows, .count = 0};

void fuzz_one(char *text, size_t len, struct arena *a)
{
	static const struct json_limits limits = {
		.bytes = RESULT_BYTES, .depth = 16, .elements = 100000, .string = RESULT_BYTES};
	struct bytes b = {text, len};
	struct box_result *r = result(&b, a, false);
	struct buf out = buf_new(a, RESULT_BYTES), told = buf_new(a, RESULT_BYTES);
	struct error e = {0};
	char ignored[1];
	size_t i;

	box_result_write(r, &out);
	DEMAND(!out.overflow && !strchr(out.data, '\n'));
	DEMAND(json_read("result", out.data, out.len, &top, &limits, ignored, a, &e) == 0);
	for (i = 0; i < r->n_denials; i++) {
		struct box_result one = {.n_denials = 1, .denials = &r->denials[i]};

		told = buf_new(a, RESULT_BYTES);
		box_tell(&one, &told);
		DEMAND(strchr(told.data, '\n') == told.data + told.len - 1);
	}
	DEMAND(box_exit_status(r) >= 0 && box_exit_status(r) <= 255);
}
