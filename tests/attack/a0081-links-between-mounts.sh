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

run_tests
