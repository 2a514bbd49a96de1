/* Files of a tree, while somebody else moves things in it. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/str.h"
#include "setup/lock.h"
#include "setup/tree.h"
#include "unit.h"

static struct arena arena;
static struct error e;
static struct tree tree = {.root_dfd = -1};
static char top[64];

static const char daemon_json[] = "/etc/docker/daemon.json";

static const char *in_top(const char *path)
{
	return arena_printf(&arena, "%s/%s", top, path);
}

static void put(const char *path, const char *text)
{
	autoclose int fd = open(in_top(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0);
}

static const char *get(const char *path)
{
	autoclose int fd = open(in_top(path), O_RDONLY | O_CLOEXEC);
	size_t len;

	return fd < 0 ? NULL : fd_read_all(fd, 4096, &arena, &len);
}

static bool there(const char *path)
{
	return access(in_top(path), F_OK) == 0;
}

/* The directory's name leads out of the tree from now on. */
static void exchange(void)
{
	CHECK(renameat2(AT_FDCWD, in_top("tree/etc/docker"), AT_FDCWD, in_top("tree/etc/link"),
			RENAME_EXCHANGE) == 0);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void remove_tree(void)
{
	tree_close(&tree);
	if (*top)
		nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	*top = '\0';
	arena_free(&arena);
}

/* top/tree/etc/docker is the tree's; top/host is outside of it, and the tree's etc/link leads
 * there. */
static void make_tree(void)
{
	static const char *const dirs[] = {"tree", "tree/etc", "tree/etc/docker", "host"};
	size_t i;

	remove_tree();
	e = (struct error){0};
	snprintf(top, sizeof(top), "/tmp/sbxrun-tree.XXXXXX");
	CHECK(mkdtemp(top));
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		CHECK(mkdir(in_top(dirs[i]), 0755) == 0);
	CHECK(symlink(in_top("host"), in_top("tree/etc/link")) == 0);
	put("tree/etc/docker/daemon.json", "{\"tree\": 1}");
	put("host/daemon.json", "{\"host\": 1}");
	CHECK(tree_open(in_top("tree"), &arena, &tree, &e) == 0);
}

static struct tree_file read_it(void)
{
	struct tree_file f = {0};

	if (tree_read(&tree, daemon_json, &f, &e) < 0)
		FAIL("%s", e.text);
	CHECK(f.there);
	return f;
}

TEST(a_backup_stays_in_the_directory_that_the_file_was_read_from)
{
	struct tree_file f;
	const char *name;

	make_tree();
	f = read_it();
	exchange();
	CHECK(tree_backup(&tree, &f, &name, &e) == 0);
	CHECK(!there("host/daemon.json.sbxrun-backup"));
	CHECK_STR(get("tree/etc/link/daemon.json.sbxrun-backup"), "{\"tree\": 1}");
}

TEST(a_backup_outside_of_the_tree_is_not_read)
{
	struct tree_file f, old;

	make_tree();
	put("host/daemon.json.sbxrun-backup", "secret");
	f = read_it();
	exchange();
	CHECK(!tree_newest_backup(&tree, &f, &old));
}

TEST(a_text_is_written_to_the_directory_that_it_was_read_from)
{
	struct tree_file f;

	make_tree();
	f = read_it();
	exchange();
	CHECK(tree_write(&tree, &f, "new", 3, &e) == 0);
	CHECK_STR(get("host/daemon.json"), "{\"host\": 1}");
	CHECK_STR(get("tree/etc/link/daemon.json"), "new");
}

TEST(a_file_is_removed_from_the_directory_that_it_was_read_from)
{
	struct tree_file f;

	make_tree();
	f = read_it();
	/* the host's is the very same file, so nothing but its place tells them apart */
	CHECK(unlink(in_top("host/daemon.json")) == 0 &&
	      link(in_top("tree/etc/docker/daemon.json"), in_top("host/daemon.json")) == 0);
	exchange();
	CHECK(tree_remove(&tree, &f, &e) == 0);
	CHECK(there("host/daemon.json"));
	CHECK(!there("tree/etc/link/daemon.json"));
}

TEST(looks_are_those_of_the_file_that_was_read)
{
	struct tree_file f;
	const char *name;

	make_tree();
	f = read_it();
	CHECK(rename(in_top("tree/etc/docker/daemon.json"), in_top("tree/etc/old")) == 0);
	put("tree/etc/docker/daemon.json", "{}");
	CHECK(tree_backup(&tree, &f, &name, &e) < 0);
	CHECK(strstr(e.text, "somebody has changed it meanwhile"));
	CHECK(!there("tree/etc/docker/daemon.json.sbxrun-backup"));
}

TEST(neither_setuid_nor_capabilities_are_copied)
{
	static const unsigned char cap[20] = {1, 0, 0, 2, 0, 4};
	const char *path, *name;
	struct tree_file f;
	struct stat st;
	char got[64];

	make_tree();
	path = in_top("tree/etc/docker/daemon.json");
	CHECK(chmod(path, 06750) == 0);
	if (setxattr(path, "security.capability", cap, sizeof(cap), 0) < 0)
		CHECK(geteuid() != 0 || errno == EOPNOTSUPP);
	f = read_it();
	CHECK(tree_backup(&tree, &f, &name, &e) == 0);
	CHECK(tree_write(&tree, &f, "new", 3, &e) == 0);
	CHECK(stat(name, &st) == 0 && (st.st_mode & 07777) == 0750);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0750);
	CHECK(getxattr(name, "security.capability", got, sizeof(got)) < 0);
	CHECK(getxattr(path, "security.capability", got, sizeof(got)) < 0);
}

