#!/bin/bash
# update: every flag and the file, read back from the kernel's files; what is not given stays, what is refused changes nothing.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

M=1048576

# A running container with RESOURCES (jq).
_box() {
	bundle 'sh("sleep 100")' ".linux.resources += ${1:-{\}}"
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

# LIMIT SWAP: of memory, and of memory and swap together, in MiB.
_memory_is() {
	_says memory memory.limit_in_bytes "^$(($1 * M))\$" memory.max "^$(($1 * M))\$"
	_says memory memory.memsw.limit_in_bytes "^$(($2 * M))\$" memory.swap.max "^$((($2 - $1) * M))\$"
}

_memory_is_unlimited() {
	_says memory memory.limit_in_bytes '^9[0-9]{18}$' memory.max '^max$'
	_says memory memory.memsw.limit_in_bytes '^9[0-9]{18}$' memory.swap.max '^max$'
}

# Update with ARGs, silent.
_update() {
	run sbx update "$@"
	rc_is 0
	is "$out$err" ''
}

# ---- memory ----

memory_is_set_in_many_spellings() {
	_box "{memory: {limit: $((64 * M)), swap: $((512 * M))}}"
	_update "$ID" --memory $((50 * M))
	_says memory memory.limit_in_bytes "^$((50 * M))\$" memory.max "^$((50 * M))\$"
	_update --memory=51m "$ID"
	_says memory memory.limit_in_bytes "^$((51 * M))\$" memory.max "^$((51 * M))\$"
	_update --memory 52M "$ID"
	_says memory memory.limit_in_bytes "^$((52 * M))\$" memory.max "^$((52 * M))\$"
	_update -memory 53248k "$ID"
	_says memory memory.limit_in_bytes "^$((52 * M))\$" memory.max "^$((52 * M))\$"
	_update "$ID" --memory-reservation 20m
	_says memory memory.soft_limit_in_bytes "^$((20 * M))\$" memory.low "^$((20 * M))\$"
	_says memory memory.limit_in_bytes "^$((52 * M))\$" memory.max "^$((52 * M))\$"
}

memory_and_swap_move_together_in_either_direction() {
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}}"
	_memory_is 64 96
	# Both beyond the old ones, then both below: each needs the other order on cgroup v1.
	_update --memory 128m --memory-swap 256m "$ID"
	_memory_is 128 256
	_update --memory-swap 48m --memory 32m "$ID"
	_memory_is 32 48
	_update --memory 200m --memory-swap 200m "$ID"
	_memory_is 200 200
}

swap_alone_goes_with_the_limit_in_force() {
	_box "{memory: {limit: $((64 * M)), swap: $((64 * M))}}"
	_update --memory-swap 96m "$ID"
	_memory_is 64 96
}

minus_one_lifts_the_limit() {
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}}"
	_update --memory-swap=-1 "$ID"
	_says memory memory.memsw.limit_in_bytes '^9[0-9]{18}$' memory.swap.max '^max$'
	_says memory memory.limit_in_bytes "^$((64 * M))\$" memory.max "^$((64 * M))\$"
	_update --memory -1 "$ID"
	_memory_is_unlimited
}

no_limit_of_memory_means_none_of_swap_either() {
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}}"
	_update "$ID" --memory -1
	_memory_is_unlimited
}

kernel_memory_is_accepted_without_effect() {
	_box
	run sbx update --kernel-memory 10m "$ID"
	rc_is 0
	is "$out$err" 'sbxrun: warning: --kernel-memory: has no effect'
	run sbx --log log update --kernel-memory-tcp 10m "$ID"
	rc_is 0
	is "$out$err" ''
	file_has log 'kernel-memory-tcp'
}

a_limit_below_what_is_used_is_refused_on_request() {
	bundle 'mount({destination: "/big", type: "tmpfs", source: "tmpfs"})' \
		'sh("head -c 30000000 /dev/zero >/big/file; sleep 100")' ".linux.resources.memory = {limit: $((64 * M)), swap: $((64 * M))}"
	sbx run -d -b "$B" "$ID"
	wait_until 20 _uses_at_least 30000000
	echo "{\"memory\": {\"limit\": $((8 * M)), \"swap\": $((8 * M)), \"checkBeforeUpdate\": true}}" >r.json
	refused 'memory\.limit.*in use' sbx update -r r.json "$ID"
	_says memory memory.limit_in_bytes "^$((64 * M))\$" memory.max "^$((64 * M))\$"
	is "$(status_of "$ID")" running
}

