#!/bin/bash
# linux.resources, read back from the cgroup's files, and whether limits hold.
# Views: all
. "${0%/*}/../lib/test.sh"

# Starts a container with RESOURCES (jq).
_start_with() {
	bundle 'sh("sleep 100")' ".linux.resources += $1"
	sbx run -d -b "$B" "$ID"
}

# CONTROLLER V1FILE V1VALUE V2FILE V2VALUE: what the file of this layout says; values are regular expressions.
_says() {
	local file value=$3
	file=$(cgroup_dir "$1")/$2
	if [ -z "${CGROUP_MOUNTS[$1]:-}" ]; then
		file=$(cgroup_dir "$1")/$4 value=$5
	fi
	file_has "$file" "$value"
}

# RESOURCES FIELD: it can't be had here, and the error names it.
_refused() {
	run_in_box 'echo started' ".linux.resources += $1"
	rc_is 1
	is "$out" '' "$1"
	like "$err" "linux\.resources\.$2"
	! ls -d "$(cgroup_dir pids)" 2>/dev/null || fail 'the cgroup is left'
}

memory_limits_are_written() {
	_start_with '{memory: {limit: 67108864, reservation: 33554432, swap: 100663296}}'
	_says memory memory.limit_in_bytes '^67108864$' memory.max '^67108864$'
	_says memory memory.soft_limit_in_bytes '^33554432$' memory.low '^33554432$'
	_says memory memory.memsw.limit_in_bytes '^100663296$' memory.swap.max '^33554432$'
}

a_memory_limit_of_minus_one_is_none() {
	_start_with '{memory: {limit: -1, swap: -1}}'
	_says memory memory.limit_in_bytes '^9[0-9]{18}$' memory.max '^max$'
	_says memory memory.memsw.limit_in_bytes '^9[0-9]{18}$' memory.swap.max '^max$'
}

swappiness_and_the_oom_killer_are_for_cgroup_v1() {
	if [ "$VIEW" = v2 ]; then
		_refused '{memory: {swappiness: 10}}' 'memory\.swappiness'
		_refused '{memory: {disableOOMKiller: true}}' 'memory\.disableOOMKiller'
		return
	fi
	_start_with '{memory: {limit: 67108864, swappiness: 10, disableOOMKiller: true}}'
	_says memory memory.swappiness '^10$' '' ''
	_says memory memory.oom_control '^oom_kill_disable 1$' '' ''
}

memory_is_counted_through_the_hierarchy() {
	_refused '{memory: {useHierarchy: false}}' 'memory\.useHierarchy'
	run_in_box 'echo started' '.linux.resources.memory.useHierarchy = true'
	is "$out" started
}

a_limit_of_tcp_memory_is_for_cgroup_v1() {
	[ "$VIEW" != v2 ] || { _refused '{memory: {kernelTCP: 8388608}}' 'memory\.kernelTCP' && return; }
	[ -e "${CGROUP_MOUNTS[memory]}/memory.kmem.tcp.limit_in_bytes" ] || skip 'this kernel has no memory.kmem.tcp'
	_start_with '{memory: {kernelTCP: 8388608}}'
	_says memory memory.kmem.tcp.limit_in_bytes '^8388608$' '' ''
}

shares_quota_period_and_burst_are_written() {
	_start_with '{cpu: {shares: 512, quota: 20000, period: 50000, burst: 10000}}'
	# Two formulas from shares to weight are in use: the old linear one, and the one of 2025.
	_says cpu cpu.shares '^512$' cpu.weight '^(20|58|59)$'
	_says cpu cpu.cfs_quota_us '^20000$' cpu.max '^20000 50000$'
	_says cpu cpu.cfs_period_us '^50000$' cpu.max '^20000 50000$'
	_says cpu cpu.cfs_burst_us '^10000$' cpu.max.burst '^10000$'
}

a_period_or_a_quota_alone_is_written_too() {
	_start_with '{cpu: {period: 60000}}'
	_says cpu cpu.cfs_period_us '^60000$' cpu.max '^max 60000$'
	_start_with '{cpu: {quota: 30000}}'
	_says cpu cpu.cfs_quota_us '^30000$' cpu.max '^30000 100000$'
}

idle_is_written() {
	_start_with '{cpu: {idle: 1}}'
	_says cpu cpu.idle '^1$' cpu.idle '^1$'
}

cpus_and_mems_are_written_and_hold() {
	# Only `tests/uml/in-uml -1` is v1 and has none.
	[ "$VIEW" != v1 ] || [ -n "${CGROUP_MOUNTS[cpuset]:-}" ] || { _refused '{cpu: {cpus: "0"}}' 'cpu\.cpus' && return; }
	if [ "$VIEW" = v2 ] && ! grep -qw cpuset "${CGROUP_MOUNTS[unified]}/cgroup.controllers"; then
		_refused '{cpu: {cpus: "0"}}' 'cpu\.cpus'
		return
	fi
	_start_with '{cpu: {cpus: "0", mems: "0"}}'
	_says cpuset cpuset.cpus '^0$' cpuset.cpus '^0$'
	_says cpuset cpuset.mems '^0$' cpuset.mems '^0$'
	file_has "/proc/$(pid_of "$ID")/status" $'^Cpus_allowed_list:\t0$'
}

