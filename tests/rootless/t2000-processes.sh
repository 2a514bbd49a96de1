#!/bin/bash
# The processes of an ordinary user's container: found by ps, kill and delete where no cgroup holds them, and by cgroups where
# a subtree is delegated.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# Whether ps lists $1 processes; they are in LISTED.
_ps_lists() {
	mapfile -t LISTED < <(sbx ps --format json "$ID" | jq '.[]')
	[ "${#LISTED[@]}" = "$1" ]
}

# A container ($ID) of three processes, in the host's pid namespace if $1 is "shared". The children don't end with their parent.
_three() {
	local filters=('sh("sleep 1000 & sleep 1000 & exec sleep 1000")')
	[ "$1" != shared ] || filters+=('without_ns("pid")')
	bundle "${filters[@]}"
	sbx run -d -b "$B" "$ID"
	wait_until 20 _ps_lists 3
}

_are_dead() {
	local pid
	for pid in "${LISTED[@]}"; do
		wait_until 20 dead "$pid"
	done
}

ps_lists_all_of_them_and_no_other() {
	local kind others
	for kind in own shared; do
		_three "$kind"
		is "${LISTED[*]}" "$(printf '%s\n' "${LISTED[@]}" | sort -n | tr '\n' ' ' | sed 's/ $//')" sorted
		[[ " ${LISTED[*]} " == *" $(pid_of "$ID") "* ]] || fail 'init is not among them'
		others=("${LISTED[@]}")
		_three "$kind"
		[[ " ${others[*]} " != *" ${LISTED[0]} "* ]] || fail 'one of another container'
	done
}

