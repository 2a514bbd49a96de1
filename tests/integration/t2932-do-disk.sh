#!/bin/bash
# sbxrun do --disk: a workspace that is larger than half of the memory lies on disk, its limits hold, and nothing is left of it.
# Views: all
# Views: own inodes_hold what_it_wrote_is_listed_and_taken_out explain_says_who_holds_it a_place_of_somebody_elses_is_not_used
# Views: own a_run_that_is_killed_while_its_program_writes_leaves_nothing a_directory_of_a_killed_run_is_swept
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/do-image.sh"

# A directory of its own for each test.
_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_DISK_DIR=$T/disks SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs "$B/rootfs" "$@"
}
_sh() { _do "${@:1:$#-1}" -- sh -c "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }
_needs_disk() {
	[ -z "${SBX_UID:-}" ] || skip 'only root has disks'
	[ -e /dev/loop-control ] || skip 'no loop devices here'
	needs mke2fs
}
# The kernel lets go of a mount a moment after its last process.
_nothing_is_left() { wait_until 10 eval '[ -z "$(left_of_do)" ]'; }

bytes_hold_beyond_the_memory() {
	_needs_disk
	run _sh --json --memory 32m --disk 100m 'dd if=/dev/zero of=big bs=1M count=200 2>&1; stat -c %s big; cat big | wc -c; rm big; dd if=/dev/zero of=big bs=1M count=80 2>&1 | tail -n 1'
	is "$(_of .status)" ok
	is "$(_of .disk_backing)" disk
	like "$(_of .stdout)" 'No space left on device'
	[ "$(_of .stdout | sed -n 4p)" -gt $((90 << 20)) ]
	[ "$(_of .stdout | sed -n 4p)" -le $((100 << 20)) ]
	is "$(_of .stdout | sed -n 4p)" "$(_of .stdout | sed -n 5p)"
	[ "$(_of .usage.disk_used)" -ge $((80 << 20)) ]
	is "$(_of .limits.disk)" $((100 << 20))
	is "$(_of '.notes | length')" 0
	_nothing_is_left
}

inodes_hold() {
	_needs_disk
	run _sh --json --memory 16m --disk 32m 'i=0; while touch f$i; do i=$((i + 1)); done; ls | wc -l'
	like "$(_of .stderr)" 'No space left on device'
	[ "$(_of .stdout)" -gt 1000 ]
	[ "$(_of .stdout)" -lt 4096 ]
}

it_is_the_programs_and_gives_no_rights() {
	local pid
	_needs_disk
	mkdir -m 777 volume
	_sh --json --memory 16m --disk 32m -v "$T/volume:/workspace/v" 'ls -A; stat -c "%u %a" .; echo "echo runs" >x; chmod 755 x; sh ./x; ./x; : >v/here; until [ -e v/go ]; do sleep 0.01; done' >json &
	wait_until 10 test -e volume/here
	pid=$(pid_of "$(sbx list -q)")
	grep ' /workspace ' "/proc/$pid/mountinfo" >mounted
	: >volume/go
	wait $!
	like "$(cat mounted)" ' rw,nosuid,nodev.* ext4 '
	is "$(jq -r .stdout json)" $'v\n65534 755\nruns\nruns'
	run _sh --user 1000:1001 --memory 16m --disk 32m 'stat -c "%u %g" .; : >x && stat -c "%u %g" x'
	is "$out" $'1000 1001\n1000 1001'
	_nothing_is_left
}

what_it_wrote_is_listed_and_taken_out() {
	run _sh --json --memory 16m --disk 32m --copy-out results 'mkdir d; echo one >a; echo two >d/b; ln -s /etc/passwd l'
	is "$(_of '.files.added | join(" ")')" 'a d/b l'
	is "$(cat results/a results/d/b)" $'one\ntwo'
	[ ! -e results/l ]
	_nothing_is_left
}

what_fits_into_memory_stays_there() {
	mkdir -m 777 volume
	run _sh --json --memory 64m --disk 32m true
	is "$(_of .disk_backing)" memory
	run _sh --json --disk 1g -v "$T/volume:/workspace" true
	is "$(_of .disk_backing)" volume
	[ ! -e disks ]
	run _sh --disk 2t true
	rc_is 125
	like "$err" 'more than 1t'
}

# An ordinary user has none; root has none where the kernel lacks something.
a_directory_stands_in_and_that_is_said() {
	local cmd=(strace -qq -o /dev/null -e trace=fsopen -e inject=fsopen:error=ENODEV:when=1 "$SBXRUN" --root "$T/state")
	needs strace
	bundle
	[ -z "${SBX_UID:-}" ] || cmd=(sbx)
	export SBXRUN_DISK_DIR=$T/disks
	run "${cmd[@]}" "do" --json --rootfs "$B/rootfs" --memory 16m --disk 32m --copy-out results -- sh -c 'ls -A; echo x >y; mkdir -p closed/d; : >closed/f; chmod 0 closed; pwd'
	is "$(_of .stdout)" /workspace
	is "$(_of .disk_backing)" disk
	is "$(_of .usage.disk_used)" null
	like "$(_of '.notes[]')" '^--disk: without effect, the workspace is a directory on disk: '
	is "$(cat results/y)" x
	run "${cmd[@]}" "do" --strict-limits --rootfs "$B/rootfs" --memory 16m --disk 32m -- true
	rc_is 125
	like "$err" 'strict'
	_nothing_is_left
}

explain_says_who_holds_it() {
	run _sh --explain --memory 64m --disk 32m true
	like "$out" 'disk +32 MB +the size of /workspace, in memory'
	run _sh --explain --memory 16m --disk 32m true
	if [ -n "${SBX_UID:-}" ] || [ ! -e /dev/loop-control ]; then
		like "$out" 'disk +32 MB +NOT HELD'
	else
		like "$out" 'disk +32 MB +the size of /workspace, a filesystem on disk'
	fi
	[ ! -e disks ]
}

a_place_of_somebody_elses_is_not_used() {
	mkdir disks
	chmod 777 disks
	run _sh --memory 16m --disk 32m true
	rc_is 125
	like "$err" 'somebody else.s, or others can write to it: SBXRUN_DISK_DIR'
}

a_run_that_is_killed_leaves_nothing() {
	local call n killed
	_needs_disk
	needs strace
	bundle
	export SBXRUN_DISK_DIR=$T/disks
	for call in ftruncate clone3 ioctl fsconfig fsmount unlinkat fchownat move_mount; do
		killed=0
		for n in 1 2 3 4; do
			run strace -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" --memory 16m --disk 32m -- sh -c 'echo x >y'
			[ "$rc" != 0 ] || break
			killed=$n
		done
		[ "$killed" != 0 ] || [ "$call" = move_mount ]
		_nothing_is_left
	done
	for n in 1 2 3 4 5 6 7 8; do
		run _sh true
	done
	is "$(sbx list -q)" ''
}

a_run_that_is_killed_while_its_program_writes_leaves_nothing() {
	local pid
	_needs_disk
	bundle
	mkdir -m 777 volume
	SBXRUN_DISK_DIR=$T/disks "$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" --memory 16m --disk 64m -v "$T/volume:/v" -- sh -c ': >/v/here; while :; do dd if=/dev/zero of=big bs=1M count=40 2>/dev/null; done' &
	pid=$!
	wait_until 10 test -e volume/here
	losetup -l -n -O BACK-FILE >backed
	kill -KILL "$pid"
	wait "$pid" || :
	like "$(cat backed)" "$T/disks/.*deleted"
	_nothing_is_left
}

# Of a directory the next run takes away what is left.
a_directory_of_a_killed_run_is_swept() {
	local pid
	needs strace
	bundle
	mkdir -m 777 volume
	export SBXRUN_DISK_DIR=$T/disks
	if [ -n "${SBX_UID:-}" ]; then
		sbx "do" --rootfs "$B/rootfs" --memory 16m --disk 32m -v "$T/volume:/v" -- sh -c 'echo x >y; : >/v/here; sleep 1000' &
	else
		strace -qq -o /dev/null -e trace=fsopen -e inject=fsopen:error=ENODEV:when=1 "$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" --memory 16m --disk 32m -v "$T/volume:/v" -- sh -c 'echo x >y; : >/v/here; sleep 1000' &
	fi
	wait_until 10 test -e volume/here
	# A run beside it leaves it alone.
	run _sh true
	is "$(ls disks | wc -l)" 1
	pid=$(ls disks)
	pid=${pid#do-}
	kill -KILL "${pid%%-*}"
	wait $! || :
	wait_until 10 eval '_sh true; [ -z "$(ls disks)" ]'
}

run_tests
