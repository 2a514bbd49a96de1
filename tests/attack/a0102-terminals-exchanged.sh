#!/bin/bash
# Imitates CVE-2025-52565: a neighbour exchanges /dev/pts, /dev/console and /dev/ptmx while a terminal is set up. Escape: something is
# made in the canary or written to it. Fake: the program's standard input is no terminal, or /dev/console is none.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# PAIR…: starts containers at a terminal while the pairs are exchanged; /dev is a directory that the neighbour shares.
_terminals() {
	local i
	mkdir -p canary
	bundle '.process.terminal = true' '.mounts |= map(select(.destination == "/dev/pts" or (.destination | startswith("/dev") | not)))' \
		writable 'sh("test -t 0 && echo a terminal || echo no terminal; test ! -f /dev/console || echo a file; echo end")'
	mkdir -p "$B/rootfs/dev/pts" "$B/rootfs/dev/fake"
	echo canary >"$B/rootfs/dev/fake/ptmx"
	echo canary >"$B/rootfs/dev/fake/0"
	: >"$B/rootfs/dev/console"
	ln -s "$T/canary/made" "$B/rootfs/dev/link"
	ln -s "../../../../../../../../../../..$T/canary" "$B/rootfs/dev/climb"
	build_attacker
	(cd "$B/rootfs/dev" && exec "$ATTACKER" swap "$@") &
	SWAPPER=$!
	for ((i = 0; i < STARTS; i++)); do
		at_terminal timeout -k 1 30 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null
		untouched canary "start $i"
		! grep -q 'no terminal' output || faked "start $i: a terminal that is none"
		run sbx delete -f "$ID"
	done
	kill "$SWAPPER"
	wait "$SWAPPER" || :
	[ "$(cat "$B"/rootfs/dev/{fake,pts}/{ptmx,0} 2>/dev/null)" = $'canary\ncanary' ] || escaped 'a file of the neighbour was written to'
}

pts_exchanged_with_a_directory() {
	_terminals pts fake
}

pts_exchanged_with_a_link() {
	_terminals pts climb
}

the_console_exchanged_with_a_link() {
	_terminals console link
}

run_tests
