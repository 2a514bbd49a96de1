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
DRIVER(node);
DRIVER(bash);

/* They read the driver: its length in seven digits and a line's end, and then the text. */
#define BEGIN_PYTHON                                                                               \
	"import os\n"                                                                              \
	"n, s = int(os.read(0, 8)), b''\n"                                                         \
	"while len(s) < n: s += os.read(0, n - len(s))\n"                                          \
	"exec(compile(s, '<sbxrun>', 'exec'))"

#define BEGIN_NODE                                                                                 \
	"const fs = require('fs'); let s = Buffer.alloc(0), n = 8;"                                \
	"while (s.length < n) { const b = Buffer.alloc(n - s.length);"                             \
	"s = Buffer.concat([s, b.subarray(0, fs.readSync(0, b))]);"                                \
	"if (n === 8 && s.length === 8) n += Number(s); }"                                         \
	"eval(s.toString('utf8', 8))"
#define BEGIN_BASH "read -r n && LC_ALL=C read -r -N $((10#$n)) s && unset n && eval \"$s\""

static const struct session_driver drivers[] = {
	{"python", {"python3", "-c", BEGIN_PYTHON}, driver_python},
	{"javascript", {"node", "-e", BEGIN_NODE}, driver_node},
	{"shell", {"bash", "-c", BEGIN_BASH, "bash"}, driver_bash},
};

const struct session_driver *session_driver_find(const struct box_language *l)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].language, l->name))
			return &drivers[i];
	return NULL;
}
