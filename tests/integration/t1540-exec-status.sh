#!/bin/bash
# exec: statuses, signals and streams in the foreground; what is refused, and in which words.
# shellcheck disable=SC2016,SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

it_returns_the_programs_status() {
	local code
	box
	for code in 0 1 7 126 127 255; do
		in_box "$ID" sh -c "exit $code"
		rc_is "$code"
		is "$out$err" ''
	done
}

a_death_by_signal_is_128_and_its_number() {
	local name
	box
	for name in TERM:143 KILL:137 SEGV:139 HUP:129; do
		in_box "$ID" sh -c "kill -${name%:*} \$\$"
		rc_is "${name#*:}"
	done
}

a_program_that_is_not_there_is_said_so() {
	box
	mkdir "$B/rootfs/dir"
	echo text >"$B/rootfs/text"
	printf '#!/not/there\n' >"$B/rootfs/script"
	chmod 755 "$B/rootfs/script"
	exec_refused 'executable file not found in \$PATH' "$ID" not-there
	exec_refused 'no such file or directory' "$ID" /not/there
	exec_refused 'permission denied' "$ID" /text
	exec_refused 'is a directory: permission denied' "$ID" /dir
	exec_refused 'not a directory' "$ID" /text/x
	exec_refused 'no such file or directory' "$ID" /script
	exec_refused '.' "$ID" ''
	chmod 755 "$B/rootfs/text"
	exec_refused 'exec format error' "$ID" /text
	exec_refused 'permission denied' -u 1000 "$ID" /root/../etc/passwd
	# The same words are in the log, as one object.
	run sbx --log "$T/log" --log-format json exec "$ID" not-there
	rc_is 255
	is "$(jq -rs 'length, .[0].level' log)" $'1\nerror'
	file_has log 'executable file not found'
}

an_unknown_container_is_said_so() {
	exec_refused 'does not exist' "$P-none" true
	exec_refused '.' '../etc' true
	run sbx exec
	isnt "$rc" 0
}

a_stopped_container_is_refused() {
	local pid
	box
	pid=$(pid_of "$ID")
	sbx kill "$ID" KILL
	wait_until 10 dead "$pid"
	exec_refused 'container not running' "$ID" true
	exec_refused 'container not running' -d "$ID" true
}

# Stops or wakes the container's processes.
_freeze() {
	local dir
	dir=$(cgroup_dir freezer)
	if [ -f "$dir/freezer.state" ]; then
		echo FROZEN >"$dir/freezer.state"
	else
		echo 1 >"$dir/cgroup.freeze"
	fi
}

_thaw() {
	local dir
	dir=$(cgroup_dir freezer)
	if [ -f "$dir/freezer.state" ]; then
		echo THAWED >"$dir/freezer.state"
	else
		echo 0 >"$dir/cgroup.freeze"
	fi
}

a_paused_container_is_refused_before_anything_hangs() {
	box
	_freeze
	exec_refused 'paused' "$ID" true
	exec_refused 'paused' -d --pid-file pid "$ID" true
	[ ! -e pid ] || fail 'there is a pid file'
	_thaw
	in_box "$ID" true
	rc_is 0
}

with_ignore_paused_it_waits_for_the_thaw() {
	box writable
	_freeze
	background exec --ignore-paused "$ID" sh -c 'echo >/mark; exit 7'
	wait_until 20 _has_processes 2
	[ ! -e "$B/rootfs/mark" ] || fail 'it ran'
	_thaw
	wait_for_background
	rc_is 7
	[ -e "$B/rootfs/mark" ] || fail 'it did not run'
}

_has_processes() {
	local n=0
	while read -r _; do
		n=$((n + 1))
	done <"$(cgroup_dir freezer)/cgroup.procs"
	[ "$n" -ge "$1" ]
}

signals_are_forwarded() {
	local name n=1
	box writable
	background exec "$ID" sh -c 'for s in HUP INT QUIT USR1 USR2 ALRM; do trap "echo $s >>/seen" $s; done; trap "exit 7" TERM
		echo ready >/seen; while :; do sleep 100 & wait; done'
	wait_until 10 test -s "$B/rootfs/seen"
	for name in HUP INT QUIT USR1 USR2 ALRM; do
		kill "-$name" "$BG"
		wait_until 10 grep -qx "$name" "$B/rootfs/seen"
		n=$((n + 1))
	done
	is "$(wc -l <"$B/rootfs/seen")" "$n" 'each came once'
	kill -TERM "$BG"
	wait_for_background
	rc_is 7
}

a_forwarded_signal_may_end_the_program() {
	box writable
	background exec "$ID" sh -c 'echo >/mark; exec sleep 100'
	wait_until 10 test -e "$B/rootfs/mark"
	kill -HUP "$BG"
	wait_for_background
	rc_is 129
}

streams_carry_all_bytes() {
	box
	dd if=/dev/urandom of=data bs=64k count=64 status=none
	sbx exec "$ID" cat <data >copy
	cmp data copy
	sbx exec "$ID" sh -c 'cat >&2' <data 2>copy >/dev/null
	cmp data copy
	: | sbx exec "$ID" cat /proc/self/status - >/dev/null
	tail -c +1 data | sbx exec "$ID" cat | tail -c +1 >copy
	cmp data copy
}

closed_streams_are_no_ways_in() {
	box
	sbx exec "$ID" sh -c 'ls -l /proc/$$/fd >&2' 2>list <&- >&-
	unlike "$(<list)" 'sbxrun|state|socket|cgroup|memfd'
	sbx exec "$ID" sh -c 'echo >&2 hidden; exit 4' 2>&- || rc=$?
	rc_is 4
}

a_pipe_whose_reader_is_gone_ends_the_program_not_us() {
	box
	set +o pipefail
	sbx exec "$ID" yes | head -n 1 >first
	rc=${PIPESTATUS[0]}
	rc_is 141
	is "$(<first)" y
}

run_tests
