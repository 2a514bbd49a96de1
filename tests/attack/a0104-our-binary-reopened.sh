#!/bin/bash
# Imitates CVE-2019-5736 as a race, with all capabilities: somebody in the container holds the runtime's program, by /proc/N/exe or by
# any descriptor, and tries to get it for writing while it runs and after it is gone; and takes the read-only flag off the mount
# that it is on (the descriptor of the read-only clone must not be had). The runtime is a copy in the test's own directory. Escape: that
# copy changes.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

_lie_in_wait() {
	cp "$SBXRUN" .
	SBXRUN=$T/${SBXRUN##*/}
	chmod 755 "$SBXRUN"
	BEFORE=$(md5sum <"$SBXRUN"; stat -c %a "$SBXRUN")
	bundle writable "$(all_caps)" '.linux.maskedPaths = [] | .linux.readonlyPaths = []' \
		"args([\"/attacker\", \"reopen\", \"$(stat -c %d "$SBXRUN")\", \"$(stat -c %i "$SBXRUN")\"])" "$@"
	with_attacker
	chmod 777 "$B/rootfs"
	sbx run -d -b "$B" "$ID" >said 2>&1 </dev/null
	wait_until 20 grep -q waiting said
}

_call_it_off() {
	: >"$B/rootfs/end"
	wait_until 30 grep -q ^end said
	cat said
	[ "$(md5sum <"$SBXRUN"; stat -c %a "$SBXRUN")" = "$BEFORE" ] || escaped "the runtime's file was changed"
	! grep GOT said || escaped "$(grep GOT said)"
}

during_and_after_exec() {
	local i
	_lie_in_wait
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$ID" /bin/true </dev/null >/dev/null 2>>errors || :
	done
	_call_it_off
}

during_and_after_a_container_that_joins() {
	local i first hunter
	_lie_in_wait
	hunter=$B first=$(pid_of "$ID")
	bundle 'args(["/bin/true"])' "ns(\"pid\"; \"/proc/$first/ns/pid\")"
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null >/dev/null 2>>errors || :
		run sbx delete -f "$ID"
	done
	B=$hunter
	_call_it_off
}

in_a_user_namespace() {
	local i
	_lie_in_wait 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$ID" /bin/true </dev/null >/dev/null 2>>errors || :
	done
	_call_it_off
}

run_tests
