#!/bin/bash
# Id-mapped mounts: owners as the container sees them, and as the disk keeps them.
# Views: v2 owners_are_mapped_in_both_directions idmap_maps_the_top_and_ridmap_the_whole_tree
# Views: v2 without_mappings_those_of_the_user_namespace_are_taken
. "${0%/*}/../lib/test.sh"

MAPS='uidMappings: [{containerID: 0, hostID: 1000, size: 100}], gidMappings: [{containerID: 0, hostID: 2000, size: 100}]'

# A tree on a tmpfs whose top and sub-mount have files of 3:4.
_make_source() {
	mkdir src
	mount -t tmpfs tmpfs src
	mkdir src/sub
	mount -t tmpfs tmpfs src/sub
	touch src/file src/sub/file
	chown 3:4 src/file src/sub/file
	chmod 777 src src/sub
}

# Whether it ran. A tmpfs can be id-mapped since Linux 6.3; before, it is an error that names the field.
_ran() {
	local release major minor
	read -r release </proc/sys/kernel/osrelease
	IFS=.- read -r major minor _ <<<"$release"
	if [ "$rc" != 0 ] && [ $((major * 1000 + minor)) -lt 6003 ]; then
		like "$err" 'mounts\[7\]'
		umount -R src
		return 1
	fi
	rc_is 0
}

owners_are_mapped_in_both_directions() {
	_make_source
	run_in_box 'stat -c %u:%g /m/file; touch /m/new; stat -c %u:%g /m/new' \
		'.process.user = {uid: 1005, gid: 2006}' \
		"mount({destination: \"/m\", source: \"$T/src\", options: [\"bind\", \"idmap\"], $MAPS})"
	_ran || return 0
	is "$out" $'1003:2004\n1005:2006'
	is "$(stat -c %u:%g src/new)" 5:6
	umount -R src
}

mappings_alone_ask_for_it_too() {
	_make_source
	run_in_box 'stat -c %u:%g /m/file' \
		"mount({destination: \"/m\", source: \"$T/src\", options: [\"bind\"], $MAPS})"
	_ran || return 0
	is "$out" 1003:2004
	umount -R src
}

idmap_maps_the_top_and_ridmap_the_whole_tree() {
	_make_source
	run_in_box 'stat -c %u:%g /one/file /one/sub/file /all/file /all/sub/file' \
		"mount({destination: \"/one\", source: \"$T/src\", options: [\"rbind\", \"idmap\"], $MAPS})" \
		"mount({destination: \"/all\", source: \"$T/src\", options: [\"rbind\", \"ridmap\"], $MAPS})"
	_ran || return 0
	is "$out" $'1003:2004\n3:4\n1003:2004\n1003:2004'
	umount -R src
}

without_mappings_those_of_the_user_namespace_are_taken() {
	_make_source
	umount src/sub
	# Host root is not mapped, so the places in its tree must be there.
	bundle 'sh("stat -c %u:%g /m/file /plain/file; id -u")' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] |
			.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 1000}]' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind", "idmap"]})' \
		'mount({destination: "/plain", source: ($T + "/src"), options: ["bind"]})'
	mkdir "$B"/rootfs/{m,plain}
	run sbx run -b "$B" "$ID"
	_ran || return 0
	is "$out" $'3:4\n65534:65534\n0'
	umount -R src
}

in_a_user_namespace_a_tree_can_only_be_bound_as_a_whole() {
	# The kernel's rule: what is mounted below could hide something.
	_make_source
	run_in_box 'ls /m; ls /m/sub' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 1000}] |
			.linux.gidMappings = [{containerID: 0, hostID: 0, size: 1000}]' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind"]})'
	umount -R src
	[ "$rc" != 0 ] || is "$out" $'file\nsub'
	[ "$rc" = 0 ] || like "$err" 'mounts\[7\].*rbind'
}

idmap_without_any_mapping_is_an_error() {
	mkdir src
	run_in_box 'echo started' 'mount({destination: "/m", source: ($T + "/src"), options: ["bind", "idmap"]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
}

one_kind_of_mapping_alone_is_an_error() {
	mkdir src
	run_in_box 'echo started' 'mount({destination: "/m", source: ($T + "/src"), options: ["bind", "idmap"],
		uidMappings: [{containerID: 0, hostID: 1000, size: 100}]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
}

run_tests
