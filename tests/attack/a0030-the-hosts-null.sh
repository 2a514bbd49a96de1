#!/bin/bash
# Idea: what masks a file, and what the caller's standard streams lead to, is a node of the host's. Root inside changes its mode, owner or
# times through a name that it has for it, or locks and watches it. Escape: the host's /dev/null (here a canary that stands for it) is
# changed, or somebody inside holds a lock on it.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# This file has a mount namespace of its own: here, and only here, nodes made for it stand for the host's.
_canary_dir=$SBXT_WORK/nodes.$$
mkdir "$_canary_dir"
mount -t tmpfs tmpfs "$_canary_dir"
for _node in null:3 zero:5 full:7; do
	mknod -m 666 "$_canary_dir/${_node%:*}" c 1 "${_node#*:}"
	mount --bind "$_canary_dir/${_node%:*}" "/dev/${_node%:*}"
done
umount -l "$_canary_dir"
rmdir "$_canary_dir"

# What is known of the canaries; times in nanoseconds.
_canaries() {
	stat -c '%n %a %u:%g %.9Y %.9Z' /dev/null /dev/zero /dev/full
}

# Runs what follows, and the canaries are as they were.
_unchanged() {
	local before
	chmod 666 /dev/null /dev/zero /dev/full
	chown 0:0 /dev/null /dev/zero /dev/full
	before=$(_canaries)
	"$@"
	[ "$(_canaries)" = "$before" ] || escaped "the host's nodes were '$before' and are '$(_canaries)'"
}

# Changes all that can be changed of each of $names.
# shellcheck disable=SC2016
_CHANGE='for f in $names; do
	chmod 600 $f; chown 1234:1234 $f; touch -d 2001-01-01 $f; touch $f; : >$f
done 2>/dev/null; true'
_STREAMS='names="/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /dev/stdin /dev/stdout /dev/stderr"'
_CAPS='caps(["CAP_CHOWN", "CAP_FOWNER", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_MKNOD", "CAP_SYS_CHROOT"])'
# Root inside is root outside, where nodes can't be made.
_SAME_ROOT='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 1000}] | .linux.gidMappings = .linux.uidMappings'

# _box CODE [FILTER…]: a bundle with the rights that engines give.
_box() {
	local BOX_CODE=$1
	shift
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$_CAPS" writable '.linux.maskedPaths += ["/etc/passwd"]' "$@"
}

# The names of masked files: those of the default config that are there, and one of the image's.
_MASKED='names=/etc/passwd; for f in /proc/keys /proc/timer_list /proc/kcore; do [ ! -c $f ] || names="$names $f"; done'

masks_are_not_the_hosts_null() {
	_box "$_MASKED; $_CHANGE; stat -c %t:%T \$names | sort -u"
	_unchanged attack
	is "$out" 1:3
}

masks_are_not_the_hosts_null_in_a_user_namespace() {
	_box "$_MASKED; $_CHANGE; stat -c %t:%T \$names | sort -u" "$_SAME_ROOT"
	_unchanged attack
	is "$out" 1:3
}

devices_in_a_user_namespace_are_not_the_hosts() {
	_box "names='/dev/null /dev/zero /dev/full'; $_CHANGE" "$_SAME_ROOT"
	_unchanged attack
	rc_is 0
}

# What the program says of the path is a lock of the container's own.
_lock_stays_inside() {
	bundle "args([\"/attacker\", \"lock\", \"$1\"])" writable '.linux.maskedPaths += ["/etc/passwd"]'
	with_attacker
	sbx run -d -b "$B" "$ID" </dev/null >/dev/null 2>/dev/null
	wait_until 10 test -e "$B/rootfs/held"
	flock -n /dev/null true || escaped "the host's /dev/null is locked from inside"
	sbx delete -f "$ID"
}

a_lock_on_a_mask_is_not_one_on_the_hosts_null() {
	_lock_stays_inside /etc/passwd
}

a_lock_on_a_stream_is_not_one_on_the_hosts_null() {
	_lock_stays_inside /proc/self/fd/0
}

streams_are_not_the_hosts_null() {
	_box "$_STREAMS; $_CHANGE"
	_unchanged sbx run -b "$B" "$ID" </dev/null >/dev/null 2>/dev/null
	_unchanged sbx run -b "$B" "$ID" <&- >&- 2>&-
	# And still what they were.
	_box '(for n in 0 1 2; do stat -Lc %t:%T /proc/1/fd/$n; sed -n "s/^flags.*\(.\)$/\1/p" /proc/1/fdinfo/$n; done) >/seen; true'
	sbx run -b "$B" "$ID" </dev/null >/dev/null 2>/dev/null
	is "$(<"$B/rootfs/seen")" $'1:3\n0\n1:3\n1\n1:3\n1'
}

streams_of_other_nodes_are_not_the_hosts() {
	_box "$_STREAMS; $_CHANGE"
	_unchanged sbx run -b "$B" "$ID" </dev/zero >/dev/full 2>/dev/zero
}

streams_of_a_detached_container_are_not_the_hosts_null() {
	_box "$_STREAMS; $_CHANGE; touch /done; sleep 100"
	_unchanged _start_and_wait
}

_start_and_wait() {
	sbx run -d -b "$B" "$ID" </dev/null >/dev/null 2>/dev/null
	wait_until 10 test -e "$B/rootfs/done"
	sbx delete -f "$ID"
}

streams_of_exec_are_not_the_hosts_null() {
	_box 'sleep 100'
	sbx run -d -b "$B" "$ID" </dev/null >log 2>&1
	_unchanged sbx exec "$ID" sh -c "$_STREAMS; $_CHANGE" </dev/null >/dev/null 2>/dev/null
	# Nor where the container has put something else in its place.
	sbx exec "$ID" sh -c 'mv /dev/null /dev/old; echo fake >/dev/null'
	_unchanged sbx exec "$ID" sh -c "$_STREAMS; $_CHANGE" </dev/null >/dev/null 2>/dev/null
	sbx exec "$ID" sh -c 'rm /dev/null; mkfifo /dev/null'
	is "$(sbx exec "$ID" stat -Lc %t:%T /proc/self/fd/0 </dev/null)" 1:3
	_unchanged sbx exec "$ID" chmod 600 /proc/self/fd/0 </dev/null
}

streams_in_a_user_namespace_are_not_the_hosts_null() {
	_box "$_STREAMS; $_CHANGE" "$_SAME_ROOT"
	_unchanged sbx run -b "$B" "$ID" </dev/null >/dev/null 2>/dev/null
}

run_tests
