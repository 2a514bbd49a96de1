/*
 * Files below /proc, /sys and /dev: how many there are, and how many can be opened. Nothing is read
 * or written, no link is followed, and no device is opened.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 120, DEPTH_MAX = 24 };

struct counts {
	unsigned int files, readable, writable, nodes;
};

struct walk {
	const char *top;
	bool (*skips)(const char *name, int depth);
	struct counts *counts;
};

static bool is_number(const char *name)
{
	return isdigit((unsigned char)name[0]);
}

static bool skips_processes(const char *name, int depth)
{
	return depth == 0 && is_number(name);
}

/* What is there once more for each descriptor, mapping and thread. */
static bool skips_repeated(const char *name, int depth)
{
	static const char *const names[] = {"fd", "fdinfo", "map_files", "task", "ns"};

	for (size_t i = 0; depth == 0 && i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool skips_terminals(const char *name, int depth)
{
	return depth == 0 && (strcmp(name, "pts") == 0 || strcmp(name, "fd") == 0);
}

static bool skips_nothing(const char *name, int depth)
{
	(void)name;
	(void)depth;
	return false;
}

static bool opens(int dfd, const char *name, int flags)
{
	int fd = openat(dfd, name, flags | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void print_writable(int dfd, const char *name)
{
	char link[32], dir[512] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dfd);
	if (readlink(link, dir, sizeof(dir) - 1) > 0)
		printf("writable %s/%s\n", dir, name);
}

static void count_entry(const struct walk *w, int dfd, const char *name, const struct stat *st)
{
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode)) {
		w->counts->nodes++;
		return;
	}
	if (!S_ISREG(st->st_mode))
		return;
	w->counts->files++;
	w->counts->readable += opens(dfd, name, O_RDONLY);
	if (!opens(dfd, name, O_WRONLY))
		return;
	w->counts->writable++;
	if (list_names)
		print_writable(dfd, name);
}

/* NOLINTNEXTLINE(misc-no-recursion): the depth has a limit. */
static void walk_dir(const struct walk *w, int dfd, int depth)
{
	DIR *dir = fdopendir(dfd);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    w->skips(entry->d_name, depth) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			int fd = openat(dirfd(dir), entry->d_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (fd >= 0)
				walk_dir(w, fd, depth + 1);
		} else {
			count_entry(w, dirfd(dir), entry->d_name, &st);
		}
	}
	if (dir)
		closedir(dir);
	else
		close(dfd);
}

static long walk_top(const void *arg)
{
	const struct walk *w = arg;
	int dfd = open(w->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dfd < 0)
		return -errno;
	walk_dir(w, dfd, 0);
	return 0;
}

static struct counts count_below(const char *top, bool (*skips)(const char *name, int depth))
{
	struct counts *shared = shared_page();
	const struct walk w = {.top = top, .skips = skips, .counts = shared};
	struct outcome o;

	*shared = (struct counts){0};
	o = attempt(walk_top, &w, LIMIT);
	if (!o.returned)
		printf("unfinished %s %s\n", top, outcome_word(&o));
	return *shared;
}

void probe_files(void)
{
	struct counts proc = count_below("/proc", skips_processes);
	struct counts self = count_below("/proc/self", skips_repeated);
	struct counts sys = count_below("/sys", skips_nothing);
	struct counts dev = count_below("/dev", skips_terminals);

	printf("proc_files %u\nproc_readable %u\nproc_writable %u\n", proc.files, proc.readable,
	       proc.writable);
	printf("proc_self_writable %u\n", self.writable);
	printf("sys_files %u\nsys_readable %u\nsys_writable %u\n", sys.files, sys.readable,
	       sys.writable);
	printf("device_nodes %u\n", dev.nodes);
}
