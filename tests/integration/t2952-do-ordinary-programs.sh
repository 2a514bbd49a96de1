#!/bin/bash
# What users tried first, and what did not work: programs that are no part of a language, and inputs and outputs that are not quite files.
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

make_runs_its_recipes() {
	needs make
	run sbx "do" --rootfs host bash 'printf "all:\n\techo made\n" >Makefile; make -s'
	rc_is 0
	is "$out" made
}

the_effective_id_can_be_set_and_no_other() {
	run sbx "do" --rootfs host python 'import os
os.seteuid(os.geteuid()); os.setegid(os.getegid()); print("own")
for f, a in ((os.setresuid, (0, 0, 0)), (os.seteuid, (1234,)), (os.setresgid, (5, 5, 5))):
    try: f(*a); print("set", a)
    except OSError as e: print(e.errno)'
	rc_is 0
	is "$out" $'own\n1\n1\n1'
}

what_compiles_in_time_runs_below_a_shell() {
	needs node
	run sbx "do" --rootfs host bash 'node -e "console.log(40+2)"'
	rc_is 0
	is "$out" 42
	run sbx "do" --rootfs host --json node 'console.log(1)'
	is "$(jq -c '[.stdout, .denials]' <<<"$out")" '["1\n",[]]'
}

a_program_makes_terminals() {
	run sbx "do" --rootfs host python 'import os, pty; m, s = pty.openpty(); print(os.isatty(s), os.ttyname(s))'
	rc_is 0
	is "$out" 'True /dev/pts/0'
}

a_file_that_is_shown_in_the_workspace_is_no_output() {
	echo mine >1.in
	run sbx "do" --rootfs host -v "$T/1.in:/workspace/1.in:ro" --copy-out taken --json bash 'cat 1.in; echo z >out.txt'
	rc_is 0
	is "$(jq -c '[.stdout, .files.added]' <<<"$out")" '["mine\n",["out.txt"]]'
	is "$(ls taken)" out.txt
}

an_input_that_is_a_terminal_is_passed_on() {
	run script -qec "$SBXRUN --root $T/state do --rootfs host bash 'read -r a; echo got:\$a:' | cat" /dev/null <<<'a line'
	like "$out" 'got:a line:'
}

a_program_that_was_not_compiled_is_told() {
	needs cc
	run sbx "do" --rootfs host --json c 'int main(void) { return x; }'
	rc_is 1
	is "$(jq -r '.status, .error.type, .compile.success' <<<"$out")" $'error\nCompileError\nfalse'
}

another_policy_than_code_is_noted() {
	run sbx --policy engine "do" --rootfs host --json bash true
	rc_is 0
	like "$(jq -r '.notes[]' <<<"$out")" 'held to the policy engine'
	run sbx "do" --rootfs host --json bash true
	unlike "$(jq -r '.notes[]' <<<"$out")" 'held to'
}

run_tests
