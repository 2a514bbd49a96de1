/* Files of our own on this host. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "doctor/check.h"
#include "state/store.h"

#define POLICY_FILE "/etc/sbxrun/policy.json"

static int explain_no_root(struct look *l)
{
	const char *run = arena_printf(l->arena, "/run/user/%u", geteuid());

	if (access(run, W_OK) == 0)
		look_remedy(l, "export XDG_RUNTIME_DIR=%s", run);
	else
		look_remedy(l, "export XDG_RUNTIME_DIR=$(mktemp -d)");
	return look_missing(l, "there is no place for it: XDG_RUNTIME_DIR is not set");
}

/* A file without a name tells, and nobody sees it; where there are none, what the mode says has to
 * do. -1 with errno. */
static int take_file(int dfd)
{
	autoclose int fd = openat(dfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		return faccessat(dfd, ".", W_OK | X_OK, AT_EACCESS);
	return fd < 0 || write(fd, "", 1) < 0 ? -1 : 0;
}

/* Whether the first create could make it: the nearest directory that is there takes files. */
static int look_at_parent(struct look *l, const char *root)
{
	char *dir = path_join(l->arena, ".", root), *slash;
	autoclose int dfd = -1;

	while (access(dir, F_OK) < 0 && (slash = strrchr(dir, '/')))
		*(slash == dir ? slash + 1 : slash) = '\0';
	dfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd >= 0 && take_file(dfd) == 0)
		return look_fine(l, "%s can be made", root);
	look_remedy(l, "sbxrun --root $(mktemp -d) doctor");
	return look_missing(l, "%s can't be made: %s: %s", root, dir, err_text(errno));
}

static int look_state(struct look *l)
{
	const char *root = l->options->root;
	autoclose int dfd = -1;
	struct error e;

	if (!root)
		return explain_no_root(l);
	dfd = store_open_root(root, false, &e);
	if (dfd < 0 && e.sys == ENOENT)
		return look_at_parent(l, root);
	if (dfd < 0)
		return look_missing(l, "%s", e.text);
	if (take_file(dfd) < 0)
		return look_missing(l, "%s takes no files: %s", root, err_text(errno));
	return look_fine(l, "%s", root);
}

static int look_policy(struct look *l)
{
	struct stat st;

	if (stat(POLICY_FILE, &st) == 0)
		return look_fine(l, POLICY_FILE " is there");
	if (errno == ENOENT || errno == ENOTDIR)
		return look_fine(l, "there is no " POLICY_FILE ": what is built in counts");
	return look_less(l, POLICY_FILE ": %s", err_text(errno));
}

static const struct doctor_check checks[] = {
	{"state", "state of containers", WHO_ALL, WHO_ALL, look_state},
	{"policy", "policy file", WHO_ALL, 0, look_policy},
};

const struct doctor_group doctor_around = {checks, ARRAY_SIZE(checks)};
