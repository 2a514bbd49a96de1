#!/bin/bash
# Every option of a mount that the spec says MUST or SHOULD be known, read back from the mount table inside.
# Views: own words_without_meaning_are_passed_over
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

# Options | per-mount flags | file system flags; "!x" must be absent.
FLAG_ROWS=(
	'defaults|rw relatime !nosuid !nodev !noexec|rw'
	'ro|ro !rw|'
	'rw|rw !ro|rw'
	'nosuid|nosuid|'
	'suid|!nosuid|'
	'nosuid,suid|!nosuid|'
	'nodev|nodev|'
	'nodev,dev|!nodev|'
	'noexec|noexec|'
	'noexec,exec|!noexec|'
	'ro,rw|rw !ro|rw'
	'rw,ro|ro !rw|'
	'noatime|noatime !relatime|'
	'atime|!noatime|'
	'noatime,atime|!noatime|'
	'relatime|relatime !noatime|'
	'norelatime|!noatime|'
	'strictatime|!relatime !noatime|'
	'strictatime,nostrictatime|relatime|'
	'noatime,relatime|relatime !noatime|'
	'noatime,strictatime|!relatime !noatime|'
	'nodiratime|nodiratime|'
	'nodiratime,diratime|!nodiratime|'
	'nosymfollow|nosymfollow|'
	'nosymfollow,symfollow|!nosymfollow|'
	'sync||sync'
	'sync,async||!sync'
	'dirsync||dirsync'
	'lazytime||lazytime'
	'lazytime,nolazytime||!lazytime'
	'silent|rw|'
	'loud|rw|'
	'iversion|rw|'
	'noiversion|rw|'
	'mand|rw|'
	'nomand|rw|'
	'nosuid,nodev,noexec,ro,noatime,nodiratime|nosuid nodev noexec ro noatime nodiratime|'
)

# Prints a jq filter that adds a mount at /m/N for each row, with the other members $1 and the options $2 before the row's.
_mount_rows() {
	local members=$1 base=$2 row i=0 list=()
	shift 2
	for row; do
		list+=("{destination: \"/m/$i\", $members, options: (\"${base:+$base,}${row%%|*}\" | split(\",\"))}")
		i=$((i + 1))
	done
	local IFS=,
	echo ".mounts += [${list[*]}]"
}

# Compares $out, a mount table, with the rows.
_compare_rows() {
	local row i=0 flags super
	read_mountinfo "$out"
	for row; do
		IFS='|' read -r row flags super <<<"$row"
		echo "row: $row"
		# shellcheck disable=SC2086
		mount_has "/m/$i" $flags
		# shellcheck disable=SC2086
		super_has "/m/$i" $super
		i=$((i + 1))
	done
}

options_of_a_new_file_system_are_applied_the_last_one_wins() {
	run_in_box 'cat /proc/self/mountinfo' \
		"$(_mount_rows 'type: "tmpfs", source: "tmpfs"' '' "${FLAG_ROWS[@]}")"
	rc_is 0
	_compare_rows "${FLAG_ROWS[@]}"
}

options_of_a_bind_are_applied_the_last_one_wins() {
	local row rows=()
	for row in "${FLAG_ROWS[@]}"; do
		# What belongs to the file system is not a bind's to change; it must be known all the same.
		rows+=("${row%|*}|")
	done
	mkdir src
	mount -t tmpfs -o rw tmpfs src
	run_in_box 'cat /proc/self/mountinfo' \
		"$(_mount_rows "source: \"$T/src\"" bind "${rows[@]}")"
	umount src
	rc_is 0
	_compare_rows "${rows[@]}"
}

a_bind_keeps_the_flags_of_its_source_unless_told_otherwise() {
	mkdir src
	mount -t tmpfs -o nosuid,nodev,noexec,noatime tmpfs src
	run_in_box 'cat /proc/self/mountinfo' \
		'.mounts += ([["bind"], ["bind", "ro"], ["bind", "suid", "dev", "exec"], ["bind", "relatime"]] |
			to_entries | map({destination: "/m/\(.key)", source: ($T + "/src"), options: .value}))'
	umount src
	rc_is 0
	read_mountinfo "$out"
	mount_has /m/0 rw nosuid nodev noexec noatime
	mount_has /m/1 ro nosuid nodev noexec noatime
	mount_has /m/2 rw !nosuid !nodev !noexec noatime
	mount_has /m/3 nosuid nodev noexec relatime !noatime
}

