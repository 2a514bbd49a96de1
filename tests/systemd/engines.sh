#!/bin/bash
# Engines as services of a systemd, with the cgroup driver that they choose there; systemd/run calls it in a box.
#
#	ENGINE	docker, podman, or podman-rootless, of an ordinary user with a systemd of his own (v2 only)
#	RT	the runtime, as the engine knows it
# What a user sees is compared, and what systemd says of the units.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$TESTS_DIR/systemd/lib.sh"
ROOTLESS=''
[[ ${ENGINE:?} != *-rootless ]] || ROOTLESS=sbxtest
TEST_ID=systemd-$KIND-$ENGINE
[ "${RT:?}" = sbxrun ] || TEST_ID+=-$RT
ENGINE=${ENGINE%-rootless}
# shellcheck source-path=SCRIPTDIR source=../engines/lib.sh
. "$TESTS_DIR/engines/lib.sh"
IMAGE=localhost/systemd
ENGINE_LOG=$SBXT_WORK/engine.log

# Sets UNIT to the scope of $C and SLICE to where it is, by what the engine says of it.
_find_unit() {
	local id
	id=$(get '{{.Id}}')
	case $ENGINE$ROOTLESS in
	docker) UNIT=docker-$id.scope SLICE=system.slice ;;
	podman) UNIT=libpod-$id.scope SLICE=machine.slice ;;
	*) UNIT=libpod-$id.scope SLICE=user.slice ;;
	esac
}

the_driver_is_systemd() {
	if [ "$ENGINE" = docker ]; then
		is "$(e info -f '{{.CgroupDriver}} {{.CgroupVersion}}')" "systemd $(by_kind 1 2)"
	else
		is "$(e info -f '{{.Host.CgroupManager}} {{.Host.CgroupsVersion}}')" "systemd $(by_kind v1 v2)"
	fi
}

a_container_is_a_scope() {
	local pid
	idle a
	_find_unit
	shows "$UNIT" ActiveState=active "Slice=$SLICE" Delegate=yes
	pid=$(pid_in_host)
	like "$(cgroup_path "$pid" pids)" "/$SLICE/$UNIT"
	run e exec "$C" sh -c 'echo out; exit 9'
	rc_is 9
	is "$out" out
	is "$(e exec "$C" cat /proc/self/cgroup)" "$(e exec "$C" cat /proc/1/cgroup)"
	e rm -f "$C"
	gone_is "$UNIT"
}

a_program_ends_as_it_will() {
	box "$IMAGE" sh -c 'echo out; echo err >&2; exit 42'
	rc_is 42
	is "$out/$err" out/err
	box "$IMAGE" no-such-command
	rc_is 127
	box "$IMAGE" /etc/hosts
	rc_is 126
}

limits_are_the_units() {
	idle a --memory 64m --pids-limit 30
	_find_unit
	shows "$UNIT" "$(by_kind MemoryLimit MemoryMax)=67108864" TasksMax=30
	is "$(knob memory memory.limit_in_bytes memory.max)" 67108864
	is "$(knob pids pids.max pids.max)" 30
	is "$(e exec "$C" cat "$(by_kind /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max)")" 67108864
	"${SYSTEMCTL[@]}" daemon-reload
	[ -z "$ROOTLESS" ] || systemctl daemon-reload
	is "$(knob memory memory.limit_in_bytes memory.max)" 67108864
}

# An ordinary user has no say over processor time on Debian 12.
cpu_limits_are_the_units() {
	idle a --cpus 0.5 --cpu-shares 1024
	_find_unit
	shows "$UNIT" CPUQuotaPerSecUSec=500ms
	is "$(knob cpu cpu.cfs_quota_us cpu.max)" "$(by_kind 50000 '50000 100000')"
}

update_is_the_units() {
	idle a --memory 64m
	_find_unit
	if [ "$ENGINE" = docker ]; then
		e update --memory 48m --memory-swap 48m --pids-limit 40 "$C"
		shows "$UNIT" TasksMax=40
	else
		e update --memory 48m "$C"
	fi
	shows "$UNIT" "$(by_kind MemoryLimit MemoryMax)=50331648"
	is "$(knob memory memory.limit_in_bytes memory.max)" 50331648
}

