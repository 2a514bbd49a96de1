/* What a mistyped word is taken for, and what words of other tools are. */
#include "cli/foreign.h"
#include "cli/suggest.h"

#include <string.h>

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

TEST(words_of_other_tools_are_answered_by_ours)
{
	CHECK_STR(foreign_command("rmi"), "sbxrun-rootfs remove NAME");
	CHECK_STR(foreign_verb("commit"), "snapshot");
	CHECK_STR(foreign_verb("unpause"), "resume");
	CHECK(strstr(foreign_option("do", "rm"), "leave it out"));
	CHECK(strstr(foreign_option("box", "rm"), "box destroy"));
	CHECK(strstr(foreign_option("run", "name"), "ID"));
	CHECK(strstr(foreign_option("do", "name"), "box create --id"));
}

TEST(parts_of_words_and_other_commands_are_not_answered)
{
	CHECK(!foreign_command("rmi images"));
	CHECK(!foreign_command("r m"));
	CHECK(!foreign_command(""));
	CHECK(!foreign_command("im"));
	CHECK(!foreign_verb("destroy"));
	CHECK(!foreign_option("list", "rm"));
	CHECK(!foreign_option("do", "r"));
	CHECK(!foreign_option("d", "rm"));
	CHECK(!foreign_option("", "rm"));
}

int main(void)
{
	return unit_main();
}
