#!/bin/bash
# exec: a further program, in the container and as confined as its first one.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# A running container to execute in.
_box() {
	bundle 'sh("sleep 300")' "$@"
	sbx run -d -b "$B" "$ID"
	PID=$(pid_of "$ID")
}

it_runs_in_the_containers_namespaces() {
	local name
	_box 'ns("user")' '.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
	run sbx exec "$ID" sh -c 'for n in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$n; done; hostname'
	rc_is 0
	for name in cgroup ipc mnt net pid user uts; do
		readlink "/proc/$PID/ns/$name"
	done >inside
	echo sbxrun >>inside
	is "$out" "$(<inside)"
}

it_is_in_the_containers_cgroup() {
	_box
	sbx exec -d --pid-file "$T/pid" "$ID" sleep 300
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$(<pid)$"
	is "$(<"/proc/$(<pid)/cgroup")" "$(<"/proc/$PID/cgroup")"
}

its_root_is_the_containers() {
	_box
	echo mark >"$B/rootfs/mark"
	run sbx exec "$ID" sh -c 'cat /mark; readlink /proc/self/root; pwd; ls /proc/$$/fd; true'
	rc_is 0
	is "$out" $'mark\n/\n/\n0\n1\n2'
}

it_returns_the_programs_status() {
	_box
	run sbx exec "$ID" sh -c 'exit 7'
	rc_is 7
	run sbx exec "$ID" sh -c 'kill -TERM $$'
	rc_is 143
	is "$(status_of "$ID")" running
}

its_own_failure_is_255() {
	_box
	run sbx exec "$ID" not-there
	rc_is 255
	like "$err" 'executable file not found'
	run sbx exec "$ID"
	rc_is 255
	run sbx exec nobody true
	rc_is 255
	like "$err" 'does not exist'
}

a_container_that_does_not_run_is_refused() {
	bundle
	sbx run --keep -b "$B" "$ID"
	run sbx exec "$ID" true
	rc_is 255
	like "$err" 'not running|stopped'
}

it_is_as_confined_as_the_first_program() {
	local name
	_box 'caps(["CAP_KILL", "CAP_CHOWN"])' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]}' \
		'.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}]' writable
	sbx exec "$ID" cat /proc/self/status >status
	for name in CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Uid Gid; do
		is "$(grep "^$name:" status)" "$(grep "^$name:" "/proc/$PID/status")"
	done
	run sbx exec "$ID" mkdir /made
	isnt "$rc" 0
	[ ! -e "$B/rootfs/made" ] || fail 'the filter does not hold'
	run sbx exec "$ID" sh -c 'ulimit -n'
	is "$out" 100
}

options_change_the_process() {
	_box writable 'env("FROM_CONFIG=1")'
	run sbx exec -u 1000:2000 -g 5 -g 6 --cwd /tmp -e A=b -e C=d "$ID" sh -c 'id -u; id -g; grep Groups /proc/self/status; pwd; echo $A $C $FROM_CONFIG; echo $HOME'
	rc_is 0
	is "$out" $'1000\n2000\nGroups:\t5 6 \n/tmp\nb d 1\n/home/user'
}

a_user_is_a_number() {
	local user
	_box
	for user in user root 1000x :0 0: -1 4294967295 ''; do
		run sbx exec -u "$user" "$ID" id -u
		[ "$user" = '' ] || rc_is 255
		is "$(head -c 1 <<<"$out" | tr -d '0')" ''
	done
}

a_process_document_is_taken() {
	_box
	echo '{"args":["sh","-c","id -u; pwd; echo $A; ulimit -n"],"cwd":"/tmp","env":["A=b","PATH=/bin"],"user":{"uid":1000,"gid":1000},"rlimits":[{"type":"RLIMIT_NOFILE","soft":50,"hard":60}]}' \
		>process.json
	run sbx exec --process process.json "$ID"
	rc_is 0
	is "$out" $'1000\n/tmp\nb\n50'
	# As containerd's shim calls it.
	sbx exec --process process.json --detach --pid-file "$T/pid" "$ID" >/dev/null
	like "$(<pid)" '^[0-9]+$'
}

it_gives_no_more_than_the_caller_asked_for() {
	_box 'caps(["CAP_KILL"])'
	run sbx exec -c CAP_CHOWN "$ID" sh -c 'grep CapBnd /proc/self/status'
	rc_is 0
	is "$out" $'CapBnd:\t0000000000000021'
	run sbx exec "$ID" sh -c 'grep CapBnd /proc/self/status'
	is "$out" $'CapBnd:\t0000000000000020'
}

descriptors_and_signals_do_not_pass() {
	_box
	run env --block-signal=TERM --ignore-signal=HUP,CHLD "$SBXRUN" --root "$T/state" exec "$ID" \
		grep -E '^Sig(Blk|Ign):' /proc/self/status
	rc_is 0
	is "$out" $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
	run sbx exec "$ID" sh -c 'ls /proc/$$/fd; true' 5</dev/zero 17</
	is "$out" $'0\n1\n2'
	run sbx exec --preserve-fds 1 "$ID" sh -c 'ls /proc/$$/fd; true' 3</dev/zero 4</dev/zero
	is "$out" $'0\n1\n2\n3'
}

streams_pass_through() {
	_box
	head -c 1000000 /dev/urandom >data
	sbx exec "$ID" cat <data | cmp - data
}

a_foreground_exec_forwards_signals() {
	_box writable
	background exec "$ID" sh -c 'trap "exit 9" USR1; echo >/ready; while :; do sleep 0.05; done'
	wait_until 10 test -e "$B/rootfs/ready"
	kill -USR1 "$BG"
	wait_for_background
	rc_is 9
}

a_working_directory_is_no_way_out() {
	local n
	_box
	for n in 3 4 5 6 7 8 9; do
		run sbx exec --cwd "/proc/self/fd/$n" "$ID" ls -a .. 3</ 4</ 5</ 6</ 7</ 8</ 9</
		isnt "$rc" 0
		is "$out" ''
	done
}

it_ends_with_the_container() {
	_box
	sbx exec -d --pid-file "$T/pid" "$ID" sleep 300
	sbx delete -f "$ID"
	wait_until 10 dead "$(<pid)"
	nothing_is_left
}

options_after_the_id_are_the_programs() {
	_box
	run sbx exec "$ID" echo -e --env -d
	rc_is 0
	is "$out" '--env -d'
	run sbx exec "$ID" -- echo x
	is "$out" x
}

run_tests
