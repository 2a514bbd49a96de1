# shellcheck shell=bash
# lib.sh: how the probe is built, how its figures are read, and the goals of the policy code, which hold for containers (t3000) and for boxes of `do` (t3020).
# What the probe said is in $T/said; the goals need lib/test.sh.

surface_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
surface_top=${surface_dir%/*/*}

# surface_build PROGRAM: made aside and renamed, since two files may start at once.
surface_build() {
	[ ! -x "$1" ] || return 0
	"${CC:-cc}" -std=gnu17 -O1 -Wall -Wextra -Werror -static -I"$surface_top/runtime" -o "$1.$$" "$surface_dir"/*.c \
		"$surface_top/runtime/filter/syscall_table.c" && mv "$1.$$" "$1"
}

# surface_figure FILE KEY: the number that the probe printed.
surface_figure() {
	awk -v key="$2" '$1 == key { print $2; found = 1 } END { exit !found }' "$1"
}

# surface_docker: docker's config of spec/bundles, as a filter of jq for `bundle`. Its files come from $T, and its hooks are gone. Docker's
# profile differs from version to version, and so this one gives everything but what docker gives to nobody without CAP_SYS_NICE: what a
# program reaches then, it reaches at most with any of them.
surface_docker() {
	local names
	names=$(sed -n 's/^CALL(\([a-z0-9_]*\),.*/"\1"/p' "$surface_top/spec/seccomp/calls.def" | grep -v 'mempolicy\|mbind' | paste -sd ,)
	# shellcheck disable=SC2016
	echo '.process.args as $args | .root.path as $path | .linux.cgroupsPath as $cgroup |'
	jq -c "del(.hooks, .root.readonly) | .linux.seccomp.syscalls = [{names: [$names], action: \"SCMP_ACT_ALLOW\"}]" \
		"$surface_top/spec/bundles/docker/config.json"
	# shellcheck disable=SC2016
	echo '| .process.terminal = false | .process.args = $args | .root.path = $path | .linux.cgroupsPath = $cgroup
		| .mounts |= map(if .source | startswith("/var/lib/docker/") then .source = $T + "/" + (.source | split("/") | last) else . end)'
}

# surface_at_most KEY N [REGEX]: and where there is more, the lines that match go to the log.
surface_at_most() {
	local figure
	figure=$(surface_figure "$T/said" "$1")
	echo "$1 is $figure, and may be $2"
	[ "$figure" -le "$2" ] && return
	[ $# = 2 ] || grep -E "$3" "$T/said" | awk '{ print $2 }' | sort | paste -sd ' ' | fold -s -w 150
	fail "$1 is $figure, want $2 at most"
}

# Every mount is nosuid, and nodev but for devices and terminals. In a user namespace each device is a mount.
surface_mounts_have_flags() {
	is "$(surface_figure "$T/said" mounts_without_nosuid)" 0
	is "$(awk '$1 == "mount" && $3 !~ /(^|,)nodev(,|$)/ { print $2 }' "$T/said" |
		grep -vxE '/dev(/(pts|console|null|zero|full|random|urandom|tty))?' | paste -sd ' ')" ''
	isnt "$(surface_figure "$T/said" mounts)" 0
}

surface_goal_calls() { surface_at_most calls_reached 190 '^call .* reached'; }

surface_goal_foreign() {
	surface_at_most i386_reached 0
	surface_at_most x32_reached 0
}

surface_goal_features() {
	is "$(surface_figure "$T/said" features_tried)" 77
	surface_at_most features_allowed 7 '^feature .* allowed'
}

surface_goal_sockets() {
	surface_at_most family_creatable 4 '^family '
	surface_at_most netlink_creatable 1 '^netlink '
}

surface_goal_files() {
	unlike "$(cat "$T/said")" 'unfinished'
	surface_at_most proc_files 10
	surface_at_most proc_writable 0 '^writable /proc/'
	surface_at_most sys_files 0
	surface_at_most device_nodes 6
}

surface_goal_leaks() {
	is "$(surface_figure "$T/said" leaks_tried)" 79
	surface_at_most leaks_readable 15 '^leak .* readable'
}
