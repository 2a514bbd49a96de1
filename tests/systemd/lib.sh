# shellcheck shell=bash
# shellcheck disable=SC2154
# For the lists of tests that run in a box (systemd/box): words for units of systemd. Sourced after lib/test.sh.
#
#	sd ARG…			the runtime with --systemd-cgroup
#	unit_bundle [FILTER…]	a bundle whose container is to be unit $UNIT of system.slice; see `bundle`
#	up [FILTER…]		a running container of such a bundle, whose program sleeps
#	shows UNIT NAME=VALUE…	properties of a unit, as systemctl shows them; VALUE is a glob
#	scope_dir CONTROLLER	the directory of $UNIT below $SLICE_DIR (system.slice); CONTROLLER counts on v1 only
#	knob_is VALUE CONTROLLER V1-FILE V2-FILE	what a file of $UNIT says; a file named - is not looked at
#	gone_is UNIT		systemd knows no such unit and no hierarchy has its directory
#	is_forgotten UNIT	whether systemd knows no such unit; on v1 some hierarchies are not its affair
#	by_kind V1 V2		which of two values is right here
#	ours			whether the runtime is sbxrun; what another does differently is left out by this
#	AS_USER			the words before a command of an ordinary user with a systemd of his own (v2 only)
#	with_sockets KIND CMD…	CMD where nobody answers for systemd: its socket and the buses are absent, silent or closed

KIND=v1
[ "$VIEW" != v2 ] || KIND=v2
SLICE_DIR=system.slice
TRANSIENT=/run/systemd/transient
SYSTEMCTL=(systemctl) # of whoever's units they are

ours() {
	[[ ${SBXRUN##*/} == sbxrun* ]]
}

by_kind() {
	if [ "$KIND" = v2 ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

sd() {
	sbx --systemd-cgroup "$@"
}

unit_bundle() {
	# shellcheck disable=SC2016
	bundle '.linux.cgroupsPath = "system.slice:sbxt:" + $ID' "$@"
	UNIT=sbxt-$ID.scope
}

up() {
	unit_bundle 'sh("exec sleep 1000")' "$@"
	sd run -d -b "$B" "$ID" >"$T/up" 2>&1 || fail "run gave status $?: $(tail -n 1 "$T/up")"
}

shows() {
	local unit=$1 want names='' got line
	shift
	for want; do
		names+=${names:+,}${want%%=*}
	done
	got=$'\n'$("${SYSTEMCTL[@]}" show -p "$names" "$unit")$'\n'
	for want; do
		line=${got#*$'\n'"${want%%=*}="}
		line=${line%%$'\n'*}
		# shellcheck disable=SC2053
		[[ $line == ${want#*=} ]] || fail "$unit has ${want%%=*}='$line', want '${want#*=}'"
	done
}

scope_dir() {
	local base=${CGROUP_MOUNTS[$1]:-${CGROUP_MOUNTS[unified]}}
	echo "$base/$SLICE_DIR/$UNIT"
}

knob_is() {
	local base=${CGROUP_MOUNTS[$2]:-} file=$3 said
	if [ -z "$base" ]; then
		base=${CGROUP_MOUNTS[unified]} file=$4
	fi
	[ "$file" != - ] || return 0
	slurp said "$base/$SLICE_DIR/$UNIT/$file"
	is "$said" "$1" "$file"
}

# Without a process: systemd keeps a file for each transient unit that it knows.
is_forgotten() {
	[ ! -e "$TRANSIENT/$1" ]
}

is_gone() {
	local dir
	is_forgotten "$1" || return 1
	for dir in /sys/fs/cgroup/{,*/}{,*/,*/*/,*/*/*/}"$1"; do
		[ ! -d "$dir" ] || return 1
	done
}

# Where systemd has the unified tree it takes a unit away by itself; elsewhere the runtime does before it returns, and systemd forgets it
# a moment later.
gone_is() {
	wait_until 10 is_gone "$1"
}

# Prints the processes of a cgroup's file in a line, sorted.
procs_in() {
	sort -n "$1/cgroup.procs" | tr '\n' ' '
}

with_sockets() {
	local kind=$1
	shift
	unshare -m --propagation private "$TESTS_DIR/systemd/sockets" "$kind" "$@"
}

# A unit that is still known when a test is over; systemd may need a moment to forget it.
find_more_leaks() {
	local file end=$((${EPOCHREALTIME/./} + 60000000)) known
	while :; do
		known=()
		for file in "$TRANSIENT"/*"$P"*.scope "$TRANSIENT"/*"${P//-/_}"*; do
			known+=("${file##*/}")
		done
		[ "${#known[@]}" != 0 ] && [ "${EPOCHREALTIME/./}" -lt "$end" ] || break
		nap
	done
	for file in "${known[@]}"; do
		LEAKS+=("unit $file")
	done
	for file in /sys/fs/cgroup/{,*/}"${P//-/_}".slice; do
		[ ! -d "$file" ] || { LEAKS+=("cgroup $file") && known+=("${P//-/_}.slice"); }
	done
	[ "${#known[@]}" = 0 ] || systemctl stop "${known[@]}" || systemctl reset-failed "${known[@]}" || :
}

# An ordinary user of the tree, who has a systemd of his own in a box of v2 (systemd/lists).
# shellcheck disable=SC2034
AS_USER=(setpriv --reuid 4242 --regid 4242 --init-groups -- env -C /home/sbxtest HOME=/home/sbxtest TMPDIR=/home/sbxtest USER=sbxtest
	XDG_RUNTIME_DIR=/run/user/4242 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/4242/bus)
