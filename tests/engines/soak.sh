#!/bin/bash
# Many callers of docker at once, and hard times for its daemon, its shims and its containers, with the runtime $RT; engines/run calls it in a
# place of its own. Whatever is killed: no container is lost, and nothing stays of those that are removed.
#
#	SOAK_CALLS	how many runs, and as many execs, each of ten callers makes (4; the long form 10)
#	SOAK_LIVES	how many seconds containers are made and deleted while daemons, shims and inits are killed (10; the long form an hour)
#	SOAK_TIMES	how many runs are timed beside runc's (0; the long form 20)
# Lines that begin with # are figures.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"
TEST_ID=soak
TEST_LIMIT=${ENGINE_TEST_LIMIT:-$((400 + ${SOAK_LIVES:-10} * 2))}
IMAGE=localhost/soak
ENGINE_LOG=$SBXT_WORK/engine.log
SOAK=$SBXT_WORK/soak
exec {FIGURES}>&1

# [OPTION…]: a daemon that outlives the test that starts it, and is nobody's leak.
_daemon_up() {
	env -i -C "$SOAK" PATH="$PATH" LC_ALL=C.UTF-8 TMPDIR="$SOAK" DOCKER_HOST="$DOCKER_HOST" setsid bash -c '. "$1" && shift && dockerd_up "$@"' \
		bash "$TESTS_DIR/lib/dockerd.sh" "$ENGINE_LOG.$RANDOM" --storage-driver overlay2 "$@" 7>&- 8>&- 9>&- || fail 'the daemon did not come up again'
}

# [SIGNAL]: ends the daemon, with it its containerd.
_daemon_down() {
	local pid
	pid=$(</run/docker.pid)
	kill -s "${1:-TERM}" "$pid"
	wait_until 60 eval "[ ! -e /proc/$pid ]"
	wait_until 60 eval '! pgrep -x containerd >/dev/null'
}

# The shim of the container $C.
_shim() {
	pgrep -f "containerd-shim.* -id $(get '{{.Id}}') "
}

_is_running() {
	get_is '{{.State.Running}}' true && [ "$(e exec "$C" cat /proc/1/comm)" = sh ]
}

_is_back() {
	[ "$(e exec "$C" echo back 2>/dev/null)" = back ]
}

_is_dead() {
	get_is '{{.State.Running}}' false
}

# _lives NAME: whether it is as it was when its pid, $1, was seen first.
_still_lives() {
	is "$(pid_in_host)" "$1" 'pid'
	run e exec "$C" sh -c 'echo alive'
	is "$out" alive
	like "$(e logs "$C" 2>&1)" 'it began'
}

LOOP='echo it began; trap "exit 5" TERM; while :; do sleep 0.1; done'

# ---- many at once ----

# Caller N: each run and exec says its own word and number.
_call() {
	local i
	for ((i = 0; i < ${SOAK_CALLS:-4}; i++)); do
		rc=0
		out=$(with_runtime run --rm --name "$P-c$1-$i" "$IMAGE" sh -c "echo run $1 $i; exit $((i + 3))") || rc=$?
		[ "$rc $out" = "$((i + 3)) run $1 $i" ] || echo "run $1 $i: status $rc, said '$out'"
		rc=0
		out=$(e exec "$P-long$(($1 % 3))" sh -c "echo exec $1 $i; exit $((i + 3))") || rc=$?
		[ "$rc $out" = "$((i + 3)) exec $1 $i" ] || echo "exec $1 $i: status $rc, said '$out'"
	done
}

ten_callers_run_and_exec() {
	local i pids=()
	for i in 0 1 2; do
		sh_up "long$i" "$LOOP"
	done
	for i in {0..9}; do
		_call "$i" >"$T/said.$i" 2>&1 &
		pids+=($!)
	done
	wait "${pids[@]}"
	is "$(cat "$T"/said.*)" ''
	is "$(e ps -aq --filter "name=$P" | wc -l)" 3
}

twenty_five_start_at_once_and_run_at_once() {
	local i pids=()
	mkdir "$T/gate"
	: >"$T/named"
	for i in {0..24}; do
		with_runtime run --rm --name "$P-$i" --memory 32m --pids-limit 20 -v "$T/gate:/gate:ro" "$IMAGE" \
			sh -c "until [ -e /gate/open ]; do sleep 0.1; done; echo $i; exit $i" >"$T/out.$i" 2>&1 &
		pids+=($!)
	done
	wait_until 120 eval '[ "$(e ps -q --filter "name=$P" --filter status=running | wc -l)" = 25 ]'
	: >"$T/gate/open"
	for i in {0..24}; do
		rc=0 out=''
		wait "${pids[i]}" || rc=$?
		is "$rc $(<"$T/out.$i")" "$i $i"
	done
}

