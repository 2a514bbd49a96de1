/*
 * The kernel's statistics files as numbers. Pure. Lines that don't have the expected form are
 * passed over: newer kernels add some.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cgroup/stats.h"

static size_t lines_of(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

struct cgroup_counts cgroup_stats_counts(char *text, struct arena *a)
{
	struct cgroup_counts c = {.v = arena_array(a, lines_of(text), struct cgroup_count)};
	char *line, *name;
	uint64_t value;

	while ((line = strsep(&text, "\n"))) {
		name = strsep(&line, " ");
		if (line && *name && str_to_u64(line, UINT64_MAX, &value))
			c.v[c.n++] = (struct cgroup_count){name, value};
	}
	return c;
}

uint64_t cgroup_stats_count(const struct cgroup_counts *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (str_eq(c->v[i].name, name))
			return c->v[i].value;
	return 0;
}

struct cgroup_numbers cgroup_stats_numbers(const char *text, struct arena *a)
{
	struct cgroup_numbers list = {.v = arena_array(a, strlen(text) / 2 + 1, uint64_t)};
	char *copy = arena_strdup(a, text), *word;
	uint64_t v;

	while ((word = strsep(&copy, " \t\n")))
		if (str_to_u64(word, UINT64_MAX, &v))
			list.v[list.n++] = v;
	return list;
}

struct cgroup_numbers cgroup_stats_ranges(const char *text, struct arena *a)
{
	enum { MOST = 65536 }; /* CPUs of one host */
	struct cgroup_numbers list = {0};
	char *copy = arena_strdup(a, text), *word;
	uint64_t from, to;
	size_t cap = 0;

	while ((word = strsep(&copy, ",\n"))) {
		char *first = strsep(&word, "-");

		if (!str_to_u64(first, MOST, &from) || !str_to_u64(word ? word : first, MOST, &to))
			continue;
		for (; from <= to && list.n < MOST; from++) {
			list.v = arena_grow(a, list.v, &cap, list.n + 1, sizeof(*list.v));
			list.v[list.n++] = from;
		}
	}
	return list;
}

static void io_add(struct cgroup_io_list *list, struct arena *a, struct cgroup_io entry)
{
	list->v = arena_grow(a, list->v, &list->cap, list->n + 1, sizeof(*list->v));
	list->v[list->n++] = entry;
}

/* "8:0" */
static bool io_device(const char *word, struct cgroup_io *ret)
{
	char major[24];
	size_t len = strcspn(word, ":");

	if (!word[len] || len >= sizeof(major))
		return false;
	memcpy(major, word, len);
	major[len] = '\0';
	return str_to_u64(major, UINT64_MAX, &ret->major) &&
	       str_to_u64(word + len + 1, UINT64_MAX, &ret->minor);
}

void cgroup_stats_io_v1(char *text, struct arena *a, struct cgroup_io_list *list)
{
	char *line, *device, *op;

	while ((line = strsep(&text, "\n"))) {
		struct cgroup_io entry = {.op = ""};

		device = strsep(&line, " ");
		if (!io_device(device, &entry) || !line)
			continue;
		if (*line < '0' || *line > '9') {
			op = strsep(&line, " ");
			entry.op = op;
		}
		if (line && str_to_u64(line, UINT64_MAX, &entry.value))
			io_add(list, a, entry);
	}
}

static const struct {
	const char *key;
	bool bytes;
	const char *op;
} io_keys[] = {
	{"rbytes", true, "Read"}, {"wbytes", true, "Write"}, {"dbytes", true, "Discard"},
	{"rios", false, "Read"},  {"wios", false, "Write"},  {"dios", false, "Discard"},
};

static void io_pair(char *pair, struct cgroup_io entry, struct arena *a,
		    struct cgroup_io_list *bytes, struct cgroup_io_list *serviced)
{
	char *key = strsep(&pair, "=");
	size_t i;

	for (i = 0; pair && i < ARRAY_SIZE(io_keys); i++) {
		if (!str_eq(key, io_keys[i].key) || !str_to_u64(pair, UINT64_MAX, &entry.value))
			continue;
		entry.op = io_keys[i].op;
		io_add(io_keys[i].bytes ? bytes : serviced, a, entry);
	}
}

void cgroup_stats_io_v2(char *text, struct arena *a, struct cgroup_io_list *bytes,
			struct cgroup_io_list *serviced)
{
	char *line, *pair;

	while ((line = strsep(&text, "\n"))) {
		struct cgroup_io entry = {.op = ""};

		if (!io_device(strsep(&line, " "), &entry))
			continue;
		while ((pair = strsep(&line, " ")))
			io_pair(pair, entry, a, bytes, serviced);
	}
}

/* Such a number goes out again as JSON. */
static bool is_decimal(const char *s)
{
	size_t whole = strspn(s, "0123456789");

	return whole && s[whole] == '.' && s[whole + 1] &&
	       !s[whole + 1 + strspn(s + whole + 1, "0123456789")];
}

static bool pressure_line(const char *line, struct cgroup_pressure_line *ret)
{
	unsigned long long total;

	if (sscanf(line, "%*s avg10=%15[0-9.] avg60=%15[0-9.] avg300=%15[0-9.] total=%llu",
		   ret->avg10, ret->avg60, ret->avg300, &total) != 4)
		return false;
	ret->total = total;
	return is_decimal(ret->avg10) && is_decimal(ret->avg60) && is_decimal(ret->avg300);
}

struct cgroup_pressure cgroup_stats_pressure(const char *text)
{
	static const struct cgroup_pressure_line nothing = {"0.00", "0.00", "0.00", 0};
	struct cgroup_pressure p = {.some = nothing, .full = nothing};
	const char *full = strstr(text, "full ");

	if (!str_after(text, "some ") || !pressure_line(text, &p.some))
		return (struct cgroup_pressure){0};
	if (full && !pressure_line(full, &p.full))
		p.full = nothing;
	p.set = true;
	return p;
}
