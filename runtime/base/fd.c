#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int fd_write_all(int fd, const void *p, size_t len)
{
	const char *s = p;
	ssize_t n;

	while (len) {
		n = write(fd, s, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		s += n;
		len -= (size_t)n;
	}
	return 0;
}

char *fd_read_all(int fd, size_t max, struct arena *a, size_t *ret_len)
{
	size_t cap = 0, len = 0, want;
	struct stat st;
	char *p = NULL;
	ssize_t n;

	/* For a regular file the size is a good first guess; one more byte sees the end at once. */
	want = fstat(fd, &st) == 0 && st.st_size > 0 && (size_t)st.st_size <= max ?
		       (size_t)st.st_size + 2 :
		       4096;
	for (;;) {
		p = arena_grow(a, p, &cap, len + want, 1);
		n = read(fd, p + len, cap - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return NULL;
		len += (size_t)n;
		if (len > max) {
			errno = EFBIG;
			return NULL;
		}
		if (n == 0)
			break;
		want = cap - len > 1 ? 0 : 4096;
	}
	p[len] = '\0';
	*ret_len = len;
	return p;
}

ssize_t fd_read_at(int dfd, const char *path, char *text, size_t size)
{
	autoclose int fd = openat(dfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while (len < size - 1) {
		n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	return (ssize_t)len;
}

int fd_write_at(int dfd, const char *path, const char *text)
{
	autoclose int fd = openat(dfd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -1;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n != len) {
		errno = EIO;
		return -1;
	}
	return 0;
}

int fd_cloexec_from(unsigned int first)
{
	return close_range(first, ~0U, CLOSE_RANGE_CLOEXEC);
}

int fd_close_all_but(int first, const int *keep, size_t n)
{
	size_t i;

	/* Each round closes up to the lowest that is kept. */
	for (;;) {
		int next = -1;

		for (i = 0; i < n; i++)
			if (keep[i] >= first && (next < 0 || keep[i] < next))
				next = keep[i];
		if (next < 0)
			return close_range((unsigned int)first, ~0U, 0);
		if (next > first && close_range((unsigned int)first, (unsigned int)next - 1, 0) < 0)
			return -1;
		first = next + 1;
	}
}

int fd_move_above(int *fd, int min)
{
	int moved;

	if (*fd < 0 || *fd >= min)
		return 0;
	moved = fcntl(*fd, F_DUPFD_CLOEXEC, min);
	if (moved < 0)
		return -1;
	fd_close(fd);
	*fd = moved;
	return 0;
}
