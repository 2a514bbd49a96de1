/*
 * Unit tests are programs that print `ok`/`not ok` lines, as tests/run counts them:
 *
 *	TEST(masks_follow_mounts) { …; CHECK(x == 3); CHECK_STR(e.text, "…"); }
 *	int main(void) { return unit_main(); }
 *
 * A failed check ends its test. Tests register themselves and run in the order of the file. Those
 * that UNIT_SKIP names, with a space before and behind each, are not run but told as skipped.
 * UNIT_SLOWER says how many times slower the processor is than ours, if it is emulated: tests of
 * random values take so many fewer.
 */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_test {
	const char *name;
	void (*run)(void);
	struct unit_test *next;
};

static struct unit_test *unit_first, **unit_last = &unit_first;
static jmp_buf unit_failed;
static char unit_why[4096];

#define TEST(id)                                                                                   \
	static void id(void);                                                                      \
	static struct unit_test unit_##id = {.name = #id, .run = id};                              \
	__attribute__((constructor)) static void unit_add_##id(void)                               \
	{                                                                                          \
		*unit_last = &unit_##id;                                                           \
		unit_last = &unit_##id.next;                                                       \
	}                                                                                          \
	static void id(void)

#define FAIL(...)                                                                                  \
	do {                                                                                       \
		int unit_n = snprintf(unit_why, sizeof(unit_why), "%s:%d: ", __FILE__, __LINE__);  \
		snprintf(unit_why + unit_n, sizeof(unit_why) - (size_t)unit_n, __VA_ARGS__);       \
		longjmp(unit_failed, 1);                                                           \
	} while (0)

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			FAIL("%s", #what);                                                         \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *unit_got = (got), *unit_want = (want);                                 \
		if (!unit_got || strcmp(unit_got, unit_want) != 0)                                 \
			FAIL("got \"%s\", want \"%s\"", unit_got ? unit_got : "(null)",            \
			     unit_want);                                                           \
	} while (0)

#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long unit_got = (long long)(got), unit_want = (long long)(want);              \
		if (unit_got != unit_want)                                                         \
			FAIL("%s is %lld, want %lld", #got, unit_got, unit_want);                  \
	} while (0)

/* Apart from the loop, whose variables a jump must not spoil. */
static inline bool unit_run(const struct unit_test *t)
{
	if (setjmp(unit_failed) != 0)
		return false;
	t->run();
	return true;
}

static inline bool unit_is_skipped(const struct unit_test *t)
{
	const char *names = getenv("UNIT_SKIP");
	char name[128];

	snprintf(name, sizeof(name), " %s ", t->name);
	return names && strstr(names, name);
}

/* How many of n rounds a test of random values is to take. */
static inline unsigned int unit_rounds(unsigned int n)
{
	const char *slower = getenv("UNIT_SLOWER");
	unsigned long by = slower ? strtoul(slower, NULL, 10) : 1;

	return by > 1 ? (unsigned int)(n / by + 1) : n;
}

static inline int unit_main(void)
{
	const struct unit_test *t;
	int failures = 0;

	for (t = unit_first; t; t = t->next) {
		if (unit_is_skipped(t)) {
			printf("skip %s: UNIT_SKIP names it\n", t->name);
		} else if (unit_run(t)) {
			printf("ok %s\n", t->name);
		} else {
			printf("not ok %s: %s\n", t->name, unit_why);
			failures++;
		}
		fflush(stdout);
	}
	return failures ? 1 : 0;
}