# ---- hard times ----

# What runs goes on under the same pid, what ended meanwhile is known with its status, and all of them do as they are told afterwards.
_survives_a_daemon_ended_by() {
	local pid gone
	sh_up gone 'echo it began; until [ -e /tmp/end ]; do sleep 0.1; done; exit 6' --tmpfs /tmp
	gone=$(pid_in_host)
	sh_up a "$LOOP" --memory 32m
	wait_until 20 logs_have 'it began'
	pid=$(pid_in_host)
	_daemon_down "$1"
	: >"/proc/$gone/root/tmp/end"
	wait_until 60 eval "[ ! -e /proc/$gone ]"
	[ -e "/proc/$pid" ] || fail 'the container ended with the daemon'
	_daemon_up --live-restore
	_still_lives "$pid"
	e pause "$C"
	e unpause "$C"
	is "$(e wait "$P-gone")" 6
	e restart -t 60 "$C"
	isnt "$(pid_in_host)" "$pid"
	_still_lives "$(pid_in_host)"
	e stop -t 60 "$C"
	is "$(get '{{.State.ExitCode}}')" 5
}

containers_outlive_a_restart_with_live_restore() {
	_survives_a_daemon_ended_by TERM
}

containers_outlive_a_killed_daemon() {
	_survives_a_daemon_ended_by KILL
}

containers_outlive_a_killed_containerd() {
	local pid old
	sh_up a "$LOOP"
	wait_until 20 logs_have 'it began'
	pid=$(pid_in_host)
	old=$(pgrep -x containerd)
	kill -KILL "$old"
	# dockerd starts another.
	wait_until 60 eval '[ -n "$(pgrep -x containerd)" ] && [ "$(pgrep -x containerd)" != '"$old"' ]'
	wait_until 60 _is_back
	_still_lives "$pid"
	e stop -t 60 "$C"
	is "$(get '{{.State.ExitCode}}')" 5
}

# Without live-restore the daemon stops them, and starts those again that are to be.
a_plain_restart_stops_and_starts_again() {
	_daemon_down
	_daemon_up
	sh_up once "$LOOP"
	sh_up always "$LOOP" --restart always
	_daemon_down
	wait_until 60 eval '! pgrep -x containerd-shim-runc-v2 >/dev/null && ! pgrep -f "containerd-shim" >/dev/null'
	_daemon_up --live-restore
	wait_until 60 _is_running
	is "$(get '{{.State.Status}}' "$P-once")" exited
	is "$(get '{{.State.ExitCode}}' "$P-once")" 5
	e rm -f "$C"
}

# The init of a container goes with its shim, or is ended for it; the engine says so, and starts it again.
a_killed_shim_takes_its_container_along() {
	local pid
	sh_up a "$LOOP"
	wait_until 20 logs_have 'it began'
	pid=$(pid_in_host)
	kill -KILL "$(_shim)"
	wait_until 60 _is_dead
	wait_until 60 eval "[ ! -e /proc/$pid ]"
	e start "$C"
	wait_until 60 _is_running
	e rm -f "$C"
}

a_killed_init_is_told_and_started_again() {
	local pid
	sh_up a "$LOOP" --restart on-failure:3
	pid=$(pid_in_host)
	kill -KILL "$pid"
	wait_until 60 eval 'get_is "{{.RestartCount}}" 1'
	wait_until 60 _is_running
	isnt "$(pid_in_host)" "$pid"
	sh_up b "$LOOP"
	kill -KILL "$(pid_in_host)"
	wait_until 60 _is_dead
	is "$(get '{{.State.ExitCode}}')" 137
}

# Lives of containers by one of three callers, until the file `over` is there. A life may fail, for whom it asks is killed under it; its end may not.
_live() {
	local i=0 name
	while [ ! -e "$T/over" ]; do
		name=$P-l$1-$i
		if with_runtime create --name "$name" --memory 32m "$IMAGE" sh -c "$LOOP" && e start "$name" && e exec "$name" true && e stop -t 60 "$name"; then
			echo . >>"$T/lived"
		else
			echo . >>"$T/failed"
		fi >"$T/live.$1" 2>&1
		until e rm -f "$name" >"$T/live.$1" 2>&1 || [[ $(<"$T/live.$1") == *'No such container'* ]]; do
			[ ! -e "$T/given-up" ] || return 0
			sleep 0.2
		done
		i=$((i + 1))
	done
}

_ctr() {
	timeout -k 2 60 ctr -a /run/docker/containerd/containerd.sock -n moby "$@"
}