_unit_is_forgotten() {
	[[ $("${SYSTEMCTL[@]}" show -p LoadState "$UNIT") == *=not-found ]]
}

stop_ends_the_unit() {
	sh_up a 'trap "exit 7" TERM; echo ready; while :; do sleep 0.1; done'
	_find_unit
	wait_until 10 logs_have ready
	e stop -t 20 "$C"
	is "$(get '{{.State.ExitCode}}')" 7
	wait_until 10 _unit_is_forgotten
	e start "$C"
	_find_unit
	shows "$UNIT" ActiveState=active
}

# The first process lives on for a moment: systemd removes a cgroup once it is empty, and engines read there that it was out of memory.
an_oom_kill_is_reported() {
	sh_up a 'tail /dev/zero; sleep 2; exit 137' --memory 16m
	is "$(e wait "$C")" 137
	wait_until 5 get_is '{{.State.OOMKilled}}' true
	_find_unit
	wait_until 10 _unit_is_forgotten
	e start "$C"
	is "$(e wait "$C")" 137
}

# podman 4.3 looks for the file elsewhere than where conmon 2.1.6 makes it, which is its caller's directory. On v2 conmon looks after the
# end, and finds the cgroup or doesn't, with any runtime.
an_oom_kill_is_noticed() {
	sh_up a 'tail /dev/zero' --memory 16m
	is "$(e wait "$C")" 137
	[ "$KIND" = v2 ] || wait_until 5 test -e oom
	_find_unit
	wait_until 10 _unit_is_forgotten
	[ -z "$ROOTLESS" ] || rm -f /home/sbxtest/oom
}

pause_and_unpause() {
	idle a
	e pause "$C"
	is "$(get '{{.State.Status}}')" paused
	e unpause "$C"
	is "$(get '{{.State.Status}}')" running
	is "$(e exec "$C" echo hello)" hello
}

# docker ends its containers with itself, unless it is told otherwise.
a_new_daemon_finds_the_old_containers() {
	idle a
	_find_unit
	systemctl restart docker.service
	is "$(get '{{.State.Status}}')" exited
	wait_until 10 _unit_is_forgotten
	e start "$C"
	_find_unit
	jq '."live-restore" = true' /etc/docker/daemon.json >"$T/daemon.json"
	cat "$T/daemon.json" >/etc/docker/daemon.json
	systemctl reload docker.service
	wait_until 10 _lives_on
	systemctl restart docker.service
	jq 'del(."live-restore")' /etc/docker/daemon.json >"$T/daemon.json"
	cat "$T/daemon.json" >/etc/docker/daemon.json
	shows "$UNIT" ActiveState=active
	is "$(get '{{.State.Status}}')" running
	is "$(e exec "$C" echo hello)" hello
	e rm -f "$C"
	gone_is "$UNIT"
}

_lives_on() {
	[ "$(e info -f '{{.LiveRestoreEnabled}}')" = true ]
}

a_slice_can_be_chosen() {
	local slice=${P//-/_}.slice
	idle a --cgroup-parent "$slice"
	_find_unit
	shows "$UNIT" ActiveState=active "Slice=$slice"
	e rm -f "$C"
	gone_is "$UNIT"
	"${SYSTEMCTL[@]}" stop "$slice"
	# v1: what runc has made where systemd has no say
	[ "$RT" = sbxrun ] || find /sys/fs/cgroup/*/"$slice" -depth -exec rmdir {} \; 2>/dev/null || :
}

# podman leaves the intervals to timers of systemd.
health_is_asked_for_by_timers() {
	idle a --health-cmd 'echo fine' --health-interval 1s
	wait_until 30 get_is '{{.State.Healthcheck.Status}}' healthy
}

a_pod_is_a_slice() {
	local slice
	: >"$T/named"
	: >"$T/pod"
	e pod create --name "$P-pod" --infra-image "$IMAGE" --infra-command 'sleep 1000' --network none
	e run -d --pod "$P-pod" --name "$P-a" "$IMAGE" sleep 1000
	C=$P-a
	slice=$(e pod inspect -f '{{.CgroupPath}}' "$P-pod")
	slice=${slice##*/}
	_find_unit
	shows "$UNIT" ActiveState=active "Slice=$slice"
	e pod rm -f -t 0 "$P-pod"
	gone_is "$UNIT"
	# runc leaves it where v1 has a hierarchy that is not systemd's affair
	[ "$RT $KIND" = 'runc v1' ] || wait_until 10 _no_such_slice "$slice"
}

