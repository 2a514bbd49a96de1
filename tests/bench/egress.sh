#!/bin/bash
# egress.sh: what a box reaches by sbxrun-net, beside the same without it, as `make bench` shows it.
#
#	egress.sh [--quick] [--n RUNS] [--megabytes SIZE] [--out DIR]
#
# Downloads and uploads between two network namespaces of its own: direct, by the transparent way and by CONNECT, without delay and with 50 ms of round
# trip (netem, or lib/delay.c where the kernel has none); new connections a second; a round trip; a tool call of `sbxrun mcp` beside `do`; the memory
# of sbxrun-net and of `sbxrun mcp`. Nothing leaves these namespaces. It asserts nothing: the table has the goals, and only ratios of one run compare. DIR (default:
# build/bench) gets egress.tsv and egress.md. SBXRUN names the program (default: build/sbxrun). About 3 minutes, --quick half of one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"
runtime=$(realpath "${SBXRUN:-$here/../../build/sbxrun}")
out=$here/../../build/bench
options=(--n 5 --megabytes 1024)
while [ $# != 0 ]; do
	case $1 in
	--quick) options=(--n 2 --megabytes 256 --turns 400) && shift ;;
	--n) options+=(--n "$2") && shift 2 ;;
	--megabytes) options+=(--megabytes "$2" --turns "$2") && shift 2 ;;
	--out) out=$2 && shift 2 ;;
	*) sed -n '2,9s/^# \?//p' "$0" >&2 && exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || {
	echo "bench: needs root" >&2
	exit 2
}
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-XXXXXX")
runner=
trap 'bench_forget "$runner" "$work/state"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
mkdir -p "$out"
cc -std=gnu17 -O2 -o "$work/delay" "$here/../lib/delay.c"
view=()
! grep -q ' - cgroup ' /proc/self/mountinfo || view=("$here/../lib/v1-view")
echo "measuring; figures go to $out"
# All processes there are the runner's, and end with it.
unshare -mnp --fork --kill-child --mount-proc --propagation private "${view[@]}" \
	python3 "$here/egress.py" "${options[@]}" --work "$work" "$runtime" "$out/egress.tsv" "$out/egress.md" &
runner=$!
wait "$runner"
runner=
cat "$out/egress.md"
