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

# surface_docker: docker's config of spec/bundles, as a filter of jq, whose files come from the directory $files and whose hooks are gone.
surface_docker() {
	# shellcheck disable=SC2016
	jq -c 'del(.hooks, .root.readonly) | .process.terminal = false' "$surface_top/spec/bundles/docker/config.json"
	echo '| .mounts |= map(if .source | startswith("/var/lib/docker/") then .source = $T + "/" + (.source | split("/") | last) else . end)'
}
