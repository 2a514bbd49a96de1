#!/bin/bash
# box.sh: boxes that stay, as `make bench` shows them.
#
#	box.sh [--quick] [--n CALLS] [--out DIR]
#
# create, exec beside the runtime's own, cells of sessions, files, and, where there is such a thing, `do` from a warm pool beside bare python, interleaved in
# random order; and the memory of 100 idle boxes. It asserts nothing: the table has the goals, and only ratios of one run compare. DIR (default:
# build/bench) gets box.tsv and box.md. SBXRUN names the program (default: build/sbxrun). About 2 minutes, --quick half of one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"
runtime=$(realpath "${SBXRUN:-$here/../../build/sbxrun}")
out=$here/../../build/bench
options=(--n 60 --idle 100)
while [ $# != 0 ]; do
	case $1 in
	--quick) options=(--n 8 --idle 40) && shift ;;
	--n) options=(--n "$2" --idle "$2") && shift 2 ;;
	--out) out=$2 && shift 2 ;;
	*) sed -n '2,8s/^# \?//p' "$0" >&2 && exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || {
	echo "bench: needs root" >&2
	exit 2
}
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-XXXXXX")
# Where runtimes keep their records, /run, is a tmpfs on any machine with a systemd, and a part of the disk on others.
state=$(mktemp -d /dev/shm/sbxrun-bench-XXXXXX)
runner=
trap 'bench_forget "$runner" "$state/sbxrun"; rm -rf "$work" "$state"' EXIT
trap 'exit 1' INT TERM HUP
mkdir -p "$out"
view=()
! grep -q ' - cgroup ' /proc/self/mountinfo || view=("$here/../lib/v1-view")
# Ranges of ids are on record there; on a disk, letting go of one takes half a millisecond.
[ "$(stat -f -c %T /run)" = tmpfs ] || view=(unshare -m sh -c 'mount -t tmpfs -o mode=755 tmpfs /run && exec "$@"' sh "${view[@]}")
echo "measuring; figures go to $out"
# All processes there are the runner's, and end with it.
unshare -mp --fork --kill-child --mount-proc --propagation private "${view[@]}" \
	python3 "$here/box.py" "${options[@]}" --work "$work" --state "$state" "$runtime" "$out/box.tsv" "$out/box.md" &
runner=$!
wait "$runner"
runner=
cat "$out/box.md"
