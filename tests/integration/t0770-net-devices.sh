#!/bin/bash
# linux.netDevices: interfaces of the runtime's network namespace go into the container's. The test file has a network namespace
# of its own, so nothing of the machine can be meant; it ends with the file, and so does what a test leaves in it.
. "${0%/*}/../lib/test.sh"

# NAME: one end of a veth pair, both up. Tests share the namespace, so each has names of its own.
_interface() {
	ip link add "$1" type veth peer name "$1-far"
	ip link set "$1-far" up
	ip link set "$1" up
}

# ip -6 ARG…, where the kernel has IPv6 (User-mode Linux hasn't).
_ip6() {
	[ ! -e /proc/net/if_inet6 ] || ip -6 "$@"
}

# Prints the addresses of interface $1 in the container, without those that the kernel made itself.
_addresses_inside() {
	nsenter -t "$(pid_of "$ID")" -n ip -o addr show dev "$1" | awk '$4 !~ /^fe80/ { print $4 }'
}

_is_here() {
	ip link show "$1" >/dev/null 2>&1
}

an_interface_goes_in_with_its_permanent_global_addresses() {
	local want=192.0.2.1/24
	_interface nd0
	ip addr add 192.0.2.1/24 dev nd0
	_ip6 addr add 2001:db8::1/64 dev nd0 nodad
	ip addr add 169.254.7.7/16 scope link dev nd0
	ip addr add 192.0.2.9/24 valid_lft 1000 preferred_lft 1000 dev nd0
	[ ! -e /proc/net/if_inet6 ] || want+=$'\n2001:db8::1/64'
	bundle '.linux.netDevices = {nd0: {name: "inside0"}}'
	sbx create -b "$B" "$ID"
	is "$(_addresses_inside inside0)" "$want"
	! _is_here nd0 || fail 'it is still here'
	! _is_here inside0 || fail 'it has only been renamed'
	run nsenter -t "$(pid_of "$ID")" -n ip -o link show inside0
	like "$out" '[<,]UP[,>]'
}

without_a_name_it_keeps_its_own() {
	_interface nd1
	run_in_box 'ls /sys/class/net' '.linux.netDevices = {nd1: {}}'
	rc_is 0
	is "$out" $'lo\nnd1'
}

the_kernel_finds_a_number_for_a_template() {
	_interface nd2
	_interface nd3
	run_in_box 'ls /sys/class/net' '.linux.netDevices = {nd2: {name: "box%d"}, nd3: {name: "box%d"}}'
	rc_is 0
	is "$out" $'box0\nbox1\nlo'
}

a_label_of_an_address_follows_the_name() {
	_interface nd4
	ip addr add 192.0.2.4/24 label nd4:web dev nd4
	bundle '.linux.netDevices = {nd4: {name: "in4"}}'
	sbx create -b "$B" "$ID"
	run nsenter -t "$(pid_of "$ID")" -n ip -o addr show dev in4
	like "$out" 'in4:web'
}

a_name_that_is_taken_inside_is_an_error_that_moves_nothing() {
	_interface nd5
	ip addr add 192.0.2.5/24 dev nd5
	unshare -n sh -c "ip link add taken type veth && echo && exec sleep 1000" >"$T/ready" &
	wait_until 10 test -s "$T/ready"
	bundle 'ns("network"; "/proc/'$!'/ns/net")' '.linux.netDevices = {nd5: {name: "taken"}}'
	run sbx create -b "$B" "$ID"
	rc_is 1
	like "$err" 'linux.netDevices\["nd5"\]: the container has an interface taken already'
	like "$(ip -o addr show dev nd5)" '192\.0\.2\.5/24'
	# A joined namespace is as good as a new one.
	jq '.linux.netDevices.nd5.name = "free"' "$B/config.json" >"$T/config" && cp "$T/config" "$B/config.json"
	sbx create -b "$B" "$ID"
	is "$(_addresses_inside free)" 192.0.2.5/24
}

hooks_find_it_inside() {
	_interface nd6
	# shellcheck disable=SC2016
	bundle '.linux.netDevices = {nd6: {name: "in6"}}' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "nsenter -t $(jq .pid) -n ip -o link show in6 >\($T)/seen"])'
	sbx create -b "$B" "$ID"
	file_has "$T/seen" 'in6'
}

# What interface $1 has that the kernel didn't give it by itself, in its own time: fe80::, and whether the link is up.
_picture() {
	ip -o link show "$1" | grep -Eo 'mtu [^ ]*|master [^ ]*|link/ether [^ ]*'
	ip -o addr show dev "$1" | sed 's/ *valid_lft.*//' | sed /fe80:/d | sort
	ip route show table all dev "$1" | sed '/proto kernel/d; s/ linkdown//; s/ dead//' | sort
	_ip6 route show table all dev "$1" | sed '/proto kernel/d; s/ linkdown//; s/ dead//' | sort
}

when_create_fails_later_everything_is_back() {
	local index
	_interface nd7
	_interface nd8
	ip addr add 192.0.2.7/24 dev nd7
	_ip6 addr add 2001:db8:7::7/64 dev nd7 nodad
	ip addr add 169.254.7.8/16 scope link label nd7:ll dev nd7
	ip route add 198.51.100.0/24 via 192.0.2.77 dev nd7
	ip route add 192.0.2.200 dev nd7 table 77 metric 5
	_ip6 route add 2001:db8:99::/48 via 2001:db8:7::1 dev nd7
	ip link set nd8 down
	# User-mode Linux has no bridges.
	! ip link add nd-br type bridge 2>/dev/null || ip link set nd8 master nd-br
	ip link set nd8 mtu 1400
	index=$(ip -o link show nd7 | cut -d: -f1)
	_picture nd7 >"$T/before"
	_picture nd8 >>"$T/before"
	file_has "$T/before" 198.51.100.0
	bundle '.linux.netDevices = {nd7: {name: "in7"}, nd8: {}}' 'hook("createRuntime"; "/bin/false"; ["false"])'
	run sbx create -b "$B" "$ID"
	rc_is 1
	like "$err" 'createRuntime'
	_picture nd7 >"$T/after"
	_picture nd8 >>"$T/after"
	run diff "$T/before" "$T/after"
	is "$out" ''
	is "$(ip -o link show nd7 | cut -d: -f1)" "$index"
	unlike "$(ip -o link show nd8)" '[<,]UP[,>]'
}

