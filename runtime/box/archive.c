#include "box/archive.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static const char magic[16] = "sbxrun archive1";

enum { PATH_MOST = 4095, DEPTH_MOST = 64, NAME_MOST = 255 };

/* Of the machine that wrote it: such a file goes nowhere else. */
struct begin_record {
	char magic[sizeof(magic)];
	uint64_t entries, bytes;
	uint64_t facts_len;
};

struct entry_record {
	uint32_t mark;
	uint8_t place, change, type, unused;
	uint32_t mode, path_len;
	uint64_t size;
	int64_t modified, changed;
	uint64_t inode;
};

struct extent_record {
	uint64_t at, len; /* len 0: there are no more */
};

enum { ENTRY_MARK = 0x59525445, END_MARK = 0x21444e45 };

bool archive_path_is_good(const char *path, size_t len)
{
	const char *p = path, *end = path + len, *slash;
	size_t depth = 0, n;

	if (!len || len > PATH_MOST || memchr(path, '\0', len))
		return false;
	for (; p <= end; p = slash + 1) {
		slash = memchr(p, '/', (size_t)(end - p));
		slash = slash ? slash : end;
		n = (size_t)(slash - p);
		if (!n || n > NAME_MOST || ++depth > DEPTH_MOST ||
		    (p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.'))))
			return false;
	}
	return true;
}

/* ---- writing ---- */

static int out_flush(struct archive_out *out, struct error *e)
{
	if (fd_write_all(out->fd, out->data, out->len) < 0) {
		err_sys(e, "write a snapshot");
		return -1;
	}
	out->len = 0;
	return 0;
}

static int out_put(struct archive_out *out, const void *p, size_t len, struct error *e)
{
	const char *from = p;
	size_t n;

	if (len > out->room) {
		err_set(e, ERR_HOST, "there is more in the box than a snapshot may have");
		e->sys = EFBIG;
		return -1;
	}
	out->room -= len;
	out->bytes += len;
	for (; len; len -= n, from += n) {
		n = sizeof(out->data) - out->len;
		n = n < len ? n : len;
		memcpy(out->data + out->len, from, n);
		out->len += n;
		if (out->len == sizeof(out->data) && out_flush(out, e) < 0)
			return -1;
	}
	return 0;
}

int archive_begin(struct archive_out *out, int fd, uint64_t room, const char *facts, size_t len,
		  struct error *e)
{
	/* Without a magic until it is whole. */
	const struct begin_record begin = {.facts_len = len};

	out->fd = fd;
	out->entries = out->bytes = 0;
	out->room = room;
	out->len = 0;
	return out_put(out, &begin, sizeof(begin), e) < 0 ? -1 : out_put(out, facts, len, e);
}

int archive_add(struct archive_out *out, const struct archive_entry *entry, struct error *e)
{
	const struct entry_record r = {
		.mark = ENTRY_MARK,
		.place = (uint8_t)entry->place,
		.change = (uint8_t)entry->change,
		.type = (uint8_t)entry->type,
		.mode = entry->mode,
		.path_len = (uint32_t)strlen(entry->path),
		.size = entry->target ? strlen(entry->target) : entry->size,
		.modified = entry->modified,
		.changed = entry->changed,
		.inode = entry->inode,
	};

	out->entries++;
	if (out_put(out, &r, sizeof(r), e) < 0 || out_put(out, entry->path, r.path_len, e) < 0)
		return -1;
	return entry->target ? out_put(out, entry->target, r.size, e) : 0;
}

int archive_add_nothing(struct archive_out *out, struct error *e)
{
	const struct extent_record none = {0};

	return out_put(out, &none, sizeof(none), e);
}

/* As much as is there: it may become shorter meanwhile. */
static int out_put_extent(struct archive_out *out, int from_fd, off_t at, off_t end,
			  struct error *e)
{
	static char data[ARCHIVE_BUFFER];
	struct extent_record extent;
	ssize_t n;

	while (at < end) {
		size_t want = end - at < (off_t)sizeof(data) ? (size_t)(end - at) : sizeof(data);

		n = pread(from_fd, data, want, at);
		if (n < 0)
			return err_sys(e, "read a file of the box");
		if (n == 0)
			return 0;
		extent = (struct extent_record){(uint64_t)at, (uint64_t)n};
		if (out_put(out, &extent, sizeof(extent), e) < 0 ||
		    out_put(out, data, (size_t)n, e) < 0)
			return -1;
		at += n;
	}
	return 0;
}

int archive_add_content(struct archive_out *out, int from_fd, struct error *e)
{
	off_t at = 0, end;

	for (;;) {
		at = lseek(from_fd, at, SEEK_DATA);
		end = at < 0 ? -1 : lseek(from_fd, at, SEEK_HOLE);
		if (at < 0 && errno == ENXIO)
			return archive_add_nothing(out, e);
		if (end < 0)
			return err_sys(e, "read a file of the box");
		if (out_put_extent(out, from_fd, at, end, e) < 0)
			return -1;
		at = end;
	}
}

int archive_end(struct archive_out *out, struct error *e)
{
	const struct entry_record end = {.mark = END_MARK};
	struct begin_record begin = {.entries = out->entries};

	if (out_put(out, &end, sizeof(end), e) < 0 || out_flush(out, e) < 0)
		return -1;
	begin.bytes = out->bytes;
	memcpy(begin.magic, magic, sizeof(magic));
	/* All but the length of the facts, which is there. */
	if (pwrite(out->fd, &begin, offsetof(struct begin_record, facts_len), 0) !=
	    (ssize_t)offsetof(struct begin_record, facts_len))
		return err_sys(e, "write a snapshot");
	return 0;
}

/* ---- reading ---- */

static int in_bad(struct error *e, const char *why)
{
	return err_set(e, ERR_CONFIG, "the snapshot is damaged: %s", why);
}

static int in_get(struct archive_in *in, void *p, size_t len, struct error *e)
{
	char *to = p;
	ssize_t got;
	size_t n;

	for (; len; len -= n, to += n) {
		if (in->at == in->len) {
			do
				got = read(in->fd, in->data, sizeof(in->data));
			while (got < 0 && errno == EINTR);
			if (got < 0)
				return err_sys(e, "read a snapshot");
			if (got == 0)
				return in_bad(e, "it ends too early");
			in->at = 0;
			in->len = (size_t)got;
		}
		n = in->len - in->at;
		n = n < len ? n : len;
		memcpy(to, in->data + in->at, n);
		in->at += n;
	}
	return 0;
}

static char *in_get_text(struct archive_in *in, size_t len, struct arena *a, struct error *e)
{
	char *text = arena_alloc(a, len + 1, 1);

	return in_get(in, text, len, e) < 0 ? NULL : text;
}

int archive_open(struct archive_in *in, int fd, struct arena *a, struct error *e)
{
	struct begin_record begin;

	in->fd = fd;
	in->at = in->len = 0;
	in->seen = 0;
	in->has_content = false;
	if (in_get(in, &begin, sizeof(begin), e) < 0)
		return -1;
	if (memcmp(begin.magic, magic, sizeof(magic)) != 0)
		return in_bad(e, "it has no begin");
	if (begin.facts_len > ARCHIVE_FACTS_MAX || begin.entries > ARCHIVE_ENTRIES_MAX)
		return in_bad(e, "its numbers are too large");
	in->entries = begin.entries;
	in->bytes = begin.bytes;
	in->facts = in_get_text(in, begin.facts_len, a, e);
	return in->facts ? 0 : -1;
}

/* extent->len 0: there was none any more. */
static int in_get_extent(struct archive_in *in, const struct archive_entry *entry,
			 struct extent_record *extent, struct error *e)
{
	if (in_get(in, extent, sizeof(*extent), e) < 0)
		return -1;
	if (extent->len > ARCHIVE_BUFFER ||
	    (entry && (extent->at > entry->size || extent->len > entry->size - extent->at)))
		return in_bad(e, "content outside of its file");
	in->has_content = extent->len > 0;
	return 0;
}

static int in_pass_content(struct archive_in *in, struct error *e)
{
	static char data[ARCHIVE_BUFFER];
	struct extent_record extent;

	while (in->has_content)
		if (in_get_extent(in, NULL, &extent, e) < 0 ||
		    in_get(in, data, extent.len, e) < 0)
			return -1;
	return 0;
}

static int in_check(const struct entry_record *r, struct error *e)
{
	if (r->mark != ENTRY_MARK)
		return in_bad(e, "an entry is none");
	if (r->place > IN_ROOT || r->change > CHANGE_DELETED || r->type > TYPE_OTHER ||
	    r->mode & ~0777U || r->path_len > PATH_MOST || r->size > INT64_MAX ||
	    (r->type == TYPE_LINK && r->change != CHANGE_DELETED &&
	     (!r->size || r->size > PATH_MOST)))
		return in_bad(e, "an entry is out of range");
	return 0;
}

int archive_next(struct archive_in *in, struct arena *a, struct archive_entry *ret,
		 struct error *e)
{
	struct entry_record r;
	char *path, *target = NULL;

	if (in_pass_content(in, e) < 0 || in_get(in, &r, sizeof(r), e) < 0)
		return -1;
	if (r.mark == END_MARK)
		return in->seen == in->entries ? 0 : in_bad(e, "entries are missing");
	if (in_check(&r, e) < 0)
		return -1;
	if (++in->seen > in->entries)
		return in_bad(e, "there are more entries than it says");
	path = in_get_text(in, r.path_len, a, e);
	if (!path)
		return -1;
	if (!archive_path_is_good(path, r.path_len))
		return in_bad(e, "a path leads elsewhere");
	if (r.type == TYPE_LINK && r.change != CHANGE_DELETED) {
		target = in_get_text(in, r.size, a, e);
		if (!target)
			return -1;
		if (strlen(target) != r.size)
			return in_bad(e, "a link has a zero");
	}
	in->has_content = r.type == TYPE_FILE && r.change != CHANGE_DELETED;
	*ret = (struct archive_entry){
		.place = r.place,
		.change = r.change,
		.type = r.type,
		.mode = r.mode,
		.size = r.size,
		.modified = r.modified,
		.changed = r.changed,
		.inode = r.inode,
		.path = path,
		.target = target,
	};
	return 1;
}

int archive_take(struct archive_in *in, const struct archive_entry *entry, int to_fd,
		 struct error *e)
{
	static char data[ARCHIVE_BUFFER];
	struct extent_record extent;

	while (in->has_content) {
		if (in_get_extent(in, entry, &extent, e) < 0 ||
		    in_get(in, data, extent.len, e) < 0)
			return -1;
		if (lseek(to_fd, (off_t)extent.at, SEEK_SET) < 0 ||
		    fd_write_all(to_fd, data, extent.len) < 0)
			return err_sys(e, "%s", entry->path);
	}
	return ftruncate(to_fd, (off_t)entry->size) < 0 ? err_sys(e, "%s", entry->path) : 0;
}
