#!/bin/bash
# events: statistics that agree with the kernel's files, and a line for each time that memory ran out.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

M=1048576

_box() {
	bundle 'sh("sleep 100")' "$@"
	sbx run -d -b "$B" "$ID"
}

# FILTER: what jq makes of the statistics.
_stats() {
	run sbx events --stats "$ID"
	rc_is 0
	is "$err" ''
	is "$(wc -l <"$T/out")" 1
	is "$(jq -r .type "$T/out") $(jq -r .id "$T/out")" "stats $ID"
	value=$(jq -r ".data | $1" "$T/out")
}

_on_v2() {
	[ -z "${CGROUP_MOUNTS[$1]:-}" ]
}

# ---- --stats ----

all_parts_are_there() {
	_box
	_stats '[.cpu.usage, .cpu.throttling, .cpuset, .memory.usage, .memory.swap, .memory.kernel, .memory.kernelTCP, .memory.raw,
		.pids, .blkio, .hugetlb] | map(type) | unique | join(" ")'
	is "$value" object
}

processes_and_their_limit_are_counted() {
	bundle writable 'sh("sleep 100 & sleep 100 & echo >/ready; wait")' '.linux.resources.pids = {limit: 20}'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/ready"
	_stats '"\(.pids.current) \(.pids.limit)"'
	is "$value" '3 20'
	sbx update --pids-limit -1 "$ID"
	_stats '"\(.pids.current) \(.pids.limit)"'
	is "$value" '3 null'
}

memory_agrees_with_the_kernel() {
	local limit swap usage cache
	bundle writable 'mount({destination: "/big", type: "tmpfs", source: "tmpfs"})' \
		'sh("head -c 20000000 /dev/zero >/big/file; echo >/done; sleep 100")' \
		".linux.resources.memory = {limit: $((64 * M)), swap: $((96 * M))}"
	sbx run -d -b "$B" "$ID"
	wait_until 20 test -e "$B/rootfs/done"
	_stats '"\(.memory.usage.limit) \(.memory.swap.limit) \(.memory.usage.usage) \(.memory.usage.failcnt) \(.memory.cache)"'
	read -r limit swap usage _ cache <<<"$value"
	is "$limit $swap" "$((64 * M)) $((96 * M))"
	[ "$usage" -ge 20000000 ] && [ "$usage" -le "$limit" ] || fail "usage $usage"
	# The kernel brings memory.stat up to date in batches.
	[ "$cache" -ge 19000000 ] || fail "cache $cache"
	# The raw numbers are memory.stat's.
	is "$(jq '.data.memory.raw | length' "$T/out")" "$(wc -l <"$(cgroup_dir memory)/memory.stat")"
}

cpu_time_is_in_nanoseconds() {
	local total kernel user
	bundle writable 'sh("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo >/done; sleep 100")'
	sbx run -d -b "$B" "$ID"
	wait_until 30 test -e "$B/rootfs/done"
	_stats '"\(.cpu.usage.total) \(.cpu.usage.kernel) \(.cpu.usage.user)"'
	read -r total kernel user <<<"$value"
	# 20000 rounds of a shell are some milliseconds at least, and less than a minute
	[ "$total" -gt 2000000 ] && [ "$total" -lt 60000000000 ] || fail "total $total"
	[ $((kernel + user)) -gt 0 ] || fail "kernel $kernel user $user"
	_on_v2 cpuacct || is "$(jq '.data.cpu.usage.percpu | add' "$T/out")" "$total"
}

throttling_is_counted() {
	bundle 'sh("while :; do :; done")' '.linux.resources.cpu = {quota: 2000, period: 20000}'
	sbx run -d -b "$B" "$ID"
	wait_until 20 _throttled
	_stats '"\(.cpu.throttling.periods > 0) \(.cpu.throttling.throttledPeriods > 0) \(.cpu.throttling.throttledTime > 1000000)"'
	is "$value" 'true true true'
}

_throttled() {
	local said
	slurp said "$(cgroup_dir cpu)/cpu.stat"
	[[ $said =~ nr_throttled\ [3-9] ]]
}

cpusets_are_lists_of_numbers() {
	_box
	_stats '.cpuset.cpus | type'
	if _on_v2 cpuset && [ ! -e "$(cgroup_dir cpuset)/cpuset.cpus" ]; then
		is "$value" null
	else
		is "$value" array
	fi
}

interfaces_are_those_of_its_own_namespace() {
	_box
	_stats '[.network_interfaces[].Name] | index("lo") != null'
	is "$value" true
	_stats '.network_interfaces[] | select(.Name == "lo") | keys_unsorted | join(" ")'
	is "$value" 'Name RxBytes RxPackets RxErrors RxDropped TxBytes TxPackets TxErrors TxDropped'
	bundle 'sh("sleep 100")' 'without_ns("network")'
	sbx run -d -b "$B" "$ID"
	_stats .network_interfaces
	is "$value" null
}

