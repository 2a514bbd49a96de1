#!/bin/bash
# Verbs that meet, and verbs that are killed: one wins, and `delete --force` makes an end of what is left.
# Views: own of_creates_with_one_id_one_wins a_create_that_is_overtaken_does_not_take_the_others_id
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# Starts N times `sbx ARG…` at once, waits for all and sets WINS and LOSSES; what the losers said is in $T/err.N.
_at_once() {
	local n count=$1 pids=()
	shift
	WINS=0 LOSSES=0
	for ((n = 0; n < count; n++)); do
		"$SBXRUN" --root "$T/state" "$@" >"out.$n" 2>"err.$n" &
		pids+=($!)
	done
	for n in "${!pids[@]}"; do
		if wait "${pids[n]}"; then
			WINS=$((WINS + 1))
		else
			LOSSES=$((LOSSES + 1))
		fi
	done
}

of_creates_with_one_id_one_wins() {
	bundle writable 'sh("echo x >>/mark")'
	_at_once 6 create -b "$B" "$ID"
	is "$WINS" 1
	is "$(cat err.* | grep -c exist)" 5
	is "$(status_of "$ID")" created
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$(pid_of "$ID")$"
	is "$(wc -l <"$(cgroup_dir pids)/cgroup.procs")" 1
	sbx start "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
}

a_create_that_is_overtaken_does_not_take_the_others_id() {
	local tracer pid
	needs strace
	bundle 'sh("sleep 100")'
	# Stopped when it has made the directory and not yet locked it.
	strace -o trace -e trace=mkdirat -P "$ID" -e inject=mkdirat:signal=SIGSTOP:when=1 \
		"$SBXRUN" --root "$T/state" create -b "$B" "$ID" 2>err.create &
	tracer=$!
	wait_until 20 grep -qs 'stopped by SIGSTOP' trace
	sbx delete --force "$ID"
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	kill -CONT "$(pgrep -P "$tracer")"
	rc=0
	wait "$tracer" || rc=$?
	is "$rc" 1
	file_has err.create 'already exists'
	is "$(status_of "$ID") $(pid_of "$ID")" "created $pid"
	is "$(<"$(cgroup_dir pids)/cgroup.procs")" "$pid"
}

of_runs_with_one_id_one_wins() {
	bundle writable 'sh("echo x >>/mark; sleep 100")'
	_at_once 4 run -d -b "$B" "$ID"
	is "$WINS" 1
	wait_until 10 test -s "$B/rootfs/mark"
	is "$(<"$B/rootfs/mark")" x
}

of_starts_one_wins() {
	bundle writable 'sh("echo x >>/mark; sleep 100")'
	sbx create -b "$B" "$ID"
	_at_once 6 start "$ID"
	is "$WINS" 1
	wait_until 10 test -s "$B/rootfs/mark"
	is "$(<"$B/rootfs/mark")" x
}

forced_deletes_at_once_all_succeed() {
	bundle 'sh("sleep 100")' 'hook("poststop"; "/bin/sh"; ["sh", "-c", "echo x >>\($T)/ran"])'
	sbx run -d -b "$B" "$ID"
	_at_once 6 delete --force "$ID"
	is "$WINS" 6 "$(cat err.*)"
	nothing_is_left
	is "$(<ran)" x 'poststop hooks run once'
}

kills_and_a_delete_at_once_leave_nothing() {
	local n
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	for n in 1 2 3; do
		background kill "$ID" "$n"
	done
	sbx delete --force "$ID"
	wait
	nothing_is_left
}

runs_below_one_cgroup_parent_do_not_disturb_each_other() {
	local n pids=()
	bundle 'sh("exit 7")'
	for n in 1 2 3 4; do
		jq --arg n "$n" '.linux.cgroupsPath += "-" + $n' "$B/config.json" >"config.$n"
	done
	for n in 1 2 3 4; do
		"$SBXRUN" --root "$T/state" run -b "$B" -f "$T/config.$n" "$ID-$n" 2>"err.$n" &
		pids+=($!)
	done
	for n in "${pids[@]}"; do
		rc=0
		wait "$n" || rc=$?
		is "$rc" 7 "$(cat err.*)"
	done
	state_is_empty
}

