#!/bin/bash
# A program that can't be executed is refused at create, with execve's words: engines clean up after a create that fails, and read
# 126 or 127 from them. What only the kernel can judge is tried, and never runs before start.
# Views: own where_no_process_is_left_to_try_it_start_says_so
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# _put FILE TEXT: a program of the image.
_put() {
	printf %b "$2" >"$B/rootfs/$1"
	chmod 755 "$B/rootfs/$1"
}

# _create_refuses WORDS: and nothing is left of it.
_create_refuses() {
	refused "^sbxrun: exec /prog: $1\$" sbx --log "$T/log.json" --log-format json create -b "$B" "$ID"
	is "$(jq -r '.level + " " + .msg' "$T/log.json")" "error exec /prog: $1"
	rm "$T/log.json"
	nothing_is_left
}

a_script_without_its_interpreter_is_refused() {
	bundle 'args(["/prog"])'
	_put prog '#!/no/interpreter\n'
	_create_refuses 'no such file or directory'
	_put prog '#! /no/interpreter with a word\r\n'
	_create_refuses 'no such file or directory'
	# As files edited on Windows have it.
	_put prog '#!/bin/sh\r\necho no\n'
	_create_refuses 'no such file or directory'
}

an_interpreter_that_is_a_script_is_looked_at_in_turn() {
	bundle 'args(["/prog"])'
	_put prog '#!/two\n'
	_put two '#!/three\n'
	_put three '#!/bin/echo three\n'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" 'three /three /two /prog'
	_put three '#!/not/there\n'
	_create_refuses 'no such file or directory'
	_put two '#!/prog\n'
	_create_refuses 'too many levels of symbolic links'
}

an_interpreter_that_nobody_may_execute_is_refused() {
	bundle 'args(["/prog"])'
	_put prog '#!/two\n'
	_put two '#!/bin/sh\n'
	chmod 644 "$B/rootfs/two"
	_create_refuses 'permission denied'
	rm "$B/rootfs/two"
	mkfifo -m 755 "$B/rootfs/two"
	_create_refuses 'permission denied'
	rm "$B/rootfs/two"
	mkdir "$B/rootfs/two"
	_create_refuses 'permission denied'
}

what_is_no_program_is_refused() {
	local text
	bundle 'args(["/prog"])'
	for text in '' '\n' 'echo no line of #!\n' '#!\n' '\x7fELF' '\x7fELF\x02\x01\x01' 'MZ'; do
		_put prog "$text"
		_create_refuses 'exec format error'
	done
}

a_program_without_its_loader_is_refused() {
	bundle 'args(["/prog"])'
	cp --remove-destination "$(type -P bash)" "$B/rootfs/prog"
	LC_ALL=C grep -qa /ld- "$B/rootfs/prog" || skip 'bash is static here'
	_create_refuses 'no such file or directory'
}

a_loader_that_is_none_is_refused() {
	local loader
	bundle 'args(["/prog"])'
	cp --remove-destination "$(type -P bash)" "$B/rootfs/prog"
	loader=$(LC_ALL=C grep -aom1 '/lib[0-9a-z_/-]*/ld-[0-9a-z_.-]*' "$B/rootfs/prog" | head -n 1) || skip 'bash is static here'
	mkdir -p "$B/rootfs/${loader%/*}"
	_put "$loader" 'no loader, but longer than a header of sixty-four bytes, so that it is read\n'
	_create_refuses 'accessing a corrupted shared library'
	_put "$loader" ''
	_create_refuses 'input/output error'
}

run_has_the_same_words_and_leaves_nothing() {
	bundle 'args(["prog"])'
	_put bin/prog 'nothing\n'
	refused 'exec /bin/prog: exec format error' sbx run -b "$B" "$ID"
	nothing_is_left
}

# Without a newline among the first 256 bytes it is up to the kernel, as is a program of another kind.
what_only_the_kernel_can_judge_runs_at_start_and_not_before() {
	bundle 'args(["/prog"])' writable
	_put prog '#!/bin/sh /effect'
	_put effect 'echo ran >>/mark\n'
	sbx create -b "$B" "$ID"
	[ ! -e "$B/rootfs/mark" ] || fail 'it has run'
	sbx start "$ID"
	wait_until 5 status_is "$ID" stopped
	is "$(cat "$B/rootfs/mark")" ran
}

# Its init is alone as far as the limit goes.
where_no_process_is_left_to_try_it_start_says_so() {
	bundle 'args(["/prog"])' '.linux.resources.pids.limit = 1'
	_put prog 'nothing\n'
	sbx create -b "$B" "$ID"
	refused 'exec format error' sbx start "$ID"
}

hooks_of_start_may_yet_make_it_good() {
	bundle 'args(["/prog"])' writable 'hook("startContainer"; "/bin/sh"; ["sh", "-c", "mkdir /late; cp /bin/busybox /late/echo"])'
	_put prog '#!/late/echo\n'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" '/prog'
}

exec_says_it_too() {
	bundle 'sh("sleep 100")'
	_put prog 'nothing\n'
	_put lost '#!/not/there\n'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" /prog
	like "$err" 'exec /prog: exec format error'
	rc_is 255
	run sbx exec "$ID" /lost
	like "$err" 'exec /lost: no such file or directory'
	rc_is 255
}

run_tests
