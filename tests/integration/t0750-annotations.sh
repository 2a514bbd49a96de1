#!/bin/bash
# annotations, in `state` and without effect on anything else.
# Views: own annotations_of_other_runtimes_loosen_nothing
. "${0%/*}/../lib/test.sh"

annotations_stand_in_the_state_as_they_were_given() {
	bundle 'sh("sleep 100")' '.annotations = {"com.example.key": "a value", "empty": "", "quote": "\"\\\n\u00e9"}'
	sbx create -b "$B" "$ID"
	run sbx state "$ID"
	rc_is 0
	is "$(jq -cS .annotations <<<"$out")" "$(jq -cS .annotations "$B/config.json")"
}

an_empty_key_is_an_error_and_so_is_a_value_that_is_no_string() {
	run_in_box 'echo started' '.annotations = {"": "x"}'
	rc_is 1
	is "$out" ''
	like "$err" annotations
	run_in_box 'echo started' '.annotations = {"a": 1}'
	rc_is 1
	is "$out" ''
	like "$err" annotations
}

annotations_of_other_runtimes_loosen_nothing() {
	run_in_box 'grep -E "CapEff|NoNewPrivs" /proc/self/status; touch /x || echo refused' '.annotations = {
		"run.oci.keep_original_groups": "1", "run.oci.hooks.stdout": ($T + "/hooks"), "run.oci.systemd.force_cgroup_v1": "/x",
		"org.systemd.property.ExecStartPre": "[(\"/bin/touch\", [\"touch\"], true)]", "io.sbxrun.privileged": "true"}'
	is "$out" $'CapEff:\t0000000020000420\nNoNewPrivs:\t1\nrefused'
	[ ! -e hooks ] || fail 'a file was made'
}

run_tests
