#!/bin/bash
# The list that an engine ($ENGINE) goes through with a runtime ($RT); engines/run calls it in a place of its own.
#
# Every test goes through the engine's command line and looks at what a user would see, or at the kernel's files.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"
TEST_ID=smoke
TEST_LIMIT=${ENGINE_TEST_LIMIT:-400}
IMAGE=localhost/smoke
ENGINE_LOG=$SBXT_WORK/engine.log

# ---- a command and its streams ----

run_rm() {
	box --name "$P" "$IMAGE" echo hello
	rc_is 0
	is "$out" hello
	is "$err" ''
	is "$(e ps -aq --filter "name=$P")" ''
}

run_status() {
	box "$IMAGE" sh -c 'exit 42'
	rc_is 42
}

run_killed_by_signal() {
	# not pid 1, which no signal from inside can kill
	box "$IMAGE" sh -c 'sh -c "kill -KILL \$\$"; exit $?'
	rc_is 137
}

command_not_found_is_127() {
	box "$IMAGE" no-such-command
	rc_is 127
	like "$err" 'not found'
	box "$IMAGE" /no/such/path
	rc_is 127
}

not_executable_is_126() {
	box "$IMAGE" /etc/hosts
	rc_is 126
	like "$err" '[Pp]ermission denied'
	box "$IMAGE" /etc
	rc_is 126
}

stdin_pipe() {
	run with_runtime run --rm -i "$IMAGE" wc -c < <(head -c 1000000 /dev/zero)
	rc_is 0
	is "$out" 1000000
}

stdout_4mb() {
	run with_runtime run --rm "$IMAGE" sh -c 'yes 0123456789abcde | head -c 4194304'
	rc_is 0
	is "$(md5sum <"$T/out")" "$(yes 0123456789abcde | head -c 4194304 | md5sum)"
}

stderr_apart() {
	box "$IMAGE" sh -c 'echo one; echo two >&2'
	is "$out" one
	is "$err" two
}

detached_logs() {
	sh_up a 'echo out; echo err >&2; exit 5'
	is "$(e wait "$C")" 5
	run e logs "$C"
	is "$out" out
	is "$err" err
	is "$(get '{{.State.Status}}')" exited
}

create_start_attached() {
	with_runtime create --name "$P-a" "$IMAGE" sh -c 'echo run; exit 3'
	run e start -a "$P-a"
	rc_is 3
	is "$out" run
}

# ---- exec ----

exec_status() {
	idle a
	run e exec "$C" sh -c 'echo out; echo err >&2; exit 9'
	rc_is 9
	is "$out" out
	is "$err" err
}

exec_user_env_workdir() {
	idle a
	run e exec -u 1000:2000 -e COLOUR=red -w /tmp "$C" sh -c 'echo $(id -u) $(id -g) $COLOUR $(pwd)'
	rc_is 0
	is "$out" '1000 2000 red /tmp'
}

exec_stdin() {
	idle a
	run e exec -i "$C" wc -c < <(head -c 100000 /dev/zero)
	is "$out" 100000
}

exec_detached() {
	idle a
	e exec -d "$C" sh -c 'echo mark >/tmp/mark'
	wait_until 10 e exec "$C" grep -q mark /tmp/mark
}

exec_not_found() {
	idle a
	run e exec "$C" no-such-command
	# docker made 126 of it up to 20.10
	rc_is "$([ "$ENGINE" = docker ] && [[ $(e version -f '{{.Server.Version}}') == 20.* ]] && echo 126 || echo 127)"
	like "$out$err" 'not found' # docker 20.10 says it on stdout
	run e exec "$C" true
	rc_is 0
}

exec_is_confined_like_init() {
	idle a
	is "$(e exec "$C" grep -E '^(Cap|Seccomp:|NoNewPrivs)' /proc/self/status)" \
		"$(e exec "$C" grep -E '^(Cap|Seccomp:|NoNewPrivs)' /proc/1/status)"
	is "$(e exec "$C" cat /proc/self/cgroup)" "$(e exec "$C" cat /proc/1/cgroup)"
}

# ---- terminals ----

