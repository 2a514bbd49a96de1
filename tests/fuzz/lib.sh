# shellcheck shell=bash
# What the scripts of the fuzzers share.
fuzz_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fuzz_top=${fuzz_here%/tests/fuzz}
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

# Prints the seeds of target $1, a directory a line; $2 is where they may be made. A file of lines holds a seed in each.
fuzz_seeds() {
	local line n=0
	echo "$fuzz_here/seeds/$1"
	if [ -f "$fuzz_here/seeds/$1.lines" ]; then
		mkdir -p "$2.lines/$1"
		while read -r line; do
			n=$((n + 1))
			echo "$line" >"$2.lines/$1/$n"
		done <"$fuzz_here/seeds/$1.lines"
		echo "$2.lines/$1"
	fi
	[ "$1" != config ] || { fuzz_config_seeds "$2" && echo "$2"; }
}

# A config of its own for each part of the complete one, for fuzzers do best with small inputs, and what the unit tests judge:
# pieces that are put where they may belong.
fuzz_config_seeds() {
	local part n=0 top='{"ociVersion":"1.0.2","root":{"path":"r"},' spaces
	mkdir -p "$1"
	printf -v spaces '{"type":"%s"},' pid network mount ipc uts cgroup time
	grep -oE '\{"(\\"|[^"])+"' "$fuzz_top/tests/unit/test_oci_validate.c" | sed 's/^{"//; s/"$//; s/\\"/"/g; s/\\\\/\\/g' |
		sort -u | while read -r part; do
		n=$((n + 1))
		echo "$top$part}" >"$1/top-$n"
		echo "$top\"process\":{\"cwd\":\"/\",\"args\":[\"a\"],$part}}" >"$1/process-$n"
		echo "$top\"linux\":{$part}}" >"$1/linux-$n"
		echo "$top\"linux\":{\"namespaces\":[${spaces%,}],$part}}" >"$1/namespaces-$n"
	done
	# jq rounds large numbers up, out of range.
	jq -c 'walk(if type == "number" and . > 9e18 then 9e18 else . end) |
		{ociVersion, root: {path: "r"}, process: {cwd: "/", args: ["x"]},
		 linux: {namespaces: [.linux.namespaces[] | {type}],
			uidMappings: .linux.uidMappings, gidMappings: .linux.gidMappings}} as $base |
		(del(.linux) | to_entries[] | $base + {(.key): .value}),
		(.linux | del(.resources, .seccomp) | to_entries[] | . as $e | $base | .linux[$e.key] = $e.value),
		(.linux.resources | to_entries[] | . as $e | $base | .linux.resources[$e.key] = $e.value),
		(.linux.seccomp as $s | $base | .linux.seccomp = $s | .linux.seccomp.syscalls |= .[:2])
	' "$fuzz_top/spec/bundles/everything/config.json" | while read -r part; do
		n=$((n + 1))
		echo "$part" >"$1/part-$n"
	done
}

# Writes a dictionary to $1: the words that our documents and command lines know (every string in the tables that has no space
# in it), bare and as a JSON string, and what numbers and other values look like.
fuzz_dictionary() {
	cat "$fuzz_top"/runtime/{oci,cli,state,worker}/*.c "$fuzz_top"/runtime/plan/unit_choice.c | grep -o '"[A-Za-z0-9_.+:=-]\{2,40\}"' | sort -u |
		sed 's/^"\(.*\)"$/"\1"\n"\\"\1\\":"/' >"$1"
	printf '"%s"\n' null true false '{}' '[]' '[{' '}]' '\"\"' -1 0 1 1.5 1e9 4294967295 4294967296 9223372036854775807 \
		-9223372036854775808 18446744073709551615 '\\u0000' '\\ud800' '\\n' >>"$1"
}

# The longest input of target $1: a config needs room.
fuzz_longest() {
	[ "$1" = config ] && echo 2048 || echo 512
}

# The arguments that every call of a fuzzer gets. A unit that takes a minute is a hang also on a busy machine.
# shellcheck disable=SC2034
fuzz_options=(-timeout=60 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0)