without_a_cpuset_every_cpu_may_be_used() {
	run_in_box 'grep Cpus_allowed_list /proc/self/status'
	rc_is 0
	is "$out" "$(grep Cpus_allowed_list /proc/self/status)"
}

real_time_is_for_cgroup_v1() {
	[ "$VIEW" != v2 ] || { _refused '{cpu: {realtimeRuntime: 1000}}' 'cpu\.realtimeRuntime' && return; }
	[ -e "${CGROUP_MOUNTS[cpu]}/cpu.rt_runtime_us" ] || { _refused '{cpu: {realtimeRuntime: 1000}}' 'cpu\.realtimeRuntime' && return; }
	_start_with '{cpu: {realtimePeriod: 1000000, realtimeRuntime: 1000}}'
	_says cpu cpu.rt_runtime_us '^1000$' '' ''
}

the_pids_limit_is_written_and_zero_and_minus_one_have_their_meaning() {
	_start_with '{pids: {limit: 50}}'
	_says pids pids.max '^50$' pids.max '^50$'
	_start_with '{pids: {limit: -1}}'
	_says pids pids.max '^max$' pids.max '^max$'
	# Into a cgroup of none nobody could be born on v2: with one, the program is that one.
	run_in_box 'true & echo forked' '.ociVersion = "1.3.0"' '.linux.resources.pids = {limit: 0}'
	is "$out" ''
	like "$err" "can't fork"
}

# podman 4 writes it for --pids-limit=-1, and runc before 1.4 reads it so.
zero_processes_are_no_limit_in_a_config_older_than_that_meaning() {
	local version
	for version in 1.0.2-dev 1.2.1; do
		run_in_box 'true & echo forked' ".ociVersion = \"$version\"" '.linux.resources.pids = {limit: 0}'
		is "$rc/$out" 0/forked
	done
}

