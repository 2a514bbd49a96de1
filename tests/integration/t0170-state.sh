#!/bin/bash
# state: its keys, its words over a life, and that a pid which now belongs to somebody else is nobody's.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

it_has_the_keys_of_the_spec() {
	bundle '.annotations = {"com.example/key": "välue \"x\"\n", "b": ""}' 'sh("sleep 100")'
	sbx create -b "$B" "$ID"
	run sbx state "$ID"
	rc_is 0
	is "$err" ''
	jq -e --arg id "$ID" --arg b "$B" '(.ociVersion | test("^1\\.[0-9]+\\.[0-9]+")) and .id == $id and .status == "created"
		and (.pid | type) == "number" and .pid > 0 and .bundle == $b
		and .annotations == {"com.example/key": "välue \"x\"\n", "b": ""}
		and .rootfs == $b + "/rootfs"
		and (.created | test("^[0-9-]+T[0-9:]+(\\.[0-9]+)?(Z|[+-][0-9:]+)$"))' "$T/out" >/dev/null || fail "$out"
}

it_is_one_document() {
	bundle
	sbx create -b "$B" "$ID"
	sbx state "$ID" >out 2>&1
	is "$(jq -s length out)" 1
}

# `state` has read the record, and looks for whoever holds the lock only when create is done: strace lets it wait there.
a_container_that_was_being_created_a_moment_ago_has_not_stopped() {
	local create state
	needs strace
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "until [ -e \($T)/go ]; do sleep 0.05; done"])'
	sbx create -b "$B" "$ID" </dev/null >/dev/null &
	create=$!
	wait_until 10 sh -c "grep -qs pid '$T/state/$ID/state.json'"
	strace -o trace -e trace=flock -e inject=flock:delay_enter=3000000:when=1 \
		"$SBXRUN" --root "$T/state" state "$ID" >word &
	state=$!
	wait_until 10 grep -qs flock trace
	touch go
	wait "$create"
	wait "$state"
	is "$(jq -r .status word)" creating
	is "$(status_of "$ID")" created
}

the_word_changes_over_a_life() {
	local pid
	# In the hook, the container is being created.
	bundle writable 'sh("until [ -e /go ]; do sleep 0.05; done")' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "exec \($B)/runtime --root \($T)/state state \($ID) >\($T)/in-hook 2>&1"])'
	ln -s "$SBXRUN" "$B/runtime"
	sbx create -b "$B" "$ID"
	is "$(jq -r .status in-hook)" creating
	is "$(status_of "$ID")" created
	pid=$(pid_of "$ID")
	is "$(jq -r .pid in-hook)" "$pid"
	file_has "/proc/$pid/cgroup" "$ID"
	sbx start "$ID"
	is "$(status_of "$ID")" running
	is "$(pid_of "$ID")" "$pid"
	touch "$B/rootfs/go"
	wait_until 10 dead "$pid"
	is "$(status_of "$ID")" stopped
	is "$(pid_of "$ID")" 0
	sbx delete "$ID"
	refused 'does not exist' sbx state "$ID"
	is "$out" ''
}

an_init_that_nobody_has_waited_for_is_stopped() {
	local pid
	bundle writable 'sh("echo >/mark; until [ -e /go ]; do sleep 0.05; done; exit 7")'
	background run -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/mark"
	pid=$(pid_of "$ID")
	kill -STOP "$BG"
	touch "$B/rootfs/go"
	wait_until 10 grep -q '^State:.Z' "/proc/$pid/status"
	is "$(status_of "$ID")" stopped
	refused 'container not running' sbx kill "$ID" TERM
	kill -CONT "$BG"
	wait_for_background
	rc_is 7
	nothing_is_left
}

an_unknown_id_is_an_error() {
	refused 'does not exist' sbx state nobody
	is "$out" ''
	refused 'does not exist' "$SBXRUN" --root "$T/no-such-root" state nobody
	[ ! -e "$T/no-such-root" ] || fail 'it made the directory'
}

a_state_directory_without_a_record_is_no_container() {
	mkdir -m 700 "$T/state/half"
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" "$T/state/half"
	refused 'does not exist' sbx state half
	refused 'does not exist' sbx kill half
	refused 'does not exist' sbx start half
	sbx delete --force half
	state_is_empty
}

# Sets field $1 of the record of $ID to the JSON value $2.
_edit_record() {
	jq -c --argjson v "$2" ".$1 = \$v" "$T/state/$ID/state.json" >new-record
	cat new-record >"$T/state/$ID/state.json"
}

# Sets START to the start time of process $1.
_start_time() {
	local stat fields
	slurp stat "/proc/$1/stat"
	read -ra fields <<<"${stat##*) }"
	START=${fields[19]}
}

a_pid_with_another_start_time_is_somebody_elses() {
	local other
	sleep 100 &
	other=$!
	bundle
	sbx run --keep -b "$B" "$ID"
	_edit_record pid "$other"
	is "$(status_of "$ID")" stopped
	refused 'container not running' sbx kill "$ID" KILL
	sbx kill --all "$ID" KILL || :
	sbx delete --force "$ID"
	nothing_is_left
	lives "$other" || fail 'a stranger was killed'
}

a_pid_of_another_boot_is_somebody_elses() {
	local other
	sleep 100 &
	other=$!
	bundle
	sbx run --keep -b "$B" "$ID"
	_start_time "$other"
	_edit_record pid "$other"
	_edit_record pidStart "$START"
	is "$(status_of "$ID")" running 'the edit is what makes it look alive'
	_edit_record bootId '"00000000-0000-0000-0000-000000000000"'
	is "$(status_of "$ID")" stopped
	refused 'container not running' sbx kill "$ID" KILL
	lives "$other" || fail 'a stranger was killed'
	# A true reboot takes the cgroups along; here the record has to become true again for that.
	_edit_record bootId "\"$(</proc/sys/kernel/random/boot_id)\""
	_edit_record pid 0
	sbx delete --force "$ID"
	nothing_is_left
}

the_cgroups_of_another_boot_are_somebody_elses() {
	local stale
	bundle
	sbx run --keep -b "$B" "$ID"
	stale=$ID
	_edit_record bootId '"00000000-0000-0000-0000-000000000000"'
	sbx delete --force "$stale"
	[ ! -e "$T/state/$stale" ] || fail 'the record is still there'
	[ -d "$(cgroup_dir pids "$stale")" ] || fail 'a cgroup was removed by a record of another boot'
	sbx create -b "$B" "$stale"
	sbx delete --force "$stale"
	nothing_is_left
}

a_record_that_is_broken_is_an_error() {
	local text
	bundle
	sbx run --keep -b "$B" "$ID"
	cp "$T/state/$ID/state.json" saved
	for text in '' '{' '[]' '{}' '{"version":999999}'; do
		printf '%s' "$text" >"$T/state/$ID/state.json"
		refused . sbx state "$ID"
		is "$out" ''
		refused . sbx kill "$ID"
	done
	cp saved "$T/state/$ID/state.json"
	sbx delete "$ID"
}

run_tests
