#!/bin/bash
# Idea: a program in a box of `sbxrun do` wants to outlive its time, its parent or its caller, or wants its end to be told wrongly: signals, stops, descriptors, the
# memory of processes. Escape: something runs on, or a file of the host has changed; fake: a result that is not what happened.
# Views: all
# Views: own a_program_without_descriptors_runs_and_is_waited_for writes_through_ones_own_memory_change_no_file
# Views: own memory_of_others_is_out_of_reach a_flood_of_input_that_nobody_reads_ends_with_the_program
# Views: own a_reader_of_events_that_sleeps_keeps_no_box a_reader_of_text_that_sleeps_keeps_nobody
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

# No process of the machine has the number $1, one that nobody else would sleep, in its command line.
_is_gone() { ! grep -qs "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline; }

# Twice forked, in a session of its own, deaf, with the streams still in its hands, or without any.
a_daemon_does_not_outlive_its_parent() {
	local mark=98765$RANDOM
	do_shell "for how in '' '0<&- 1>&- 2>&-'; do
			(setsid sh -c \"trap '' TERM HUP INT; sleep $mark \$how; echo late\" &)
		done; echo parent; exit 3"
	rc_is 3
	is "$(do_of '.status, .stdout')" $'error\nparent'
	_is_gone "$mark" || escaped 'a daemon runs on'
}

# Its parent is gone, and the time is up while it alone is there.
a_daemon_that_is_waited_for_is_ended_with_the_time() {
	local mark=98764$RANDOM
	do_shell --timeout 0.5 "(setsid sh -c \"trap '' TERM; while :; do sleep $mark; done\" &); sleep $mark"
	rc_is 124
	is "$(do_of .status)" timeout
	_is_gone "$mark" || escaped 'a daemon runs on'
}

a_program_that_hears_nothing_ends() {
	do_python --timeout 4 'import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(s, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    time.sleep(10)'
	rc_is 124
	is "$(do_of '.status, .signal, .stdout')" $'timeout\nSIGKILL\ndeaf'
}

# What it prints after its time stays unsaid, also if it hears nothing. It ends by itself, for a box without a clock.
nobody_has_more_time_than_he_was_given() {
	local how
	for how in '' 'trap "" TERM;'; do
		do_shell --timeout 0.5 "$how"' i=0; while [ $i -lt 15 ]; do sleep 1; i=$((i + 1)); done; echo LATE'
		[[ $(do_of .stdout) != *LATE* ]] || escaped 'it had 15 s of 0.5'
		is "$(do_of '.status, .timed_out')" $'timeout\ntrue'
	done
}

# All that a kill can send, by itself and with a made-up sender.
no_signal_ends_the_first_process() {
	do_python 'import ctypes, os, signal
for s in range(1, 65):
    try:
        os.kill(1, s)
    except (OSError, ValueError):
        pass
info = (ctypes.c_int * 32)()
libc = ctypes.CDLL(None, use_errno=True)
for s in 9, 15, 17, 19:
    info[0], info[2], info[3] = s, -1, 2
    libc.syscall(129, 1, s, info)
print(os.getppid(), open("/proc/1/stat").read().split(") ")[1][0] in "SR", flush=True)
os._exit(42)'
	is "$(do_of '.status, .exit_code, .stdout')" $'error\n42\n1 True'
}

kill_of_everybody_spares_who_asks_and_the_first() {
	do_shell 'sleep 1000 & sleep 1000 & kill -KILL -1; echo alive; exit 4'
	is "$(do_of '.status, .exit_code, .stdout')" $'error\n4\nalive'
	do_python 'import os, signal, time
if os.fork() == 0:
    os.setsid()
    os.kill(-1, signal.SIGKILL)
    time.sleep(1000)
time.sleep(1000)'
	rc_is 137
	is "$(do_of '.status, .signal, .oom_killed, .timed_out, .stdout')" $'signal\nSIGKILL\nfalse\nfalse'
}

# It is its own parent's to wake, and nobody's to wait for.
a_stopped_child_and_a_stopped_program_end_with_the_time() {
	do_shell --timeout 0.5 'sh -c "kill -STOP \$\$; echo AWAKE" & wait'
	rc_is 124
	unlike "$(do_of .stdout)" AWAKE
	is "$(do_of .status)" timeout
	do_shell --timeout 0.5 'echo before; kill -STOP $$; echo AWAKE'
	rc_is 124
	is "$(do_of '.status, .stdout')" $'timeout\nbefore'
}

# By somebody on the host: the time is up all the same. Its order to end is not heard, and so it is killed.
a_stopped_first_process_keeps_no_box() {
	local first
	do_bundle
	sbx "do" --rootfs "$B/rootfs" --stream --timeout 3 -- sh -c 'trap "" TERM; echo up; sleep 1000' >events &
	wait_until 20 grep -q up events
	first=$(pid_of "$(sbx list -q)")
	kill -STOP "$first"
	run wait $!
	rc_is 124
	is "$(jq -rs '.[-1].result.status' events)" timeout
	is "$(sbx list -q)" ''
}

# The end of its streams is not its end, and neither is what it has closed missing at its end.
a_program_without_descriptors_runs_and_is_waited_for() {
	do_python 'import os
print("before", flush=True)
os.closerange(0, 1024)
fd = os.open("/workspace/after", os.O_WRONLY | os.O_CREAT)
os.write(fd, b"x")
os._exit(6)'
	is "$(do_of '.status, .exit_code, .stdout, .files.added[]')" $'error\n6\nbefore\n\nafter'
	do_python --timeout 0.5 'import os, time
os.closerange(0, 1024)
time.sleep(1000)'
	rc_is 124
}

# Through /proc/self/mem a program writes to what it may not write to: its own copy, and no file's.
writes_through_ones_own_memory_change_no_file() {
	local before
	do_bundle
	before=$(sha256sum <"$B/rootfs/bin/busybox")
	do_python -v "$B/rootfs/bin:/canary:ro" 'import ctypes, mmap, os
f = os.open("/canary/busybox", os.O_RDONLY)
try:
    mem = os.open("/proc/self/mem", os.O_RDWR)
except PermissionError: # by Landlock, where the kernel has it
    mem = -1
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
for kind in mmap.MAP_SHARED, mmap.MAP_PRIVATE:
    at = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, kind, f, ctypes.c_long(0))
    try:
        os.pwrite(mem, b"HACKED", at)
    except OSError as e:
        print(e.strerror)
print(os.pread(f, 4, 0) == b"\x7fELF")'
	is "$(do_of .status)" ok
	like "$(do_of .stdout)" '^(Bad file descriptor|Input/output error).*True$' # the shared one at least
	is "$(sha256sum <"$B/rootfs/bin/busybox")" "$before"
}

# Its first process, its neighbour, and what is in nobody's hands.
memory_of_others_is_out_of_reach() {
	do_python 'import os, time
child = os.fork()
if child == 0:
    time.sleep(1000)
for path in "/proc/1/mem", "/proc/1/maps", "/proc/1/environ", "/proc/1/auxv", "/proc/1/syscall":
    for flags in os.O_RDONLY, os.O_RDWR:
        try:
            fd = os.open(path, flags)
            os.read(fd, 1)
            print("OPENED", path)
        except OSError:
            pass
print("done")'
	is "$(do_of '.status, .stdout')" $'ok\ndone'
}

# Nobody reads what the caller has to say, or says anything to a program that reads.
a_flood_of_input_that_nobody_reads_ends_with_the_program() {
	do_bundle
	run _with_input yes sbx "do" --rootfs "$B/rootfs" --json -- sh -c 'sleep 0.2; echo done'
	is "$(do_of '.status, .stdout')" $'ok\ndone'
	run _with_input 'sleep 1000' sbx "do" --rootfs "$B/rootfs" --json --timeout 0.5 -- cat
	rc_is 124
}
_with_input() {
	local rc=0
	mkfifo input.$$ 2>/dev/null || :
	$1 >input.$$ &
	"${@:2}" <input.$$ || rc=$?
	kill $! 2>/dev/null || :
	return $rc
}

# Whoever reads the events has gone to sleep: the box ends. When he wakes up, he finds whole lines, and the last.
a_reader_of_events_that_sleeps_keeps_no_box() {
	local reader
	do_bundle
	mkfifo pipe
	bash -c 'until [ -e awake ]; do sleep 0.1; done; cat >events' <pipe &
	reader=$!
	sbx "do" --rootfs "$B/rootfs" --timeout 0.5 --stream -- yes >pipe &
	wait_until 20 eval '[ -n "$(sbx list -q)" ]'
	wait_until 20 eval '[ -z "$(sbx list -q)" ]'
	: >awake
	run wait $!
	rc_is 124
	wait $reader
	[[ $(jq -rs 'map(.event) | join(" ")' events) =~ ^(note )*(stdout )+end$ ]] || faked 'a line was cut, and so the last one is not read'
	is "$(jq -rs '.[-1].result.status' events)" timeout
}

a_reader_of_text_that_sleeps_keeps_nobody() {
	do_bundle
	mkfifo pipe
	tail -f /dev/null <pipe &
	run _into_pipe sbx "do" --rootfs "$B/rootfs" --timeout 0.5 --redact -- yes
	rc_is 124
	is "$(sbx list -q)" ''
	kill $!
}
_into_pipe() { "$@" >pipe; }

run_tests
