#!/bin/bash
# A filter that kills at any call but those that init makes between loading it and execve (last_calls in init/confine.c): were the
# list too short, init would die of it. The program itself makes one call, exit_group.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

_ALWAYS='"close", "sendmsg", "exit_group", "execve"'
_WAITS='"accept4", "recvmsg", "prctl"'

# _exact CALLS FILTER…: a bundle whose program ends with status 7, under a filter that allows CALLS and nothing else.
_exact() {
	local calls=$1
	shift
	needs gcc
	bundle 'args(["/seven"])' ".linux.seccomp = {defaultAction: \"SCMP_ACT_KILL_PROCESS\", syscalls: [{names: [$calls], action: \"SCMP_ACT_ALLOW\"}]}" "$@"
	case $(uname -m) in
	x86_64) echo 'void _start(void) { __asm__ volatile("syscall" : : "a"(231), "D"(7)); }' ;;
	aarch64) echo 'void _start(void) { register long n __asm__("x8") = 94, s __asm__("x0") = 7; __asm__ volatile("svc 0" : : "r"(n), "r"(s)); }' ;;
	*) skip 'no program for this machine' ;;
	esac >seven.c
	gcc -nostdlib -static -o "$B/rootfs/seven" seven.c
}

_runs() {
	run sbx run -b "$B" "$ID"
	rc_is 7
	nothing_is_left
}

init_makes_no_other_call() {
	_exact "$_ALWAYS, $_WAITS" '.process.noNewPrivileges = true | del(.process.rlimits)'
	_runs
}

giving_up_the_right_for_the_filter_takes_one_more() {
	_exact "$_ALWAYS, $_WAITS, \"capset\"" '.process.noNewPrivileges = false | del(.process.rlimits)'
	_runs
}

limits_take_one_more() {
	_exact "$_ALWAYS, $_WAITS, \"prlimit64\"" '.process.noNewPrivileges = true' \
		'.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}]'
	_runs
}

a_joined_pid_namespace_takes_two_more() {
	local first
	bundle 'args(["/bin/sleep", "100"])'
	sbx run -d -b "$B" "$ID-pod"
	first=$(pid_of "$ID-pod")
	_exact "$_ALWAYS, $_WAITS, \"clone\", \"setsid\"" '.process.noNewPrivileges = true | del(.process.rlimits)' "ns(\"pid\"; \"/proc/$first/ns/pid\")"
	run sbx run -b "$B" "$ID"
	rc_is 7
	sbx delete -f "$ID-pod"
}

# The container's first program may make no call that waits, so it loops.
an_exec_makes_no_other_call() {
	_exact "$_ALWAYS, $_WAITS, \"clone\", \"setsid\"" '.process.noNewPrivileges = true | del(.process.rlimits) | .process.args = ["/forever"]'
	echo 'void _start(void) { for (;;) __asm__ volatile(""); }' >forever.c
	gcc -nostdlib -static -o "$B/rootfs/forever" forever.c
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" /seven
	rc_is 7
	sbx delete -f "$ID"
}

# A default that lets nothing pass, not even execve, is refused; one that only breaks init's last calls is noticed.
_denies_all() {
	_exact "$_ALWAYS" '.process.noNewPrivileges = true' ".linux.seccomp = {defaultAction: \"$1\"}"
	run "_by_$2"
	isnt "$rc" 0
	isnt "$rc" 7
	like "$err" 'linux\.seccomp'
	sbx delete -f "$ID" 2>/dev/null || :
	nothing_is_left
}

_by_run() {
	sbx run -b "$B" "$ID"
}

# Engines ask in two steps; it is told in the first or in the second, and never is there a program that has not run.
_by_create_and_start() {
	sbx create -b "$B" "$ID" && sbx start "$ID"
}

a_filter_that_denies_everything_is_an_error() {
	local action
	for action in SCMP_ACT_ERRNO SCMP_ACT_KILL SCMP_ACT_KILL_THREAD SCMP_ACT_KILL_PROCESS SCMP_ACT_TRAP SCMP_ACT_TRACE SCMP_ACT_NOTIFY; do
		_denies_all "$action" run
		_denies_all "$action" create_and_start
	done
}

a_filter_that_logs_everything_runs() {
	_exact "$_ALWAYS" '.linux.seccomp = {defaultAction: "SCMP_ACT_LOG"}'
	_runs
}

run_tests