# Sets DISK to the numbers of a block device, or to nothing.
_find_disk() {
	local file
	DISK=''
	for file in /sys/block/[!lzr]*/dev /sys/block/*/dev; do
		if [ -z "$DISK" ] && [ -r "$file" ]; then
			read -r DISK <"$file"
		fi
	done
}

throttles_are_written() {
	local DISK numbers
	_find_disk
	numbers="major: 63, minor: 63"
	[ -z "$DISK" ] || numbers="major: ${DISK%:*}, minor: ${DISK#*:}"
	if [ -z "$DISK" ]; then
		# Without a disk the kernel refuses the numbers, and the error says whose they are.
		_refused "{blockIO: {throttleReadBpsDevice: [{$numbers, rate: 1048576}]}}" 'blockIO\.throttleReadBpsDevice\[0\]'
		return
	fi
	_start_with "{blockIO: {throttleReadBpsDevice: [{$numbers, rate: 1048576}], throttleWriteBpsDevice: [{$numbers, rate: 2097152}],
		throttleReadIOPSDevice: [{$numbers, rate: 101}], throttleWriteIOPSDevice: [{$numbers, rate: 102}]}}"
	_says blkio blkio.throttle.read_bps_device "^$DISK 1048576$" io.max "^$DISK rbps=1048576 "
	_says blkio blkio.throttle.write_bps_device "^$DISK 2097152$" io.max "^$DISK .*wbps=2097152 "
	_says blkio blkio.throttle.read_iops_device "^$DISK 101$" io.max "^$DISK .*riops=101 "
	_says blkio blkio.throttle.write_iops_device "^$DISK 102$" io.max "^$DISK .*wiops=102$"
}

the_weight_of_block_io_is_written_or_refused() {
	local dir probe file found=''
	dir=${CGROUP_MOUNTS[blkio]:-${CGROUP_MOUNTS[unified]}}
	probe=$dir/$P
	mkdir -p "$probe"
	for file in blkio.weight blkio.bfq.weight io.weight io.bfq.weight; do
		[ ! -e "$probe/$file" ] || found=$file
	done
	if [ -z "$found" ] || [ "$VIEW" = v2 ]; then
		run_in_box 'echo started' '.linux.resources.blockIO = {weight: 200}'
		[ "$rc" = 0 ] || like "$err" 'linux\.resources\.blockIO\.weight'
		return
	fi
	_start_with '{blockIO: {weight: 200}}'
	file_has "$(cgroup_dir blkio)/$found" '(^| )200$'
}

huge_pages_are_limited_or_refused() {
	local dir root before
	root=${CGROUP_MOUNTS[unified]:-}
	if [ -n "${CGROUP_MOUNTS[hugetlb]:-}" ]; then
		_start_with '{hugepageLimits: [{pageSize: "2MB", limit: 4194304}]}'
		_says hugetlb hugetlb.2MB.limit_in_bytes '^4194304$' '' ''
	elif [ -n "$root" ] && grep -qw hugetlb "$root/cgroup.controllers"; then
		before=$(<"$root/cgroup.subtree_control")
		_start_with '{hugepageLimits: [{pageSize: "2MB", limit: 4194304}]}'
		dir=$(cgroup_dir unified)
		file_has "$dir/hugetlb.2MB.max" '^4194304$'
		[ ! -e "$dir/hugetlb.2MB.rsvd.max" ] || file_has "$dir/hugetlb.2MB.rsvd.max" '^4194304$'
		sbx delete -f "$ID"
		rmdir "${dir%/*}" 2>/dev/null || :
		# The switch at the root outlives the container; this machine gets it back as it was.
		[[ " $before " == *' hugetlb '* ]] || echo -hugetlb >"$root/cgroup.subtree_control" 2>/dev/null || :
	else
		_refused '{hugepageLimits: [{pageSize: "2MB", limit: 4194304}]}' 'hugepageLimits'
	fi
}

# The views have neither controller; `tests/uml/in-uml -1` has net_cls.
network_classes_and_priorities_are_for_cgroup_v1() {
	if [ -n "${CGROUP_MOUNTS[net_cls]:-}" ]; then
		_start_with '{network: {classID: 1048577}}'
		_says net_cls net_cls.classid '^1048577$' '' ''
	else
		_refused '{network: {classID: 1048577}}' 'network\.classID'
	fi
	if [ -n "${CGROUP_MOUNTS[net_prio]:-}" ]; then
		_start_with '{network: {priorities: [{name: "lo", priority: 7}]}}'
		_says net_prio net_prio.ifpriomap '^lo 7$' '' ''
	else
		_refused '{network: {priorities: [{name: "lo", priority: 7}]}}' 'network\.priorities'
	fi
}

what_the_host_lacks_is_an_error_that_names_the_field() {
	[ -n "${CGROUP_MOUNTS[rdma]:-}" ] || _refused '{rdma: {mlx5_1: {hcaHandles: 3}}}' 'rdma'
}

unified_files_are_written_verbatim() {
	case $VIEW in
	v2)
		_start_with '{unified: {"memory.high": "52428800", "pids.max": "33", "cgroup.max.depth": "7"}}'
		file_has "$(cgroup_dir unified)/memory.high" '^52428800$'
		file_has "$(cgroup_dir unified)/pids.max" '^33$'
		file_has "$(cgroup_dir unified)/cgroup.max.depth" '^7$'
		_refused '{unified: {"memory.nosuchfile": "1"}}' 'unified'
		;;
	hybrid)
		_start_with '{unified: {"cgroup.max.depth": "7"}}'
		file_has "$(cgroup_dir unified)/cgroup.max.depth" '^7$'
		_refused '{unified: {"memory.high": "1"}}' 'unified'
		;;
	v1)
		_refused '{unified: {"cgroup.max.depth": "7"}}' 'unified'
		;;
	esac
	_refused '{unified: {"../cgroup.procs": "1"}}' 'unified'
}

the_pids_limit_holds() {
	run_in_box 'i=0; while [ $i != 20 ]; do sleep 50 & i=$((i + 1)); done; echo all' '.linux.resources.pids.limit = 8'
	unlike "$out" all
	like "$err" "can't fork"
}

the_memory_limit_holds() {
	run_in_box '(dd if=/dev/zero of=/dev/null bs=200M count=1); echo "status $?"' \
		'.linux.resources.memory = {limit: 33554432, swap: 33554432}'
	like "$out" 'status 137'
}

the_cpu_quota_holds() {
	local stat
	bundle 'sh("while :; do :; done")' '.linux.resources.cpu = {quota: 2000, period: 100000}'
	sbx run -d -b "$B" "$ID"
	stat=$(cgroup_dir cpu)/cpu.stat
	wait_until 20 grep -Eq '^nr_throttled [1-9]' "$stat"
}

bad_values_are_errors_that_leave_nothing() {
	_refused '{cpu: {quota: 20000, period: 1}}' 'cpu\.(quota|period)'
	_refused '{pids: {limit: "many"}}' 'pids'
	_refused '{memory: {limit: 67108864, swap: 33554432}}' 'memory\.swap'
	[ "$VIEW" = v2 ] || _refused '{cpu: {cpus: "0-9999"}}' 'cpu\.cpus'
}

a_memory_limit_that_is_too_small_for_init_is_named() {
	bundle '.linux.resources.memory = {limit: 4096}'
	run sbx create -b "$B" "$ID"
	rc_is 1
	like "$err" 'linux\.resources\.memory\.limit|memory\.(max|limit_in_bytes)'
	[ ! -e "$T/state/$ID" ] || fail "its record is left"
}

run_tests
