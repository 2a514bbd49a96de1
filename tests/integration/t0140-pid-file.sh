#!/bin/bash
# --pid-file: engines read it as soon as it is there. --pidfd-socket says the same without a number.
# Views: own it_has_digits_and_no_newline run_writes_it_too it_is_relative_to_the_caller_and_not_to_the_bundle
# Views: own an_old_one_is_replaced_and_not_written_to
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# File $1 holds the digits of a living process's pid and nothing else; the process is init of $ID.
_is_pid_of_init() {
	local pid
	slurp pid "$1"
	like "$pid" '^[1-9][0-9]*$'
	is "$(stat -c %s "$1")" "${#pid}"
	lives "$pid" || fail "no process $pid"
	file_has "/proc/$pid/cgroup" "$P/$ID"
	file_has "/proc/$pid/status" "^NSpid:.*[[:space:]]1$"
}

it_has_digits_and_no_newline() {
	bundle
	sbx create -b "$B" --pid-file "$T/pid" "$ID"
	_is_pid_of_init "$T/pid"
	is "$(<"$T/pid")" "$(pid_of "$ID")"
}

run_writes_it_too() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" --pid-file="$T/pid" "$ID"
	_is_pid_of_init "$T/pid"
	bundle 'sh("sleep 100")'
	background run -b "$B" --pid-file "$T/pid2" "$ID"
	wait_until 10 test -e "$T/pid2"
	_is_pid_of_init "$T/pid2"
	wait_until 10 status_is "$ID" running
	sbx kill "$ID" KILL
	wait_for_background
	rc_is 137
}

it_is_relative_to_the_caller_and_not_to_the_bundle() {
	bundle
	mkdir here
	cd here
	sbx create -b "$B" --pid-file pid "$ID"
	_is_pid_of_init "$T/here/pid"
	[ ! -e "$B/pid" ] || fail 'it is in the bundle'
}

an_old_one_is_replaced_and_not_written_to() {
	bundle
	mkdir dir
	echo 'a much longer text than a pid has' >dir/target
	# A file with two names: written in place, both would change.
	ln dir/target dir/other
	sbx create -b "$B" --pid-file "$T/dir/target" "$ID"
	_is_pid_of_init "$T/dir/target"
	file_has dir/other 'much longer'
	is "$(cd dir && echo ./* ./.[!.]*)" './other ./target ./.[!.]*'
}

what_is_no_file_is_not_replaced() {
	local at
	bundle
	mkdir dir dir/directory
	mkfifo dir/pipe
	echo text >dir/file
	ln -s file dir/link
	ln -s nowhere dir/dangling
	for at in directory pipe link dangling; do
		refused 'pid-file.*not a regular file' sbx create -b "$B" --pid-file "$T/dir/$at" "$ID"
		nothing_is_left
	done
	refused 'pid-file.*not a regular file' sbx run -d -b "$B" --pid-file /dev/stdout "$ID"
	[ -L /dev/stdout ] || fail '/dev/stdout is gone'
	is "$(cd dir && ls -F | tr '\n' ' ')" 'dangling@ directory/ file link@ pipe| '
	is "$(<dir/file)" text
}

there_is_none_after_a_failure() {
	bundle '.process.cwd = "/etc/passwd"'
	mkdir dir
	refused . sbx create -b "$B" --pid-file "$T/dir/pid" "$ID"
	bundle 'hook("createRuntime"; "/bin/false"; ["false"])'
	refused . sbx create -b "$B" --pid-file "$T/dir/pid" "$ID"
	is "$(cd dir && echo ./* ./.[!.]*)" './* ./.[!.]*'
	nothing_is_left
}

a_place_that_cannot_be_written_fails_the_create() {
	bundle
	refused 'pid' sbx create -b "$B" --pid-file "$T/not/there/pid" "$ID"
	nothing_is_left
	state_is_empty
}

the_pidfd_socket_gets_a_pidfd_of_init() {
	bundle 'sh("sleep 100")'
	run timeout 60 python3 - "$SBXRUN" "$T/state" "$B" "$ID" <<-'END'
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
