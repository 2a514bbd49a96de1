#include "rootfs/attach.h"

#include "base/fd.h"
#include "sys/mountinfo.h"
#include "sys/sys.h"

struct attach_search {
	uint64_t id;
	int top_fd; /* of that mount, if it is shared */
};

/* The name is only a way to find the mount again: what was found must be it. */
static int attach_look(const struct mountinfo_line *line, void *context, struct error *e)
{
	struct attach_search *s = context;
	autoclose int fd = -1;

	if (line->id != s->id || !line->shared)
		return 0;
	fd = open(line->point, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || sys_mount_id_of(fd) != s->id)
		return err_set(e, ERR_SYSTEM,
			       "the mount at %s is shared with the host and can't be reached",
			       line->point);
	s->top_fd = fd_steal(&fd);
	return 1;
}

/* The mount at top_fd leaves its peer group for the moment that it takes. */
static int attach_apart(int tree_fd, struct in_root target, int top_fd, struct error *e)
{
	const unsigned int both = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
	autoclose int peer_fd =
		open_tree(top_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (peer_fd < 0 || sys_set_attr(top_fd, false, 0, 0, MS_PRIVATE) < 0)
		return err_sys(e, "take a mount out of its peer group");
	if (sys_attach(tree_fd, target.fd) < 0)
		return err_sys(e, "attach");
	if (move_mount(peer_fd, "", top_fd, "", both | MOVE_MOUNT_SET_GROUP) < 0)
		return err_sys(e, "bring a mount back into its peer group (Linux 5.15)");
	return 0;
}

int attach_tree(bool peers, int tree_fd, struct in_root target, struct error *e)
{
	struct attach_search s = {.id = peers ? sys_mount_id_of(target.fd) : 0, .top_fd = -1};
	int result = 0;

	if (peers && !s.id)
		return err_sys(e, "find the mount");
	if (peers && mountinfo_each(attach_look, &s, e) < 0)
		return -1;
	if (s.top_fd >= 0)
		result = attach_apart(tree_fd, target, s.top_fd, e);
	else if (sys_attach(tree_fd, target.fd) < 0)
		result = err_sys(e, "attach");
	fd_close(&s.top_fd);
	return result;
}
