# shellcheck shell=bash disable=SC2034,SC2016
# For programs of a Debian tree (programs/tree). Needs lib/test.sh.
#
#	has_tree	sets TREE; skips the test where the head of the file could not make it
#	languages [FILTER…]	the bundle $B with the tree as its root, /tmp, and a volume at /data, which is $T/data
#	image [FILTER…]		the bundle $B with a root of its own above the tree, and the config that docker makes

has_tree() {
	TREE=$("$TESTS_DIR/programs/tree" --where)
	[ -e "$TREE/made" ] || needs mmdebstrap
	[ -e "$TREE/made" ] || skip 'the tree could not be made'
}

languages() {
	has_tree
	mkdir -p data
	bundle ".root = {path: \"$TREE\", readonly: true}" 'env("PATH=/usr/sbin:/usr/bin:/sbin:/bin")' 'env("HOME=/tmp")' '.process.cwd = "/data"' \
		'mount({destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["mode=1777", "size=64m"]})' \
		'mount({destination: "/data", type: "bind", source: ($T + "/data"), options: ["rbind", "rw"]})' "$@"
}

# The upper side of the overlay is a tmpfs: /tmp may lie on an overlay, which can't be one.
image() {
	has_tree
	touch resolv.conf hostname
	echo '127.0.0.1 localhost' >hosts
	bundle "$(surface_docker)" 'env("PATH=/usr/sbin:/usr/bin:/sbin:/bin")' "$@"
	mkdir "$B/layer" "$B/root"
	mount -t tmpfs -o mode=755 tmpfs "$B/layer"
	mkdir "$B/layer/upper" "$B/layer/work"
	mount -t overlay -o "lowerdir=$TREE,upperdir=$B/layer/upper,workdir=$B/layer/work" overlay "$B/root"
	IMAGES+=("$B")
	jq '.root = {path: "root"}' "$B/config.json" >new.json
	mv new.json "$B/config.json"
}

# Mounts of the test's own are no leaks, but its containers must have let go of them.
let_go() {
	local dir
	sbx delete -f "$ID"
	for dir in "${IMAGES[@]}"; do
		umount "$dir/root" "$dir/layer"
	done
	IMAGES=()
}
IMAGES=()
