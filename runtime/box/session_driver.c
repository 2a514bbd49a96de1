/* The drivers, one for each language that has sessions: text that is in this program as data. */
#include <stddef.h>

#include "base/str.h"
#include "box/session.h"

#define DRIVER(name)                                                                               \
	extern const char driver_##name[];                                                         \
	__asm__(".section .rodata.driver_" #name ",\"a\"\n\t.globl driver_" #name                  \
		"\n\t.hidden driver_" #name "\ndriver_" #name                                      \
		":\n\t.incbin \"runtime/box/drivers/" #name "\"\n\t.byte 0\n\t.previous\n")

DRIVER(python);

/* What reads the driver: its length in seven digits and a line's end, and then the text. */
#define BEGIN_PYTHON                                                                               \
	"import os\n"                                                                              \
	"n, s = int(os.read(0, 8)), b''\n"                                                         \
	"while len(s) < n: s += os.read(0, n - len(s))\n"                                          \
	"exec(compile(s, '<sbxrun>', 'exec'))"

static const struct session_driver drivers[] = {
	{"python", {"python3", "-c", BEGIN_PYTHON}, driver_python},
};

const struct session_driver *session_driver_find(const struct box_language *l)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].language, l->name))
			return &drivers[i];
	return NULL;
}
