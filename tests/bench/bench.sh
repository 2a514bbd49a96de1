#!/bin/bash
# bench.sh: sbxrun beside crun, runc, bubblewrap and runsc, as `make bench` shows it.
#
#	bench.sh [--quick] [--n RUNS] [--seed S] [--out DIR]
#
# `run` of /bin/true with the config of `runc spec` and with one that a docker daemon wrote a moment ago, also on hosts with 200 and
# 1000 mounts; the verbs one by one; `state` and `list` among 1000 containers; runs a second with 2 and 8 at once. It asserts
# nothing, since wall clocks differ; only ratios of one run compare. DIR (default: build/bench) gets raw.tsv, table.md and bench.svg.
# SBXRUN names the program (default: build/sbxrun). About 9 minutes on a quiet machine with two processors, --quick 2; the first time
# a few minutes more for the peers' packages, which stay in SBXRUN_TEST_CACHE (default: /var/cache/sbxrun-tests). Nothing else
# stays, also when it is interrupted.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"

runtime=${SBXRUN:-$here/../../build/sbxrun}
out=$here/../../build/bench
rounds=3 count=150 options=()
while [ $# != 0 ]; do
	case $1 in
	--quick) options+=(--n 8) rounds=1 count=60 && shift ;;
	--out) out=$2 && shift 2 ;;
	--n | --seed) options+=("$1" "$2") && shift 2 ;;
	*) sed -n '2,12s/^# \?//p' "$0" >&2 && exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || {
	echo "bench: needs root" >&2
	exit 2
}
[ -x "$runtime" ] || {
	echo "bench: no $runtime" >&2
	exit 2
}
bench_need
bench_begin
mkdir -p "$out"
cc -std=gnu17 -O2 -static -o "$bench_work/bench" "$here/bench.c" "$here/jobs.c"
cc -std=gnu17 -O2 -o "$bench_work/report" "$here/report.c" "$here/table.c" "$here/svg.c"
jobs=$bench_work/jobs
: >"$jobs"

# jobs_run NAME LABEL PATH HOLDER BUNDLE: `run` alone.
jobs_run() {
	bench_roots+=("$4 /run/$1 $3")
	cat >>"$jobs" <<-END
		job $1 $4
		step $2 $3 --root /run/$1 run --bundle /bench/$5 @ID@
		undo $3 --root /run/$1 delete --force @ID@
	END
}

# jobs_verbs NAME PATH HOLDER: every verb of a container, one after the other.
jobs_verbs() {
	local call="$2 --root /run/$1" step
	echo "job $1 $3"
	for step in "create create --bundle /bench/$config-sleep @ID@" 'start start @ID@' 'exec exec @ID@ /bin/true' 'state state @ID@' \
		'list list' 'ps ps --format json @ID@' 'update update --pids-limit 512 @ID@' 'pause pause @ID@' 'resume resume @ID@' \
		'kill kill @ID@ KILL' 'delete delete @ID@'; do
		echo "step ${step%% *} $call ${step#* }"
	done
	echo "undo $call delete --force @ID@"
} >>"$jobs"

# jobs_exec NAME POLICY PATH HOLDER: `exec` alone, under a policy.
jobs_exec() {
	local call="$3 --root /run/$1"
	echo "job $1 $4"
	echo "step detach_$2 $call run --detach --bundle /bench/$config-sleep @ID@"
	echo "step exec_$2 $call exec @ID@ /bin/true"
	echo "step delete_$2 $call delete --force @ID@"
	echo "undo $call delete --force @ID@"
} >>"$jobs"

# jobs_many NAME PATH HOLDER: among 1000 containers; several at once.
jobs_many() {
	if bench_populate "$config" "$@"; then
		echo "job $1 $3"
		echo "step state_of_1000 $2 --root /run/$1-many state $bench_id-seed"
		echo "step list_of_1000 $2 --root /run/$1-many list"
	fi
	echo "job $1 $3"
	echo "rate 2_at_once $count 2 $2 --root /run/$1 run --bundle /bench/many @ID@"
	echo "rate 8_at_once $count 8 $2 --root /run/$1 run --bundle /bench/many @ID@"
} >>"$jobs"

