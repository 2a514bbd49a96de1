#!/bin/bash
# exec by command line: what each option does to the program, seen by the program.
# shellcheck disable=SC2016,SC2119
# Views: own the_pid_file_names_the_process a_failure_writes_no_pid_file a_pidfd_is_sent
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

a_program_runs_inside() {
	box '.hostname = "inside"' 'env("WHERE=box")'
	in_box "$ID" hostname
	rc_is 0
	is "$out" inside
	is "$err" ''
	in_box "$ID" /bin/sh -c 'echo $0 "$@" $WHERE' a 'b c' '' d
	is "$out" 'a b c  d box'
}

everything_after_the_id_is_the_programs() {
	box
	in_box "$ID" echo -t -u 5 --env x --help -- -d
	rc_is 0
	is "$out" '-t -u 5 --env x --help -- -d'
	in_box "$ID" -- echo -n x
	is "$out" x
	exec_refused 'no program|PROGRAM' "$ID"
}

the_environment_is_the_containers_and_what_is_added() {
	box '.process.env = ["PATH=/bin", "A=1", "B=2"]'
	SECRET=of-the-caller in_box -e A=3 --env C=4 --env=D= "$ID" env
	rc_is 0
	like "$out" $'(^|\n)A=3(\n|$)'
	unlike "$out" 'A=1'
	like "$out" 'B=2'
	like "$out" 'C=4'
	like "$out" $'(^|\n)D=(\n|$)'
	like "$out" $'(^|\n)HOME=/root(\n|$)'
	unlike "$out" 'SECRET|SBXT'
}

home_is_that_of_the_user_it_runs_as() {
	box
	in_box -u 1000 "$ID" env
	like "$out" $'(^|\n)HOME=/home/user(\n|$)'
	in_box -u 4242 "$ID" env
	like "$out" $'(^|\n)HOME=/(\n|$)'
}

the_working_directory_is_the_configs_or_the_one_asked_for() {
	box '.process.cwd = "/etc"'
	in_box "$ID" pwd
	is "$out" /etc
	in_box --cwd /var/tmp "$ID" pwd
	is "$out" /var/tmp
	exec_refused '/not/there.*(no such file|No such file)' --cwd /not/there "$ID" pwd
	exec_refused 'cwd.*absolute|absolute.*cwd' --cwd tmp "$ID" pwd
	exec_refused 'etc/passwd.*(not a directory|Not a directory)' --cwd /etc/passwd "$ID" pwd
}

a_working_directory_through_a_descriptor_is_refused() {
	local n
	box
	for n in 3 4 5 6 7 8 9 10 11 12; do
		run sbx exec --cwd "/proc/self/fd/$n" "$ID" pwd 7</
		rc_is 255
		is "$out" '' "$n"
		run sbx exec --cwd "/proc/self/fd/$n/../../tmp" "$ID" pwd 7</
		rc_is 255
		is "$out" '' "$n"
	done
	# The container's own link to it is followed by the same rule.
	ln -s /proc/self/fd/7 "$B/rootfs/way-out"
	run sbx exec --cwd /way-out "$ID" pwd 7</
	rc_is 255
	is "$out" ''
}

# One that the container may inherit is given to a program of any user, as with runc.
an_added_capability_is_ambient_where_it_is_inheritable() {
	box 'caps(["CAP_KILL"])' '.process.capabilities |= (.bounding += ["CAP_NET_RAW"] | .permitted += ["CAP_NET_RAW"] | .inheritable = ["CAP_NET_RAW"])'
	in_box --cap CAP_NET_RAW --cap CAP_CHOWN -u 1000 "$ID" grep Cap /proc/self/status
	rc_is 0
	is "$err" ''
	like "$out" $'CapAmb:\t0000000000002000'
	like "$out" $'CapEff:\t0000000000002000'
	in_box --cap CAP_CHOWN -u 1000 "$ID" grep CapAmb /proc/self/status
	like "$out" $'CapAmb:\t0000000000000000'
}

capabilities_are_added_and_no_more() {
	local before after
	box 'caps(["CAP_KILL"])'
	in_box "$ID" grep Cap /proc/self/status
	before=$out
	in_box --cap CAP_NET_RAW --cap CAP_CHOWN "$ID" grep Cap /proc/self/status
	rc_is 0
	after=$out
	like "$before" $'CapBnd:\t0000000000000020'
	like "$after" $'CapInh:\t0000000000000000'
	like "$after" $'CapPrm:\t0000000000002021'
	like "$after" $'CapEff:\t0000000000002021'
	like "$after" $'CapBnd:\t0000000000002021'
	like "$after" $'CapAmb:\t0000000000000000'
	in_box "$ID" grep Cap /proc/self/status
	is "$out" "$before" 'the next has what the config says again'
	exec_refused 'CAP_NOTHING' --cap CAP_NOTHING "$ID" true
	exec_refused 'cap' --cap '' "$ID" true
}

