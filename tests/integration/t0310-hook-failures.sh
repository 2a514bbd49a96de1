#!/bin/bash
# Hooks that fail, hang or can't be run.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

POSTSTOP='hook("poststop"; "/bin/sh"; ["sh", "-c", "echo poststop >>\($T)/ran"])'

# Hook $1 fails: create fails, says so, leaves nothing, and poststop hooks have run.
_create_fails_by() {
	bundle "hook(\"$1\"; \"/bin/sh\"; [\"sh\", \"-c\", \"echo the reason >&2; exit 3\"])" \
		"hook(\"$1\"; \"/bin/sh\"; [\"sh\", \"-c\", \"echo second >>\\(\$T)/ran\"])" "$POSTSTOP"
	refused "$1.*(3|the reason)" sbx create -b "$B" "$ID"
	like "$err" 'the reason'
	nothing_is_left
	is "$(<ran)" poststop
}

a_failed_prestart_ends_create() {
	_create_fails_by prestart
}

a_failed_create_runtime_ends_create() {
	_create_fails_by createRuntime
}

a_failed_create_container_ends_create() {
	_create_fails_by createContainer
}

later_hooks_do_not_run_after_a_failure() {
	bundle 'hook("createRuntime"; "/bin/false"; ["false"])' 'hook("createContainer"; "/bin/touch"; ["touch", $T + "/later"])'
	refused 'createRuntime' sbx create -b "$B" "$ID"
	[ ! -e later ] || fail 'a later one has run'
	nothing_is_left
}

a_failed_start_hook_ends_the_container() {
	local pid
	bundle writable 'hook("startContainer"; "/bin/sh"; ["sh", "-c", "exit 3"])' 'sh("echo >/mark")' "$POSTSTOP"
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	refused 'startContainer' sbx start "$ID"
	wait_until 10 dead "$pid"
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
	# The specification goes on with the removal and the poststop hooks.
	nothing_is_left
	is "$(<ran)" poststop
}

a_failed_start_hook_fails_run() {
	bundle writable 'hook("startContainer"; "/bin/false"; ["false"])' 'sh("echo >/mark")' "$POSTSTOP"
	refused 'startContainer' sbx run -b "$B" "$ID"
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
	nothing_is_left
	is "$(<ran)" poststop
}

a_failed_poststart_destroys_the_container() {
	local pid
	bundle 'hook("poststart"; "/bin/sh"; ["sh", "-c", "exit 3"])' 'sh("sleep 100")' "$POSTSTOP"
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	refused 'poststart' sbx start "$ID"
	wait_until 10 dead "$pid"
	nothing_is_left
	is "$(<ran)" poststop
}

a_failed_poststart_fails_run() {
	bundle 'hook("poststart"; "/bin/false"; ["false"])' 'sh("sleep 100")' "$POSTSTOP"
	refused 'poststart' sbx run -b "$B" "$ID"
	nothing_is_left
	is "$(<ran)" poststop
	rm ran
	refused 'poststart' sbx run -d -b "$B" "$ID"
	nothing_is_left
	is "$(<ran)" poststop
}

a_failed_poststop_is_only_logged() {
	bundle 'hook("poststop"; "/bin/sh"; ["sh", "-c", "echo the reason; exit 3"])' \
		'hook("poststop"; "/bin/sh"; ["sh", "-c", "echo second >>\($T)/ran"])'
	sbx create -b "$B" "$ID"
	run sbx --log "$T/log.json" --log-format json --log-level warning delete "$ID"
	rc_is 0
	is "$err" ''
	nothing_is_left
	is "$(<ran)" second 'the others run all the same'
	file_has log.json '"warning".*poststop.*the reason'
	sbx run -b "$B" "$ID"
	nothing_is_left
}

a_program_that_is_not_there_fails_the_hook() {
	bundle 'hook("createRuntime"; "/not/there"; ["x"])'
	refused 'createRuntime.*[Nn]o such file' sbx create -b "$B" "$ID"
	nothing_is_left
	bundle 'hook("createRuntime"; "/etc/passwd"; ["x"])'
	refused 'createRuntime.*[Pp]ermission denied' sbx create -b "$B" "$ID"
	nothing_is_left
}

a_death_by_signal_fails_the_hook() {
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "kill -TERM $$"])'
	refused 'createRuntime.*signal' sbx create -b "$B" "$ID"
	nothing_is_left
}

a_caller_that_ignores_sigchld_sees_the_failure() {
	bundle 'hook("createRuntime"; "/bin/false"; ["false"])'
	run env --ignore-signal=CHLD "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 1
	nothing_is_left
}

a_time_out_kills_the_hook_and_what_it_started() {
	local pid
	bundle '.hooks.createRuntime = [{path: "/bin/sh", timeout: 1,
		args: ["sh", "-c", "trap : TERM INT HUP; sleep 2000 & echo $! >\($T)/child; echo $$ >\($T)/pid; sleep 2000; sleep 2000"]}]' "$POSTSTOP"
	refused 'createRuntime.*tim' sbx create -b "$B" "$ID"
	for pid in pid child; do
		wait_until 10 dead "$(<"$pid")"
	done
	nothing_is_left
	is "$(<ran)" poststop
}

a_time_out_counts_inside_too() {
	bundle writable '.hooks.startContainer = [{path: "/bin/sh", timeout: 1, args: ["sh", "-c", "sleep 2000"]}]' 'sh("echo >/mark")'
	refused 'startContainer.*tim' sbx run -b "$B" "$ID"
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
	nothing_is_left
}

a_hook_that_ends_in_time_is_left_alone() {
	bundle '.hooks.createRuntime = [{path: "/bin/sh", timeout: 50, args: ["sh", "-c", "echo ran >\($T)/ran"]}]'
	sbx create -b "$B" "$ID"
	is "$(<ran)" ran
}

bad_hooks_are_refused() {
	local hook
	bundle
	for hook in '{path: "relative"}' '{path: ""}' '{args: ["x"]}' '{path: 7}' '{path: "/bin/true", timeout: 0}' \
		'{path: "/bin/true", timeout: -1}' '{path: "/bin/true", timeout: "1"}' '{path: "/bin/true", env: ["A\u0000=b"]}' '"x"'; do
		jq ".hooks.poststop = [$hook]" "$B/config.json" >new
		refused 'hooks.poststop' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

the_end_of_what_a_hook_prints_is_told() {
	bundle '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i + 1)); done; echo REASON; exit 4"]}]'
	run sbx create -b "$B" "$ID"
	rc_is 1
	like "$err" 'exit status 4, output: .*REASON'
}

run_tests
