#!/bin/bash
# SIGKILL of whoever makes, changes or carries what a box reaches, at each moment: it loses its network, and never gains one. A sample of the moments; EGRESS_SAMPLE=0 has all of them.
# Views: own
# shellcheck disable=SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/lab.sh"

_killed() {
	lab
	crash_bin=$SBXT_WORK/crash.$$
	mkdir -p "$crash_bin"
	export crash_bin
	run "$TESTS_DIR/crash/egress.sh" "$1" --sample "${EGRESS_SAMPLE:-3}"
	rc_is 0
	like "$out" "ok crash $1-parent"
	like "$out" "ok crash $1-child"
	unlike "$out" 'not ok'
	is "$(carrier)" ''
}

a_create_that_is_killed() { _killed box-reach; }
an_allow_that_is_killed() { _killed box-allow; }
a_first_allow_that_is_killed() { _killed box-allow-first; }
a_deny_that_is_killed() { _killed box-deny; }
an_install_that_is_killed() { _killed box-install; }
a_first_install_that_is_killed() { _killed box-install-first; }
a_carrier_that_is_killed() { _killed box-carried; }

run_tests
