#!/bin/bash
# Idea: boxes share the root filesystem that they run in. A box, or the way it is asked for, leaves something there for the next one. Escape: a file of the root is made or changed,
# by the program or by us on its behalf.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_box() {
	[ -n "${B:-}" ] || bundle
	run sbx "do" --rootfs "$B/rootfs" "${@:1:$#-1}" -- sh -c "${!#}"
}
_print_tree() { (cd "$B/rootfs" && find . -printf '%p %y %m %U %s %T@ %l\n' | sort); }

the_program_of_a_box_leaves_nothing_in_the_root() {
	bundle
	mkdir -m 777 "$B/rootfs/open" "$B/rootfs/open/child" volume "$B/rootfs/workspace"
	_print_tree >before
	_box --user 0 -v "$T/volume:/open/new" 'echo x >/open/x; echo x >/open/child/x; echo x >/open/new/../y; echo x >/z; mkdir /open/d; mount -o remount,rw /; umount /open; echo x >/open/z; ln /bin/busybox /open/new/l; ln /bin/busybox /open/l'
	_print_tree >after
	cmp before after || fail 'ESCAPED: the root was changed'
}

what_we_mount_on_leaves_nothing_in_the_root() {
	bundle
	mkdir volume
	_print_tree >before
	_box -v "$T/volume:/a/b" -v "$T/volume:/usr/c" -w /d true
	is "$rc" 0
	_print_tree >after
	cmp before after || fail 'ESCAPED: the root was changed'
}

# Links of the image say where something is missing; it is made there, in memory, and not on the host.
links_of_the_root_lead_to_no_other_place() {
	bundle
	mkdir volume canary
	ln -s "$T/canary" "$B/rootfs/out"
	ln -s "../../../../../../$T/canary" "$B/rootfs/usr/up"
	ln -s /proc/1/root "$B/rootfs/opt"
	_print_tree >before
	_box -v "$T/volume:/out/a" -v "$T/volume:/usr/up/b" true
	_box -v "$T/volume:/opt/canary" true
	is "$(ls canary)" ''
	_print_tree >after
	cmp before after || fail 'ESCAPED: the root was changed'
}

# A directory is covered while somebody who shares the root exchanges what is in it.
names_that_are_exchanged_while_they_are_shown() {
	local racer
	bundle
	mkdir volume canary "$B/rootfs/race"
	echo secret >canary/secret
	: >"$B/rootfs/race/x"
	ln -s "$T/canary" "$B/rootfs/race/link"
	(while :; do mv -T "$B/rootfs/race/x" "$B/rootfs/race/y"; mv -T "$B/rootfs/race/link" "$B/rootfs/race/x"; mv -T "$B/rootfs/race/x" "$B/rootfs/race/link"; mv -T "$B/rootfs/race/y" "$B/rootfs/race/x"; done) 2>/dev/null &
	racer=$!
	for _ in 1 2 3 4 5 6 7 8; do
		_box -v "$T/volume:/race/new" 'cat /race/*/secret'
		unlike "$out" secret
	done
	kill "$racer"
	wait "$racer" || :
}

run_tests
