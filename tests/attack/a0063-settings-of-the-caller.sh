#!/bin/bash
# What a process passes on to its children that no list of descriptors, signals or limits shows: a score that keeps it from being killed when
# memory is short, huge pages, timer slack, what its core has in it, where its memory lies and with whose it is merged. Leak: the program has it.
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

settings_do_not_pass() {
	local plain
	build_attacker
	run "$ATTACKER" settings
	plain=$out
	run "$ATTACKER" set "$ATTACKER" settings
	isnt "$out" "$plain" 'nothing could be set'
	bundle 'args(["/attacker", "settings"])'
	with_attacker
	run "$ATTACKER" set "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	[ "$out" = "$plain" ] || leaked "$out, not $plain"
}

settings_do_not_pass_through_exec() {
	local plain
	build_attacker
	run "$ATTACKER" settings
	plain=$out
	bundle 'sh("sleep 100")'
	with_attacker
	sbx run -d -b "$B" "$ID"
	run "$ATTACKER" set "$SBXRUN" --root "$T/state" exec "$ID" /attacker settings
	rc_is 0
	[ "$out" = "$plain" ] || leaked "$out, not $plain"
}

# As dockerd has it.
_protected() {
	(echo -500 >/proc/self/oom_score_adj) 2>/dev/null || skip 'this machine lets nobody lower a score'
	run sh -c 'echo -500 >/proc/self/oom_score_adj && exec "$@"' sh "$SBXRUN" --root "$T/state" "$@"
	rc_is 0
}

a_score_that_protects_does_not_pass() {
	bundle 'sh("cat /proc/self/oom_score_adj")'
	_protected run -b "$B" "$ID"
	[ "$out" = 0 ] || leaked "score $out"
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	_protected exec "$ID" /bin/sh -c 'cat /proc/self/oom_score_adj'
	[ "$out" = 0 ] || leaked "score $out"
}

a_score_of_the_config_is_honoured() {
	bundle 'sh("cat /proc/self/oom_score_adj")' '.process.oomScoreAdj = -300'
	_protected run -b "$B" "$ID"
	is "$out" -300
}

a_score_that_does_not_protect_stays() {
	bundle 'sh("cat /proc/self/oom_score_adj")'
	run sh -c 'echo 300 >/proc/self/oom_score_adj && exec "$@"' sh "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" 300
}

run_tests
