#!/bin/bash
# What exec brings into a container, and what create brings into a neighbour's pid namespace, has our memory until execve. A hunter with
# CAP_SYS_PTRACE and no user namespace attaches to it then. Escape: it finds a right or a lack of a filter that the program won't have
# ("GOT trace"), or reads what only the caller knows, from its command line or its memory ("GOT words").
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/hunter.sh"

RIGHTS='caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_KILL"])'
PRIVILEGES='.process.noNewPrivileges = false'

# A filter that forbids CALLS (a jq list).
_forbids() {
	echo ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\", syscalls: [{names: $1, action: \"SCMP_ACT_ERRNO\"}]}"
}

# The same, and asks about mkdir; $NOTIFY listens.
_asks() {
	echo ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\", listenerPath: (\$T + \"/sock\"),
		syscalls: [{names: [\"mkdir\"], action: \"SCMP_ACT_NOTIFY\"}]}"
}

# _listen CONNECTIONS
_listen() {
	needs python3
	python3 "$TESTS_DIR/tools/notify.py" "$T/sock" "$1" 13 >told 2>listener.err &
	NOTIFY=$!
	wait_until 20 test -S sock
}

# Execs into the hunter's container; those that are refused are counted in $REFUSED.
_hunt_execs() {
	local i
	REFUSED=0
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec --env TOKEN=canary "$ID" /hunter idle </dev/null >/dev/null 2>errors ||
			! grep -q 'CAP_SYS_PTRACE' errors || REFUSED=$((REFUSED + 1))
	done
	call_it_off
	hides "$REPORT" 'GOT [^
]*'
}

a_filter_without_accept4_is_there_before_the_process_is() {
	lie_in_wait "$RIGHTS" "$PRIVILEGES" "$(_forbids '["accept4", "recvmsg", "capget", "brk", "getpid"]')"
	_hunt_execs
	is "$REFUSED" 0
}

a_filter_that_keeps_us_from_giving_up_rights_is_refused() {
	lie_in_wait "$RIGHTS" "$PRIVILEGES" "$(_forbids '["capset"]')"
	_hunt_execs
	is "$REFUSED" "$STARTS"
	like "$(<errors)" 'linux\.seccomp.*capset'
}

a_filter_that_forbids_to_clone_is_refused() {
	lie_in_wait "$RIGHTS" '.process.noNewPrivileges = true' "$(_forbids '["clone", "clone3", "fork", "vfork"]')"
	_hunt_execs
	is "$REFUSED" "$STARTS"
}

a_listener_is_there_before_the_process_is() {
	_listen $((STARTS + 1))
	lie_in_wait "$RIGHTS" "$PRIVILEGES" "$(_asks)"
	_hunt_execs
	is "$REFUSED" 0
	sbx delete -f "$ID"
	wait "$NOTIFY" || fail "the listener: $(<listener.err)"
	is "$(jq -s 'map(.got) | add' told)" $((STARTS + 1))
}

with_no_new_privs_a_listener_is_there_too() {
	_listen $((STARTS + 1))
	lie_in_wait "$RIGHTS" '.process.noNewPrivileges = true' "$(_asks)"
	_hunt_execs
	is "$REFUSED" 0
	sbx delete -f "$ID"
	wait "$NOTIFY" || fail "the listener: $(<listener.err)"
}

# What only the caller and his hooks are to know; the hunter reads memory.
SECRETS='.annotations.secret = "canary-annotation" | .hooks.poststop = [{path: "/bin/true", args: ["canary-hook"], env: ["SECRET=canary-env"]}]'

the_config_is_not_in_its_memory() {
	lie_in_wait "$RIGHTS" "$SECRETS"
	SECRET=canary-caller _hunt_execs
}

# _neighbour FILTER…: a container is created into the pid namespace of a hunter, who is given time before it starts.
_neighbour() {
	local i hunter first
	lie_in_wait "$RIGHTS" "$(_forbids '["mkdir"]')"
	hunter=$B first=$(pid_of "$ID")
	bundle 'args(["/hunter", "idle"])' "ns(\"pid\"; \"/proc/$first/ns/pid\")" "$RIGHTS" "$@"
	ln "$hunter/rootfs/hunter" "$B/rootfs/hunter"
	: >"$B/rootfs/prey"
	mv "$B" "$B-canary"
	B=$B-canary
	for ((i = 0; i < STARTS; i++)); do
		run sbx create -b "$B" "$ID"
		[ "$rc" != 0 ] || timeout 60 "$SBXRUN" --root "$T/state" start "$ID" >/dev/null 2>>errors || :
		run sbx delete -f "$ID"
	done
	run sbx create -b "$B" "$ID"
	B=$hunter
	call_it_off
	# The pipe to a hook is between the container's own processes.
	hides "$REPORT" 'GOT (trace|words|root|program)[^
]*'
}

a_neighbour_of_a_hunter_has_its_filter_before_start() {
	_neighbour '.process.noNewPrivileges = true' 'hook("startContainer"; "/hunter"; ["hunter", "idle"])' "$(_forbids '["mkdir", "clone3"]')"
	rc_is 0
}

the_config_is_not_in_a_neighbours_memory() {
	_neighbour "$SECRETS" "$(_forbids '["mkdir"]')"
	rc_is 0
}

a_neighbour_of_a_hunter_has_its_listener_before_start() {
	_listen $((STARTS + 1))
	_neighbour "$PRIVILEGES" "$(_asks)"
	rc_is 0
	sbx delete -f "$ID"
	wait "$NOTIFY" || fail "the listener: $(<listener.err)"
}

a_neighbour_whose_filter_would_come_late_is_refused() {
	_neighbour "$PRIVILEGES" "$(_forbids '["accept4"]')"
	rc_is 1
	like "$err" 'linux\.seccomp.*accept4'
}

# They would be born where the neighbour is, since a container with another user namespace can't go there later.
hooks_of_the_host_that_a_neighbour_would_see_are_refused() {
	_neighbour 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings' \
		'.mounts |= map(select(.destination != "/proc")) | del(.linux.maskedPaths, .linux.readonlyPaths)' \
		'hook("createContainer"; "/bin/sleep"; ["sleep", "0.05"])'
	rc_is 1
	like "$err" 'hooks\.createContainer.*CAP_SYS_PTRACE'
}

run_tests
