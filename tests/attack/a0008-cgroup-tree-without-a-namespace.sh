#!/bin/bash
# Imitates CVE-2023-25809 and the way in of CVE-2022-0492: no cgroup namespace, a cgroup mount that is asked for writable, and root
# inside with every capability but CAP_SYS_ADMIN. Escape: a file or directory of the cgroup tree can be changed, or the host's tree
# is seen.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
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

_nothing_got() {
	[ "$out" = end ] || [ -z "$out" ] || escaped "it ${out//$'\n'/, }"
}

the_tree_can_neither_be_written_nor_seen_beyond_the_container() {
	bundle "sh($(jq -n --arg c "$ATTACK" '$c'))" 'without_ns("cgroup")' "$_rw" "$(all_caps SYS_ADMIN)"
	attack
	_nothing_got
}

# With CAP_SYS_ADMIN over the host the tree is as the config says; over a user namespace of the container's it is not that right.
rights_in_a_user_namespace_do_not_count() {
	# shellcheck disable=SC2016
	local remount='for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mount -o remount,bind,rw $d; mount -o remount,rw $d; done 2>/dev/null'
	bundle "sh($(jq -n --arg c "$remount; $ATTACK" '$c'))" 'without_ns("cgroup")' "$_rw" "$(all_caps)" 'ns("user") |
		.linux.uidMappings = [{containerID: 0, hostID: 0, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	attack
	_nothing_got
}

# Starts a process in a cgroup namespace whose root is $P/$P-ns in every hierarchy, and sets HOLDER to its pid. Never the host's own
# namespace: a runtime that falls for this writes to whatever is at the root.
_hold_a_namespace() {
	local dir level file join=''
	for dir in $(printf '%s\n' "${CGROUP_MOUNTS[@]}" | sort -u); do
		for level in "$P" "$P/$P-ns"; do
			[ -d "$dir/$level" ] || mkdir "$dir/$level"
			for file in cpuset.cpus cpuset.mems; do
				[ ! -e "$dir/${level%/*}/$file" ] || [ "${CGROUP_MOUNTS[cpuset]:-}" != "$dir" ] ||
					cat "$dir/$level/../$file" >"$dir/$level/$file"
			done
		done
		join+="echo 0 >$dir/$P/$P-ns/cgroup.procs; "
	done
	sh -c "$join exec unshare -C sleep 1000" &
	HOLDER=$!
	wait_until 10 grep -q sleep "/proc/$HOLDER/comm"
	isnt "$(readlink "/proc/$HOLDER/ns/cgroup")" "$(readlink /proc/self/ns/cgroup)"
	is "$(grep -v "^0::/$" "/proc/$HOLDER/cgroup" | cut -d: -f3 | sort -u)" "/$P/$P-ns"
}

_let_it_go() {
	local dir
	kill "$HOLDER"
	wait "$HOLDER" || :
	for dir in $(printf '%s\n' "${CGROUP_MOUNTS[@]}" | sort -u); do
		find "$dir/$P/$P-ns" -depth -type d -exec rmdir {} +
	done
}

a_joined_namespace_is_not_private_either() {
	_hold_a_namespace
	bundle "sh($(jq -n --arg c "$ATTACK" '$c'))" "ns(\"cgroup\"; \"/proc/$HOLDER/ns/cgroup\")" "$_rw" "$(all_caps SYS_ADMIN)"
	attack
	_let_it_go
	_nothing_got
}

with_a_read_only_mount_and_a_namespace_nothing_can_be_written() {
	bundle "sh($(jq -n --arg c "$ATTACK" '$c'))" "$(all_caps SYS_ADMIN)"
	attack
	_nothing_got
}

run_tests
