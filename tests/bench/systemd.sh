#!/bin/bash
# systemd.sh [--n RUNS] [--out DIR]: `run --systemd-cgroup` beside runc and crun, on machines whose init is systemd: one with this machine's
# cgroup layout, and one with cgroup v2 (User-mode Linux, ten times slower; crun refuses hybrid layouts and is compared there).
#
# It asserts nothing; ratios of one run compare. DIR (default: build/bench) gets systemd-KIND.tsv and .md. About two minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
if [ "${1:-}" != --inside ]; then
	out=$top/build/bench count=15
	while [ $# != 0 ]; do
		case $1 in
		--n) count=$2 && shift 2 ;;
		--out) out=$2 && shift 2 ;;
		*) sed -n '2,6s/^# \?//p' "$0" >&2 && exit 2 ;;
		esac
	done
	mkdir -p "$out" "$top/build/bench"
	"$top/tests/install-needs" base systemd uml engines
	# In the checkout, which the boxes see.
	cc -std=gnu17 -O2 -static -o "$top/build/bench/bench" "$here/bench.c" "$here/jobs.c"
	cc -std=gnu17 -O2 -o "$top/build/bench/report" "$here/report.c" "$here/table.c" "$here/svg.c"
	cd "$top"
	for kind in own v2; do
		option=()
		[ "$kind" = own ] || option=(--v2)
		echo "measuring in a systemd box, cgroups: $kind"
		TEST_COUNT=$count tests/systemd/box "${option[@]}" bash tests/bench/systemd.sh --inside >"$out/systemd-$kind.tsv"
		build/bench/report "$out/systemd-$kind.tsv" "$out/systemd-$kind.md" "$out/systemd-$kind.svg"
		sed -n '/^| ms/,/^$/p' "$out/systemd-$kind.md"
	done
	exit 0
fi

# ---- in the box ----
work=/tmp/bench
mkdir -p "$work/rootfs/bin"
cp /bin/busybox "$work/rootfs/bin/"
ln -s busybox "$work/rootfs/bin/true"
cd "$work"
runc spec
for name in sbxrun runc crun; do
	mkdir "$name"
	jq --arg name "$name" '.ociVersion = "1.0.2" | .process.terminal = false | .process.args = ["/bin/true"] | .root.path = "/tmp/bench/rootfs"
		| .linux.cgroupsPath = "system.slice:bench:" + $name
		| .linux.resources += {memory: {limit: 67108864}, cpu: {shares: 512, quota: 50000, period: 100000}, pids: {limit: 64}}' \
		config.json >"$name/config.json"
	# A runtime that can't do it here is left out.
	if "$name" --systemd-cgroup run --bundle "$work/$name" try </dev/null >/dev/null 2>"$work/why"; then
		version=$("$name" --version | sed -n '1s/.* version \([0-9.]*[0-9]\).*/-\1/p')
		[ "$name" != sbxrun ] || version=''
		cat >>"$work/jobs" <<-END
			job $name$version 0
			step run_systemd $(command -v "$name") --systemd-cgroup run --bundle $work/$name @ID@
			undo $(command -v "$name") delete --force @ID@
		END
	else
		echo "$name: $(tail -n 1 "$work/why")" >&2
	fi
done
exec "$top/build/bench/bench" --log "$work/log" --prefix bench --rounds 1 --n "$TEST_COUNT" "$work/jobs"
