#!/bin/bash
# systemd.sh crash|fault|memory|sample [--v1|--v2] [OPTION…]: crash points and faults where containers are scopes of systemd, in a box whose
# first process that is (systemd/box). Nothing may be left of a container there either: no unit, no holder of one.
#
#	crash	SIGKILL at each system call of each verb that speaks with systemd; also with delete coming at once, and with the caller dying
#	fault	each of these calls fails with each errno
#	memory	each allocation of memory fails
#	sample	some points of all, for make check
#	--v1	this machine's layout, without a unified tree; --v2: cgroup v2, in User-mode Linux; else this machine's layout
#
# In User-mode Linux calls can't be made to fail, and a process costs 30 times as much: there points are tried in one way. An OPTION goes to
# the harness: --sample N, --seed S, --every K, --verbs LIST, --calls LIST, --only PROC:N.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=${here%/*/*}

# What is said to systemd, and to the holder.
speaking=socket,connect,sendto,recvfrom,ppoll,clone,close_range,kill,pidfd_send_signal,wait4,waitid,fsetxattr

# crash|fault TAG OPTION…: the harness on the bundle of this run.
try() {
	"${1}_run" "$crash_work/systemd" --systemd --verbs create,run,run-detach,update,delete,delete-force --tag "systemd-$kind$2" "${@:3}" || rc=1
}

crash_points() {
	try crash '' "$@"
	[ -z "$uml" ] || return 0
	try crash -rush --rush "$@"
	try crash -caller --who tied,pipe "$@"
}

fault_points() {
	try fault '' "$@"
}

memory_points() {
	crash_runtime=$crash_bin/alloc/sbxrun-oci try fault -memory --allocations "$@"
}

sample_points() {
	if [ -n "$uml" ]; then
		try crash '' --verbs create,delete-force --who parent --calls "$speaking" --sample 6 "$@"
		memory_points --verbs create,delete-force --every 7 "$@"
		return
	fi
	harness_sees "$crash_work/systemd" unit:units -- --systemd
	try crash '' --calls "$speaking" --sample 10 "$@"
	try fault '' --verbs create,update,delete-force --calls "$speaking" --errnos EIO,ENOMEM,EINTR --sample 8 "$@"
	try fault -holder --verbs create --who parent --calls kill "$@"
	try fault '' --verbs run --brief --sample 6 "$@"
	memory_points --verbs create,update,delete,delete-force --every 4 "$@"
}

# In the box, with programs that were built before it was booted: it has no compiler.
inside() {
	local what=$1
	shift
	# shellcheck source=tests/crash/lib.sh
	. "$here/lib.sh"
	rc=0 uml='' kind=hybrid
	! grep -q 'User Mode Linux' /proc/cpuinfo || uml=1
	[ -d /sys/fs/cgroup/unified ] || kind=v1
	[ ! -e /sys/fs/cgroup/cgroup.controllers ] || kind=v2
	crash_rootfs
	crash_bundle "$crash_work/systemd" systemd
	"${what}_points" "$@"
	exit $rc
}

what=${1:-}
case $what in
--inside)
	crash_bin=$2
	inside "${@:3}"
	;;
crash | fault | memory | sample) shift ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 2 ;;
esac
box=() view=()
case ${1:-} in
--v1)
	view=("$top/tests/lib/v1-view")
	shift
	;;
--v2)
	box=(--v2)
	shift
	;;
esac
if [ "$(id -u)" != 0 ]; then
	echo "skip crash systemd${box[*]}: needs root"
elif ! type -P mmdebstrap >/dev/null && ! "$top/tests/systemd/tree" --cached; then
	echo "skip crash systemd${box[*]}: needs mmdebstrap"
elif [ "${#box[@]}" != 0 ] && ! why=$("$top/tests/uml/usable"); then
	echo "skip crash systemd${box[*]}: $why"
else
	# In the tree, which the box has at the same place.
	mkdir -p "$top/build"
	crash_bin=$(mktemp -d "$top/build/crash.XXXXXX")
	# shellcheck source=tests/crash/lib.sh
	. "$here/lib.sh"
	trap 'rm -rf "$crash_work" "$crash_bin"' EXIT
	trap 'exit 130' TERM INT HUP
	crash_build
	[[ $what != memory && $what != sample ]] || crash_build_alloc
	"${view[@]}" "$top/tests/systemd/box" "${box[@]}" -t 86400 "$here/systemd.sh" --inside "$crash_bin" "$what" "$@"
fi
