#include "base/date.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DAY = 24 * 60 * 60 };

/* A clock that is set wrong must not make more digits than there is room for. */
static const time_t last = 253402300799; /* of the year 9999 */

static int days_of_month(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month] + (leap && month == 1);
}

void date_format(time_t seconds, char text[DATE_SIZE])
{
	time_t now = seconds < 0 ? 0 : seconds > last ? last : seconds;
	int days = (int)(now / DAY), of_day = (int)(now % DAY);
	int year = 1970, month = 0;
	char all[64];

	while (days >= days_of_month(year, month)) {
		days -= days_of_month(year, month);
		month = (month + 1) % 12;
		year += month == 0;
	}
	snprintf(all, sizeof(all), "%04d-%02d-%02dT%02d:%02d:%02d", year, month + 1, days + 1,
		 of_day / 3600, of_day / 60 % 60, of_day % 60);
	memcpy(text, all, DATE_SIZE);
	text[DATE_SIZE - 1] = '\0';
}
