#include "state/pool.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { LINE_SIZE = 256 };

struct pool_line {
	char name[LINE_SIZE]; /* of a user, or his number */
	uint64_t first, count;
};

/* NAME:FIRST:COUNT, and nothing else. */
static bool pool_parse_line(char *line, struct pool_line *ret)
{
	const uint64_t largest = UINT64_MAX / 4; /* sums of two don't overflow */
	char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;

	if (!count)
		return false;
	*first++ = *count++ = '\0';
	snprintf(ret->name, sizeof(ret->name), "%s", line);
	return str_to_u64(first, largest, &ret->first) && str_to_u64(count, largest, &ret->count) &&
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

int pool_read(const char *subuid, const char *subgid, struct pool *ret, struct error *e)
{
	const char *text = subuid;
	struct pool p = {0};
	struct pool_line l;

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
		return err_set(
			e, ERR_HOST,
			"/etc/subuid has no entry " POOL_NAME
			", which says what ids containers may have; root adds one by "
			"`echo " POOL_ENTRY " | tee -a /etc/subuid /etc/subgid`");
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
