#include "plan/rdt.h"

#include "base/buf.h"
#include "base/str.h"

enum { SCHEMATA_MAX = 64 << 10 };

/* Names that mean something else in the root of resctrl. */
static bool is_reserved(const char *name)
{
	static const char *const names[] = {"info", "mon_groups", "mon_data"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

/* The lines of text; without those of memory bandwidth, if these come from elsewhere. */
static void add_lines(struct buf *b, const char *text, bool without_mb)
{
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (!len || (without_mb && str_after(text + strspn(text, " "), "MB:")))
			continue;
		buf_add(b, text, len);
		buf_char(b, '\n');
	}
}

const char *rdt_schemata(const char *l3, const char *mb, const struct strings *more,
			 struct arena *a)
{
	struct buf b = buf_new(a, SCHEMATA_MAX);
	size_t i;

	if (l3)
		add_lines(&b, l3, mb != NULL);
	if (mb)
		add_lines(&b, mb, false);
	for (i = 0; more && i < more->n; i++)
		add_lines(&b, more->v[i], false);
	return b.len ? b.data : NULL;
}

int plan_rdt(const struct oci_intel_rdt *r, const char *id, const char *root, struct arena *a,
	     struct rdt_plan *ret, struct error *e)
{
	struct rdt_plan p = {.group.set = r->set};
	const char *class = r->clos_id ? r->clos_id : id;
	bool is_root = str_eq(class, "/");

	if (!r->set) {
		*ret = p;
		return 0;
	}
	if (!root)
		return err_set(e, ERR_HOST, "linux.intelRdt: no resctrl file system is mounted");
	if (is_reserved(class))
		return err_set(e, ERR_CONFIG,
			       "linux.intelRdt.closID: \"%s\" can't be the name of a class", class);
	p.schemata = rdt_schemata(r->l3_cache_schema, r->mem_bw_schema, &r->schemata, a);
	p.group.root = arena_strdup(a, root);
	p.group.class = is_root ? p.group.root : arena_printf(a, "%s/%s", root, class);
	p.group.ours = !r->clos_id;
	p.may_make = !is_root && (p.group.ours || p.schemata);
	if (r->enable_monitoring)
		p.group.monitor = arena_printf(a, "%s/mon_groups/%s", p.group.class, id);
	*ret = p;
	return 0;
}

/* ---- comparing ---- */

/* A piece of text, up to a character or the end, without the spaces around it. */
struct piece {
	const char *at;
	size_t len;
};

static struct piece piece_take(const char **text, const char *end, char stop)
{
	struct piece p = {.at = *text};
	const char *to = memchr(*text, stop, (size_t)(end - *text));

	if (!to)
		to = end;
	*text = to < end ? to + 1 : end;
	while (p.at < to && *p.at == ' ')
		p.at++;
	while (to > p.at && to[-1] == ' ')
		to--;
	p.len = (size_t)(to - p.at);
	return p;
}

static bool piece_eq(struct piece a, struct piece b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static struct piece without_zeros(struct piece p)
{
	while (p.len > 1 && *p.at == '0') {
		p.at++;
		p.len--;
	}
	return p;
}

/* "0=ff;1=f": does it give this domain this value? */
static bool domains_have(struct piece domains, struct piece id, struct piece value)
{
	const char *at = domains.at, *end = domains.at + domains.len;

	while (at < end) {
		struct piece domain = piece_take(&at, end, ';');
		const char *inner = domain.at, *inner_end = domain.at + domain.len;

		if (piece_eq(piece_take(&inner, inner_end, '='), id) &&
		    piece_eq(without_zeros(piece_take(&inner, inner_end, '\n')),
			     without_zeros(value)))
			return true;
	}
	return false;
}

/* The domains of a resource ("L3") in a file of lines "L3:…". */
static bool file_find(const char *file, struct piece resource, struct piece *ret)
{
	const char *at = file, *end = file + strlen(file);

	while (at < end) {
		struct piece line = piece_take(&at, end, '\n');
		const char *inner = line.at, *inner_end = line.at + line.len;

		if (piece_eq(piece_take(&inner, inner_end, ':'), resource)) {
			*ret = piece_take(&inner, inner_end, '\n');
			return true;
		}
	}
	return false;
}

static bool line_agrees(const char *file, struct piece line)
{
	const char *at = line.at, *end = line.at + line.len;
	struct piece resource = piece_take(&at, end, ':'), domains;

	if (!file_find(file, resource, &domains))
		return false;
	while (at < end) {
		struct piece domain = piece_take(&at, end, ';');
		const char *inner = domain.at, *inner_end = domain.at + domain.len;
		struct piece id = piece_take(&inner, inner_end, '=');

		if (domain.len && !domains_have(domains, id, piece_take(&inner, inner_end, '\n')))
			return false;
	}
	return true;
}

bool rdt_schemata_agree(const char *file, const char *asked)
{
	const char *at = asked, *end = asked + strlen(asked);

	while (at < end) {
		struct piece line = piece_take(&at, end, '\n');

		if (line.len && !line_agrees(file, line))
			return false;
	}
	return true;
}
