#!/bin/bash
# The clock is set while containers run: nothing of ours may depend on the time of day. In User-mode Linux, whose clock is its
# own: this machine's is never touched.
TEST_LIMIT=${TEST_LIMIT:-900}
. "${0%/*}/../lib/test.sh"

# Runs in there.
_inside() {
	local sbx=("$SBXRUN" --root /run/s) now
	mkdir -p /tmp/b && cp -r "$B/." /tmp/b/
	now=$(date +%s)
	"${sbx[@]}" run -d -b /tmp/b box || return 1
	date -s "@$((now + 1000000))" >/dev/null
	[ "$("${sbx[@]}" state box | jq -r .status)" = running ] || { echo 'forward: not running'; return 1; }
	"${sbx[@]}" exec box /bin/true || return 1
	date -s "@$((now - 1000000))" >/dev/null
	[ "$("${sbx[@]}" state box | jq -r .status)" = running ] || { echo 'back: not running'; return 1; }
	"${sbx[@]}" exec box /bin/true || return 1
	"${sbx[@]}" kill box KILL || return 1
	"${sbx[@]}" delete -f box || return 1
	# A hook with a time limit, while the clock goes back by more than that.
	jq --arg step "date -s @$((now - 2000000)) >/dev/null; exec sleep 1" \
		'.hooks.prestart = [{path: "/bin/sh", args: ["sh", "-c", $step], timeout: 60}]' /tmp/b/config.json >/tmp/b/hook.json
	"${sbx[@]}" run -d -b /tmp/b -f /tmp/b/hook.json box || return 1
	"${sbx[@]}" delete -f box || return 1
	# And one that never ends: its limit comes although the clock goes back.
	jq --arg step "date -s @$((now - 3000000)) >/dev/null; exec sleep 1000" \
		'.hooks.prestart = [{path: "/bin/sh", args: ["sh", "-c", $step], timeout: 2}]' /tmp/b/config.json >/tmp/b/hook.json
	! timeout 100 "${sbx[@]}" run -d -b /tmp/b -f /tmp/b/hook.json box 2>/tmp/err || return 1
	grep -q 'timed out' /tmp/err || { cat /tmp/err; return 1; }
	[ -z "$(ls -A /run/s)" ] || { echo 'something is left'; return 1; }
	echo 'all is well'
}

a_clock_that_is_set_changes_nothing() {
	run "$TESTS_DIR/uml/usable"
	[ "$rc" = 0 ] || skip "$out"
	! grep -q 'User Mode Linux' /proc/cpuinfo || skip 'the tests themselves go by this clock'
	bundle 'sh("while :; do sleep 1; done")' '.linux.cgroupsPath = "/box"'
	{
		declare -f _inside
		printf 'SBXRUN=%q B=%q\n_inside\n' "$SBXRUN" "$B"
	} >inside.sh
	run "$TESTS_DIR/uml/in-uml" -t 800 bash "$T/inside.sh"
	rc_is 0
	is "$out" 'all is well'
}

run_tests
