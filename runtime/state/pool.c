#include "state/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* As much of a line as shadow reads. */
enum { LINE_SIZE = 1024 };

struct pool_line {
	char name[LINE_SIZE]; /* of a user, or his number */
	uint64_t first, count;
};

/* As shadow reads them, so that what is somebody's for it is so for us: also 0x70000000. */
static bool pool_parse_number(const char *text, uint64_t *ret)
{
	const uint64_t largest = UINT64_MAX / 4; /* sums of two don't overflow */
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	*ret = n;
	return end != text && !*end && !strchr(text, '-') && !errno && n <= largest;
}

/* NAME:FIRST:COUNT, and nothing else. */
static bool pool_parse_line(char *line, struct pool_line *ret)
{
	char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;

	if (!count)
		return false;
	*first++ = *count++ = '\0';
	snprintf(ret->name, sizeof(ret->name), "%s", line);
	return pool_parse_number(first, &ret->first) && pool_parse_number(count, &ret->count) &&
	       ret->count;
}

/* The next such line. */
static bool pool_next_line(const char **text, struct pool_line *ret)
{
	char line[LINE_SIZE];
	size_t len;

	while (**text) {
		len = strcspn(*text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : 0), *text);
		*text += len + ((*text)[len] == '\n');
		if (pool_parse_line(line, ret))
			return true;
	}
	return false;
}

static bool pool_overlap(uint64_t first, uint64_t count, uint64_t other, uint64_t other_count)
{
	return first < other + other_count && other < first + count;
}

/* Ids that are never ours, whatever the files say. */
static const char *pool_find_owner(const struct pool_line *l)
{
	static const struct {
		uint64_t first, last;
		const char *who;
	} taken[] = {
		{0, 65535, "the machine's own accounts"},
		{524288, 1879048191, "systemd's containers"},
		{2147352576, 2147483647, "systemd's foreign ids"},
		{UINT32_MAX, UINT64_MAX / 2, "no id: they are too large"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(taken); i++)
		if (pool_overlap(l->first, l->count, taken[i].first,
				 taken[i].last - taken[i].first + 1))
			return taken[i].who;
	return NULL;
}

static int pool_refuse(const char *file, const struct pool_line *l, const char *who,
		       struct error *e)
{
	return err_set(e, ERR_HOST,
		       "%s: ids of the entry " POOL_NAME ":%" PRIu64 ":%" PRIu64
		       " belong to %s: give it others",
		       file, l->first, l->count, who);
}

/* Nobody else may have any of them. */
static int pool_check_others(const char *file, const char *text, const struct pool_line *ours,
			     struct error *e)
{
	struct pool_line l;
	char who[LINE_SIZE + 8];

	while (pool_next_line(&text, &l)) {
		if (str_eq(l.name, POOL_NAME) ||
		    !pool_overlap(ours->first, ours->count, l.first, l.count))
			continue;
		snprintf(who, sizeof(who), "%s, too", l.name);
		return pool_refuse(file, ours, who, e);
	}
	return 0;
}

static bool pool_has(const char *text, const struct pool_line *wanted)
{
	struct pool_line l;

	while (pool_next_line(&text, &l))
		if (str_eq(l.name, wanted->name) && l.first == wanted->first &&
		    l.count == wanted->count)
			return true;
	return false;
}

static int pool_check(const char *subuid, const char *subgid, const struct pool_line *l,
		      struct error *e)
{
	const char *who = pool_find_owner(l);

	if (who)
		return pool_refuse("/etc/subuid", l, who, e);
	if (!pool_has(subgid, l))
		return err_set(e, ERR_HOST,
			       "/etc/subgid has no entry " POOL_NAME ":%" PRIu64 ":%" PRIu64
			       ", which /etc/subuid has: the two must have the same ids",
			       l->first, l->count);
	if (l->count < ID_RANGE_SIZE)
		return err_set(e, ERR_HOST,
			       "/etc/subuid: the entry " POOL_NAME ":%" PRIu64 ":%" PRIu64
			       " has less than %d ids, which one container has",
			       l->first, l->count, ID_RANGE_SIZE);
	return pool_check_others("/etc/subuid", subuid, l, e) < 0 ||
			       pool_check_others("/etc/subgid", subgid, l, e) < 0 ?
		       -1 :
		       0;
}

static bool pool_repeats(const struct pool *p, const struct pool_line *l)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (pool_overlap(l->first, l->count, p->v[i].first, p->v[i].size))
			return true;
	return false;
}

