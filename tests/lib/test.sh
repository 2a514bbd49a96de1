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
# is caught by the mount check, and the machine's own mount table is never touched.
#
# What a test can use:
#	bundle [FILTER…]		make the bundle $B (own rootfs of busybox) for the new id $ID; FILTERs are jq, see PRELUDE
#	sbx ARG…			the runtime with the test's own --root
#	run CMD…			run CMD and keep $out, $err, $rc; never fails
#	run_in_box CODE [FILTER…]	bundle + foreground `run` of sh -c CODE, kept like `run`; the shell inside is busybox
#	is GOT WANT, isnt GOT UNWANTED, like GOT REGEX, unlike GOT REGEX, rc_is N, file_has FILE REGEX
#	wait_until SECONDS CMD…		poll every 10 ms until CMD succeeds
#	fail WHY, skip REASON, needs PROGRAM…
#	status_of ID, pid_of ID		from `state`
#	cgroup_dir CONTROLLER [ID]	the directory of a container made by `bundle`; CONTROLLER counts on v1 only
#	as_user UID CMD…		CMD as an ordinary user without groups
#	$VIEW				hybrid, v1 or v2: what the cgroup tree looks like
# The environment may set SBXRUN (the runtime), TEST_LIMIT (seconds a test), TEST_ONLY (a glob of function names), TEST_VERBOSE.
# Names of tests may also be given as arguments of the test file.

