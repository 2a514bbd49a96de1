#!/bin/bash
# bench.sh: sbxrun beside crun and runc, as `make bench` shows it.
#
#	bench.sh [--n RUNS] [--seed S]
#
# `run` of /bin/true with the config of `runc spec` and with one that a docker daemon wrote a moment
# ago, then the verbs one by one, then many runs at once. A table for people: it asserts nothing,
# since wall clocks differ; only ratios of one run compare. SBXRUN names the program (default:
# build/sbxrun). Nothing stays but the peers' packages in SBXRUN_TEST_CACHE (default:
# /var/cache/sbxrun-tests).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"

runtime=${SBXRUN:-$here/../../build/sbxrun}
[ "$(id -u)" = 0 ] || {
	echo "bench: needs root" >&2
	exit 2
}
bench_need
bench_work=$(mktemp -d "${TMPDIR:-/tmp}/bench-XXXXXX")
trap bench_end EXIT
trap 'exit 1' INT TERM
bench_rootfs
cc -std=gnu17 -O2 -static -o "$bench_work/bench" "$here"/*.c
jobs=$bench_work/jobs

# contestant NAME PATH HOLDER: its jobs; PATH is inside the holder's namespace.
contestant() {
	local name=$1 root="--root /run/bench-$1" path=$2 holder=$3 config
	for config in $configs; do
		echo "job $name $holder"
		echo "step run/$config $path $root run --bundle /bench/$config @ID@"
		echo "undo $path $root delete --force @ID@"
		[ "$config" != spec ] || echo "many 120 8 $path $root run --bundle /bench/many @ID@"
	done
	echo "job $name $holder"
	echo "step create $path $root create --bundle /bench/${configs##* }-sleep @ID@"
	echo "step start $path $root start @ID@"
	echo "step exec $path $root exec @ID@ /bin/true"
	echo "step state $path $root state @ID@"
	echo "step kill $path $root kill @ID@ KILL"
	echo "step delete $path $root delete @ID@"
	echo "undo $path $root delete --force @ID@"
} >>"$jobs"

# peers SUITE HOLDER: the runc and crun of a release, named by their versions.
peers() {
	local tree=$bench_cache/bench-$1 word path version
	for word in crun:/usr/bin/crun runc:/usr/sbin/runc; do
		path=${word#*:}
		[ -e "$tree$path" ] || path=/usr/bin/runc
		version=$(bench_in "$tree" "$path" --version | sed -n '1s/.* version \([0-9.]*[0-9]\).*/\1/p')
		contestant "${word%%:*}-$version" "$path" "$2"
		against+=("${word%%:*}-$version")
	done
}

bench_tree bookworm docker.io,containerd,runc,crun
bench_spec
configs=spec
if bench_docker; then
	configs="spec docker"
else
	echo "no docker config: the daemon did not come up"
fi
against=()
bench_hold "$bench_cache/bench-bookworm"
stable=$bench_holder
newest=$stable
if bench_tree sid runc,crun; then
	bench_hold "$bench_cache/bench-sid"
	newest=$bench_holder
else
	echo "no packages of sid: the newest peers are left out"
fi
if [ -x "$runtime" ]; then
	cp "$runtime" "$bench_work/sbxrun"
	contestant sbxrun /bench/sbxrun "$newest"
else
	echo "no $runtime: the peers alone"
fi
[ "$newest" = "$stable" ] || peers sid "$newest"
peers bookworm "$stable"

# the newest crun and Debian stable's runc are what the goals are set against
first=${against[0]}
last=${against[${#against[@]} - 1]}
echo "kernel $(uname -r), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg), cgroup v1 view"
"$bench_work/bench" --log "$bench_work/log" --against "$first,$last" "$@" "$jobs" |
	tee "$bench_work/table"
if grep -q 'is left out$' "$bench_work/table"; then
	grep -i -m 5 'err\|fail\|:' "$bench_work/log" | cut -c1-300 >&2
fi
