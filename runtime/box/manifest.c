#include "box/manifest.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "json/rows.h"

static const struct json_row manifest_image_rows[] = {
	F(manifest_image, "path", STR, path),
	F(manifest_image, "size", I64, size),
	F(manifest_image, "sha256", STR, sha256),
};
TABLE(manifest_image);

static const struct json_row manifest_images_rows[] = {
	O(manifest_images, "erofs", erofs, manifest_image),
};
TABLE(manifest_images);

static const struct json_row manifest_rows[] = {
	F(manifest, "name", STR, name),
	F(manifest, "digest", STR, digest),
	O(manifest, "images", images, manifest_images),
};
TABLE(manifest);

bool manifest_is_roots(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022);
}

bool manifest_read(int dfd, struct arena *a, struct manifest *ret)
{
	autoclose int fd = openat(dfd, "manifest.json",
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct error ignored;
	char *text;
	size_t len;

	*ret = (struct manifest){0};
	text = fd < 0 ? NULL : fd_read_all(fd, JSON_BYTES_MAX, a, &len);
	if (!text || json_read("manifest.json", text, len, &manifest_table, &json_default_limits,
			       ret, a, &ignored) < 0)
		return false;
	ret->is_roots = manifest_is_roots(dfd) && manifest_is_roots(fd);
	return true;
}
