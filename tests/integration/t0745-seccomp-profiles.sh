#!/bin/bash
# The profile that podman brings along, as podman would hand it to us: three judges agree on it (tests/unit/seccomp_judge.h), and a
# program runs under it. Docker's is in spec/bundles, and test_seccomp_differ judges it.
# Views: own
. "${0%/*}/../lib/test.sh"

PROFILE=/usr/share/containers/seccomp.json
JUDGE=${TESTS_DIR%/*}/build/unit/test_seccomp_differ

# A jq filter that puts the profile into a config, for a container with CAPS (a list of jq).
_podman() {
	[ -e "$PROFILE" ] || skip "podman's profile is not installed"
	[ "$(uname -m)" = x86_64 ] || skip 'the filter below knows the names of x86_64 alone'
	jq -c --argjson caps "$1" '
		def meets($c): ((.arches // []) | . == [] or any(IN("amd64", "x86", "x32"))) and ((.caps // []) | . == [] or any(IN($c[])));
		{defaultAction, defaultErrnoRet, architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
		 syscalls: [.syscalls[] | select((.includes // {}) | meets($caps)) | select((.excludes.caps // []) | any(IN($caps[])) | not)
			| {names, action, args: (.args // [])} + (if .errnoRet then {errnoRet} else {} end)]}' "$PROFILE" >"$T/profile"
	filter=".linux.seccomp = $(<"$T/profile")"
}

_judged() {
	local filter
	_podman "$1"
	[ -x "$JUDGE" ] || skip 'the unit tests are not built'
	bundle "$filter"
	is "$(jq '.linux.seccomp.syscalls | length > 5' "$B/config.json")" true
	run "$JUDGE" config "$B/config.json"
	rc_is 0
	like "$out" '0 differences'
	like "$out" 'wrong for 0, refused 0, never returned from 0'
}

podman_s_profile_means_the_same_to_all_judges() {
	_judged '["CAP_CHOWN"]'
}

podman_s_profile_for_an_administrator_too() {
	_judged '["CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_AUDIT_WRITE", "CAP_SYS_MODULE", "CAP_SYS_TIME", "CAP_SYS_CHROOT"]'
}

a_program_runs_under_podman_s_profile() {
	local filter
	_podman '["CAP_CHOWN"]'
	run_in_box 'grep Seccomp: /proc/self/status; mkdir /made && echo made; unshare -m true 2>/dev/null || echo kept' writable "$filter"
	rc_is 0
	is "$out" $'Seccomp:\t2\nmade\nkept'
}

run_tests
