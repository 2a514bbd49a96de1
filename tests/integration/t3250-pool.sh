#!/bin/bash
# sbxrun pool: boxes whose interpreter waits already, one for each call. What a call gets from one is what it gets from a box of its own; who gets one; what ends it.
# Views: v2 a_call_gets_a_box_that_waits who_dies_leaves_nothing
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_pool() { SBXRUN_ROOTFS_DIR=$T/library sbx pool "$@"; }
_do() { SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs host "$@"; }
_of() { jq -r "$1" <<<"$out"; }
_is_warm() { is "$(_of .usage.warm)" "${1:-true}"; }
# What is in the state directory; of a glob.
_left() { find "$T/state" -mindepth 1 -maxdepth 1 -name "${1:-*}" ! -name explain:last -printf '%f\n'; }
# LANGUAGE OPTION…: a pool of two, with the host's programs; ends with the test.
_start() {
	needs python3
	_pool --size 2 --rootfs host "${@:2}" "$1" >started
	trap 'sbx pool stop --all' EXIT
	POOL=$(_pool list --json | jq -r '.[0].id')
}
_ready() { _pool list --json | jq -e 'length == 1 and .[0].ready == .[0].size' >/dev/null; }
# Of the processes below the keeper: how many have that name.
_holders() { pgrep -c -x sbxrun-warm -P "$(_pool list --json | jq -r '.[0].pid')"; }

a_call_gets_a_box_that_waits() {
	_start python
	like "$(<started)" '^pool [0-9a-f]{12}: 2 boxes of python wait$'
	_ready
	run _do --json python 'print(2+2)'
	rc_is 0
	_is_warm
	is "$(_of .stdout)" 4
	first=$(_of .id)
	run _do python 'print(2+2)'
	is "$out" 4
	run _do --json python 'print(2+2)'
	isnt "$(_of .id)" "$first"
	wait_until 5 _ready
	is "$(_pool list --json | jq -c '.[0] | [.language, .rootfs, .size, .served >= 2, .failure]')" '["python","host",2,true,null]'
	like "$(_pool list)" $'^ID .*\n[0-9a-f]{12} +python +2 +2 '
}

# All that a program says and does is as it is in a box of its own, to the byte.
_alike() {
	wait_until 5 _ready
	run _do --json "$@"
	_is_warm
	warm=$(jq 'del(.id, .execution_time, .usage)' <<<"$out")
	run _do --json --no-pool "$@"
	_is_warm false
	is "$warm" "$(jq 'del(.id, .execution_time, .usage)' <<<"$out")"
}

programs_see_no_difference() {
	_start python
	_alike python 'import os, sys, stat
print(sys.argv, __file__, __name__, sys.path, sorted(globals()), sys.flags, sys.orig_argv)
print(open(__file__).read(), oct(os.stat(__file__).st_mode), os.listdir(), os.getcwd(), os.getpid(), os.getppid())
print(sorted(os.environ.items()), sorted(os.listdir("/proc/self/fd")), os.getpgrp() == os.getpid())
print(open("/proc/self/cmdline").read(), os.umask(0), os.sched_getaffinity(0) != set())'
	_alike python 'def f(): 1/0
f()'
	_alike python 'f('
	_alike python ''
	_alike python 'import sys; print("out"); print("err", file=sys.stderr); sys.exit(7)'
	_alike python 'open("made.txt", "w").write("x"); open("/etc/x", "w")'
	_alike python 'import socket; socket.create_connection(("evil.example", 443))'
	_alike python 'import os; os.kill(os.getpid(), 11)'
	_alike --timeout 1 python 'while True: pass'
	_alike --output-limit 100 python 'print("x" * 1000)'
	_alike --redact python 'print("mail me@example.com")'
	_alike python 'import ctypes; print(ctypes.CDLL(None).syscall(321, 0, 0, 0))'
	_alike python 'bytearray(1 << 30)'
	run _do python 'import sys; print(sys.stdin.read())' <<<'from the caller'
	is "$out" 'from the caller'
	run _do --copy-out got python 'open("a.txt", "w").write("kept")'
	is "$(<got/a.txt)" kept
	_pool stop python
	is "$(_pool list --json)" '[]'
}

programs_of_a_shell_see_none_either() {
	_start shell
	_alike bash 'echo $0 $BASH_SOURCE $#; cat $0; ls -l main.sh | cut -c1-10; read x; echo "[$x]"; ls /proc/self/fd'
	_alike bash 'false; exit 3'
	_alike bash 'cat main.sh; echo "${LINENO}"; nosuch; (exit 4)'
	_alike bash "$(printf 'x=%s\n' {1..2000}; echo 'echo $x')"
	run _do --json bash 'while read -r x; do echo "<$x>"; done' <<<$'a\nb'
	is "$(_of .stdout)" $'<a>\n<b>'
}

