# shellcheck shell=bash
# For tests of `do` with images: a library of root filesystems in $T/library, as sbxrun-rootfs lays it out. Needs lib/test.sh.

export SBXRUN_IMAGE_KEEP=0

# library NAME: busybox as directory and EROFS image, with a manifest. Skips where the kernel knows no EROFS.
library() {
	local dir=$T/library/$1
	needs mkfs.erofs
	grep -qw erofs /proc/filesystems || modprobe erofs 2>/dev/null || skip 'this kernel has no EROFS'
	bundle
	mkdir -p "$dir"
	mv "$B/rootfs" "$dir/rootfs"
	mkdir -p "$dir/rootfs/workspace"
	chmod 755 "$T/library" "$dir"
	mkfs.erofs --quiet -x-1 --all-root "$dir/rootfs.erofs" "$dir/rootfs" >/dev/null
	library_manifest "$dir"
}

library_manifest() {
	jq -n --arg name "${1##*/}" --argjson size "$(stat -c %s "$1/rootfs.erofs")" --arg sum "$(sha256sum <"$1/rootfs.erofs" | cut -d ' ' -f 1)" \
		'{name: $name, digest: "sha256:feed", images: {dir: {path: "rootfs"}, erofs: {path: "rootfs.erofs", size: $size, sha256: ("sha256:" + $sum)}}}' >"$1/manifest.json"
	chmod 644 "$1/manifest.json" "$1/rootfs.erofs"
}

# EROFS's number, as stat -f has it.
EROFS=e0f5e1e2

# What `do` may have left: mounts, files of the state root, devices, disks.
left_of_do() {
	grep -F "$T/" /proc/self/mountinfo || :
	find "$T/state" -mindepth 1 -maxdepth 1 -name '*image:*' 2>/dev/null
	losetup -l -n -O NAME,BACK-FILE 2>/dev/null | grep -F "$T/" || :
	find "$T/disks" -mindepth 1 2>/dev/null || :
}
