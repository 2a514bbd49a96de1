#!/bin/bash
# What the managing verbs have in common, and the corners of kill and list that engines rely on.
# Views: own verbs_keep_silent_on_success help_lists_the_verbs_and_their_flags
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# containerd's shim and CRI-O look for these words.
kill_errors_are_worded_as_engines_expect() {
	bundle
	sbx run --keep -b "$B" "$ID"
	refused 'container not running' sbx kill "$ID" 9
	refused 'does not exist' sbx kill nobody 9
	refused 'unknown signal' sbx kill "$ID" NONSENSE
	refused 'unknown signal' sbx kill "$ID" 65
	run sbx --log log.json --log-format json kill "$ID" 9
	rc_is 1
	is "$(jq -r .level log.json)" error
	like "$(jq -r .msg log.json)" 'container not running'
}

signal_zero_asks_whether_it_lives() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	sbx kill "$ID" 0
	is "$(status_of "$ID")" running
	sbx kill "$ID" KILL
	wait_until 10 status_is "$ID" stopped
	refused 'container not running' sbx kill "$ID" 0
}

the_flag_all_may_stand_anywhere() {
	local order
	for order in '--all ID 9' 'ID --all 9' 'ID 9 --all' '-a ID KILL' '--all=true ID SIGKILL'; do
		bundle 'sh("sleep 100 & sleep 100")'
		sbx run -d -b "$B" "$ID"
		# shellcheck disable=SC2086
		sbx kill ${order/ID/$ID}
		wait_until 10 status_is "$ID" stopped
		# shellcheck disable=SC2086
		sbx kill ${order/ID/$ID}
	done
}

a_shared_pid_namespace_is_emptied_even_when_paused() {
	local pids pid
	bundle writable 'without_ns("pid")' 'sh("sleep 100 & setsid sleep 100 & echo >/mark; wait")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	mapfile -t pids <"$(cgroup_dir pids)/cgroup.procs"
	[ "${#pids[@]}" -ge 3 ] || fail "only ${#pids[@]} processes"
	sbx pause "$ID"
	sbx kill "$ID" KILL
	for pid in "${pids[@]}"; do
		wait_until 10 dead "$pid"
	done
	is "$(status_of "$ID")" stopped
}

# Columns are padded to what runc's are: at least twelve wide, three blanks between.
the_list_is_laid_out_in_columns() {
	local lines column
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx list
	rc_is 0
	mapfile -t lines <<<"$out"
	for column in PID STATUS BUNDLE CREATED OWNER; do
		local before=${lines[0]%%"$column"*}
		like "${lines[1]:${#before}:1}" '[^ ]' "under $column"
		is "${lines[1]:${#before}-3:3}" '   '
	done
}

the_list_of_nothing_is_a_title_or_null() {
	run sbx list
	rc_is 0
	like "$out" '^ID +PID +STATUS +BUNDLE +CREATED +OWNER$'
	run sbx list -f json
	rc_is 0
	is "$out" null
}

verbs_keep_silent_on_success() {
	local verb
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	for verb in 'pause' 'resume' 'update --pids-limit 50' 'kill'; do
		# shellcheck disable=SC2086
		run sbx --log log --log-format json $verb "$ID"
		rc_is 0
		is "$out$err" ''
		[ ! -s log ] || fail "the log says $(<log)"
	done
}

help_lists_the_verbs_and_their_flags() {
	local verb
	run "$SBXRUN" help
	rc_is 0
	for verb in pause resume ps update events kill list; do
		like "$out" " $verb " "$verb"
	done
	for verb in pause resume ps update events; do
		run "$SBXRUN" "$verb" --help
		rc_is 0
		like "$out" "sbxrun $verb"
	done
	run "$SBXRUN" update -h
	for verb in resources blkio-weight cpu-period cpu-quota cpu-burst cpu-share cpu-rt-period cpu-rt-runtime cpu-idle cpuset-cpus \
		cpuset-mems kernel-memory kernel-memory-tcp memory memory-reservation memory-swap pids-limit l3-cache-schema mem-bw-schema; do
		like "$out" "--$verb "
	done
}

# Two updates, a pause and a reader at once: each is whole, and nothing hangs.
verbs_at_the_same_time_do_not_harm_each_other() {
	local jobs=() i
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	for i in 1 2 3 4 5; do
		sbx update --pids-limit "$((30 + i))" "$ID" &
		jobs+=($!)
		{ sbx pause "$ID" || :; } 2>/dev/null &
		jobs+=($!)
		sbx ps -f json "$ID" >/dev/null &
		jobs+=($!)
		sbx events --stats "$ID" >/dev/null &
		jobs+=($!)
		{ sbx resume "$ID" || :; } 2>/dev/null &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do
		wait "$i"
	done
	file_has "$(cgroup_dir pids)/pids.max" '^3[1-5]$'
	like "$(status_of "$ID")" '^(running|paused)$'
}

run_tests
