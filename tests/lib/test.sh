# shellcheck shell=bash
# The test framework: a test file sources this, defines functions whose names are sentences, and ends with `run_tests`.
#
#	. "${0%/*}/../lib/test.sh"
#	create_refuses_a_used_id() {
#		bundle
#		sbx create -b "$B" "$ID"
#		run sbx create -b "$B" "$ID"
#		rc_is 1
#		like "$err" 'exists'
#	}
#	run_tests
#
# Every function of the file whose name does not begin with `_` is a test. It runs in a subshell under `set -euE -o pipefail`
# with stdin from /dev/null, a directory of its own ($T), ids that carry a random prefix ($P) and a time limit. Its verdict is
# one line, `ok t0100 name`, `not ok t0100 name: why` (diagnostics follow, indented) or `skip t0100 name: reason`.
#
# When it ends, its process group is killed, every container below $T/state* is deleted with `delete -f`, and what is then
# still there is a leak and fails the test: a cgroup with $P in its path, a mount below $T, a process that belongs to the test
# (it has $P in its environment, its cgroup or its mount table), an entry in a state directory. Leaks are removed after that.
#
# A file runs in a private mount namespace whose / is rshared, as systemd leaves it: a runtime that forgets to cut propagation
# is caught by the mount check, and the machine's own mount table is never touched. It also has a network namespace of its own
# with nothing but lo, so that no config can take an interface away from the machine.
#
# A test that misses a deadline (wait_until, `timeout` before rc_is, the time limit) is no failure yet: nothing says that the answer would have
# been wrong. It prints a line `# late t0100 name: why` and is run once more, alone, with twice the time: by tests/run when its other files are
# done, else at the end of its file. Then it counts as any other, and one that passes says so: `ok t0100 name # slow, and passed alone`.
# A wrong result is never run again, and neither is a test that left a cgroup, a process or a record.
#
# What a test can use:
#	bundle [FILTER…]		make the bundle $B (own rootfs of busybox) for the new id $ID; FILTERs are jq, see PRELUDE
#	sbx ARG…			the runtime with the test's own --root
#	run CMD…			run CMD and keep $out, $err, $rc; never fails
#	run_in_box CODE [FILTER…]	bundle + foreground `run` of sh -c CODE, kept like `run`; the shell inside is busybox
#	is GOT WANT, isnt GOT UNWANTED, like GOT REGEX, unlike GOT REGEX, rc_is N, file_has FILE REGEX
#	wait_until SECONDS CMD…		poll every 10 ms until CMD succeeds; on a busy machine for 60 s at least
#	fail WHY, skip REASON, needs PROGRAM…
#	missed WHY			fail, for a deadline that was missed: see below
#	status_of ID, pid_of ID		from `state`
#	cgroup_dir CONTROLLER [ID]	the directory of a container made by `bundle`; CONTROLLER counts on v1 only
#	cgroup_procs [ID]		the file with its processes (an ordinary user's container is in a cgroup in its own)
#	status_field PID NAME		what /proc/PID/status says of NAME
#	as_user UID CMD…		CMD as an ordinary user without groups
#	$VIEW				hybrid, v1 or v2: what the cgroup tree looks like
# In a rootless view (lib/rootless-view) $SBXRUN is the runtime as the ordinary user $SBX_UID runs it, bundles are his and have a
# user namespace, and lib/rootless-tests says which tests are run.
# The environment may set SBXRUN (the runtime), TEST_LIMIT (seconds a test), TEST_ONLY (a glob of function names), TEST_VERBOSE, TEST_ONCE (what
# misses a deadline has failed).
# Names of tests may also be given as arguments of the test file.