# contestant NAME PATH HOLDER [HOLDER-200 HOLDER-1000]
contestant() {
	local name=$1 path=$2 holder=$3
	[ "$config" = spec ] || jobs_run "$name" run_docker "$path" "$holder" docker
	jobs_run "$name" run_spec "$path" "$holder" spec
	jobs_verbs "$name" "$path" "$holder"
	[ $# -gt 3 ] || return 0
	jobs_run "$name" "run_${config}_200_mounts" "$path" "$4" "$config"
	jobs_run "$name" "run_${config}_1000_mounts" "$path" "$5" "$config"
	jobs_many "$name" "$path" "$holder"
}

# peer PROGRAM SUITE HOLDER…: named by its version.
peer() {
	local tree=$bench_cache/bench-$2 path version
	path=/usr/bin/$1
	[ -e "$tree$path" ] || path=/usr/sbin/$1
	version=$(bench_in "$tree" "$path" --version | sed -n '1s/.* version \([0-9.]*[0-9]\).*/\1/p')
	contestant "$1-$version" "$path" "${@:3}"
}

# What isn't a runtime of containers, or is a machine of its own: for scale.
others() {
	echo "job bwrap $1"
	echo "step run_$config /usr/bin/bwrap --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup --ro-bind /bench/rootfs /" \
		"--proc /proc --dev /dev --tmpfs /tmp /bin/true"
	echo "job runsc $1"
	echo "step run_$config /usr/bin/runsc --root /run/runsc --network none --ignore-cgroups run --bundle /bench/spec @ID@"
	echo "undo /usr/bin/runsc --root /run/runsc delete --force @ID@"
} >>"$jobs"

bench_tree bookworm docker.io,containerd,runc,crun,bubblewrap,runsc
bench_spec
config=spec
if bench_docker; then
	config=docker
else
	echo "no docker config: the daemon did not come up"
fi
old=() new=()
for mounts in 0 200 1000; do
	bench_hold "$bench_cache/bench-bookworm" "$mounts" && old+=("$bench_holder")
done
if bench_tree sid runc,crun; then
	for mounts in 0 200 1000; do
		bench_hold "$bench_cache/bench-sid" "$mounts" && new+=("$bench_holder")
	done
else
	echo "no packages of sid: the newest peers are left out"
	new=("${old[@]}")
fi
cp "$runtime" "$bench_work/sbxrun"
contestant sbxrun /bench/sbxrun "${new[@]}"
# The same under the other policies. What a user namespace with ids of its own costs is told by itself.
ln "$bench_work/sbxrun" "$bench_work/sbxrun-oci"
printf '{"version": 1, "policies": {"code-without-ids": {"base": "code", "user-namespace": "as-asked"}}}' >"$bench_work/code.json"
# Rows of a policy for which there is nothing left to do.
printf '{"version": 1, "policies": {"rows": %s}}' '{"base": "oci", "no-new-privileges": "always", "root": "read-only", "hooks": "none", "oom-score": "unprotected",
	"net-devices": "refused", "cgroup-mounts": "read-only", "capabilities": {"deny": ["*"]}, "host-namespaces": {"deny": ["*"]},
	"cgroup-keys": {"deny": ["*"]}, "unit-properties": {"deny": ["*"]}}' >"$bench_work/rows.json"
if [ "$config" = docker ]; then
	jobs_run sbxrun run_docker_oci /bench/sbxrun-oci "${new[0]}" docker
	jobs_exec sbxrun oci /bench/sbxrun-oci "${new[0]}"
	jobs_run sbxrun run_docker_code "/bench/sbxrun --policy /bench/code.json" "${new[0]}" docker
	jobs_run sbxrun run_docker_code_ids "/bench/sbxrun --policy code" "${new[0]}" docker
	bench_strict "$bench_work/docker/config.json"
	jobs_run sbxrun run_strict_oci /bench/sbxrun-oci "${new[0]}" strict
	jobs_run sbxrun run_strict_rows "/bench/sbxrun --policy /bench/rows.json" "${new[0]}" strict
fi
if [ "${new[0]}" != "${old[0]}" ]; then
	peer crun sid "${new[@]}"
	peer runc sid "${new[0]}"
fi
peer crun bookworm "${old[0]}"
peer runc bookworm "${old[@]}"
others "${old[0]}"

printf '# kernel\t%s\n# processors\t%s\n# load at the beginning\t%s\n' "$(uname -r)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)" >"$out/raw.tsv"
echo "measuring; figures go to $out"
rc=0
# Not our process group's: it finishes the job that it is at when it is told to end.
setsid "$bench_work/bench" --log "$bench_work/log" --prefix "$bench_id" --rounds "$rounds" "${options[@]}" "$jobs" >>"$out/raw.tsv" &
bench_runner=$!
wait "$bench_runner" || rc=$?
bench_runner=
"$bench_work/report" "$out/raw.tsv" "$out/table.md" "$out/bench.svg"
cat "$out/table.md"
if [ "$rc" != 0 ] || grep -q ' failed [0-9]* times' "$out/table.md"; then
	grep -i -m 5 'err\|fail\|:' "$bench_work/log" | cut -c1-300 >&2
fi
exit "$rc"
