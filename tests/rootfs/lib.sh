# shellcheck shell=bash
# shellcheck disable=SC2034
# For the lists of this directory: where things are, and verdicts as tests/run counts them.
#
#	TOOLS		the directory of sbxrun-rootfs; mutants name a copy
#	WORK		a directory for all lists of one run, given by `run`; a list that is called by hand makes and removes its own
#	$STORE		where the first list has put the rootfs bash, in all formats
#	$T		the directory of a test
#	tool ARG…	sbxrun-rootfs
#	run CMD…	runs CMD and keeps $out, $err, $rc
#	try NAME	runs the function NAME and prints its verdict. LIST and TEST_ONLY as in lib/test.sh
set -u
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
top=${tests%/*}
TOOLS=${TOOLS:-$top/rootfs-tools}
SBXRUN=${SBXRUN:-$top/build/sbxrun}
# Here a box has the policy that the tool chooses.
SBXRUN=${SBXRUN%-oci}
export SBXRUN TOOLS
# Packages that were fetched are kept, as the trees of other tests are.
export SBXRUN_CACHE_DIR=${ROOTFS_CACHE:-${SBXRUN_TEST_CACHE:-/var/cache/sbxrun-tests}/rootfs}
unset SBXRUN_ROOTFS_DIR XDG_DATA_HOME XDG_CACHE_HOME
LIST=${0##*/}
failed=

if [ "$EUID" != 0 ]; then
	echo "skip rootfs $LIST: needs root"
	exit 0
fi

if [ -z "${WORK:-}" ]; then
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/sbxt-rootfs.XXXXXX")
	chmod 755 "$WORK"
	trap 'rm -rf --one-file-system "$WORK"' EXIT
	trap 'exit 130' INT TERM HUP
fi
export WORK
STORE=$WORK/store

tool() { timeout -k 30 900 "$TOOLS/sbxrun-rootfs" "$@"; }

run() {
	rc=0
	"$@" >"$T/.out" 2>"$T/.err" || rc=$?
	out=$(cat "$T/.out") err=$(cat "$T/.err")
	echo "+ $* → $rc"
	cat "$T/.out" "$T/.err"
}

fail() { echo "error: $*" && exit 1; }
is() { [ "$1" = "$2" ] || fail "got '$1', want '$2'"; }
like() { [[ $1 =~ $2 ]] || fail "'$1' is not like '$2'"; }
unlike() { [[ ! $1 =~ $2 ]] || fail "'$1' is like '$2'"; }
rc_is() { [ "$rc" = "$1" ] || fail "status $rc, want $1: $err"; }
digest_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["digest"])' "$1/manifest.json"; }

# wait_until SECONDS CMD…; on a busy machine for 60 s at least
wait_until() {
	local end=$((SECONDS + ($1 < 60 ? 60 : $1)))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "waited in vain for: $*"
		sleep 0.05
	done
}

# leaves_nothing DIR: no work in progress is left there, and no box.
leaves_nothing() {
	local left
	left=$(find "$1" -maxdepth 1 -name '.*.new.*' -o -maxdepth 1 -name '.*.old.*')
	is "$left" ''
}

try() {
	local name=$1 status=0
	# shellcheck disable=SC2053
	[[ $name == ${TEST_ONLY:-*} ]] || return 0
	T=$WORK/$LIST.$name
	mkdir -p "$T"
	(set -eE -o pipefail && cd "$T" && "$name") >"$WORK/$LIST.log" 2>&1 </dev/null || status=$?
	if [ "$status" = 0 ]; then
		echo "ok rootfs $LIST-$name"
	else
		echo "not ok rootfs $LIST-$name: $(grep -a '^error: ' "$WORK/$LIST.log" | tail -n 1 | cut -c 8-300)"
		tail -n 40 "$WORK/$LIST.log" | sed 's/^/    /'
		failed=1
	fi
	rm -rf --one-file-system "$T"
}