TESTS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SBXRUN=${SBXRUN:-${TESTS_DIR%/*}/build/sbxrun-oci}
[[ $SBXRUN == */* ]] || SBXRUN=$(type -P "$SBXRUN")
TEST_FILE=${0##*/}
TEST_ID=${TEST_FILE%%-*}
# For what hangs: on a machine with much else to do, ten seconds become minutes.
TEST_LIMIT=${TEST_LIMIT:-400}
TEST_ARGS=("$@")

if [ "$EUID" != 0 ]; then
	echo "skip $TEST_ID ${TEST_FILE%.sh}: needs root"
	exit 0
fi
# unshare execs in place, so the pid is a marker that children don't inherit by accident.
if [ "${SBXT_NS:-}" != $$ ]; then
	# shellcheck disable=SC2016
	SBXT_NS=$$ exec unshare -m -n --propagation private -- \
		sh -c 'mount --make-rshared / && ip link set lo up && exec bash "$0" "$@"' "$0" "$@"
fi
unset SBXT_NS
# From tests/run: where it wants to read which tests were late, and whether this is the second time. Not for what tests start in their turn.
LATE_FILE=${SBXT_LATE:-} ALONE=${SBXT_ALONE:-}
unset SBXT_LATE SBXT_ALONE
umask 022

# Forks are dear in User-mode Linux (30 ms, an exec 50), so what every test passes through is written with builtins.
shopt -s nullglob globstar

# ---- where things are ----

# Sets CGROUP_MOUNTS (controller or name=… → mount point, "unified" → that of cgroup v2) and VIEW.
read_cgroup_mounts() {
	local line lines dir type opts opt fields
	declare -gA CGROUP_MOUNTS=()
	VIEW=v2
	mapfile -t lines </proc/self/mountinfo
	for line in "${lines[@]}"; do
		read -r _ _ _ _ dir fields <<<"$line"
		read -r type _ opts <<<"${fields#*- }"
		case $type in
		cgroup2) CGROUP_MOUNTS[unified]=$dir ;;
		cgroup)
			VIEW=v1
			for opt in ${opts//,/ }; do
				CGROUP_MOUNTS[$opt]=$dir
			done
			;;
		esac
	done
	[ "$VIEW" != v1 ] || [ -z "${CGROUP_MOUNTS[unified]:-}" ] || VIEW=hybrid
}
read_cgroup_mounts

# $SBXT_WORK is shared by the files of one tests/run; a file that is run by hand makes and removes its own.
if [ -z "${SBXT_WORK:-}" ]; then
	SBXT_WORK=$(mktemp -d "${TMPDIR:-/tmp}/sbxt.XXXXXX")
	chmod 755 "$SBXT_WORK"
	trap 'rm -rf --one-file-system "$SBXT_WORK"' EXIT
fi

# The programs that a rootfs has; a link to each of busybox's 270 would cost more than the container.
APPLETS='[ awk basename cat chgrp chmod chown chroot cmp cp cut date dd df dirname dmesg du echo env expr false find free
grep head hexdump hostname id ifconfig insmod ip kill ln ls md5sum mkdir mkfifo mknod mktemp more mount mv nc nice nproc od
pidof ping printf ps pwd readlink realpath renice rm rmdir route sed seq setsid sh sha256sum sleep sort stat stty sync sysctl
tail tar tee telnet test time timeout top touch tr true tty umount uname uniq unshare uptime usleep vi wc which whoami xargs
yes'

# The tree that a bundle is linked from (one cp makes it). Made aside and renamed, since two files may start at once.
make_template() {
	local made=$SBXT_WORK/template.$$ applet links=()
	[ ! -d "$SBXT_WORK/template" ] || return 0
	local root=$made/rootfs
	mkdir -p "$root"/{bin,dev,etc,home,proc,root,run,sys,tmp,usr,var/tmp}
	chmod 1777 "$root/tmp" "$root/var/tmp"
	cp "$(type -P busybox)" "$root/bin/busybox"
	chroot "$root" /bin/busybox --install -s /home
	for applet in $APPLETS; do
		[ ! -L "$root/home/$applet" ] || links+=("$root/home/$applet")
	done
	mv "${links[@]}" "$root/bin"
	rm -r "${root:?}/home"
	[ -z "${SBX_UID:-}" ] || chown -hR "$SBX_UID:$SBX_UID" "$made"
	# -T: a directory that the other file has put there meanwhile must not swallow ours
	mv -T "$made" "$SBXT_WORK/template" 2>/dev/null || rm -rf "$made"
}

