#!/bin/bash
# do.sh: `sbxrun do` beside the plain program, bubblewrap, crun, runc, runsc and `docker run`, as `make bench` shows it.
#
#	do.sh [--quick] [--n RUNS] [--peers none] [--out DIR]
#
# An empty shell command, `python3 -c pass` and `node -e 0` of the host's own /usr, interleaved in random order; the time until the first byte of
# output; boxes in a row; boxes at once, with the memory of each beside its program's. It asserts nothing: the table has the goals, and only ratios of
# one run compare. DIR (default: build/bench) gets do.tsv and do.md. SBXRUN names the program (default: build/sbxrun). About 5 minutes, --quick 1; the peers'
# packages are those of bench.sh. Where cgroup v1 has a unified tree beside it, all of it runs without that, since crun wants it so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"

runtime=$(realpath "${SBXRUN:-$here/../../build/sbxrun}")
out=$here/../../build/bench peers=all
options=(--n 60 --row 1000 --at-once 200)
while [ $# != 0 ]; do
	case $1 in
	--quick) options=(--n 8 --row 60 --at-once 40) && shift ;;
	--n) options=(--n "$2" --row "$2" --at-once "$2") && shift 2 ;;
	--peers) peers=$2 && shift 2 ;;
	--out) out=$2 && shift 2 ;;
	*) sed -n '2,11s/^# \?//p' "$0" >&2 && exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || {
	echo "bench: needs root" >&2
	exit 2
}
bench_begin
# Where runtimes keep their records, /run, is a tmpfs on any machine with a systemd, and a part of the disk on others: the same for all here.
bench_state=$(mktemp -d /dev/shm/sbxrun-bench-XXXXXX)
trap 'docker_end; bench_end; rm -rf "$bench_state"' EXIT
mkdir -p "$out"
tree=$bench_cache/bench-bookworm

# A daemon of its own, which lives as long as we do; its containers are in cgroups of ours.
docker_life="$bench_dockerd
echo >/bench/docker-up
/bench/busybox sleep 7200" # not exec: a shell as the first process waits for what ends

docker_pid=
# unshare hears no other signal; the daemon goes with it, and all that is the daemon's.
docker_end() {
	[ -z "$docker_pid" ] || { kill -KILL "$docker_pid" && wait "$docker_pid"; } 2>/dev/null || :
	docker_pid=
}

docker_start() {
	BENCH_WORK=$bench_work unshare -mnuip --fork --kill-child --propagation private \
		bash -c "$bench_enter" enter "$tree" OPTIONS="--cgroup-parent /$bench_id" /bench/busybox sh -c "$docker_life" &
	docker_pid=$!
	for _ in $(seq 600); do
		[ ! -e "$bench_work/docker-up" ] || break
		kill -0 "$docker_pid" 2>/dev/null || break
		sleep 0.1
	done
	[ -e "$bench_work/docker-up" ] || {
		echo "no docker: the daemon did not come up"
		return 0
	}
	options+=(--docker "$(pgrep -P "$docker_pid" | head -n 1)")
}

if [ "$peers" != none ]; then
	bench_need
	if bench_tree bookworm docker.io,containerd,runc,crun,bubblewrap,runsc; then
		options+=(--tree "$tree")
		docker_start
	else
		echo "no packages: peers are those of this machine's path"
	fi
fi
view=()
! grep -q ' - cgroup ' /proc/self/mountinfo || view=("$here/../lib/v1-view")
# Ranges of ids are on record there; on a disk, letting go of one takes half a millisecond.
[ "$(stat -f -c %T /run)" = tmpfs ] || view=(unshare -m sh -c 'mount -t tmpfs -o mode=755 tmpfs /run && exec "$@"' sh "${view[@]}")
echo "measuring; figures go to $out"
"${view[@]}" python3 "$here/do.py" "${options[@]}" --peers "$peers" --work "$bench_work" --state "$bench_state" --id "$bench_id" "$runtime" "$out/do.tsv" "$out/do.md" &
bench_runner=$!
rc=0
wait "$bench_runner" || rc=$?
bench_runner=
[ ! -e "$out/do.md" ] || cat "$out/do.md"
exit "$rc"
