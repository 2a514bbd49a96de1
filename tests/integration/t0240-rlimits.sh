#!/bin/bash
# process.rlimits, read from the kernel's table inside.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# Line $1 of /proc/self/limits says soft $2 and hard $3.
_limit_is() {
	like "$out" $'(^|\n)'"$1 +$2 +$3 "
}

every_limit_is_set_exactly() {
	run_in_box 'cat /proc/1/limits; true' '.process.rlimits = [
		{type: "RLIMIT_AS", soft: 4000000000, hard: 5000000000}, {type: "RLIMIT_CORE", soft: 0, hard: 4096},
		{type: "RLIMIT_CPU", soft: 1000, hard: 2000}, {type: "RLIMIT_DATA", soft: 3000000000, hard: 3000000001},
		{type: "RLIMIT_FSIZE", soft: 1048576, hard: 2097152}, {type: "RLIMIT_LOCKS", soft: 10, hard: 20},
		{type: "RLIMIT_MEMLOCK", soft: 4096, hard: 8192}, {type: "RLIMIT_MSGQUEUE", soft: 1000, hard: 2000},
		{type: "RLIMIT_NICE", soft: 0, hard: 0}, {type: "RLIMIT_NOFILE", soft: 100, hard: 200},
		{type: "RLIMIT_NPROC", soft: 300, hard: 400}, {type: "RLIMIT_RSS", soft: 4096, hard: 8192},
		{type: "RLIMIT_RTPRIO", soft: 0, hard: 0}, {type: "RLIMIT_RTTIME", soft: 5000, hard: 6000},
		{type: "RLIMIT_SIGPENDING", soft: 50, hard: 60}, {type: "RLIMIT_STACK", soft: 1048576, hard: 2097152}]'
	rc_is 0
	_limit_is 'Max address space' 4000000000 5000000000
	_limit_is 'Max core file size' 0 4096
	_limit_is 'Max cpu time' 1000 2000
	_limit_is 'Max data size' 3000000000 3000000001
	_limit_is 'Max file size' 1048576 2097152
	_limit_is 'Max file locks' 10 20
	_limit_is 'Max locked memory' 4096 8192
	_limit_is 'Max msgqueue size' 1000 2000
	_limit_is 'Max nice priority' 0 0
	_limit_is 'Max open files' 100 200
	_limit_is 'Max processes' 300 400
	_limit_is 'Max resident set' 4096 8192
	_limit_is 'Max realtime priority' 0 0
	_limit_is 'Max realtime timeout' 5000 6000
	_limit_is 'Max pending signals' 50 60
	_limit_is 'Max stack size' 1048576 2097152
}

the_largest_number_means_no_limit() {
	bundle 'sh("cat /proc/1/limits; true")' '.process.rlimits = []'
	# jq would round it.
	sed -i 's|"rlimits": \[\]|"rlimits": [{"type":"RLIMIT_FSIZE","soft":1000000,"hard":18446744073709551615},{"type":"RLIMIT_CPU","soft":18446744073709551615,"hard":18446744073709551615}]|' \
		"$B/config.json"
	run sbx run -b "$B" "$ID"
	rc_is 0
	_limit_is 'Max file size' 1000000 unlimited
	_limit_is 'Max cpu time' unlimited unlimited
}

a_limit_above_the_callers_is_set_or_refused() {
	bundle 'sh("cat /proc/1/limits; true")' '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 2000, hard: 3000}]'
	run prlimit --nofile=500:1000 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	if has_capability 24; then
		rc_is 0
		_limit_is 'Max open files' 2000 3000
	else
		rc_is 1
		like "$err" 'rlimits.*RLIMIT_NOFILE'
	fi
	nothing_is_left
}

a_limit_does_not_bind_the_runtime_itself() {
	# Fewer descriptors than sbxrun needs to set the rest up, and no byte that may be written.
	run_in_box true '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 4, hard: 4}, {type: "RLIMIT_FSIZE", soft: 0, hard: 0},
		{type: "RLIMIT_NPROC", soft: 1, hard: 1}]' 'args(["/bin/true"])'
	rc_is 0
	nothing_is_left
}

a_limit_has_its_effect() {
	run_in_box 'head -c 100000 /dev/zero >/big; stat -c %s /big' writable '.process.rlimits = [{type: "RLIMIT_FSIZE", soft: 4096, hard: 4096}]' \
		'without_ns("pid")'
	is "$(stat -c %s "$B/rootfs/big")" 4096
}

bad_limits_are_refused() {
	local list
	bundle
	for list in '[{type: "RLIMIT_NONSENSE", soft: 1, hard: 1}]' '[{type: "NOFILE", soft: 1, hard: 1}]' '[{soft: 1, hard: 1}]' \
		'[{type: "RLIMIT_CPU", soft: 9, hard: 9}, {type: "RLIMIT_CPU", soft: 9, hard: 9}]' \
		'[{type: "RLIMIT_CPU", soft: 10, hard: 9}]' '[{type: "RLIMIT_CPU", soft: -1, hard: 9}]' '[{type: "RLIMIT_CPU", hard: 9}]' \
		'[{type: "RLIMIT_CPU", soft: 9}]' '[{type: "RLIMIT_CPU", soft: "9", hard: 9}]' '{}'; do
		jq ".process.rlimits = $list" "$B/config.json" >new
		refused 'rlimits' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

run_tests
