#!/bin/bash
# Terminals whose master goes over a console socket: create, run -d and exec, as engines call them.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

_terminal='.process.terminal = true'

the_master_is_sent_and_is_the_programs_terminal() {
	needs python3
	bundle "$_terminal" 'sh("tty; echo ready; read -r line; echo got $line; exit 3")'
	take_terminal "$T/sock" <<-END
		expect ready
		send hello
		expect got hello
		end
	END
	sbx create --console-socket "$T/sock" -b "$B" "$ID"
	is "$(status_of "$ID")" created
	sbx start "$ID"
	terminal_is_done
	is "$said" 'got 1 /dev/ptmx' 'one descriptor, and a name'
	# Engines pass on what they read: without the carriage returns it stands in staircases.
	is "$(<output)" $'/dev/pts/0\r\nready\r\nhello\r\ngot hello\r'
}

the_terminal_is_the_controlling_one() {
	needs python3
	bundle "$_terminal" 'sh("trap \"echo interrupted; exit 4\" INT; echo ready; echo through >/dev/tty; while :; do sleep 1; done")'
	take_terminal "$T/sock" <<-'END'
		expect ready
		expect through
		type \x03
		expect interrupted
		end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	terminal_is_done
}

all_streams_and_dev_console_are_the_terminal() {
	needs python3
	bundle "$_terminal" 'sh("for f in /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2; do readlink $f; done
		stat -Lc %t:%T /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /dev/console; stat -c %F /dev/console
		ls -1 /proc/$$/fd; echo console >/dev/console; sleep 0.1; echo end; sleep 1000")'
	take_terminal "$T/sock" <<-END
		expect console
		expect end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID" 7<"$T/state"
	terminal_is_done
	like "$(tr -d '\r' <output)" $'^(/dev/[a-z0-9/]+)\n\\1\n\\1\n(88:[0-9a-f]+)\n\\2\n\\2\n\\2\ncharacter special file\n(0\n1\n2\n|0\n1\n10\n2\n)console\nend'
}

flags_are_sane() {
	needs python3
	bundle "$_terminal" 'sh("echo ready; read -r x")'
	take_terminal "$T/sock" <<-END
		expect ready
		flags
		send x
		end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	terminal_is_done
	like "$said" 'flags onlcr icanon echo isig$'
}

its_size_is_the_configs() {
	needs python3
	bundle "$_terminal" '.process.consoleSize = {height: 33, width: 111}' 'sh("stty size; read -r x; stty size")'
	take_terminal "$T/sock" <<-END
		expect 33 111
		resize 44 122
		send x
		expect 44 122
		end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	terminal_is_done
}

a_resize_by_the_engine_is_a_sigwinch_inside() {
	needs python3
	bundle "$_terminal" 'sh("trap \"stty size; exit\" WINCH; echo ready; while :; do sleep 0.1; done")'
	take_terminal "$T/sock" <<-END
		expect ready
		resize 51 133
		expect 51 133
		end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	terminal_is_done
}

it_belongs_to_the_user() {
	needs python3
	bundle "$_terminal" '.process.user = {uid: 1000, gid: 1000}' 'sh("stat -Lc %u /proc/self/fd/0; echo reopened >/proc/self/fd/1; echo too >/dev/tty; read -r x")'
	take_terminal "$T/sock" <<-END
		expect 1000
		expect reopened
		expect too
		send x
		end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	terminal_is_done
}

it_works_in_a_user_namespace() {
	needs python3
	bundle "$_terminal" 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings' \
		'.process.user = {uid: 1000, gid: 1000}' 'sh("stat -Lc %u /proc/self/fd/0; echo >/dev/console; tty; read -r x")'
	take_terminal "$T/sock" <<-END
		expect 1000
		expect /dev/
		send x
		end
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	terminal_is_done
}

hanging_up_ends_the_program() {
	local pid
	needs python3
	bundle "$_terminal" 'without_ns("pid")' 'sh("echo ready; sleep 1000")'
	take_terminal "$T/sock" <<-END
		expect ready
		close
	END
	sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	pid=$(pid_of "$ID")
	terminal_is_done
	wait_until 10 dead "$pid"
}

