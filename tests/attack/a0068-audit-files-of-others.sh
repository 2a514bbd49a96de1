#!/bin/bash
# An audit file where others can put something: a link to what root has, a file of theirs, a second name. And what is done to a file
# afterwards, by who hopes that the next run covers it. Escape: it is written to, or verify finds it good.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_do() { run timeout 60 "$SBXRUN" --root "$T/state" 'do' "$@"; }

# A directory like /tmp, and a canary of root's that an audit file could be.
_place() {
	_do bash true
	[ "$rc" = 0 ] || skip "no boxes here: $err"
	mkdir -m 1777 place
	mkdir -m 777 volume
	chmod 711 "$T"
	: >canary
	chmod 600 canary
}

# _refused: nothing was recorded there, and nothing ran.
_refused() {
	_do --audit place/audit -v "$T/volume:/out" bash 'echo >/out/ran'
	[ ! -s canary ] || escaped "the canary has: $(cat canary)"
	[ ! -s place/audit ] || escaped "his file has: $(cat place/audit)"
	[ ! -e volume/ran ] || escaped 'it ran, and nobody knows'
	rc_is 125
	like "$err" "$1"
}

a_link_of_another_is_not_followed() {
	_place
	# In a directory of his own the kernel lets us follow it, whatever fs.protected_symlinks says.
	chown 4242 place
	chmod 755 place
	as_user 4242 ln -s "$T/canary" place/audit
	_refused 'is a link'
}

a_file_of_another_is_not_trusted() {
	_place
	as_user 4242 sh -c 'umask 0; : >place/audit'
	_refused 'belongs to uid 4242'
}

a_second_name_is_not_written_to() {
	_place
	ln canary place/audit
	_refused 'other names'
}

a_pipe_keeps_nobody_waiting() {
	_place
	mkfifo -m 600 place/audit
	_refused 'no regular file'
}

_three() {
	local i
	_place
	for i in 1 2 3; do
		_do --audit audit bash "exit $i"
		rc_is "$i"
	done
	run "$SBXRUN" audit verify audit
	rc_is 0
}

# _is_bad: verify says so, and still does after one more run.
_is_bad() {
	_do --audit audit bash true
	rc_is 0
	run "$SBXRUN" audit verify audit
	[ "$rc" = 1 ] || escaped "verify says: $out"
}

a_line_that_was_cut_off_is_not_forgotten() {
	_three
	sed -i '$d' audit
	_is_bad
}

a_line_that_was_added_is_not_taken_for_ours() {
	local head
	_three
	head=$(cat audit.head)
	_do --audit audit bash true
	echo "$head" >audit.head
	_is_bad
}

a_head_that_was_removed_is_not_forgotten() {
	_three
	rm audit.head
	_is_bad
}

# What the caller of the box chooses can't end a line, nor begin one.
arguments_are_no_lines() {
	_place
	_do --audit audit bash true $'x\n{"n":2,"verb":"do"}' '","hash":"0"}'
	rc_is 0
	is "$(wc -l <audit)" 1
	is "$(jq -r '.args[1]' audit)" '","hash":"0"}'
	run "$SBXRUN" audit verify audit
	rc_is 0
}

run_tests
