#!/bin/bash
# Imitates CVE-2020-15257 (containerd-shim): the runtime listens on an abstract unix socket, which whoever shares the network namespace
# can reach. Escape: a container without a network namespace of its own finds a socket of the runtime there, or reaches a socket of the
# host although it has one.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# The test file has a network namespace of its own, so everything that is listed is ours.
the_runtime_has_no_abstract_socket() {
	bundle 'sh("cat /proc/net/unix; sleep 100")' 'without_ns("network")'
	sbx create -b "$B" "$ID" >created 2>&1
	run awk '$8 ~ /^@/ { print $8 }' /proc/net/unix
	[ -z "$out" ] || escaped "the runtime listens on $out"
	sbx start "$ID"
	run awk '$8 ~ /^@/ { print $8 }' /proc/net/unix
	[ -z "$out" ] || escaped "the runtime listens on $out"
}

# Its own socket has a name in the state directory, which is root's alone.
the_start_socket_is_roots_alone() {
	bundle 'sh("true")'
	sbx create -b "$B" "$ID" >created 2>&1
	run as_user 4242 find "$T/state" -type s -writable
	[ -z "$out" ] || escaped "anybody can connect to $out"
	run as_user 4242 ls "$T/state/$ID"
	[ "$rc" != 0 ] || [ -z "$(find "$T/state/$ID" -type s)" ] || escaped "anybody can look into the state directory"
}

an_abstract_socket_of_the_host_is_out_of_reach() {
	local name=sbxt-$P
	needs python3
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0" + sys.argv[1]); s.listen(); print("listening", flush=True); time.sleep(1000)' "$name" >listener &
	wait_until 20 grep -q listening listener
	bundle "args([\"/attacker\", \"abstract\", \"$name\"])"
	with_attacker
	attack
	[ "$out" = ECONNREFUSED ] || escaped "connect: $out"
	# The attack itself works: without a namespace it is reached, as the config says.
	bundle "args([\"/attacker\", \"abstract\", \"$name\"])" 'without_ns("network")'
	with_attacker
	attack
	is "$out" OK 'the socket is not there'
}

run_tests
