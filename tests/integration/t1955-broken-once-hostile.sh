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

# A process that is on its way into the container is in its pid namespace before it is its program.
_exec_is_stopped() {
	local pid state
	for pid in $(sbx ps --format json "$ID" | jq '.[]'); do
		if [ "$pid" != "$1" ]; then
			state=$(awk '/^State/ { print $2 }' "/proc/$pid/status" 2>/dev/null) || return 1
			[ "$state" = T ] && return
		fi
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

run_tests
