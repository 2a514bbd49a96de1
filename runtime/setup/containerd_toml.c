#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "setup/containerd_toml.h"
#include "setup/toml_scan.h"

static const char block_begin[] =
	"# sbxrun: begin (sbxrun install; sbxrun uninstall removes this)\n";
static const char block_end[] = "# sbxrun: end\n";

enum { HANDLERS = 4, TEXT_MAX = 4 << 20 };

/* Where handlers are, by the version of the file. */
static const char *const handlers_2[HANDLERS] = {"plugins", "io.containerd.grpc.v1.cri",
						 "containerd", "runtimes"};
static const char *const handlers_3[HANDLERS] = {"plugins", "io.containerd.cri.v1.runtime",
						 "containerd", "runtimes"};

static const char *const *handlers_of(unsigned long version)
{
	return version >= 3 ? handlers_3 : handlers_2;
}

static int toml_fail(const char *what, size_t line, const char *why, struct error *e)
{
	return err_set(e, ERR_CONFIG, "%s:%zu: %s", what, line, why);
}

/* ---- reading ---- */

/* A line that is nothing but this comment. SIZE_MAX: none. */
static size_t find_line(const char *text, size_t len, const char *line, size_t from)
{
	size_t n = strlen(line), at;
	const char *newline;

	for (at = from; at + n <= len; at = (size_t)(newline - text) + 1) {
		if (memcmp(text + at, line, n) == 0)
			return at;
		newline = memchr(text + at, '\n', len - at);
		if (!newline)
			break;
	}
	return SIZE_MAX;
}

/* With the empty line before it, which is ours, too. */
static int find_block(const char *what, struct containerd_toml *c, struct error *e)
{
	size_t begin = find_line(c->text, c->len, block_begin, 0), end;

	if (begin == SIZE_MAX)
		return 0;
	end = find_line(c->text, c->len, block_end, begin);
	if (end == SIZE_MAX || find_line(c->text, c->len, block_begin, begin + 1) != SIZE_MAX)
		return err_set(
			e, ERR_CONFIG,
			"%s: the lines that sbxrun install has added have no end, or stand "
			"there twice: remove them by hand (\"# sbxrun: begin\" to \"# sbxrun: "
			"end\")",
			what);
	c->block_at = begin >= 2 && memcmp(c->text + begin - 2, "\n\n", 2) == 0 ? begin - 1 : begin;
	c->block_end = end + sizeof(block_end) - 1;
	return 0;
}

static bool is_ours(const struct containerd_toml *c, const struct toml_statement *t)
{
	return t->at >= c->block_at && t->at < c->block_end;
}

static bool path_is(const struct toml_statement *t, const char *const *words, const char *a,
		    const char *b, const char *last)
{
	const char *path[HANDLERS + 3];
	size_t n = HANDLERS;

	memcpy(path, words, HANDLERS * sizeof(*path));
	if (a)
		path[n++] = a;
	if (b)
		path[n++] = b;
	if (last)
		path[n++] = last;
	return toml_is(&t->path, path, n);
}

/* Tables on the way to ours that can't be added to later: {…}, [[…]], and those that dotted keys
 * make. */
static bool closes_the_way(const struct toml_statement *t, const char *const *words)
{
	const char *way[HANDLERS + 2];
	size_t n, made;

	memcpy(way, words, HANDLERS * sizeof(*way));
	way[HANDLERS] = "sbxrun";
	way[HANDLERS + 1] = "options";
	for (n = 0; n < HANDLERS + 2 && n < t->path.n && str_eq(t->path.v[n], way[n]); n++)
		;
	if (t->kind == TOML_TABLE)
		return false;
	if (t->kind == TOML_ARRAY_TABLE)
		return n == t->path.n;
	/* Keys make the tables up to the last but one of their words. */
	made = t->path.n - 1;
	if (n == t->path.n)
		return n <= HANDLERS;
	return made > t->table && n > t->table && t->table < HANDLERS;
}

static int read_version(const char *what, const struct toml_statement *t, struct containerd_toml *c,
			struct error *e)
{
	uint64_t version;

	if (t->value != TOML_WORD || !str_to_u64(t->word, 99, &version) || version < 1)
		return toml_fail(what, t->line, "version is not a number that containerd knows", e);
	c->version = (unsigned long)version;
	c->block_has_version = c->block_has_version || is_ours(c, t);
	return 0;
}

static int read_top(const char *what, const struct toml_statement *t, struct containerd_toml *c,
		    struct error *e)
{
	const char *const version[] = {"version"}, *const imports[] = {"imports"},
			  *const disabled[] = {"disabled_plugins"};
	size_t i;

	if (t->kind != TOML_KEY)
		return 0;
	if (toml_is(&t->path, version, 1))
		return read_version(what, t, c, e);
	if (toml_is(&t->path, imports, 1)) {
		if (t->value != TOML_ARRAY)
			return toml_fail(what, t->line, "imports is not a list", e);
		c->imports = t->items;
	}
	for (i = 0; toml_is(&t->path, disabled, 1) && i < t->items.n; i++)
		if (str_eq(t->items.v[i], "cri") || str_eq(t->items.v[i], handlers_2[1]) ||
		    str_eq(t->items.v[i], handlers_3[1]))
			c->cri_is_disabled = true;
	return 0;
}

static const char *default_runtime(const struct toml_scan *scan, const char *const *words)
{
	const char *path[] = {words[0], words[1], words[2], "default_runtime_name"};
	size_t i;

	for (i = 0; i < scan->n; i++)
		if (toml_is(&scan->v[i].path, path, ARRAY_SIZE(path)) && scan->v[i].word)
			return scan->v[i].word;
	return "runc";
}

