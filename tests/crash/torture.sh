#!/bin/bash
# torture.sh: every crash point of every verb, with three kinds of bundle, and the first again with
# delete coming at once, and in the v1-only view; `make torture` calls it. Takes minutes.
# --sample N tries N points of each.
set -eu
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"

all=create,start,run,run-detach,kill,delete,delete-force
rc=0
crash_build
crash_rootfs
for kind in plain userns hooks; do
	crash_bundle "$crash_work/$kind" "$kind"
	crash_run "$crash_work/$kind" --verbs "$all" --tag "$kind" "$@" || rc=1
done
crash_run "$crash_work/plain" --verbs "$all" --tag rush --rush "$@" || rc=1
if mountpoint -q /sys/fs/cgroup/unified; then
	crash_view=v1 crash_run "$crash_work/plain" --verbs "$all" --tag v1 "$@" || rc=1
fi
exit $rc
