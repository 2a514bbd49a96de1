#!/bin/bash
# Imitates CVE-2019-5736: root in a container, with every capability, opens /proc/N/exe of the runtime that is just joining its pid
# namespace, and writes to it, at once or when the process has gone on to something else. The runtime is a copy of the binary in the
# test's own directory. Escape: that copy changes.
# Views: v2 the_binary_of_a_joining_container_can_not_be_written the_binary_can_not_be_written_by_a_container_that_is_the_runtime
# shellcheck disable=SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

# Waits for a process that is not busybox, opens its binary, and tries everything before and after /a/go appears. Whoever is there while
# it looks is stopped: a signal takes no rights over the process but to be root. It goes to everybody in the pid namespace, so the
# attacker must be the first process of one: a runtime that made none must not stop the machine.
# shellcheck disable=SC2016
ATTACKER='
[ $$ = 1 ] || exit 1
try() {
	echo attack >>/proc/self/fd/3
	echo attack >/proc/self/fd/3
	mount -o remount,rw /proc/self/fd/3
	mount -o remount,bind,rw /proc/self/fd/3
	mkdir -p /a/root && mount --bind /proc/self/fd/3 /a/bound && mount -o remount,bind,rw /a/bound && echo attack >>/a/bound
	dd if=/a/junk of=/proc/self/fd/3 conv=notrunc
	chmod 777 /proc/self/fd/3 && echo chmod
}
: >/a/junk; echo junk >/a/junk; : >/a/bound
while [ ! -e /a/opened ]; do
	kill -STOP -1 2>/dev/null
	for p in /proc/[0-9]*; do
		case $(readlink $p/exe 2>/dev/null) in
		/bin/busybox | "") ;;
		*)	found=$p
			break
			;;
		esac
	done
	[ -z "$found" ] || break
	kill -CONT -1 2>/dev/null
done
echo "$found $(readlink $found/exe)" >/a/found
( exec 3<$found/exe; : >/a/held; try; kill -CONT -1; : >/a/opened; while [ ! -e /a/go ]; do sleep 0.05; done; sleep 0.2; try )
kill -CONT -1 2>/dev/null
: >/a/opened
while [ ! -e /a/go ]; do sleep 0.05; done
: >/a/over
sleep 100'

_use_a_copy() {
	cp "$SBXRUN" .
	SBXRUN=$T/${SBXRUN##*/}
	chmod 755 "$SBXRUN"
	BEFORE=$(md5sum <"$SBXRUN"; stat -c %a "$SBXRUN")
}

# [WHEN]
_unchanged() {
	[ "$(md5sum <"$SBXRUN"; stat -c %a "$SBXRUN")" = "$BEFORE" ] || escaped "the runtime's file was changed${1:+ $1}"
}

the_binary_of_a_joining_container_can_not_be_written() {
	local attacker pid BOX_CODE=$ATTACKER
	_use_a_copy
	mkdir a
	chmod 777 a
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$(all_caps)" 'mount({destination: "/a", source: ($T + "/a"), options: ["bind"]})' writable \
		'.linux.maskedPaths = [] | .linux.readonlyPaths = []'
	attacker=$ID
	sbx run -d -b "$B" "$ID" >attacker.out 2>&1
	pid=$(pid_of "$attacker")
	bundle 'sh("sleep 100")' "ns(\"pid\"; \"/proc/$pid/ns/pid\")"
	sbx create -b "$B" "$ID"
	wait_until 20 test -e a/opened
	_unchanged 'while it ran'
	sbx start "$ID"
	: >a/go
	wait_until 20 test -e a/over
	_unchanged 'after it had gone on'
	echo "found: $(cat a/found)"
	sbx delete -f "$ID"
	sbx delete -f "$attacker"
	_unchanged 'in the end'
}

the_binary_of_an_exec_can_not_be_written() {
	local BOX_CODE=$ATTACKER
	_use_a_copy
	mkdir a
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$(all_caps)" 'mount({destination: "/a", source: ($T + "/a"), options: ["bind"]})' writable \
		'.linux.maskedPaths = [] | .linux.readonlyPaths = []'
	# What exec is asked to run is the runtime once more, so that it stays longer.
	printf '#!/proc/self/exe\n' >"$B/rootfs/script"
	chmod 755 "$B/rootfs/script"
	sbx run -d -b "$B" "$ID" >attacker.out 2>&1
	for _ in 1 2 3 4 5 6; do
		run timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$ID" /script
	done
	: >a/go
	[ ! -e a/found ] || wait_until 20 test -e a/over
	# Before anybody runs it again.
	_unchanged
	sbx delete -f "$ID"
	_unchanged 'in the end'
}

the_binary_can_not_be_written_by_a_container_that_is_the_runtime() {
	# The image's program is the runtime itself: what it runs from must be as closed as before.
	_use_a_copy
	bundle 'args(["/proc/self/exe", "--version"])' "$(all_caps)"
	attack
	_unchanged
	bundle 'args(["/script"])' "$(all_caps)"
	printf '#!/proc/self/exe\n' >"$B/rootfs/script"
	chmod 755 "$B/rootfs/script"
	attack
	_unchanged
}

run_tests
