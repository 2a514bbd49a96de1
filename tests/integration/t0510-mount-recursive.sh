#!/bin/bash
# Recursive attributes: a tree of two mounts below each other, bound with one option each; both must show it.
# Views: v2
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

# Options | flags of the top mount | flags of the one below it. The source has no flags, or with "all:" every one.
ROWS=(
	'rbind,rro|ro|ro'
	'rbind,ro|ro|rw !ro'
	'rbind,rnosuid|nosuid|nosuid'
	'rbind,nosuid|nosuid|!nosuid'
	'rbind,rnodev|nodev|nodev'
	'rbind,rnoexec|noexec|noexec'
	'rbind,rnoatime|noatime|noatime'
	'rbind,rstrictatime|!relatime !noatime|!relatime !noatime'
	'rbind,rnodiratime|nodiratime|nodiratime'
	'rbind,rnosymfollow|nosymfollow|nosymfollow'
	'rbind,rro,rw|rw|ro'
	'rbind,rro,rnosuid,rnodev,rnoexec|ro nosuid nodev noexec|ro nosuid nodev noexec'
	'rbind,rro,rrw|rw|rw'
	'all:rbind,rrw|rw !ro nosuid|rw !ro nosuid'
	'all:rbind,rw|rw !ro|ro'
	'all:rbind,rsuid|!nosuid ro|!nosuid ro'
	'all:rbind,rdev|!nodev ro|!nodev ro'
	'all:rbind,rexec|!noexec ro|!noexec ro'
	'all:rbind,ratime|!noatime|!noatime'
	'all:rbind,rrelatime|relatime !noatime|relatime !noatime'
	'all:rbind,rnorelatime|!noatime|!noatime'
	'all:rbind,rnostrictatime|!noatime|!noatime'
	'all:rbind,rdiratime|!nodiratime|!nodiratime'
	'all:rbind,rsymfollow|!nosymfollow|!nosymfollow'
)

_make_tree() {
	mkdir "$1"
	mount -t tmpfs -o "$2" tmpfs "$1"
	mkdir "$1/sub"
	mount -t tmpfs -o "$2" tmpfs "$1/sub"
	[ "$2" != ro ] || mount -o remount,ro "$1"
}

recursive_attributes_reach_the_whole_tree_and_plain_ones_its_top() {
	local row i=0 list=() options top below source
	_make_tree plain rw
	_make_tree all rw
	mount -o remount,bind,ro,nosuid,nodev,noexec,noatime,nodiratime,nosymfollow all
	mount -o remount,bind,ro,nosuid,nodev,noexec,noatime,nodiratime,nosymfollow all/sub
	for row in "${ROWS[@]}"; do
		options=${row%%|*} source=plain
		[[ $options != all:* ]] || source=all options=${options#all:}
		list+=("{destination: \"/m/$i\", source: \"$T/$source\", options: (\"$options\" | split(\",\"))}")
		i=$((i + 1))
	done
	run_in_box 'cat /proc/self/mountinfo' ".mounts += [$(IFS=, && echo "${list[*]}")]"
	umount plain/sub plain all/sub all
	rc_is 0
	read_mountinfo "$out"
	i=0
	for row in "${ROWS[@]}"; do
		IFS='|' read -r row top below <<<"$row"
		echo "row: $row"
		# shellcheck disable=SC2086
		mount_has "/m/$i" $top
		# shellcheck disable=SC2086
		mount_has "/m/$i/sub" $below
		i=$((i + 1))
	done
}

rro_keeps_a_program_from_writing_below() {
	_make_tree plain rw
	run_in_box 'touch /m/x; touch /m/sub/x; echo done' \
		'mount({destination: "/m", source: ($T + "/plain"), options: ["rbind", "rro"]})'
	rc_is 0
	[ ! -e plain/x ] || fail 'the top mount was written to'
	[ ! -e plain/sub/x ] || fail 'the mount below was written to'
	umount plain/sub plain
	is "$out" 'done'
}

run_tests
