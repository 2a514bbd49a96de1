#include "base/path.h"

#include <string.h>

static char *path_rebuild(struct arena *a, const char *path, bool climb)
{
	char *out = arena_alloc(a, strlen(path) + 2, 1);
	size_t len = 0, n;

	for (; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (climb && n == 2 && path[0] == '.' && path[1] == '.') {
			while (len && out[--len] != '/')
				;
			continue;
		}
		out[len++] = '/';
		memcpy(out + len, path, n);
		len += n;
	}
	if (!len)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

char *path_clean(struct arena *a, const char *path)
{
	return path_rebuild(a, path, true);
}

char *path_tidy(struct arena *a, const char *path)
{
	return path_rebuild(a, path, false);
}

bool path_is_clean(const char *path)
{
	size_t n;

	if (path[0] != '/')
		return false;
	if (!path[1])
		return true;
	for (; *path; path += n) {
		path++; /* the slash */
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
	}
	return true;
}

char *path_join(struct arena *a, const char *dir, const char *path)
{
	return path[0] == '/' ? arena_strdup(a, path) : arena_printf(a, "%s/%s", dir, path);
}

bool path_is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (len == 1) /* "/" */
		return true;
	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}
