#!/bin/bash
# Terminals of run and exec in the foreground: what is typed at ours reaches the program, and ours is put back afterwards.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

_terminal='.process.terminal = true'

what_is_typed_comes_in_and_what_is_said_comes_out() {
	needs python3
	bundle "$_terminal" 'sh("echo ready; read -r line; echo got $line; exit 3")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-END
		expect ready
		flags
		send hello
		expect got hello
		end
	END
	rc_is 3
	is "$(<output)" $'ready\r\nhello\r\ngot hello\r' 'one echo, and lines that end as our terminal needs it'
	like "$said" $'^flags onlcr\n' 'ours is raw meanwhile'
	like "$said" $'\nleft onlcr icanon echo isig$' 'and as before in the end'
	nothing_is_left
}

control_c_interrupts_the_program_and_not_us() {
	needs python3
	bundle "$_terminal" 'sh("trap \"echo interrupted; exit 4\" INT; echo ready; while :; do sleep 0.1; done")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect ready
		type \x03
		expect interrupted
		end
	END
	rc_is 4
	like "$said" 'left onlcr icanon echo isig$'
	nothing_is_left
}

its_size_is_ours_and_follows_it() {
	needs python3
	bundle "$_terminal" 'sh("stty size; trap \"stty size; echo changed\" WINCH; echo ready; while ! [ -e /tmp/end ]; do read -r x && exit 6; done")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect 24 80
		expect ready
		resize 50 132
		expect 50 132
		expect changed
		send x
		end
	END
	rc_is 6
}

the_configs_size_gives_way_to_ours() {
	needs python3
	bundle "$_terminal" '.process.consoleSize = {height: 33, width: 111}' 'sh("until [ \"$(stty size)\" = \"24 80\" ]; do usleep 20000; done; stty size")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect 24 80
		end
	END
	rc_is 0
}

# It edits lines itself, and may begin with that before or after the end is said.
the_end_of_input_ends_a_shell() {
	local i
	bundle "$_terminal" 'args(["/bin/sh"])'
	for i in 1 2 3 4 5 6 7 8; do
		run timeout -s KILL 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null
		rc_is 0
		run bash -c 'echo "echo said-$0" | timeout -s KILL 60 "$@"' "$i" "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
		rc_is 0
		like "$out" "said-$i"
	done
	bundle 'sh("sleep 1000")'
	sbx run -d -b "$B" "$ID"
	for i in 1 2 3 4 5; do
		run timeout -s KILL 60 "$SBXRUN" --root "$T/state" exec -t "$ID" sh </dev/null
		rc_is 0
	done
}

the_end_of_input_ends_the_program() {
	needs python3
	bundle "$_terminal" 'sh("echo ready; cat; echo end of file; exit 5")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect ready
		send text
		expect text.*text
		type \x04
		expect end of file
		end
	END
	rc_is 5
}

signals_reach_the_program() {
	needs python3
	bundle "$_terminal" 'sh("trap \"echo terminated; exit 7\" TERM; echo ready; while :; do sleep 0.1; done")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect ready
		signal 15
		expect terminated
		end
	END
	rc_is 7
	like "$said" 'left onlcr icanon echo isig$'
	nothing_is_left
}

a_megabyte_of_output_is_complete() {
	needs python3
	bundle "$_terminal" 'sh("cat /data; echo the end")'
	yes "$(printf 'x%.0s' {1..63})" | head -n 16384 >"$B/rootfs/data" || :
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		end
		count
	END
	rc_is 0
	# Each line has got its carriage return.
	like "$said" "count $((16384 * 65 + 9))"
	like "$(tail -c 12 output)" 'the end'
}

a_megabyte_of_input_is_complete() {
	local sum
	needs python3
	box
	yes "$(printf 'y%.0s' {1..63})" | head -n 16384 >data || :
	sum=$(cksum <data)
	# Standard input is no terminal, output is none either: the program has one nevertheless.
	tail -c +1 data | sbx exec -t "$ID" sh -c 'stty -echo; cat | tee /dev/null | wc -lc' >counted
	like "$(<counted)" '16384 +1048576'
	is "$(cksum <data)" "$sum"
}