_uses_at_least() {
	local usage
	slurp usage "$(cgroup_dir memory)/$([ -n "${CGROUP_MOUNTS[memory]:-}" ] && echo memory.usage_in_bytes || echo memory.current)"
	[ "$usage" -ge "$1" ]
}

# ---- cpu ----

cpu_flags_are_written() {
	_box
	_update --cpu-period 50000 --cpu-quota 20000 "$ID"
	_says cpu cpu.cfs_quota_us '^20000$' cpu.max '^20000 50000$'
	_says cpu cpu.cfs_period_us '^50000$' cpu.max '^20000 50000$'
	_update --cpu-burst 10000 "$ID"
	_says cpu cpu.cfs_burst_us '^10000$' cpu.max.burst '^10000$'
	_update --cpu-burst 0 "$ID"
	_says cpu cpu.cfs_burst_us '^0$' cpu.max.burst '^0$'
	_update --cpu-share 2048 "$ID"
	_says cpu cpu.shares '^2048$' cpu.weight '^1[0-9][0-9]$'
	_says cpu cpu.cfs_quota_us '^20000$' cpu.max '^20000 50000$'
}

a_period_leaves_the_quota_and_a_quota_the_period() {
	_box '{cpu: {quota: 30000, period: 60000}}'
	_update --cpu-period 40000 "$ID"
	_says cpu cpu.cfs_quota_us '^30000$' cpu.max '^30000 40000$'
	_says cpu cpu.cfs_period_us '^40000$' cpu.max '^30000 40000$'
	_update --cpu-quota 10000 "$ID"
	_says cpu cpu.cfs_quota_us '^10000$' cpu.max '^10000 40000$'
	_says cpu cpu.cfs_period_us '^40000$' cpu.max '^10000 40000$'
	_update --cpu-quota=-1 "$ID"
	_says cpu cpu.cfs_quota_us '^-1$' cpu.max '^max 40000$'
	_update --cpu-period 80000 "$ID"
	_says cpu cpu.cfs_period_us '^80000$' cpu.max '^max 80000$'
}

quota_and_period_change_in_either_direction() {
	_box '{cpu: {quota: 500000, period: 1000000}}'
	# A parent's limit or a burst may forbid one of the steps in between.
	_update --cpu-period 1000 --cpu-quota 1000 "$ID"
	_says cpu cpu.cfs_quota_us '^1000$' cpu.max '^1000 1000$'
	_update --cpu-period 1000000 --cpu-quota 500000 --cpu-burst 100000 "$ID"
	_says cpu cpu.cfs_quota_us '^500000$' cpu.max '^500000 1000000$'
	_says cpu cpu.cfs_burst_us '^100000$' cpu.max.burst '^100000$'
}

idle_is_set_and_lifted_with_shares() {
	_box
	_update --cpu-idle 1 "$ID"
	_says cpu cpu.idle '^1$' cpu.idle '^1$'
	_update --cpu-idle 0 "$ID"
	_says cpu cpu.idle '^0$' cpu.idle '^0$'
	_update --cpu-idle 1 --cpu-share 512 "$ID"
	_says cpu cpu.idle '^1$' cpu.idle '^1$'
	# The kernel takes no shares of an idle one: the order matters.
	_update --cpu-share 512 --cpu-idle 0 "$ID"
	_says cpu cpu.idle '^0$' cpu.idle '^0$'
	_says cpu cpu.shares '^512$' cpu.weight '^5[89]$'
}

cpusets_are_written() {
	_box
	if [ -z "${CGROUP_MOUNTS[cpuset]:-}" ] && ! grep -q cpuset "$(cgroup_dir cpuset)/cgroup.controllers"; then
		refused 'linux\.resources\.cpu\.cpus: this host has no cpuset' sbx update --cpuset-cpus 0 "$ID"
		return
	fi
	_update --cpuset-cpus 0 --cpuset-mems 0 "$ID"
	file_has "$(cgroup_dir cpuset)/cpuset.cpus" '^0$'
	file_has "$(cgroup_dir cpuset)/cpuset.mems" '^0$'
	refused 'linux\.resources\.cpu\.cpus' sbx update --cpuset-cpus 4000 "$ID"
	file_has "$(cgroup_dir cpuset)/cpuset.cpus" '^0$'
}