tty_run() {
	on_terminal --size 30x90 "${PTY_RUN[@]}" -it "$IMAGE" sh <<-'END'
		expect #
		send test -t 0 && test -t 1 && echo ttys
		expect \nttys
		send tty; stty size
		expect /dev/(console|pts/0)
		expect 30 90
		send exit 4
	END
	rc_is 4
}

tty_exec() {
	idle a
	on_terminal --size 30x90 "${PTY_ENGINE[@]}" exec -it "$C" sh <<-'END'
		expect #
		send test -t 0 && tty
		expect /dev/pts/\d
		send until [ "$(stty size)" = "30 90" ]; do sleep 0.1; done; echo si''zed
		expect sized
		send exit 6
	END
	rc_is 6
}

tty_resize() {
	on_terminal "${PTY_RUN[@]}" -it "$IMAGE" sh <<-'END'
		expect #
		send until [ "$(stty size)" = "24 80" ]; do sleep 0.1; done; echo si''zed
		expect sized
		send until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; echo re''sized
		resize 50x132 resized
		send exit 0
	END
	rc_is 0
}

tty_exec_resize() {
	idle a
	on_terminal "${PTY_ENGINE[@]}" exec -it "$C" sh <<-'END'
		expect #
		send until [ "$(stty size)" = "24 80" ]; do sleep 0.1; done; echo si''zed
		expect sized
		send until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; echo re''sized
		resize 50x132 resized
		send exit 0
	END
	rc_is 0
}

# ---- life ----

stop_is_graceful() {
	sh_up a 'trap "exit 7" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until 10 logs_have ready
	e stop -t 20 "$C"
	is "$(get '{{.State.ExitCode}}')" 7
}

stop_kills_in_the_end() {
	sh_up a 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until 10 logs_have ready
	e stop -t 1 "$C"
	is "$(get '{{.State.ExitCode}}')" 137
}

kill_is_137() {
	idle a
	e kill "$C"
	wait_until 10 get_is '{{.State.Status}}' exited
	is "$(get '{{.State.ExitCode}}')" 137
}

kill_with_a_signal() {
	sh_up a 'trap "echo got HUP; exit 8" HUP; echo ready; while :; do sleep 0.05; done'
	wait_until 10 logs_have ready
	e kill -s HUP "$C"
	is "$(e wait "$C")" 8
	logs_have 'got HUP' || fail 'the log does not say so'
}

restart() {
	local before
	idle a
	before=$(pid_in_host)
	e restart -t 5 "$C"
	is "$(get '{{.State.Running}}')" true
	isnt "$(pid_in_host)" "$before"
}

start_again() {
	sh_up a 'echo x >>/tmp/runs; wc -l </tmp/runs'
	e wait "$C"
	run e start -a "$C"
	is "$out" 2
}

pause_unpause() {
	idle a
	e pause "$C"
	is "$(get '{{.State.Status}}')" paused
	is "$(knob freezer freezer.state cgroup.freeze)" "$(by_view FROZEN 1)"
	run e exec "$C" true
	isnt "$rc" 0
	e unpause "$C"
	is "$(get '{{.State.Status}}')" running
	is "$(knob freezer freezer.state cgroup.freeze)" "$(by_view THAWED 0)"
	run e exec "$C" true
	rc_is 0
}

remove_while_paused() {
	idle a
	e pause "$C"
	e rm -f "$C"
	is "$(e ps -aq --filter "name=$C")" ''
}

# ---- limits ----

# Whether the machine has a controller; User-mode Linux lacks cpuset.
_has() {
	[ -n "${CGROUP_MOUNTS[$1]:-}" ] || grep -qw "$1" /sys/fs/cgroup/cgroup.controllers
}

limits() {
	local cpuset=()
	! _has cpuset || cpuset=(--cpuset-cpus 0)
	idle a --memory 64m --memory-swap 64m --cpus 0.5 --pids-limit 50 --cpu-shares 512 "${cpuset[@]}"
	knob_is 67108864 memory memory.limit_in_bytes memory.max
	knob_is "$(by_view 50000 '50000 100000')" cpu cpu.cfs_quota_us cpu.max
	knob_is 50 pids pids.max pids.max
	! _has cpuset || knob_is 0 cpuset cpuset.cpus cpuset.cpus
	# runtimes of different ages turn shares into a weight in different ways
	like "$(knob cpu cpu.shares cpu.weight)" "$(by_view '^512$' '^(20|59)$')"
}

