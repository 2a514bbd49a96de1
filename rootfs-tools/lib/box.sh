# shellcheck shell=bash
# Runs programs of a rootfs in a box of our own: no network, none of the host's files but what is bound.

# Sets sbxrun to the program: beside us in the tree or where both are installed, else by PATH.
find_sbxrun() {
	local candidate
	for candidate in "${SBXRUN:-}" "$HERE/../build/sbxrun" "$HERE/../../../bin/sbxrun" "$(type -P sbxrun || :)"; do
		[ -n "$candidate" ] && [ -x "$candidate" ] || continue
		sbxrun=$(realpath -s "$candidate")
		return
	done
	die 'the program sbxrun is not found: set SBXRUN to its path'
}

# in_box ROOTFS CONFIG-ARGUMENT… -- CMD…: runs CMD with the directory ROOTFS for its root; lib/box.py knows the arguments. stdin, stdout,
# stderr and the status are CMD's.
in_box() {
	local bundle status=0
	bundle=$(mktemp -d "$work/box.XXXXXX")
	if [ "$EUID" = 0 ]; then
		"$sbxrun" spec -b "$bundle"
	else
		"$sbxrun" spec --rootless -b "$bundle"
	fi || return
	python3 "$HERE/lib/box.py" "$bundle/config.json" "$@" || return
	"$sbxrun" --root "$bundle/state" "${box_options[@]}" run -b "$bundle" "$(box_id "$bundle")" || status=$?
	rm -rf "$bundle"
	return "$status"
}
box_options=(--cgroup-manager disabled)

box_id() { echo "rootfs-${1##*.}"; }

# end_boxes DIR: ends the boxes whose bundles are in DIR, with all of their processes.
end_boxes() {
	local bundle
	for bundle in "$1"/box.*; do
		[ ! -d "$bundle/state" ] || "${sbxrun:-sbxrun}" --root "$bundle/state" delete --force "$(box_id "$bundle")" 2>/dev/null || :
	done
}

# in_strict_box ROOTFS …: the same under the policy `code`, or that of the file $box_policy. For root the ids are private ones, of nobody on this host.
in_strict_box() {
	local box_options=(--log-level error --policy "${box_policy:-code}") rootfs=$1 ids=()
	shift
	if [ "$EUID" = 0 ]; then
		ids=(--private "$(private_base)")
	elif [ "${1:-}" = --user ]; then
		# An ordinary user has one id to give.
		shift 3
	fi
	in_box "$rootfs" "${ids[@]}" "$@"
}

# The first of the ids that /etc/subuid gives to containers of sbxrun, or would.
private_base() {
	local base
	base=$(sed -n 's/^sbxrun:\([0-9]*\):.*/\1/p' /etc/subuid 2>/dev/null | head -n 1)
	echo "${base:-1879048192}"
}

# Says why an ordinary user can't build here, before anything was fetched.
check_boxes() {
	[ "$EUID" != 0 ] || return 0
	unshare -Ur true 2>/dev/null ||
		die 'this host lets ordinary users make no user namespaces, and parts of a build run in a box: build as root, or see sbxrun doctor'
}
