#!/bin/bash
# sbxrun do at a terminal: Ctrl-C reaches the program by its own terminal, its size follows ours, and ours is put back whatever ends the box.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../tools/exec.sh"

# _do WORD…: what at_terminal is given, in busybox.
_do() {
	needs python3
	bundle
	at_terminal "$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" "$@"
}

control_c_interrupts_the_program_which_may_go_on() {
	_do -- sh -c 'trap "echo interrupted" INT; echo ready; i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); [ -z "$(jobs)" ]; done & wait; echo on; exit 4' <<-'END'
		expect ready
		flags
		type \x03
		expect interrupted
		expect on
		end
	END
	rc_is 4
	like "$said" $'^flags onlcr\n' 'ours is raw meanwhile'
	like "$said" 'left onlcr icanon echo isig$'
	is "$(sbx list -q)" ''
}

control_c_ends_the_box_and_not_us_alone() {
	_do -- sh -c 'sleep 1001 & echo ready; sleep 1000' <<-'END'
		expect ready
		type \x03
		end
	END
	rc_is 130
	like "$said" 'left onlcr icanon echo isig$'
	is "$(sbx list -q)" ''
	! grep -qs '[s]leep.1001' /proc/[0-9]*/cmdline || fail 'a child of the program runs on'
}

its_size_is_ours_and_follows_it() {
	_do -- sh -c 'stty size; trap "stty size; echo changed" WINCH; echo ready; while ! [ -e /tmp/end ]; do read -r x && exit 6; done' <<-'END'
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

our_terminal_is_put_back_whatever_ends_the_box() {
	_do --timeout 1 -- sh -c 'trap "" TERM INT; stty raw -echo; echo ready; sleep 1000' <<-'END'
		expect ready
		end
	END
	rc_is 124
	like "$said" 'left onlcr icanon echo isig$'
	_do -- sh -c 'stty raw -echo; echo ready; sleep 1000' <<-'END'
		expect ready
		signal 15
		end
	END
	rc_is 143
	like "$said" 'left onlcr icanon echo isig$'
	_do -- sh -c 'echo ready; kill -9 $$' <<-'END'
		expect ready
		end
	END
	rc_is 137
	like "$said" 'left onlcr icanon echo isig$'
	is "$(sbx list -q)" ''
}

run_tests