TEST(what_is_no_plain_file_is_not_opened)
{
	static const char *const names[] = {"tree/etc/docker/daemon.json.sbxrun-backup",
					    "tree/etc/docker/daemon.json"};
	autoclose int notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct tree_file f, old;
	char event[512];
	size_t i;

	make_tree();
	f = read_it();
	CHECK(unlink(in_top(names[1])) == 0);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(mkfifo(in_top(names[i]), 0666) == 0 &&
		      inotify_add_watch(notify_fd, in_top(names[i]), IN_OPEN) >= 0);
	CHECK(!tree_newest_backup(&tree, &f, &old));
	CHECK(tree_read(&tree, daemon_json, &f, &e) < 0 && strstr(e.text, "not a plain file"));
	CHECK(read(notify_fd, event, sizeof(event)) < 0 && errno == EAGAIN);
}

TEST(links_are_followed_within_the_tree_and_not_for_ever)
{
	struct tree_file f;
	const char *name;

	make_tree();
	CHECK(rename(in_top("tree/etc/docker/daemon.json"), in_top("tree/real")) == 0);
	CHECK(symlink("../two", in_top("tree/etc/docker/daemon.json")) == 0);
	CHECK(symlink("/../../real", in_top("tree/etc/two")) == 0);
	f = read_it();
	CHECK(tree_backup(&tree, &f, &name, &e) == 0);
	CHECK_STR(get("tree/real.sbxrun-backup"), "{\"tree\": 1}");
	CHECK(unlink(in_top("tree/etc/two")) == 0);
	CHECK(symlink("docker/daemon.json", in_top("tree/etc/two")) == 0);
	CHECK(tree_read(&tree, daemon_json, &f, &e) < 0 && strstr(e.text, "too many levels"));
	CHECK(unlink(in_top("tree/etc/two")) == 0);
	CHECK(symlink("../../../../../..", in_top("tree/etc/two")) == 0);
	CHECK(tree_read(&tree, daemon_json, &f, &e) < 0 && strstr(e.text, "not a plain file"));
}

TEST(a_lock_on_the_directory_keeps_nobody_out)
{
	autoclose int dfd = -1;
	struct tree_file f;

	make_tree();
	f = read_it();
	dfd = open(in_top("tree/etc/docker"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dfd >= 0 && flock(dfd, LOCK_EX | LOCK_NB) == 0);
	CHECK(tree_write(&tree, &f, "new", 3, &e) == 0);
	CHECK(!there("tree/etc/docker/.sbxrun-lock"));
}

TEST(one_is_at_work_at_a_time_and_others_can_not_open_its_lock)
{
	static const char lock[] = "tree/etc/docker/.sbxrun-lock";
	struct dir_lock first = DIR_LOCK_NONE;
	const char *name;
	struct tree_file f;
	struct stat st;

	make_tree();
	f = read_it();
	CHECK(dir_lock_take(f.dfd, "F", &first, &e) == 0);
	CHECK(stat(in_top(lock), &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(tree_write(&tree, &f, "new", 3, &e) < 0 && strstr(e.text, "is at work there"));
	CHECK(tree_backup(&tree, &f, &name, &e) < 0 && strstr(e.text, "is at work there"));
	CHECK(tree_remove(&tree, &f, &e) < 0 && strstr(e.text, "is at work there"));
	CHECK(there(lock));
	dir_lock_drop(&first);
	CHECK(!there(lock));
	/* what a crash has left */
	put(lock, "");
	CHECK(chmod(in_top(lock), 0600) == 0);
	CHECK(tree_write(&tree, &f, "new", 3, &e) == 0);
	CHECK(!there(lock));
}

TEST(a_lock_that_others_can_open_is_refused)
{
	static const char lock[] = "tree/etc/docker/.sbxrun-lock";
	struct tree_file f;

	make_tree();
	f = read_it();
	put(lock, "");
	CHECK(chmod(in_top(lock), 0644) == 0);
	CHECK(tree_write(&tree, &f, "new", 3, &e) < 0 && strstr(e.text, "has not made: remove it"));
	CHECK(unlink(in_top(lock)) == 0 && mkfifo(in_top(lock), 0600) == 0);
	CHECK(tree_write(&tree, &f, "new", 3, &e) < 0 && strstr(e.text, "has not made: remove it"));
	CHECK(unlink(in_top(lock)) == 0 && symlink("daemon.json", in_top(lock)) == 0);
	CHECK(tree_write(&tree, &f, "new", 3, &e) < 0 && strstr(e.text, "has not made: remove it"));
	CHECK_STR(get("tree/etc/docker/daemon.json"), "{\"tree\": 1}");
}

int main(void)
{
	int rc = unit_main();

	remove_tree();
	return rc;
}
