#!/bin/bash
# Imitates CVE-2023-25809 and the way in of CVE-2022-0492: no cgroup namespace, a cgroup mount that is asked for writable, and root
# inside with every capability but CAP_SYS_ADMIN. Escape: a file or directory of the cgroup tree can be changed, or the host's tree
# is seen.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/caps.sh"

_rw='(.mounts[] | select(.type == "cgroup")).options = ["nosuid", "noexec", "nodev", "rw"]'

# shellcheck disable=SC2016
ATTACK='
for d in /sys/fs/cgroup /sys/fs/cgroup/*; do
	[ -e $d/cgroup.procs ] || continue
	mkdir $d/made && echo "made $d/made"
	for f in notify_on_release release_agent cgroup.procs pids.max cgroup.max.depth memory.max; do
		[ ! -e $d/$f ] || { echo 1 >$d/$f; } && [ -e $d/$f ] && echo "wrote $d/$f"
	done
	find $d -type d | grep -v "^$d$" | sed "s/^/sees /"
done 2>/dev/null
cat /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/release_agent 2>/dev/null
echo end'

the_tree_can_neither_be_written_nor_seen_beyond_the_container() {
	run_in_box "$ATTACK" 'without_ns("cgroup")' "$_rw" "$(all_caps SYS_ADMIN)"
	is "$out" end
}

a_joined_namespace_is_not_private_either() {
	run_in_box "$ATTACK" "ns(\"cgroup\"; \"/proc/$$/ns/cgroup\")" "$_rw" "$(all_caps SYS_ADMIN)"
	[ "$rc" != 0 ] || is "$out" end
}

with_a_read_only_mount_and_a_namespace_nothing_can_be_written() {
	run_in_box "$ATTACK" "$(all_caps SYS_ADMIN)"
	is "$out" end
}

run_tests
