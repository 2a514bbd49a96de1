#!/bin/bash
# An interface of the host is moved into a network namespace that a neighbour is root in, and the create fails. Meanwhile the neighbour deletes
# or renames it and puts one of his own in its place: under its number, or under the name that it has at first. Escape: that one comes to the
# host in its stead, with the host's addresses and routes, and what the host sends there the neighbour reads. Both namespaces are the test's own.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# /sys is that of the machine's namespace.
_mac_of() {
	ip -o link show "$1" 2>/dev/null | grep -o 'link/ether [^ ]*' || :
}

# The host has nx0 with an address and a route; process NEIGHBOUR is in the other namespace.
_host_and_neighbour() {
	ip link del nx0 2>/dev/null || :
	ip link add nx0 type veth peer name nx0-far
	ip link set nx0-far up
	ip link set nx0 up
	ip addr add 192.0.2.1/24 dev nx0
	ip route add 198.51.100.0/24 via 192.0.2.77 dev nx0
	MAC=$(_mac_of nx0)
	rm -f ready hooked go
	unshare -n sh -c 'echo >ready; exec sleep 1000' &
	NEIGHBOUR=$!
	wait_until 10 test -e ready
}

_neighbour() {
	nsenter -t "$NEIGHBOUR" -n "$@"
}

# A bundle that joins the neighbour, whose hook fails once the file go is there.
_doomed() {
	bundle "ns(\"network\"; \"/proc/$NEIGHBOUR/ns/net\")" '.linux.netDevices = {nx0: {name: "eth0"}}' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "echo >\($T)/hooked; until [ -e \($T)/go ]; do sleep 0.02; done; exit 1"])'
}

# By the number that eth0 had.
_exchange() {
	local index
	index=$(_neighbour ip -o link show eth0)
	_neighbour ip link del eth0
	_neighbour ip link add evil index "${index%%:*}" type veth peer name evilpeer
	_neighbour ip link set evilpeer up
}

# Nobody but the one that left has the host's name, address or route.
_nobody_came() {
	local mac
	! _neighbour ip -o link show evilpeer | grep link-netns >/dev/null || escaped 'the other end of his pair is here'
	mac=$(_mac_of nx0)
	[ -z "$mac" ] || [ "$mac" = "$MAC" ] || escaped "nx0 is $(ip -o addr show dev nx0)"
	hides "$(ip -o link)" 'evil|dev[0-9]'
}

one_under_its_number_is_left_where_it_is() {
	_host_and_neighbour
	_doomed
	sbx create -b "$B" "$ID" 2>"$T/said" &
	wait_until 20 test -e hooked
	_exchange
	: >go
	run wait $!
	_nobody_came
	is "$rc" 1
	is "$(ip route show 198.51.100.0/24)" ''
	file_has "$T/said" 'netDevices\["nx0"\]: not brought back'
	_neighbour ip -o link show evil
}

# Which recvmsg() of a create is the one that looks whether the interface has left, before it is brought back: the first of the last
# three that find nothing or a message of netlink (then comes the move, which is told, and no more).
_last_look() {
	awk '/^[0-9]* *recvmsg/ { n++; if (/EAGAIN/ || /AF_NETLINK/) { third = second; second = first; first = n } } END { print third }' "$1"
}

# Between the last look and the move: strace hides from the look what is there.
one_under_its_number_is_sent_off_when_it_comes_at_the_last_moment() {
	local look
	needs strace
	_host_and_neighbour
	_doomed
	: >go
	run strace -o trace -e trace=recvmsg "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 1
	look=$(_last_look trace)
	[ -n "$look" ] || fail 'the runtime has no such look'
	_host_and_neighbour
	_doomed
	strace -o trace -e trace=recvmsg -e "inject=recvmsg:error=EAGAIN:when=$look" \
		"$SBXRUN" --root "$T/state" create -b "$B" "$ID" 2>"$T/said" &
	wait_until 20 test -e hooked
	_exchange
	: >go
	run wait $!
	_nobody_came
	is "$rc" 1
	is "$(ip route show 198.51.100.0/24)" ''
	file_has "$T/said" 'netDevices\["nx0"\]: not brought back: somebody'
	_neighbour ip -o link show evilpeer
}

_has_arrived() {
	FIRST=$(_neighbour ip -o link | grep -o 'sbx[^@:]*')
}

# Until the runtime looks for it, it has a name that it can be known by; strace keeps the runtime after the move, its fifth request.
one_under_its_first_name_is_not_taken_for_it() {
	needs strace
	_host_and_neighbour
	_doomed
	: >go
	strace -o trace -e trace=sendto -e inject=sendto:delay_exit=1500000:when=5 \
		"$SBXRUN" --root "$T/state" create -b "$B" "$ID" 2>"$T/said" &
	wait_until 20 _has_arrived
	_neighbour ip link set "$FIRST" name mine
	_neighbour ip link add "$FIRST" type veth peer name evilpeer
	run wait $!
	_nobody_came
	is "$rc" 1
	is "$(_mac_of nx0)" "$MAC"
	like "$(ip route show 198.51.100.0/24)" 'via 192.0.2.77 dev nx0'
}

run_tests
