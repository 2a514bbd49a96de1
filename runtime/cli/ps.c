/*
 * ps: the container's processes as the host numbers them. The table is made by the host's own ps,
 * of whose lines those with a pid of the container are kept. It is run directly, without a shell,
 * with nothing open but /dev/null and the two files that take what it says.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/ps.h"
#include "life/life.h"
#include "sys/child.h"

enum { PS_MAX = 64 << 20 };

static const char blanks[] = " \t";

/* The number of the column whose title is PID, or -1. */
static int ps_pid_column(const char *title)
{
	int column = 0;
	size_t len;

	for (title += strspn(title, blanks); *title; title += strspn(title, blanks)) {
		len = strcspn(title, blanks);
		if (len == 3 && strncmp(title, "PID", 3) == 0)
			return column;
		title += len;
		column++;
	}
	return -1;
}

/* The number in a column of a line, or -1. */
static pid_t ps_pid_in(const char *line, int column)
{
	char *end;
	long pid;

	for (line += strspn(line, blanks); *line && column; column--) {
		line += strcspn(line, blanks);
		line += strspn(line, blanks);
	}
	if (*line < '0' || *line > '9')
		return -1;
	errno = 0;
	pid = strtol(line, &end, 10);
	return errno || (*end && !strchr(blanks, *end)) || pid > INT32_MAX ? -1 : (pid_t)pid;
}

static int ps_compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int ps_filter(char *text, const pid_t *pids, size_t n, struct buf *b, struct error *e)
{
	char *line = strsep(&text, "\n");
	int column = line ? ps_pid_column(line) : -1;

	if (column < 0)
		return err_set(e, ERR_USAGE, "ps: couldn't find PID field in ps output");
	buf_str(b, line);
	buf_char(b, '\n');
	while ((line = strsep(&text, "\n"))) {
		pid_t pid = ps_pid_in(line, column);

		if (pid > 0 && n && bsearch(&pid, pids, n, sizeof(pid), ps_compare)) {
			buf_str(b, line);
			buf_char(b, '\n');
		}
	}
	return 0;
}

/* Empty arguments are what some callers pass for none. */
static char **ps_arguments(char *const *args, size_t n, struct arena *a)
{
	char **argv = arena_array(a, n + 3, char *);
	size_t i, k = 0;

	argv[k++] = arena_strdup(a, "ps");
	for (i = 0; i < n; i++)
		if (*args[i])
			argv[k++] = args[i];
	if (k == 1)
		argv[k] = arena_strdup(a, "-ef");
	return argv;
}

static int ps_spawn(char *const *argv, int out_fd, int err_fd, struct error *e)
{
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int status, rc;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return err_set(e, ERR_SYSTEM, "ps: out of memory");
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		return err_set(
			e, ERR_HOST,
			"ps: this host has no program ps: install procps or use --format json");
	if (rc != 0) {
		errno = rc;
		return err_sys(e, "ps: run the host's ps");
	}
	status = child_collect(pid);
	if (status < 0)
		return err_sys(e, "ps: wait for the host's ps");
	return status;
}

static char *ps_collect(int fd, struct arena *a)
{
	size_t len;

	return lseek(fd, 0, SEEK_SET) < 0 ? NULL : fd_read_all(fd, PS_MAX, a, &len);
}

/* Runs the host's ps. Files in memory take its streams, so that neither blocks the other. */
static int ps_run(char *const *argv, struct arena *a, char **ret_text, struct error *e)
{
	autoclose int out_fd = memfd_create("ps", MFD_CLOEXEC);
	autoclose int err_fd = memfd_create("ps", MFD_CLOEXEC);
	int status;
	char *said;

	if (out_fd < 0 || err_fd < 0)
		return err_sys(e, "ps: memfd_create");
	status = ps_spawn(argv, out_fd, err_fd, e);
	if (status < 0)
		return -1;
	if (status) {
		said = ps_collect(err_fd, a);
		return err_set(e, ERR_USAGE, "ps: the host's ps failed: %.*s",
			       said ? (int)strcspn(said, "\n") : 0, said ? said : "");
	}
	*ret_text = ps_collect(out_fd, a);
	return *ret_text ? 0 : err_sys(e, "ps: read what the host's ps says");
}

static void ps_json(const pid_t *pids, size_t n, struct buf *b)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(b, "%s%d", i ? "," : "[", pids[i]);
	buf_str(b, n ? "]\n" : "[]\n");
}

int ps_print(const struct cli *c, bool json, struct buf *b, struct error *e)
{
	pid_t *pids;
	char *text;
	size_t n;

	if (life_pids(c->root, c->args[0], c->arena, &pids, &n, e) < 0)
		return -1;
	if (json) {
		ps_json(pids, n, b);
		return 0;
	}
	if (ps_run(ps_arguments(c->args + 1, c->n_args - 1, c->arena), c->arena, &text, e) < 0)
		return -1;
	return ps_filter(text, pids, n, b, e);
}