/* ---- where nobody says a word of us ---- */

enum { UNASKED_FIRST = 1879048192, UNASKED_RANGES = 268304384 / ID_RANGE_SIZE };

/* Ranges that the file gives to others. */
static void pool_mark_others(const char *text, bool taken[UNASKED_RANGES])
{
	const uint64_t end = (uint64_t)UNASKED_FIRST + (uint64_t)UNASKED_RANGES * ID_RANGE_SIZE;
	struct pool_line l;
	uint64_t i, last;

	while (pool_next_line(&text, &l)) {
		if (!pool_overlap(l.first, l.count, UNASKED_FIRST, end - UNASKED_FIRST))
			continue;
		i = l.first < UNASKED_FIRST ? 0 : (l.first - UNASKED_FIRST) / ID_RANGE_SIZE;
		last = l.first + l.count > end ? end : l.first + l.count;
		for (; UNASKED_FIRST + i * ID_RANGE_SIZE < last; i++)
			taken[i] = true;
	}
}

/* Always cut at the same ids: an entry that comes or goes moves no range, so that none overlaps one
 * that a container holds. */
static int pool_cut(const char *subuid, const char *subgid, struct pool *ret, struct error *e)
{
	bool taken[UNASKED_RANGES] = {false};
	struct pool p = {.unasked = true};
	bool goes_on = false;
	uint32_t i;

	pool_mark_others(subuid, taken);
	pool_mark_others(subgid, taken);
	for (i = 0; i < UNASKED_RANGES; goes_on = !taken[i++]) {
		if (taken[i])
			continue;
		if (!goes_on && p.n == POOL_ENTRIES_MAX)
			break;
		if (!goes_on)
			p.v[p.n++].first = UNASKED_FIRST + i * ID_RANGE_SIZE;
		p.v[p.n - 1].size += ID_RANGE_SIZE;
	}
	if (!p.n)
		return err_set(e, ERR_HOST,
			       "/etc/subuid and /etc/subgid give all ids of " POOL_ENTRY
			       " to others, and no entry " POOL_NAME
			       " says what ids containers may have instead");
	*ret = p;
	return 0;
}

/* The file's first word of us, well-formed or not; NULL: none. */
static const char *pool_find_word(const char *text)
{
	while (text && !str_after(text, POOL_NAME ":")) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* Somebody says a word of us that gives nothing: it is not for us to know better. */
static int pool_refuse_word(const char *in_subuid, const char *in_subgid, struct error *e)
{
	const char *word = in_subuid ? in_subuid : in_subgid;
	int len = (int)strcspn(word, "\n");

	return err_set(e, ERR_HOST,
		       "%s: the entry %.*s gives containers no ids: root writes the same "
		       "%s:FIRST:COUNT to /etc/subuid and /etc/subgid, or removes it, and "
		       "containers get the usual ones",
		       in_subuid ? "/etc/subuid" : "/etc/subgid", len > 64 ? 64 : len, word,
		       POOL_NAME);
}

int pool_read(const char *subuid, const char *subgid, struct pool *ret, struct error *e)
{
	const char *in_subuid = pool_find_word(subuid), *in_subgid = pool_find_word(subgid);
	const char *text = subuid;
	struct pool p = {0};
	struct pool_line l;

	if (!in_subuid && !in_subgid)
		return pool_cut(subuid, subgid, ret, e);
	while (p.n < POOL_ENTRIES_MAX && pool_next_line(&text, &l)) {
		if (!str_eq(l.name, POOL_NAME))
			continue;
		if (pool_check(subuid, subgid, &l, e) < 0)
			return -1;
		if (pool_repeats(&p, &l))
			return pool_refuse("/etc/subuid", &l, "another entry of " POOL_NAME, e);
		p.v[p.n++] = (struct id_range){(uint32_t)l.first, (uint32_t)l.count};
	}
	if (!p.n)
		return pool_refuse_word(in_subuid, in_subgid, e);
	*ret = p;
	return 0;
}

uint32_t pool_count(const struct pool *p)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < p->n; i++)
		count += p->v[i].size / ID_RANGE_SIZE;
	return count;
}

struct id_range pool_range(const struct pool *p, uint32_t i)
{
	size_t k = 0;

	while (i >= p->v[k].size / ID_RANGE_SIZE)
		i -= p->v[k++].size / ID_RANGE_SIZE;
	return (struct id_range){p->v[k].first + i * ID_RANGE_SIZE, ID_RANGE_SIZE};
}
