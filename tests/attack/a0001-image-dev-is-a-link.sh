#!/bin/bash
# Imitates CVE-2026-47766 and CVE-2026-41579: the image's /dev is a symbolic link to a directory of the host, so that device
# nodes, links and pts are made there. Escape: anything appears in the canary directory.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# FILTER LINK: runs an image whose /dev is LINK; whatever it says, the canary stays empty.
_run_with_dev() {
	bundle 'sh("echo devpts $(grep -c \" devpts \" /proc/self/mountinfo); echo x >/dev/null; ls /dev")' "$1" '.linux.devices = [{path: "/dev/extra", type: "c", major: 1, minor: 3}]'
	mkdir -p canary
	rmdir "$B/rootfs/dev"
	ln -s "$2" "$B/rootfs/dev"
	attack
	untouched canary "$2"
	# What is mounted in the host's tree is gone with it.
	[ "$1" = "$NO_DEV" ] || [[ $out != 'devpts 0'* ]] || escaped "a mount below /dev went elsewhere ($2)"
}

nothing_is_made_on_the_host_without_a_mount_on_dev() {
	_run_with_dev "$NO_DEV" "$T/canary"
	_run_with_dev "$NO_DEV" ../../canary
	_run_with_dev "$NO_DEV" "../../../../../../../../../../..$T/canary"
}

nothing_is_made_on_the_host_with_a_tmpfs_on_dev() {
	_run_with_dev . "$T/canary"
	_run_with_dev . ../../canary
}

nothing_is_made_on_the_host_with_mounts_below_dev_alone() {
	_run_with_dev '.mounts |= map(select(.destination != "/dev"))' "$T/canary"
}

a_link_to_another_directory_of_the_image_is_refused() {
	local where
	for where in . "$NO_DEV"; do
		bundle 'sh("echo started")' "$where"
		rmdir "$B/rootfs/dev"
		ln -s tmp "$B/rootfs/dev"
		attack
		[ "$rc" != 0 ] && [ -z "$out" ] || faked 'it started with another directory as /dev'
		like "$err" '/dev must be an ordinary directory in the image'
		untouched "$B/rootfs/tmp"
	done
}

# One by one, for the first that is refused would hide the others.
a_link_below_dev_leads_nowhere_either() {
	local name target
	mkdir canary
	for name in dir tty fd ptmx pts shm console; do
		for target in "$T/canary" "$T/canary/made"; do
			bundle 'sh("ls /dev")' '.linux.devices = [{path: "/dev/dir/extra", type: "c", major: 1, minor: 3}]' \
				'.mounts |= map(select(.destination | IN("/dev", "/dev/mqueue") | not))'
			ln -s "$target" "$B/rootfs/dev/$name"
			attack
			untouched canary "$name"
		done
	done
}

run_tests
