#include "doctor/words.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

bool words_release_reaches(const char *release, unsigned int major, unsigned int minor)
{
	unsigned int has_major, has_minor;

	if (sscanf(release, "%u.%u", &has_major, &has_minor) != 2)
		return false;
	return has_major > major || (has_major == major && has_minor >= minor);
}

/* ---- /etc/subuid, /etc/subgid ---- */

static bool subid_read(char *line, struct subid *ret)
{
	char *owner = strsep(&line, ":"), *first = strsep(&line, ":"), *count = line;

	if (!first || !count || !*owner || *owner == '#')
		return false;
	ret->owner = owner;
	return str_to_u64(first, UINT32_MAX, &ret->first) &&
	       str_to_u64(count, UINT32_MAX, &ret->count) && ret->count &&
	       ret->first + ret->count <= UINT32_MAX;
}

struct subids words_read_subids(char *text, struct arena *a)
{
	struct subids s = {0};
	struct subid entry;
	size_t cap = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!subid_read(line, &entry))
			continue;
		s.v = arena_grow(a, s.v, &cap, s.n + 1, sizeof(*s.v));
		s.v[s.n++] = entry;
	}
	return s;
}

uint64_t words_count_subids(const struct subids *s, const char *name, const char *uid)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if ((name && str_eq(s->v[i].owner, name)) || str_eq(s->v[i].owner, uid))
			n += s->v[i].count;
	return n;
}

static bool subids_meet(const struct subid *a, const struct subid *b)
{
	return a->first < b->first + b->count && b->first < a->first + a->count;
}

uint64_t words_free_subids(const struct subids *s, uint64_t from, uint64_t count)
{
	struct subid wanted = {.first = from, .count = count};
	size_t i = 0;

	/* Each move goes behind an entry, and never back: as many as there are entries. */
	while (i < s->n) {
		if (subids_meet(&wanted, &s->v[i])) {
			wanted.first = s->v[i].first + s->v[i].count;
			i = 0;
		} else {
			i++;
		}
	}
	return wanted.first + count <= UINT32_MAX ? wanted.first : 0;
}

const char *words_name_of(char *text, const char *uid)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *name = strsep(&line, ":");

		strsep(&line, ":");
		if (line && str_eq(strsep(&line, ":"), uid))
			return name;
	}
	return NULL;
}

/* ---- controllers ---- */

const char *const words_controllers[CONTROLLERS] = {"cpu", "cpuset", "io", "memory", "pids"};

static unsigned int controller_bit(const char *word, size_t len)
{
	size_t i;

	if (len == 5 && memcmp(word, "blkio", len) == 0)
		return controller_bit("io", 2);
	for (i = 0; i < CONTROLLERS; i++)
		if (strlen(words_controllers[i]) == len &&
		    memcmp(words_controllers[i], word, len) == 0)
			return 1U << i;
	return 0;
}

unsigned int words_read_controllers(const char *text)
{
	unsigned int bits = 0;
	size_t len;

	for (; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, " ,\t\n");
		bits |= controller_bit(text, len);
	}
	return bits;
}

/* An empty list takes back what was before; yes is all there are. */
static unsigned int delegate_value(const char *value, size_t len, unsigned int before)
{
	static const char *const all[] = {"yes", "true", "on", "1"};
	static const char *const none[] = {"no", "false", "off", "0", ""};
	char word[128];
	size_t i;

	snprintf(word, sizeof(word), "%.*s", (int)len, value);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (str_eq(word, all[i]))
			return CONTROLLERS_ALL;
	for (i = 0; i < ARRAY_SIZE(none); i++)
		if (str_eq(word, none[i]))
			return 0;
	return before | words_read_controllers(word);
}

unsigned int words_read_delegate(const char *text, unsigned int before)
{
	bool service = false;
	size_t len;

	for (; *text; text += len + (text[len] != '\0')) {
		const char *value;

		len = strcspn(text, "\n");
		if (*text == '[')
			service = str_after(text, "[Service]");
		else if (service && (value = str_after(text, "Delegate=")))
			before = delegate_value(value, len - (size_t)(value - text), before);
	}
	return before;
}

char *words_list_controllers(unsigned int bits, struct arena *a)
{
	struct buf b = buf_new(a, 256);
	size_t i;

	buf_str(&b, "");
	for (i = 0; i < CONTROLLERS; i++)
		if (bits & (1U << i))
			buf_printf(&b, "%s%s", b.len ? " " : "", words_controllers[i]);
	return b.data ? b.data : arena_strdup(a, "");
}
