#!/bin/bash
# Idea: the workspace of a box of `do` lies on a disk of its own, or in a directory. The program goes for what is below the files: the device, the image, the place where directories lie, and those who
# remove them. Escape: a file of the host is written or removed, or the kernel is given what the program wrote as a filesystem.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/do-image.sh"
export SBXRUN_DISK_DIR=/nowhere

# OPTION… CODE: on a disk, or (_in_dir) in a directory, as where the kernel has no ext4.
_box() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_DISK_DIR=$T/disks run sbx "do" --rootfs "$B/rootfs" --memory 16m --disk 32m "${@:1:$#-1}" -- sh -c "${!#}"
}
_in_dir() {
	needs strace
	[ -n "${B:-}" ] || bundle
	SBXRUN_DISK_DIR=$T/disks run strace -qq -o /dev/null -e trace=fsopen -e inject=fsopen:error=ENODEV:when=1 "$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" --memory 16m --disk 32m "${@:1:$#-1}" \
		-- sh -c "${!#}"
	like "$err" 'a directory on disk'
}

the_device_below_is_out_of_reach() {
	_box --user 0 'ls /dev | tr "\n" " "; for i in 0 1 2 3 4 5 6 7; do mknod /workspace/l$i b 7 $i; mknod /tmp/l$i b 7 $i; cat /dev/loop$i /workspace/l$i /tmp/l$i; done 2>/dev/null | wc -c; mount -t ext4 /dev/loop0 /tmp; cat /proc/partitions'
	unlike "$out" 'loop'
	like "$out" " 0$"
}

# The program's own file is no disk for the next box: a new one is made each time.
nothing_of_a_disk_is_seen_by_the_next() {
	_box 'echo leaked-words >a; sync; ls -A'
	_box 'ls -A; grep -r leaked-words . && echo SEEN'
	is "$out" ''
}

what_is_removed_is_not_the_hosts() {
	mkdir -p canary/sub
	echo mine >canary/file
	_in_dir "ln -s $T/canary link; ln -s $T/canary/file flink; mkdir -p d/d; ln -s $T/canary d/d/link; chmod 0 d; i=0; while [ \$i -lt 60 ]; do mkdir n && cd n; i=\$((i + 1)); done; ln -s $T/canary l"
	is "$(cat canary/file)" mine
	[ -d canary/sub ] || fail 'ESCAPED: a directory of the host was removed'
	is "$(ls -A disks)" ''
}

# Somebody else could exchange a directory that stands in between its making and its being bound.
a_place_that_others_can_write_to_is_not_used() {
	mkdir disks
	chmod 777 disks
	_box 'echo ran'
	[ "$out" != ran ] || fail 'ESCAPED: it was used'
	chmod 755 disks
	chown 4000 disks
	_box 'echo ran'
	[ "$out" != ran ] || fail 'ESCAPED: it was used'
}

the_room_of_others_is_not_used_up() {
	_box 'dd if=/dev/zero of=a bs=1M count=100 & dd if=/dev/zero of=b bs=1M count=100 & wait; i=0; while echo x >f$i; do i=$((i + 1)); done; du -sk . | cut -f 1'
	[ "$(tail -n 1 <<<"$out")" -le $((32 << 10)) ] || fail 'ESCAPED: more than its own'
}

run_tests
