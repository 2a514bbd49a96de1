#!/bin/bash
# Imitates CVE-2019-18837, CVE-2024-45310 and the static half of CVE-2021-30465: links in the image on the way to what the runtime
# makes (mount targets, files, devices, the working directory). Escape: anything appears in the canary directory, or a mount on it.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

LINKS=('$T/canary' '../../canary' '../../../../../../../../../../../$T/canary' '/../../../$T/canary')

# FILTER: runs an image that has each of the links at /link and /dir/link.
_canary_stays_empty() {
	local link
	mkdir -p canary src
	echo text >file
	for link in "${LINKS[@]}"; do
		link=${link//'$T'/$T}
		bundle 'sh("true")' writable "$1"
		mkdir "$B/rootfs/dir"
		ln -s "$link" "$B/rootfs/link"
		ln -s "$link" "$B/rootfs/dir/link"
		ln -s "$link/file" "$B/rootfs/dangling"
		attack
		untouched canary "$link"
	done
}

a_directory_bound_on_or_below_a_link() {
	_canary_stays_empty 'mount({destination: "/dir/link/new", source: ($T + "/src"), options: ["bind"]}) |
		mount({destination: "/link", source: ($T + "/src"), options: ["bind"]})'
}

a_file_bound_on_a_dangling_link() {
	_canary_stays_empty 'mount({destination: "/dangling", source: ($T + "/file"), options: ["bind"]})'
}

a_file_bound_below_a_link() {
	_canary_stays_empty 'mount({destination: "/link/made", source: ($T + "/file"), options: ["bind"]})'
}

a_tmpfs_with_copy_on_a_link() {
	_canary_stays_empty 'mount({destination: "/dir/link/new", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]}) |
		mount({destination: "/link", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]})'
}

a_device_below_a_link() {
	_canary_stays_empty '.linux.devices = [{path: "/link/null", type: "c", major: 1, minor: 3}]'
	_canary_stays_empty '.linux.devices = [{path: "/dir/link/fifo", type: "p"}]'
}

a_device_on_a_dangling_link() {
	_canary_stays_empty '.linux.devices = [{path: "/dangling", type: "c", major: 1, minor: 3}]'
	_canary_stays_empty '.linux.devices = [{path: "/dangling", type: "p"}]'
}

a_missing_working_directory_below_a_link() {
	_canary_stays_empty '.process.cwd = "/link/cwd"'
}

a_link_in_a_volume_is_the_attackers_too() {
	mkdir canary src volume
	ln -s "../../../../../../../../../../..$T/canary" volume/link
	bundle 'sh("true")' 'mount({destination: "/vol", source: ($T + "/volume"), options: ["bind"]})' \
		'mount({destination: "/vol/link/new", source: ($T + "/src"), options: ["bind"]})' \
		'.linux.devices = [{path: "/vol/link/null", type: "c", major: 1, minor: 3}]'
	attack
	untouched canary
}

# What lies in the root filesystem is looked for in it: its links are the image's.
a_source_in_the_image_that_is_a_link_to_the_host() {
	local link source
	mkdir -p canary/secret
	for link in "${LINKS[@]}"; do
		link=${link//'$T'/$T}
		# shellcheck disable=SC2016
		for source in '"rootfs/link"' '"rootfs/dir/../link/."' '($B + "/../" + ($B | split("/") | last) + "/rootfs/link")'; do
			bundle 'sh("ls /m")' "mount({destination: \"/m\", source: $source, options: [\"bind\"]})"
			mkdir "$B/rootfs/dir"
			ln -s "$link" "$B/rootfs/link"
			attack
			hides "$out" secret "$link"
		done
	done
}

# ---- sources that lie in the image, by whatever name the config gets there ----

# NAME FILTER [BUNDLE]: a source with a link of the image in it shows nothing of the host.
_source_stays_inside() {
	bundle 'sh("cat /mnt/secret; echo >/mnt/written")' writable "$2"
	ln -s "$T/canary" "$B/rootfs/share"
	mkdir "$B/rootfs/mnt"
	ln -sfn "$B" alias
	ln -sfn "$B/rootfs" root
	run sbx run -b "${3:-$B}" "$ID"
	[[ $out$err != *hosts-secret* ]] || escaped "$1: the host's file was read"
	[ ! -e canary/written ] || escaped "$1: a file was written on the host"
}

a_source_in_the_image_under_another_name() {
	mkdir canary
	echo hosts-secret >canary/secret
	_source_stays_inside plain 'mount({destination: "/mnt", source: "rootfs/share", options: ["bind"]})'
	_source_stays_inside 'a link to the bundle' 'mount({destination: "/mnt", source: ($T + "/alias/rootfs/share"), options: ["bind"]})'
	_source_stays_inside 'called by a link' 'mount({destination: "/mnt", source: ($T + "/alias/rootfs/share"), options: ["bind"]})' alias
	_source_stays_inside 'a link to the root' 'mount({destination: "/mnt", source: ($T + "/root/share"), options: ["bind"]})'
	_source_stays_inside 'dots behind it' 'mount({destination: "/mnt", source: "rootfs/share/../canary", options: ["bind"]})'
}

a_source_in_the_image_with_ids_mapped() {
	mkdir canary
	echo hosts-secret >canary/secret
	local maps='uidMappings: [{containerID: 0, hostID: 0, size: 65536}], gidMappings: [{containerID: 0, hostID: 0, size: 65536}]'
	_source_stays_inside mapped "mount({destination: \"/mnt\", source: \"rootfs/share\", options: [\"bind\"], $maps})"
	_source_stays_inside 'mapped, by a link' "mount({destination: \"/mnt\", source: (\$T + \"/alias/rootfs/share\"), options: [\"bind\"], $maps})"
}

run_tests
