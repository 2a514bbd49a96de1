/* What a mistyped word is taken for. */
#include "cli/suggest.h"

#include "base/str.h"
#include "unit.h"

static const char *nearest(const char *word)
{
	static const char *const names[] = {
		"create", "start", "state",
		"kill",	  "exec",  "a-name-that-is-longer-than-all-that-are-compared"};
	struct suggest s = {.word = word};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		suggest_try(&s, names[i]);
	return s.best ? s.best : "";
}

TEST(a_letter_added_removed_changed_or_swapped_is_near)
{
	CHECK_STR(nearest("create"), "create");
	CHECK_STR(nearest("creatte"), "create");
	CHECK_STR(nearest("crete"), "create");
	CHECK_STR(nearest("kyll"), "kill");
	CHECK_STR(nearest("strat"), "start");
	CHECK_STR(nearest("stat"), "start"); /* as near as state: the first */
	CHECK_STR(nearest("exce"), "exec");
}

TEST(another_word_is_not)
{
	CHECK_STR(nearest(""), "");
	CHECK_STR(nearest("k"), "");
	CHECK_STR(nearest("pause"), "");
	CHECK_STR(nearest("a-name-that-is-longer-than-all-that-are-compare"), "");
}

int main(void)
{
	return unit_main();
}
