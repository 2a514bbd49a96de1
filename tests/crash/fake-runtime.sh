#!/bin/sh
# A runtime that is dirty on purpose: the harness must find each kind of leftover that it makes.
# `delete --force` reports success and removes nothing of it.
#
# FAKE says what create leaves when it is killed half-way: cgroup, process, state, tmp, mount, unit.
set -eu
[ "$1" = --root ] && root=$2 && shift 2
[ "$1" != --systemd-cgroup ] || shift
verb=$1
for id; do :; done
cgroup=/sys/fs/cgroup/pids
[ -d $cgroup ] || cgroup=/sys/fs/cgroup

case $verb in
create)
	case ${FAKE:-} in
	cgroup) mkdir "$cgroup/$id" ;;
	process) sleep 1000 & ;;
	state) mkdir "$root/$id" ;;
	tmp) : >"$TMPDIR/left.$$" ;;
	unit) systemd-run --quiet --on-active=1h --unit="fake-$id" true ;;
	mount) mkdir "$root/$id.m" && mount -t tmpfs none "$root/$id.m" ;;
	esac
	: >"$root/step1"
	: >"$root/step2"
	rm "$root/step1" "$root/step2"
	case ${FAKE:-} in
	cgroup) rmdir "$cgroup/$id" ;;
	process) kill $! ;;
	state) rmdir "$root/$id" ;;
	tmp) rm "$TMPDIR/left.$$" ;;
	unit) systemctl stop "fake-$id.timer" ;;
	mount) umount "$root/$id.m" && rmdir "$root/$id.m" ;;
	esac
	;;
delete)
	rm -f "$root/step1" "$root/step2"
	;;
esac
