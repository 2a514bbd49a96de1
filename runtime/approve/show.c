/* A person sees all of a model's text here, and nothing that isn't in it. */
#include <stdio.h>
#include <string.h>

#include "approve/approve.h"
#include "base/str.h"

/* Characters that hide, turn or imitate. */
static const struct {
	uint32_t from, to;
} unseen[] = {
	{0x00, 0x09},	  {0x0b, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	  {0x34f, 0x34f},
	{0x61c, 0x61c},	  {0x115f, 0x1160}, {0x17b4, 0x17b5},	{0x180b, 0x180f}, {0x200b, 0x200f},
	{0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},	{0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
	{0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
};

static uint32_t decode(const unsigned char *p, size_t len)
{
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = p[0] & mask[len];
	size_t i;

	for (i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

static bool is_unseen(uint32_t c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unseen); i++)
		if (c >= unseen[i].from && c <= unseen[i].to)
			return true;
	/* Clients may take these for markup. */
	return c == '<' || c == '>';
}

size_t approve_show(struct buf *b, const char *text, size_t most)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = strlen(text), n, from = b->len;
	uint32_t c;

	buf_str(b, "| ");
	for (; left; p += n, left -= n) {
		if (b->len - from > most) {
			buf_printf(b, "\n| (%zu bytes more are not shown)", left);
			break;
		}
		n = str_utf8_len(p, left);
		c = n ? decode(p, n) : *p;
		if (c == '\n')
			buf_str(b, "\n| ");
		else if (!n || is_unseen(c))
			buf_printf(b, n ? "\\u{%x}" : "\\x{%x}", c);
		else
			buf_add(b, p, n);
		n = n ? n : 1;
	}
	buf_char(b, '\n');
	return left;
}

/* Parts that do not fit are said before those that do. */
static void prompt_shown(const struct approve_question *x, size_t most, struct buf *b)
{
	struct buf shown = buf_new(b->arena, b->max);
	size_t left = approve_show(&shown, x->shown, most), all = strlen(x->shown);

	if (left || shown.overflow)
		buf_printf(b,
			   "It is too long to be shown here. These are the first %zu of %zu bytes, "
			   "as the model wrote it; sbxrun approve show %s has all of it:\n",
			   all - left, all, x->id);
	else
		buf_str(b, "Exactly this, as the model wrote it:\n");
	buf_add(b, shown.data, shown.len);
}

/* The beginning of what has more lines than the terminal has gone by. */
static void prompt_height(const struct approve_question *x, unsigned int rows, size_t from,
			  struct buf *b)
{
	unsigned int lines = 0;
	size_t i;

	for (i = from; i < b->len; i++)
		lines += b->data[i] == '\n';
	if (rows && lines >= rows)
		buf_printf(b,
			   "These were %u lines, and the terminal has %u: scroll up, or run "
			   "sbxrun approve show %s.\n",
			   lines, rows, x->id);
}

void approve_prompt(const struct approve_question *x, bool terminal, unsigned int rows,
		    size_t most, struct buf *b)
{
	size_t from = b->len;

	buf_printf(b, "sbxrun: %s wants to run. Risk: %s (%s).\n", x->tool,
		   approve_risk_word(x->risk), x->why);
	if (x->box)
		buf_printf(b, "Box: %s\n", x->box);
	prompt_shown(x, most, b);
	buf_printf(
		b,
		"Question %s, asked by uid %u. Whoever has this user's rights can answer it, also "
		"an agent with a shell: this is a question, and no wall.\n",
		x->id, x->uid);
	if (!terminal)
		return;
	prompt_height(x, rows, from, b);
	buf_str(b, "yes");
	if (x->box && x->most >= SCOPE_BOX)
		buf_str(b, ", box (yes, and this tool in this box from now on)");
	if (approve_may_always(x))
		buf_str(b, ", always (yes, and this tool in all boxes of sbxrun mcp, until "
			   "sbxrun approve revoke)");
	buf_str(b, ", or no? ");
}