# Nobody gives a group realtime by default, so the kernel refuses; on v2 there is nothing like it.
realtime_is_passed_on() {
	_box
	if [ "$VIEW" = v2 ]; then
		refused 'linux\.resources\.cpu\.realtimePeriod: cgroup v2' sbx update --cpu-rt-period 500000 "$ID"
		refused 'linux\.resources\.cpu\.realtimeRuntime: cgroup v2' sbx update --cpu-rt-runtime 1000 "$ID"
		return
	fi
	run sbx update --cpu-rt-period 500000 "$ID"
	if [ "$rc" = 0 ]; then
		file_has "$(cgroup_dir cpu)/cpu.rt_period_us" '^500000$'
	else
		like "$err" 'linux\.resources\.cpu\.realtimePeriod'
	fi
	refused 'linux\.resources\.cpu\.realtimeRuntime' sbx update --cpu-rt-runtime 900000 "$ID"
}

# Runtime must fit into the period at all times: which goes first depends on what there is.
realtime_shrinks_and_grows() {
	local rows
	[ "$VIEW" != v2 ] || skip 'cgroup v2 has no realtime'
	[ -e "${CGROUP_MOUNTS[cpu]}/cpu.rt_runtime_us" ] || skip 'this kernel has no realtime of groups'
	bundle 'sh("sleep 100")' '.linux.resources.cpu = {realtimePeriod: 1000000, realtimeRuntime: 100000}'
	run sbx run -d -b "$B" "$ID"
	[ "$rc" = 0 ] || skip "there is none to give: $err"
	for rows in '50000 4000' '1000000 90000' '20000 1000' '500000 1000'; do
		_update --cpu-rt-period "${rows% *}" --cpu-rt-runtime "${rows#* }" "$ID"
		file_has "$(cgroup_dir cpu)/cpu.rt_period_us" "^${rows% *}$"
		file_has "$(cgroup_dir cpu)/cpu.rt_runtime_us" "^${rows#* }$"
	done
}

# The same of quota, period and burst.
quota_period_and_burst_shrink_and_grow_together() {
	local row
	_box '{cpu: {quota: 100000, period: 100000}}'
	for row in '100000 100000 100000' '10000 5000 0' '100000 90000 80000' '20000 2000 1000' '1000000 500000 500000'; do
		read -r period quota burst <<<"$row"
		_update --cpu-period "$period" --cpu-quota "$quota" --cpu-burst "$burst" "$ID"
		_says cpu cpu.cfs_period_us "^$period$" cpu.max "^$quota $period$"
		_says cpu cpu.cfs_quota_us "^$quota$" cpu.max "^$quota $period$"
		_says cpu cpu.cfs_burst_us "^$burst$" cpu.max.burst "^$burst$"
	done
}

# ---- the rest of the flags ----

pids_are_limited() {
	_box '{pids: {limit: 20}}'
	_update --pids-limit 10 "$ID"
	file_has "$(cgroup_dir pids)/pids.max" '^10$'
	# A limit like any other, as at create.
	_update --pids-limit 0 "$ID"
	_says pids pids.max '^0$' pids.max '^1$'
	_update --pids-limit -1 "$ID"
	file_has "$(cgroup_dir pids)/pids.max" '^max$'
}

# Which file there is depends on the kernel's disk schedulers; without any, the error says so.
blkio_weight_is_written_or_refused() {
	local file dir
	_box
	dir=$(cgroup_dir blkio)
	run sbx update --blkio-weight 500 "$ID"
	for file in blkio.weight blkio.bfq.weight io.bfq.weight io.weight; do
		[ -e "$dir/$file" ] || continue
		rc_is 0
		file_has "$dir/$file" '500|4950'
		return
	done
	rc_is 1
	like "$err" 'linux\.resources\.blockIO\.weight'
}

rdt_flags_need_a_container_with_a_class() {
	_box
	refused 'linux.intelRdt: container .* has none' sbx update --l3-cache-schema 'L3:0=f' "$ID"
	refused 'linux.intelRdt: container .* has none' sbx update --mem-bw-schema 'MB:0=20' "$ID"
}

# ---- the file ----

