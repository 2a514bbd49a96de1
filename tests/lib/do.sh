# shellcheck shell=bash disable=SC2154
# For tests of `sbxrun do`. Needs lib/test.sh. Results are JSON, kept like `run`.
#
#	do_shell OPTION… CODE	a shell of busybox runs CODE, with the rootfs of the bundle $B, which is made where there is none
#	do_python OPTION… CODE	python does, with the host's /usr
#	do_of PATH		what the result has at a jq path
#	do_denials		what was refused, one a line: kind, name, target, errno, count
#	do_has_limits		skips where there are no cgroups for the caller, and so nobody who could hold his boxes to limits
#	do_bundle		makes $B unless it is there

do_bundle() { [ -n "${B:-}" ] || bundle; }

do_shell() {
	do_bundle
	run sbx "do" --rootfs "$B/rootfs" --json "${@:1:$#-1}" -- sh -c "${!#}"
}

do_python() {
	needs python3
	SBXRUN_ROOTFS_DIR=$T/library run sbx "do" --rootfs host --json "${@:1:$#-1}" python "${!#}"
}

do_of() { jq -r "$1" <<<"$out"; }

do_denials() { do_of '.denials[] | [.kind, .name, .target, .errno, .count] | map(tostring) | join(" ")'; }

do_has_limits() {
	do_shell true
	[[ $(do_of '.notes | join(" ")') != *cgroup* ]] || skip 'no limits for this caller here'
}
