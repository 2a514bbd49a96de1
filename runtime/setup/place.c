#include "setup/place.h"

struct place place_of(const char *text, size_t len, size_t at)
{
	struct place p = {1, 1};
	size_t i;

	for (i = 0; i < at && i < len; i++) {
		if (text[i] == '\n')
			p = (struct place){p.line + 1, 1};
		else if (((unsigned char)text[i] & 0xc0) != 0x80)
			p.column++;
	}
	return p;
}
