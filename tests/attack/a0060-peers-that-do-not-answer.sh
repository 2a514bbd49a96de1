#!/bin/bash
# A verb that waits for somebody else holds the container's lock meanwhile: an agent whose backlog is full or that doesn't read, a
# program that is out of memory and may not be killed. Whoever is waited for must not decide whether the container can be removed.
# Escape: `delete --force` is kept out, or the verb can't be ended but by SIGKILL, or leaves something when it is.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

# _deaf PATH: a socket that is listened on and takes no further connection.
_deaf() {
	needs python3
	python3 - "$1" "$T/deaf" <<-'END' &
		import socket, sys, time
		listener = socket.socket(socket.AF_UNIX)
		listener.bind(sys.argv[1])
		listener.listen(0)
		held = []
		try:
		    while True:
		        s = socket.socket(socket.AF_UNIX)
		        s.setblocking(False)
		        s.connect(sys.argv[1])
		        held.append(s)
		except BlockingIOError:
		    open(sys.argv[2], "w").close()
		time.sleep(300)
	END
	wait_until 20 test -e "$T/deaf"
}

# _mute PATH: takes connections and reads nothing.
_mute() {
	needs python3
	python3 - "$1" "$T/taken" <<-'END' &
		import socket, sys, time
		listener = socket.socket(socket.AF_UNIX)
		listener.bind(sys.argv[1])
		listener.listen()
		connection, _ = listener.accept()
		open(sys.argv[2], "w").close()
		time.sleep(300)
	END
	wait_until 20 test -S "$1"
}

ASKING='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: ($T + "/sock"), syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}'

# $BG has not been waiting until its own patience ended.
_was_told_to_end() {
	! grep -q 'no answer within' "$T/said" || escaped "$1: $(<"$T/said")"
}

# $BG waits for somebody; delete doesn't wait for it.
_delete_wins() {
	run timeout -k 1 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	[ "$rc" = 0 ] || escaped "delete --force is kept out: status $rc, $err"
	[ ! -e "$T/state/$ID" ] || escaped 'its state is left'
	wait_until 20 dead "$BG"
	wait_for_background
	isnt "$rc" 0
	_was_told_to_end 'delete --force had to wait'
	nothing_is_left
}

# $BG ends when it is told to, and cleans up.
_signal_ends() {
	kill -"$1" "$BG"
	_ends_in_time "SIG$1"
	wait_for_background
	isnt "$rc" 0
	_was_told_to_end "SIG$1 did not end the wait"
}

# WHAT [SECONDS]: it ends $BG, on a busy machine, too.
_ends_in_time() {
	local end=$((${EPOCHREALTIME/./} + ${2:-60} * 1000000))
	until dead "$BG"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || { kill -KILL "$BG"; hangs "$1 does not end it"; }
		nap
	done
}

# The record is there, and nothing more happens without the peer.
_is_at_work() {
	wait_until 20 test -e "$T/state/$ID/state.json"
	sleep 0.4 # no event: one that does not wait has ended by then
	lives "$BG" || fail "it did not wait: $(<"$T/said")"
}

_create_for_the_deaf() {
	_deaf "$T/sock"
	bundle 'sh("sleep 100")'
	background create -b "$B" --pidfd-socket "$T/sock" "$ID" 2>"$T/said"
	_is_at_work
}

a_pidfd_socket_without_room_does_not_keep_delete_out() {
	_create_for_the_deaf
	_delete_wins
}

a_create_that_waits_for_a_pidfd_socket_ends_with_a_signal_and_leaves_nothing() {
	_create_for_the_deaf
	_signal_ends TERM
	[ ! -e "$T/state/$ID" ] || escaped 'its state is left'
	nothing_is_left
	is "$(grep -c 'interrupted' "$T/said")" 1
}

it_also_ends_by_itself() {
	_create_for_the_deaf
	_ends_in_time time
	wait_for_background
	rc_is 1
	like "$(<"$T/said")" 'pidfd-socket.*10 s'
	nothing_is_left
}

# _start_for LISTENER [FILTER…]
_start_for() {
	local listener=$1
	shift
	"$listener" "$T/sock"
	bundle 'sh("sleep 100")' "$ASKING" "$@"
	sbx create -b "$B" "$ID"
	background start "$ID" 2>"$T/said"
	[ "$listener" = _deaf ] || wait_until 20 test -e "$T/taken"
	_is_at_work
}

an_agent_without_room_does_not_keep_delete_out() {
	_start_for _deaf
	_delete_wins
}

a_start_that_waits_for_an_agent_ends_with_a_signal() {
	_start_for _deaf
	_signal_ends TERM
	# Init hears of it by the end of the start's connection, and is a moment on its way.
	wait_until 20 eval '[ "$(status_of "$ID")" = stopped ]'
	sbx delete "$ID"
	nothing_is_left
}

# The state of a container is as long as its annotations.
an_agent_that_does_not_read_does_not_keep_delete_out() {
	_start_for _mute '.annotations = {"a": ("x" * 400000)}'
	_delete_wins
}

