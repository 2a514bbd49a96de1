#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "setup/diff.h"

enum { DIFF_CONTEXT = 3 };

struct lines {
	const char **v; /* the begin of each; v[n] is the end of the text */
	size_t n;
};

static struct lines lines_of(struct arena *a, const struct diff_side *side)
{
	struct lines l = {0};
	const char *p = side->text, *end = p + side->len, *newline;
	size_t cap = 0;

	do {
		l.v = arena_grow(a, l.v, &cap, l.n + 1, sizeof(*l.v));
		l.v[l.n] = p;
		if (p == end)
			return l;
		newline = memchr(p, '\n', (size_t)(end - p));
		p = newline ? newline + 1 : end;
		l.n++;
	} while (true);
}

static bool lines_equal(const struct lines *a, size_t i, const struct lines *b, size_t k)
{
	size_t len = (size_t)(a->v[i + 1] - a->v[i]);

	return (size_t)(b->v[k + 1] - b->v[k]) == len && memcmp(a->v[i], b->v[k], len) == 0;
}

/* A terminal would obey it: a control character, of ASCII or of Unicode, one that turns the order
 * of others around, or a byte that is no UTF-8. */
static bool is_unseemly(const unsigned char *p, size_t len)
{
	if (len == 0 || *p < 0x20 || *p == 0x7f)
		return true;
	if (len == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return len == 3 && p[0] == 0xe2 &&
	       ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void diff_show(struct buf *b, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;

	while (p < end) {
		size_t n = str_utf8_len(p, (size_t)(end - p)), i;
		/* A line may end with CR. */
		bool plain =
			*p == '\t' || *p == '\n' || (*p == '\r' && p + 1 < end && p[1] == '\n');

		if (plain || !is_unseemly(p, n))
			buf_add(b, (const char *)p, n);
		for (i = 0; !plain && is_unseemly(p, n) && i < (n ? n : 1); i++)
			buf_printf(b, "\\x%02x", p[i]);
		p += n ? n : 1;
	}
}

static void diff_lines(struct buf *b, char mark, const struct lines *l, size_t from, size_t to)
{
	for (; from < to; from++) {
		size_t len = (size_t)(l->v[from + 1] - l->v[from]);

		buf_char(b, mark);
		diff_show(b, l->v[from], len);
		if (l->v[from][len - 1] != '\n')
			buf_str(b, "\n\\ No newline at end of file\n");
	}
}

static void diff_name(struct buf *b, const char *mark, const char *name)
{
	buf_str(b, mark);
	name = name ? name : "/dev/null";
	diff_show(b, name, strlen(name));
	buf_char(b, '\n');
}

void diff_write(struct buf *b, const struct diff_side *before, const struct diff_side *after)
{
	struct lines x = lines_of(b->arena, before), y = lines_of(b->arena, after);
	size_t same = 0, tail = 0, from, last;

	while (same < x.n && same < y.n && lines_equal(&x, same, &y, same))
		same++;
	while (tail < x.n - same && tail < y.n - same &&
	       lines_equal(&x, x.n - tail - 1, &y, y.n - tail - 1))
		tail++;
	if (before->name && after->name && same == x.n && same == y.n)
		return;
	diff_name(b, "--- ", before->name);
	diff_name(b, "+++ ", after->name);
	if (!x.n && !y.n)
		return;
	from = same > DIFF_CONTEXT ? same - DIFF_CONTEXT : 0;
	last = tail > DIFF_CONTEXT ? DIFF_CONTEXT : tail;
	tail -= last;
	buf_printf(b, "@@ -%zu,%zu +%zu,%zu @@\n", x.n - tail == from ? from : from + 1,
		   x.n - tail - from, y.n - tail == from ? from : from + 1, y.n - tail - from);
	diff_lines(b, ' ', &x, from, same);
	diff_lines(b, '-', &x, same, x.n - tail - last);
	diff_lines(b, '+', &y, same, y.n - tail - last);
	diff_lines(b, ' ', &x, x.n - tail - last, x.n - tail);
}
