#!/bin/bash
# check.sh: a sample of crash points and of faults for `make check`, and the harness tried on a runtime
# that is known to be dirty.
# CRASH_SAMPLE and FAULT_SAMPLE set the points for each verb and side, CRASH_VIEW=v1 hides a hybrid
# machine's unified tree.
set -eu
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"

check_harness() {
	harness_sees "$crash_work/plain" cgroup:cgroups process:processes state:state tmp:tmp mount:mounts
}

crash_view=${CRASH_VIEW:-}
if [ "$(id -u)" != 0 ]; then
	echo "skip crash all: needs root"
	exit 0
fi
crash_build
crash_rootfs
crash_bundle "$crash_work/plain"
check_harness
if [ ! -x "$crash_runtime" ]; then
	echo "skip crash points: no $crash_runtime"
	exit 0
fi
rc=0
if grep -q 'User Mode Linux' /proc/cpuinfo; then
	# Every stop of a traced process is many switches there, and calls can't be made to fail.
	crash_run "$crash_work/plain" --sample "${CRASH_SAMPLE:-4}" "$@"
	exit
fi
points=${CRASH_SAMPLE:-20}
crash_run "$crash_work/plain" --sample "$points" "$@" || rc=1
crash_run "$crash_work/plain" --verbs exec,kill,update,pause,resume --sample $((points / 3 + 1)) "$@" || rc=1
crash_run "$crash_work/plain" --verbs create,run,exec --who tied,pipe --sample $((points / 3 + 1)) "$@" || rc=1
crash_run "$crash_work/plain" --verbs do,box-create,box-create-root,box-create-disk,box-create-volume,box-exec,box-run,box-write,box-read,box-stat,box-rm-file,box-logs,box-list,box-rules,box-resume,box-unkeep,box-ls,box-pause,box-diff,box-snapshot,box-fork,box-fork-box,box-session,box-cell,box-sessions,box-end-session,box-keep,box-end,box-gc,box-destroy --sample $((points / 5 + 1)) "$@" || rc=1
# The policy code gives a container a private range of ids.
if crash_subids; then
	crash_view=ids crash_runtime=${crash_runtime%-oci}-code crash_run "$crash_work/plain" --tag ids --sample $((points / 3 + 1)) \
		--verbs create,run,delete,delete-force "$@" || rc=1
fi
faults=${FAULT_SAMPLE:-5}
crash_bundle "$crash_work/user" user
fault_run "$crash_work/plain" --sample "$faults" --brief || rc=1
fault_run "$crash_work/user" --sample "$faults" --brief --tag user --verbs run,exec || rc=1
crash_build_alloc
crash_runtime=$crash_work/alloc/sbxrun-oci fault_run "$crash_work/plain" --allocations --sample 12 --verbs run,exec || rc=1
# The same in a process that is to live on: the library's.
crash_build_lives
lives_run lives --sample $((faults * 3)) --brief || rc=1
lives_run lives-alloc --allocations --sample 6 || rc=1
exit $rc
