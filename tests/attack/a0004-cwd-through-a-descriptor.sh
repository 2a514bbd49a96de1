#!/bin/bash
# Imitates CVE-2024-21626: process.cwd is /proc/self/fd/N, where N is a directory of the host that the caller (or the runtime) has
# left open. Escape: the program reads the canary, or its working directory is not below its root.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# N: runs with cwd=/proc/self/fd/N and with descriptors 3 to 12 open on the canary's directory.
_run_in_fd() {
	bundle 'sh("cat canary; cat ../canary; cat ../../../../../../..$CANARY; pwd -P")' 'env("CANARY=" + $T + "/outside/canary")' \
		".process.cwd = \"/proc/self/fd/$1\""
	run sbx run -b "$B" "$ID" 3<outside 4<outside 5<outside 6<outside 7<outside 8<outside 9<outside 10<outside 11<outside 12<outside
	hides "$out" 'secret|unreachable'
	[ "$rc" != 0 ] || like "$out" '^/'
}

leaked_directories_can_not_be_entered() {
	local n
	mkdir outside
	echo secret >outside/canary
	for n in 3 6 7 8 12; do
		_run_in_fd "$n"
	done
}

the_runtimes_own_directories_can_not_be_entered() {
	local n
	for n in {3..16}; do
		bundle 'sh("ls -d ../../../../../../../../$T/state && echo escaped")' 'env("T=" + $T)' ".process.cwd = \"/proc/self/fd/$n\""
		attack
		hides "$out" escaped "$n"
	done
}

# FILTER: with a pid namespace of its own, who joins has no /proc/self there before it is born into it; without one it has.
_exec_in_fd() {
	local n
	bundle 'sh("sleep 100")' "$1"
	sbx run -d -b "$B" "$ID"
	for n in 3 7 8; do
		run sbx exec --cwd "/proc/self/fd/$n" "$ID" /bin/sh -c 'cat canary; cat ../canary' 3<outside 7<outside 8<outside
		hides "$out" secret "$n"
	done
	sbx delete -f "$ID"
}

exec_can_not_enter_them_either() {
	mkdir outside
	echo secret >outside/canary
	_exec_in_fd .
	_exec_in_fd 'without_ns("pid")'
}

other_magic_links_can_not_be_entered() {
	local cwd
	mkdir outside
	echo secret >outside/canary
	cd outside
	for cwd in /proc/self/cwd /proc/1/cwd /proc/self/root/../.. /proc/thread-self/cwd; do
		bundle 'sh("cat canary")' ".process.cwd = \"$cwd\""
		attack
		hides "$out" secret "$cwd"
	done
}

a_link_in_the_image_to_a_descriptor_is_no_better() {
	mkdir outside
	echo secret >outside/canary
	bundle 'sh("cat canary")' '.process.cwd = "/link"'
	ln -s /proc/self/fd/7 "$B/rootfs/link"
	run sbx run -b "$B" "$ID" 7<outside
	hides "$out" secret
}

run_tests