no_new_privs_is_set_on_demand() {
	box '.process.noNewPrivileges = false'
	in_box "$ID" grep NoNewPrivs /proc/self/status
	is "$out" $'NoNewPrivs:\t0'
	in_box --no-new-privs "$ID" grep NoNewPrivs /proc/self/status
	is "$out" $'NoNewPrivs:\t1'
}

the_pid_file_names_the_process() {
	local pid
	box
	mkdir dir
	cd dir
	sbx exec -d --pid-file pid "$ID" sleep 100
	pid=$(<pid)
	is "$(stat -c %s pid)" ${#pid} 'digits and nothing else'
	is "$(tr '\0' ' ' <"/proc/$pid/cmdline")" 'sleep 100 '
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$pid$"
	sbx exec -d --pid-file="$T/dir/pid" "$ID" sleep 100
	isnt "$(<pid)" "$pid" 'the old one is replaced'
	in_box --pid-file own "$ID" sh -c 'exit 3'
	rc_is 3
	[ -s own ] || fail 'none in the foreground'
}

a_failure_writes_no_pid_file() {
	box
	exec_refused 'not found' --pid-file pid "$ID" not-there
	[ ! -e pid ] || fail 'it was written'
	exec_refused 'pid-file' --pid-file /not/there/pid "$ID" sleep 100
	# The process whose pid could not be told is gone.
	wait_until 10 _has_processes 1
}

# Whether the container has so many processes.
_has_processes() {
	local n=0
	while read -r _; do
		n=$((n + 1))
	done <"$(cgroup_dir pids)/cgroup.procs"
	[ "$n" = "$1" ]
}

detached_it_returns_while_the_program_runs() {
	box writable
	in_box --detach "$ID" sh -c 'until [ -e /go ]; do sleep 0.05; done; echo >/mark; exit 9'
	rc_is 0
	_has_processes 1 && fail 'it is gone already'
	touch "$B/rootfs/go"
	wait_until 10 test -e "$B/rootfs/mark"
	wait_until 10 _has_processes 1
	exec_refused 'not found' -d "$ID" not-there
}

only_the_descriptors_that_were_asked_for_pass() {
	box
	echo three >three
	echo four >four
	run sbx exec "$ID" sh -c 'ls /proc/$$/fd; true' 3<three 4<four 9<four
	is "$out" $'0\n1\n2'
	run sbx exec --preserve-fds 2 "$ID" sh -c 'cat <&3; cat <&4; ls /proc/$$/fd; true' 3<three 4<four 5<four
	is "$out" $'three\nfour\n0\n1\n2\n3\n4'
	exec_refused 'preserve-fds' --preserve-fds 2 "$ID" true 3<three 4<&-
}

# Makes the cgroup "sub" in all of the container's.
_make_sub() {
	local dir
	for dir in /sys/fs/cgroup/"$P/$ID" /sys/fs/cgroup/*/"$P/$ID"; do
		[ ! -d "$dir" ] || mkdir -p "$dir/sub"
	done
	# A cpuset of v1 that is empty takes nobody.
	dir=$(cgroup_dir cpuset)
	if [ -f "$dir/cpuset.cpus" ] && [ -f "$dir/tasks" ]; then
		cat "$dir/cpuset.cpus" >"$dir/sub/cpuset.cpus"
		cat "$dir/cpuset.mems" >"$dir/sub/cpuset.mems"
	fi
}

a_cgroup_below_the_containers_is_entered() {
	local pid
	box
	_make_sub
	sbx exec -d --pid-file pid --cgroup sub "$ID" sleep 100
	pid=$(<pid)
	file_has "$(cgroup_dir pids)/sub/cgroup.procs" "^$pid$"
	is "$(grep -c "/$ID/sub\$" "/proc/$pid/cgroup")" "$(grep -c "/$ID\$" "/proc/$(pid_of "$ID")/cgroup")"
	sbx exec -d --pid-file pid --cgroup /sub "$ID" sleep 100
	file_has "$(cgroup_dir pids)/sub/cgroup.procs" "^$(<pid)$"
	exec_refused 'cgroup.*no such file' --cgroup not-there "$ID" true
	exec_refused 'cgroup.*\.\.' --cgroup .. "$ID" true
	exec_refused 'cgroup.*\.\.' --cgroup sub/../../.. "$ID" true
	exec_refused 'CONTROLLER:' --cgroup sub --cgroup sub "$ID" true
	sbx delete -f "$ID"
	nothing_is_left
}

# is_in PID CONTROLLER PATH: where the kernel says that the process is, below the container's own cgroup.
_is_in() {
	file_has "/proc/$1/cgroup" ":$2:/$P/$ID$3\$"
}

# Where each controller has a tree of its own.
_controllers_by_name() {
	sbx exec -d --pid-file pid --cgroup pids:sub "$ID" sleep 100
	_is_in "$(<pid)" pids /sub
	_is_in "$(<pid)" memory ''
	_is_in "$(<pid)" freezer ''
	sbx exec -d --pid-file pid --cgroup pids,freezer:/sub --cgroup memory:sub --cgroup cpu: "$ID" sleep 100
	_is_in "$(<pid)" pids /sub
	_is_in "$(<pid)" freezer /sub
	_is_in "$(<pid)" memory /sub
	_is_in "$(<pid)" cpu ''
	_is_in "$(<pid)" devices ''
	exec_refused 'no such file' --cgroup pids:not-there "$ID" true
	exec_refused 'no cgroup of controller "nonsense"' --cgroup pids,nonsense:sub "$ID" true
	exec_refused 'no cgroup of controller ""' --cgroup :sub "$ID" true
	exec_refused '\.\.' --cgroup pids:.. "$ID" true
	exec_refused '\.\.' --cgroup pids:sub --cgroup memory:sub/../.. "$ID" true
	exec_refused 'both "sub" and "other"' --cgroup pids:sub --cgroup pids:other "$ID" true
	exec_refused 'CONTROLLER:' --cgroup sub --cgroup pids:sub "$ID" true
}

a_cgroup_of_one_controller_is_entered_where_there_is_such_a_thing() {
	local controller
	box
	_make_sub
	if [ "$VIEW" = v2 ]; then
		exec_refused 'one tree.*use --cgroup PATH' --cgroup pids:sub "$ID" true
		in_box --cgroup sub "$ID" true
		rc_is 0
	else
		_controllers_by_name
	fi
	# Beside v1 the unified tree is meant by a controller that it has.
	if [ "$VIEW" = hybrid ] && read -r controller _ <"${CGROUP_MOUNTS[unified]}/cgroup.controllers"; then
		sbx exec -d --pid-file pid --cgroup "$controller:sub" "$ID" sleep 100
		_is_in "$(<pid)" '' /sub
		_is_in "$(<pid)" pids ''
	fi
	sbx delete -f "$ID"
	nothing_is_left
}

labels_are_refused_where_the_host_has_none() {
	box
	[ -e /sys/module/apparmor/parameters/enabled ] || exec_refused 'AppArmor' --apparmor some-profile "$ID" true
	[ -e /sys/fs/selinux/enforce ] || exec_refused 'SELinux' --process-label a:b:c:s0 "$ID" true
	in_box "$ID" true
	rc_is 0
}

a_pidfd_is_sent() {
	box
	needs python3
	"$PYTHON" "$TOOLS/pidfd.py" "$T/sock" >got &
	local listener=$!
	wait_until 20 test -S sock
	sbx exec -d --pidfd-socket "$T/sock" --pid-file pid "$ID" sleep 1
	wait "$listener"
	is "$(<got)" "1 pidfd $(<pid)"$'\nended'
	exec_refused 'pidfd-socket' --pidfd-socket "$T/nobody" "$ID" sleep 100
	wait_until 10 _has_processes 1
}

options_that_contradict_are_refused() {
	box
	echo '{}' >process
	exec_refused 'process' -p process "$ID" true
	exec_refused 'no-such-option' --no-such-option "$ID" true
	exec_refused 'console-socket' --console-socket "$T/sock" "$ID" true
	exec_refused 'preserve-fds' --preserve-fds x "$ID" true
}

options_that_a_document_overrides_are_refused() {
	box
	echo '{"args": ["true"], "cwd": "/"}' >process
	for option in '--user 7' '--cwd /tmp' '--env A=1' '--additional-gids 5'; do
		# shellcheck disable=SC2086
		run sbx exec --process process $option "$ID"
		rc_is 255
		like "$err" "--process and ${option%% *}"
	done
}

empty_options_are_none() {
	box
	run sbx exec --cwd '' --pid-file '' "$ID" true
	rc_is 0
}

run_tests