# A create or run that hangs in a hook. Sets BG, and HOOK to the hook's pid.
_hang_in() {
	bundle 'sh("echo >/mark")' writable "hook(\"$1\"; \"/bin/sh\"; [\"sh\", \"-c\", \"echo \$\$ >\\(\$T)/hook; exec sleep 300\"])"
	background "$2" -b "$B" "$ID"
	wait_until 10 test -s hook
	HOOK=$(<hook)
}

a_container_that_is_being_created_is_seen_so() {
	_hang_in createRuntime create
	is "$(status_of "$ID")" creating
	refused . sbx create -b "$B" "$ID"
	refused 'container not running' sbx kill "$ID" KILL
	is "$(status_of "$ID")" creating
	kill -KILL "$HOOK"
	wait_for_background
	rc_is 1
	nothing_is_left
}

a_killed_create_is_swept_up() {
	local pid
	_hang_in createRuntime create
	pid=$(pid_of "$ID")
	kill -KILL "$BG"
	wait_for_background
	wait_until 10 dead "$pid"
	wait_until 10 dead "$HOOK"
	is "$(status_of "$ID")" stopped
	refused . sbx start "$ID"
	refused 'container not running' sbx kill "$ID"
	sbx delete --force "$ID"
	nothing_is_left
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
}

a_create_that_is_killed_in_a_container_hook_is_swept_up() {
	bundle 'hook("createContainer"; "/bin/sh"; ["sh", "-c", "echo >\($T)/hook; exec sleep 300"])'
	background create -b "$B" "$ID"
	wait_until 10 test -e hook
	kill -KILL "$BG"
	wait_for_background
	sbx delete --force "$ID"
	nothing_is_left
	is "$(grep -lsF -e "$B/rootfs" /proc/[0-9]*/mountinfo || :)" '' 'a namespace lives on'
}

a_killed_create_needs_no_force() {
	_hang_in createRuntime create
	kill -KILL "$BG"
	wait_for_background
	wait_until 10 status_is "$ID" stopped
	sbx delete "$ID"
	nothing_is_left
}

an_id_is_free_after_a_killed_create_was_swept_up() {
	_hang_in prestart run
	kill -KILL "$BG"
	wait_for_background
	refused 'exist' sbx run -b "$B" "$ID"
	sbx delete --force "$ID"
	jq 'del(.hooks)' "$B/config.json" >new
	sbx run -b "$B" -f "$T/new" "$ID"
	[ -e "$B/rootfs/mark" ] || fail 'the program has not run'
}

a_create_whose_init_is_killed_fails() {
	_hang_in createRuntime create
	kill -KILL "$(pid_of "$ID")"
	kill -KILL "$HOOK"
	wait_for_background
	rc_is 1
	nothing_is_left
}

a_start_whose_init_is_killed_fails() {
	bundle 'hook("startContainer"; "/bin/sh"; ["sh", "-c", "echo >/mark; exec sleep 300"])' writable
	sbx create -b "$B" "$ID"
	background start "$ID"
	wait_until 10 test -e "$B/rootfs/mark"
	sbx kill "$ID" KILL
	wait_for_background
	rc_is 1
	sbx delete --force "$ID"
	nothing_is_left
}

a_killed_start_leaves_a_container_that_can_be_deleted() {
	local pid
	bundle 'hook("startContainer"; "/bin/sh"; ["sh", "-c", "echo >/mark; exec sleep 300"])' writable
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	background start "$ID"
	wait_until 10 test -e "$B/rootfs/mark"
	kill -KILL "$BG"
	wait_for_background
	sbx delete --force "$ID"
	dead "$pid" || fail 'it is alive'
	nothing_is_left
}

a_delete_that_is_killed_can_be_repeated() {
	bundle 'sh("sleep 100")' 'hook("poststop"; "/bin/sh"; ["sh", "-c", "echo $$ >\($T)/hook; [ -e \($T)/go ] || exec sleep 300"])'
	sbx run -d -b "$B" "$ID"
	background delete --force "$ID"
	wait_until 10 test -s hook
	kill -KILL "$BG"
	wait_for_background
	touch go
	sbx delete --force "$ID"
	nothing_is_left
}

run_tests
