#!/bin/bash
# The list that containerd's own client goes through with a runtime ($RT, by --runc-binary); engines/run calls it in a place of its own.
#
# No engine is between: these are the shim's calls, one at a time. Each test looks at what a user would see, or at the kernel's files.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=ctr-lib.sh
. "$HERE/ctr-lib.sh"
TEST_ID=ctr
TEST_LIMIT=${ENGINE_TEST_LIMIT:-400}

# ---- a command and its streams ----

run_rm() {
	run run_box a --rm -- sh -c 'echo out; echo err >&2'
	rc_is 0
	is "$out/$err" out/err
	is "$(c container ls -q)" ''
}

run_status() {
	run run_box a --rm -- sh -c 'exit 42'
	rc_is 42
}

run_killed_by_signal() {
	run run_box a --rm -- sh -c 'sh -c "kill -KILL \$\$"; exit $?'
	rc_is 137
}

command_not_found() {
	run run_box a --rm -- no-such-command
	isnt "$rc" 0
	like "$err" 'executable file not found in \$PATH'
	is "$(c task ls -q)" ''
}

not_executable() {
	echo words >"$T/file"
	run run_box a --rm --mount "type=bind,src=$T/file,dst=/tmp/file,options=rbind:ro" -- /tmp/file
	isnt "$rc" 0
	like "$err" '[Pp]ermission denied'
}

stdin_pipe() {
	run run_box a --rm -- wc -c < <(head -c 1000000 /dev/zero)
	rc_is 0
	is "$out" 1000000
}

stdout_4mb() {
	run run_box a --rm -- sh -c 'yes 0123456789abcde | head -c 4194304'
	rc_is 0
	is "$(md5sum <"$T/out")" "$(yes 0123456789abcde | head -c 4194304 | md5sum)"
}

a_used_id_is_refused() {
	idle a
	run run_box a -d -- true
	isnt "$rc" 0
	like "$err" 'already exists'
	task_is RUNNING
}

# ---- exec ----

exec_status() {
	idle a
	run x "$C" sh -c 'echo out; echo err >&2; exit 9'
	rc_is 9
	is "$out/$err" out/err
}

exec_stdin() {
	idle a
	run x "$C" wc -c < <(head -c 100000 /dev/zero)
	is "$out" 100000
}

exec_user_and_directory() {
	idle a
	run x --user 1000:2000 --cwd /tmp "$C" sh -c 'echo $(id -u) $(id -g) $(pwd)'
	rc_is 0
	is "$out" '1000 2000 /tmp'
}

exec_detached_is_listed_and_killed() {
	idle a
	c task exec -d --exec-id "$P-one" "$C" sleep 7777
	like "$(c task ps "$C")" "$P-one"
	c task kill -s KILL --exec-id "$P-one" "$C"
	wait_until 20 _has_processes 1
	task_is RUNNING
}

_has_processes() {
	[ "$(x "$C" ps -o args | grep -c '^sleep 7777$')" = "$(($1 - 1))" ]
}

exec_not_found() {
	idle a
	run x "$C" no-such-command
	isnt "$rc" 0
	like "$err" 'executable file not found in \$PATH'
	run x "$C" true
	rc_is 0
}

exec_is_confined_like_init() {
	idle a
	is "$(x "$C" grep -E '^(Cap|Seccomp:|NoNewPrivs)' /proc/self/status)" \
		"$(x "$C" grep -E '^(Cap|Seccomp:|NoNewPrivs)' /proc/1/status)"
}

# ---- terminals ----

tty_run() {
	: >"$T/named"
	on_terminal --size 30x90 ctr -a "$DIR/sock" run --rm -t --runc-binary "$PROGRAM" --cgroup "/ctr/$P-a" "$IMAGE" "$P-a" sh <<-'END'
		expect #
		send test -t 0 && test -t 1 && echo ttys
		expect \nttys
		send stty size
		expect 30 90
		send until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; echo re''sized
		resize 50x132 resized
		send exit 4
	END
	rc_is 4
}

tty_exec() {
	idle a
	on_terminal --size 30x90 ctr -a "$DIR/sock" task exec -t --exec-id "$P-x" "$C" sh <<-'END'
		expect #
		send tty
		expect /dev/pts/\d
		send until [ "$(stty size)" = "30 90" ]; do sleep 0.1; done; echo si''zed
		expect sized
		send exit 6
	END
	rc_is 6
}