when_init_dies_during_create_everything_is_back() {
	_interface nde
	ip addr add 192.0.2.14/24 dev nde
	# shellcheck disable=SC2016
	bundle '.linux.netDevices = {nde: {name: "in-e"}}' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "kill -KILL $(jq .pid)"])'
	run sbx create -b "$B" "$ID"
	rc_is 1
	like "$(ip -o addr show dev nde)" '192\.0\.2\.14/24'
}

# A namespace that has an interface $1 of its own; process OTHER is in it.
_other_with() {
	rm -f ready
	unshare -n sh -c "ip link add $1 type veth peer name $1-own && ip link add $1-more type veth && echo >ready && exec sleep 1000" &
	OTHER=$!
	wait_until 10 test -e ready
	bundle "ns(\"network\"; \"/proc/$OTHER/ns/net\")" ".linux.netDevices = {$1: {name: \"in-f\"}}"
}

# strace lets the requests fail that follow the move: the new name, and the first try to bring it back.
the_containers_own_interface_is_never_taken_for_the_one_that_was_moved() {
	needs strace
	_interface ndf
	_picture ndf >before
	_other_with ndf
	run strace -o trace -e trace=sendto -e inject=sendto:error=EIO:when=6..7 "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 1
	like "$err" 'name it in-f inside'
	_picture ndf >after
	run diff before after
	is "$out" ''
	run nsenter -t "$OTHER" -n ip -o link show ndf
	rc_is 0
}

# strace lets the kernel not say where it went.
an_interface_that_cannot_be_told_from_others_is_not_brought_back() {
	local hear
	needs strace
	_interface ndh
	_other_with ndh
	run strace -o trace -e trace=recvmsg "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 0
	hear=$(grep recvmsg trace | awk '/AF_NETLINK/ && !n { n = NR } END { print n }')
	sbx delete -f "$ID"
	nsenter -t "$OTHER" -n ip link del in-f
	_interface ndh
	_other_with ndh
	run strace -o trace -e trace=recvmsg -e "inject=recvmsg:error=ENOBUFS:when=$hear" "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 1
	like "$err" 'hear where it went'
	like "$err" 'not brought back'
	! _is_here ndh || fail 'an interface of the container is here'
	run nsenter -t "$OTHER" -n ip -o link show ndh
	rc_is 0
}

# It is the same one after that; and a port that leaves a bridge has not left the namespace.
an_interface_that_was_renamed_and_in_a_bridge_inside_comes_back() {
	_interface ndg
	ip addr add 192.0.2.16/24 dev ndg
	_picture ndg >before
	# shellcheck disable=SC2016
	bundle '.linux.netDevices = {ndg: {name: "in-g"}}' 'hook("createRuntime"; "/bin/sh"; ["sh", "-c",
		"nsenter -t $(jq .pid) -n sh -c \"ip link set in-g down; ip link set in-g name other
			! ip link add br type bridge || { ip link set other master br; ip link set other nomaster; }
			ip link add more type veth; ip link del more\"; exit 1"])'
	run sbx create -b "$B" "$ID"
	rc_is 1
	unlike "$err" 'not brought back'
	_picture ndg >after
	run diff before after
	is "$out" ''
}

an_interface_that_is_missing_or_the_loopback_is_refused_and_others_come_back() {
	_interface nda
	run_in_box 'echo started' '.linux.netDevices = {nda: {}, nosuch: {}}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux.netDevices\["nosuch"\]: there is no such interface here'
	_is_here nda || fail 'nda is not back'
	run_in_box 'echo started' '.linux.netDevices = {lo: {name: "lo7"}}'
	rc_is 1
	like "$err" 'linux.netDevices\["lo"\]: the loopback interface'
}

a_container_without_a_network_namespace_of_its_own_gets_none() {
	_interface ndb
	run_in_box 'echo started' 'without_ns("network")' '.linux.netDevices = {ndb: {}}'
	rc_is 1
	like "$err" 'linux.netDevices: needs a network namespace'
	run_in_box 'echo started' 'ns("network"; "/proc/self/ns/net")' '.linux.netDevices = {ndb: {}}'
	rc_is 1
	like "$err" 'linux.netDevices: "/proc/self/ns/net" is the network namespace of the host'
	_is_here ndb || fail 'it is gone'
}

delete_does_not_bring_it_back() {
	_interface ndc
	bundle 'sh("sleep 1000")' '.linux.netDevices = {ndc: {name: "in-c"}}'
	sbx run -d -b "$B" "$ID"
	sbx delete -f "$ID"
	# The kernel ends a virtual interface with its namespace, and the pair with it.
	_far_is_gone() { ! _is_here ndc-far; }
	wait_until 30 _far_is_gone
	! _is_here ndc || fail 'it is back'
}

it_works_with_a_user_namespace() {
	_interface ndd
	ip addr add 192.0.2.13/24 dev ndd
	run_in_box 'ip -o addr show dev ndd' 'ns("user")' '.linux.netDevices = {ndd: {}}' \
		'.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]' \
		'.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
	rc_is 0
	like "$out" '192\.0\.2\.13/24'
}

run_tests
