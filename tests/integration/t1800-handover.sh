#!/bin/bash
# What callers hand in and get back around create, run and exec: pidfds, listening sockets, keyrings, roots without pivot_root,
# and what becomes of a container when they die.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# _expect_pidfd: listen at $T/sock for one.
_expect_pidfd() {
	needs python3
	rm -f sock
	"$PYTHON" "$TOOLS/pidfd.py" "$T/sock" >got 2>got.err &
	LISTENER=$!
	wait_until 20 test -S sock
}

create_sends_a_pidfd_of_init() {
	local pid
	bundle 'args(["/bin/sleep", "1000"])'
	_expect_pidfd
	sbx create --pidfd-socket "$T/sock" -b "$B" "$ID"
	pid=$(pid_of "$ID")
	wait_until 20 test -s got
	is "$(<got)" "1 pidfd $pid"
	sbx start "$ID"
	sbx kill "$ID" KILL
	wait "$LISTENER"
	is "$(<got)" "1 pidfd $pid"$'\nended'
}

run_sends_a_pidfd_of_init() {
	bundle 'sh("sleep 0.3; exit 3")'
	_expect_pidfd
	run sbx run --pidfd-socket "$T/sock" --pid-file pid -b "$B" "$ID"
	rc_is 3
	wait "$LISTENER"
	is "$(<got)" "1 pidfd $(<pid)"$'\nended'
}

a_pidfd_socket_that_is_not_there_is_an_error() {
	bundle
	refused 'pidfd-socket' sbx create --pidfd-socket "$T/nobody" -b "$B" "$ID"
	nothing_is_left
	refused 'pidfd-socket' sbx run -d --pidfd-socket "$T/nobody" -b "$B" "$ID"
	nothing_is_left
	state_is_empty
}

without_pivot_root_a_container_runs_as_well() {
	bundle writable 'sh("pwd; ls -d /..; cd /../..; pwd; echo >/mark; ls /work /boot 2>/dev/null; cat /proc/self/mountinfo | wc -l; exit 3")'
	run sbx run --no-pivot -b "$B" "$ID"
	rc_is 3
	like "$out" $'^/\n/..\n/\n[0-9]+$'
	[ -e "$B/rootfs/mark" ] || fail 'it is elsewhere'
	nothing_is_left
	bundle 'args(["/bin/sleep", "1000"])'
	sbx create --no-pivot -b "$B" "$ID"
	sbx start "$ID"
	in_box "$ID" sh -c 'hostname; ls /bin/busybox'
	rc_is 0
	is "$(stat -Lc %d:%i "/proc/$(pid_of "$ID")/root")" "$(stat -c %d:%i "$B/rootfs")"
}


# Runs CMD… with a session keyring of the name $P.
_in_session() {
	"$PYTHON" -c '
import ctypes, os, platform, sys
number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
if ctypes.CDLL(None).syscall(number, 1, sys.argv[1].encode()) < 0:
    sys.exit(77)
os.execvp(sys.argv[2], sys.argv[2:])' "$P" "$@"
}

the_session_keyring_is_new_unless_told_otherwise() {
	needs python3 gcc
	bundle 'args(["/keyring"])'
	gcc -static -o "$B/rootfs/keyring" "$TOOLS/keyring.c" || skip 'no static C library'
	run _in_session "$SBXRUN" --root "$T/state" run --no-new-keyring -b "$B" "$ID"
	[ "$rc" != 77 ] || skip 'the kernel gives us no keyring'
	rc_is 0
	like "$out" "^keyring;.*;$P\$"
	run _in_session "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	like "$out" '^keyring;.*;_ses'
	# That of exec is new, too.
	box
	cp "$T/b1/rootfs/keyring" "$B/rootfs/keyring"
	run _in_session "$SBXRUN" --root "$T/state" exec "$ID" /keyring
	rc_is 0
	like "$out" '^keyring;.*;_ses'
}

no_new_keyring_is_accepted_and_the_program_runs() {
	run_in_box 'echo runs'
	bundle 'sh("echo runs")'
	run sbx run --no-new-keyring -b "$B" "$ID"
	rc_is 0
	is "$out" runs
	sbx create --no-new-keyring -b "$B" "$ID"
	sbx start "$ID"
}

sockets_of_systemd_pass_with_their_variables() {
	echo three >three
	bundle 'sh("echo $LISTEN_FDS; [ \"$LISTEN_PID\" = $$ ] && echo mine; cat <&3; ls /proc/1/fd; true")'
	# The caller is the one that they were meant for.
	run bash -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"' bash "$SBXRUN" --root "$T/state" run -b "$B" "$ID" 3<three 4<three
	rc_is 0
	is "$out" $'1\nmine\nthree\n0\n1\n2\n3'
}

sockets_meant_for_somebody_else_do_not_pass() {
	echo three >three
	bundle 'sh("echo [$LISTEN_FDS]; ls /proc/1/fd; true")'
	run env LISTEN_PID=1 LISTEN_FDS=1 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" 3<three 4<three
	is "$out" $'[]\n0\n1\n2'
	bundle 'sh("echo [$LISTEN_FDS]; ls /proc/1/fd; true")'
	run env LISTEN_FDS=1 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" 3<three 4<three
	is "$out" $'[]\n0\n1\n2'
}

the_notify_socket_of_the_caller_is_not_told_to_the_program() {
	bundle 'sh("env")'
	run env NOTIFY_SOCKET="$T/notify" "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	# Nothing of the caller's environment is, unless the config says so and makes the socket reachable.
	unlike "$out" "$T/notify"
}

init_is_a_child_of_whoever_reaps() {
	needs python3
	bundle 'sh("exit 9")'
	run "$PYTHON" -c '
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
run = [sys.argv[1], "--root", sys.argv[2]]
subprocess.run(run + ["create", "--pid-file", "pid", "-b", sys.argv[3], sys.argv[4]], check=True)
with open("pid") as file:
    pid = int(file.read())
with open(f"/proc/{pid}/stat") as file:
    print(int(file.read().split()[3]) == os.getpid())
subprocess.run(run + ["start", sys.argv[4]], check=True)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try:
    os.waitpid(-1, 0)
    print("more")
except ChildProcessError:
    pass' "$SBXRUN" "$T/state" "$B" "$ID"
	is "$out" $'True\n9' "$err"
	sbx delete "$ID"
}

a_parent_death_signal_of_the_caller_does_not_reach_init() {
	needs setpriv
	bundle 'args(["/bin/sleep", "1000"])'
	run setpriv --pdeathsig KILL "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 0
	is "$(status_of "$ID")" created
	run setpriv --pdeathsig KILL "$SBXRUN" --root "$T/state" start "$ID"
	rc_is 0
	is "$(status_of "$ID")" running
	lives "$(pid_of "$ID")" || fail 'it is dead'
}

a_create_that_is_killed_leaves_nothing_that_delete_does_not_remove() {
	local i
	for i in 0 1 2 3 4 5 6 7; do
		bundle 'args(["/bin/sleep", "1000"])'
		background create -b "$B" "$ID" 2>/dev/null
		read -rt "0.00$i" -u "$NAP_FD" || :
		kill -KILL "$BG" 2>/dev/null || :
		wait_for_background
		sbx delete -f "$ID"
		nothing_is_left
	done
	state_is_empty
}

run_tests