standard_input_may_be_no_terminal() {
	bundle "$_terminal" 'sh("tty; read -r line; echo got $line; cat >/dev/null; echo end; exit 8")'
	run sbx run -b "$B" "$ID" < <(echo piped)
	rc_is 8
	like "$out" '/dev/(console|pts/[0-9]+)'
	like "$out" 'got piped'
	like "$out" $'\nend$'
	nothing_is_left
	bundle "$_terminal" 'sh("stty size; exit 9")' '.process.consoleSize = {height: 33, width: 111}'
	run sbx run -b "$B" "$ID" </dev/null
	rc_is 9
	is "$out" '33 111'
}

input_that_ends_within_a_line_ends_too() {
	box
	run timeout 60 "$SBXRUN" --root "$T/state" exec -t "$ID" sh -c 'stty -echo; echo; cat; echo " end"; exit 4' < <(printf 'no newline')
	rc_is 4
	like "$out" 'no newline end'
}

output_to_nobody_does_not_hang() {
	bundle "$_terminal" 'sh("i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); echo line of some length; done; exit 6")'
	run timeout 60 sh -c '"$@" >&-' sh "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 6
	nothing_is_left
}

exec_with_a_terminal_is_like_run() {
	needs python3
	box
	at_terminal "$SBXRUN" --root "$T/state" exec -t "$ID" sh -c 'trap "echo interrupted" INT; tty; stty size; read -r line; echo got $line
		while ! [ -e /tmp/end ]; do read -r x && exit 7; done' <<-'END'
		expect /dev/pts/[0-9]
		expect 24 80
		send hello
		expect got hello
		type \x03
		expect interrupted
		resize 30 90
		send x
		end
	END
	rc_is 7
	like "$said" 'left onlcr icanon echo isig$'
}

exec_in_a_container_that_has_a_terminal_gets_another() {
	needs python3
	bundle "$_terminal" 'sh("echo ready; read -r x; echo ended by $x; exit 2")'
	at_terminal sh -c '"$0" --root "$T/state" run -b "$1" "$2" </dev/tty & while ! "$0" --root "$T/state" exec "$2" true 2>/dev/null; do sleep 0.05; done
		"$0" --root "$T/state" exec "$2" sh -c "tty; echo own" </dev/null | cat; "$0" --root "$T/state" kill "$2" KILL; wait' "$SBXRUN" "$B" "$ID" <<-'END'
		expect own
		end
	END
	like "$(<output)" 'not a tty'
	like "$said" 'left onlcr icanon echo isig$'
}

a_program_that_can_not_start_leaves_our_terminal_alone() {
	needs python3
	bundle "$_terminal" 'args(["/not/there"])'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect no such file
		end
	END
	rc_is 1
	like "$said" 'left onlcr icanon echo isig$'
	box
	at_terminal "$SBXRUN" --root "$T/state" exec -t "$ID" not-there <<-'END'
		expect not found
		end
	END
	rc_is 255
	like "$said" 'left onlcr icanon echo isig$'
}

without_a_terminal_the_program_does_not_get_ours() {
	needs python3
	# It could push characters into it. The streams are ours, the controlling terminal is not.
	bundle 'sh("echo x >/dev/tty; echo done")'
	at_terminal "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		expect (can't create|cannot create|No such device).*done
		end
	END
	rc_is 0
}

# `exec -t ID yes | head -1`: the reader is gone, and so is the program's terminal.
closed_output_ends_the_program() {
	bundle 'sh("sleep 1000")'
	sbx run -d -b "$B" "$ID"
	# shellcheck disable=SC2016
	run bash -c '{ timeout 60 "$@" </dev/null; echo "status $?" >&2; } | head -n 1' bash "$SBXRUN" --root "$T/state" exec -t "$ID" yes
	like "$out" '^y'
	like "$err" 'status 129'
}

# What it was before is remembered once: a SIGCONT that no stop came before finds it raw.
a_continue_without_a_stop_leaves_the_terminal_as_it_was() {
	needs python3
	bundle '.process.terminal = true' 'sh("echo up; read line")'
	run python3 -c 'import os, pty, signal, subprocess, sys, termios
master, slave = pty.openpty()
before = termios.tcgetattr(slave)
p = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=slave, start_new_session=True)
seen = b""
while b"up" not in seen:
    seen += os.read(master, 100)
print(termios.tcgetattr(slave) != before)
p.send_signal(signal.SIGCONT)
os.write(master, b"go on\r")
p.wait()
print(termios.tcgetattr(slave) == before)' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" $'True\nTrue'
}

run_tests
