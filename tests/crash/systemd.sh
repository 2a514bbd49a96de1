#!/bin/bash
# systemd.sh crash|fault|sample [--v2] [OPTION…]: crash points and faults where containers are scopes of systemd, in a box whose
# first process that is (systemd/box). Nothing may be left of a container there either: no unit, no holder of one.
#
#	crash	SIGKILL at each system call of each verb that speaks with systemd, also with delete coming at once and with the caller dying
#	fault	each of these calls fails with each errno, and each allocation of memory; in User-mode Linux, where calls can't be made to
#		fail, allocations alone
#	sample	some points of each, for make check
#	--v2	systemd has cgroup v2, in User-mode Linux; else this machine's layout
#
# An OPTION goes to the harness: --sample N, --verbs LIST, --only PROC:N. The box has no compiler: the programs are built before.
set -eu

verbs=create,run,run-detach,update,delete,delete-force

# In the box. KIND v1 or v2, for the names; crash_bin is set.
inside() {
	local what=$1 kind=$2
	shift 2
	# shellcheck source=tests/crash/lib.sh
	. "$(dirname "$0")/lib.sh"
	rc=0
	crash_rootfs
	bundle=$crash_work/systemd
	crash_bundle "$bundle" systemd
	"${what}_points" "$kind" "$@"
	return $rc
}

crash_points() {
	local kind=$1
	shift
	crash_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind" "$@" || rc=1
	crash_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind-rush" --rush "$@" || rc=1
	crash_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind-caller" --who tied,pipe "$@" || rc=1
}

fault_points() {
	local kind=$1
	shift
	[ "$kind" = v2 ] || fault_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind" "$@" || rc=1
	crash_runtime=$crash_bin/sbxrun-alloc fault_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind-memory" --allocations "$@" || rc=1
}

# A wait for another process takes most of the time in User-mode Linux.
sample_points() {
	local kind=$1 crash=10 fault=6
	shift
	if [ "$kind" = v2 ]; then
		crash=2
	else
		harness_sees "$bundle" unit:units -- --systemd
	fi
	crash_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind" --sample "$crash" "$@" || rc=1
	[ "$kind" = v2 ] || fault_run "$bundle" --systemd --verbs "$verbs" --tag "systemd-$kind" --brief --sample "$fault" "$@" || rc=1
}

what=${1:-}
case $what in
--inside)
	crash_bin=$2
	shift 2
	inside "$@"
	exit
	;;
crash | fault | sample) shift ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 2 ;;
esac
kind=v1 box=()
if [ "${1:-}" = --v2 ]; then
	kind=v2 box=(--v2)
	shift
fi
here=$(cd "$(dirname "$0")" && pwd)
top=${here%/*/*}
if [ "$(id -u)" != 0 ]; then
	echo "skip crash systemd-$kind: needs root"
	exit 0
fi
# In the tree, which the box has at the same place.
mkdir -p "$top/build"
crash_bin=$(mktemp -d "$top/build/crash.XXXXXX")
# shellcheck source=tests/crash/lib.sh
. "$here/lib.sh"
trap 'rm -rf "$crash_work" "$crash_bin"' EXIT
crash_build
[ "$what" != fault ] || crash_build_alloc
cd "$top"
tests/systemd/box "${box[@]}" -t 43200 "$here/systemd.sh" --inside "$crash_bin" "$what" "$kind" "$@"
