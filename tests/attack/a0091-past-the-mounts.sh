#!/bin/bash
# Idea: root with every capability under a policy that has nothing but Landlock, after another defence has failed: the root's mount has become
# writable, a directory of the host was left open. Escape: the image or the host is read or changed, a device is made, or a driver takes an ioctl.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

SBXRUN=${SBXRUN%-oci}

_bundle() {
	needs gcc
	[ -e "$SBXT_WORK/rights" ] || gcc -O1 -Wall -Wextra -Werror -static -o "$SBXT_WORK/rights.$$" "$TESTS_DIR/tools/rights.c" ||
		skip 'no static C library'
	[ -e "$SBXT_WORK/rights" ] || mv "$SBXT_WORK/rights.$$" "$SBXT_WORK/rights"
	[ "$("$SBXRUN" doctor --json | jq -r '.checks[] | select(.id == "landlock").status')" = ok ] || skip "this kernel's Landlock lacks something"
	echo '{"version": 1, "policies": {"p": {"base": "oci", "landlock": "always"}}}' >policy.json
	bundle "$(all_caps)" 'mount({destination: "/box", type: "tmpfs", source: "tmpfs"})' "$@"
	cp "$SBXT_WORK/rights" "$B/rootfs/rights"
	mkdir -p "$B"/rootfs/here/{directory,other}
	echo canary >"$B/rootfs/here/canary"
}

_sbx() { sbx --policy "$T/policy.json" "$@"; }

# WHAT PATH [PATH]: the program tries it when its root is writable after all.
_given_way() {
	_bundle "args([\"/rights\"] + (\"$*\" | split(\" \")))"
	_sbx create -b "$B" "$ID" </dev/null >out 2>err
	nsenter -t "$(pid_of "$ID")" -m /rights make-writable /
	sbx start "$ID"
	wait_until 10 grep -q . out
	[ "$(<out)" = 'Permission denied' ] || [ "$(<out)" = 'Invalid cross-device link' ] || escaped "$1: $(<out)"
	holds "$B/rootfs/here/canary" canary
	is "$(ls "$B/rootfs/here")" $'canary\ndirectory\nother'
}

# The same calls do what they say where they may, and so what is seen above is no mistake of the tool.
in_a_writable_place_it_works() {
	_bundle 'sh("cd /box; for i in directory file socket pipe link; do /rights $i /box/$i; done; /rights write /box/file; /rights truncate /box/file
		/rights rename /box/file /box/directory/file; /rights remove /box/directory/file; /rights remove-directory /box/directory; /rights ioctl /dev/tty")'
	run _sbx run -b "$B" "$ID"
	is "$(sort <<<"$out" | uniq -c | tr -s ' ')" $' 1 No such device or address\n 10 done'
}

nothing_is_opened_for_writing() {
	_given_way write /here/canary
}

nothing_is_truncated() {
	_given_way truncate /here/canary
}

no_file_is_made() {
	_given_way file /here/new
}

no_directory_is_made() {
	_given_way directory /here/new
}

no_socket_is_made() {
	_given_way socket /here/new
}

no_pipe_is_made() {
	_given_way pipe /here/new
}

no_link_is_made() {
	_given_way link /here/new
}

no_file_is_removed() {
	_given_way remove /here/canary
}

no_directory_is_removed() {
	_given_way remove-directory /here/other
}

no_file_is_moved() {
	_given_way rename /here/canary /here/directory/canary
}

no_character_device_is_made() {
	_bundle 'args(["/rights", "character-device", "/box/null"])'
	run _sbx run -b "$B" "$ID"
	[ "$out" = 'Permission denied' ] || escaped "a device was made: $out"
}

no_block_device_is_made() {
	_bundle 'args(["/rights", "block-device", "/box/disk"])'
	run _sbx run -b "$B" "$ID"
	[ "$out" = 'Permission denied' ] || escaped "a device was made: $out"
}

no_driver_takes_an_ioctl() {
	_bundle 'args(["/rights", "ioctl", "/dev/urandom"])'
	run _sbx run -b "$B" "$ID"
	[ "$out" = 'Permission denied' ] || escaped "the driver answered: $out"
}

# A directory of the host at 3, as if it had been forgotten there.
_left_open() {
	_bundle "args([\"/rights\", \"$1\", \"@3/$2\"])"
	mkdir host
	echo secret >host/secret
	cp /bin/busybox host/busybox
	run _sbx run --preserve-fds 1 -b "$B" "$ID" 3<host
	[ "$out" = 'Permission denied' ] || escaped "$1 through a directory of the host: $out"
}

no_file_of_the_host_is_read() {
	_left_open read secret
}

no_directory_of_the_host_is_listed() {
	_left_open list .
}

no_program_of_the_host_is_executed() {
	_left_open execute busybox
}

# What exec brings in has the same.
exec_is_held_to_it() {
	_bundle 'sh("sleep 1000")'
	_sbx run -d -b "$B" "$ID"
	nsenter -t "$(pid_of "$ID")" -m /rights make-writable /
	run sbx exec "$ID" /rights write /here/canary
	[ "$out" = 'Permission denied' ] || escaped "exec: $out"
	run sbx exec "$ID" /rights file /box/new
	is "$out" 'done'
}

run_tests
