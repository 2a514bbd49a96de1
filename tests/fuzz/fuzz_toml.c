/* Config files in TOML: every statement lies where it says, and a handler that is added to a
 * containerd's config can be found and taken out again. */
#include "fuzz.h"
#include "setup/containerd_toml.h"
#include "setup/toml_scan.h"

static void check_statements(const char *text, size_t len, const struct toml_scan *scan)
{
	size_t i, at = 0, line = 0;

	for (i = 0; i < scan->n; i++) {
		const struct toml_statement *t = &scan->v[i];

		DEMAND(t->at >= at && t->end > t->at && t->end <= len && t->line > line);
		DEMAND(t->end == len || text[t->end - 1] == '\n');
		DEMAND(t->path.n && t->path.n <= TOML_DEPTH && t->table <= t->path.n);
		DEMAND((t->kind == TOML_KEY) == (t->value != TOML_NONE));
		at = t->end;
		line = t->line;
	}
}

static void check_handler(const char *text, size_t len, const struct containerd_toml *c,
			  struct arena *a)
{
	struct containerd_toml with;
	struct error e = {0};
	size_t with_len, again_len, out_len;
	const char *add = containerd_toml_add(c, "/usr/local/bin/sbxrun", a, &with_len), *out;

	DEMAND(containerd_toml_read("F", add, with_len, a, &with, &e) == 0);
	DEMAND(with.block_end && with.version == (c->blank ? 2 : c->version));
	/* A block that somebody has edited may get longer, and what follows it moves. */
	DEMAND(with.has_runtimes == c->has_runtimes && !with.foreign_line == !c->foreign_line);
	DEMAND(str_eq(containerd_toml_add(&with, "/usr/local/bin/sbxrun", a, &again_len), add));
	if (c->block_end)
		return;
	out = containerd_toml_remove(&with, a, &out_len);
	DEMAND(out_len >= len && out_len <= len + 1 && memcmp(out, text, len) == 0);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct containerd_toml c;
	struct toml_scan scan;
	struct error e = {0};

	if (toml_scan("F", text, len, a, &scan, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	check_statements(text, len, &scan);
	if (containerd_toml_read("F", text, len, a, &c, &e) < 0)
		fuzz_check_error(&e);
	else if (c.version >= 2 || c.blank)
		check_handler(text, len, &c, a);
}