programs_of_node_see_none_either() {
	needs node
	_start javascript
	_alike node 'console.log(process.argv, __filename, require("fs").readFileSync(__filename, "utf8"), require.main === module)'
	_alike node 'function f() { throw new Error("x"); }
f()'
	_alike node 'setTimeout(() => { console.log("later"); process.exit(5) }, 20)'
}

who_asks_for_something_else_gets_a_box_of_his_own() {
	_start python
	local -a other=(
		'--memory 100m' '--pids-limit 20' '--cpus 0.5' '--env A=b' '--denials none' '--profile none' '--user 1000' '--tmpfs 1m' '--ulimit nofile=100'
		'--cpu-time 5' "--volume $T/data:/data:ro" '--workdir /tmp' '--file-size 1m' '--strict-limits' '--no-pool'
	)
	mkdir data
	for words in "${other[@]}"; do
		# shellcheck disable=SC2086
		run _do --json $words python 'print(1)'
		rc_is 0
		_is_warm false
	done
	run _do --json --memory 100m python 'bytearray(200 << 20)'
	is "$(_of .status)" oom
	run _do --json python 'import sys; print(sys.argv[1])' word
	is "$(_of '.stdout, .usage.warm')" $'word\n\nfalse'
	run _do --json python $'# coding: latin-1\nprint(1)'
	_is_warm false
	run _do --json python "$(printf '#%0100000d\nprint(1)' 0)"
	is "$(_of '.stdout, .usage.warm')" $'1\n\nfalse'
	(ulimit -s 1000 && run _do --json python 'print(1)' && _is_warm false)
	run _do --json python 'print(1)'
	_is_warm
	# One that was started for exactly that is found by it.
	_pool --size 1 --rootfs host --memory 100m -e A=b python >/dev/null
	run _do --json --memory 100m -e A=b python 'import os; print(os.environ["A"])'
	is "$(_of '.stdout, .usage.warm, .limits.memory')" $'b\n\ntrue\n104857600'
	is "$(_pool list --json | jq length)" 2
	# Its processor time is watched as that of any box.
	_pool --size 1 --rootfs host --cpu-time 1 python >/dev/null
	run _do --json --cpu-time 1 python 'while True: pass'
	is "$(_of '.status, .error.type, .usage.warm')" $'timeout\nCPUTimeError\ntrue'
}

