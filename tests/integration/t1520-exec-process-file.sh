#!/bin/bash
# exec -p: the process as engines write it into a file.
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# _process CODE [FILTER…]: the file "process", which runs CODE.
_process() {
	local code=$1 all='.'
	shift
	while [ $# != 0 ]; do
		all+=" | $1"
		shift
	done
	jq -n --arg code "$code" "{cwd: \"/\", args: [\"/bin/sh\", \"-c\", \$code], env: [\"PATH=/bin\"], user: {uid: 0, gid: 0}} | $all" \
		>process
}

all_that_the_file_says_is_so() {
	box '.process.env = ["PATH=/bin", "OF=config"]' '.process.cwd = "/etc"'
	_process 'echo $0; pwd; env | sort; id -u; id -g; id -G; umask; ulimit -n; cat /proc/self/oom_score_adj;
		grep -E "NoNewPrivs|CapBnd" /proc/self/status' \
		'.cwd = "/var"' '.env += ["OF=file"]' '.user = {uid: 7, gid: 8, additionalGids: [9], umask: 15}' \
		'.rlimits = [{type: "RLIMIT_NOFILE", soft: 99, hard: 100}]' '.oomScoreAdj = 500' '.noNewPrivileges = true' \
		'.capabilities = {bounding: ["CAP_CHOWN"], permitted: ["CAP_CHOWN"], effective: ["CAP_CHOWN"]}'
	in_box --process process "$ID"
	rc_is 0
	is "$out" $'/bin/sh\n/var\nHOME=/\nOF=file\nPATH=/bin\nPWD=/var\nSHLVL=1\n7\n8\n8 9\n0017\n99\n500\nCapBnd:\t0000000000000001\nNoNewPrivs:\t1'
}

what_it_leaves_out_is_the_containers() {
	box 'caps(["CAP_KILL"])' '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 77, hard: 78}]'
	_process 'ulimit -n; grep -E "Cap(Eff|Bnd)" /proc/self/status'
	in_box -p process "$ID"
	rc_is 0
	is "$out" $'77\nCapEff:\t0000000000000020\nCapBnd:\t0000000000000020'
}

what_an_engine_calls_works() {
	box
	_process 'echo >/dev/null; exec sleep 100' '.terminal = false'
	sbx --log "$T/log" --log-format json exec --process process --detach --pid-file pid "$ID"
	wait_until 10 grep -qz '^sleep$' "/proc/$(<pid)/cmdline"
	[ ! -s log ] || fail "the log is not empty: $(cat log)"
}

a_bad_file_is_refused_and_nothing_runs() {
	local bad
	box
	exec_refused '/not/there' -p /not/there "$ID"
	echo '{' >process
	exec_refused 'process' -p process "$ID"
	for bad in '.cwd = "relative"' 'del(.cwd)' '.args = []' 'del(.args)' '.args = "text"' '.user.uid = -1' '.user.uid = "root"' \
		'.user.uid = 4294967296' '.rlimits = [{type: "RLIMIT_NONE", soft: 1, hard: 1}]' '.env = ["no equals\u0000sign"]' \
		'.rlimits = [{type: "RLIMIT_NOFILE", soft: 9, hard: 1}]' '.scheduler = {policy: "SCHED_NONE"}' \
		'.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 9}' '.execCPUAffinity = {initial: "x"}'; do
		_process 'echo ran' "$bad"
		exec_refused 'process' -p process "$ID"
	done
}

a_working_directory_that_leads_out_is_refused() {
	box
	ln -s /proc/self/fd/7 "$B/rootfs/way-out"
	for cwd in /proc/self/fd/7 /proc/1/root/../.. /way-out; do
		_process 'pwd; ls' ".cwd = \"$cwd\""
		run sbx exec -p process "$ID" 7</
		# A way that stays inside is no harm.
		[ "$rc" = 255 ] || is "$out" "$(sbx exec "$ID" sh -c 'cd /; pwd; ls')" "$cwd"
	done
}

# Prints the last of the processors that we may use.
_last_cpu() {
	local list
	list=$(status_field self Cpus_allowed_list)
	echo "${list##*[,-]}"
}

the_affinity_is_the_one_asked_for() {
	local last all
	last=$(_last_cpu)
	box
	_process 'grep Cpus_allowed_list /proc/self/status'
	in_box -p process "$ID"
	all=$out
	_process 'grep Cpus_allowed_list /proc/self/status' ".execCPUAffinity = {final: \"$last\"}"
	in_box -p process "$ID"
	is "$out" $'Cpus_allowed_list:\t'"$last"
	# Of the caller it inherits none.
	run taskset -c "$last" "$SBXRUN" --root "$T/state" exec "$ID" grep Cpus_allowed_list /proc/self/status
	is "$out" "$all"
	_process 'grep Cpus_allowed_list /proc/self/status' ".execCPUAffinity = {initial: \"$last\"}"
	in_box -p process "$ID"
	rc_is 0
}

the_affinity_of_the_config_is_for_exec_only() {
	local last
	last=$(_last_cpu)
	box ".process.execCPUAffinity = {final: \"$last\"}"
	is "$(status_field "$(pid_of "$ID")" Cpus_allowed_list)" "$(status_field self Cpus_allowed_list)"
	in_box "$ID" grep Cpus_allowed_list /proc/self/status
	is "$out" $'Cpus_allowed_list:\t'"$last"
}

the_scheduler_is_the_one_asked_for() {
	needs python3
	box
	_process 'exec sleep 100' '.scheduler = {policy: "SCHED_BATCH", nice: 5}'
	sbx exec -d --pid-file pid -p process "$ID"
	is "$("$PYTHON" -c 'import os, sys; p = int(sys.argv[1]); print(os.sched_getscheduler(p), os.getpriority(0, p))' "$(<pid)")" '3 5'
	_process 'exec sleep 100'
	sbx exec -d --pid-file pid -p process "$ID"
	is "$("$PYTHON" -c 'import os, sys; p = int(sys.argv[1]); print(os.sched_getscheduler(p), os.getpriority(0, p))' "$(<pid)")" '0 0'
}

# Which a fork would forbid or take away: the process gets them when it is there. Of the flags chrt shows the one of forks.
a_scheduler_that_does_not_survive_a_fork_is_had_all_the_same() {
	needs chrt
	bundle 'sh("sleep 100")' '.process.scheduler = {policy: "SCHED_DEADLINE", runtime: 1000000, deadline: 10000000, period: 20000000, flags: ["SCHED_FLAG_RECLAIM"]}'
	run sbx run -d -b "$B" "$ID"
	[ "$rc" = 0 ] || skip "no deadlines here: $err"
	sbx exec -d --pid-file pid "$ID" sleep 100
	run chrt -p "$(<pid)"
	like "$out" SCHED_DEADLINE
	like "$out" '1000000/10000000/20000000'
	sbx delete -f "$ID"
	box
	_process 'exec sleep 100' '.scheduler = {policy: "SCHED_BATCH", flags: ["SCHED_FLAG_RESET_ON_FORK"]}'
	sbx exec -d --pid-file pid -p process "$ID"
	run chrt -p "$(<pid)"
	like "$out" 'SCHED_BATCH\|SCHED_RESET_ON_FORK'
}

# The same of a container that joins the pid namespace of another.
a_scheduler_of_a_container_in_another_ones_pid_namespace() {
	local host
	needs chrt
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	host=$(pid_of "$ID")
	bundle "ns(\"pid\"; \"/proc/$host/ns/pid\")" 'sh("sleep 100")' '.process.scheduler = {policy: "SCHED_BATCH", flags: ["SCHED_FLAG_RESET_ON_FORK"]}'
	sbx create -b "$B" "$ID"
	run chrt -p "$(pid_of "$ID")"
	like "$out" 'SCHED_BATCH\|SCHED_RESET_ON_FORK'
	sbx start "$ID"
	is "$(status_of "$ID")" running
}

the_io_priority_is_the_one_asked_for() {
	box
	_process 'exec sleep 100' '.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 6}'
	sbx exec -d --pid-file pid -p process "$ID"
	is "$(ionice -p "$(<pid)")" 'best-effort: prio 6'
	_process 'exec sleep 100' '.ioPriority = {class: "IOPRIO_CLASS_IDLE", priority: 0}'
	sbx exec -d --pid-file pid -p process "$ID"
	is "$(ionice -p "$(<pid)")" idle
}

the_files_name_may_be_relative_and_a_pipe() {
	box
	_process 'echo from-a-file'
	mkdir dir
	cd dir
	in_box -p ../process "$ID"
	is "$out" from-a-file
	run sbx exec -p /dev/stdin "$ID" < <(cat ../process)
	is "$out" from-a-file
	run sbx exec -p <(cat ../process) "$ID"
	is "$out" from-a-file
	_process 'ls /proc/self/fd'
	exec 3<process
	run sbx exec -p /proc/self/fd/3 "$ID"
	exec 3<&-
	is "$out" $'0\n1\n2\n3' 'the program has none of it; ls has the directory'
}

a_document_without_a_user_has_the_containers() {
	box '.process.user = {uid: 1000, gid: 1001, umask: 63, additionalGids: [7]}' '.process.oomScoreAdj = 500'
	_process 'id -u; id -g; id -G; umask; cat /proc/self/oom_score_adj' 'del(.user)'
	in_box -p process "$ID"
	rc_is 0
	is "$out" $'1000\n1001\n1001 7\n0077\n500'
}

run_tests
