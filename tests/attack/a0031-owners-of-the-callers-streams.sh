#!/bin/bash
# Idea: so that the program can open its streams again, it is made their owner; what the caller had named as a stream, a log or a named
# pipe, is then another user's for good, and who has that id on the host reads and replaces it. Escape: a file of the caller's has another
# owner after the container.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_USER='.process.user = {uid: 1000, gid: 1000}'

_still_ours() {
	local file
	for file; do
		[ "$(stat -c %u:%g "$file")" = 0:0 ] || escaped "$file is $(stat -c %u:%g "$file")'s"
	done
}

files_stay_the_callers() {
	bundle 'sh("echo out; echo err >&2")' "$_USER"
	sbx run -b "$B" "$ID" >out-file 2>err-file
	is "$(<out-file)$(<err-file)" outerr
	_still_ours out-file err-file
}

files_stay_the_callers_with_exec() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	sbx exec -u 1000:1000 "$ID" sh -c 'echo out; echo err >&2' >out-file 2>err-file
	is "$(<out-file)$(<err-file)" outerr
	_still_ours out-file err-file
}

named_pipes_stay_the_callers() {
	mkfifo -m 600 pipe
	bundle 'sh("echo out")' "$_USER"
	# Open for reading and writing, so that nobody waits for the other side.
	exec 5<>pipe
	sbx run -b "$B" "$ID" >&5
	read -r said <&5
	exec 5>&-
	is "$said" out
	_still_ours pipe
}

terminals_stay_the_callers() {
	needs python3
	bundle 'sh("tty; :")' "$_USER"
	run python3 - "$SBXRUN" --root "$T/state" run -b "$B" "$ID" <<-'END'
		import os, pty, subprocess, sys
		master, slave = pty.openpty()
		subprocess.run(sys.argv[1:], stdin=slave, stdout=slave, stderr=slave, check=True)
		print(os.fstat(slave).st_uid)
	END
	rc_is 0
	[ "$out" = 0 ] || escaped "the terminal is $out's"
}

run_tests
