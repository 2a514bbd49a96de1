#!/bin/bash
# The image's links lead to what the config has mounted: one mount is taken for another, to be bound, changed or written to. Escape: a
# protection of a mount is gone, or a volume of the host has, or is, something that the config does not say.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# ---- sources ----

# LINK CODE [FILTER…]: /x is bound from /share of the image, which is a link to LINK. CODE says "reached" inside.
_bound_from_a_link() {
	local link=$1 code=$2 options
	shift 2
	for options in '["bind"]' '["bind", "rw"]' '["rbind"]' '["rbind", "rw"]'; do
		bundle "sh(\"$code\")" writable "$@" "mount({destination: \"/x\", source: \"rootfs/share\", options: $options})"
		ln -s "$link" "$B/rootfs/share"
		attack
		hides "$out" reached "$link $options"
	done
}

a_source_is_not_the_proc_without_its_masks() {
	_bound_from_a_link /proc 'test -e /x/sys/kernel/core_pattern && echo reached'
	_bound_from_a_link proc/sys 'test -e /x/kernel/core_pattern && echo reached'
	_bound_from_a_link tmp/../proc/. 'test -e /x/sys/kernel/core_pattern && echo reached'
	_bound_from_a_link / 'test -e /x/proc/sys/kernel/core_pattern && echo reached'
}

a_source_is_neither_sys_nor_a_cgroup() {
	_bound_from_a_link /sys 'test -e /x/kernel && echo reached'
	_bound_from_a_link sys/fs/cgroup 'ls /x/*/cgroup.procs /x/cgroup.procs 2>/dev/null | grep -q . && echo reached'
}

a_source_is_not_a_read_only_volume() {
	mkdir data
	_bound_from_a_link data 'echo text >/x/written && echo reached' 'mount({destination: "/data", source: ($T + "/data"), options: ["bind", "ro"]})'
	_bound_from_a_link data/sub 'echo reached >/x/written' 'mount({destination: "/data", source: ($T + "/data"), options: ["bind", "ro"]})'
	untouched data
}

links_that_stay_in_the_image_are_followed() {
	bundle 'sh("cat /x/file")' 'mount({destination: "/x", source: "rootfs/share", options: ["bind"]})'
	mkdir "$B/rootfs/real"
	echo text >"$B/rootfs/real/file"
	ln -s /real "$B/rootfs/share"
	attack
	rc_is 0
	is "$out" text
}

# ---- remounts ----

# FILTER…: a filesystem of the host, a tmpfs at tm, is what it was after the container.
_filesystem_stays() {
	local before after
	mkdir -p tm
	mount -t tmpfs -o size=1m tmpfs tm
	before=$(stat -f -c '%b %S' tm)$(findmnt -no FS-OPTIONS tm)
	bundle 'sh("touch /vol/x /data/x && echo reached")' writable 'mount({destination: "/cache", type: "tmpfs", source: "tmpfs"})' "$@"
	ln -s /data "$B/rootfs/cache"
	mkdir "$B/rootfs/data"
	attack
	after=$(stat -f -c '%b %S' tm)$(findmnt -no FS-OPTIONS tm)
	umount tm
	[ "$after" = "$before" ] || escaped "the host's filesystem is $after instead of $before"
}

a_remount_of_a_bind_does_not_reach_the_filesystem_of_the_host() {
	local options
	for options in '"bind", "remount"' '"remount", "bind"' '"rbind", "remount"' '"remount"'; do
		_filesystem_stays 'mount({destination: "/vol", source: ($T + "/tm"), options: ["bind"]})' \
			"mount({destination: \"/vol\", type: \"bind\", source: \"\", options: [$options, \"ro\", \"sync\", \"size=64k\"]})"
		rc_is 1
		like "$err" '/vol/x: Read-only file system'
	done
	_filesystem_stays 'mount({destination: "/vol", source: ($T + "/tm"), options: ["bind"]})' \
		'mount({destination: "/vol", type: "tmpfs", source: "tmpfs", options: ["remount", "ro", "size=64k"]})'
	like "$err" 'mounts\[[0-9]+\].options: "size"'
}

a_remount_is_not_of_another_mount() {
	_filesystem_stays 'mount({destination: "/data", source: ($T + "/tm"), options: ["bind"]})' \
		'mount({destination: "/cache", type: "tmpfs", source: "tmpfs", options: ["remount", "size=64k"]})'
	like "$err" 'mounts\[[0-9]+\].destination: .*/cache'
}

a_remount_does_not_open_a_read_only_volume() {
	local options
	mkdir data
	for options in '["remount", "rw"]' '["bind", "remount", "rw"]'; do
		bundle 'sh("touch /data/written && echo reached")' writable 'mount({destination: "/cache", type: "tmpfs", source: "tmpfs"})' \
			'mount({destination: "/data", source: ($T + "/data"), options: ["bind", "ro"]})' \
			"mount({destination: \"/cache\", type: \"tmpfs\", source: \"tmpfs\", options: $options})"
		ln -s data "$B/rootfs/cache"
		mkdir "$B/rootfs/data"
		attack
		hides "$out" reached "$options"
		untouched data "$options"
	done
}

run_tests
