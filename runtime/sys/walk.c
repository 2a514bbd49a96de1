#include "sys/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

int walk_begin(struct walk *w, const char *path)
{
	w->dfd = -1;
	w->links = 0;
	if (strlen(path) >= sizeof(w->left)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w->left, path, strlen(path) + 1);
	w->dfd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->dfd < 0 ? -1 : 0;
}

bool walk_peek(const struct walk *w, char name[WALK_PATH_SIZE], bool *ret_last)
{
	const char *at = w->left + strspn(w->left, "/");
	size_t len = strcspn(at, "/");

	memcpy(name, at, len);
	name[len] = '\0';
	*ret_last = !at[len + strspn(at + len, "/")];
	return len > 0;
}

/* Puts where the link leads in the place of its name; `rest` is what follows it. */
static int walk_follow(struct walk *w, int link_fd, const char *rest)
{
	char target[WALK_PATH_SIZE], joined[2 * WALK_PATH_SIZE];
	ssize_t n = readlinkat(link_fd, "", target, sizeof(target) - 1);
	int fd;

	if (n < 0)
		return -1;
	target[n] = '\0';
	if (++w->links > WALK_LINKS_MAX ||
	    snprintf(joined, sizeof(joined), "%s/%s", target, rest) >= (int)sizeof(w->left)) {
		errno = ELOOP;
		return -1;
	}
	memcpy(w->left, joined, strlen(joined) + 1);
	if (target[0] != '/')
		return 0;
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	fd_close(&w->dfd);
	w->dfd = fd;
	return 0;
}

int walk_step(struct walk *w, struct stat *ret)
{
	char name[WALK_PATH_SIZE], rest[WALK_PATH_SIZE];
	autoclose int fd = -1;
	bool last;

	if (!walk_peek(w, name, &last)) {
		w->left[0] = '\0';
		return WALK_DONE;
	}
	snprintf(rest, sizeof(rest), "%s", w->left + strspn(w->left, "/") + strlen(name));
	fd = openat(w->dfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, ret) < 0)
		return -1;
	if (S_ISLNK(ret->st_mode))
		return walk_follow(w, fd, rest) < 0 ? -1 : WALK_LINK;
	fd_close(&w->dfd);
	w->dfd = fd_steal(&fd);
	memcpy(w->left, rest, strlen(rest) + 1);
	return WALK_MOVED;
}

void walk_end(struct walk *w)
{
	fd_close(&w->dfd);
}
