#!/bin/bash
# The directory of the notify socket is the container's to write to if its root is the caller's and may mount (in a user namespace the mount's
# flags are locked: a0035). Between the moment when the
# socket is bound and the moment when its mode is set, it is exchanged with a link. Escape: the mode of a file of the host is changed.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

a_link_in_its_place_is_not_followed() {
	needs strace python3
	echo secret >canary
	chmod 600 canary
	python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("manager")
time.sleep(300)' &
	wait_until 20 test -S manager
	export NOTIFY_SOCKET=$T/manager
	bundle writable 'caps(["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE"])' 'sh("sleep 1")'
	sbx create -b "$B" "$ID"
	sbx exec -d "$ID" /bin/sh -c 'mount -o remount,bind,rw /run/notify; >/run/notify/try && rm /run/notify/try && echo >/able
		until [ -e /run/notify/notify.sock ]; do :; done
		ln -sf '"$T"'/canary /run/notify/notify.sock; echo >/done'
	wait_until 20 test -e "$B/rootfs/able"
	# The window between the two, a second wide.
	strace -qq -o trace -e trace=fchmodat,chmod -e inject=fchmodat,chmod:delay_enter=1000000 \
		"$SBXRUN" --root "$T/state" start "$ID" || :
	wait_until 20 test -e "$B/rootfs/done"
	[ "$(stat -c %a canary)" = 600 ] || escaped "the mode is $(stat -c %a canary)"
}

run_tests
