#!/bin/bash
# Before start, the runtime looks at the program of an image that is not trusted: what it is, and which interpreter it names.
# Escape: the program runs before start (without its filter, unseen by the engine); or looking at it hangs or brings down create.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

# Not one that is plain to see, so it is tried; whether it ran shows in a file.
a_program_that_is_tried_does_not_run_before_start() {
	local filter
	for filter in . 'without_ns("pid")' '.process.user = {uid: 1000, gid: 1000}' '.process.noNewPrivileges = false'; do
		bundle 'args(["/prog"])' writable "$filter"
		printf '#!/bin/sh /effect' >"$B/rootfs/prog"
		echo 'echo ran >/tmp/mark; sleep 5' >"$B/rootfs/effect"
		chmod 755 "$B/rootfs/prog"
		sbx create -b "$B" "$ID"
		[ ! -e "$B/rootfs/tmp/mark" ] || escaped "it has run ($filter)"
		is "$(wc -l <"$(cgroup_dir pids)/cgroup.procs")" 1
		[ ! -e "$B/rootfs/tmp/mark" ] || escaped "it has run ($filter)"
		sbx start "$ID"
		wait_until 5 test -e "$B/rootfs/tmp/mark"
		sbx delete -f "$ID"
	done
}

# _elf PHOFF PHNUM [PART [long]]: a header of this machine's kind with that many parts at that place, and with a long text after it.
_elf() {
	python3 - "$B/rootfs/prog" "$@" <<-'END'
		import struct, sys
		path, phoff, phnum = sys.argv[1], int(sys.argv[2], 0), int(sys.argv[3], 0)
		head = bytearray(open('/proc/self/exe', 'rb').read(64))
		struct.pack_into('<Q', head, 32, phoff)
		struct.pack_into('<H', head, 56, phnum)
		part = b''.join(struct.pack('<IIQQQQQQ', 3, 4, int(a, 0), 0, 0, int(b, 0), 0, 1) for a, b in [p.split(':') for p in sys.argv[4:5]])
		open(path, 'wb').write(bytes(head) + part + b'A' * (65536 if sys.argv[5:] else 0))
	END
	chmod 755 "$B/rootfs/prog"
}

a_header_that_lies_is_refused() {
	local words
	needs python3
	bundle 'args(["/prog"])'
	for words in '64 0' '64 65535' '0xffffffffffffffff 1' '0x7fffffffffffffff 64' '64 64' '64 1 0xffffffffffffffff:4096' '64 1 0:0xffffffffffffffff' '64 1 0:0' \
		'64 1 64:1' '64 1 0:4097' '64 1 0x7ffffffffffffff0:4096' '64 1 64:56' '64 1 120:60000 long'; do
		# shellcheck disable=SC2086
		_elf $words
		run timeout 60 "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
		[ "$rc" = 1 ] && [[ $err == 'sbxrun: exec /prog: '* ]] || escaped "$words: status $rc, $err"
		nothing_is_left
	done
}

# A file that is a pipe by the time that it is opened.
an_interpreter_that_becomes_a_pipe_does_not_hang_create() {
	local i
	bundle 'args(["/prog"])'
	printf '#!/two\n' >"$B/rootfs/prog"
	printf '#!/bin/true\n' >"$B/rootfs/two"
	chmod 755 "$B/rootfs/prog" "$B/rootfs/two"
	mkfifo -m 755 "$B/rootfs/pipe"
	(
		cd "$B/rootfs"
		trap 'exit 0' TERM
		while :; do
			ln -f two file && ln -f pipe new && mv -f new two && ln -f file new && mv -f new two
		done
	) 2>/dev/null &
	for ((i = 0; i < STARTS; i++)); do
		run timeout -k 1 60 "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
		[ "$rc" -lt 2 ] || escaped "create hangs: $rc"
		[ "$rc" != 0 ] || sbx delete -f "$ID"
	done
	kill $!
	wait
}

run_tests