ps_lists_nested_pid_namespaces_and_what_exec_brings() {
	bundle 'sh("unshare -p sh -c \"sleep 1000 & wait\" & exec sleep 1000")' caps\(\[\"CAP_SYS_ADMIN\"\]\)
	sbx run -d -b "$B" "$ID"
	wait_until 20 _ps_lists 3
	sbx exec -d "$ID" sleep 1000
	wait_until 20 _ps_lists 4
}

ps_of_a_stopped_container_is_empty() {
	bundle 'args(["/bin/true"])'
	sbx run -d -b "$B" "$ID"
	wait_until 20 status_is "$ID" stopped
	run sbx ps --format json "$ID"
	rc_is 0
	is "$out" '[]'
}

kill_all_reaches_every_process() {
	local kind
	for kind in own shared; do
		_three "$kind"
		sbx kill --all "$ID" KILL
		_are_dead
	done
}

sigkill_without_a_pid_namespace_ends_every_process() {
	_three shared
	sbx kill "$ID" KILL
	_are_dead
}

delete_by_force_ends_every_process() {
	local kind
	for kind in own shared; do
		_three "$kind"
		sbx delete --force "$ID"
		_are_dead
		state_is_empty
	done
}

# In a user namespace of his own anybody may make a mount namespace, and leave that by which he would be found.
_one_that_left() {
	bundle 'without_ns("pid")' writable 'sh("unshare -U -m sh -c \"echo >/left; exec sleep 1000\" & exec sleep 1000")'
	sbx run -d -b "$B" "$ID"
	wait_until 20 test -e "$B/rootfs/left"
	wait_until 20 _ps_lists 2
}

who_left_for_namespaces_of_his_own_is_found() {
	local verb
	for verb in kill delete; do
		_one_that_left
		if [ "$verb" = kill ]; then
			sbx kill "$ID" KILL
		else
			sbx delete --force "$ID"
		fi
		_are_dead
	done
}

# Linux 6.18 has ids of user namespaces that stay unique when init is gone.
who_left_and_outlived_init_goes_with_a_plain_delete() {
	_one_that_left
	[ "$SBX_VIEW" = rootless-v2 ] || jq -e .userNsId "$T/state/$ID/state.json" || skip 'this kernel has no ids of user namespaces'
	kill -KILL "$(pid_of "$ID")"
	wait_until 20 status_is "$ID" stopped
	sbx delete "$ID"
	_are_dead
}

# Before Linux 6.11 a mount namespace has no id that stays unique when init is gone.
children_that_outlived_init_go_with_a_plain_delete() {
	_three shared
	kill -KILL "$(pid_of "$ID")"
	wait_until 20 status_is "$ID" stopped
	wait_until 20 _ps_lists 2
	sbx delete "$ID"
	_are_dead
}

# What the breaker found: by user namespace the wrong ones are found.
delete_spares_a_container_that_joined_its_namespaces() {
	local first pid
	_three shared
	first=$ID pid=$(pid_of "$ID")
	bundle 'args(["sleep", "1000"])' 'without_ns("pid")' "ns(\"user\"; \"/proc/$pid/ns/user\")" \
		"ns(\"network\"; \"/proc/$pid/ns/net\")" "ns(\"ipc\"; \"/proc/$pid/ns/ipc\")" "ns(\"uts\"; \"/proc/$pid/ns/uts\")" \
		'del(.linux.uidMappings, .linux.gidMappings, .hostname)' 'unmount("/dev/mqueue")'
	run sbx run -d -b "$B" "$ID"
	rc_is 0
	pid=$(pid_of "$ID")
	sbx delete --force "$first"
	_are_dead
	lives "$pid" || fail 'the other one was killed'
	is "$(status_of "$ID")" running
	run sbx exec "$ID" echo here
	is "$out" here
}

# _joiner CODE: a second container ($ID, init $PID) in the user namespace of $FIRST that does CODE, which makes the file /ready. Neither
# has a pid namespace.
_joiner() {
	local pid
	_three shared
	FIRST=$ID pid=$(pid_of "$ID")
	bundle 'without_ns("pid")' writable "sh(\"$1\")" "ns(\"user\"; \"/proc/$pid/ns/user\")" "ns(\"network\"; \"/proc/$pid/ns/net\")" \
		"ns(\"ipc\"; \"/proc/$pid/ns/ipc\")" "ns(\"uts\"; \"/proc/$pid/ns/uts\")" \
		'del(.linux.uidMappings, .linux.gidMappings, .hostname)' 'unmount("/dev/mqueue")'
	run sbx run -d -b "$B" "$ID"
	rc_is 0
	PID=$(pid_of "$ID")
	wait_until 20 test -s "$B/rootfs/ready"
}

# Nobody of the second one is in the first one's user namespace any more: all of it is below.
delete_spares_a_container_that_joined_and_left_for_user_namespaces_of_its_own() {
	local flags first
	for flags in -U '-U -m'; do
		_joiner "exec unshare $flags sh -c 'echo 1 >/ready; exec sleep 1000'"
		first=$(sbx ps --format json "$FIRST")
		[[ $first != *"$PID"* ]] || fail "$flags: ps takes it for the first one's"
		sbx delete --force "$FIRST"
		_are_dead
		lives "$PID" || fail "$flags: the other one was killed"
		is "$(status_of "$ID")" running
		sbx delete --force "$ID"
		wait_until 20 dead "$PID"
	done
}

# What is left of a second one whose init has ended. Where the kernel has no ids of user namespaces, one that is in a mount namespace
# of its own besides can't be told from one of the first container's.
delete_spares_what_is_left_of_a_container_that_joined() {
	local flags left
	for flags in -U '-U -m'; do
		_joiner "unshare $flags sh -c 'echo \$\$ >/ready; exec sleep 1000' & exec sleep 1000"
		left=$(<"$B/rootfs/ready")
		[ "$flags" = -U ] || [ "$SBX_VIEW" = rootless-v2 ] || jq -e .userNsId "$T/state/$FIRST/state.json" ||
			skip 'this kernel has no ids of user namespaces'
		kill -KILL "$PID"
		wait_until 20 status_is "$ID" stopped
		sbx delete --force "$FIRST"
		_are_dead
		lives "$left" || fail "$flags: what is left of the other one was killed"
		kill -KILL "$left"
		wait_until 20 dead "$left"
		sbx delete "$ID"
	done
}

# A second one in the same state root that has nothing to do with it doesn't keep what left.
who_left_is_found_beside_other_containers() {
	local first
	bundle 'args(["sleep", "1000"])' 'without_ns("pid")'
	sbx create -b "$B" "$ID"
	bundle 'args(["sleep", "1000"])'
	sbx run -d -b "$B" "$ID"
	first=$ID
	_one_that_left
	sbx delete --force "$ID"
	_are_dead
	is "$(status_of "$first")" running
}

exec_before_start_says_why_not() {
	bundle 'args(["sleep", "1000"])'
	sbx create -b "$B" "$ID"
	exec_refused 'container not running yet: until it is started' "$ID" true
	sbx start "$ID"
	run sbx exec "$ID" true
	rc_is 0
}

run_tests