# ---- life ----

detached_is_running() {
	local pid
	idle a --pid-file "$T/pid"
	task_is RUNNING
	pid=$(<"$T/pid")
	is "$(task_pid)" "$pid"
	like "$(tr '\0' ' ' <"/proc/$pid/cmdline")" '^sh -c trap'
	like "$(<"/proc/$pid/cgroup")" "/ctr/$C"
}

# The shim has asked this runtime, and no other one knows what it wrote down.
the_runtime_knows_it() {
	idle a
	is "$("$PROGRAM" --root /run/containerd/runc/default state "$C" | jq .pid)" "$(task_pid)"
}

start_again() {
	run_box a -d -- sh -c 'echo x >>/tmp/runs; exit "$(wc -l </tmp/runs)"'
	wait_until 20 task_is STOPPED
	run c task delete "$C"
	like "$err" 'exit code 1'
	run c task start "$C"
	rc_is 2
	run c container delete "$C"
	rc_is 0
	is "$(c container ls -q)" ''
}

kill_and_delete() {
	idle a
	run c task delete "$C"
	isnt "$rc" 0
	task_is RUNNING
	c task kill "$C"
	wait_until 20 task_is STOPPED
	run c task delete "$C"
	like "$err" 'exit code 7'
	is "$(c task ls -q)" ''
}

kill_with_a_signal() {
	run_box a -d -- sh -c 'trap "exit 8" HUP; : >/ready; while :; do sleep 0.05; done'
	wait_until 20 x "$C" test -e /ready
	c task kill -s HUP "$C"
	wait_until 20 task_is STOPPED
	run c task delete "$C"
	like "$err" 'exit code 8'
}

# SIGKILL for all of them, as for a pod's end.
kill_all() {
	idle a
	c task exec -d --exec-id "$P-one" "$C" sleep 7777
	c task kill -a -s KILL "$C"
	wait_until 20 task_is STOPPED
	run c task delete "$C"
	like "$err" 'exit code 137'
}

kill_of_what_has_ended() {
	idle a
	c task kill -s KILL "$C"
	wait_until 20 task_is STOPPED
	run c task kill "$C"
	isnt "$rc" 0
	like "$err" 'not found|already finished'
}

delete_by_force() {
	idle a
	run c task delete -f "$C"
	is "$(c task ls -q)" ''
	[ ! -e "$(cgroup_root)/ctr/$C" ] || fail 'its cgroup is there'
}

pause_resume() {
	idle a
	c task pause "$C"
	task_is PAUSED
	is "$(knob freezer freezer.state cgroup.freeze)" "$(by_view FROZEN 1)"
	run x "$C" true
	isnt "$rc" 0
	c task resume "$C"
	task_is RUNNING
	is "$(knob freezer freezer.state cgroup.freeze)" "$(by_view THAWED 0)"
	run x "$C" true
	rc_is 0
}

delete_while_paused() {
	idle a
	c task pause "$C"
	run c task delete -f "$C"
	is "$(c task ls -q)" ''
}

# ---- limits ----

metrics() {
	idle a --memory-limit 67108864
	run c task metrics --format json "$C"
	rc_is 0
	is "$(jq -r '(.pids.current // .pids.Current) >= 1' <<<"$out")" true
	is "$(jq -r '.memory.usage.limit // .memory.usage_limit' <<<"$out")" 67108864
	is "$(jq -r '(.cpu.usage.total // .cpu.usage_usec) > 0' <<<"$out")" true
	run c task metrics "$C"
	like "$out" 'pids\.current'
}

limits() {
	idle a --memory-limit 67108864 --cpus 0.5 --cpu-shares 512
	knob_is 67108864 memory memory.limit_in_bytes memory.max
	knob_is "$(by_view 50000 '50000 100000')" cpu cpu.cfs_quota_us cpu.max
}

# ctr says nothing of memory; the event is what containerd tells engines.
oom_is_an_event() {
	local watcher
	ctr -a "$DIR/sock" events >"$T/events" 2>/dev/null &
	watcher=$!
	wait_until 20 _is_heard
	run run_box a --memory-limit 16777216 -- sh -c 'tail /dev/zero; exit $?'
	rc_is 137
	wait_until 20 grep -q "/tasks/oom .*$C" "$T/events"
	kill "$watcher"
}

