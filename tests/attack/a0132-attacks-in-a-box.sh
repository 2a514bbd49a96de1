#!/bin/bash
# Idea: what programs try in containers, tried in boxes of `sbxrun do`. The attacks are those of other files, which as-do hands to `do`.
# Left out is what a box has not: configs, exec, create and start.
# Escape: what these files say.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

# _in_do FILE TEST…: these attacks of FILE, all of which must be tried and fail.
_in_do() {
	local verdicts real=$SBXRUN
	AS_DO=$real SBXRUN=$TESTS_DIR/attack/as-do run bash "$TESTS_DIR/attack/$1"-*.sh "${@:2}"
	verdicts=$(grep -E '^(ok|not ok|skip) ' <<<"$out") || fail "nothing was tried: $out $err"
	! grep -qE ': (ESCAPED|FAKED|LEAKED): ' <<<"$verdicts" || escaped "$verdicts"
	is "$(grep -c '^ok ' <<<"$verdicts")" $(($# - 1)) "$verdicts"
}

bundles_become_boxes() {
	bundle 'sh("pwd; id -u; echo $A; ls -d /workspace")' 'env("A=a word") | .process.cwd = "/tmp"'
	AS_DO=$SBXRUN run "$TESTS_DIR/attack/as-do" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" $'/tmp\n65534\na word\n/workspace'
}

links_of_the_image_lead_nowhere() {
	_in_do a0001 nothing_is_made_on_the_host_without_a_mount_on_dev nothing_is_made_on_the_host_with_a_tmpfs_on_dev a_link_to_another_directory_of_the_image_is_refused
	_in_do a0003 proc_as_a_link_is_refused
	_in_do a0081 places_to_mount_on_are_not_made_in_a_volume the_working_directory_is_not_made_in_a_volume
	_in_do a0005 a_directory_bound_on_or_below_a_link a_file_bound_on_a_dangling_link a_missing_working_directory_below_a_link
}

our_binary_is_not_written() {
	_in_do a0006 the_binary_can_not_be_written_by_a_container_that_is_the_runtime
}

nothing_of_the_caller_comes_along() {
	_in_do a0002 closed_stdio_is_not_filled_from_the_image
	_in_do a0007 the_program_has_stdio_and_nothing_else
	_in_do a0015 nothing_is_inheritable_unless_asked_for the_callers_sets_do_not_pass securebits_of_the_caller_do_not_keep_capabilities
	_in_do a0021 signals_do_not_pass the_umask_does_not_pass the_execution_domain_does_not_pass priority_does_not_pass the_directory_does_not_pass descriptors_do_not_pass
}

calls_of_other_architectures_are_closed() {
	_in_do a0013 another_architectures_numbers_are_closed named_architectures_are_filtered_too
}

the_first_process_has_no_rights_of_roots() {
	_in_do a0014 the_first_process_can_not_read_roots_files the_first_process_can_not_be_what_only_root_may_run it_does_not_start_in_a_directory_that_only_root_may_enter
}

preconditions_of_escapes_are_absent() {
	_in_do a0095 capabilities_that_equal_root_are_absent ebpf_and_packet_sockets_do_not_work_unconfined_either \
		release_agent_cannot_be_written the_runtimes_program_cannot_be_written descriptors_are_not_left_open
}

made_up_files_have_nothing_behind_them() {
	_in_do a0092 no_other_name_is_found what_is_made_up_can_not_be_changed what_lies_below_can_not_be_uncovered
}

run_tests