limits_seen_inside() {
	local dir=/sys/fs/cgroup
	box --memory 64m --pids-limit 50 "$IMAGE" sh -c "
		cat $dir/memory/memory.limit_in_bytes || cat $dir/memory.max
		cat $dir/pids/pids.max || cat $dir/pids.max"
	is "$out" $'67108864\n50'
}

update_memory() {
	idle a --memory 64m --memory-swap 64m
	e update --memory 128m --memory-swap 256m "$C"
	knob_is 134217728 memory memory.limit_in_bytes memory.max
	[ "$VIEW" = v2 ] || knob_is 268435456 memory memory.memsw.limit_in_bytes -
	run e exec "$C" true
	rc_is 0
}

update_cpus() {
	idle a --cpus 0.5
	e update --cpus 0.25 "$C"
	knob_is "$(by_view 25000 '25000 100000')" cpu cpu.cfs_quota_us cpu.max
}

update_pids() {
	idle a --pids-limit 50
	e update --pids-limit 20 "$C"
	knob_is 20 pids pids.max pids.max
}

without_cgroups() {
	idle a --cgroups disabled
	run e exec "$C" cat /proc/1/cgroup
	rc_is 0
	unlike "$out" 'libpod'
	e rm -f "$C"
}

oom_is_reported() {
	sh_up a 'tail /dev/zero' --memory 16m --memory-swap 16m
	is "$(e wait "$C")" 137
	if [ "$ENGINE" = docker ]; then
		wait_until 5 get_is '{{.State.OOMKilled}}' true
	else
		wait_until 5 _podman_or_conmon_knows
	fi
}

# podman 4.3 looks for the file elsewhere than where conmon 2.1.6 makes it, which is its caller's directory.
_podman_or_conmon_knows() {
	[ -e oom ] || get_is '{{.State.OOMKilled}}' true
}

# ---- what the process may do ----

read_only() {
	box --read-only "$IMAGE" sh -c 'echo x >/file'
	isnt "$rc" 0
	like "$err" 'Read-only file system'
	box --read-only --tmpfs /scratch "$IMAGE" sh -c 'echo x >/scratch/file && cat /scratch/file'
	is "$out" x
}

user_and_groups() {
	box --user 1000:2000 --group-add 3000 "$IMAGE" sh -c 'echo $(id -u) $(id -g) $(id -G)'
	is "$out" '1000 2000 2000 3000'
}

cap_drop() {
	box --cap-drop ALL "$IMAGE" grep -E 'Cap(Eff|Prm|Bnd)' /proc/self/status
	unlike "$out" '[1-9a-f]'$'\n'
	like "$out" '0000000000000000$'
	box --cap-drop CHOWN "$IMAGE" chown 1000 /tmp
	isnt "$rc" 0
}

cap_add() {
	box --cap-drop ALL --cap-add NET_ADMIN "$IMAGE" grep -E 'CapEff' /proc/self/status
	like "$out" 'CapEff:.*0000000000001000$'
}

no_new_privileges() {
	box --security-opt no-new-privileges "$IMAGE" grep NoNewPrivs /proc/self/status
	like "$out" '1$'
}

seccomp_default() {
	box "$IMAGE" sh -c 'grep Seccomp: /proc/self/status; unshare -U true'
	like "$out" '2$'
	# podman's own list allows unshare
	[ "$ENGINE" = podman ] || like "$err" 'not permitted'
}

seccomp_unconfined() {
	box --security-opt seccomp=unconfined "$IMAGE" sh -c 'grep Seccomp: /proc/self/status; unshare -U true'
	rc_is 0
	like "$out" '0$'
}

masked_paths() {
	box "$IMAGE" sh -c 'cat /proc/keys /proc/timer_list; ls /sys/firmware; echo end; echo 0 >/proc/sys/kernel/panic'
	isnt "$rc" 0
	is "$out" end
	like "$err" 'Read-only'
}

device_given() {
	box --device /dev/full:/dev/brimful "$IMAGE" sh -c 'echo x >/dev/brimful'
	like "$err" 'No space left'
}

