#!/bin/bash
# What a container's record says of its cgroups is a path, and another container may be there by now, above it or below. Escape: a verb on
# one container ends, freezes or lists the processes of another one.
# Views: all
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

_sleep='args(["/bin/sleep", "1000"])'

# The runtime with another state root.
_other() {
	"$SBXRUN" --root "$T/state2" "$@"
}

# Starts the bundle as $1 below the other root; false if that is refused, which is as good as being left alone.
_starts_elsewhere() {
	run _other run -d -b "$B" "$1"
	if [ "$rc" != 0 ]; then
		like "$err" cgroup
		return 1
	fi
	VICTIM=$(_other state "$1" | jq .pid)
}

# Every verb that acts on cgroups, on container $1 of ours, against the process VICTIM.
_verbs_spare_it() {
	run sbx pause "$1"
	! _is_frozen "$VICTIM" || escaped 'pause has frozen it'
	run sbx ps --format json "$1"
	[[ ! $out =~ (\[|,)$VICTIM(,|\]) ]] || escaped 'ps lists it'
	run sbx kill --all "$1" KILL
	lives "$VICTIM" || escaped 'kill has ended it'
	run sbx delete "$1"
	lives "$VICTIM" || escaped 'delete has ended it'
	run sbx delete --force "$1"
	lives "$VICTIM" || escaped 'delete --force has ended it'
}

_is_frozen() {
	local dir
	dir=$(cgroup_dir freezer "${1:+$PLACE}")
	grep -qs FROZEN "$dir/freezer.state" || grep -qs 'frozen 1' "$dir/cgroup.events"
}

# Takes the container's cgroups away in every hierarchy, as whoever cleans up after a crash might.
_sweep() {
	local mount
	for mount in "${CGROUP_MOUNTS[@]}"; do
		[ ! -d "$mount/$P/$1" ] || rmdir "$mount/$P/$1"
	done
}

the_same_id_of_another_root_is_left_alone() {
	local PLACE
	bundle
	PLACE=$ID
	sbx run --keep -b "$B" "$ID"
	bundle "$_sleep" ".linux.cgroupsPath = \"/$P/$PLACE\""
	_starts_elsewhere "$PLACE" || return 0
	_verbs_spare_it "$PLACE"
}

who_has_the_place_of_a_container_that_lost_it_is_left_alone() {
	local PLACE
	bundle
	PLACE=$ID
	sbx run --keep -b "$B" "$ID"
	_sweep "$ID"
	bundle "$_sleep" ".linux.cgroupsPath = \"/$P/$PLACE\""
	_starts_elsewhere "$PLACE" || fail "refused: $err"
	_verbs_spare_it "$PLACE"
	is "$(_other state "$PLACE" | jq -r .status)" running
	_other delete -f "$PLACE"
	[ ! -d "$(cgroup_dir pids "$PLACE")" ] || fail 'its own delete has left its cgroup'
}

# A create that was killed before it had made its cgroups has a record that names them.
a_create_that_was_cut_short_takes_nobody_along() {
	local PLACE
	bundle "$_sleep"
	PLACE=$ID
	sbx create -b "$B" "$ID"
	cp -a state/"$ID" kept
	sbx delete -f "$ID"
	cp -a kept state/"$ID"
	jq -c '.committed = false | .pid = 0 | .pidStart = 0 | del(.cgroups[]?.inode)' kept/state.json >"state/$ID/state.json"
	_starts_elsewhere "$PLACE" || fail "refused: $err"
	_verbs_spare_it "$PLACE"
}

a_cgroup_in_a_containers_is_refused() {
	local PLACE outer
	bundle "$_sleep"
	outer=$ID PLACE=$ID/inner
	sbx run -d -b "$B" "$ID"
	bundle "$_sleep" ".linux.cgroupsPath = \"/$P/$PLACE\""
	run _other run -d -b "$B" "$ID"
	[ "$rc" != 0 ] || {
		VICTIM=$(_other state "$ID" | jq .pid)
		_verbs_spare_it "$outer"
		escaped "it was not refused, but left alone"
	}
	like "$err" "cgroup.*\"?$outer"
	is "$(status_of "$outer")" running
}

a_cgroup_around_a_containers_is_refused() {
	local inner program
	# Also where that holds no process.
	for program in /bin/true '/bin/sleep", "1000'; do
		bundle "args([\"$program\"])" '.linux.cgroupsPath = "/" + $P + "/" + $ID + "/inner"'
		inner=$ID
		_other run -d -b "$B" "$inner"
		[ "$program" != /bin/true ] || wait_until 10 eval '[ "$(_other state "$inner" | jq -r .status)" = stopped ]'
		bundle "$_sleep" ".linux.cgroupsPath = \"/$P/$inner\""
		run sbx run -d -b "$B" "$ID"
		[ "$rc" != 0 ] || escaped 'it was not refused'
		like "$err" "cgroup.*container \"$inner\""
		_other delete -f "$inner"
	done
}

