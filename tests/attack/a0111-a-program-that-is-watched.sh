#!/bin/bash
# Idea: a program that `sbxrun learn` watches makes use of it: it does something that nobody sees, runs on when nobody watches any more, or gets a call that it would not
# have had; and a program in a box outgrows the profile of its language by becoming another one. Escape: a call that was made and not told, or given though it is refused.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_caller() {
	bundle
	[ -x "$SBXT_WORK/caller3" ] || {
		gcc -O1 -w -static -pthread -o "$SBXT_WORK/caller3.$$" "$TESTS_DIR/tools/caller.c" || skip 'no static C library'
		mv "$SBXT_WORK/caller3.$$" "$SBXT_WORK/caller3"
	}
	cp "$SBXT_WORK/caller3" "$B/rootfs/bin/caller"
	chmod 755 "$B/rootfs/bin/caller"
}
_learn() { run sbx learn --format json -o "$T/learned" "do" --rootfs "$B/rootfs" "$@"; }
_count() { jq -r "[.calls[] | select(.name == \"$1\") | .count][0] // 0" "$T/learned"; }

# Whatever a daemon does to be nobody's child: sessions, two forks, a parent that is gone.
who_becomes_a_daemon_is_seen_still() {
	_caller
	_learn -- sh -c '(setsid sh -c "(sleep 0.1; exec caller own 40) & (caller own 20 &) ; exit" &); caller own 3; sleep 1'
	[ "$(_count getppid)" -ge 63 ] || escaped "of 63 calls $(_count getppid) were seen"
}

many_children_that_die_at_once_are_all_counted() {
	_caller
	_learn --pids-limit 200 -- sh -c 'i=0; while [ $i -lt 60 ]; do caller own 5 & i=$((i + 1)); done; wait; echo end'
	is "$out" end
	[ "$(_count getppid)" -ge 300 ] || escaped "of 300 calls $(_count getppid) were seen"
	# The shell asks for its parent once itself, as each of its copies may.
	[ "$(_count getppid)" -lt 400 ] || fail "$(_count getppid) calls"
}

being_watched_gives_no_call() {
	_caller
	_learn -- caller refused 3 socket 17
	[ "$out" = $'chroot EPERM\nsocket EPERM' ] || escaped "$out"
	_learn -- sh -c 'mount -t tmpfs x /tmp; unshare -U true; mknod /tmp/n b 7 0; echo end'
	is "$out" end
	unlike "$err" 'mount: ok'
	[ "$(jq '[.refused[] | select(.name == "mount" or .name == "unshare")] | length' "$T/learned")" = 2 ] || fail "not told: $(jq -c .refused "$T/learned")"
}

# Without a watcher the container would go on, and what it does then would be missing in what is taken for all of it.
nobody_runs_on_unwatched() {
	local watcher pid
	bundle 'args(["sleep", "1000"])'
	sbx learn -o "$T/learned" run -b "$B" "$ID" 2>err &
	wait_until 30 eval '[ "$(status_of "$ID" 2>/dev/null)" = running ]'
	pid=$(pid_of "$ID")
	wait_until 30 eval '[[ $(tr "\0" " " <"/proc/$pid/cmdline") == sleep* ]]'
	watcher=$(awk '/^TracerPid:/ { print $2 }' "/proc/$pid/status")
	kill -9 "$watcher"
	(wait_until 30 test ! -e "/proc/$pid/exe") || hangs 'it runs on'
	wait $! || :
}

# The watcher is none of the container's, and can't be reached from there.
the_watcher_is_out_of_sight() {
	bundle
	_learn -- sh -c 'cat /proc/[0-9]*/comm; grep TracerPid /proc/self/status; kill -9 -1; echo end'
	hides "$out" 'sbxrun-learn'
	like "$out" $'TracerPid:\t0'
}

# The filter is inherited by whatever it becomes.
a_profile_is_not_outgrown() {
	_caller
	run sbx "do" --rootfs "$B/rootfs" --profile bash -- sh -c 'caller timerfd 1; setsid sh -c "exec caller timerfd 1"; caller child 1 timerfd 1'
	[ "$out" = $'timerfd EPERM\ntimerfd EPERM\ntimerfd EPERM' ] || escaped "$out"
}

run_tests
