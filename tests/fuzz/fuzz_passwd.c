/* The image's /etc/passwd: the home directory of a uid. The first two bytes are the uid. */
#include "init/program.c"

#include "fuzz.h"

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	uint32_t uid = bytes_take(&b, 2);
	char *rest = arena_strndup(a, b.p, b.left), *line;

	while ((line = strsep(&rest, "\n"))) {
		const char *home = program_home_of_line(line, uid);

		DEMAND(!home || (home[0] == '/' && !strchr(home, ':')));
	}
}