an_exec_has_its_own_terminal() {
	needs python3
	box
	take_terminal "$T/sock" <<-END
		expect inside
		flags
		send word
		expect got word
		resize 40 100
		send x
		expect 40 100
		end
	END
	sbx exec -d -t --console-socket "$T/sock" --pid-file pid "$ID" sh -c 'echo inside; tty; read -r l; echo got $l; read -r x; stty size'
	terminal_is_done
	is "${said%%$'\n'*}" 'got 1 /dev/ptmx'
	like "$said" 'flags onlcr icanon echo isig$'
	like "$(<output)" '/dev/pts/[0-9]'
	like "$(<output)" $'\r\ngot word\r\n'
	wait_until 10 dead "$(<pid)"
}

an_exec_by_file_has_a_terminal_of_its_size_and_user() {
	needs python3
	box
	echo '{"terminal": true, "consoleSize": {"height": 12, "width": 34}, "cwd": "/", "user": {"uid": 1000, "gid": 1000}, "env": ["PATH=/bin"],
		"args": ["sh", "-c", "stty size; stat -Lc %u /proc/self/fd/0; tty; echo reopened >/dev/tty; read -r x"]}' >process
	take_terminal "$T/sock" <<-END
		expect 12 34
		expect 1000
		expect /dev/pts/
		expect reopened
		send x
		end
	END
	sbx exec -p process --console-socket "$T/sock" --detach --pid-file pid "$ID"
	terminal_is_done
}

a_foreground_exec_with_a_socket_waits_for_the_program() {
	needs python3
	box
	take_terminal "$T/sock" <<-END
		expect ready
		send x
		end
	END
	in_box -t --console-socket "$T/sock" "$ID" sh -c 'echo ready; read -r x; exit 5'
	rc_is 5
	is "$out" ''
	terminal_is_done
}

a_long_path_works() {
	local dir
	needs python3
	dir=$T/$(printf 'd%.0s' {1..80})/$(printf 'e%.0s' {1..80})
	mkdir -p "$dir"
	bundle "$_terminal" 'sh("echo ready; read -r x")'
	take_terminal "$dir/sock" <<-END
		expect ready
		send x
		end
	END
	sbx run -d --console-socket "$dir/sock" -b "$B" "$ID"
	terminal_is_done
}

a_relative_path_is_the_callers() {
	needs python3
	mkdir dir
	bundle "$_terminal" 'sh("echo ready; read -r x")'
	take_terminal "$T/dir/sock" <<-END
		expect ready
		send x
		end
	END
	cd dir
	sbx create --console-socket sock -b "$B" "$ID"
	sbx start "$ID"
	cd ..
	terminal_is_done
}

a_socket_that_is_not_there_is_an_error() {
	local bad
	bundle "$_terminal"
	for bad in "$T/nobody" "$T/config" "$T/$(printf 'd%.0s' {1..200})/sock" ''; do
		refused 'console-socket|terminal' sbx create --console-socket "$bad" -b "$B" "$ID"
		nothing_is_left
	done
	: >file
	refused 'console-socket' sbx run -d --console-socket "$T/file" -b "$B" "$ID"
	nothing_is_left
	state_is_empty
	box
	exec_refused 'console-socket' -d -t --console-socket "$T/nobody" --pid-file pid "$ID" sleep 100
	[ ! -e pid ] || fail 'there is a pid file'
}

without_a_socket_nothing_is_detached() {
	bundle "$_terminal"
	refused 'cannot allocate tty if .* will detach without .*(console|socket)' sbx create -b "$B" "$ID"
	nothing_is_left
	refused 'cannot allocate tty if .* will detach without .*(console|socket)' sbx run -d -b "$B" "$ID"
	nothing_is_left
	box
	exec_refused 'cannot allocate tty if .* will detach without .*(console|socket)' -d -t "$ID" sleep 100
}

a_socket_without_a_terminal_is_an_error() {
	bundle
	refused 'console-socket|terminal' sbx create --console-socket "$T/sock" -b "$B" "$ID"
	nothing_is_left
	refused 'console-socket|terminal' sbx run -d --console-socket "$T/sock" -b "$B" "$ID"
	nothing_is_left
}

a_terminal_needs_a_devpts_and_says_so() {
	bundle "$_terminal" 'unmount("/dev/pts")'
	"$PYTHON" "$TOOLS/terminal.py" output take "$T/sock" </dev/null >said 2>said.err &
	TERMINAL=$!
	wait_until 20 test -S sock
	refused 'terminal.*(pts|devpts)' sbx create --console-socket "$T/sock" -b "$B" "$ID"
	nothing_is_left
	kill "$TERMINAL" 2>/dev/null || :
}

run_tests
