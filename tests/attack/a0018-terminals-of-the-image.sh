#!/bin/bash
# Imitates the static half of CVE-2025-52565: what is at /dev/pts, /dev/ptmx and /dev/console when a terminal is set up is the image's.
# Escape: something on the host is made, covered or opened. Fake: the program's terminal is not the one that the caller got.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# Without mounts on /dev, so that the image's own is used; the devpts stays.
_image_dev='.mounts |= map(select(.destination == "/dev/pts" or (.destination | startswith("/dev") | not)))'

# _run_on_terminal: what the program says of its terminal is in the file "output".
_run_on_terminal() {
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null
}

_box() {
	bundle '.process.terminal = true' "$_image_dev" writable \
		'sh("test -t 0 && echo a terminal; test ! -f /proc/self/fd/0 || echo a file; stat -Lc \"%t:%T\" /proc/self/fd/0; stat -Lc \"%t:%T\" /dev/console; cat /dev/console.txt")' "$@"
	mkdir -p canary
	echo secret >canary.txt
}

a_console_that_is_a_link_leads_nowhere() {
	local link
	for link in "$T/canary/console" ../../../canary/console "../../../../../../../../..$T/canary/console"; do
		_box
		ln -s "$link" "$B/rootfs/dev/console"
		_run_on_terminal
		untouched canary "$link"
	done
}

pts_that_is_a_link_leads_nowhere() {
	local link
	for link in "$T/canary" ../../../canary /dev/../../../../../..; do
		_box
		ln -s "$link" "$B/rootfs/dev/pts"
		_run_on_terminal
		untouched canary "$link"
	done
}

a_ptmx_of_the_image_is_not_used() {
	_box
	echo fake >"$B/rootfs/dev/ptmx"
	_run_on_terminal
	! grep -q 'a file' output || faked 'the terminal is a file'
	_box
	ln -s "$T/canary.txt" "$B/rootfs/dev/ptmx"
	_run_on_terminal
	holds canary.txt secret
	! grep -q secret output || escaped 'it read the canary'
}

a_volume_on_pts_is_not_taken_for_a_devpts() {
	mkdir volume
	: >volume/ptmx
	: >volume/0
	_box 'unmount("/dev/pts") | mount({destination: "/dev/pts", source: ($T + "/volume"), options: ["bind"]})'
	_run_on_terminal
	! grep -q 'a terminal' output || [ ! -s volume/0 ] || faked "the terminal is a file"
	is "$(cat volume/ptmx)" ''
}

# The container moves its own /dev away and puts files into a new one.
exec_does_not_take_a_file_for_a_terminal() {
	local fake
	for fake in 'echo fake >/dev/pts/ptmx' 'ln -s /canary /dev/pts/ptmx' 'mkfifo /dev/pts/ptmx' 'mkdir /dev/pts/ptmx'; do
		bundle 'sh("mv /dev /old; mkdir -p /dev/pts; \(env.FAKE); : >/ready; sleep 100")' "$_image_dev" writable
		jq --arg fake "$fake" '.process.args[2] |= sub("null"; $fake)' "$B/config.json" >new && mv new "$B/config.json"
		echo canary >"$B/rootfs/canary"
		sbx run -d -b "$B" "$ID"
		wait_until 20 test -e "$B/rootfs/ready"
		at_terminal timeout -k 1 20 "$SBXRUN" --root "$T/state" exec -t "$ID" /bin/sh -c 'test -t 0 || echo no terminal' </dev/null
		! grep -q 'no terminal' output || faked "a terminal made of: $fake"
		holds "$B/rootfs/canary" canary "$fake"
		sbx delete -f "$ID"
	done
}

run_tests