TESTS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SBXRUN=${SBXRUN:-${TESTS_DIR%/*}/build/sbxrun}
[[ $SBXRUN == */* ]] || SBXRUN=$(type -P "$SBXRUN")
TEST_FILE=${0##*/}
TEST_ID=${TEST_FILE%%-*}
TEST_LIMIT=${TEST_LIMIT:-60}
TEST_ARGS=("$@")

if [ "$EUID" != 0 ]; then
	echo "skip $TEST_ID ${TEST_FILE%.sh}: needs root"
	exit 0
fi
# unshare execs in place, so the pid is a marker that children don't inherit by accident.
if [ "${SBXT_NS:-}" != $$ ]; then
	# shellcheck disable=SC2016
	SBXT_NS=$$ exec unshare -m --propagation private -- \
		sh -c 'mount --make-rshared / && exec bash "$0" "$@"' "$0" "$@"
fi
unset SBXT_NS
umask 022

# ---- where things are ----

# Prints the mount point of the v1 hierarchy that has controller $1, else that of the unified tree.
cgroup_mount() {
	awk -v want="$1" '
		{ for (i = 7; $i != "-"; i++); type = $(i + 1); n = split($(i + 3), opt, ",") }
		type == "cgroup2" { unified = $5 }
		type == "cgroup" { for (j = 1; j <= n; j++) if (opt[j] == want) found = $5 }
		END { print found ? found : unified }' /proc/self/mountinfo
}

# Prints which of the three layouts this namespace shows.
cgroup_view() {
	awk '
		{ for (i = 7; $i != "-"; i++); seen[$(i + 1)] = 1 }
		END { print seen["cgroup"] ? (seen["cgroup2"] ? "hybrid" : "v1") : "v2" }' /proc/self/mountinfo
}

VIEW=$(cgroup_view)
export VIEW

# $SBXT_WORK is shared by the files of one tests/run; a file that is run by hand makes and removes its own.
if [ -z "${SBXT_WORK:-}" ]; then
	SBXT_WORK=$(mktemp -d "${TMPDIR:-/tmp}/sbxt.XXXXXX")
	trap 'rm -rf --one-file-system "$SBXT_WORK"' EXIT
fi
chmod 755 "$SBXT_WORK"

# The rootfs that bundles are linked from. Made aside and renamed, since two files may start at once.
make_template() {
	local made=$SBXT_WORK/template.$$
	[ ! -d "$SBXT_WORK/template" ] || return 0
	mkdir -p "$made"/{bin,dev,etc,proc,root,run,sys,tmp,usr,var/tmp}
	chmod 1777 "$made/tmp" "$made/var/tmp"
	cp "$(type -P busybox)" "$made/bin/busybox"
	chroot "$made" /bin/busybox --install -s /bin
	printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'user:x:1000:1000:user:/home/user:/bin/sh' >"$made/etc/passwd"
	printf '%s\n' 'root:x:0:' 'user:x:1000:' 'extra:x:2000:user' >"$made/etc/group"
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
	(cd "$dir" && "$SBXRUN" spec)
}

bundle() {
	local filter all=$PRELUDE
	N=$((N + 1))
	ID=$P-$N
	B=$T/b$N
	for filter; do
		all+=" | $filter"
	done
	# Programs are hard links, what a test may want to change is a copy.
	mkdir -p "$B/rootfs"
	cp -al "$SBXT_WORK/template/bin" "$B/rootfs/bin"
	cp -a "$SBXT_WORK/template/etc" "$B/rootfs/etc"
	(cd "$B/rootfs" && mkdir -p dev proc root run sys tmp usr var/tmp && chmod 1777 tmp var/tmp)
	jq --arg T "$T" --arg B "$B" --arg ID "$ID" --arg P "$P" --arg code "${BOX_CODE:-}" "$all" \
		"$SBXT_WORK/spec.$$/config.json" >"$B/config.json"
}

sbx() {
	"$SBXRUN" --root "$T/state" "$@"
}

run() {
	rc=0
	"$@" >"$T/out" 2>"$T/err" || rc=$?
	out=$(<"$T/out")
	err=$(<"$T/err")
	printf '+ %s\nrc=%s\nout=%s\nerr=%s\n' "$*" "$rc" "${out:0:2000}" "${err:0:2000}"
}

run_in_box() {
	local BOX_CODE=$1
	shift
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$@"
	run sbx run -b "$B" "$ID"
}

status_of() {
	sbx state "$1" | jq -r .status
}

pid_of() {
	sbx state "$1" | jq -r .pid
}

cgroup_dir() {
	echo "$(cgroup_mount "$1")/$P/${2:-$ID}"
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
	printf '%s: %s' "$(where_in_test)" "$*" >"$T.why"
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
	[ "$rc" = "$1" ] || fail "status $rc, want $1; stdout '${out:0:200}' stderr '${err:0:300}'"
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
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || fail "still not true: $*"
		nap
	done
}

# ---- the runner ----

# What a command that `set -e` stops on says. The last one counts: inner ones may have been in a context that forgives them.
note_failure() {
	local rc=$? cmd=$BASH_COMMAND
	printf '%s: %s: gave status %s' "$(where_in_test)" "${cmd:0:200}" "$rc" >"$T.err"
}

body() {
	set +m
	set -euE -o pipefail
	shopt -s inherit_errexit
	trap - TERM INT HUP EXIT
	trap note_failure ERR
	N=0 ID='' B='' out='' err='' rc=0
	export SBXT_TEST=$P T P TMPDIR=$T/tmp
	cd "$T"
	[ -z "${TEST_VERBOSE:-}" ] || set -x
	"$1"
}

# Prints the processes of the test that live. $1: the files of /proc/PID that tell.
processes() {
	local file pid state
	for file in $(eval "grep -lsaF -e '$P' /proc/[0-9]*/$1"); do
		pid=${file#/proc/}
		pid=${pid%%/*}
		[ "$pid" != $$ ] || continue
		read -r _ _ state _ <"/proc/$pid/stat" || continue
		[ "$state" = Z ] || echo "$pid"
	done 2>/dev/null | sort -un
}

cgroups() {
	find /sys/fs/cgroup -depth -type d -path "*$P*" 2>/dev/null
}

mounts() {
	awk -v dir="$T/" 'index($5 "/", dir) == 1 { print $5 }' /proc/self/mountinfo
}

delete_containers() {
	local root dir
	for root in "$T"/state*/; do
		for dir in "$root"*/; do
			[ ! -d "$dir" ] || timeout -k 1 20 "$SBXRUN" --root "${root%/}" delete -f "$(basename "$dir")" || :
		done
	done
}

# Sets LEAKS to sentences about what `delete -f` has left.
find_leaks() {
	local dir pid end
	LEAKS=()
	while read -r dir; do
		# The parent that `bundle` chose for the test's cgroups is nobody's to remove: the runtime may have found it there.
		if [ "${dir##*/}" != "$P" ] || ! rmdir "$dir" 2>/dev/null; then
			LEAKS+=("cgroup $dir")
		fi
	done < <(cgroups)
	while read -r dir; do
		LEAKS+=("mount $dir")
	done < <(mounts)
	for dir in "$T"/state*/* "$T"/state*/.[!.]*; do
		[ ! -e "$dir" ] || LEAKS+=("state $dir")
	done
	# The kernel takes a moment to bury what was killed.
	end=$((${EPOCHREALTIME/./} + 1000000))
	[ -z "$(mounts)" ] && PROC_FILES='{environ,cgroup,mountinfo}' || PROC_FILES='{environ,cgroup}'
	while pid=$(processes "$PROC_FILES") && [ -n "$pid" ] && [ "${EPOCHREALTIME/./}" -lt "$end" ]; do
		nap
	done
	for pid in $pid; do
		LEAKS+=("process $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | head -c 100)")
	done
}

# Removes by force what find_leaks found; everything has $P in its name, so it is ours.
remove_leaks() {
	local dir pid try
	for try in 1 2 3 4 5 6 7 8 9 10; do
		for dir in $(cgroups); do
			echo THAWED >"$dir/freezer.state" || :
			echo 0 >"$dir/cgroup.freeze" || :
			while read -r pid; do
				[ "$pid" = 0 ] || kill -KILL "$pid" || :
			done <"$dir/cgroup.procs" || :
			rmdir "$dir" || :
		done
		for dir in $(mounts); do
			umount -l "$dir" || :
		done
		for pid in $(processes "$PROC_FILES"); do
			kill -KILL "$pid" || :
		done
		[ -n "$(cgroups)$(mounts)" ] || return 0
		nap
	done 2>/dev/null
	: "$try"
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

# Prints why the test ended with status $1: what an assertion said, else what `set -e` stopped on, else its last words.
reason_of_failure() {
	if [ -s "$T.why" ]; then
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

run_one() {
	local name=$1 watch ended rc=0 label
	printf -v P 'sbxt-%04x%04x' $RANDOM $RANDOM
	T=$SBXT_WORK/$P
	label="$TEST_ID $name"
	mkdir -p "$T/state" "$T/tmp"
	set -m
	body "$name" </dev/null >"$T.log" 2>&1 &
	BODY_PID=$!
	set +m
	trap 'clean_up; exit 130' TERM INT HUP
	sleep "$TEST_LIMIT" >/dev/null 2>&1 &
	watch=$!
	wait -n -p ended "$BODY_PID" "$watch" 2>/dev/null || rc=$?
	[ "$ended" = "$watch" ] && rc=timeout
	{ kill "$watch"; wait "$watch"; } 2>/dev/null
	clean_up
	trap - TERM INT HUP
	if [ "$rc" = timeout ]; then
		verdict "not ok $label: not done within $TEST_LIMIT s" +
	elif [ "$rc" != 0 ] && [ "$rc" != 77 ]; then
		verdict "not ok $label: $(reason_of_failure "$rc")" +
	elif [ "${#LEAKS[@]}" != 0 ]; then
		verdict "not ok $label: left behind: ${LEAKS[0]}" +
	elif [ "$rc" = 77 ]; then
		verdict "skip $label: $(cat "$T.skip" 2>/dev/null || echo 'no reason given')"
	else
		verdict "ok $label"
	fi
	rm -rf --one-file-system "$T" "$T".*
}

# Prints the names of the tests in the order in which they stand in the file.
test_names() {
	local name line file
	shopt -s extdebug
	for name in $(compgen -A function); do
		read -r name line file <<<"$(declare -F "$name")"
		[ "$file" != "$0" ] || [[ $name == _* ]] || echo "$line $name"
	done | sort -n | cut -d ' ' -f 2
}

selected() {
	local arg
	# shellcheck disable=SC2053
	[[ $1 == ${TEST_ONLY:-*} ]] || return 1
	[ "${#TEST_ARGS[@]}" != 0 ] || return 0
	for arg in "${TEST_ARGS[@]}"; do
		[ "$arg" != "$1" ] || return 0
	done
	return 1
}

run_tests() {
	local name
	FAILED=0
	if [ ! -x "$SBXRUN" ]; then
		echo "not ok $TEST_ID ${TEST_FILE%.sh}: there is no runtime at $SBXRUN"
		exit 1
	fi
	if ! { make_template && base_spec; }; then
		echo "not ok $TEST_ID ${TEST_FILE%.sh}: could not make the template and the base config"
		exit 1
	fi
	for name in $(test_names); do
		! selected "$name" || run_one "$name"
	done
	exit "$FAILED"
}
