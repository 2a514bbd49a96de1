#!/bin/bash
# ps: the processes of a container by the host's numbers, as JSON or as the host's ps prints them.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# A container of three processes, all of them there.
_box_of_three() {
	bundle writable 'sh("sleep 100 & sleep 101 & echo >/ready; wait")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/ready"
	wait_until 10 _has 3
}

_has() {
	[ "$(wc -l <"$(cgroup_procs)")" = "$1" ]
}

# ps ARG…, if this machine's ps can do it at all (in User-mode Linux it does not find the boot time); otherwise that is the error.
_ps() {
	needs ps
	if ! ps "${@:-"-ef"}" >/dev/null 2>&1; then
		refused "the host's ps failed" sbx ps "$ID" "$@"
		return 1
	fi
	run sbx ps "$ID" "$@"
	rc_is 0
	is "$err" ''
}

json_is_an_array_of_pids() {
	_box_of_three
	run sbx ps --format json "$ID"
	rc_is 0
	is "$err" ''
	is "$(jq -r '.[]' "$T/out" | sort -n)" "$(sort -n "$(cgroup_procs)")"
	is "$(jq --argjson pid "$(pid_of "$ID")" 'index($pid) != null' "$T/out")" true
	run sbx ps -f json "$ID"
	rc_is 0
	is "$(jq length "$T/out")" 3
	run sbx ps --format=json "$ID"
	is "$(jq length "$T/out")" 3
}

the_table_has_the_title_of_ps_and_a_line_each() {
	local lines line
	_box_of_three
	_ps || return 0
	mapfile -t lines <<<"$out"
	like "${lines[0]}" '^UID +PID +PPID'
	is "${#lines[@]}" 4
	like "$out" "root +$(pid_of "$ID") .*sh -c"
	for line in "${lines[@]:1}"; do
		like "$line" 'sleep'
	done
	run sbx ps --format table "$ID"
	rc_is 0
	mapfile -t lines <<<"$out"
	is "${#lines[@]}" 4
}

arguments_go_to_the_host_s_ps() {
	local lines
	needs ps
	_box_of_three
	run sbx ps "$ID" -e -o pid,args
	rc_is 0
	mapfile -t lines <<<"$out"
	like "${lines[0]}" '^ *PID COMMAND$'
	is "${#lines[@]}" 4
	run sbx ps "$ID" -e -x
	rc_is 0
	like "$out" 'PID'
	_ps aux || return 0
	like "$out" '^USER +PID'
	# Some callers pass an empty one for none.
	run sbx ps "$ID" ''
	rc_is 0
	like "$out" '^UID +PID'
}

without_a_pid_column_it_is_an_error() {
	needs ps
	_box_of_three
	refused 'PID' sbx ps "$ID" -e -o args
	is "$out" ''
	refused 'ps failed' sbx ps "$ID" --no-such-option
	is "$out" ''
}

without_ps_the_error_says_so() {
	_box_of_three
	mkdir empty
	PATH=$T/empty refused 'no program ps' sbx ps "$ID"
	PATH=$T/empty run sbx ps -f json "$ID"
	rc_is 0
}

# A false ps shows what it was given.
ps_gets_no_descriptor_and_no_input_of_ours() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	mkdir bin
	printf '%s\n' '#!/bin/bash' 'echo PID' 'ls /proc/$$/fd >"$T/fds"' 'cat >"$T/stdin"' 'echo warning >&2' >bin/ps
	chmod +x bin/ps
	echo secret >secret
	PATH=$T/bin:$PATH run sbx ps "$ID" 7<secret <secret
	rc_is 0
	is "$out" PID
	is "$err" ''
	is "$(<stdin)" ''
	# 255 is bash's own, on the script
	is "$(tr '\n' ' ' <fds)" '0 1 2 255 '
}

a_stopped_container_has_none() {
	bundle
	sbx run --keep -b "$B" "$ID"
	run sbx ps -f json "$ID"
	rc_is 0
	is "$out" '[]'
	_ps -e -o pid,args
	like "$out" '^ *PID COMMAND$'
}

a_paused_container_is_listed() {
	_box_of_three
	sbx pause "$ID"
	run sbx ps -f json "$ID"
	rc_is 0
	is "$(jq length "$T/out")" 3
}

processes_in_sub_cgroups_are_its_own() {
	local dir pid
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	dir=$(cgroup_dir pids)
	mkdir "$dir/below"
	echo "$pid" >"$dir/below/cgroup.procs"
	run sbx ps -f json "$ID"
	rc_is 0
	is "$out" "[$pid]"
}

wrong_calls_are_refused() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	refused 'does not exist' sbx ps nobody
	refused 'format' sbx ps -f xml "$ID"
	refused 'usage' sbx ps
}

run_tests