# ---- for tests: making containers ----

# jq definitions for the FILTERs of bundle and run_in_box; $T, $B, $ID and $P are jq variables, too.
# shellcheck disable=SC2016
PRELUDE='
def sh($code): .process.args = ["/bin/sh", "-c", $code];
def args($list): .process.args = $list;
def writable: .root.readonly = false;
def env($text): .process.env += [$text];
def mount($m): .mounts += [$m];
def unmount($dest): .mounts |= map(select(.destination != $dest));
def ns($type): .linux.namespaces |= (map(select(.type != $type)) + [{type: $type}]);
def ns($type; $path): .linux.namespaces |= (map(select(.type != $type)) + [{type: $type, path: $path}]);
def without_ns($type): .linux.namespaces |= map(select(.type != $type));
def caps($list): .process.capabilities = ({bounding: $list, effective: $list, permitted: $list,
	inheritable: [], ambient: []});
def hook($kind; $path; $args): .hooks[$kind] += [{path: $path, args: $args}];
.process.terminal = false | .process.args = ["/bin/true"] | .root.path = "rootfs" | .linux.cgroupsPath = "/" + $P + "/" + $ID'

# The runtime's own `spec`, asked once for a file.
base_spec() {
	local dir=$SBXT_WORK/spec.$$
	[ ! -f "$dir/config.json" ] || return 0
	mkdir -p "$dir"
	if [ -z "${SBX_UID:-}" ]; then
		(cd "$dir" && "$SBXRUN" spec)
	else
		chown "$SBX_UID" "$dir"
		(cd "$dir" && "$SBXRUN" spec --rootless) && add_mappings "$dir/config.json"
	fi
}

# To the user's own id those that he may have besides.
add_mappings() {
	local first count
	read -r first count <<<"$SBX_SUBIDS"
	[ "$count" != 0 ] || return 0
	jq --argjson range "{\"containerID\": 1, \"hostID\": $first, \"size\": $count}" \
		'.linux.uidMappings += [$range] | .linux.gidMappings += [$range]' "$1" >"$1.new"
	mv "$1.new" "$1"
}

bundle() {
	local filter all=$PRELUDE
	N=$((N + 1))
	ID=$P-$N
	B=$T/b$N
	for filter; do
		all+=" | $filter"
	done
	# Programs are hard links; what a test may want to change is its own.
	cp -al "$SBXT_WORK/template" "$B"
	printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'user:x:1000:1000:user:/home/user:/bin/sh' >"$B/rootfs/etc/passwd"
	printf '%s\n' 'root:x:0:' 'user:x:1000:' 'extra:x:2000:user' >"$B/rootfs/etc/group"
	jq --arg T "$T" --arg B "$B" --arg ID "$ID" --arg P "$P" --arg code "${BOX_CODE:-}" "$all" \
		"$SBXT_WORK/spec.$$/config.json" >"$B/config.json"
}

sbx() {
	"$SBXRUN" --root "$T/state" "$@"
}

# Sets variable $1 to the text of file $2, as $(<file) would, without its fork.
slurp() {
	local text
	IFS= read -rd '' text <"$2" || :
	while [[ $text == *$'\n' ]]; do
		text=${text%$'\n'}
	done
	printf -v "$1" %s "$text"
}

run() {
	rc=0 RAN=" $* "
	"$@" >"$T/out" 2>"$T/err" || rc=$?
	slurp out "$T/out"
	slurp err "$T/err"
	printf '+ %s\nrc=%s\nout=%s\nerr=%s\n' "$*" "$rc" "${out:0:2000}" "${err:0:2000}"
}