# The first one is held up between making its cgroups and being in them.
who_comes_second_does_not_get_the_place() {
	local first second=0
	needs strace
	bundle "$_sleep"
	strace -qq -o /dev/null -e trace=clone3 -e inject=clone3:delay_enter=1500000 "$SBXRUN" --root "$T/state2" create -b "$B" "$ID" 2>err &
	first=$!
	wait_until 10 test -d "$(cgroup_dir pids)"
	sbx create -b "$B" "$ID" 2>err2 || second=$?
	rc=0
	wait "$first" || rc=$?
	[ "$rc" != 0 ] || [ "$second" != 0 ] || escaped 'two containers are in one cgroup'
	[ "$rc" = 0 ] || [ "$second" = 0 ] || fail "nobody got it: $(cat err err2)"
	sbx delete -f "$ID"
	[ "$rc" != 0 ] || is "$(_other state "$ID" | jq -r .status)" created
	_other delete -f "$ID"
	nothing_is_left
}

_race_for_the_place() {
	local i won=0 pids=()
	bundle "$_sleep"
	for i in 1 2 3 4; do
		"$SBXRUN" --root "$T/state$i" create -b "$B" "$ID" 2>"err$i" &
		pids[i]=$!
	done
	for i in 1 2 3 4; do
		! wait "${pids[i]}" || won=$((won + 1))
	done
	[ "$won" -le 1 ] || escaped "$won containers are in one cgroup"
	[ "$won" = 1 ] || escaped "they have kept each other out: $(cat err1)"
	for i in 1 2 3 4; do
		"$SBXRUN" --root "$T/state$i" delete -f "$ID"
	done
	nothing_is_left
}

one_of_many_gets_the_place() {
	local round
	for ((round = 0; round < STARTS; round += 3)); do
		_race_for_the_place
	done
}

# Whoever is in a container and makes containers in its cgroup, goes with it.
what_a_container_nests_in_its_own_cgroup_is_its_own() {
	local outer mount inner dir
	bundle "$_sleep"
	outer=$ID
	sbx run -d -b "$B" "$ID"
	bundle "$_sleep" ".linux.cgroupsPath = \"/$P/$outer/inner-$P\""
	(
		for mount in "${CGROUP_MOUNTS[@]}"; do
			dir=$mount/$P/$outer
			# On v2 what has cgroups in it may hold no processes itself.
			if [ "$VIEW" = v2 ]; then
				mkdir "$dir/own-$P"
				echo "$(<"$dir/cgroup.procs")" >"$dir/own-$P/cgroup.procs"
				dir+=/own-$P
			fi
			echo "$BASHPID" >"$dir/cgroup.procs"
		done
		exec "$SBXRUN" --root "$T/state2" run -d -b "$B" "$ID"
	)
	inner=$(_other state "$ID" | jq .pid)
	sbx delete -f "$outer"
	dead "$inner" || fail 'it has outlived the container that it is in'
	_other delete "$ID"
}

# An engine may have made the cgroup.
a_create_that_fails_gives_up_its_claim() {
	local dir
	bundle "$_sleep" '.linux.cgroupsPath = "/" + $P + "/" + $ID' '.linux.resources.cpu = {quota: 1, period: 100000}'
	dir=$(cgroup_dir cpu)
	mkdir -p "$dir"
	run sbx create -b "$B" "$ID"
	rc_is 1
	[ -d "$dir" ] || fail 'a cgroup that was there is gone'
	jq 'del(.linux.resources.cpu)' "$B/config.json" >new
	mv new "$B/config.json"
	_other create -b "$B" "$ID"
	_other delete -f "$ID"
}

# A container that may administer the machine has written to its own cgroups, or has taken its mark away.
a_claim_that_the_container_has_changed_keeps_nobody_out() {
	local pid mount code
	needs python3
	for code in 'os.setxattr(sys.argv[1], "trusted.sbxrun.owner", b"x")' 'os.setxattr(sys.argv[1], "trusted.sbxrun.owner", b"1 /nowhere/x")' \
		'os.removexattr(sys.argv[1], "trusted.sbxrun.owner")'; do
		bundle "$_sleep" 'without_ns("pid")'
		sbx run -d -b "$B" "$ID"
		pid=$(pid_of "$ID")
		for mount in "${CGROUP_MOUNTS[@]}"; do
			[ ! -d "$mount/$P/$ID" ] || python3 -c "import os, sys; $code" "$mount/$P/$ID" 2>/dev/null || :
		done
		sbx kill --all "$ID" KILL
		dead "$pid" || escaped "$code: it is alive"
		sbx delete -f "$ID"
		nothing_is_left
	done
}

# As a sbxrun that knew no claims has left them.
a_record_without_claims_is_honoured() {
	local pid mount
	needs python3
	bundle "$_sleep"
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	jq -c 'del(.cgroups[] | .claim, .inode)' "state/$ID/state.json" >new
	mv new "state/$ID/state.json"
	for mount in "${CGROUP_MOUNTS[@]}"; do
		[ ! -d "$mount/$P/$ID" ] || python3 -c 'import os, sys; os.removexattr(sys.argv[1], "trusted.sbxrun.owner")' "$mount/$P/$ID" 2>/dev/null || :
	done
	sbx pause "$ID"
	sbx resume "$ID"
	sbx delete -f "$ID"
	dead "$pid" || fail 'it is alive'
	nothing_is_left
}

run_tests
