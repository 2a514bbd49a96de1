#!/bin/bash
# Idea: a device node is made in a directory that a neighbour shares, and gets its owner by name a moment later. Escape: the owner goes to
# a file that the neighbour has put in its place.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

the_owner_of_a_device_goes_to_the_device() {
	local i file
	needs strace
	bundle 'args(["/bin/true"])' "$NO_DEV" writable \
		'.linux.devices = [{path: "/dev/thing", type: "c", major: 1, minor: 3, uid: 1234, gid: 1234}]'
	build_attacker
	echo canary >"$B/rootfs/dev/other"
	"$ATTACKER" swap "$B/rootfs/dev/thing" "$B/rootfs/dev/other" &
	for ((i = 0; i < STARTS; i++)); do
		# A moment for the neighbour, who would need luck otherwise.
		run strace -f -o /dev/null -e trace=fchownat -e inject=fchownat:delay_enter=5000 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
		kill -STOP $!
		wait_until 10 grep -q '^State:.T' "/proc/$!/status"
		for file in "$B"/rootfs/dev/{thing,other}; do
			[ ! -f "$file" ] || [ "$(stat -c %u "$file")" = 0 ] || escaped "a file was given away at start $i"
			[ ! -c "$file" ] || rm "$file"
		done
		[ ! -f "$B/rootfs/dev/thing" ] || mv "$B/rootfs/dev/thing" "$B/rootfs/dev/other"
		kill -CONT $!
	done
}

run_tests
