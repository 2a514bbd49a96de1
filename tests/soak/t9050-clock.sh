#!/bin/bash
# The clock is set while containers and boxes are there: nothing of ours may depend on the time of day. In User-mode Linux, whose clock is its
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

# Boxes and approvals; who asks is a server for models. Runs in there, too.
_boxes_inside() {
	local box=("$SBXRUN" --root /run/s box) now call step
	now=$(date +%s)
	"${box[@]}" create --id stays --idle 600 --rootfs host >/dev/null || return 1
	[ "$("${box[@]}" run --session stays bash 'x=kept; echo $x')" = kept ] || { echo 'no session'; return 1; }
	for step in 1000000 -1000000 -2000000; do
		"${box[@]}" exec --timeout 200 stays -- sleep 3 &
		call=$!
		date -s "@$((now + step))" >/dev/null
		[ "$("${box[@]}" gc)" = '0 removed' ] || { echo "$step: removed"; return 1; }
		wait "$call" || { echo "$step: a call has ended early"; return 1; }
		[ "$("${box[@]}" run --session stays bash 'echo $x')" = kept ] || { echo "$step: the session is gone"; return 1; }
		[ "$("${box[@]}" list --json | jq '.[0].idle_s < 600 and .[0].idle_s >= 0')" = true ] || { "${box[@]}" list; return 1; }
	done
	# And one that was idle for too long is removed, though by the wall it will be made in days.
	"${box[@]}" create --id goes --idle 1 --rootfs host >/dev/null || return 1
	date -s "@$((now - 3000000))" >/dev/null
	sleep 2 # no event: it is unused for that long by a clock that nobody sets
	[ "$("${box[@]}" gc)" = '1 removed' ] || { echo 'an idle box stays'; return 1; }
	python3 - <<-'END' || return 1
		import os, subprocess, time
		from mcp import *
		def approve(*words): return subprocess.run([os.environ["SBXRUN"], "--root", os.environ["T"] + "/state", "approve", *words], stdout=subprocess.PIPE, check=True, text=True).stdout
		s = Server("", "") # with a client that can't ask, a person answers elsewhere
		s.initialize()
		def call(**more): return s.call("code_execute", language="python", code="print(6 * 7)", **more)
		for step in 1000000, -1000000:
		    id = call()["content"][0]["text"].split('approval_id "')[1].split('"')[0]
		    time.clock_settime(time.CLOCK_REALTIME, time.time() + step)
		    assert id in approve("list"), step
		    approve("yes", id)
		    time.clock_settime(time.CLOCK_REALTIME, time.time() + 2 * step)
		    r = call(approval_id=id)
		    assert not r.get("isError") and "42" in r["structuredContent"]["stdout"], (step, r)
	END
	"${box[@]}" destroy stays || return 1
	echo 'all is well'
}

# _by_another_clock FUNCTION
_by_another_clock() {
	run "$TESTS_DIR/uml/usable"
	[ "$rc" = 0 ] || skip "$out"
	! grep -q 'User Mode Linux' /proc/cpuinfo || skip 'the tests themselves go by this clock'
	bundle 'sh("while :; do sleep 1; done")' '.linux.cgroupsPath = "/box"'
	{
		declare -f "$1"
		printf 'SBXRUN=%q B=%q\n' "$SBXRUN" "$B"
		echo 'export SBXRUN T=/tmp/t SBXRUN_ROOTFS_DIR=/tmp/library PYTHONDONTWRITEBYTECODE=1; mkdir -p $T'
		printf 'export PYTHONPATH=%q\n' "$TESTS_DIR/lib"
		echo "$1"
	} >inside.sh
	run "$TESTS_DIR/uml/in-uml" -t 800 bash "$T/inside.sh"
	rc_is 0
	is "${out##*$'\n'}" 'all is well' # behind warnings of what that kernel can't
}

a_clock_that_is_set_changes_nothing() { _by_another_clock _inside; }
a_clock_that_is_set_ends_no_box_and_no_approval() { _by_another_clock _boxes_inside; }

run_tests
