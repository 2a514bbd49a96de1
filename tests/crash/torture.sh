#!/bin/bash
# torture.sh crash|fault|library|systemd [OPTION…]: every point of every verb.
#
#	crash	SIGKILL at each system call, with three kinds of bundle, the first again with delete coming at once, with the
#		caller dying, and in the v1-only view
#	fault	each system call fails with each of six errnos, with two kinds of bundle, and each allocation of memory
#	library	the same in a process that makes a container by life.h, and is to be afterwards what it was before
#	systemd	both where containers are scopes of systemd, in boxes with this machine's cgroups, without its unified tree, and with cgroup v2
#		(systemd.sh)
#
# Takes minutes (crash) and hours (the others). --sample N tries N points of each verb and side, with --seed S others.
set -eu
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"

all=create,start,run,run-detach,exec,exec-detach,kill,update,pause,resume,delete,delete-force,do,box-create,box-create-root,box-create-disk,box-create-volume,box-exec,box-run,box-write,box-read,box-stat,box-rm-file,box-logs,box-list,box-rules,box-resume,box-unkeep,box-ls,box-pause,box-diff,box-snapshot,box-fork,box-fork-box,box-session,box-cell,box-sessions,box-end-session,box-keep,box-end,box-gc,box-destroy
rc=0

crash_points() {
	local kind
	for kind in plain userns hooks; do
		crash_bundle "$crash_work/$kind" "$kind"
		crash_run "$crash_work/$kind" --verbs "$all" --tag "$kind" "$@" || rc=1
	done
	crash_run "$crash_work/plain" --verbs "$all" --tag rush --rush "$@" || rc=1
	crash_run "$crash_work/plain" --verbs "$all" --who tied,pipe --tag caller "$@" || rc=1
	if crash_subids; then
		crash_view=ids crash_runtime=${crash_runtime%-oci}-code crash_run "$crash_work/plain" --verbs "$all" --tag ids "$@" || rc=1
	fi
	if mountpoint -q /sys/fs/cgroup/unified; then
		crash_view=v1 crash_run "$crash_work/plain" --verbs "$all" --tag v1 "$@" || rc=1
	fi
}

fault_points() {
	local kind
	for kind in plain user; do
		crash_bundle "$crash_work/$kind" "$kind"
		fault_run "$crash_work/$kind" --tag "$kind" "$@" || rc=1
	done
	crash_build_alloc
	crash_runtime=$crash_work/alloc/sbxrun-oci fault_run "$crash_work/plain" --allocations --tag memory "$@" || rc=1
}

library_points() {
	crash_bundle "$crash_work/plain"
	crash_build_lives
	lives_run lives "$@" || rc=1
	lives_run lives-alloc --allocations "$@" || rc=1
}

systemd_points() {
	local what
	for what in crash fault memory; do
		"$crash_here/systemd.sh" "$what" "$@" || rc=1
		"$crash_here/systemd.sh" "$what" --v1 "$@" || rc=1
		# In User-mode Linux no system call can be made to fail.
		[ "$what" = fault ] || "$crash_here/systemd.sh" "$what" --v2 "$@" || rc=1
	done
}

kind=${1:-}
case $kind in
crash | fault | library | systemd) shift ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 2 ;;
esac
[ "$kind" = systemd ] || { crash_build && crash_rootfs; }
"${kind}_points" "$@"
exit $rc
