#!/bin/bash
# sbxrun do --explain: what a box would be held to, and that nothing runs.
# Views: all
# Views: own it_runs_nothing people_read_what_holds programs_read_it_as_one_object what_would_be_refused_is_said
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs "$B/rootfs" "$@"
}
_of() { jq -r "$1" <<<"$out"; }

it_runs_nothing() {
	mkdir shown
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" shown
	run _do --explain -v "$T/shown:/shown" -- sh -c 'echo ran; : >/shown/ran'
	rc_is 0
	is "$err" ''
	unlike "$out" $'(^|\n)ran'
	is "$(ls shown)" ''
	is "$(sbx list -q)" ''
}

people_read_what_holds() {
	run _do --explain --memory 128m --cpu-time 3 --file-size 1m -w /tmp -- sh -c 'exit 3'
	rc_is 0
	like "$out" 'program +"sh" "-c" "exit 3"'
	like "$out" 'directory +/tmp'
	like "$out" $'memory +128 MB +(cgroup: memory\\.|RLIMIT_DATA, for each process)'
	like "$out" 'pids +64 +(cgroup: pids.max|RLIMIT_NPROC)'
	like "$out" 'cpu_time_s +3.000 s +(cgroup|RLIMIT_CPU)'
	like "$out" 'file_size +1 MB +RLIMIT_FSIZE'
	like "$out" $'/workspace +rw [^\n]*nosuid nodev'
	like "$out" 'system calls +[0-9]+, '
	like "$out" 'policy code'
	like "$out" 'seccomp +code'
	unlike "$out" 'NOT HELD|as the config asks'
}

programs_read_it_as_one_object() {
	run _do --explain --json --memory 64m -- true
	rc_is 0
	is "$(jq -s length <<<"$out")" 1
	is "$(_of '.v, .policy, .box.limits.memory.value, (.box.limits.memory.heldBy != null), .box.network, .box.program[0], .rows.seccomp, .reaches.capabilities')" \
		$'1\ncode\n67108864\ntrue\nnone\ntrue\ncode\nnone'
	is "$(_of '.box.mounts | map(select(.destination == "/workspace")) | length')" 1
	is "$(_of '.asAsked // "none"')" none
}

# What it says of the kernel is what a box has.
its_limits_are_those_of_a_run() {
	local explained ran
	run _do --explain --json --memory 96m --pids-limit 20 --timeout 7 -- true
	explained=$(_of '.box.limits | [.memory.value, .pids.value, .timeout_s.value, .disk.value, .tmpfs.value, .output.value, .open_files.value] | map(tostring) | join(" ")')
	run _do --json --memory 96m --pids-limit 20 --timeout 7 -- true
	ran=$(_of '.limits | [.memory, .pids, .timeout_s, .disk, .tmpfs, .output, .open_files] | map(tostring) | join(" ")')
	is "$explained" "$ran"
}

without_cgroups_it_says_what_is_left() {
	bundle
	SBXRUN_ROOTFS_DIR=$T/library run sbx --cgroup-manager disabled "do" --rootfs "$B/rootfs" --explain --json -- true
	rc_is 0
	is "$(_of '.box.limits | .memory.heldBy, .pids.heldBy, .cpus.heldBy')" \
		$'RLIMIT_DATA, for each process\nRLIMIT_NPROC, for the ids of the box\naffinity, whole processors only'
	like "$(_of '.notGiven | join(" ")')" '--memory, .*no cgroups'
}

what_would_be_refused_is_said() {
	bundle
	echo '{"version": 1, "policies": {"bare": {"base": "code", "filesystems": {"deny": ["bind"]}}}}' >policy.json
	chmod 644 policy.json
	SBXRUN_ROOTFS_DIR=$T/library run sbx --policy ./policy.json "do" --rootfs "$B/rootfs" --explain -v "$T:/x" -- true
	rc_is 0
	like "$out" 'policy bare'
	like "$out" 'Refused: such a container is not made'
	like "$out" 'filesystems'
	run _do --explain --json --rootfs nosuch -- true
	rc_is 125
	is "$(_of .status)" sandbox_error
}

run_tests