a_run_that_waits_for_an_agent_ends_with_a_signal_and_leaves_nothing() {
	_mute "$T/sock"
	bundle 'sh("sleep 100")' "$ASKING" '.annotations = {"a": ("x" * 400000)}'
	background run -b "$B" "$ID" 2>"$T/said"
	wait_until 20 test -e "$T/taken"
	_is_at_work
	_signal_ends TERM
	[ ! -e "$T/state/$ID" ] || escaped 'its state is left'
	nothing_is_left
}

a_console_socket_without_room_does_not_hold_up_a_run() {
	_deaf "$T/sock"
	bundle '.process.terminal = true' 'sh("sleep 100")'
	background run -b "$B" --console-socket "$T/sock" "$ID" 2>"$T/said"
	sleep 0.4 # no event: one that does not wait has ended by then
	lives "$BG" || fail "it did not wait: $(<"$T/said")"
	_signal_ends TERM
	nothing_is_left
}

_out_of_memory() {
	[ "$VIEW" != v2 ] || skip 'cgroup v2 has no such setting'
	# Memory may also run out where the kernel gives up rather than waits: then init dies, and there is nothing to show.
	for _ in 1 2 3 4 5 6; do
		bundle 'sh("sleep 100")' '.linux.resources.memory = {limit: 20480, disableOOMKiller: true}'
		background "$1" -b "$B" "$ID" 2>"$T/said"
		wait_until 20 _has_begun
		sleep 0.4 # no event: one that does not wait has ended by then
		! lives "$BG" || return 0
		wait_for_background
	done
	fail "it never waits: $(<"$T/said")"
}
_has_begun() { [ -e "$T/state/$ID/state.json" ] || ! lives "$BG"; }

a_container_that_has_no_memory_does_not_keep_delete_out() {
	_out_of_memory create
	_delete_wins
}

a_create_without_memory_ends_with_a_signal_and_leaves_nothing() {
	_out_of_memory create
	_signal_ends TERM
	[ ! -e "$T/state/$ID" ] || escaped 'its state is left'
	nothing_is_left
}

_hang_in() {
	bundle 'sh("sleep 100")' "hook(\"$1\"; \"/bin/sh\"; [\"sh\", \"-c\", \"echo \$\$ >\\(\$T)/hook; exec sleep 300\"])"
}

a_hook_that_hangs_does_not_keep_delete_out() {
	local kind
	for kind in createRuntime createContainer; do
		rm -f hook
		_hang_in "$kind"
		background create -b "$B" "$ID" 2>"$T/said"
		wait_until 20 test -s hook
		_delete_wins
	done
}

# Hooks of the end are for the host: neither a signal nor a second delete takes them away.
hooks_of_the_end_run_when_a_create_is_ended() {
	_deaf "$T/sock"
	bundle 'sh("sleep 100")' 'hook("poststop"; "/bin/sh"; ["sh", "-c", "sleep 0.5; echo ran >\($T)/ran"])'
	background create -b "$B" --pidfd-socket "$T/sock" "$ID" 2>"$T/said"
	_is_at_work
	kill "$BG"
	run timeout -k 1 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	wait_for_background
	_was_told_to_end 'SIGTERM did not end the wait'
	is "$(<ran)" ran
	nothing_is_left
}

# Init has no call left that the filter lets pass, and spins until the descriptor is taken; nobody comes for it any more.
an_init_whose_start_is_killed_does_not_spin() {
	local init
	_start_for _mute '.annotations = {"a": ("x" * 400000)}' '.linux.seccomp.syscalls[0].names += ["futex"]'
	init=$(pid_of "$ID")
	kill -KILL "$BG"
	wait_until 20 dead "$BG"
	# Its own timer would end it after 60 s.
	BG=$init _ends_in_time 'SIGKILL of its start' 40
	sbx delete -f "$ID"
	nothing_is_left
}

# _ticks PID: sets TICKS to the clock ticks that it has used; leaves the last figure when it is gone.
_ticks() {
	local line
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	set -- ${line##*) }
	TICKS=$((${12} + ${13}))
}

# A profile without futex denies it rather than asks about it: init may not sleep either.
an_init_whose_start_is_killed_under_a_profile_without_futex_costs_nothing() {
	local init before end
	_start_for _mute '.annotations = {"a": ("x" * 400000)} | .linux.seccomp.defaultAction = "SCMP_ACT_ERRNO" | .process.noNewPrivileges = true' \
		'.linux.seccomp.syscalls += [{names: ["execve", "exit_group", "close", "sendmsg", "recvmsg", "accept4", "prctl", "prlimit64", "rt_sigreturn"], action: "SCMP_ACT_ALLOW"}]'
	init=$(pid_of "$ID")
	kill -KILL "$BG"
	wait_until 20 dead "$BG"
	_ticks "$init"
	before=$TICKS end=$((${EPOCHREALTIME/./} + 40000000))
	until dead "$init"; do
		_ticks "$init"
		[ $((TICKS - before)) -lt 100 ] || hangs "init has spun for $((TICKS - before)) ticks since its start was killed"
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || hangs 'SIGKILL of its start does not end it'
		nap
	done
	sbx delete -f "$ID"
	nothing_is_left
}

run_tests