run_in_box() {
	local BOX_CODE=$1
	shift
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$@"
	run sbx run -b "$B" "$ID"
}

# Of the state, whose first members have no quotes in them: jq takes longer to start than a container.
status_of() {
	local text
	text=$(sbx state "$1") || return
	[[ $text =~ \"status\":\ ?\"([a-z]+)\" ]] && echo "${BASH_REMATCH[1]}"
}

pid_of() {
	local text
	text=$(sbx state "$1") || return
	[[ $text =~ \"pid\":\ ?([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

cgroup_dir() {
	echo "${CGROUP_MOUNTS[$1]:-${CGROUP_MOUNTS[unified]}}${SBX_CGROUP_BASE:-}/$P/${2:-$ID}"
}

cgroup_procs() {
	echo "$(cgroup_dir pids "$@")${SBX_CGROUP_BASE:+/container}/cgroup.procs"
}

# Not by `read`: bash seeks back to the end of each line, the kernel writes the file anew, and lines may have become shorter (SigQ counts
# the signals of every process of root's).
status_field() {
	local line lines=()
	mapfile -t lines <"/proc/$1/status"
	for line in "${lines[@]}"; do
		[[ $line != "$2:"* ]] || echo "${line#"$2:"$'\t'}"
	done
}

as_user() {
	local uid=$1
	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@"
}

# ---- for tests: saying what must be so ----

# Prints the line of the test file that is being run.
where_in_test() {
	local i
	for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
		if [ "${BASH_SOURCE[i]}" = "$0" ]; then
			echo "line ${BASH_LINENO[i - 1]}"
			return
		fi
	done
}

fail() {
	local why=$*
	printf '%s: %s' "$(where_in_test)" "${why//$'\n'/\\n}" >"$T.why"
	exit 1
}

missed() {
	(fail "$@") || cp "$T.why" "$T.late"
	exit 1
}

skip() {
	printf '%s' "$*" >"$T.skip"
	exit 77
}

needs() {
	local program
	for program; do
		type -P "$program" >/dev/null || skip "needs $program"
	done
}

is() {
	[ "$1" = "$2" ] || fail "got '${1:0:300}', want '${2:0:300}'${3:+ ($3)}"
}

isnt() {
	[ "$1" != "$2" ] || fail "got '${1:0:300}', which it must not be${3:+ ($3)}"
}

like() {
	[[ $1 =~ $2 ]] || fail "got '${1:0:300}', want a match of '$2'${3:+ ($3)}"
}

unlike() {
	[[ ! $1 =~ $2 ]] || fail "got '${1:0:300}', want no match of '$2'${3:+ ($3)}"
}

rc_is() {
	local say=fail
	[ "$rc" != "$1" ] || return 0
	# What timeout(1) says, or who was killed by it.
	[ "$rc" != 124 ] && [[ $rc != 137 || $RAN != *' timeout '* ]] || say=missed
	"$say" "status $rc, want $1; stdout '${out:0:200}' stderr '${err:0:300}'"
}

file_has() {
	grep -Eq -e "$2" "$1" || fail "$1 has no match of '$2'; it says '$(head -c 300 "$1")'"
}

# 10 ms without a process: a read that nobody answers.
exec {NAP_FD}<> <(:)
nap() {
	read -rt 0.01 -u "$NAP_FD" || :
}

wait_until() {
	# SECONDS say what a quiet machine needs. Nothing passes that wouldn't, it only takes longer to fail.
	local most=${WAIT_MOST:-$(($1 < 60 ? 60 : $1))} end
	shift
	# What is said to be waited for in vain (lib/attack.sh).
	[[ -z ${WAITS_IN_VAIN:-} || ! "still not true: $*" =~ $WAITS_IN_VAIN ]] || most=10
	end=$((${EPOCHREALTIME/./} + most * (${#ALONE} + 1) * 1000000))
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || missed "still not true: $*"
		nap
	done
}

# ---- the runner ----

# What a command that `set -e` stops on says. The last one counts: inner ones may have been in a context that forgives them.
note_failure() {
	local rc=$? cmd=$BASH_COMMAND
	cmd=${cmd:0:200}
	printf '%s: %s: gave status %s' "$(where_in_test)" "${cmd//$'\n'/\\n}" "$rc" >"$T.err"
}

body() {
	set +m
	set -euE -o pipefail
	shopt -s inherit_errexit
	shopt -u nullglob globstar
	trap - TERM INT HUP
	trap 'echo "$?" >&"$DONE_FD"' EXIT
	trap note_failure ERR
	N=0 ID='' B='' out='' err='' rc=0 RAN=''
	export SBXT_TEST=$P T P TMPDIR=$T/tmp VIEW
	[ -z "${SBX_UID:-}" ] || umask 0 # what a test makes as root is for the user
	cd "$T"
	! declare -F before_test >/dev/null || before_test "$1"
	[ -z "${TEST_VERBOSE:-}" ] || set -x
	"$1"
}

# Sets PIDS to the living processes of the test. With a mount left in our own table, everybody's table shows it.
find_processes() {
	local file pid state hits
	declare -gA PIDS=()
	set -- /proc/[0-9]*/{environ,cgroup}
	[ "${#MOUNTS[@]}" != 0 ] || set -- "$@" /proc/[0-9]*/mountinfo
	# By the thousand: a machine full of processes has more names than one command takes.
	mapfile -t hits < <(while [ $# -gt 5000 ]; do
		grep -lsaF -e "$P" "${@:1:5000}"
		shift 5000
	done; exec grep -lsaF -e "$P" "$@")
	for file in "${hits[@]}"; do
		pid=${file#/proc/}
		pid=${pid%%/*}
		{ read -r _ _ state _ <"/proc/$pid/stat"; } 2>/dev/null || continue
		[ "$pid" = $$ ] || [ "$state" = Z ] || PIDS[$pid]=1
	done
}

# Sets CGROUPS to the test's cgroups, children first. Not by **: another test may have thousands of directories in each other.
find_cgroups() {
	local dir
	CGROUPS=()
	for dir in /sys/fs/cgroup/{,*/,*/*/,*/*/*/,*/*/*/*/,*/*/*/*/*/,*/*/*/*/*/*/}*"$P"*/; do
		CGROUPS=("${dir%/}" "${CGROUPS[@]}")
	done
}

# Sets MOUNTS to the mounts below the test's directory, the last one first.
find_mounts() {
	local line lines dir
	MOUNTS=()
	mapfile -t lines </proc/self/mountinfo
	for line in "${lines[@]}"; do
		dir=${line#* * * * }
		dir=${dir%% *}
		[[ $dir/ != "$T"/* ]] || MOUNTS=("$dir" "${MOUNTS[@]}")
	done
}

delete_containers() {
	local root dir
	for root in "$T"/state*/; do
		for dir in "$root"*/; do
			dir=${dir%/}
			timeout -k 1 60 "$SBXRUN" --root "${root%/}" delete -f "${dir##*/}" || :
		done
	done
}

# Sets LEAKS to sentences about what `delete -f` has left.
find_leaks() {
	local dir pid end cmd kept
	LEAKS=()
	find_cgroups
	# A scope's own directory is systemd's to remove, once it has heard that it is empty.
	end=$((${EPOCHREALTIME/./} + 60000000))
	while [[ "${CGROUPS[*]}" == *.scope* ]] && [ "${EPOCHREALTIME/./}" -lt "$end" ]; do
		nap
		find_cgroups
	done
	for dir in "${CGROUPS[@]}"; do
		# The parent that `bundle` chose for the test's cgroups is nobody's to remove: the runtime may have found it there.
		if [ "${dir##*/}" != "$P" ] || ! rmdir "$dir" 2>/dev/null; then
			LEAKS+=("cgroup $dir")
		fi
	done
	find_mounts
	for dir in "${MOUNTS[@]}"; do
		LEAKS+=("mount $dir")
	done
	[ -z "${POLICY:-}" ] || cat "$T"/state*/explain:last >"$T.told" 2>/dev/null
	# What policies changed and refused, and boxes that have expired: kept on purpose.
	kept=("$T"/state*/explain:last "$T"/state*/boxes:expired)
	[ "${#kept[@]}" = 0 ] || rm -f "${kept[@]}"
	# Snapshots of boxes are kept, and none that is half made.
	for dir in "$T"/state*/boxes:snapshots; do
		rm -f "$dir"/[!:]*
		rmdir "$dir" 2>/dev/null
	done
	for dir in "$T"/state*/* "$T"/state*/.[!.]*; do
		# What is known of containers that are gone (runtime/life/tell.c).
		[[ $dir != */explain:last && $dir != */boxes:expired && $dir != */approvals:queue ]] || continue
		LEAKS+=("state $dir")
	done
	# The kernel takes a moment to bury what was killed, and on a busy machine a long one.
	end=$((${EPOCHREALTIME/./} + 60000000))
	find_processes
	while [ "${#PIDS[@]}" != 0 ] && [ "${EPOCHREALTIME/./}" -lt "$end" ]; do
		nap
		find_processes
	done
	for pid in "${!PIDS[@]}"; do
		cmd=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)
		LEAKS+=("process $pid ${cmd:0:100}")
	done
	# A family's own kind of things; it adds to LEAKS and removes what it found.
	! declare -F find_more_leaks >/dev/null || find_more_leaks
}

# Removes by force what find_leaks found; everything has $P in its name, so it is ours.
remove_leaks() {
	local dir pid tries
	for ((tries = 0; tries < 20; tries++)); do
		for dir in "${CGROUPS[@]}"; do
			echo THAWED >"$dir/freezer.state" || :
			echo 0 >"$dir/cgroup.freeze" || :
			while read -r pid; do
				[ "$pid" = 0 ] || kill -KILL "$pid" || :
			done <"$dir/cgroup.procs" || :
			rmdir "$dir" || :
		done
		for dir in "${MOUNTS[@]}"; do
			umount -l "$dir" || :
		done
		for pid in "${!PIDS[@]}"; do
			kill -KILL "$pid" || :
		done
		nap
		find_cgroups
		find_mounts
		find_processes
		[ "${#CGROUPS[@]}${#MOUNTS[@]}${#PIDS[@]}" != 000 ] || return 0
	done 2>/dev/null
}

# Prints the verdict; what a failed test has said follows it, in one write so that parallel files don't mix.
verdict() {
	if [ $# = 1 ]; then
		echo "$1"
		[ -z "${TEST_VERBOSE:-}" ] || sed 's/^/    /' "$T.log"
		return
	fi
	{
		echo "$1"
		[ "${#LEAKS[@]}" = 0 ] || printf '    leak: %s\n' "${LEAKS[@]}"
		tail -n 60 "$T.log" | sed 's/^/    /'
	} >"$T.verdict"
	cat "$T.verdict"
	FAILED=1
}

# Prints why the test ended with status $1, or in none: what an assertion said, else what `set -e` stopped on, else its last words.
reason_of_failure() {
	if [ "$1" = timeout ]; then
		echo "not done within $((TEST_LIMIT * (${#ALONE} + 1))) s"
	elif [ -s "$T.why" ]; then
		head -n 1 "$T.why"
	elif [ -s "$T.err" ]; then
		head -n 1 "$T.err"
	else
		echo "status $1: $(tail -n 1 "$T.log")"
	fi
}

clean_up() {
	kill -KILL -- "-$BODY_PID" 2>/dev/null || :
	wait "$BODY_PID" 2>/dev/null || :
	delete_containers >>"$T.log" 2>&1 </dev/null
	find_leaks
	[ "${#LEAKS[@]}" = 0 ] || remove_leaks
}

# Waits for the test's end, sets RC to its status or to "timeout". The test writes its status into a fifo, so that no
# watchdog process is needed; one that was killed before it could is noticed by its absence.
wait_for_body() {
	local part='' ended='' end=$((${EPOCHREALTIME/./} + TEST_LIMIT * (${#ALONE} + 1) * 1000000))
	RC=''
	# The time may be up between two digits: a read that fails has taken the first.
	until read -rt 0.2 part <&"$DONE_FD"; do
		RC+=$part part=''
		kill -0 "$BODY_PID" 2>/dev/null || { ended=1 && break; }
		if [ "${EPOCHREALTIME/./}" -gt "$end" ]; then
			RC=timeout
			return
		fi
	done
	RC+=$part
	# It may have written its status, or the rest of it, between the last look and its end.
	if [ -n "$ended" ]; then
		read -rt 0.2 part <&"$DONE_FD" || :
		RC+=$part
	fi
	# One that was late to write must not speak for the next test.
	while read -rt 0 <&"$DONE_FD"; do
		read -r _ <&"$DONE_FD"
	done
	[ -n "$RC" ] || { RC=0; wait "$BODY_PID" 2>/dev/null || RC=$?; }
}

# Whether the test did nothing worse than to miss a deadline, for the first time.
is_late() {
	[ -z "$ALONE${TEST_ONCE:-}" ] && [ "$RC" != 0 ] && [ "$RC" != 77 ] || return 1
	# What stops half-way leaves the mounts that it made itself.
	[[ ! " ${LEAKS[*]}" =~ ' '(cgroup|state|process)' ' ]] || return 1
	# It may have been forgiven a deadline, and have failed for another reason.
	[ "$RC" = timeout ] || cmp -s "$T.why" "$T.late"
}

# Has test $1 run once more, and says what it said.
put_off() {
	{
		echo "# late $TEST_ID $1: $(reason_of_failure "$RC")"
		tail -n 60 "$T.log" | sed 's/^/    /'
	} >"$T.verdict"
	cat "$T.verdict"
	if [ -n "$LATE_FILE" ]; then
		echo "$1 $(realpath "$0")" >>"$LATE_FILE"
	else
		LATE+=("$1")
	fi
}

run_one() {
	local name=$1 label="$TEST_ID $1" began=${EPOCHREALTIME/./} took
	set -m
	body "$name" </dev/null >"$T.log" 2>&1 &
	BODY_PID=$!
	set +m
	trap 'trap "" TERM INT HUP; clean_up; rm -rf --one-file-system "${SBXT_WORK:?}/$P"*; exit 130' TERM INT HUP
	wait_for_body
	clean_up
	trap - TERM INT HUP
	# A family's own judgement.
	if declare -F other_verdict >/dev/null && other_verdict "$name"; then
		return
	fi
	if is_late; then
		put_off "$name"
	elif [ "$RC" = timeout ]; then
		verdict "not ok $label: $(reason_of_failure "$RC")" +
	elif [ "$RC" != 0 ] && [ "$RC" != 77 ]; then
		verdict "not ok $label: $(reason_of_failure "$RC")" +
	elif [ "${#LEAKS[@]}" != 0 ]; then
		verdict "not ok $label: left behind: ${LEAKS[0]}" +
	elif [ "$RC" = 77 ]; then
		verdict "skip $label: $(cat "$T.skip" 2>/dev/null || echo 'no reason given')"
	else
		verdict "ok $label${ALONE:+ # slow, and passed alone}"
	fi
	# For the list of the slowest, which tests/run makes.
	took=$(((${EPOCHREALTIME/./} - began) / 1000))
	[ "$took" -lt 1000 ] || echo "# took $took ms: $label"
}

# Prints the names of the tests in the order in which they stand in the file.
test_names() {
	local name line file
	shopt -s extdebug
	# shellcheck disable=SC2046
	declare -F $(compgen -A function) | while read -r name line file; do
		[ "$file" != "$0" ] || [[ $name == _* ]] || echo "$line $name"
	done | sort -sn | while read -r line name; do
		echo "$name"
	done
}

# Whether lib/rootless-tests leaves a test out of this view.
is_for_root_only() {
	local view id name
	[ -n "${SBX_VIEW:-}" ] || return 1
	while read -r view id name _; do
		# shellcheck disable=SC2053
		[[ $view == '#'* || $SBX_VIEW != $view || $TEST_ID != $id || $1 != $name ]] || return 0
	done <"$TESTS_DIR/lib/rootless-tests"
	return 1
}

# In another layout than the machine's own: sets VIEW_TESTS to the tests that it has to run (lib/tests-of-view).
limit_to_view() {
	VIEW_TESTS=''
	[ -n "${TEST_OTHER_VIEW:-}" ] && [ -z "${TEST_WHOLE:-}" ] || return 0
	VIEW_TESTS=" $("$TESTS_DIR/lib/tests-of-view" "$TEST_OTHER_VIEW" "$0" | tr '\n' ' ')"
}

selected() {
	local arg
	[ -z "$VIEW_TESTS" ] || [[ $VIEW_TESTS == *" $1 "* ]] || return 1
	! is_for_root_only "$1" || return 1
	# shellcheck disable=SC2053
	[[ $1 == ${TEST_ONLY:-*} ]] || return 1
	[ "${#TEST_ARGS[@]}" != 0 ] || return 0
	for arg in "${TEST_ARGS[@]}"; do
		[ "$arg" != "$1" ] || return 0
	done
	return 1
}

# Runs the tests NAME…, whose prefixes begin with $1, the first with number $2.
run_names() {
	local prefix=$1 first=$2 names=("${@:3}") i dirs=()
	for i in "${!names[@]}"; do
		printf -v P '%s-%03d' "$prefix" $((first + i))
		dirs+=("$SBXT_WORK/$P"/{state,tmp})
	done
	mkdir -p "${dirs[@]}"
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID:$SBX_UID" "${dirs[@]}" "${dirs[@]%/*}"
	for i in "${!names[@]}"; do
		printf -v P '%s-%03d' "$prefix" $((first + i))
		T=$SBXT_WORK/$P
		run_one "${names[i]}"
	done
}

run_tests() {
	local name names=() prefix
	FAILED=0 LATE=()
	if [ ! -x "$SBXRUN" ]; then
		echo "not ok $TEST_ID ${TEST_FILE%.sh}: there is no runtime at $SBXRUN"
		exit 1
	fi
	if ! { make_template && base_spec; }; then
		echo "not ok $TEST_ID ${TEST_FILE%.sh}: could not make the template and the base config"
		exit 1
	fi
	limit_to_view
	for name in $(test_names); do
		! selected "$name" || names+=("$name")
	done
	[ "${#names[@]}" != 0 ] || exit 0
	printf -v prefix 'sbxt-%04x%04x' $((RANDOM * 2 + RANDOM % 2)) $((RANDOM * 2 + RANDOM % 2))
	mkfifo "$SBXT_WORK/$prefix-done"
	exec {DONE_FD}<>"$SBXT_WORK/$prefix-done"
	run_names "$prefix" 0 "${names[@]}"
	ALONE=${LATE:+1}
	[ -z "$ALONE" ] || run_names "$prefix" "${#names[@]}" "${LATE[@]}"
	rm -rf --one-file-system "${SBXT_WORK:?}/$prefix"*
	exit "$FAILED"
}
