#!/bin/bash
# A namespace of the config is joined by a path that leads to one the caller is in himself (/proc/self/ns/net, a bind of it), or to the
# first process's, and what the config sets there (sysctls, names, interfaces) is set for the caller. The caller here is a shell in
# namespaces of its own, whose values are the canaries. Escape: one of them has changed, or was set and would have been another's.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# The paths that the runtime finds its caller's namespace at; "held" is bound to it by _caller.
_paths() {
	echo "/proc/self/ns/$1 /proc/thread-self/ns/$1 /proc/$$/../self/ns/$1 $T/held/$1 $T/link/$1"
}

# Runs the bundle as a caller with namespaces of its own does. $T/after: what is in them then.
_caller() {
	mkdir -p held link
	# shellcheck disable=SC2016
	run unshare -n -i -u -m -- sh -c '
		ip link set lo up
		ip link add nd0 type veth peer name nd0-far
		echo canary >/proc/sys/kernel/hostname
		echo canary >/proc/sys/kernel/domainname
		echo 8000 >/proc/sys/kernel/msgmax
		echo 0 >/proc/sys/net/ipv4/ip_forward
		for ns in net ipc uts; do
			: >held/$ns
			mount --bind /proc/self/ns/$ns held/$ns
			ln -sfn /proc/self/ns/$ns link/$ns
		done
		"$@"
		rc=$?
		cd /proc/sys
		cat kernel/hostname kernel/domainname kernel/msgmax net/ipv4/ip_forward fs/mqueue/msg_default >"$T/after"
		ls /proc/sys/net/ipv4/conf >>"$T/after"
		exit $rc' caller "$@"
}

# WHAT: whether the canaries live. The runtime has to say what it refuses, too.
_unchanged() {
	local after
	slurp after after
	[[ $after == $'canary\ncanary\n8000\n0\n10\nall\ndefault\nlo\nnd0\nnd0-far' ]] || escaped "$1: ${after//$'\n'/ }"
	[ "$rc" != 0 ] || escaped "$1: set what is not the container's"
	like "$err" 'namespace' "$1"
}

# KIND FILE FILTER: with each of the paths.
_try() {
	local path
	for path in $(_paths "$2"); do
		bundle 'sh("echo ran")' 'del(.hostname)' "ns(\"$1\"; \"$path\")" "$3"
		_caller "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
		_unchanged "$path, $3"
	done
}

sysctls_do_not_reach_the_callers_network() {
	_try network net '.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
}

sysctls_do_not_reach_the_callers_ipc() {
	_try ipc ipc '.linux.sysctl = {"kernel.msgmax": "9000"}'
	_try ipc ipc '.linux.sysctl = {"fs/mqueue/msg_default": "11"}'
}

names_do_not_reach_the_callers_uts() {
	_try uts uts '.hostname = "taken"'
	_try uts uts '.domainname = "taken"'
	_try uts uts '.linux.sysctl = {"kernel.domainname": "taken"}'
}

interfaces_are_not_renamed_where_they_are() {
	_try network net '.linux.netDevices = {nd0: {name: "taken"}}'
}

# The caller has a user namespace of its own, and all rights in it. No cgroups: those are another's.
sysctls_do_not_reach_the_callers_user_namespace() {
	bundle 'sh("echo ran")' 'ns("user"; "/proc/self/ns/user")' '.mounts |= map(select(.destination == "/proc"))' \
		'caps(["CAP_SYS_RESOURCE"])' '.linux.sysctl = {"user.max_uts_namespaces": "77"}'
	# shellcheck disable=SC2016
	run unshare -U -r -- sh -c '
		echo 1000 >/proc/sys/user/max_uts_namespaces
		"$@"
		rc=$?
		cat /proc/sys/user/max_uts_namespaces >"$T/after"
		exit $rc' caller "$SBXRUN" --cgroup-manager disabled --root "$T/state" run -b "$B" "$ID"
	holds after 1000
	[ "$rc" != 0 ] || escaped "written: $out"
	like "$err" 'user\.max_uts_namespaces.*namespace'
}

# The runtime is in a network namespace of its own, and the config names that of the first process.
what_the_first_process_has_is_not_written_to() {
	bundle 'sh("echo ran")' 'ns("network"; "/proc/1/ns/net")' '.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
	# shellcheck disable=SC2016
	run unshare -n -p -f --mount-proc -- sh -c '
		echo 0 >/proc/sys/net/ipv4/ip_forward
		unshare -n -- "$@"
		rc=$?
		cat /proc/sys/net/ipv4/ip_forward >"$T/after"
		exit $rc' first "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	holds after 0
	[ "$rc" != 0 ] || escaped 'set in the network namespace of the first process'
}

# Between the look and the join: the path leads to a namespace that may be written to, and to the caller's, by turns.
the_path_exchanged_while_it_is_judged() {
	local i other
	unshare -n sleep 100 &
	other=$!
	wait_until 5 _is_elsewhere "$other"
	ln -sfn "/proc/$other/ns/net" first
	ln -sfn /proc/self/ns/net second
	cp -P first path
	echo 0 >/proc/sys/net/ipv4/ip_forward
	(while :; do
		cp -P second new && mv -T new path
		cp -P first new && mv -T new path
	done) &
	for ((i = 0; i < STARTS; i++)); do
		bundle 'sh("echo ran")' "ns(\"network\"; \"$T/path\")" '.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
		attack
		holds /proc/sys/net/ipv4/ip_forward 0
	done
}

_is_elsewhere() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

run_tests
