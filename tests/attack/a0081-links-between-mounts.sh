#!/bin/bash
# The image's links lead to what the config has mounted: one mount is taken for another, to be bound, changed or written to. Escape: a
# protection of a mount is gone, or a volume of the host has, or is, something that the config does not say.
# Views: own a_source_is_neither_sys_nor_a_cgroup
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

# Who shares the image can rename the directories that are mounted on.
a_source_exchanged_with_a_place_to_mount_on() {
	local i
	for ((i = 0; i < STARTS; i++)); do
		bundle 'sh("test -e /x/sys/kernel/core_pattern && echo reached")' writable \
			'mount({destination: "/x", source: "rootfs/share", options: ["bind"]})'
		build_attacker
		mkdir "$B/rootfs/share"
		"$ATTACKER" swap "$B/rootfs/proc" "$B/rootfs/share" &
		attack
		kill "$!"
		wait "$!" || :
		hides "$out" reached
	done
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

# ---- things made in volumes ----

# NAME LINK FILTER…: NAME in the image is a link to LINK; nothing is made in vol, which is bound to /data.
_volume_stays_empty() {
	local name=$1 link=$2
	shift 2
	mkdir -p vol src
	echo text >file
	bundle 'sh("echo started")' writable 'mount({destination: "/data", source: ($T + "/vol"), options: ["bind"]})' "$@"
	rm -rf "${B:?}/rootfs/$name"
	mkdir -p "$B/rootfs/${name%/*}"
	[ "$name" = data ] || mkdir -p "$B/rootfs/data"
	rm -rf "${B:?}/rootfs/$name"
	ln -s "$link" "$B/rootfs/$name"
	attack
	untouched vol "$name -> $link: $*"
}

devices_and_links_are_not_made_in_a_volume() {
	local device='.linux.devices += [{path: "/dev/secret", type: "c", major: 1, minor: 3}]' where
	for where in . "$NO_DEV" '.mounts |= map(select(.destination != "/dev"))'; do
		_volume_stays_empty dev data "$where" "$device"
		_volume_stays_empty dev /data/sub "$where" "$device"
		_volume_stays_empty data dev "$where" "$device"
	done
	_volume_stays_empty dev/below /data "$NO_DEV" '.linux.devices += [{path: "/dev/below/fifo", type: "p"}]'
	_volume_stays_empty dev/below /data/sub "$NO_DEV" '.linux.devices += [{path: "/dev/below/secret", type: "c", major: 1, minor: 3}]'
	_volume_stays_empty other data '.linux.devices += [{path: "/other/secret", type: "c", major: 1, minor: 3}]'
}

devices_in_a_user_namespace_are_not_made_in_a_volume() {
	local maps='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	_volume_stays_empty dev data "$maps"
	_volume_stays_empty data dev "$maps"
	_volume_stays_empty dev data "$NO_DEV" "$maps"
}

places_to_mount_on_are_not_made_in_a_volume() {
	local user='.process.user = {uid: 65534, gid: 65534}'
	_volume_stays_empty etc/hosts /data/any/where/.profile "$user" 'mount({destination: "/etc/hosts", source: ($T + "/file"), options: ["bind"]})'
	_volume_stays_empty etc/hosts ../data/.profile "$user" 'mount({destination: "/etc/hosts", source: ($T + "/file"), options: ["bind"]})'
	_volume_stays_empty dir /data "$user" 'mount({destination: "/dir/new", source: ($T + "/src"), options: ["bind"]})'
	_volume_stays_empty dir /data/x/../y "$user" 'mount({destination: "/dir/new", type: "tmpfs", source: "tmpfs"})'
	_volume_stays_empty var/run /data "$user" 'mount({destination: "/var/run/new", type: "tmpfs", source: "tmpfs"})'
	_volume_stays_empty etc/resolv.conf /data/.profile "$user" 'mount({destination: "/etc/resolv.conf", source: ($T + "/file"), options: ["bind"]})'
}

the_working_directory_is_not_made_in_a_volume() {
	_volume_stays_empty desk /data/wd/sub '.process.cwd = "/desk"'
	_volume_stays_empty desk /data '.process.cwd = "/desk/sub"'
}

# What came along with a bind, or with the root, has no name in the config.
nothing_is_made_in_a_mount_below_a_volume_either() {
	mkdir tree tree/sub vol
	mount --bind vol tree/sub
	bundle 'sh("echo started")' writable 'mount({destination: "/data", source: ($T + "/tree"), options: ["rbind"]})' '.process.cwd = "/desk/new"'
	ln -s data/sub "$B/rootfs/desk"
	attack
	umount tree/sub
	untouched vol
	bundle 'sh("echo started")' writable '.process.cwd = "/desk/new"'
	ln -s data "$B/rootfs/desk"
	mkdir "$B/rootfs/data"
	mount --bind vol "$B/rootfs/data"
	attack
	umount "$B/rootfs/data"
	untouched vol
}

# The usual names of a place count, the image's own ideas of it don't.
in_a_volume_on_run_only_what_is_meant_is_made() {
	local link
	for link in /run/.profile /run/any/where ../run/systemd/resolve; do
		mkdir -p vol
		echo text >file
		bundle 'sh("echo started")' 'mount({destination: "/run", source: ($T + "/vol"), options: ["bind"]})' \
			'mount({destination: "/etc/resolv.conf", source: ($T + "/file"), options: ["bind"]})'
		ln -s "$link" "$B/rootfs/etc/resolv.conf"
		attack
		untouched vol "$link"
	done
	bundle 'sh("echo started")' 'mount({destination: "/run", source: ($T + "/vol"), options: ["bind"]})' \
		'mount({destination: "/var/run/secrets/x", type: "tmpfs", source: "tmpfs"})'
	ln -s /run/evil "$B/rootfs/var/run"
	attack
	untouched vol
}

run_tests
