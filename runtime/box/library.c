#include "box/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

const char *library_path(const char *variable, const char *name, struct arena *a)
{
	const char *dir = getenv(variable), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (dir && *dir == '/')
		return dir;
	if (geteuid() == 0)
		return path_join(a, "/var/lib/sbxrun", name);
	if (data && *data == '/')
		return arena_printf(a, "%s/sbxrun/%s", data, name);
	return home && *home == '/' ? arena_printf(a, "%s/.local/share/sbxrun/%s", home, name) :
				      NULL;
}

int library_make(const char *path, mode_t mode, struct arena *a)
{
	char *copy = arena_strdup(a, path), *slash = copy;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(copy, mode) < 0 && errno != EEXIST ? -1 : 0;
}
