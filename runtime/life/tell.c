/*
 * Last words on a container that is gone: one line about what its policy changed, in a list below
 * the root of the state, and in the journal. Engines with --rm leave nothing else to ask.
 *
 * Caveat: it is a convenience. A line that can't be written is no failure of the container.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "life/explain.h"
#include "life/internal.h"
#include "state/record.h"
#include "state/store.h"
#include "sys/journal.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* No id of a container has a colon. */
#define LIST_NAME "explain:last"

enum {
	KEPT = 100, /* lines, when the list is shortened */
	LINE_MAX_BYTES = 16 << 10,
	LIST_FULL = 256 << 10, /* then it is shortened, to this at most: */
	LIST_KEPT = 192 << 10,
	LIST_MAX = 1 << 20,
	TRIES = 50,
};

static void tell_write(const char *id, const struct policy *p, const struct policy_clamps *clamps,
		       const char *refused, struct arena *a, struct buf *b)
{
	buf_printf(b, "{\"time\":\"%s\",\"id\":", record_now(a));
	json_write_string(b, id);
	buf_str(b, ",\"policy\":");
	json_write_string(b, p->name);
	if (refused) {
		buf_str(b, ",\"refused\":");
		json_write_string(b, refused);
	}
	buf_str(b, ",\"clamps\":");
	policy_clamps_write(clamps, b);
	buf_str(b, "}\n");
}

/* Where the last lines of the text begin, of which `keep` are kept. */
static size_t last_lines(const char *text, size_t len, size_t keep)
{
	size_t at = len;

	while (at > 0) {
		if (text[at - 1] == '\n' && at != len && keep-- == 1)
			return at;
		at--;
	}
	return 0;
}

/* Where the lines of the file begin that are kept, in its last LIST_KEPT bytes. It is read piece by
 * piece, for a process that makes a container is to stay small. */
static off_t list_cut(int fd, off_t size)
{
	off_t at = size, cut = size, floor = size > LIST_KEPT ? size - LIST_KEPT : 0;
	size_t keep = KEPT;
	char piece[4096];
	ssize_t n;

	while (at > floor) {
		n = (ssize_t)sizeof(piece) < at - floor ? (ssize_t)sizeof(piece) : at - floor;
		if (pread(fd, piece, (size_t)n, at - n) != n)
			return size;
		for (; n > 0; n--, at--) {
			if (piece[n - 1] != '\n' || at == size)
				continue;
			cut = at;
			if (--keep == 0)
				return cut;
		}
	}
	return cut;
}

/* Many more than are kept have gathered. A crash in between loses lines, and nothing else. */
static void list_shorten(int fd, off_t size)
{
	off_t at = list_cut(fd, size), begin = 0;
	size_t len = (size_t)(size - at);
	autoclose int kept_fd = memfd_create("explain", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (kept_fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		kept_fd = memfd_create("explain", MFD_CLOEXEC);
	if (kept_fd < 0 || (len && sendfile(kept_fd, fd, &at, len) != (ssize_t)len) ||
	    ftruncate(fd, 0) < 0)
		return;
	(void)!sendfile(fd, kept_fd, &begin, len);
}

static void list_add(const char *root, const char *line, size_t len)
{
	struct error ignored;
	autoclose int root_dfd = store_open_root(root, false, &ignored); /* ours, or none */
	autoclose int fd = -1;
	struct stat st;
	int tries;

	if (root_dfd >= 0)
		fd = openat(root_dfd, LIST_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	for (tries = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK || tries == TRIES)
			return;
		usleep(1000);
	}
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (st.st_size > LIST_FULL)
		list_shorten(fd, st.st_size);
	if (lseek(fd, 0, SEEK_END) >= 0)
		(void)!write(fd, line, len);
}

static void journal_add(const char *id, const struct policy *p, const struct policy_clamps *clamps,
			const char *refused)
{
	const struct journal_field fields[] = {{"SBXRUN_CONTAINER", id},
					       {"SBXRUN_POLICY", p->name}};
	char message[512];

	if (refused)
		snprintf(message, sizeof(message), "container %s: %.400s", id, refused);
	else
		snprintf(message, sizeof(message),
			 "container %s: policy %s changed %zu things (sbxrun explain --last 1)", id,
			 p->name, clamps->n);
	journal_say(message, fields, ARRAY_SIZE(fields));
}

/* Other failures are no matter of the policy. */
static bool tell_is_refusal(const struct tightened *t, const char *failed, struct arena *a)
{
	return failed && strstr(failed, arena_printf(a, "policy %s refuses ", t->policy.name));
}

void life_tell(const char *root, const char *id, const struct tightened *t, const char *failed,
	       struct arena *a)
{
	const char *refused = tell_is_refusal(t, failed, a) ? failed : NULL;
	struct buf line;

	if ((failed && !refused) || (!t->clamps.n && !refused))
		return;
	line = buf_new(a, LINE_MAX_BYTES);
	tell_write(id, &t->policy, &t->clamps, refused, a, &line);
	if (!line.overflow)
		list_add(root, line.data, line.len);
	journal_add(id, &t->policy, &t->clamps, refused);
}

struct telling {
	const char *root, *id;
	const struct tightened *tightened;
	struct arena *arena;
};

struct telling *life_tell_later(const char *root, const char *id, const struct tightened *t,
				struct arena *a)
{
	struct telling *later = arena_new(a, struct telling);

	*later = (struct telling){.root = arena_strdup(a, root),
				  .id = arena_strdup(a, id),
				  .tightened = t,
				  .arena = a};
	return later;
}

void life_tell_rest(struct created *c)
{
	const struct telling *later = c->telling;

	c->telling = NULL;
	if (later)
		life_tell(later->root, later->id, later->tightened, NULL, later->arena);
}

int life_explain_last(const char *root, size_t most, struct arena *a, struct strings *ret,
		      struct error *e)
{
	autoclose int fd = open(path_join(a, root, LIST_NAME), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *text, *newline;
	size_t len, at;

	*ret = (struct strings){.v = arena_array(a, most + 1, char *)};
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || !(text = fd_read_all(fd, LIST_MAX, a, &len)))
		return err_sys(e, "read %s/" LIST_NAME, root);
	while (ret->n < most && len > 0 && text[len - 1] == '\n') {
		at = last_lines(text, len, 1);
		newline = text + len - 1;
		*newline = '\0';
		ret->v[ret->n++] = text + at;
		len = at;
	}
	return 0;
}
