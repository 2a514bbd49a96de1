#!/bin/bash
# SCMP_ACT_NOTIFY: a listener gets one connection a process, with its state and a descriptor, and answers for calls.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# A filter that asks about CALLS (a jq list).
_asking() {
	echo ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\", listenerPath: (\$T + \"/sock\"), listenerMetadata: \"some \\\"text\\\"\",
		syscalls: [{names: $1, action: \"SCMP_ACT_NOTIFY\"}]}"
}

# _listen CONNECTIONS ERRNO[:COUNT]
_listen() {
	needs python3
	"$PYTHON" "$TOOLS/notify.py" "$T/sock" "$@" >told 2>listener.err &
	LISTENER=$!
	wait_until 20 test -S sock
}

_listener_is_done() {
	wait "$LISTENER" || fail "the listener: $(<listener.err)"
	cat told
}

the_listener_gets_state_and_descriptor_and_answers() {
	bundle writable "$(_asking '["mkdir", "mkdirat"]')" 'sh("mkdir /made; exit 3")' '.annotations = {"org.example": "b"}'
	_listen 1 28
	run sbx run -b "$B" "$ID"
	rc_is 3
	like "$err" 'No space left'
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
	_listener_is_done
	is "$(jq -r '.got, (.fds | length), .fds[0], .metadata' told)" $'1\n1\nseccompFd\nsome "text"'
	like "$(jq -r .ociVersion told)" '^1\.[0-9]+\.[0-9]+'
	is "$(jq -r '.state | .id, .bundle, .annotations["org.example"], .ociVersion' told)" \
		"$(printf '%s\n' "$ID" "$B" b "$(jq -r .ociVersion told)")"
	like "$(jq -r .state.status told)" '^(creating|created|running)$'
	[ "$(jq .pid told)" -gt 1 ] || fail 'no pid'
	is "$(jq .pid told)" "$(jq .state.pid told)" 'of init they are the same'
	nothing_is_left
}

the_pid_is_that_of_the_program_in_our_namespace() {
	bundle "$(_asking '["mkdir", "mkdirat"]')" 'args(["/bin/sleep", "1000"])'
	_listen 1 28
	sbx create -b "$B" "$ID"
	[ ! -s told ] || fail 'it was told before the start'
	sbx start "$ID"
	wait_until 20 test -s told
	is "$(jq .pid told)" "$(pid_of "$ID")"
	sbx delete -f "$ID"
	_listener_is_done
}

calls_that_the_runtime_makes_itself_may_be_asked_about() {
	# Between the filter and execve nothing is done that the listener would have to answer before it has the descriptor.
	bundle writable "$(_asking '["sendmsg", "recvmsg", "writev", "close", "close_range", "read", "dup2", "fcntl", "ioctl"]')" \
		'sh("echo said; exit 3")'
	_listen 1 0
	run timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 3
	is "$out" said
	_listener_is_done
	nothing_is_left
}

write_may_not() {
	# The spec's authors found that a runtime could not go on to report failures.
	bundle "$(_asking '["write"]')" 'sh("echo started")'
	refused 'linux\.seccomp.*write' sbx run -b "$B" "$ID"
	is "$out" ''
	nothing_is_left
}

even_execve_may_be_asked_about() {
	bundle "$(_asking '["execve"]')" 'args(["/bin/echo", "said"])'
	_listen 1 0
	run timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" said
	_listener_is_done
}

an_exec_that_the_listener_denies_is_an_error() {
	bundle "$(_asking '["execve"]')" 'args(["/bin/echo", "said"])'
	_listen 1 13
	run timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	isnt "$rc" 0
	is "$out" ''
	like "$err" 'permission denied'
	_listener_is_done
	nothing_is_left
}

exec_has_a_listener_too() {
	bundle writable "$(_asking '["mkdir", "mkdirat"]')" 'args(["/bin/sleep", "1000"])'
	_listen 2 30
	sbx run -d -b "$B" "$ID"
	in_box --pid-file pid "$ID" sh -c 'mkdir /made; exit 5'
	rc_is 5
	like "$err" 'Read-only file system'
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
	is "$(jq -rs '.[1] | .pid, .got, .fds[0], .state.id' told)" "$(printf '%s\n' "$(<pid)" 1 seccompFd "$ID")"
	is "$(jq -s '.[1].state.pid' told)" "$(pid_of "$ID")" "the state is the container's"
	sbx delete -f "$ID"
	_listener_is_done
}

without_no_new_privileges_it_works_too() {
	bundle writable "$(_asking '["mkdir", "mkdirat"]')" 'sh("mkdir /made; exit 3")' '.process.noNewPrivileges = false' \
		'.process.user = {uid: 1000, gid: 1000}'
	_listen 1 28
	run sbx run -b "$B" "$ID"
	rc_is 3
	like "$err" 'No space left'
	_listener_is_done
}

the_descriptor_is_not_the_programs() {
	bundle "$(_asking '["mkdir", "mkdirat"]')" 'sh("ls -l /proc/1/fd | grep -v /proc; ls /proc/1/fd; true")'
	_listen 1 28
	run sbx run -b "$B" "$ID"
	unlike "$out" 'seccomp|memfd|socket'
	like "$out" $'\n0\n1\n2$'
	_listener_is_done
}

a_listener_that_is_not_there_is_an_error() {
	bundle "$(_asking '["mkdir", "mkdirat"]')" 'sh("echo started")'
	refused 'linux\.seccomp\.listenerPath' sbx run -b "$B" "$ID"
	is "$out" ''
	nothing_is_left
	state_is_empty
	: >sock
	refused 'linux\.seccomp\.listenerPath' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_listener_that_is_gone_is_an_error_of_exec() {
	bundle "$(_asking '["mkdir", "mkdirat"]')" 'args(["/bin/sleep", "1000"])'
	_listen 1 28
	sbx run -d -b "$B" "$ID"
	wait_until 20 test -s told
	kill "$LISTENER"
	wait "$LISTENER" || :
	rm -f sock
	exec_refused 'linux\.seccomp\.listenerPath' --pid-file pid "$ID" true
	[ ! -e pid ] || fail 'there is a pid file'
	is "$(status_of "$ID")" running
}

a_path_without_which_nobody_listens_is_asked_for() {
	bundle 'sh("echo started")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_NOTIFY"}]}'
	refused 'linux\.seccomp' sbx run -b "$B" "$ID"
	is "$out" ''
	nothing_is_left
	bundle 'sh("echo started")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerMetadata: "x"}'
	refused 'linux\.seccomp' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_path_without_notifications_is_not_connected_to() {
	bundle 'sh("echo started")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: ($T + "/nobody"),
		syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" started
}

run_tests
