#!/bin/bash
# Names that the caller gives, and what stands there already: a device in the place of the pid file, a directory that is nobody's
# container, a link on the way to the state that another user made. Escape: it is replaced, emptied or used.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

# _pid_file_at FILE: create and exec are told to write it there; what is there must stay.
_pid_file_at() {
	local before
	before=$(stat -c '%F %t:%T %i' "$1")
	bundle 'sh("sleep 100")'
	run timeout 20 "$SBXRUN" --root "$T/state" create -b "$B" --pid-file "$1" "$ID"
	[ "$(stat -c '%F %t:%T %i' "$1")" = "$before" ] || escaped "$1 is now: $(stat -c '%F' "$1")"
	rc_is 1
	like "$err" "pid-file.*${2:-not a regular file}"
	nothing_is_left
	sbx run -d -b "$B" "$ID"
	run timeout 20 "$SBXRUN" --root "$T/state" exec -d --pid-file "$1" "$ID" sleep 100
	[ "$(stat -c '%F %t:%T %i' "$1")" = "$before" ] || escaped "$1 is now: $(stat -c '%F' "$1")"
	isnt "$rc" 0
	like "$err" "pid-file"
}

a_device_is_not_replaced_by_a_pid_file() {
	mknod canary c 1 3 || skip 'no devices can be made here'
	_pid_file_at "$T/canary"
}

a_pipe_is_not_replaced_by_a_pid_file() {
	mkfifo canary
	_pid_file_at "$T/canary"
}

# As /dev/stdout is one.
a_link_is_not_replaced_by_a_pid_file() {
	ln -s /proc/self/fd/1 canary
	_pid_file_at "$T/canary"
	echo old >old
	ln -s old link
	_pid_file_at "$T/link"
	holds old old
}

a_socket_is_not_replaced_by_a_pid_file() {
	needs python3
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("canary")'
	_pid_file_at "$T/canary"
}

# Before anything is made: hooks may have effects of their own.
what_cannot_become_a_pid_file_is_found_out_first() {
	mkfifo canary
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "echo >\($T)/ran"])'
	run sbx create -b "$B" --pid-file canary "$ID"
	rc_is 1
	[ ! -e ran ] || fail 'a hook has run'
}

# delete is told the name of what is no container.
a_directory_without_a_record_is_not_emptied() {
	local force
	mkdir -p state/thing
	echo text >state/thing/file
	echo text >state/thing/other
	mkdir state/thing/below
	for force in '' --force; do
		run sbx delete $force thing
		holds state/thing/file text
		holds state/thing/other text
		[ -d state/thing/below ] || escaped 'a directory is gone'
		rc_is 1
		like "$err" 'thing'
	done
	chmod 700 state/thing
	run sbx delete --force thing
	holds state/thing/file text
	rc_is 1
	rm -r state/thing
	mkdir state/empty
	chmod 750 state/empty
	run sbx delete --force empty
	[ -d state/empty ] || escaped 'an empty directory that is not ours is gone'
	rmdir state/empty
}

# What a create that was killed right away leaves.
a_directory_of_ours_without_a_record_goes() {
	mkdir -m 700 state/cut
	echo '{}' >state/cut/state.json.new
	sbx delete cut
	[ ! -e state/cut ] || fail 'it is left'
}

# The state of one user is looked for where another one may write.
_victim() {
	run setpriv --reuid 4242 --regid 4242 --clear-groups -- env XDG_RUNTIME_DIR="$T/shared" "$SBXRUN" "$@"
}

a_link_of_somebody_else_does_not_lead_to_the_state() {
	mkdir -m 1777 shared
	install -d -m 755 -o 4242 -g 4242 home home/data
	as_user 4242 sh -c 'echo text >home/data/file'
	ln -s "$T/home" shared/sbxrun
	chown -h 4243:4243 shared/sbxrun
	chmod 755 "$T"
	_victim delete --force data
	holds home/data/file text
	[[ $err == *'somebody else'* ]] || escaped "the link was followed: $err"
	rc_is 1
	_victim list
	rc_is 1
	# As root, who follows what he is led to just the same.
	ln -s "$T/state" shared/root
	chown -h 4243:4243 shared/root
	bundle
	run "$SBXRUN" --root "$T/shared/root" create -b "$B" "$ID"
	[ ! -e "$T/state/$ID" ] || escaped 'the link was followed'
	rc_is 1
	like "$err" 'root.*somebody else'
	run "$SBXRUN" --root "$T/shared/root/below" create -b "$B" "$ID"
	[ ! -e "$T/state/below" ] || escaped 'the link was followed'
	rc_is 1
}

links_of_ones_own_lead_to_the_state() {
	mkdir -p deep/er
	ln -s deep link
	ln -s "$T/link/er" deep/again
	bundle
	"$SBXRUN" --root "$T/link/again/../../link/er/state" create -b "$B" "$ID"
	[ -d "deep/er/state/$ID" ] || fail 'it is elsewhere'
	"$SBXRUN" --root link/er//state/ delete "$ID"
	[ ! -e "deep/er/state/$ID" ] || fail 'it is left'
	ln -s loop loop
	run "$SBXRUN" --root "$T/loop/state" create -b "$B" "$ID"
	rc_is 1
	like "$err" 'too many levels'
}

run_tests
