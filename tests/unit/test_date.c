#include "unit.h"

#include <stdint.h>
#include <time.h>

#include "base/date.h"

static const char *libc_says(time_t t)
{
	static char text[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return text;
}

TEST(every_day_is_what_the_c_library_says)
{
	const time_t end = 4417977600; /* the year 2110: 2100 has no leap day */
	char text[DATE_SIZE];
	time_t t;

	for (t = 0; t < end; t += 86400) {
		date_format(t, text);
		CHECK_STR(text, libc_says(t));
		date_format(t + 86399, text);
		CHECK_STR(text, libc_says(t + 86399));
	}
}

TEST(every_minute_of_a_day_too)
{
	char text[DATE_SIZE];
	time_t t;

	for (t = 1709164800; t < 1709164800 + 2 * 86400; t += 59) { /* a 29th of February */
		date_format(t, text);
		CHECK_STR(text, libc_says(t));
	}
}

TEST(a_clock_that_is_wrong_is_cut_off)
{
	char text[DATE_SIZE];

	date_format(-1, text);
	CHECK_STR(text, "1970-01-01T00:00:00");
	date_format(INT64_MIN, text);
	CHECK_STR(text, "1970-01-01T00:00:00");
	date_format(INT64_MAX, text);
	CHECK_STR(text, "9999-12-31T23:59:59");
}

int main(void)
{
	return unit_main();
}
