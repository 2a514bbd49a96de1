/* Removing a directory that a container could write to, and being told to stop. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "state/sweep.h"
#include "unit.h"

enum { FILES = 300 };

static char dir[64];
static int dfd;

static void begin(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test-sweep.XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	dfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dfd >= 0);
}

static void end(void)
{
	fd_close(&dfd);
	CHECK(rmdir(dir) == 0);
}

/* "tree" with files, half of them in a directory of it that is closed for everybody. */
static void make_tree(void)
{
	char name[64];
	int i, fd;

	CHECK(mkdirat(dfd, "tree", 0700) == 0 && mkdirat(dfd, "tree/sub", 0700) == 0);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "tree/%s%d", i % 2 ? "sub/" : "", i);
		fd = openat(dfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		CHECK(fd >= 0);
		fd_close(&fd);
	}
	CHECK(fchmodat(dfd, "tree/sub", 0, 0) == 0);
}

static bool stop_at_once(void *asked)
{
	++*(int *)asked;
	return true;
}

static bool stop_never(void *asked)
{
	++*(int *)asked;
	return false;
}

TEST(all_of_it_goes)
{
	begin();
	make_tree();
	CHECK(sweep_directory(dfd, "tree") == 0);
	CHECK(faccessat(dfd, "tree", F_OK, 0) < 0);
	CHECK(sweep_directory(dfd, "tree") == 0);
	end();
}

TEST(who_stops_it_leaves_the_rest_for_later)
{
	int asked = 0;

	begin();
	make_tree();
	CHECK(sweep_directory_until(dfd, "tree", stop_at_once, &asked) < 0 && errno == EINTR);
	CHECK_INT(asked, 1);
	CHECK(faccessat(dfd, "tree", F_OK, 0) == 0);
	CHECK(sweep_directory_until(dfd, "tree", stop_never, &asked) == 0);
	CHECK(asked > 2);
	CHECK(faccessat(dfd, "tree", F_OK, 0) < 0);
	end();
}

int main(void)
{
	return unit_main();
}