# The same words do not mean the same box any more.
what_has_changed_meanwhile_counts() {
	mkdir data
	echo old >data/x
	echo '{"version": 1, "default": "mine", "policies": {"mine": {"base": "code"}}}' >policy.json
	chmod 644 policy.json
	_started() { SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" --policy "$T/policy.json" "$@"; }
	needs python3
	_started pool --size 1 --rootfs host -v "$T/data:/data:ro" python >/dev/null
	trap 'sbx pool stop --all' EXIT
	_again() { run _started "do" --json --rootfs host -v "$T/data:/data:ro" python 'print(open("/data/x").read())'; }
	_again
	is "$(_of '.stdout, .usage.warm')" $'old\n\n\ntrue'
	mv data data.old
	mkdir data
	echo new >data/x
	_again
	is "$(_of '.stdout, .usage.warm')" $'new\n\n\nfalse'
	_is_warm_again() { _again && [ "$(_of '.stdout, .usage.warm')" = $'new\n\n\ntrue' ]; }
	wait_until 5 _is_warm_again
	before=$(_pool list --json | jq -r '.[0].id')
	echo '{"version": 1, "default": "mine", "policies": {"mine": {"base": "code", "sockets": {"deny": ["inet"]}}}}' >policy.json
	run _started "do" --json --rootfs host -v "$T/data:/data:ro" python 'import socket; socket.socket()'
	is "$(_of '.exit_code, .usage.warm')" $'1\nfalse'
	_has_moved() { _pool list --json | jq -e --arg id "$before" 'length == 1 and .[0].id != $id and .[0].ready == 1' >/dev/null; }
	wait_until 5 _has_moved
	run _started "do" --json --rootfs host -v "$T/data:/data:ro" python 'import socket; socket.socket()'
	is "$(_of '.exit_code, .usage.warm')" $'1\ntrue'
}

a_pool_has_another_size_and_ends() {
	_start python
	is "$(_pool --size 4 --rootfs host --json python | jq -c '[.size, .ready]')" '[4,4]'
	is "$(_holders)" 4
	_pool --size 1 --rootfs host python >/dev/null
	is "$(_holders)" 1
	is "$(_pool list --json | jq length)" 1
	_pool stop "${POOL:0:8}"
	is "$(_pool list --json)" '[]'
	is "$(_left)" ''

	run _pool stop python
	rc_is 125
	like "$err" 'there is no pool'
	run _pool stop
	rc_is 125
	_pool stop --all
	is "$(_do --json python 'print(1)' | jq -c '[.stdout, .usage.warm]')" '["1\n",false]'
}

what_can_not_wait_is_said() {
	run _pool c
	rc_is 125
	like "$err" 'no box waits for what is compiled first'
	run _pool --preset pure python
	like "$err" 'no box waits for --preset pure'
	run _pool --disk 400m --memory 512m python
	like "$err" 'no box waits for a workspace on disk'
	run _pool -v "$T:/workspace" python
	like "$err" 'no box waits for a workspace of the caller'
	run _pool cobol
	like "$err" 'there is no language "cobol"'
	run _pool --size 1000 python
	like "$err" '--size: "1000" is no number from 1 to 256'
	run _pool --size 0 python
	rc_is 125
	bundle
	run _pool --rootfs "$B/rootfs" python
	rc_is 125
	like "$err" 'python3'
	is "$(_pool list --json)" '[]'
}

who_dies_leaves_nothing() {
	_start python
	keeper=$(_pool list --json | jq -r '.[0].pid')
	# One that waits: another one takes its place.
	holder=$(pgrep -P "$keeper" -x sbxrun-warm | head -1)
	kill -KILL "$holder"
	_has_new() { [ "$(pgrep -P "$keeper" -x sbxrun-warm | grep -cvx "$holder")" = 2 ] && _ready; }
	wait_until 5 _has_new
	# A caller: his box ends with him.
	_do python 'import time; open("/workspace/on", "w"); time.sleep(1000)' &
	caller=$!
	_is_lent() { [ "$(_holders)" = 3 ]; }
	wait_until 5 _is_lent
	kill -KILL "$caller" "$(pgrep -P "$caller")" 2>/dev/null
	wait "$caller" || :
	_is_back() { [ "$(_holders)" = 2 ] && _ready; }
	wait_until 5 _is_back
	# The keeper, while a call runs.
	mkfifo go
	_do --json python 'import time
time.sleep(1.5); print("went on")' >result &
	call=$!
	wait_until 5 _is_lent
	kill -KILL "$keeper"
	wait "$call"
	is "$(jq -r '.stdout, .usage.warm' result)" $'went on\n\ntrue'
	_is_gone() { [ -z "$(_left 'do-*')" ]; }
	wait_until 5 _is_gone
	run _do --json python 'print(1)'
	is "$(_of '.stdout, .usage.warm')" $'1\n\nfalse'
	is "$(_pool list --json)" '[]'
	is "$(_left)" ''
	_start python
	run _do --json python 'print(1)'
	_is_warm
}

# Keeper and holders at any moment of a pool's begin, by the clock of the machine that it runs on.
whoever_is_killed_while_a_pool_begins_leaves_nothing() {
	needs python3
	local i keeper victim starter
	trap 'sbx pool stop --all' EXIT
	_is_swept() { _do python 'print(1)' >/dev/null && [ -z "$(_left 'do-*')" ]; }
	for i in 0 1 2 3 4 5 6 7; do
		SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" pool --size 2 --rootfs host python >/dev/null 2>&1 &
		starter=$!
		_has_keeper() { keeper=$(pgrep -P "$starter") || keeper=$(_pool list --json | jq -er '.[0].pid'); }
		wait_until 5 _has_keeper
		victim=$keeper
		if [ $((i % 2)) = 1 ]; then
			_has_holder() { victim=$(pgrep -P "$keeper" | head -n 1) && [ -n "$victim" ]; }
			wait_until 5 _has_holder
		fi
		for ((n = 0; n < i * 2; n++)); do nap; done
		kill -KILL "$victim" 2>/dev/null || :
		wait "$starter" || :
		sbx pool stop --all
		wait_until 5 _is_swept
	done
}

a_holder_that_is_killed_takes_no_call_along() {
	_start python
	keeper=$(_pool list --json | jq -r '.[0].pid')
	_do --json python 'import time; time.sleep(1.5); print("went on")' >result &
	call=$!
	_is_lent() { [ "$(_holders)" = 3 ]; }
	wait_until 5 _is_lent
	# shellcheck disable=SC2046
	kill -KILL $(pgrep -P "$keeper" -x sbxrun-warm)
	wait "$call"
	is "$(jq -r '.stdout, .status' result)" $'went on\n\nok'
	like "$(jq -r '.notes[]' result)" 'the process that held the box was killed'
	_swept() { _do python 'print(1)' && [ "$(_left 'do-*' | wc -l)" -le 2 ]; }
	wait_until 5 _swept
}

a_service_stays_and_ends_by_a_signal() {
	needs python3
	SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" pool --foreground --size 1 --rootfs host python &
	service=$!
	wait_until 5 _ready
	is "$(_pool list --json | jq '.[0].pid')" "$service"
	run _do --json python 'print(1)'
	_is_warm
	kill -TERM "$service"
	wait "$service"
	is $? 0
	is "$(_left)" ''
}

run_tests
