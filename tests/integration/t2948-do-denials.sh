#!/bin/bash
# sbxrun do: which refusals are told, and which are not. Calls that end the program are told before it ends; what C libraries try at every start never is.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

_x86_64() { [ "$(uname -m)" = x86_64 ] || skip 'calls of x86-64'; }

# i386's own gate, and the numbers of x32.
calls_of_other_architectures_are_told_and_end_the_program() {
	_x86_64
	do_bundle
	cc -O1 -w -static -pthread -o "$B/rootfs/bin/caller" "$TESTS_DIR/tools/caller.c"
	run sbx "do" --rootfs "$B/rootfs" --json -- caller ppid32
	rc_is 137
	is "$(do_of '.status, .signal, .exit_code, .oom_killed')" $'signal\nSIGKILL\n-1\nfalse'
	is "$(do_denials)" 'syscall call 64 of another architecture null SIGSYS 1'
	is "$(do_of '.denials[0].hint')" "a box runs programs of the machine's own architecture alone"
	do_python 'import ctypes
print("before", flush=True)
ctypes.CDLL(None).syscall(0x40000000 + 39)
print("after", flush=True)'
	rc_is 137
	is "$(do_of '.status, .signal, .stdout')" $'signal\nSIGKILL\nbefore'
	is "$(do_denials)" 'syscall call 1073741863 of another architecture null SIGSYS 1'
	# Nobody watches: by the filter itself.
	run sbx "do" --rootfs "$B/rootfs" --json --denials none -- caller ppid32
	rc_is 159
	is "$(do_of '.signal, .denials')" $'SIGSYS\nnull'
}

# Whoever handles SIGSYS does not go on.
a_handler_does_not_save_who_is_to_end() {
	_x86_64
	do_python 'import ctypes, signal
signal.signal(signal.SIGSYS, lambda *_: print("handled", flush=True))
ctypes.CDLL(None).syscall(0x40000000 + 39)
print("after", flush=True)'
	rc_is 137
	is "$(do_of '.stdout, .denials[0].errno')" $'\nSIGSYS'
}

clone3_and_numbers_that_nobody_knows_are_not_told() {
	_x86_64
	do_python 'import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for n in 435, 600, 5000, 1 << 20, 1 << 29:
    print(libc.syscall(n, 0, 0), ctypes.get_errno())
import threading
t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()'
	rc_is 0
	is "$(do_of .stdout | uniq)" $'-1 38\nthread'
	is "$(do_of '.denials | length')" 0
}

# What is not there, nobody has refused: the kernel says so by itself, and it is not asked about.
reading_what_is_not_there_is_not_told() {
	do_shell 'cat /etc/shadow /root/.ssh/id_rsa; ls /home/nobody; exit 0'
	like "$(do_of .stderr)" '/etc/shadow.*No such file'
	is "$(do_of '.denials | length')" 0
	do_shell 'echo x >/etc/shadow; exit 0'
	is "$(do_of '.denials[0] | .kind, .target')" $'file\n/etc/shadow'
}

run_tests
