#!/bin/bash
# What a file system is told (data options), tmpcopyup, and values that are too long for fsconfig.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

size_mode_inodes_and_owner_of_a_tmpfs_are_as_asked() {
	run_in_box 'cat /proc/self/mountinfo; stat -c "%a %u %g" /m
		dd if=/dev/zero of=/m/f bs=1k count=2048 2>/dev/null; stat -c %s /m/f
		i=0; while [ $i != 40 ] && touch /m/i$i 2>/dev/null; do i=$((i + 1)); done; ls /m | wc -l' \
		'mount({destination: "/m", type: "tmpfs", source: "name-of-it",
			options: ["size=1m", "mode=750", "nr_inodes=21", "uid=7", "gid=8"]})' \
		'caps(["CAP_DAC_OVERRIDE"])'
	rc_is 0
	read_mountinfo "$out"
	super_has /m size=1024k nr_inodes=21 mode=750 uid=7 gid=8
	like "$out" $' name-of-it rw'
	like "$out" $'\n750 7 8\n1048576\n20$'
}

options_with_commas_inside_one_string_are_several() {
	run_in_box 'cat /proc/self/mountinfo' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["size=2m,mode=700", "nosuid"]})'
	# Nobody writes it so, but either answer must be said plainly: applied, or refused with the field's name.
	if [ "$rc" = 0 ]; then
		read_mountinfo "$out"
		super_has /m size=2048k mode=700
		mount_has /m nosuid
	else
		rc_is 1
		like "$err" 'mounts\[7\]'
	fi
}

# Everybody may write to it, as the kernel has it: `docker run --user 1000 --tmpfs /new`.
a_tmpfs_on_a_directory_that_the_image_lacks_is_everybodys() {
	run_in_box 'stat -c %a /new /new/er /there /given; stat -c %a /copied; touch /new/er/file && echo written' '.process.user = {uid: 1000, gid: 1000}' \
		'mount({destination: "/new/er", type: "tmpfs", source: "tmpfs"})' \
		'mount({destination: "/copied", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]})' \
		'mount({destination: "/there", type: "tmpfs", source: "tmpfs", options: ["mode=700"]})' \
		'mount({destination: "/given", type: "tmpfs", source: "tmpfs", options: ["mode=755", "size=64k"]})'
	rc_is 0
	is "$out" $'755\n1777\n700\n755\n1777\nwritten'
}

a_tmpfs_without_a_mode_takes_that_of_the_directory_it_covers() {
	bundle 'sh("stat -c %a /m /tmp")' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs"})' \
		'mount({destination: "/tmp", type: "tmpfs", source: "tmpfs"})'
	mkdir "$B/rootfs/m"
	chmod 2710 "$B/rootfs/m"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'2710\n1777'
}

a_bad_value_is_an_error_that_says_what_the_kernel_said() {
	run_in_box 'echo started' 'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["size=many"]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
	like "$err" size
}

# A tree with everything that a copy can get wrong.
_fill() {
	mkdir -p "$1/dir/empty"
	echo text >"$1/dir/file"
	chmod 640 "$1/dir/file"
	chown 5:6 "$1/dir/file"
	ln -s dir/file "$1/link"
	ln -s /nowhere "$1/dangling"
	chmod 1733 "$1/dir"
}

_list='cd /m && find . | sort | while read -r f; do stat -c "%n %F %a %u %g" "$f"; done; readlink link; readlink dangling; cat dir/file'

tmpcopyup_fills_the_tmpfs_with_what_it_covers() {
	local copied
	local BOX_CODE="$_list; echo more >>dir/file; grep ' /m ' /proc/self/mountinfo"
	# shellcheck disable=SC2016
	bundle 'sh($code)' 'caps(["CAP_DAC_OVERRIDE"])' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup", "size=4m"]})'
	mkdir "$B/rootfs/m"
	_fill "$B/rootfs/m"
	run sbx run -b "$B" "$ID"
	rc_is 0
	copied=$out
	like "$copied" 'tmpfs'
	is "$(cat "$B/rootfs/m/dir/file")" text 'the image was written to'
	for want in './dir directory 1733 0 0' './dir/file regular file 640 5 6' './dir/empty directory 755 0 0' \
		'./link symbolic link 777 0 0' dir/file /nowhere text; do
		[[ $'\n'$copied$'\n' == *$'\n'"$want"$'\n'* ]] || fail "'$want' is not in '$copied'"
	done
}

tmpcopyup_does_not_follow_links_out_of_the_image() {
	mkdir outside
	echo secret >outside/file
	bundle 'sh("cat /m/x/file; ls /m")' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]})'
	mkdir "$B/rootfs/m"
	ln -s "$T/outside" "$B/rootfs/m/x"
	run sbx run -b "$B" "$ID"
	is "$out" x
}

tmpcopyup_on_a_missing_directory_gives_an_empty_tmpfs() {
	run_in_box 'ls -A /new/one; stat -f -c %T /new/one' \
		'mount({destination: "/new/one", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]})'
	rc_is 0
	is "$out" tmpfs
}

tmpcopyup_that_does_not_fit_is_an_error() {
	bundle 'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup", "size=64k"]})'
	mkdir "$B/rootfs/m"
	dd if=/dev/zero of="$B/rootfs/m/big" bs=1k count=256 2>/dev/null
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'mounts\[7\]'
}

an_overlay_with_lower_directories_of_more_than_255_bytes_works() {
	local i lower='' long
	printf -v long '%0100d' 0
	for i in 1 2 3 4; do
		mkdir -p "low/$long$i"
		echo "$i" >"low/$long$i/file$i"
		lower+=${lower:+:}$T/low/$long$i
	done
	mkdir tmpfs
	mount -t tmpfs tmpfs tmpfs
	mkdir tmpfs/up tmpfs/work
	run_in_box 'cat /m/file1 /m/file2 /m/file3 /m/file4; echo new >/m/made; cat /proc/self/mountinfo' \
		"mount({destination: \"/m\", type: \"overlay\", source: \"overlay\", options: [\"lowerdir=$lower\",
			\"upperdir=$T/tmpfs/up\", \"workdir=$T/tmpfs/work\", \"nosuid\"]})"
	is "$(cat tmpfs/up/made)" new
	umount tmpfs
	rc_is 0
	like "$out" $'^1\n2\n3\n4\n'
	read_mountinfo "$out"
	is "${MOUNT_TYPE[/m]}" overlay
	mount_has /m nosuid
}

proc_takes_its_options() {
	run_in_box 'cat /proc/self/mountinfo' '(.mounts[] | select(.destination == "/proc")).options = ["hidepid=2", "nosuid"]'
	rc_is 0
	read_mountinfo "$out"
	mount_has /proc nosuid
	like "${MOUNT_SUPER[/proc]}" 'hidepid=(2|invisible)'
}

run_tests
