#!/bin/bash
# With the systemd driver, what is stopped is stopped by its name, and a name is free again as soon as the last process of a unit has
# ended. Somebody else takes it before our `delete`, or our failed `create`, says "stop".
# Escape: that one's unit is stopped, and its processes end.
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

# Directories that systemd knows nothing of stay until the delete. Its own go a moment after the unit's file: a unit that is started in between is put into the
# directory that was the container's, and that has the container's mark.
_is_forgotten() {
	[ ! -e "$TRANSIENT/$UNIT" ] && [ -z "$(find "${CGROUP_MOUNTS[name=systemd]:-${CGROUP_MOUNTS[unified]}}" -name "$UNIT" -print -quit 2>/dev/null)" ]
}

a_stopped_container_has_lost_its_unit() {
	local force
	for force in '' --force; do
		rm -f "$T/other" "$T/over"
		_ended
		_take
		_is_taken
		run sbx delete $force "$ID"
		echo "$rc: $err" >"$T/said"
		_other_lives "delete $force"
	done
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

# It kills what is in the unit, which is gone then, and speaks with systemd seconds later.
a_delete_that_is_slow() {
	needs strace
	up
	_take
	strace -qq -o trace -e trace=connect -e inject=connect:delay_enter=2000000:when=1 \
		"$SBXRUN" --root "$T/state" delete --force "$ID" >"$T/said" 2>&1
	_is_taken
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
