/* Files of snapshots: any bytes are read without harm; whatever is taken for an entry has a path
 * that stays below its place, and content within its file; and what was written is read again. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "box/archive.h"
#include "fuzz.h"

enum { ENTRIES_MOST = 64, SIZE_MOST = 1 << 20 };

static int file_of(const void *p, size_t len)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	DEMAND(fd >= 0 && write(fd, p, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void check_entry(const struct archive_entry *c)
{
	const char *p;

	DEMAND(*c->path && *c->path != '/' && !(c->mode & ~0777U));
	for (p = c->path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		DEMAND(*p && *p != '/' && !(p[0] == '.' && (p[1] == '/' || !p[1])) &&
		       !(p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2])));
	DEMAND(c->type != TYPE_LINK || c->change == CHANGE_DELETED || *c->target);
}

static void read_any(const void *p, size_t len, struct arena *a)
{
	struct archive_in *in = arena_new(a, struct archive_in);
	int fd = file_of(p, len), result, n = 0;
	struct archive_entry c;
	struct error e;

	result = archive_open(in, fd, a, &e);
	for (; result == 0 && n < ENTRIES_MOST; n++) {
		result = archive_next(in, a, &c, &e);
		if (result <= 0)
			break;
		check_entry(&c);
		result = 0;
		if (c.type == TYPE_FILE && c.change != CHANGE_DELETED && n % 2 &&
		    c.size < SIZE_MOST) {
			struct stat st;
			int to_fd = file_of("", 0);

			result = archive_take(in, &c, to_fd, &e);
			DEMAND(fstat(to_fd, &st) == 0 && (uint64_t)st.st_size <= c.size);
			close(to_fd);
		}
	}
	if (result < 0)
		fuzz_check_error(&e);
	close(fd);
}

static void write_and_read(const char *text, size_t len, struct arena *a)
{
	struct archive_out *out = arena_new(a, struct archive_out);
	struct archive_in *in = arena_new(a, struct archive_in);
	int fd = file_of("", 0), content_fd = file_of(text, len), to_fd = file_of("", 0);
	struct archive_entry c = {.type = TYPE_FILE, .mode = 0640, .size = len, .path = "d/f"};
	struct error e;
	char *again = arena_alloc(a, len + 1, 1);

	DEMAND(archive_begin(out, fd, UINT64_MAX, "{}", 2, &e) == 0 &&
	       archive_add(out, &c, &e) == 0 && archive_add_content(out, content_fd, &e) == 0 &&
	       archive_end(out, &e) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	DEMAND(archive_open(in, fd, a, &e) == 0 && str_eq(in->facts, "{}") && in->entries == 1);
	DEMAND(archive_next(in, a, &c, &e) == 1 && str_eq(c.path, "d/f") && c.size == len);
	DEMAND(archive_take(in, &c, to_fd, &e) == 0 &&
	       pread(to_fd, again, len + 1, 0) == (ssize_t)len);
	DEMAND(memcmp(again, text, len) == 0 && archive_next(in, a, &c, &e) == 0);
	close(fd);
	close(content_fd);
	close(to_fd);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	DEMAND(!archive_path_is_good(text, len) || !memchr(text, '\0', len));
	read_any(text, len, a);
	write_and_read(text, len, a);
}
