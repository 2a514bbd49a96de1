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
	"$sbxrun" --root "$bundle/state" "${box_options[@]}" run -b "$bundle" "rootfs-${bundle##*.}" || status=$?
	rm -rf "$bundle"
	return "$status"
}
box_options=(--cgroup-manager disabled)

# Says why an ordinary user can't build here, before anything was fetched.
check_boxes() {
	[ "$EUID" != 0 ] || return 0
	unshare -Ur true 2>/dev/null ||
		die 'this host lets ordinary users make no user namespaces, and parts of a build run in a box: build as root, or see sbxrun doctor'
}