created_and_paused_containers_have_statistics() {
	bundle 'sh("sleep 100")'
	sbx create -b "$B" "$ID"
	_stats .pids.current
	is "$value" 1
	sbx start "$ID"
	sbx pause "$ID"
	_stats .pids.current
	is "$value" 1
}

wrong_calls_are_refused() {
	local word
	bundle
	sbx run --keep -b "$B" "$ID"
	refused 'container not running' sbx events --stats "$ID"
	refused 'container not running' sbx events "$ID"
	is "$out" ''
	refused 'does not exist' sbx events nobody
	refused 'usage' sbx events
	_box
	for word in 0 0s 5 -1s x; do
		refused 'interval' sbx events --interval "$word" "$ID"
	done
}

# ---- the stream ----

# The lines of $T/lines whose type is $1 are at least $2.
_has_lines() {
	[ "$(grep -c "^{\"type\":\"$1\",\"id\":\"$ID\"" lines)" -ge "$2" ]
}

statistics_come_at_the_interval_until_the_end() {
	local began
	_box
	began=${EPOCHREALTIME/./}
	background events --interval 300ms "$ID" >lines
	wait_until 20 _has_lines stats 3
	[ $((${EPOCHREALTIME/./} - began)) -ge 850000 ] || fail 'three lines in less than 0.9 s'
	jq -e .data.pids.current lines >/dev/null
	sbx kill "$ID" KILL
	wait_for_background
	is "$rc" 0
}

options_may_come_after_the_id() {
	_box
	background events "$ID" --interval 0.1s >lines
	wait_until 20 _has_lines stats 1
	sbx delete -f "$ID"
	wait_for_background
	is "$rc" 0
}

# A program that asks for more memory than it has whenever it gets SIGUSR1, in a child that the kernel kills.
_box_that_eats() {
	bundle writable 'mount({destination: "/big", type: "tmpfs", source: "tmpfs"})' \
		'sh("trap \"tail /dev/zero >/dev/null; echo >>/eaten\" USR1; echo >/ready; while :; do usleep 10000; done")' \
		".linux.resources.memory = {limit: $((16 * M)), swap: $((16 * M))}"
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/ready"
}

running_out_of_memory_is_an_event() {
	_box_that_eats
	background events --interval 1h "$ID" >lines
	wait_until 10 _watches
	sbx kill "$ID" USR1
	wait_until 20 _has_lines oom 1
	wait_until 20 test -e "$B/rootfs/eaten"
	is "$(head -n 1 lines)" "{\"type\":\"oom\",\"id\":\"$ID\"}"
	is "$(status_of "$ID")" running
	sbx kill "$ID" USR1
	wait_until 20 _has_lines oom 2
	sbx delete -f "$ID"
	wait_for_background
	is "$rc" 0
	! _has_lines stats 1 || fail 'statistics before their time'
}

# Whether the background process sleeps in poll, with what it watches open.
_watches() {
	local link
	for link in /proc/"$BG"/fd/*; do
		case $(readlink "$link" 2>/dev/null) in
		*/memory.events | */memory.oom_control) return 0 ;;
		esac
	done
	return 1
}

what_init_dies_of_is_told_before_the_end() {
	local pid
	bundle writable 'sh("until [ -e /go ]; do usleep 10000; done; exec tail /dev/zero")' \
		".linux.resources.memory = {limit: $((16 * M)), swap: $((16 * M))}"
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	background events --interval 1h "$ID" >lines
	wait_until 10 _watches
	touch "$B/rootfs/go"
	wait_until 20 dead "$pid"
	wait_for_background
	is "$rc" 0
	# One line or more: the dying program may run out of memory once again, and the kernel says so.
	is "$(sort -u lines)" "{\"type\":\"oom\",\"id\":\"$ID\"}"
}

the_removal_of_the_cgroup_is_no_event() {
	_box ".linux.resources.memory = {limit: $((16 * M))}"
	background events --interval 1h "$ID" >lines
	wait_until 10 _watches
	sbx delete -f "$ID"
	wait_for_background
	is "$rc" 0
	is "$(<lines)" ''
}

a_reader_that_goes_away_ends_it() {
	_box
	run timeout 60 bash -c '"$0" --root "$T/state" events --interval 50ms "$1" | head -n 2 | wc -l' "$SBXRUN" "$ID"
	rc_is 0
	is "$out" 2
	is "$err" ''
	# At once, not when it would have something to say.
	run timeout 60 bash -o pipefail -c '"$0" --root "$T/state" events --interval 1h "$1" | true' "$SBXRUN" "$ID"
	rc_is 0
	is "$err" ''
}

run_tests