device_denied() {
	box --cap-add MKNOD "$IMAGE" sh -c 'mknod /tmp/full c 1 7 && mknod /tmp/mem c 1 1 && cat /tmp/mem'
	isnt "$rc" 0
	like "$err" 'mem.*not permitted'
}

ulimit() {
	# podman raises nproc if it isn't told, and not every root may raise a limit
	box --ulimit nofile=100:200 --ulimit nproc=1000:1000 "$IMAGE" sh -c 'ulimit -n; ulimit -Hn'
	is "$out" $'100\n200'
}

sysctl() {
	box --sysctl net.ipv4.ip_forward=1 "$IMAGE" cat /proc/sys/net/ipv4/ip_forward
	is "$out" 1
}

oom_score_adj() {
	box --oom-score-adj 500 "$IMAGE" cat /proc/self/oom_score_adj
	rc_is 0
	is "$out" 500
	idle a --oom-score-adj 300
	is "$(e exec "$C" cat /proc/self/oom_score_adj)" 300
}

ids_are_mapped() {
	box "$IMAGE" sh -c 'id -u; cat /proc/self/uid_map'
	rc_is 0
	like "$out" $'^0\n +0 +300000 +65536$'
	idle a
	is "$(stat -c %u "/proc/$(pid_in_host)")" 300000
}

# ---- files ----

bind_rw() {
	mkdir -m 777 "$T/data"
	box -v "$T/data:/data" "$IMAGE" sh -c 'echo mine >/data/file'
	rc_is 0
	file_has "$T/data/file" mine
}

bind_ro() {
	mkdir "$T/data"
	echo host >"$T/data/file"
	box -v "$T/data:/data:ro" "$IMAGE" sh -c 'cat /data/file; echo x >/data/file'
	isnt "$rc" 0
	is "$out" host
	like "$err" 'Read-only'
}

# What is closed to everybody but the host's root is closed to the root of a user namespace.
bind_below_a_closed_directory() {
	mkdir -p "$T/closed/data"
	chmod 700 "$T/closed"
	echo host >"$T/closed/data/file"
	box -v "$T/closed/data:/data" -v "$T/closed/data/file:/etc/one-file:ro" "$IMAGE" cat /data/file /etc/one-file
	rc_is 0
	is "$out" $'host\nhost'
}

bind_file() {
	echo host >"$T/file"
	box -v "$T/file:/etc/one-file:ro" "$IMAGE" cat /etc/one-file
	is "$out" host
}

named_volume() {
	box -v "$P:/data" "$IMAGE" sh -c 'echo kept >/data/file'
	box -v "$P:/data" "$IMAGE" cat /data/file
	e volume rm "$P"
	is "$out" kept
}

tmpfs() {
	box --tmpfs /scratch:rw,size=1m,noexec "$IMAGE" grep ' /scratch ' /proc/mounts
	like "$out" 'tmpfs /scratch tmpfs rw,.*noexec.*size=1024k'
}

shm_size() {
	box --shm-size 1m "$IMAGE" grep ' /dev/shm ' /proc/mounts
	like "$out" 'size=1024k'
}

copy_in_and_out() {
	idle a
	echo here >"$T/file"
	e cp "$T/file" "$C:/tmp/there"
	is "$(e exec "$C" cat /tmp/there)" here
	mkdir -m 777 "$T/data"
	e cp "$C:/tmp/there" "$T/data/back"
	file_has "$T/data/back" here
}

commit_and_diff() {
	sh_up a 'echo kept >/kept'
	e wait "$C"
	like "$(e diff "$C")" 'A /kept'
	e commit "$C" "localhost/$P"
	box "localhost/$P" cat /kept
	e rmi "localhost/$P"
	is "$out" kept
}

# ---- names, namespaces ----

hostname_and_env() {
	box --hostname box -e COLOUR=red "$IMAGE" sh -c 'hostname; echo $COLOUR'
	is "$out" $'box\nred'
}

init() {
	box --init "$IMAGE" sh -c 'cat /proc/1/comm; echo $$'
	like "$out" 'init|tini'
	unlike "$out" '^sh'
}

pid_host() {
	box --pid host "$IMAGE" readlink /proc/self/ns/pid
	is "$out" "$(readlink /proc/self/ns/pid)"
	box "$IMAGE" sh -c 'echo $$'
	is "$out" 1
}

