/*
 * docker's daemon.json, edited: what is outside of the splice stays, uninstall undoes install, and
 * what our reader takes for JSON is what yajl, and what is strict around it, do.
 */
#include "fuzz.h"
#include "json/json.h"
#include "setup/daemon_json.h"
#include "setup/diff.h"
#include "setup/json_text.h"

static const char program[] = "/usr/local/bin/sbxrun";

struct nothing {
	char none;
};

/* A table without rows: every key is skipped, but read. */
static bool is_json(const char *text, size_t len, struct arena *a, struct error *e)
{
	static const struct json_table table = {.name = "nothing", .size = sizeof(struct nothing)};
	struct nothing n;

	return json_read("F", text, len, &table, &json_default_limits, &n, a, e) == 0;
}

static void compare_readers(const char *text, size_t len, struct arena *a)
{
	struct error ours = {0}, theirs = {0};
	struct json_node *top;
	bool taken = json_text_read("F", text, len, a, &top, &ours) == 0;

	if (!taken)
		fuzz_check_error(&ours);
	if (strstr(ours.text, "nested deeper") || (taken && top->kind != JSON_TEXT_OBJECT))
		return;
	if (is_json(text, len, a, &theirs))
		DEMAND(taken || strstr(ours.text, "twice"));
	else
		DEMAND(!taken || strstr(theirs.text, "deep"));
}

static void check_splice(const char *text, size_t len, const struct splice *s)
{
	size_t tail = len - s->at - s->cut;

	DEMAND(s->at + s->cut <= len && s->len == s->at + strlen(s->insert) + tail);
	DEMAND(memcmp(s->text, text, s->at) == 0);
	DEMAND(memcmp(s->text + s->len - tail, text + s->at + s->cut, tail) == 0);
}

static void check_diff(const char *text, size_t len, const struct splice *s, struct arena *a)
{
	struct buf b = buf_new(a, 1 << 20);
	const struct diff_side before = {"a", text, len}, after = {"b", s->text, s->len};

	diff_write(&b, &before, &after);
	DEMAND(b.len && b.data[b.len - 1] == '\n');
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct splice s, again, out;
	struct error e = {0};
	bool had = daemon_json_has_runtimes(text, len, a);

	compare_readers(text, len, a);
	if (daemon_json_remove("F", text, len, true, true, a, &out, &e) < 0)
		fuzz_check_error(&e);
	else if (out.changes)
		check_splice(text, len, &out);
	e = (struct error){0};
	if (daemon_json_add("F", text, len, program, false, a, &s, &e) < 0) {
		DEMAND(e.class == ERR_CONFIG);
		fuzz_check_error(&e);
		return;
	}
	if (!s.changes)
		return;
	check_splice(text, len, &s);
	check_diff(text, len, &s, a);
	DEMAND(daemon_json_add("F", s.text, s.len, program, false, a, &again, &e) == 0);
	DEMAND(!again.changes);
	/* the only reason not to: others rely on us */
	if (daemon_json_remove("F", s.text, s.len, false, had, a, &out, &e) < 0)
		DEMAND(strstr(e.text, "default runtime"));
	else
		DEMAND(daemon_json_equal(text, len, out.text, out.len, a));
}