flags_hold_against_the_program() {
	mkdir src
	cp "$(type -P busybox)" src/busybox
	ln -s busybox src/link
	run_in_box '
		touch /m/ro/x && echo "wrote to ro"
		/m/noexec/busybox true && echo "ran on noexec"
		cat </m/nosymfollow/link >/dev/null && echo "followed on nosymfollow"
		mknod /m/nodev/null c 1 3 && cat /m/nodev/null && echo "opened on nodev"
		touch /m/rw/x && /m/rw/busybox true && cat </m/rw/link >/dev/null && echo all of rw
		:' 'caps(["CAP_MKNOD", "CAP_DAC_OVERRIDE"])' \
		'.mounts += (["ro", "noexec", "nosymfollow", "nodev", "rw"] |
			map({destination: "/m/\(.)", source: ($T + "/src"), options: ["bind", .]}))'
	rc_is 0
	is "$out" 'all of rw'
	[ -f src/x ] || fail 'what was written through the rw bind is not in its source'
}

a_bind_is_a_bind_whatever_its_type_says() {
	mkdir src
	echo text >src/file
	run_in_box 'cat /a/file /b/file /c/file' \
		'mount({destination: "/a", type: "none", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/b", type: "nosuchfs", source: ($T + "/src"), options: ["rbind"]})' \
		'mount({destination: "/c", type: "bind", source: ($T + "/src")})'
	rc_is 0
	is "$out" $'text\ntext\ntext'
}

bind_leaves_submounts_behind_and_rbind_takes_them() {
	mkdir src
	mount -t tmpfs tmpfs src
	mkdir src/sub
	mount -t tmpfs tmpfs src/sub
	touch src/sub/file
	run_in_box 'ls /one/sub; echo --; ls /all/sub' \
		'mount({destination: "/one", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/all", source: ($T + "/src"), options: ["rbind"]})'
	umount src/sub src
	rc_is 0
	is "$out" $'--\nfile'
}

# Engines and people write such; runc takes them all.
words_without_meaning_are_passed_over() {
	mkdir src
	run_in_box 'cat /proc/self/mountinfo' \
		'mount({destination: "/b", source: ($T + "/src"), options: ["", "bind", "bind", "", "rprivate", "rprivate", "ro", ""]})' \
		'mount({destination: "/f/", source: ($T + "/src"), type: "", options: ["rbind", "nosuid", "x-systemd.automount", "X-y=z", "nofail", "_netdev", "noswap", "nocopy", "copy"]})' \
		'mount({destination: "/t", source: "", type: "tmpfs", options: ["", "size=64k", "nodev", "defaults"]})' \
		'(.mounts[] | select(.type == "cgroup")).options += [""]' '(.mounts[] | select(.type == "sysfs")).options |= [""] + .'
	rc_is 0
	read_mountinfo "$out"
	mount_has /b ro
	mount_has /f nosuid
	mount_has /t nodev
	super_has /t size=64k
}

an_unknown_option_of_a_bind_is_an_error_that_names_it() {
	run_in_box 'echo started' \
		'mount({destination: "/m", source: $T, options: ["bind", "nosuchoption"]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
	like "$err" nosuchoption
}

an_option_that_the_file_system_does_not_know_is_an_error_that_names_it() {
	run_in_box 'echo started' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["nosuchoption=1"]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
	like "$err" nosuchoption
}

an_unknown_file_system_is_an_error_that_names_it() {
	run_in_box 'echo started' 'mount({destination: "/m", type: "nosuchfs", source: "none"})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
	like "$err" nosuchfs
}

remount_changes_the_flags_of_an_earlier_mount() {
	run_in_box 'cat /proc/self/mountinfo' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["nosuid", "size=1m"]})' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["remount", "ro", "noexec"]})'
	rc_is 0
	read_mountinfo "$out"
	is "${MOUNT_COUNT[/m]}" 1
	mount_has /m ro noexec
}

remount_changes_the_size_of_a_tmpfs() {
	run_in_box 'stat -f -c "%b %S" /m' 'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["size=1m"]})' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["remount", "size=64k"]})'
	rc_is 0
	is "$out" '16 4096'
}

remount_of_a_bind_changes_that_bind_alone() {
	mkdir src
	run_in_box 'cat /proc/self/mountinfo' \
		'mount({destination: "/a", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/b", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/a", source: ($T + "/src"), options: ["bind", "remount", "ro", "nosuid"]})'
	rc_is 0
	read_mountinfo "$out"
	is "${MOUNT_COUNT[/a]}" 1
	mount_has /a ro nosuid
	mount_has /b rw
	run_in_box 'cat /proc/self/mountinfo' \
		'mount({destination: "/a", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/a", source: ($T + "/src"), options: ["remount", "bind", "ro"]})'
	read_mountinfo "$out"
	is "${MOUNT_COUNT[/a]}" 1
	mount_has /a ro
}

run_tests
