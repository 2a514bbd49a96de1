/* The walk through a cgroup's children, on trees of plain directories: the container decides how
 * they are named and nested. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cgroup/tree.h"
#include "unit.h"

/* More levels than a path can name: 2048. */
enum { DEEP = 20000 };

struct seen {
	size_t visited, left;
};

static int count(int dfd, void *arg)
{
	struct seen *s = arg;

	(void)dfd;
	s->visited++;
	return 0;
}

static int count_and_remove(int parent_dfd, const char *name, void *arg)
{
	struct seen *s = arg;

	s->left++;
	return unlinkat(parent_dfd, name, AT_REMOVEDIR);
}

static int make_top(char *path)
{
	CHECK(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Directories in each other below dfd. */
static void nest(int dfd, int levels)
{
	autoclose int at = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < levels; i++) {
		int child;

		CHECK(mkdirat(at, "d", 0755) == 0);
		child = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(child >= 0);
		fd_close(&at);
		at = child;
	}
}

/* What a failed walk would leave. */
static void sweep(const char *path)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", path);
	CHECK(system(command) == 0); /* NOLINT(cert-env33-c): a constant path of ours */
}

TEST(a_tree_of_any_depth_is_walked_and_removed)
{
	char path[] = "/dev/shm/sbxt-tree-XXXXXX";
	autoclose int top_dfd = make_top(path);
	struct seen look = {0}, gone = {0};
	int looked, removed;

	nest(top_dfd, DEEP);
	looked = cgroup_walk(top_dfd, count, NULL, &look);
	removed = cgroup_walk(top_dfd, count, count_and_remove, &gone);
	sweep(path);
	CHECK_INT(looked, 0);
	CHECK_INT(removed, 0);
	CHECK_INT(look.visited, DEEP + 1);
	CHECK_INT(gone.visited, DEEP + 1);
	CHECK_INT(gone.left, DEEP);
}

TEST(children_come_before_their_parents_on_every_branch)
{
	char path[] = "/dev/shm/sbxt-tree-XXXXXX";
	autoclose int top_dfd = make_top(path);
	struct seen gone = {0};
	int removed;

	for (int i = 0; i < 100; i++) {
		char name[16];
		autoclose int branch_dfd = -1;

		snprintf(name, sizeof(name), "%d", i);
		CHECK(mkdirat(top_dfd, name, 0755) == 0);
		branch_dfd = openat(top_dfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		nest(branch_dfd, i % 3);
	}
	/* unlinkat fails where something is still inside. */
	removed = cgroup_walk(top_dfd, count, count_and_remove, &gone);
	sweep(path);
	CHECK_INT(removed, 0);
	CHECK_INT(gone.left, 199);
	CHECK_INT(gone.visited, 200);
}

int main(void)
{
	return unit_main();
}