# Whether whoever listens hears already.
_is_heard() {
	c namespaces label default heard="$((RANDOM))" && [ -s "$T/events" ]
}

# ---- what the process may do ----

read_only() {
	run run_box a --rm --read-only -- sh -c 'echo x >/file'
	isnt "$rc" 0
	like "$err" 'Read-only file system'
}

mount_rw_and_ro() {
	mkdir -m 777 "$T/data"
	echo host >"$T/data/file"
	run run_box a --rm --mount "type=bind,src=$T/data,dst=/data,options=rbind:rw" -- sh -c 'cat /data/file; echo mine >/data/other'
	rc_is 0
	is "$out" host
	file_has "$T/data/other" mine
	run run_box b --rm --mount "type=bind,src=$T/data,dst=/data,options=rbind:ro" -- sh -c 'echo x >/data/other'
	isnt "$rc" 0
	like "$err" 'Read-only'
}

env_and_directory() {
	run run_box a --rm --env COLOUR=red --cwd /tmp -- sh -c 'echo $COLOUR $(pwd)'
	is "$out" 'red /tmp'
}

seccomp_default() {
	run run_box a --rm --seccomp -- sh -c 'grep Seccomp: /proc/self/status; unshare -U true'
	like "$out" '2$'
	like "$err" 'not permitted'
}

without_seccomp() {
	run run_box a --rm -- sh -c 'grep Seccomp: /proc/self/status; unshare -U true'
	rc_is 0
	like "$out" '0$'
}

cap_add() {
	run run_box a --rm --cap-add CAP_NET_ADMIN -- grep CapEff /proc/self/status
	like "$out" 'CapEff:.*[0-9a-f]*1[0-9a-f]{3}$|CapEff:.*[13579bdf][0-9a-f]{3}$'
}

network_of_the_host() {
	run run_box a --rm --net-host -- readlink /proc/self/ns/net
	is "$out" "$(readlink /proc/self/ns/net)"
}

network_by_path() {
	idle a
	local pid
	pid=$(task_pid)
	run run_box b --rm --with-ns "network:/proc/$pid/ns/net" -- readlink /proc/self/ns/net
	is "$out" "$(readlink "/proc/$pid/ns/net")"
}

user_namespace() {
	run run_box a --rm --uidmap 0:300000:65536 --gidmap 0:300000:65536 --remap-labels -- sh -c 'id -u; cat /proc/self/uid_map'
	rc_is 0
	like "$out" $'^0\n +0 +300000 +65536$'
}

# ---- many, and the end ----

ten_in_parallel() {
	local i pids=()
	for i in {0..9}; do
		run_box "$i" --rm -- sh -c "echo $i; exit $i" >"$T/out.$i" 2>&1 &
		pids+=($!)
	done
	for i in {0..9}; do
		rc=0
		wait "${pids[i]}" || rc=$?
		out=$(<"$T/out.$i")
		rc_is "$i"
		is "$out" "$i"
	done
}

_left() {
	local pid cmd
	c container ls -q | sed 's/^/container /'
	find /sys/fs/cgroup -path '*/ctr/*' -type d | sed 's/^/cgroup /'
	# What `explain --last` shows outlives the container on purpose.
	ls -d /run/containerd/runc/*/* "$DIR"/state/io.containerd.runtime.v2.task/*/* 2>/dev/null | sed '/\/explain:last$/d; s/^/state /'
	awk -v dir="$DIR/state/" 'index($5, dir) == 1 { print "mount", $5 }' /proc/self/mountinfo
	for pid in /proc/[0-9]*; do
		read -r cmd <"$pid/comm" || continue
		case $cmd in
		*shim* | sbxrun* | runc* | sleep) echo "process $cmd" ;;
		esac
	done 2>/dev/null
}

nothing_is_left() {
	local end=$((SECONDS + 60)) found
	# What ends a container goes on for a moment after its `run --rm` has returned.
	until found=$(_left) && [ -z "$found" ]; do
		[ "$SECONDS" -lt "$end" ] || { echo "$found"; fail "${found%%$'\n'*} and more"; }
		nap
	done
}

make_template
if ! containerd_up >"$SBXT_WORK/start" 2>&1; then
	echo 'not ok ctr start: containerd did not come up'
	tail -n 20 "$SBXT_WORK/start" "$DIR/log" | sed 's/^/    /'
	exit 1
fi
run_tests