the_file_and_standard_input_are_read() {
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}}"
	echo "{\"memory\": {\"limit\": $((32 * M)), \"swap\": $((40 * M))}, \"cpu\": {\"shares\": 512}, \"pids\": {\"limit\": 11}}" >r.json
	_update -r r.json "$ID"
	_memory_is 32 40
	_says cpu cpu.shares '^512$' cpu.weight '^5[89]$'
	file_has "$(cgroup_dir pids)/pids.max" '^11$'
	run sbx update --resources=- "$ID" <<<'{"pids": {"limit": 12}}'
	rc_is 0
	file_has "$(cgroup_dir pids)/pids.max" '^12$'
	run sbx update --resources - "$ID" <<<'{"pids": {"limit": 13}}'
	rc_is 0
	file_has "$(cgroup_dir pids)/pids.max" '^13$'
	_memory_is 32 40
	# Flags go over it.
	run sbx update -r - --pids-limit 15 "$ID" <<<'{"pids": {"limit": 14}}'
	rc_is 0
	file_has "$(cgroup_dir pids)/pids.max" '^15$'
}

# What dockerd and containerd send when one limit of many is changed.
zeros_mean_leave_it() {
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}, cpu: {shares: 512, quota: 20000, period: 50000}, pids: {limit: 20}}"
	run sbx update --resources=- "$ID" <<-EOF
		{"memory": {"limit": $((48 * M)), "reservation": 0, "swap": $((96 * M)), "kernel": 0},
		"cpu": {"shares": 0, "quota": 0, "period": 0, "realtimeRuntime": 0, "realtimePeriod": 0, "cpus": "", "mems": ""},
		"pids": {"limit": 0}, "blockIO": {"weight": 0}, "unknown": {"is": "ignored"}}
	EOF
	rc_is 0
	is "$err" ''
	_memory_is 48 96
	_says cpu cpu.shares '^512$' cpu.weight '^5[89]$'
	_says cpu cpu.cfs_quota_us '^20000$' cpu.max '^20000 50000$'
	file_has "$(cgroup_dir pids)/pids.max" '^20$'
	_update -r /dev/stdin "$ID" <<<'{}'
	_memory_is 48 96
}

# A kubelet sends the whole of linux.resources, with the rules of create, which begin with "none".
device_rules_are_left_as_they_are() {
	bundle writable 'sh("while :; do : >/dev/null && echo >>/ok; usleep 20000; done")' \
		'.linux.resources.devices = [{allow: false, access: "rwm"}]'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/ok"
	run sbx update -r - "$ID" <<<'{"devices": [{"allow": false, "access": "rwm"}], "pids": {"limit": 15}}'
	rc_is 0
	is "$err" ''
	file_has "$(cgroup_dir pids)/pids.max" '^15$'
	rm "$B/rootfs/ok"
	wait_until 10 test -s "$B/rootfs/ok"
}

bad_documents_are_refused() {
	_box '{pids: {limit: 20}}'
	refused 'no such file' sbx update -r missing.json "$ID"
	run sbx update -r - "$ID" </dev/null
	rc_is 1
	run sbx update -r - "$ID" <<<'{"pids": {"limit": 12'
	rc_is 1
	run sbx update -r - "$ID" <<<'{"pids": {"limit": "12"}}'
	rc_is 1
	like "$err" 'pids\.limit'
	run sbx update -r - "$ID" <<<'[]'
	rc_is 1
	file_has "$(cgroup_dir pids)/pids.max" '^20$'
}

unified_files_are_written_where_there_are_any() {
	_box
	if [ "$VIEW" = v2 ]; then
		run sbx update -r - "$ID" <<<"{\"unified\": {\"memory.high\": \"$((32 * M))\"}}"
		rc_is 0
		file_has "$(cgroup_dir memory)/memory.high" "^$((32 * M))\$"
	else
		run sbx update -r - "$ID" <<<"{\"unified\": {\"memory.high\": \"$((32 * M))\"}}"
		rc_is 1
		like "$err" 'linux\.resources\.unified'
	fi
	run sbx update -r - "$ID" <<<'{"unified": {"cgroup.procs": "1"}}'
	rc_is 1
	like "$err" 'cgroup\.procs'
}

# ---- refusals ----