pid_of_a_container() {
	idle a
	box --pid "container:$C" "$IMAGE" readlink /proc/self/ns/pid
	is "$out" "$(readlink "/proc/$(pid_in_host)/ns/pid")"
}

# Whether there are so many processes of the next test.
_are_asleep() {
	[ "$(pgrep -cf '^sleep 7777$')" = "$1" ]
}

# Where no cgroup tells which processes are the container's.
kill_with_pid_host_and_without_cgroups() {
	sh_up a 'sleep 7777 & sleep 7777 & wait' --pid host
	wait_until 20 _are_asleep 2
	e kill "$C"
	wait_until 10 get_is '{{.State.Status}}' exited
	wait_until 20 _are_asleep 0
}

userns_keep_id() {
	box --userns keep-id "$IMAGE" sh -c 'id -u; id -g; cat /proc/self/uid_map'
	rc_is 0
	like "$out" $'^4242\n4242\n'
}

pod_shares_its_namespaces() {
	local one other code='for ns in net ipc uts mnt; do readlink /proc/self/ns/$ns; done'
	: >"$T/named"
	: >"$T/pod"
	e pod create --name "$P-pod" --infra-image "$IMAGE" --infra-command 'sleep 1000' --network none
	e run -d --pod "$P-pod" --name "$P-a" "$IMAGE" sleep 1000
	e run -d --pod "$P-pod" --name "$P-b" "$IMAGE" sleep 1000
	one=$(e exec "$P-a" sh -c "$code")
	other=$(e exec "$P-b" sh -c "$code")
	is "${one%$'\n'*}" "${other%$'\n'*}"
	isnt "${one##*$'\n'}" "${other##*$'\n'}"
	e pod rm -f -t 0 "$P-pod"
	is "$(e ps -aq --filter "name=$P")" ''
}

build() {
	mkdir -m 755 "$T/build"
	printf 'FROM %s\nRUN echo built >/built; id -u >>/built\n' "$IMAGE" >"$T/build/Dockerfile"
	e build --isolation oci --network none -q -t "localhost/$P" "$T/build"
	box "localhost/$P" cat /built
	e rmi "localhost/$P"
	is "$out" $'built\n0'
}

# Whether the cgroup is empty or gone.
_has_no_process() {
	[ -z "$(cat "$1/cgroup.procs" 2>/dev/null)" ]
}

kill_with_pid_host() {
	local dir
	sh_up a 'sleep 1000 & sleep 1000 & wait' --pid host
	dir=$(cgroup_path "$(pid_in_host)" pids)
	e kill "$C"
	wait_until 10 get_is '{{.State.Status}}' exited
	wait_until 10 _has_no_process "$dir"
}

network_none() {
	box --network none "$IMAGE" sh -c 'ls /sys/class/net'
	is "$out" lo
}

network_host() {
	box --network host "$IMAGE" readlink /proc/self/ns/net
	is "$out" "$(readlink /proc/self/ns/net)"
}

network_of_a_container() {
	idle a
	box --network "container:$C" "$IMAGE" readlink /proc/self/ns/net
	is "$out" "$(readlink "/proc/$(pid_in_host)/ns/net")"
}

ipc_and_uts_host() {
	box --ipc host --uts host "$IMAGE" sh -c 'readlink /proc/self/ns/ipc; readlink /proc/self/ns/uts'
	is "$out" "$(readlink /proc/self/ns/ipc /proc/self/ns/uts)"
}

cgroupns() {
	box --cgroupns host "$IMAGE" readlink /proc/self/ns/cgroup
	is "$out" "$(readlink /proc/self/ns/cgroup)"
	box --cgroupns private "$IMAGE" sh -c 'readlink /proc/self/ns/cgroup; grep :memory: /proc/self/cgroup || cat /proc/self/cgroup'
	isnt "${out%%$'\n'*}" "$(readlink /proc/self/ns/cgroup)"
	like "$out" ':/$'
}

# ---- looking at it ----

top() {
	idle a
	run e top "$C"
	rc_is 0
	like "$out" 'PID'
	like "$out" 'sleep|sh -c'
	run e top "$C" -o pid,comm
	rc_is 0
	like "$out" ' sh'
}

