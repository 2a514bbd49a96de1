/* The C library and the kernel headers of Debian 12 know neither the call nor its structs. */
#include "sys/statmount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NR_STATMOUNT = 457,
	WANT_UNIQUE_ID = 0x4000, /* STATX_MNT_ID_UNIQUE */
	WANT_SB_BASIC = 0x01,
	WANT_MNT_ROOT = 0x08,
	WANT_MNT_OPTS = 0x80,
};

struct mount_request {
	uint32_t size;
	uint32_t spare;
	uint64_t mount_id;
	uint64_t want;
};

/* Strings are given as offsets into text. */
struct mount_answer {
	uint32_t size;
	uint32_t options;
	uint64_t mask;
	uint32_t device[2];
	uint64_t magic;
	uint32_t sb_flags;
	uint32_t fs_type;
	uint64_t ids[3];
	uint64_t attr_and_propagation[5];
	uint32_t root;
	uint32_t point;
	uint64_t rest[50];
	char text[1024];
};
_Static_assert(offsetof(struct mount_answer, text) == 512, "as the kernel lays it out");

static bool text_copy(const struct mount_answer *m, uint32_t at, char *to, size_t size)
{
	size_t left = at < sizeof(m->text) ? sizeof(m->text) - at : 0;
	size_t len = strnlen(m->text + at, left);

	if (len == left || len >= size)
		return false;
	memcpy(to, m->text + at, len + 1);
	return true;
}

int statmount_at(const char *path, struct statmount_facts *ret)
{
	struct mount_request r = {.size = sizeof(r),
				  .want = WANT_SB_BASIC | WANT_MNT_ROOT | WANT_MNT_OPTS};
	struct mount_answer m = {0};
	struct statx st;

	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, WANT_UNIQUE_ID, &st) < 0)
		return errno == ENOENT ? 0 : -1;
	if (!(st.stx_mask & WANT_UNIQUE_ID))
		return -1;
	r.mount_id = st.stx_mnt_id;
	if (syscall(NR_STATMOUNT, &r, &m, sizeof(m), 0) < 0 ||
	    (m.mask & (WANT_SB_BASIC | WANT_MNT_ROOT)) != (WANT_SB_BASIC | WANT_MNT_ROOT))
		return -1;
	ret->magic = m.magic;
	ret->options[0] = '\0';
	if (!text_copy(&m, m.root, ret->root, sizeof(ret->root)) ||
	    ((m.mask & WANT_MNT_OPTS) &&
	     !text_copy(&m, m.options, ret->options, sizeof(ret->options))))
		return -1;
	return 1;
}
