#!/bin/bash
# sbxrun do --preset pure: what computes runs, everything else is refused and told.
# Views: v2 it_computes what_it_tries_is_told
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs "$B/rootfs" --preset pure "$@"
}
_of() { jq -r "$1" <<<"$out"; }

it_computes() {
	run _do --json -- sh -c 'read x; echo $((x * 7)); exit 3' <<<6
	rc_is 3
	is "$(_of '.stdout, .status, .limits.pids')" $'42\n\nerror\n4'
	is "$(_of '.denials | map(.name) | unique | map(select(. != "openat" and . != "socket")) | length')" 0
}

what_it_tries_is_told() {
	run _do --json -- sh -c 'echo x >/tmp/f; cd /tmp; exec /bin/true'
	[ "$rc" != 0 ] || fail "it was executed"
	is "$(_of '.denials[] | select(.target == "/tmp/f") | .kind, .errno')" $'file\nEPERM'
	like "$(_of '.denials[] | select(.name == "execve") | .hint')" 'pure'
	run _do -- sh -c '(exit 1); echo on'
	like "$err" 'fork.*refused: clone|refused: (clone|fork|vfork)'
}

python_computes() {
	needs python3
	export SBXRUN_ROOTFS_DIR=$T/library
	run sbx "do" --rootfs host --preset pure --json python 'import json, math, random, re, statistics
print(json.dumps([statistics.mean([1, 2, 3]), math.floor(math.pi), random.Random(1).randint(1, 1), re.sub("a", "b", "aa")]))'
	is "$(_of '.status, .stdout')" $'ok\n[2, 3, 1, "bb"]'
	is "$(_of '.denials | length')" 0
	run sbx "do" --rootfs host --preset pure --json python 'import os; print(os.fork())'
	is "$(_of '.status, (.denials | map(.name) | index("clone") != null)')" $'error\ntrue'
}

its_limits_can_be_changed() {
	run _do --json --memory 32m --timeout 3 -- sh -c 'exit 0'
	is "$(_of '.limits.memory, .limits.timeout_s, .status')" $'33554432\n3\nok'
}

what_contradicts_it_is_refused() {
	local words
	for words in '--denials none -- true' "-v $T:/x -- true" "--copy-out $T/out -- true" 'node 0'; do
		# shellcheck disable=SC2086
		run _do $words
		rc_is 125
		like "$err" '^sbxrun: --preset pure: '
	done
	mkdir data
	run _do -v "$T/data:/x:ro" -- sh -c 'exit 0'
	rc_is 0
}

explain_counts_its_calls() {
	local pure all
	run _do --explain --json -- true
	pure=$(_of .reaches.systemCalls)
	bundle
	SBXRUN_ROOTFS_DIR=$T/library run sbx "do" --rootfs "$B/rootfs" --explain --json -- true
	all=$(_of .reaches.systemCalls)
	[ "$pure" -lt 110 ] && [ "$all" -gt 150 ] || fail "$pure of $all"
}

run_tests