stats() {
	idle a --memory 64m
	run e stats --no-stream --format '{{.MemUsage}}' "$C"
	rc_is 0
	like "$out" '[1-9].*/ 6[47]'
}

# The handler for pods: containerd reads the file as it is documented.
containerd_takes_its_config() {
	run containerd --config "$TESTS_DIR/../spec/engines/containerd-config.toml" config dump
	rc_is 0
	like "$out" 'runtimes\.sbxrun\.options\]'
	like "$out" "BinaryName = [\"']/usr/local/bin/sbxrun"
}

healthcheck() {
	idle a --health-cmd 'echo fine' --health-interval 300ms
	wait_until 20 get_is '{{.State.Health.Status}}' healthy
	like "$(get '{{(index .State.Health.Log 0).Output}}')" fine
}

# ---- many, and the end ----

ten_in_parallel() {
	local i pids=()
	for i in {0..9}; do
		with_runtime run --rm --name "$P-$i" "$IMAGE" sh -c "echo $i; exit $i" >"$T/out.$i" 2>&1 &
		pids+=($!)
	done
	for i in {0..9}; do
		rc=0
		wait "${pids[i]}" || rc=$?
		out=$(cat "$T/out.$i")
		rc_is "$i"
		is "$out" "$i"
	done
}

failed_starts_leave_nothing() {
	local i
	for i in {1..3}; do
		box --name "$P-$i" "$IMAGE" no-such-command
	done
	is "$(e ps -aq --filter "name=$P")" ''
}

nothing_is_left() {
	all_is_gone
}

# podman 4.3 has no update --pids-limit, and nothing to do with containerd. docker has no containers without cgroups, nor has runc.
[ "$ENGINE" = docker ] || unset -f update_pids containerd_takes_its_config
[ "$ENGINE $RT" = 'podman sbxrun' ] || unset -f without_cgroups
[ "$ENGINE" = docker ] || unset -f healthcheck # podman's timers are systemd's
[ -z "${ROOTLESS:-}" ] || unset -f bind_below_a_closed_directory # closed to podman itself
if [ -z "${REMAP:-}" ]; then
	unset -f ids_are_mapped
elif [ -z "${ALL:-}" ]; then
	# What a user namespace may change. The others fail with every runtime, or tell nothing new.
	mapfile -t rest < <(test_names | grep -vxE "run_(rm|status)|command_not_found_is_127|exec_(status|user_env_workdir|is_confined_like_init)|\
tty_(run|exec|resize)|stop_is_graceful|kill_is_137|pause_unpause|limits|update_memory|oom_is_reported|read_only|user_and_groups|\
cap_add|seccomp_default|masked_paths|device_given|sysctl|oom_score_adj|ids_are_mapped|bind_.*|named_volume|tmpfs|shm_size|copy_in_and_out|\
hostname_and_env|pid_of_a_container|network_of_a_container|healthcheck|nothing_is_left")
	unset -f "${rest[@]}"
else
	unset -f pid_host kill_with_pid_host network_host ipc_and_uts_host device_denied # docker refuses the combination, or the kernel
fi
if [ -z "${ROOTLESS:-}" ]; then
	unset -f kill_with_pid_host_and_without_cgroups userns_keep_id pod_shares_its_namespaces build
else
	[ "$VIEW" = v2 ] || unset -f pause_unpause remove_while_paused limits limits_seen_inside update_memory update_cpus \
		oom_is_reported kill_with_pid_host stats # need cgroups, which an ordinary user has on v2 alone
	unset -f device_denied # makes nodes
	[ -d /dev/mqueue ] || unset -f ipc_and_uts_host # podman binds the host's
fi

PTY_ENGINE=(docker)
[ "$ENGINE" != podman ] || PTY_ENGINE=("${PODMAN[@]}" --runtime "$RT")
PTY_RUN=("${PTY_ENGINE[@]}" run --rm --network none)
[ "$ENGINE" != docker ] || PTY_RUN+=(--runtime "$RT")
make_template
if ! engine_up; then
	echo "not ok smoke start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG" | sed 's/^/    /'
	exit 1
fi
run_tests
