#!/bin/bash
# The examples of spec/examples: each is run as it lies there, with `sbxrun` found in the path, as its reader would. `pinned` builds a rootfs, and is run by tests/rootfs.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

examples=$TESTS_DIR/../spec/examples

# A copy of example $1, and a path on which sbxrun is ours and sudo is nobody.
_example() {
	needs python3 jq
	mkdir bin
	printf '#!/bin/sh\nexec %q --root %q "$@"\n' "$SBXRUN" "$T/state" >bin/sbxrun
	printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
	chmod +x bin/*
	PATH=$T/bin:$PATH
	export SBXRUN_ROOTFS_DIR=$T/library
	cp -r "$examples/$1" example
}

data_is_read_and_results_are_left() {
	local before
	_example data
	before=$(cat example/data/measurements.csv)
	run example/run
	rc_is 0
	is "$out" $'Oslo: n 3 mean 4.00 deviation 1.80\nRome: n 3 mean 16.17 deviation 1.26'
	is "$(cat example/data/measurements.csv)" "$before"
	is "$(stat -c %u example/output/results.txt)" "$(stat -c %u example/output)"
}

a_right_solution_is_right_ten_times() {
	_example judge
	run example/run
	rc_is 0
	is "${out##*$'\n'}" '10 of 10'
	is "$(grep -cE '^[0-9]{2} +right +[0-9]+\.[0-9]+ +[1-9][0-9]+$' <<<"$out")" 10
}

# Each with one input that shows it.
other_solutions_are_told_apart() {
	_example judge
	rm example/tests/{02..10}.*
	_verdict 'print(41)' wrong
	_verdict 'while True: pass' 'time limit'
	_verdict 'x = [b"x" * 1000000 for _ in range(4000)]' 'memory limit'
	_verdict 'raise SystemExit(3)' 'runtime error'
	_verdict 'import os; print(open("/proc/self/cwd/../etc/shadow").read())' 'runtime error'
}
_verdict() {
	echo "$1" >example/other.py
	run env CPU_TIME=0.5 example/run other.py
	rc_is 1
	like "$out" "01 +$2 +[0-9]"
	is "${out##*$'\n'}" '0 of 1'
}

# _step NAME: the code of the step of that name.
_step() {
	awk -v name="- name: $1" '
		index($0, name) { mine = 1; next }
		/^      - / { mine = 0; code = 0 }
		mine && /^        run: \|$/ { code = 1; next }
		code && /^          / { print substr($0, 11) }' "$examples/github/workflow.yml"
}

# With programs that hand results from step to step. What installs sbxrun is told, not done: make would install packages.
the_steps_of_the_workflow_work() {
	local step
	_example github
	mkdir project project/data
	cd project || exit
	printf '3\n1\n2\n' >data/numbers
	echo 'open("/output/sorted", "w").write(" ".join(sorted(open("/data/numbers").read().split())))' >prepare.py
	echo 'open("/output/sum", "w").write(str(sum(map(int, open("/output/sorted").read().split()))))' >analyse.py
	echo 'print("sum", open("/output/sum").read(), "by me@example.org")' >report.py
	is "$(grep -c 'run: |' "$examples/github/workflow.yml")" 4
	for step in Prepare Analyse Report; do
		isnt "$(_step "$step")" ''
		run bash -euo pipefail -c "$(_step "$step")"
		rc_is 0
	done
	is "$(cat output/report.txt)" 'sum 6 by [REDACTED_EMAIL]'
	is "$(jq -r '.status, .redactions[0].rule' result.json)" $'ok\nemail'
	_step 'Install sbxrun' | sed -nE 's/^(sudo )?make -C sbxrun ?//p' | while read -r goal; do
		make -C "$TESTS_DIR/.." -n ${goal:+"$goal"} >/dev/null || fail "make $goal"
	done
	echo 'import socket; print("x"); socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' >report.py
	run bash -euo pipefail -c "$(_step Report)"
	isnt "$rc" 0
}

# The first that a reader types: README's commands print what stands there. Seconds and how often a resolver asks depend on the machine.
the_readmes_first_commands_print_what_it_says() {
	local line command='' n=0
	needs python3
	mkdir bin
	printf '#!/bin/sh\nexec "%s" --root "%s/state" "$@"\n' "$SBXRUN" "$T" >bin/sbxrun
	chmod 755 bin/sbxrun
	export PATH=$T/bin:$PATH SBXRUN_ROOTFS_DIR=$T/library
	: >wanted
	: >got
	while IFS= read -r line; do
		if [[ $line == '    $ '* ]]; then
			n=$((n + 1))
			command=${line#'    $ '}
			echo "$command" | tee -a wanted >>got
			timeout 300 bash -c "$command" </dev/null >>got 2>&1 || :
		elif [[ $line == '    '* && -n $command ]]; then
			echo "${line#'    '}" >>wanted
		elif [ "$n" = 3 ]; then
			break
		else
			command=''
		fi
	done <"$TESTS_DIR/../README.md"
	is "$n" 3
	is "$(_without_figures got)" "$(_without_figures wanted)"
}
_without_figures() { sed -E 's/"count":[0-9]+/"count":N/g; s/after [0-9.]+ s /after S s /' "$1"; }

run_tests
