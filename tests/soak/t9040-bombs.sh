#!/bin/bash
# Programs that take all they can get: processes, memory, files, output. The container's limits hold, `delete` ends it, and
# the time is bounded. SOAK_OUTPUT is the size of the output bomb (32M; the long form 1G).
TEST_LIMIT=${TEST_LIMIT:-600}
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/lib.sh"

_has_cgroups_full_of() {
	[ "$(cat "$(cgroup_dir pids)/pids.current")" -ge "$1" ]
}

a_fork_bomb_is_contained() {
	# Each one sleeps, so that it fills the limit and not the machine's time.
	bundle '.linux.resources.pids.limit = 64' 'sh("f() { sleep 1000 & f; }; while :; do (f) 2>/dev/null; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 60 _has_cgroups_full_of 60
	[ "$(cat "$(cgroup_dir pids)/pids.current")" -le 64 ] || fail 'above the limit'
	run timeout 60 "$SBXRUN" --root "$T/state" delete -f "$ID"
	rc_is 0
	nothing_is_left
}

a_fork_bomb_without_a_pid_namespace_is_contained() {
	bundle '.linux.resources.pids.limit = 64' 'without_ns("pid")' \
		'sh("f() { setsid sleep 1000 & f; }; while :; do (f) 2>/dev/null; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 60 _has_cgroups_full_of 60
	run timeout 60 "$SBXRUN" --root "$T/state" delete -f "$ID"
	rc_is 0
	nothing_is_left
}

a_memory_bomb_is_killed() {
	bundle '.linux.resources.memory = {limit: 33554432, swap: 33554432}' \
		'sh("x=0123456789abcdef; while :; do x=$x$x; done")'
	run timeout 100 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 137
	nothing_is_left
}

a_tmpfs_bomb_fills_its_own_mount() {
	run_in_box 'dd if=/dev/zero of=/fill/x bs=64k 2>/dev/null; echo "dd $?"; du -k /fill/x | cut -f 1' \
		'mount({destination: "/fill", type: "tmpfs", source: "tmpfs", options: ["size=1m"]})' writable
	rc_is 0
	is "$out" $'dd 1\n1024'
	nothing_is_left
}

an_inode_bomb_fills_its_own_mount() {
	run_in_box 'i=0; while true >/fill/$i; do i=$((i + 1)); done 2>/dev/null; echo "$i"' \
		'mount({destination: "/fill", type: "tmpfs", source: "tmpfs", options: ["nr_inodes=100"]})' writable
	rc_is 0
	like "$out" '^9[0-9]$'
	nothing_is_left
}

an_output_bomb_comes_through_whole() {
	local size got
	size=$(numfmt --from=iec "${SOAK_OUTPUT:-32M}")
	bundle "args([\"/bin/head\", \"-c\", \"$size\", \"/dev/zero\"])"
	got=$(sbx run -b "$B" "$ID" | wc -c)
	is "$got" "$size"
	figure "output bomb: $size bytes came through"
	nothing_is_left
}

an_output_bomb_whose_reader_is_gone_ends() {
	# Not as the first process of its pid namespace, which the kernel spares.
	bundle 'sh("yes; exit $?")'
	run bash -c "timeout 60 $SBXRUN --root $T/state run -b $B $ID | head -c 10 >/dev/null; exit \${PIPESTATUS[0]}"
	rc_is 141
	nothing_is_left
}

# The program has written what fits, and waits.
_is_full() {
	[[ $(<"/proc/$(pid_of "$ID")/stat") == *') S '* ]]
}

an_output_bomb_whose_reader_has_stopped_can_be_ended() {
	local reader
	mkfifo pipe
	# It has the pipe open, and reads nothing.
	bash -c 'exec sleep 1000 <pipe' &
	reader=$!
	bundle 'args(["/bin/yes"])'
	"$SBXRUN" --root "$T/state" run -b "$B" "$ID" >pipe &
	BG=$!
	wait_until 20 status_is "$ID" running
	wait_until 20 _is_full
	kill -STOP "$reader"
	sbx kill "$ID" KILL
	wait_for_background
	is "$rc" 137
	nothing_is_left
	kill -KILL "$reader"
}

run_tests