_no_such_slice() {
	[ -z "$(find /sys/fs/cgroup -name "$1")" ]
}

# Prints what the engine, the runtime or systemd should have taken away by now.
_left() {
	e ps -aq --no-trunc | sed 's/^/container /'
	"${SYSTEMCTL[@]}" list-units --all --no-legend --plain 'docker-*.scope' 'libpod-*.scope' '*sbxt*' | sed 's/^/unit /; s/ .*//'
	"${SYSTEMCTL[@]}" --failed --no-legend --plain | sed 's/^/failed unit /'
	find /sys/fs/cgroup -name 'docker-*.scope' -o -name 'libpod-*.scope' | sed 's/^/cgroup /'
	# What `explain --last` shows outlives the container on purpose.
	ls -d /run/docker/runtime-*/moby/* /run/{sbxrun,runc}/* /run/user/4242/{sbxrun,runc}/* 2>/dev/null | sed '/\/explain:last$/d; s/^/state /' || :
}

nothing_is_left() {
	local end=$((SECONDS + 60)) found
	until found=$(_left) && [ -z "$found" ]; do
		[ "$SECONDS" -lt "$end" ] || { echo "$found"; fail "${found%%$'\n'*} and more"; }
		nap
	done
}

# The runtime is registered as spec/engines says; nothing else is configured but what the box lacks: a network, and CAP_SYS_RESOURCE.
_configure() {
	local spec=${TESTS_DIR%/*}/spec/engines
	case $ENGINE in
	docker)
		mkdir -p /etc/docker
		jq --arg kind "$KIND" '. + {iptables: false, ip6tables: false, bridge: "none"}
			+ if $kind == "v1" then {"exec-opts": ["native.cgroupdriver=systemd"]} else {} end' \
			"$spec/daemon.json" >/etc/docker/daemon.json
		systemctl start docker.service
		;;
	podman)
		install -D -m 644 "$spec/podman-sbxrun.conf" /etc/containers/containers.conf.d/sbxrun.conf
		printf '%s\n' '[containers]' 'default_ulimits = []' >/etc/containers/containers.conf.d/tests.conf
		;;
	esac
}

if [ -n "$ROOTLESS" ]; then
	PODMAN=("${AS_USER[@]}" podman)
	SYSTEMCTL=("${AS_USER[@]}" systemctl --user)
	unset -f cpu_limits_are_the_units
fi
# What v1 shows as well, and User-mode Linux takes a quarter of a minute for.
if [ "$KIND" = v2 ] && [ -z "${SYSTEMD_LONG:-}" ]; then
	unset -f a_program_ends_as_it_will cpu_limits_are_the_units stop_ends_the_unit pause_and_unpause a_new_daemon_finds_the_old_containers \
		a_slice_can_be_chosen health_is_asked_for_by_timers
	[ "$ENGINE" = docker ] || unset -f update_is_the_units
	[ -z "$ROOTLESS" ] || unset -f a_pod_is_a_slice an_oom_kill_is_noticed
fi
[ "$ENGINE" = docker ] || unset -f a_new_daemon_finds_the_old_containers an_oom_kill_is_reported
[ "$ENGINE" = podman ] || unset -f an_oom_kill_is_noticed health_is_asked_for_by_timers a_pod_is_a_slice
make_template
tar -C "$SBXT_WORK/template/rootfs" -c . >"$SBXT_WORK/image.tar"
if ! { _configure && e import "$SBXT_WORK/image.tar" "$IMAGE"; } >"$ENGINE_LOG" 2>&1; then
	echo "not ok $TEST_ID start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG" | sed 's/^/    /'
	exit 1
fi
run_tests
