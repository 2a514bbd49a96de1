/* What the doctor concludes from texts of the host. */
#include "doctor/words.h"
#include "unit.h"

static struct arena arena;

static struct subids read_subids(const char *text)
{
	return words_read_subids(arena_strdup(&arena, text), &arena);
}

TEST(releases_are_compared_as_numbers)
{
	CHECK(words_release_reaches("5.14.0", 5, 14));
	CHECK(words_release_reaches("5.100", 5, 14));
	CHECK(words_release_reaches("6.1.0-18-amd64", 5, 14));
	CHECK(words_release_reaches("10.0-rc1", 5, 14));
	CHECK(!words_release_reaches("5.9.16", 5, 14));
	CHECK(!words_release_reaches("5.13.19", 5, 14));
	CHECK(!words_release_reaches("4.18.0-553.el8", 5, 14));
	CHECK(!words_release_reaches("2.6.60", 5, 14));
	CHECK(!words_release_reaches("", 5, 14));
	CHECK(!words_release_reaches("next", 5, 14));
}

TEST(ranges_count_by_name_and_by_uid)
{
	struct subids s = read_subids("me:100000:65536\n1000:200000:10\nother:300000:65536\n"
				      "me:400000:4\n");

	CHECK_INT(s.n, 4);
	CHECK_INT(words_count_subids(&s, "me", "1000"), 65536 + 10 + 4);
	CHECK_INT(words_count_subids(&s, NULL, "1000"), 10);
	CHECK_INT(words_count_subids(&s, "m", "100"), 0);
}

TEST(lines_that_are_no_ranges_are_passed_over)
{
	struct subids s = read_subids("# me:1:2\n\nme\nme:1\nme:x:2\nme:1:\n:1:2\nme:-1:2\n"
				      "me:4294967290:10\nme:5:0\nme:1:2:3\nok:7:8");

	CHECK_INT(s.n, 1);
	CHECK_STR(s.v[0].owner, "ok");
	CHECK_INT(s.v[0].first, 7);
	CHECK_INT(s.v[0].count, 8);
	s = read_subids("");
	CHECK_INT(s.n, 0);
}

TEST(a_free_range_meets_no_entry)
{
	struct subids s = read_subids("b:165536:65536\na:100000:65536\nc:240000:1\n");

	CHECK_INT(words_free_subids(&s, 100000, 65536), 240001);
	CHECK_INT(words_free_subids(&s, 100000, 8000), 231072);
	CHECK_INT(words_free_subids(&s, 300000, 65536), 300000);
	s = read_subids("");
	CHECK_INT(words_free_subids(&s, 100000, 65536), 100000);
	s = read_subids("all:100000:4294867295\n");
	CHECK_INT(words_free_subids(&s, 100000, 65536), 0);
}

TEST(a_uid_has_the_name_that_passwd_gives_it)
{
	static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\nbroken\nalso:x\n"
				     "me:x:1000:1000::/home/me:/bin/sh\n";

	CHECK_STR(words_name_of(arena_strdup(&arena, passwd), "1000"), "me");
	CHECK_STR(words_name_of(arena_strdup(&arena, passwd), "0"), "root");
	CHECK(!words_name_of(arena_strdup(&arena, passwd), "100"));
	CHECK(!words_name_of(arena_strdup(&arena, ""), "0"));
}

TEST(controllers_are_whole_words)
{
	CHECK_STR(words_list_controllers(words_read_controllers("cpuset cpu io memory pids rdma\n"),
					 &arena),
		  "cpu cpuset io memory pids");
	CHECK_STR(words_list_controllers(words_read_controllers("cpu,cpuacct"), &arena), "cpu");
	CHECK_STR(words_list_controllers(words_read_controllers("blkio"), &arena), "io");
	CHECK_INT(words_read_controllers("cpus mem pid name=systemd"), 0);
	CHECK_STR(words_list_controllers(0, &arena), "");
	CHECK_INT(words_read_controllers("pids  memory io cpuset cpu"), CONTROLLERS_ALL);
}

TEST(unit_files_add_to_what_is_delegated)
{
	unsigned int bits =
		words_read_delegate("[Unit]\nDelegate=cpu\n[Service]\nDelegate=pids memory\n", 0);

	CHECK_STR(words_list_controllers(bits, &arena), "memory pids");
	bits = words_read_delegate("# Delegate=io\n[Service]\nDelegate=cpu cpuset", bits);
	CHECK_STR(words_list_controllers(bits, &arena), "cpu cpuset memory pids");
	CHECK_INT(words_read_delegate("[Service]\nDelegate=\nDelegate=io\n", bits),
		  words_read_controllers("io"));
	CHECK_INT(words_read_delegate("[Service]\nDelegate=yes\n", 0), CONTROLLERS_ALL);
	CHECK_INT(words_read_delegate("[Service]\nDelegate=no\n", bits), 0);
	CHECK_INT(words_read_delegate("", bits), bits);
}

int main(void)
{
	return unit_main();
}
