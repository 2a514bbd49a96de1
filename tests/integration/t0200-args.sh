#!/bin/bash
# process.args: which program is run, with which words, and what is said when it can't be.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

the_words_arrive_as_they_are() {
	bundle 'args(["/bin/sh", "-c", "for a; do printf \"<%s>\" \"$a\"; done", "sh", "", "a b", "*", "$HOME", "\"q\u0027", "ü\n\t\\", "--", "-x"])'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'<><a b><*><$HOME><"q\'><ü\n\t\\><--><-x>'
}

the_first_word_is_not_replaced_by_the_path() {
	bundle 'args(["sh", "-c", "tr \"\\0\" \" \" </proc/1/cmdline; true"])'
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$out" '^sh -c '
}

many_and_long_words_fit() {
	bundle 'args(["/bin/sh", "-c", "echo $# ${#1}", "sh"] + [range(2000) | "w" * 50])'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" '2000 50'
	bundle 'args(["/bin/sh", "-c", "echo $# ${#1}", "sh", "x" * 100000])'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" '1 100000'
}

# Puts a program into the rootfs at $1 that prints $1.
_put() {
	mkdir -p "$B/rootfs${1%/*}"
	printf '#!/bin/sh\necho %s\n' "$1" >"$B/rootfs$1"
	chmod "${2:-755}" "$B/rootfs$1"
}

a_name_is_looked_up_in_the_containers_path() {
	bundle 'args(["prog"])' '.process.env = ["PATH=/nowhere:/opt/a:/opt/b:/bin"]'
	_put /opt/b/prog
	_put /bin/prog
	# The caller has one, too, in a directory that the container's PATH does not name.
	mkdir callers
	printf '#!/bin/sh\necho caller\n' >callers/prog
	chmod 755 callers/prog
	PATH=$T/callers:$PATH run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" /opt/b/prog
}

what_cannot_be_run_is_passed_over_in_the_path() {
	bundle 'args(["prog"])' '.process.env = ["PATH=/opt/a:/opt/b:/opt/c"]'
	_put /opt/a/prog 644
	mkdir -p "$B/rootfs/opt/b/prog"
	_put /opt/c/prog
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" /opt/c/prog
}

the_last_path_counts_for_nothing_and_the_first_is_searched() {
	bundle 'args(["prog"])' '.process.env = ["PATH=/opt/a", "X=y"]'
	_put /opt/a/prog
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" /opt/a/prog
}

a_path_is_relative_to_cwd() {
	bundle 'args(["a/prog"])' '.process.cwd = "/opt"'
	_put /opt/a/prog
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" /opt/a/prog
	jq '.process.args = ["./prog"] | .process.cwd = "/opt/a"' "$B/config.json" >new
	run sbx run -b "$B" -f "$T/new" "$ID"
	rc_is 0
	is "$out" /opt/a/prog
}

a_name_that_is_nowhere_is_said_so() {
	bundle 'args(["no-such-program"])'
	refused 'executable file not found in \$PATH' sbx run -b "$B" "$ID"
	nothing_is_left
	# The caller's programs don't count.
	bundle 'args(["jq"])'
	refused 'executable file not found in \$PATH' sbx run -b "$B" "$ID"
}

a_path_that_is_nowhere_is_said_so() {
	bundle 'args(["/not/there"])'
	refused 'no such file or directory' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_file_that_is_not_executable_is_said_so() {
	bundle 'args(["/etc/passwd"])'
	refused 'permission denied' sbx run -b "$B" "$ID"
	bundle 'args(["prog"])' '.process.env = ["PATH=/opt/a"]'
	_put /opt/a/prog 644
	refused 'permission denied' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_file_that_the_user_may_not_execute_is_said_so() {
	bundle 'args(["/opt/prog"])' '.process.user = {uid: 1000, gid: 1000}'
	_put /opt/prog 700
	refused 'permission denied' sbx run -b "$B" "$ID"
}

a_directory_is_said_so() {
	bundle 'args(["/bin"])'
	refused 'is a directory: permission denied' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_file_in_the_way_is_said_so() {
	bundle 'args(["/etc/passwd/prog"])'
	refused 'not a directory' sbx run -b "$B" "$ID"
}

an_interpreter_that_is_nowhere_is_said_so() {
	bundle 'args(["/opt/prog"])'
	_put /opt/prog
	echo '#!/no/interpreter' >"$B/rootfs/opt/prog"
	refused 'no such file or directory' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_file_of_no_known_format_is_said_so() {
	bundle 'args(["/opt/prog"])'
	_put /opt/prog
	echo 'neither a script nor a binary' >"$B/rootfs/opt/prog"
	refused '[Ee]xec format error' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_program_that_is_nowhere_is_missed_at_create() {
	# Engines read why from create, and clean up after its failure only.
	bundle 'args(["no-such-program"])'
	refused 'executable file not found in \$PATH' sbx create -b "$B" "$ID"
	nothing_is_left
	bundle 'args(["/etc/passwd"])'
	refused 'permission denied' sbx create -b "$B" "$ID"
	nothing_is_left
}

no_words_are_refused() {
	local filter
	bundle
	for filter in '.process.args = []' 'del(.process.args)' '.process.args = null' '.process.args = [""]' '.process.args = "sh"' \
		'.process.args = [7]' '.process.args = ["a\u0000b"]'; do
		jq "$filter" "$B/config.json" >new
		refused 'args' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

the_console_size_is_ignored_without_a_terminal() {
	bundle 'sh("exit 7")' '.process.consoleSize = {height: 10, width: 20}'
	run sbx run -b "$B" "$ID"
	rc_is 7
}

run_tests
