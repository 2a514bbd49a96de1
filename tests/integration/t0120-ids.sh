#!/bin/bash
# Ids become names of directories and cgroups: which are taken, which are refused, and that one id is one container.
# Views: own a_used_id_is_refused_and_its_container_left_alone one_id_may_be_used_in_two_roots
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

ids_of_all_allowed_characters_work() {
	local id
	bundle 'sh("exit 7")'
	for id in 0 _ + ... "$P-A-Z_0.9+x" "$(printf %0200d 1)"; do
		run sbx run -b "$B" -- "$id"
		rc_is 7
	done
	state_is_empty
}

an_id_names_its_state() {
	bundle
	sbx create -b "$B" "$ID.+_x"
	[ -d "$T/state/$ID.+_x" ] || fail 'no directory of that name'
	is "$(sbx list -q)" "$ID.+_x"
}

bad_ids_are_refused_by_every_verb() {
	local id verb
	bundle
	for id in '' . .. a/b ../x /x 'a b' 'a:b' 'a@b' 'ä' $'a\n' $'\n' 'a*' "$(printf %01000d 1)"; do
		refused . sbx create -b "$B" -- "$id"
	done
	for id in '' .. ../state a/b; do
		for verb in start state kill delete 'delete --force'; do
			# shellcheck disable=SC2086
			refused . sbx $verb -- "$id"
		done
		refused . sbx run -b "$B" -- "$id"
	done
	state_is_empty
	[ -d "$T/state" ] || fail 'the state directory is gone'
	[ ! -e "$T/x" ] || fail 'a directory was made outside'
}

a_used_id_is_refused_and_its_container_left_alone() {
	local pid
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	refused 'exist' sbx create -b "$B" "$ID"
	refused 'exist' sbx run -b "$B" "$ID"
	is "$(status_of "$ID")" running
	is "$(pid_of "$ID")" "$pid"
	lives "$pid" || fail 'it is dead'
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$pid$"
}

the_id_of_a_stopped_container_is_used() {
	bundle
	sbx run --keep -b "$B" "$ID"
	refused 'exist' sbx create -b "$B" "$ID"
	is "$(status_of "$ID")" stopped
}

an_id_is_free_after_delete() {
	bundle 'sh("exit 7")'
	sbx create -b "$B" "$ID"
	sbx delete "$ID"
	run sbx run -b "$B" "$ID"
	rc_is 7
	sbx create -b "$B" "$ID"
}

one_id_may_be_used_in_two_roots() {
	bundle
	sbx create -b "$B" "$ID"
	jq '.linux.cgroupsPath += "-other"' "$B/config.json" >"$B/other.json"
	"$SBXRUN" --root "$T/state2" create -b "$B" --config "$B/other.json" "$ID"
	sbx delete "$ID"
	is "$("$SBXRUN" --root "$T/state2" state "$ID" | jq -r .status)" created
}

run_tests
