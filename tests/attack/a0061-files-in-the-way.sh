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
	run timeout 60 "$SBXRUN" --root "$T/state" create -b "$B" --pid-file "$1" "$ID"
	[ "$(stat -c '%F %t:%T %i' "$1")" = "$before" ] || escaped "$1 is now: $(stat -c '%F' "$1")"
	rc_is 1
	like "$err" "pid-file.*${2:-not a regular file}"
	nothing_is_left
	sbx run -d -b "$B" "$ID"
	run timeout 60 "$SBXRUN" --root "$T/state" exec -d --pid-file "$1" "$ID" sleep 100
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

# _writes OPTION FILE: the verb is told to write there. Never waits.
_writes() {
	run timeout 60 "$SBXRUN" --root "$T/state" "$1" "$2" state nobody
	[ "$rc" != 124 ] || missed "$1 $2 waits"
}

# Where everybody may put something, with the kernel's own protection off or on.
what_others_put_in_the_way_is_not_written_to() {
	local option
	mkdir -m 1777 shared
	as_user 4243 sh -c 'ln -s ../canary shared/link; ln -s ../made shared/dangling; echo theirs >shared/file; mkfifo shared/fifo'
	echo old >canary
	# Through a name of our own: the kernel's protection, where it is on, keeps us from theirs as well.
	ln shared/fifo fifo
	exec 8<>fifo
	for option in --log --timing; do
		for file in link dangling file fifo; do
			_writes "$option" "shared/$file"
			rc_is 1
			holds canary old "$option $file"
			holds shared/file theirs "$option $file"
			[ ! -e made ] || escaped "$option made a file where another's link leads"
			! read -rt 0 <&8 || escaped "$option wrote into another's pipe"
			like "$err" "$option.*(somebody else|[Pp]ermission denied)"
		done
	done
	exec 8>&-
}

# Nothing is there when the runtime looks, and another's link when it opens; the kernel's own protection would hide that.
what_others_put_in_the_way_meanwhile_is_not_written_to() {
	local i option
	needs strace
	mkdir -m 1777 shared
	echo old >canary
	as_user 4243 sh -c 'while :; do ln -s ../canary shared/log; rm -f shared/log; done' 2>/dev/null &
	for ((i = 0; i < STARTS; i++)); do
		for option in --log --timing; do
			run timeout 60 strace -qq -o /dev/null -P shared/log -e trace=open,openat -e inject=open,openat:delay_enter=30000 \
				"$SBXRUN" --root "$T/state" "$option" shared/log state nobody
			holds canary old "$option"
			rm -f shared/log
		done
	done
}

disks_and_directories_are_not_written_to() {
	local option
	mkdir dir
	mknod disk b 7 250 || skip 'no devices can be made here'
	ln -s disk link
	for option in --log --timing; do
		for file in dir disk link; do
			_writes "$option" "$file"
			rc_is 1
			[[ $err =~ $option.*'is a '(directory|block device) ]] || escaped "it was opened: $err"
		done
	done
}

# As callers of runc have it.
logs_may_be_pipes_terminals_and_links_of_ones_own() {
	mkfifo fifo
	_writes --log fifo
	is "$err" 'sbxrun: --log: open fifo: no such device or address'
	exec 8<>fifo
	_writes --log fifo
	read -rt 60 out <&8
	exec 8>&-
	like "$out" 'does not exist'
	ln -s made link
	_writes --log link
	file_has made 'does not exist'
	_writes --log made
	is "$(grep -c 'does not exist' made)" 2
	_writes --log /dev/null
	like "$err" 'does not exist'
	out=$("$SBXRUN" --root "$T/state" --log /dev/stderr state nobody 2>&1 | cat) || :
	like "$out" 'level=error.*sbxrun: '
	mkdir -m 1777 shared
	_writes --log shared/own
	_writes --log shared/own
	is "$(grep -c 'does not exist' shared/own)" 2
}

# Or a create that has succeeded would look like one that has not.
a_file_for_timings_that_can_not_be_written_is_found_out_first() {
	bundle
	run sbx --timing "$T/missing/file" create -b "$B" "$ID"
	rc_is 1
	nothing_is_left
	echo 'something that was longer than the timings could ever be' >timings
	sbx --timing timings create -b "$B" "$ID"
	is "$(head -n 1 timings)" '#total_us step_us stage'
}

run_tests