wrong_values_are_refused_and_change_nothing() {
	local args
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}, pids: {limit: 20}, cpu: {shares: 512, quota: 20000, period: 50000}}"
	for args in '--memory x' '--memory -2' '--memory 1z' '--memory-swap 1' '--memory-reservation 1.2.3' '--cpu-period 5' \
		'--cpu-quota 5' '--cpu-quota -2' '--cpu-share x' '--cpu-share 999999999' '--cpu-idle 2' '--cpu-burst -1' '--cpu-burst 30000 --cpu-quota 20000' \
		'--cpuset-cpus x' '--cpuset-mems 0-' '--blkio-weight 5' '--blkio-weight 70000' '--pids-limit x' '--pids-limit -2' '--memory 100m --memory-swap 50m'; do
		# shellcheck disable=SC2086
		refused . sbx update --pids-limit 10 $args "$ID"
	done
	_memory_is 64 96
	file_has "$(cgroup_dir pids)/pids.max" '^20$'
	_says cpu cpu.shares '^512$' cpu.weight '^5[89]$'
	_says cpu cpu.cfs_quota_us '^20000$' cpu.max '^20000 50000$'
}

# The kernel itself refuses the last of several: those before it are set back.
what_the_kernel_refuses_leaves_all_as_it_was() {
	_box "{memory: {limit: $((64 * M)), swap: $((96 * M))}, cpu: {shares: 512, quota: 20000, period: 50000}, pids: {limit: 20}}"
	# A burst above the quota in force can't be seen from the values given.
	refused 'cpu\.burst' sbx update --memory 32m --memory-swap 40m --cpu-share 1024 --pids-limit 10 --cpu-burst 90000 "$ID"
	_memory_is 64 96
	_says cpu cpu.shares '^512$' cpu.weight '^5[89]$'
	file_has "$(cgroup_dir pids)/pids.max" '^20$'
	refused 'cpu\.burst' sbx update --memory 128m --memory-swap 256m --cpu-period 60000 --cpu-burst 90000 "$ID"
	_memory_is 64 96
	_says cpu cpu.cfs_quota_us '^20000$' cpu.max '^20000 50000$'
	_says cpu cpu.cfs_period_us '^50000$' cpu.max '^20000 50000$'
	# A device that does not exist.
	run sbx update -r - "$ID" <<<"{\"memory\": {\"limit\": $((32 * M))}, \"pids\": {\"limit\": 10}, \"blockIO\": {\"throttleReadBpsDevice\": [{\"major\": 4000, \"minor\": 7, \"rate\": 1000}]}}"
	rc_is 1
	like "$err" 'throttleReadBpsDevice'
	_memory_is 64 96
	file_has "$(cgroup_dir pids)/pids.max" '^20$'
}

created_and_paused_containers_can_be_updated() {
	bundle 'sh("sleep 100")'
	sbx create -b "$B" "$ID"
	_update --pids-limit 9 "$ID"
	file_has "$(cgroup_dir pids)/pids.max" '^9$'
	sbx start "$ID"
	file_has "$(cgroup_dir pids)/pids.max" '^9$'
	sbx pause "$ID"
	_update --pids-limit 8 "$ID"
	file_has "$(cgroup_dir pids)/pids.max" '^8$'
	is "$(status_of "$ID")" paused
	sbx resume "$ID"
}

stopped_and_unknown_containers_are_refused() {
	bundle
	sbx run --keep -b "$B" "$ID"
	refused 'container not running' sbx update --pids-limit 8 "$ID"
	refused 'does not exist' sbx update --pids-limit 8 nobody
	refused 'usage' sbx update --pids-limit 8
	refused 'not defined' sbx update --no-such-flag 8 "$ID"
	refused 'needs an argument' sbx update "$ID" --memory
}

a_lowered_limit_holds() {
	local n
	bundle 'sh("trap \"n=0; for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & n=\\$!; done; echo \\$n >/n\" USR1; echo >/ready; while :; do usleep 10000; done")' writable
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/ready"
	_update --pids-limit 4 "$ID"
	sbx kill "$ID" USR1
	wait_until 10 _refused_a_fork
	n=$(wc -l <"$(cgroup_dir pids)/cgroup.procs")
	[ "$n" -le 4 ] || fail "$n processes"
}

_refused_a_fork() {
	local said
	slurp said "$(cgroup_dir pids)/pids.events"
	[[ $said =~ max\ [1-9] ]]
}

run_tests
