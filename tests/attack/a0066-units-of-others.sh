#!/bin/bash
# With the systemd driver, what is stopped is stopped by its name, and a name is free again as soon as the last process of a unit has
# ended. Somebody else takes it before our `delete`, or our failed `create`, says "stop", and perhaps a directory that has our mark with it.
# Escape: that one's unit is stopped, its processes end, or its cgroups go.
# Views: own
# shellcheck disable=SC2016
if [ -z "${TEST_BOXED:-}" ]; then
	# Not the systemd of this machine.
	export TEST_BOXED=1
	exec "${0%/*}/../systemd/box" bash "$(realpath "$0")" "$@"
fi
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
# shellcheck source-path=SCRIPTDIR source=../systemd/lib.sh
. "$TESTS_DIR/systemd/lib.sh"

# Somebody starts a unit with the name $UNIT as soon as that can be had; $OTHER is its process.
_take() {
	until systemd-run --quiet --scope --unit="$UNIT" sh -c 'echo $$ >"$0/other.new" && mv "$0/other.new" "$0/other"; exec sleep 1000' "$T" \
		2>>"$T/taking" </dev/null; do
		[ ! -e "$T/over" ] || exit 0
		nap
	done &
}

_is_taken() {
	wait_until 20 test -e "$T/other"
	OTHER=$(<"$T/other")
}

# Stops are asked for and done by now, or will not be: systemd answers the one who asks in turn.
_other_lives() {
	: >"$T/over"
	[ "$(systemctl is-active "$UNIT")" = active ] || escaped "$1: the unit is stopped; $(<"$T/said")"
	[[ $(tr '\0' ' ' <"/proc/$OTHER/cmdline") == 'sleep 1000 ' ]] || escaped "$1: its process has ended"
	systemctl stop "$UNIT"
}

_ended() {
	unit_bundle 'sh("exit 0")'
	sd run -d -b "$B" "$ID"
	wait_until 20 _is_forgotten
}

# Directories that systemd knows nothing of stay until the delete.
_is_forgotten() {
	[ ! -e "$TRANSIENT/$UNIT" ]
}

a_stopped_container_has_lost_its_unit() {
	_ended
	_take
	_is_taken
	run sbx delete "$ID"
	echo "$rc: $err" >"$T/said"
	_other_lives delete
}

a_stopped_container_that_is_deleted_by_force_has_lost_its_unit() {
	_ended
	_take
	_is_taken
	run sbx delete --force "$ID"
	echo "$rc: $err" >"$T/said"
	_other_lives 'delete --force'
}

# A directory of a v1 hierarchy that systemd can't remove stays, with the container's mark on it and the number that is on record, and is that of
# the next unit of that name. Here somebody was in it when the unit ended. (Of the tree by which it knows who is in a unit, systemd leaves none.)
a_directory_that_outlives_the_unit_is_the_next_ones() {
	local dir lodger verb
	[ -n "${CGROUP_MOUNTS[memory]:-}" ] || skip 'systemd has one tree here'
	up
	dir=$(scope_dir memory)
	sh -c 'echo $$ >"$0/cgroup.procs" && exec sleep 1000' "$dir" &
	lodger=$!
	wait_until 20 grep -qx "$lodger" "$dir/cgroup.procs"
	sbx kill "$ID" KILL
	wait_until 20 _is_forgotten
	kill "$lodger"
	wait "$lodger" 2>/dev/null || :
	[ -d "$dir" ] || fail "systemd has removed $dir"
	_take
	_is_taken
	file_has "$dir/cgroup.procs" "^$OTHER$"
	for verb in 'kill --all' 'delete --force'; do
		# shellcheck disable=SC2086
		run sbx $verb "$ID"
		rc_is 0
		echo "$rc: $err" >"$T/said"
		[[ $(tr '\0' ' ' <"/proc/$OTHER/cmdline") == 'sleep 1000 ' ]] || escaped "$verb: its process has ended"
	done
	_other_lives "$verb"
}

# The record names the unit, and no cgroup of it yet.
a_create_that_was_cut_short_never_had_it() {
	needs strace
	unit_bundle
	strace -qq -o trace -e trace=connect -e inject=connect:signal=KILL:when=1 \
		"$SBXRUN" --root "$T/state" --systemd-cgroup create -b "$B" "$ID" >"$T/said" 2>&1 || :
	[ -e "$T/state/$ID" ] || fail 'the create has left no record'
	_take
	_is_taken
	run sbx delete --force "$ID"
	rc_is 0
	echo "$rc: $err" >"$T/said"
	_other_lives delete
}

# It has found that a directory is the container's, and removes it seconds later. systemd has done so by then, and has made the other unit's, which
# has cgroups of its own in it.
a_delete_that_is_slow() {
	local dir tracer
	needs strace
	[ -n "${CGROUP_MOUNTS[memory]:-}" ] || skip 'systemd has one tree here, and removes what is in it'
	up
	dir=$(scope_dir memory)
	strace -qq -o of-systemd -p 1 -P "$dir" -e trace=rmdir -e inject=rmdir:delay_enter=1000000:when=1 2>/dev/null &
	tracer=$!
	wait_until 20 grep -Eq '^TracerPid:\s[^0]' /proc/1/status
	_take
	strace -qq -o trace -P "$dir" -e trace=getxattr -e inject=getxattr:delay_exit=3000000:when=1 \
		"$SBXRUN" --root "$T/state" delete --force "$ID" >"$T/said" 2>&1 &
	_is_taken
	mkdir "$dir/its-own"
	wait $! || echo "delete: $?" >>"$T/said"
	kill "$tracer" && wait "$tracer" 2>/dev/null || :
	grep -Eq 'sbxrun.owner.* = [0-9]+ \(DELAYED\)' trace || fail "it was not slow: $(<trace)"
	[ -d "$dir/its-own" ] || escaped "a cgroup of the other unit is gone; $(<"$T/said")"
	is "$(<"$T/said")" ''
	rmdir "$dir/its-own"
	_other_lives delete
}

# Its cgroup can't be marked as its own, so that it ends the unit, as slowly.
a_create_that_fails() {
	local create
	needs strace
	unit_bundle
	strace -qq -o trace -e trace=connect,fsetxattr -e inject=fsetxattr:error=EIO:when=1 -e inject=connect:delay_enter=2000000:when=2 \
		"$SBXRUN" --root "$T/state" --systemd-cgroup create -b "$B" "$ID" >"$T/said" 2>&1 && : >"$T/created" &
	create=$!
	wait_until 20 grep -qs EIO trace
	_take
	wait "$create" || :
	[ ! -e "$T/created" ] || fail 'it has not failed'
	_is_taken
	_other_lives create
}

run_tests
