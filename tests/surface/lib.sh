# shellcheck shell=bash
# lib.sh: how the probe is built, and how its figures are read.

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
