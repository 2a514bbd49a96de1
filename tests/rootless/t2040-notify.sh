#!/bin/bash
# The directory of the notify socket lies in the caller's state, and the container's root is the caller.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# CODE: what it does in that directory.
_can_be_deleted() {
	bundle writable 'caps(["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"])' \
		"sh(\"mount -o remount,bind,rw /run/notify && cd /run/notify && $1; echo >/ready; exec sleep 1000\")"
	NOTIFY_SOCKET=$T/manager "$SBXRUN" --root "$T/state" run -b "$B" "$ID" 2>err &
	BG=$!
	wait_until 60 test -e "$B/rootfs/ready"
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	wait "$BG" || :
	[ -d /etc ] || fail 'what a link leads to is gone'
	nothing_is_left
}

what_a_container_writes_beside_its_notify_socket_is_removed() {
	_can_be_deleted 'mkdir -p a/b c && touch f a/f a/b/f && ln -s /etc a/b/l && mkfifo c/p &&
		i=0 && while [ $i -lt 200 ]; do mkdir d && cd d; i=$((i + 1)); done; chmod 0 /run/notify/a/b /run/notify/a /run/notify'
}

what_it_gives_to_another_id_is_removed_too() {
	_can_be_deleted 'mkdir -p a/b && touch a/b/f && chown 5:5 a/b/f a/b a; chmod 700 a/b a'
}

run_tests
