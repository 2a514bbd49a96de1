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
		'sh("test -t 0 && echo a terminal; stat -Lc \"stdin %d:%i %t:%T\" /proc/self/fd/0; stat -Lc \"console %d:%i %t:%T\" /dev/console; echo mounts $(grep -c devpts /proc/self/mountinfo); test -f /dev/ptmx && cat /dev/ptmx; echo end")' "$@"
	mkdir -p canary
	echo secret >canary.txt
}

# A program that ran has said so on a terminal, the first of its own devpts, and that is its console, too. Both mounts are in sight.
_judge() {
	cat output
	[ "$rc" = 0 ] || grep -q ^stdin output || return 0
	grep -q 'a terminal' output || faked "it ran without a terminal${1:+ ($1)}"
	grep -q '^stdin .* 88:0' output && [ "$(sed -n 's/^stdin //p' output)" = "$(sed -n 's/^console //p' output)" ] ||
		faked "$(grep -E '^(stdin|console)' output | tr '\r\n' '  ')${1:+ ($1)}"
	grep -q '^mounts [2-9]' output || escaped "a mount of the terminal went elsewhere${1:+ ($1)}"
}

a_console_that_is_a_link_leads_nowhere() {
	local link
	for link in "$T/canary/console" ../../../canary/console "../../../../../../../../..$T/canary/console"; do
		_box
		ln -s "$link" "$B/rootfs/dev/console"
		_run_on_terminal
		untouched canary "$link"
		_judge "$link"
	done
}

a_console_is_not_made_in_a_volume() {
	local link
	for link in /data/console ../data/new/console; do
		_box 'mount({destination: "/data", source: ($T + "/canary"), options: ["bind"]})'
		ln -s "$link" "$B/rootfs/dev/console"
		_run_on_terminal
		untouched canary "$link"
		_judge "$link"
	done
}

pts_that_is_a_link_leads_nowhere() {
	local link
	for link in "$T/canary" ../../../canary /dev/../../../../../..; do
		_box
		ln -s "$link" "$B/rootfs/dev/pts"
		_run_on_terminal
		untouched canary "$link"
		_judge "$link"
	done
}

a_ptmx_of_the_image_is_not_used() {
	_box
	echo fake >"$B/rootfs/dev/ptmx"
	_run_on_terminal
	# It may be replaced, but not be written to.
	[ -L "$B/rootfs/dev/ptmx" ] || [ ! -f "$B/rootfs/dev/ptmx" ] || holds "$B/rootfs/dev/ptmx" fake
	_judge
	_box
	ln -s "$T/canary.txt" "$B/rootfs/dev/ptmx"
	_run_on_terminal
	holds canary.txt secret
	! grep -q secret output || escaped 'it read the canary'
	_judge 'a link'
}

a_volume_on_pts_is_not_taken_for_a_devpts() {
	mkdir volume
	: >volume/ptmx
	: >volume/0
	_box 'unmount("/dev/pts") | mount({destination: "/dev/pts", source: ($T + "/volume"), options: ["bind"]})'
	_run_on_terminal
	[ ! -s volume/0 ] || faked "the terminal is a file: $(head -c 100 volume/0)"
	[ ! -s volume/ptmx ] || faked "the terminal's other end is a file: $(head -c 100 volume/ptmx)"
	_judge
}

# A node of the image's beside a devpts of a neighbour's: the kernel makes the terminal in that one.
a_ptmx_node_of_the_image_does_not_lead_to_another_devpts() {
	mkdir neighbour
	mount -t devpts -o newinstance,ptmxmode=0666 devpts neighbour
	_box 'unmount("/dev/pts") | mount({destination: "/dev/pts/pts", source: ($T + "/neighbour"), options: ["bind"]})'
	mkdir "$B/rootfs/dev/pts"
	mknod -m 666 "$B/rootfs/dev/pts/ptmx" c 5 2
	_run_on_terminal
	umount neighbour
	cat output
	! grep -q '^stdin' output || faked "a terminal of the neighbour's: $(grep ^stdin output)"
}

# The container moves its own /dev away and puts files into a new one.
exec_does_not_take_a_file_for_a_terminal() {
	local fake
	for fake in 'echo fake >/dev/pts/ptmx' 'ln -s /canary /dev/pts/ptmx' 'mkfifo /dev/pts/ptmx' 'mkdir /dev/pts/ptmx'; do
		bundle 'sh("mv /dev /old; mkdir -p /dev/pts; : >/dev/pts/0; \(env.FAKE); : >/ready; sleep 100")' "$_image_dev" writable
		jq --arg fake "$fake" '.process.args[2] |= sub("null"; $fake)' "$B/config.json" >new && mv new "$B/config.json"
		echo canary >"$B/rootfs/canary"
		sbx run -d -b "$B" "$ID"
		wait_until 20 test -e "$B/rootfs/ready"
		at_terminal timeout -k 1 60 "$SBXRUN" --root "$T/state" exec -t "$ID" /bin/sh -c 'echo began; test -t 0 || echo no terminal' </dev/null
		! grep -q 'no terminal' output || faked "a terminal made of: $fake"
		[ ! -s "$B/rootfs/dev/pts/0" ] || faked "what it says goes to a file: $(head -c 100 "$B/rootfs/dev/pts/0") ($fake)"
		[ ! -f "$B/rootfs/dev/pts/ptmx" ] || [ -L "$B/rootfs/dev/pts/ptmx" ] || holds "$B/rootfs/dev/pts/ptmx" fake "$fake"
		holds "$B/rootfs/canary" canary "$fake"
		sbx delete -f "$ID"
	done
}

run_tests
