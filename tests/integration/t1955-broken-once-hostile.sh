#!/bin/bash
# What was broken once, found by hand: containers that make the runtime's own work hard.
# Views: own
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# ---- waiting for a process that the container can stop ----

a_run_whose_start_hook_hangs_can_be_ended() {
	local kind
	for kind in createContainer startContainer; do
		rm -f hook
		bundle writable 'sh("echo >/mark")' 'mount({destination: $T, type: "bind", source: $T, options: ["rbind", "rw"]})' \
			"hook(\"$kind\"; \"/bin/sh\"; [\"sh\", \"-c\", \"echo here >$T/hook; exec sleep 300\"])"
		"$SBXRUN" --root "$T/state" run -b "$B" "$ID" 2>err &
		BG=$!
		wait_until 60 test -s hook
		kill -TERM "$BG"
		wait_until 60 dead "$BG"
		wait_for_background
		isnt "$rc" 0
		[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
		sbx delete --force "$ID"
		nothing_is_left
	done
}

# A process that is on its way into the container is in its pid namespace before it is its program. One that is its program already has
# slipped through, and is sent on its way.
_exec_is_stopped() {
	local pid name state
	for pid in $(sbx ps --format json "$ID" | jq '.[]'); do
		[ "$pid" != "$1" ] || continue
		read -r name state < <(awk '/^Name/ { name = $2 } /^State/ { print name, $2 }' "/proc/$pid/status" 2>/dev/null) || return 1
		[ "$state" = T ] || continue
		[ "$name" != sbxrun:exec ] || return 0
		kill -CONT "$pid"
	done
	return 1
}

an_exec_that_the_container_stops_can_be_ended() {
	local init i
	bundle 'sh("while :; do for p in /proc/[0-9]*; do read c <$p/comm && [ $c = sbxrun:exec ] && kill -STOP ${p#/proc/}; done 2>/dev/null; done")'
	sbx run -d -b "$B" "$ID"
	init=$(pid_of "$ID")
	for ((i = 0; i < 50; i++)); do
		"$SBXRUN" --root "$T/state" exec "$ID" /bin/true 2>err &
		BG=$!
		until dead "$BG" || _exec_is_stopped "$init"; do
			nap
		done
		dead "$BG" || break
		wait "$BG"
	done
	dead "$BG" && return # nobody was fast enough
	kill -TERM "$BG"
	wait_until 60 dead "$BG"
	wait_for_background
	isnt "$rc" 0
	is "$(sbx ps --format json "$ID")" "[$init]"
}

# ---- the listener of a filter ----

# Takes connections and whatever comes with them, but the second process has to wait until file $1 is there: its queue is full.
_slow_listener() {
	python3 -c '
import os, socket, sys, time
def server(name, n):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen(n)
    return s
kept = []
def take(s):
    c, _ = s.accept()
    kept.append((c, socket.recv_fds(c, 65536, 4)))
first = server("sock", 4)
print("ready", flush=True)
take(first)
os.unlink("sock")
second = server("sock.new", 0)
other = socket.socket(socket.AF_UNIX)
other.connect("sock.new")
os.rename("sock.new", "sock")
print("full", flush=True)
end = time.monotonic() + 60
while not os.path.exists(sys.argv[1]) and time.monotonic() < end:
    time.sleep(0.05)
kept.append(second.accept())
take(second)
time.sleep(100)' "$1" >listener 2>&1 &
	LISTENER=$!
	wait_until 20 grep -q ready listener
}

# With CAP_SYS_PTRACE a program opens what the process that exec brings in has open, and cuts it off.
a_listeners_page_is_not_there_to_be_cut_off() {
	needs python3
	bundle writable 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE"])' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: ($T + "/sock"), syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}' \
		'sh("while :; do for f in /proc/[0-9]*/fd/*; do case $f in /proc/1/*) continue ;; esac; echo $f >>/seen
			case $(readlink $f) in *memfd:listener*) echo >>/found; true >$f ;; esac; done 2>/dev/null; done")'
	_slow_listener "$T/go"
	sbx run -d -b "$B" "$ID" 2>/dev/null
	wait_until 60 grep -q full listener
	timeout 60 "$SBXRUN" --root "$T/state" exec "$ID" /bin/true &
	exec=$!
	wait_until 30 test -s "$B/rootfs/seen"
	: >go
	wait "$exec" || fail "exec: $?"
	[ ! -e "$B/rootfs/found" ] || fail 'the page was found'
	kill "$LISTENER"
}

run_tests
