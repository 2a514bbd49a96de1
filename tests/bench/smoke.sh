#!/bin/bash
# smoke.sh: does the benchmark itself work? Runner and report are built, and sbxrun is measured twice beside itself under the names of
# its rivals. Nothing is fetched, and no figure is judged. For `tests/run builds`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runtime=${SBXRUN:-$here/../../build/sbxrun}
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-smoke-XXXXXX")
id=bench-smoke-$$

finish() {
	local dir
	for dir in "$work"/state/*; do
		[ ! -d "$dir" ] || "$runtime" --root "$work/state" delete --force "${dir##*/}" || :
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

cc -std=gnu17 -O2 -Wall -Wextra -Werror -static -o "$work/bench" "$here/bench.c" "$here/jobs.c"
cc -std=gnu17 -O2 -Wall -Wextra -Werror -o "$work/report" "$here/report.c" "$here/table.c" "$here/svg.c"
mkdir -p "$work"/rootfs/{bin,dev,proc,sys}
cp "$(command -v busybox)" "$work/rootfs/bin/true"
(cd "$work" && "$runtime" spec)
jq --arg root "$work/rootfs" '.process.terminal = false | .process.args = ["/bin/true"] | .root.path = $root' \
	"$work/config.json" >"$work/new"
mv "$work/new" "$work/config.json"

call="$runtime --root $work/state"
for name in sbxrun crun-0 runc-0; do
	printf '%s\n' "job $name 0" "step run_docker $call run --bundle $work @ID@" "undo $call delete --force @ID@" \
		"job $name 0" "step create $call create --bundle $work @ID@" "step state $call state @ID@" \
		"step delete $call delete --force @ID@" "undo $call delete --force @ID@" \
		"job $name 0" "rate 8_at_once 8 8 $call run --bundle $work @ID@"
done >"$work/jobs"
printf '%s\n' 'job sbxrun 0' "step run_docker_oci $call run --bundle $work @ID@" "undo $call delete --force @ID@" >>"$work/jobs"
# A contestant that fails is left out and named, and the others are measured all the same.
printf '%s\n' 'job broken 0' 'step run_docker /bin/false' >>"$work/jobs"
"$work/bench" --n 2 --rounds 1 --gap 1 --prefix "$id" --log "$work/log" "$work/jobs" >"$work/raw.tsv"
"$work/report" "$work/raw.tsv" "$work/table.md" "$work/bench.svg"

# expect FILE COUNT REGEX
expect() {
	[ "$(grep -cE -- "$3" "$work/$1")" = "$2" ] || {
		echo "error: not $2 lines of $1 match $3"
		cat "$work/$1" "$work/log"
		exit 1
	}
}
expect raw.tsv 26 $'^run\t'
expect raw.tsv 3 $'^rate\t8_at_once\t'
expect raw.tsv 1 $'^fail\trun_docker\tbroken$'
expect table.md 1 '^\| run docker \| ([0-9.]+ / [0-9.]+ \| ){3}\| [0-9.]+ / [0-9.]+ \| [0-9.]+ / [0-9.]+ \|$'
expect table.md 1 '^\| run docker \| crun-0 \| ≤ 0\.40 \|'
expect table.md 1 '^\| run docker oci \| crun-0 \| ≤ 0\.32 \|'
expect table.md 1 '^\| largest resident set \(the program has sbxrun-net inside\) \| \| ≤ 2 MB \|'
expect table.md 1 '^\| 8 at once \| crun-0 \| ≥ 1\.60 \|'
expect table.md 1 'broken: run docker failed 1 times'
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/bench.svg"

# The part that measures `do`, without peers.
SBXRUN=$runtime "$here/do.sh" --n 2 --peers none --out "$work" >"$work/log" 2>&1 || {
	echo "error: do.sh failed"
	cat "$work/log"
	exit 1
}
expect do.tsv 4 $'^run\tsh\t(plain|sbxrun do)\t[0-9.]+\t[0-9.]+$'
expect do.tsv 1 $'^row\t2\tsbxrun do\t[0-9.]+\t2$'
expect do.tsv 1 $'^at_once\t2\tsbxrun do\t[0-9.]+\t2\t[1-9]'
expect do.tsv 8 $'^compile\t(plain|none|calls|full)\t[0-9.]+\t[0-9.]+$'
expect do.md 2 '^\| a compile with --denials (calls|full), of none.s processor time \| [0-9.]+ \| 1\.05 \|'
expect do.md 1 '^\| first output \| ([0-9.]+ / [0-9.]+ / [0-9.]+ \| ){2}'
expect do.md 1 '^\| memory of a box beside its program, MB \| [0-9.]+ \| 1\.5 \|'

# The part that measures boxes that stay.
SBXRUN=$runtime "$here/box.sh" --n 2 --out "$work" >"$work/log" 2>&1 || {
	echo "error: box.sh failed"
	cat "$work/log"
	exit 1
}
expect box.tsv 4 $'^call\t(box create|exec of the runtime)\t[0-9.]+\t[0-9.]+$'
expect box.tsv 1 $'^idle\t2\treaper\t2\t[1-9]'
expect box.md 1 '^\| box exec, of the runtime.s exec \| [0-9.]+ \| 1\.3 \|'
expect box.md 1 '^\| memory of an idle box, MB \| [0-9.]+ \| 1\.5 \|'
expect box.md 0 ' failed [0-9]+ times'

# And the one that measures what goes through a carrier.
SBXRUN=$runtime "$here/egress.sh" --megabytes 16 --n 1 --out "$work" >"$work/log" 2>&1 || {
	echo "error: egress.sh failed"
	cat "$work/log"
	exit 1
}
expect egress.tsv 6 $'^(down|up)load\t(direct|transparent|connect)\t[0-9.]+\t'
expect egress.tsv 3 $'^call\t(a tool call|do|box run)\t[0-9.]+\t'
expect egress.md 1 '^\| download, transparent, of direct \| [0-9.]+ \| ≥ 0\.7 \|'
expect egress.md 1 '^sbxrun-net: '
expect egress.md 0 ' failed [0-9]+ times'
