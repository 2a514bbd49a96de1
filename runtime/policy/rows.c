/* The rows of policy/rows.def: their words, and which words their lists know. */
#include <string.h>

#include "base/str.h"
#include "filter/syscalls.h"
#include "oci/enums.h"
#include "oci/names.h"
#include "plan/unit.h"
#include "policy/policy.h"
#include "policy/words.h"

static bool knows_cap(const char *word)
{
	return oci_cap_number(word) >= 0;
}

static bool knows_call(const char *word)
{
	return syscall_find(word) != NULL;
}

static bool knows_socket(const char *word)
{
	return policy_socket_find(word) != NULL;
}

static bool knows_host_ns(const char *word)
{
	static const char *const words[] = {"pid", "ipc", "uts", "network"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(words[i], word))
			return true;
	return false;
}

static bool knows_device(const char *word)
{
	return str_after(word, "/dev/") != NULL && !strstr(word, "/../");
}

static bool knows_filesystem(const char *word)
{
	return *word && !strpbrk(word, "/ ,=");
}

static bool knows_path(const char *word)
{
	return word[0] == '/' && !strstr(word, "/../");
}

static bool knows_cgroup_key(const char *word)
{
	return strchr(word, '.') && !strchr(word, '/');
}

static bool knows_unit_property(const char *word)
{
	return unit_choice_knows(word);
}

/* clang-format off */
const struct policy_row policy_rows[POLICY_ROWS] = {
#define LEVEL(name, id, since, what, ...) \
	[LEVEL_##name] = {id, (const struct json_word[]){{"as-asked", AS_ASKED}, __VA_ARGS__, {NULL, 0}}, since, what, NULL},
#define LIST_ROW(name, id, since, what, knows) [LEVEL_COUNT + LIST_##name] = {id, NULL, since, what, knows},
#include "policy/rows.def"
#undef LEVEL
#undef LIST_ROW
};
/* clang-format on */

const char *policy_level_word(enum policy_level row, int level)
{
	const struct json_word *w;

	for (w = policy_rows[row].words; w->word; w++)
		if (w->value == level)
			return w->word;
	return "?";
}
