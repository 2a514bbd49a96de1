/*
 * System calls that the C library does not wrap, and the few constants its headers of today lack.
 * No policy: names and arguments are the kernel's, results are -1 with errno.
 */
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef MOUNT_ATTR_NOSYMFOLLOW
#define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif
#ifndef MOVE_MOUNT_SET_GROUP
#define MOVE_MOUNT_SET_GROUP 0x00000100
#endif

/* fork() with clone3's flags. The child shares no memory with the parent.
 * *ret_pidfd may be NULL. */
pid_t sys_clone3(uint64_t flags, int cgroup_dfd, int *ret_pidfd);

/* fork() by clone() with CLONE_PARENT: for filters that know no clone3(). */
pid_t sys_clone_sibling(uint64_t flags, int *ret_pidfd);

/* fork() by clone(), with a pidfd. */
pid_t sys_fork(int *ret_pidfd);

/* Close-on-exec and O_NOCTTY are added. */
int sys_openat2(int dfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

int sys_pivot_root(const char *new_root, const char *put_old);

/* move_mount() of a detached tree onto an open directory or file, descriptor to descriptor. */
static inline int sys_attach(int tree_fd, int target_fd)
{
	return move_mount(tree_fd, "", target_fd, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* mount_setattr() on an open tree; recursive or only its top mount. */
int sys_set_attr(int tree_fd, bool recursive, uint64_t set, uint64_t clear, uint64_t propagation);

/* A new mount of a filesystem type with at most one parameter (key NULL: none). */
int sys_mount_new(const char *type, const char *key, const char *value, unsigned int attrs);

/* The id of the mount that path is on, the topmost, or that an open place is on; 0 if it can't be
 * told. */
uint64_t sys_mount_id(const char *path);
uint64_t sys_mount_id_of(int fd);

/* Root, and not only of a user namespace. */
bool sys_is_machine_root(void);

/* Linux 6.15 and later: mounts can be attached to a tree that is itself attached nowhere. */
bool sys_can_mount_detached(void);
