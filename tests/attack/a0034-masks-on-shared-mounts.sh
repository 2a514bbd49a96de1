#!/bin/bash
# Idea: with rootfsPropagation "shared" a volume, or a bound /proc, stays in the host's peer group, and what the runtime mounts in it to
# mask or to protect is mounted on the host as well, for good. Escape: the host's mount table has something of the container's.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_SHARED='.linux.rootfsPropagation = "rshared"'

_volume() {
	mkdir volume
	mount -t tmpfs tmpfs volume
	mount --make-shared volume
	mkdir volume/dir volume/sub volume/out
	mount -t tmpfs tmpfs volume/sub
	mount --make-shared volume/sub
	echo text >volume/file
	echo text >volume/sub/file
}

# FILTER…: nothing stays or appears on the host's side of the volume, and the container sees what it should.
_nothing_on_the_host() {
	local before after
	before=$(grep -c . /proc/self/mountinfo)
	bundle 'sh("sleep 100")' "$_SHARED" 'mount({destination: "/v", source: ($T + "/volume"), options: ["rbind", "rshared"]})' \
		'.linux.maskedPaths = [] | .linux.readonlyPaths = []' "$@"
	[ -z "${LINK:-}" ] || ln -s "$LINK" "$B/rootfs/link"
	run sbx create -b "$B" "$ID"
	after=$(grep -c . /proc/self/mountinfo)
	[ "$before" = "$after" ] || escaped "$((after - before)) mounts on the host: $(tail -n $((after - before)) /proc/self/mountinfo | cut -d' ' -f5)"
	[ "$rc" = 0 ] || return 0
	run sbx start "$ID"
	rc_is 0
}

masks_in_a_volume_stay_inside() {
	_volume
	_nothing_on_the_host '.linux.maskedPaths = ["/v/file", "/v/dir", "/v/sub/file"]'
	umount -R volume
}

read_only_paths_in_a_volume_stay_inside() {
	_volume
	_nothing_on_the_host '.linux.readonlyPaths = ["/v/file", "/v/dir", "/v/sub/file"]'
	umount -R volume
}

masks_found_through_a_link_stay_inside() {
	_volume
	LINK=v/file _nothing_on_the_host '.linux.maskedPaths = ["/link"]'
	LINK=v/sub _nothing_on_the_host '.linux.readonlyPaths = ["/link/file"]'
	umount -R volume
}

mounts_in_a_volume_stay_inside() {
	_volume
	mkdir other
	_nothing_on_the_host 'mount({destination: "/v/dir", source: ($T + "/other"), options: ["bind"]})' \
		'mount({destination: "/v/sub", type: "tmpfs", source: "tmpfs"})'
	umount -R volume
}

# Bound by engines for a container in the host's pid namespace.
masks_of_a_bound_proc_stay_inside() {
	_volume
	mkdir proc
	mount -t proc proc proc
	_nothing_on_the_host 'without_ns("pid")' '.linux.maskedPaths = ["/proc/keys", "/proc/version"] | .linux.readonlyPaths = ["/proc/sys"]' \
		'.mounts |= map(if .destination == "/proc" then {destination: "/proc", type: "bind", source: ($T + "/proc"), options: ["rbind"]} else . end)'
	sbx delete -f "$ID"
	umount proc
	umount -R volume
}

# And a volume that is to be shared still is.
a_volume_with_a_mask_is_shared() {
	_volume
	_nothing_on_the_host '.linux.maskedPaths = ["/proc/version", "/v/file"]'
	rc_is 0
	nsenter -t "$(pid_of "$ID")" -m /bin/mount -t tmpfs from-box /v/out
	grep -q ' from-box ' /proc/self/mountinfo || fail 'a mount of the volume did not reach the host'
	sbx delete -f "$ID"
	umount -R volume
}

run_tests