# A daemon that is killed between two calls forgets that it had asked containerd for a container, and a containerd that it had asked a shim, whatever
# the runtime. containerd still has it: it has the runtime delete it when it is told to, and, at the latest when it is started again, when the shim is
# gone, which serves nobody. Their ids are in $T/forgotten.
_remove_forgotten() {
	local id shim tasks=/run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby
	{ _ctr tasks ls -q; _ctr containers ls -q; ls "$tasks"; } | sort -u >"$T/forgotten"
	while read -r id; do
		_ctr tasks kill -s KILL "$id" || :
		_ctr tasks rm -f "$id" || :
		shim=$(pgrep -f "containerd-shim.* -id $id ") && kill -KILL "$shim" || :
		_ctr containers rm "$id" || :
	done <"$T/forgotten"
	_daemon_down
	_daemon_up --live-restore
}

# Now and then the daemon, containerd, a shim or an init is killed; the container beside, which nobody kills, lives through all of it.
lives_and_deaths_while_everything_is_killed() {
	local i pid pids=() end=$((SECONDS + ${SOAK_LIVES:-10})) round=0 victim
	_daemon_down
	_daemon_up --live-restore
	sh_up kept "$LOOP"
	wait_until 20 logs_have 'it began'
	pid=$(pid_in_host)
	: >"$T/lived"
	: >"$T/failed"
	for i in 0 1 2; do
		_live "$i" &
		pids+=($!)
	done
	trap 'rc=$?; : >"$T/given-up"; : >"$T/over"; echo "$rc" >&"$DONE_FD"' EXIT
	while [ "$SECONDS" -lt "$end" ]; do
		sleep 3
		case $((round % 5)) in
		0) victim=shim && { pgrep -f 'containerd-shim.* -id ' | while read -r i; do pgrep -P "$i" | grep -x "$pid" >/dev/null || echo "$i"; done | shuf -n 1 | xargs -r kill -KILL || :; } ;;
		1) victim=containerd && kill -KILL "$(pgrep -x containerd)" ;;
		2) victim=daemon && _daemon_down KILL && _daemon_up --live-restore ;;
		3) victim=init && { e ps -q --filter "name=$P-l" | xargs -r timeout 60 docker inspect -f '{{.State.Pid}}' 2>/dev/null | grep -vx 0 | shuf -n 1 | xargs -r kill -KILL || :; } ;;
		4) victim=restart && _daemon_down && _daemon_up --live-restore ;;
		esac
		echo "round $round: $victim"
		round=$((round + 1))
		wait_until 60 _is_back
	done
	: >"$T/over"
	for i in "${pids[@]}"; do
		wait "$i"
	done
	[ -s "$T/lived" ] || fail 'no container lived'
	_still_lives "$pid"
	e rm -f "$C"
	is "$(e ps -aq)" ''
	_remove_forgotten
	echo "# soak, $RT: $(wc -l <"$T/lived") lives by three callers in ${SOAK_LIVES:-10} s, and $(wc -l <"$T/failed") cut short; $round of daemon, containerd, shim and init killed;" \
		"$(wc -l <"$T/forgotten") forgotten by the daemon, which containerd removed when it was told to" >&"$FIGURES"
	all_is_gone
}

# _time RUNTIME: milliseconds of a run.
_time() {
	local began=${EPOCHREALTIME/./}
	e run --rm --network none --runtime "$1" "$IMAGE" true
	echo $(((${EPOCHREALTIME/./} - began) / 1000))
}

_median() {
	sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# In turns, from the command to its end; no time is a failure.
a_run_is_timed_beside_runc() {
	local i
	for ((i = 0; i < SOAK_TIMES; i++)); do
		_time "$RT" >>"$T/ours"
		_time runc >>"$T/runc"
	done
	ours=$(_median <"$T/ours") runc=$(_median <"$T/runc")
	echo "# docker run, $SOAK_TIMES times in turns: $RT $ours ms, runc $runc ms, ratio $((ours * 100 / runc))/100 (goal: 75/100)" >&"$FIGURES"
}

nothing_is_left() {
	all_is_gone
}

# A comparison, and no test.
[[ $RT = sbxrun && ${SOAK_TIMES:-0} != 0 ]] || unset -f a_run_is_timed_beside_runc
make_template
mkdir -m 755 "$SOAK"
export DOCKER_HOST=unix:///run/docker.sock
tar -C "$SBXT_WORK/template/rootfs" -c . >"$SBXT_WORK/image.tar"
if ! { _daemon_up --live-restore && e import "$SBXT_WORK/image.tar" "$IMAGE" >>"$ENGINE_LOG"; }; then
	echo "not ok $TEST_ID start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG"* | sed 's/^/    /'
	exit 1
fi
run_tests
