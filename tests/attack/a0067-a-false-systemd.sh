#!/bin/bash
# An ordinary user's systemd is whoever listens where the environment says; a machine's own may be broken. It lies, it never comes to an
# end, it sends what is not D-Bus.
# Escape: the runtime waits beyond its deadline, takes memory without end or crashes; a create believes it, or leaves something; a
# container can't be deleted.
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

_KINDS=('done' never failed hung-up drip flood noise huge deep mirror)

# _against KIND ARG…: the runtime with 256 MB of address space, and a liar for systemd.
_against() {
	local kind=$1
	shift
	# shellcheck disable=SC2016
	run unshare -m --propagation private "$TESTS_DIR/attack/false-systemd" "$kind" timeout -k 1 60 \
		bash -c 'ulimit -v 262144; exec "$@"' bash "$SBXRUN" --root "$T/state" "$@"
	case $rc in
	124 | 137) hangs "$kind: it has not ended within a minute" ;;
	13? | 14?) escaped "$kind: it was ended by signal $((rc - 128)): $err" ;;
	esac
	unlike "$err" 'out of memory' "$kind"
}

_holders() {
	local comm
	for comm in /proc/[0-9]*/comm; do
		! grep -qs '^sbxrun:holder' "$comm" || echo "$comm"
	done
}

# A create that doesn't fail has made a container without the limits that systemd was to set.
a_create_that_is_lied_to_fails() {
	local kind
	for kind in "${_KINDS[@]}"; do
		unit_bundle 'sh("exec sleep 1000")'
		_against "$kind" --systemd-cgroup --systemd-timeout 2 create -b "$B" "$ID"
		[ "$rc" != 0 ] || escaped "$kind: it is believed"
		like "$err" 'systemd' "$kind"
		[ -z "$(ls "$T/state")" ] || escaped "$kind: state is left: $err"
		[ -z "$(_holders)" ] || escaped "$kind: the holder is left"
		wait_until 10 is_gone "$UNIT"
	done
}

# What systemd should know of it ends by itself; not, where the liar says that there is no such unit, which is as if it was stopped.
a_delete_that_is_lied_to_leaves_nothing() {
	local kind pid
	for kind in "${_KINDS[@]}"; do
		unit_bundle 'sh("exec sleep 1000")'
		sbx --systemd-cgroup --systemd-timeout 2 run -d -b "$B" "$ID" >"$T/up" 2>&1
		pid=$(pid_of "$ID")
		_against "$kind" delete --force "$ID"
		[ "$rc" = 0 ] || escaped "$kind: it can't be deleted: $err"
		wait_until 20 test ! -e "/proc/$pid"
		[ -z "$(ls "$T/state")" ] || escaped "$kind: state is left"
		[[ $kind != 'done' && $kind != never && $kind != failed ]] || systemctl stop "$UNIT" 2>/dev/null || :
		wait_until 10 is_gone "$UNIT"
	done
}

an_update_that_is_lied_to_changes_nothing() {
	local kind
	unit_bundle 'sh("exec sleep 1000")' '.linux.resources.pids = {limit: 20}'
	sbx --systemd-cgroup --systemd-timeout 2 run -d -b "$B" "$ID" >"$T/up" 2>&1
	for kind in "${_KINDS[@]}"; do
		# To these, setting a property is one call with an empty answer.
		[[ $kind != 'done' && $kind != never && $kind != failed ]] || continue
		_against "$kind" update --pids-limit 30 "$ID"
		[ "$rc" != 0 ] || escaped "$kind: it is believed"
		like "$err" 'systemd' "$kind"
		shows "$UNIT" TasksMax=20
		knob_is 20 pids pids.max pids.max
	done
}

# _waits: a create, $BG, that waits for a systemd that has begun and never comes to an end; it would for ten minutes.
_waits() {
	unit_bundle 'sh("exec sleep 1000")'
	unshare -m --propagation private "$TESTS_DIR/attack/false-systemd" never \
		"$SBXRUN" --root "$T/state" --systemd-cgroup --systemd-timeout 600 create -b "$B" "$ID" >"$T/said" 2>&1 &
	BG=$!
	wait_until 20 _has_holder
}

_has_holder() {
	[ -n "$(_holders)" ]
}

_has_ended() {
	! kill -0 "$BG" 2>/dev/null
}

_is_over() {
	wait_until 20 _has_ended || escaped "$1: the create waits on"
	[ -z "$(ls "$T/state")" ] || escaped "$1: state is left: $(<"$T/said")"
	[ -z "$(_holders)" ] || escaped "$1: the holder is left"
	wait_until 10 is_gone "$UNIT"
}

a_create_that_waits_ends_with_a_delete_and_with_a_signal() {
	local holder
	_waits
	run timeout -k 1 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	[ "$rc" = 0 ] || escaped "it can't be deleted: $err"
	_is_over delete
	_waits
	holder=$(_holders)
	kill -TERM "$(awk '/^PPid:/ { print $2 }' "${holder%/comm}/status")"
	_is_over TERM
}

# It looks at the unit's cgroup when it comes to itself, and would keep a unit for good that has none.
a_systemd_that_was_stuck_finds_out() {
	local frozen=${CGROUP_MOUNTS[freezer]:-}/$P-stuck
	[ -n "${CGROUP_MOUNTS[freezer]:-}" ] || skip 'the first process is not in a cgroup that can be frozen'
	unit_bundle 'sh("exec sleep 1000")'
	sbx --systemd-cgroup --systemd-timeout 2 run -d -b "$B" "$ID" >"$T/up" 2>&1
	mkdir "$frozen"
	echo 1 >"$frozen/cgroup.procs"
	echo FROZEN >"$frozen/freezer.state"
	run timeout -k 1 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	echo THAWED >"$frozen/freezer.state"
	echo 1 >"${CGROUP_MOUNTS[freezer]}/cgroup.procs"
	rmdir "$frozen"
	[ "$rc" = 0 ] || escaped "it can't be deleted: $err"
	# Where the kernel tells systemd of the end, nothing is left for anybody to do.
	[ -d /sys/fs/cgroup/unified ] || like "$err" 'systemctl stop'
	wait_until 20 is_gone "$UNIT" || escaped "$UNIT is left"
}

# The call has reached systemd, and its answer is lost. Somebody is in the unit, which does not go away by itself.
a_create_whose_answer_is_lost_leaves_no_unit() {
	needs strace
	unit_bundle 'sh("exec sleep 1000")'
	# The call goes along with who we are: whether we are taken, and the answer, come in what is received first.
	strace -qq -o trace -e trace=sendto,recvfrom -e inject=sendto:delay_exit=3000000:when=1 -e inject=recvfrom:error=EIO:when=1 \
		"$SBXRUN" --root "$T/state" --systemd-cgroup create -b "$B" "$ID" >"$T/said" 2>&1 && : >"$T/created" &
	BG=$!
	wait_until 20 test -e "$TRANSIENT/$UNIT"
	sleep 1000 &
	wait_until 20 _join $!
	! _has_ended || fail 'nobody was in the unit when the create failed'
	wait_until 60 _has_ended
	[ ! -e "$T/created" ] || fail 'it has not failed'
	like "$(<"$T/said")" 'systemd: connect to /run/systemd/private: receive'
	[ -z "$(ls "$T/state")" ] || escaped 'state is left'
	systemctl is-active --quiet "$UNIT" && escaped "$UNIT is left"
	wait_until 10 is_gone "$UNIT"
}

_join() {
	busctl call --quiet org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager AttachProcessesToUnit ssau \
		"$UNIT" '' 1 "$1" 2>/dev/null
}

run_tests