static int read_handlers(const char *what, const struct toml_scan *scan, struct containerd_toml *c,
			 struct error *e)
{
	const char *const *words = handlers_of(c->version);
	const char *runtime = default_runtime(scan, words);
	const struct toml_statement *t;
	size_t i;

	for (i = 0; i < scan->n; i++) {
		t = &scan->v[i];
		if (is_ours(c, t))
			continue;
		if (closes_the_way(t, words))
			return toml_fail(
				what, t->line,
				"a table that nothing can be added to from below: write it "
				"as [plugins.…] and one key a line, or add the handler by "
				"hand",
				e);
		if (!toml_begins(&t->path, words, HANDLERS))
			continue;
		c->has_runtimes = true;
		if (t->path.n > HANDLERS && str_eq(t->path.v[HANDLERS], "sbxrun") &&
		    !c->foreign_line)
			c->foreign_line = t->line;
		if (path_is(t, words, runtime, "options", "SystemdCgroup"))
			c->systemd = t->word && str_eq(t->word, "true");
	}
	return 0;
}

int containerd_toml_read(const char *what, const char *text, size_t len, struct arena *a,
			 struct containerd_toml *ret, struct error *e)
{
	struct containerd_toml c = {.text = text, .len = len};
	struct toml_scan scan;
	size_t i;

	if (toml_scan(what, text, len, a, &scan, e) < 0 || find_block(what, &c, e) < 0)
		return -1;
	c.blank = scan.n == 0;
	for (i = 0; i < scan.n; i++) {
		if (read_top(what, &scan.v[i], &c, e) < 0)
			return -1;
		c.has_others = c.has_others || !is_ours(&c, &scan.v[i]);
	}
	if (c.version >= 2 && read_handlers(what, &scan, &c, e) < 0)
		return -1;
	*ret = c;
	return 0;
}

bool containerd_toml_imports_conf_d(const struct containerd_toml *c)
{
	static const char *const ways[] = {CONTAINERD_CONF_D "/*.toml", CONTAINERD_CONF_D "/*",
					   "conf.d/*.toml", "./conf.d/*.toml"};
	size_t i, k;

	for (i = 0; i < c->imports.n; i++)
		for (k = 0; k < ARRAY_SIZE(ways); k++)
			if (str_eq(c->imports.v[i], ways[k]))
				return true;
	return false;
}

/* ---- writing ---- */

static void add_header(struct buf *b, const char *const *words, const char *name, const char *more)
{
	buf_str(b, "[plugins.");
	json_write_string(b, words[1]);
	buf_str(b, ".containerd.runtimes.");
	buf_str(b, name);
	buf_str(b, more);
	buf_str(b, "]\n");
}

static void add_handler(struct buf *b, const char *const *words, const char *program, bool systemd)
{
	add_header(b, words, "sbxrun", "");
	buf_str(b, "runtime_type = \"io.containerd.runc.v2\"\n");
	add_header(b, words, "sbxrun", ".options");
	buf_str(b, "BinaryName = ");
	json_write_string(b, program);
	buf_str(b, systemd ? "\nSystemdCgroup = true\n" : "\nSystemdCgroup = false\n");
}

static void add_tables(struct buf *b, unsigned long version, bool has_runtimes, const char *program,
		       bool systemd)
{
	const char *const *words = handlers_of(version);

	add_handler(b, words, program, systemd);
	if (version >= 3 || has_runtimes)
		return;
	buf_str(b, "# the default one, which the table above would replace\n");
	add_header(b, words, "runc", "");
	buf_str(b, "runtime_type = \"io.containerd.runc.v2\"\n");
}

const char *containerd_toml_remove(const struct containerd_toml *c, struct arena *a,
				   size_t *ret_len)
{
	struct buf b = buf_new(a, TEXT_MAX);

	buf_add(&b, c->text, c->block_at);
	buf_add(&b, c->text + c->block_end, c->len - c->block_end);
	*ret_len = b.len;
	return b.len ? b.data : "";
}

/* The text without our part, and where a new one begins. */
static struct buf begin_block(const struct containerd_toml *c, struct arena *a)
{
	struct buf b = buf_new(a, TEXT_MAX);
	size_t len;
	const char *text = containerd_toml_remove(c, a, &len);

	buf_add(&b, text, len);
	if (len && text[len - 1] != '\n')
		buf_char(&b, '\n');
	if (len)
		buf_char(&b, '\n');
	buf_str(&b, block_begin);
	return b;
}

const char *containerd_toml_add(const struct containerd_toml *c, const char *program,
				struct arena *a, size_t *ret_len)
{
	struct buf b = begin_block(c, a);

	if (c->blank || c->block_has_version)
		buf_str(&b, "version = 2\n");
	add_tables(&b, c->blank ? 2 : c->version, c->has_runtimes, program, c->systemd);
	buf_str(&b, block_end);
	*ret_len = b.len;
	return b.data;
}

const char *containerd_toml_add_imports(const struct containerd_toml *c, struct arena *a,
					size_t *ret_len)
{
	struct buf b = begin_block(c, a);

	buf_str(&b, "version = 3\nimports = [\"" CONTAINERD_CONF_D "/*.toml\"]\n");
	buf_str(&b, block_end);
	*ret_len = b.len;
	return b.data;
}

const char *containerd_toml_drop_in(const char *program, bool systemd, const char *mark,
				    struct arena *a)
{
	struct buf b = buf_new(a, TEXT_MAX);

	buf_str(&b, mark);
	buf_str(&b, "\nversion = 3\n");
	add_tables(&b, 3, true, program, systemd);
	return b.data;
}
