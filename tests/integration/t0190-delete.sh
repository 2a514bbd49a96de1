#!/bin/bash
# delete: of everything that create made, and of nothing else.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# Fails if a mount table other than our own has a path of the bundle: a namespace lives on.
_no_namespace_is_left() {
	local hits
	hits=$(grep -lsF -e "$B/rootfs" /proc/[0-9]*/mountinfo) || :
	is "$hits" ''
}

a_stopped_container_is_removed() {
	bundle
	sbx run --keep -b "$B" "$ID"
	[ -d "$(cgroup_dir pids)" ] || fail 'there was no cgroup'
	sbx delete "$ID"
	nothing_is_left
	state_is_empty
	refused 'does not exist' sbx delete "$ID"
}

a_created_container_is_killed_and_removed() {
	local pid
	bundle writable 'sh("echo >/mark")'
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	sbx delete "$ID"
	dead "$pid" || fail 'init is alive'
	nothing_is_left
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
	_no_namespace_is_left
}

a_running_container_is_refused_and_left_alone() {
	local pid
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	refused 'running|not stopped' sbx delete "$ID"
	lives "$pid" || fail 'it was killed'
	is "$(status_of "$ID")" running
	file_has "$(cgroup_procs)" "^$pid$"
}

force_ends_a_running_container() {
	local pid
	bundle 'sh("trap : TERM INT HUP; sleep 100 & setsid sleep 100 & (trap : TERM; sleep 100; sleep 100) & wait; sleep 100")'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	sbx delete --force "$ID"
	dead "$pid" || fail 'it is alive'
	nothing_is_left
	_no_namespace_is_left
}

force_works_in_every_state() {
	bundle 'sh("sleep 100")'
	sbx create -b "$B" "$ID"
	sbx delete -f "$ID"
	nothing_is_left
	sbx run --keep -b "$B" "$ID" & # ends by the kill below
	wait_until 10 status_is "$ID" running
	sbx kill "$ID" KILL
	wait $! || :
	sbx delete -f "$ID"
	nothing_is_left
}

force_on_an_unknown_id_is_no_error() {
	run sbx delete --force nobody
	rc_is 0
	is "$out$err" ''
	run "$SBXRUN" --root "$T/no-such-root" delete -f nobody
	rc_is 0
	[ ! -e "$T/no-such-root" ] || fail 'it made the directory'
	refused 'does not exist' sbx delete nobody
}

a_container_without_a_pid_namespace_takes_its_children_along() {
	local pids
	bundle writable 'without_ns("pid")' 'sh("setsid sleep 100 & sleep 100 & echo >/mark; wait")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	mapfile -t pids <"$(cgroup_procs)"
	[ "${#pids[@]}" -ge 3 ] || fail 'fewer than three processes'
	sbx delete -f "$ID"
	for pid in "${pids[@]}"; do
		dead "$pid" || fail "$pid is alive"
	done
	nothing_is_left
}

children_that_outlived_init_go_with_a_plain_delete() {
	local pids
	bundle 'without_ns("pid")' 'sh("setsid sleep 100 &")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 status_is "$ID" stopped
	mapfile -t pids <"$(cgroup_procs)"
	[ "${#pids[@]}" -ge 1 ] || fail 'nothing outlived init'
	sbx delete "$ID"
	wait_until 10 dead "${pids[0]}"
	nothing_is_left
}

the_bundle_is_left_as_it_was() {
	local before after
	bundle 'mount({destination: "/made/here", type: "tmpfs", source: "tmpfs"})' writable
	echo keep >"$B/rootfs/keep"
	sbx run -b "$B" "$ID"
	is "$(<"$B/rootfs/keep")" keep
	before=$(cd "$B" && find . | sort)
	sbx create -b "$B" "$ID"
	sbx delete "$ID"
	after=$(cd "$B" && find . | sort)
	is "$after" "$before"
}

the_bundle_may_be_gone() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	rm -rf --one-file-system "$B"
	sbx delete -f "$ID"
	nothing_is_left
}

other_containers_are_left_alone() {
	local first
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	first=$ID
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	sbx delete -f "$ID"
	nothing_is_left
	is "$(status_of "$first")" running
	file_has "$(cgroup_procs "$first")" "^$(pid_of "$first")$"
}

a_cgroup_that_others_have_removed_is_no_error() {
	local dir
	bundle
	sbx run --keep -b "$B" "$ID"
	for dir in /sys/fs/cgroup/"$P/$ID" /sys/fs/cgroup/*/"$P/$ID"; do
		[ ! -d "$dir" ] || rmdir "$dir" 2>/dev/null || :
	done
	sbx delete "$ID"
	nothing_is_left
}

run_tests
