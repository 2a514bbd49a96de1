#!/bin/bash
# process.terminal: a terminal of the container's own on the program's streams, its other end with whoever asked for it.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

TERMINAL='.process.terminal = true'

# Runs `sbx create --console-socket`, takes the terminal's other end, runs `sbx start`, and prints what the program prints.
# $1 is what is typed. The socket's message is checked: one descriptor, its name as payload.
_through_a_console_socket() {
	run timeout 30 python3 - "$SBXRUN" "$T/state" "$B" "$ID" "$1" <<-'END'
		import array, os, socket, subprocess, sys
		runtime, root, bundle, id, typed = sys.argv[1:]
		listener = socket.socket(socket.AF_UNIX)
		listener.bind("console.sock")
		listener.listen()
		create = subprocess.Popen([runtime, "--root", root, "create", "-b", bundle, "--console-socket", "console.sock", id],
		    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sys.stderr)
		connection, _ = listener.accept()
		name, control, flags, _ = connection.recvmsg(4096, socket.CMSG_SPACE(64))
		fds = array.array("i")
		for level, kind, data in control:
		    assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
		    fds.frombytes(data)
		assert len(fds) == 1 and 0 < len(name) < 4096, (fds, name)
		assert create.wait() == 0
		assert os.isatty(fds[0])
		subprocess.run([runtime, "--root", root, "start", id], check=True)
		os.write(fds[0], typed.encode())
		text = b""
		while True:
		    try:
		        more = os.read(fds[0], 4096)
		    except OSError:  # EIO: the program has ended
		        break
		    if not more:
		        break
		    text += more
		sys.stdout.buffer.write(text)
	END
}

create_without_a_console_socket_is_refused() {
	bundle "$TERMINAL"
	refused 'terminal|tty|console' sbx create -b "$B" "$ID"
	refused 'terminal|tty|console' sbx run -d -b "$B" "$ID"
	nothing_is_left
}

a_console_socket_without_a_terminal_is_refused() {
	bundle
	refused 'console' sbx create --console-socket "$T/sock" -b "$B" "$ID"
	bundle "$TERMINAL"
	refused 'console' sbx create --console-socket "$T/nobody-listens" -b "$B" "$ID"
	nothing_is_left
}

the_console_socket_gets_the_other_end() {
	bundle "$TERMINAL" 'sh("stty -echo; tty; read -r line; echo \"<$line>\"")'
	_through_a_console_socket $'hello\n'
	rc_is 0
	like "$out" '/dev/(pts/0|console)'
	like "$out" '<hello>'
}

the_streams_are_the_terminal_and_it_controls_the_program() {
	bundle "$TERMINAL" 'sh("for n in 0 1 2; do test -t $n && echo tty$n; done; read -r line </proc/1/stat; set -- ${line##*) }
		[ $5 != 0 ] && echo controlled; echo ok >/dev/tty; echo ok >/dev/console; ls /proc/1/fd | tr \"\\n\" \" \"; echo")' \
		'.process.consoleSize = {height: 33, width: 77}'
	_through_a_console_socket ''
	rc_is 0
	is "${out//$'\r'/}" $'tty0\ntty1\ntty2\ncontrolled\nok\nok\n0 1 2 '
}

the_size_is_that_of_the_config() {
	bundle "$TERMINAL" 'sh("stty size")' '.process.consoleSize = {height: 33, width: 77}'
	_through_a_console_socket ''
	rc_is 0
	is "${out//$'\r'/}" '33 77'
}

the_terminal_belongs_to_the_user() {
	bundle "$TERMINAL" 'sh("stat -c %u \"$(readlink /proc/1/fd/0)\"; echo ok >/dev/stderr; true")' '.process.user = {uid: 1000, gid: 1000}'
	_through_a_console_socket ''
	rc_is 0
	is "${out//$'\r'/}" $'1000\nok'
}

a_foreground_run_copies_between_the_terminals() {
	bundle "$TERMINAL" 'sh("test -t 0 && test -t 1 && echo tty; exit 7")'
	run script -qec "$SBXRUN --root $T/state run -b $B $ID" /dev/null
	rc_is 7
	like "$out" '^tty'
	nothing_is_left
}

a_foreground_run_needs_no_terminal_of_its_own() {
	bundle "$TERMINAL" 'sh("test -t 1 && echo tty; exit 7")'
	run sbx run -b "$B" "$ID"
	rc_is 7
	is "${out//$'\r'/}" tty
	nothing_is_left
}

the_console_size_is_ignored_without_a_terminal() {
	bundle 'sh("exit 7")' '.process.consoleSize = {height: 10, width: 20}'
	run sbx run -b "$B" "$ID"
	rc_is 7
}

the_pidfd_socket_gets_a_pidfd_of_init() {
	bundle 'sh("sleep 100")'
	run timeout 30 python3 - "$SBXRUN" "$T/state" "$B" "$ID" <<-'END'
		import array, os, re, socket, subprocess, sys
		runtime, root, bundle, id = sys.argv[1:]
		listener = socket.socket(socket.AF_UNIX)
		listener.bind("pidfd.sock")
		listener.listen()
		create = subprocess.Popen([runtime, "--root", root, "create", "-b", bundle, "--pidfd-socket", "pidfd.sock", id])
		connection, _ = listener.accept()
		_, control, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(64))
		fds = array.array("i")
		fds.frombytes(control[0][2])
		assert create.wait() == 0 and len(fds) == 1
		print(re.search(r"^Pid:\s*(\d+)", open("/proc/self/fdinfo/%d" % fds[0]).read(), re.M).group(1))
	END
	rc_is 0
	is "$out" "$(pid_of "$ID")"
}

run_tests
