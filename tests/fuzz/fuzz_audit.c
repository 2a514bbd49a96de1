/* Audit files: any text is judged without harm, read from a file as well as line by line; and of a
 * file that is good, no byte can be changed, cut off at the end or put in without being noticed. */
#include <sys/mman.h>
#include <unistd.h>

#include "box/audit_chain.h"
#include "box/audit_file.h"
#include "fuzz.h"
#include "json/json.h"

/* As verify does; true: it is good, and its head is *head. */
static bool is_good(const char *text, size_t len, const struct audit_head *head, struct arena *a)
{
	struct audit_lines lines;
	struct audit_chain c;
	struct error e;
	const char *line;
	size_t n, seen = 0;
	bool ended;
	int fd = memfd_create("audit", MFD_CLOEXEC), rc;

	DEMAND(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	audit_lines_begin(&lines, fd, 0, a);
	audit_chain_begin(&c, &audit_head_none);
	while ((rc = audit_lines_next(&lines, &line, &n, &ended, &e)) > 0) {
		DEMAND(n == 0 || memcmp(line, text + seen, n) == 0);
		audit_chain_add(&c, line, n, ended);
		seen += n + ended;
		DEMAND(ended || seen == len);
	}
	DEMAND(rc == 0 && seen == len && c.head.count <= c.lines);
	close(fd);
	return !c.torn_line && !c.lost_line && c.head.count == head->count &&
	       str_eq(c.head.hash, head->hash);
}

static void check_any(const char *text, size_t len, struct arena *a)
{
	struct audit_head head;

	is_good(text, len, &audit_head_none, a);
	if (audit_head_read(text, len, &head)) {
		struct buf b = buf_new(a, 256);

		audit_head_write(&head, &b);
		DEMAND(b.len == len && memcmp(b.data, text, len) == 0);
	}
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	struct buf file = buf_new(a, 1 << 20);
	struct audit_head head = audit_head_none;
	uint32_t lines = bytes_choose(&b, 4), i, how = bytes_choose(&b, 3), at = bytes_take(&b, 2);
	char with = (char)bytes_take(&b, 1);
	char *changed;

	check_any(text, len, a);
	for (i = 0; i < lines; i++) {
		struct buf line = buf_new(a, 1 << 16);

		buf_printf(&line, "{\"n\":%u,\"x\":", i + 1);
		json_write_string(&line, bytes_string(&b, a));
		audit_chain_seal(&line, &head);
		buf_add(&file, line.data, line.len);
	}
	if (!file.len)
		return;
	DEMAND(is_good(file.data, file.len, &head, a));
	at %= (uint32_t)file.len;
	changed = arena_alloc(a, 1, file.len + 1);
	memcpy(changed, file.data, file.len);
	if (how == 0 && changed[at] != with) {
		changed[at] = with;
		DEMAND(!is_good(changed, file.len, &head, a));
	} else if (how == 1) {
		DEMAND(!is_good(changed, at, &head, a));
	} else if (how == 2) {
		memcpy(changed + at + 1, file.data + at, file.len - at);
		changed[at] = with;
		DEMAND(!is_good(changed, file.len + 1, &head, a));
	}
}
