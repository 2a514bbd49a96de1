#!/bin/bash
# Imitates CVE-2016-10124, CVE-2017-5226: the program types into the caller's terminal with TIOCSTI. Escape: it has
# the caller's terminal as its own.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# The caller's terminal is its standard input, but not the one that controls it: the kernel asks for that.
the_callers_terminal_does_not_control_it() {
	bundle 'sh("echo tty_nr $(cut -d\" \" -f7 /proc/$$/stat); /attacker ioctl 0x5412; (: </dev/tty) 2>/dev/null && echo has /dev/tty; true")' \
		'caps(["CAP_KILL"])'
	with_attacker
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null
	grep -q 'tty_nr 0' output || escaped "it is controlled by a terminal: $(cat output)"
	! grep -q 'has /dev/tty' output || escaped 'it can open the terminal'
}

exec_has_no_controlling_terminal_either() {
	box
	with_attacker
	at_terminal "$SBXRUN" --root "$T/state" exec "$ID" /bin/sh -c 'echo tty_nr $(cut -d" " -f7 /proc/$$/stat)' </dev/null
	grep -q 'tty_nr 0' output || escaped "it is controlled by a terminal: $(cat output)"
}

run_tests
