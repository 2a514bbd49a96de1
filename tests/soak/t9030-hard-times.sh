#!/bin/bash
# A state directory that is full or read-only, a program file that is replaced, a log that nobody reads.
TEST_LIMIT=${TEST_LIMIT:-600}
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# The state directory becomes a small file system, with these options. Should the test fail, it is the framework that unmounts
# it, after the containers in it are gone.
_state_on() {
	mount -t tmpfs -o "$1" tmpfs "$T/state"
}

_deleted_with_room_again() {
	sbx delete -f "$ID"
	state_is_empty
	umount "$T/state"
}

# A create of another container, which must fail and leave nothing.
_other_create() {
	local first=$ID
	bundle
	run sbx create -b "$B" "$ID"
	rc_is 1
	nothing_is_left
	ID=$first
}

a_full_disk_stops_create_and_nothing_else() {
	bundle 'sh("while :; do sleep 1; done")'
	_state_on size=128k,mode=700
	sbx run -d -b "$B" "$ID"
	! head -c 1M /dev/zero >"$T/state/filler" || fail 'it is not full'
	_other_create
	like "$err" 'no space left'
	is "$(status_of "$ID")" running
	sbx exec "$ID" /bin/true
	sbx pause "$ID"
	sbx resume "$ID"
	sbx kill "$ID" KILL
	wait_until 20 status_is "$ID" stopped
	sbx delete "$ID"
	nothing_is_left
	rm "$T/state/filler"
	_deleted_with_room_again
}

a_state_directory_without_inodes_stops_create_and_nothing_else() {
	local i
	bundle 'sh("while :; do sleep 1; done")'
	_state_on size=1m,nr_inodes=12,mode=700
	sbx run -d -b "$B" "$ID"
	for ((i = 0; i < 20; i++)); do
		: >"$T/state/filler.$i" || break
	done 2>/dev/null
	_other_create
	like "$err" 'no space left'
	sbx delete -f "$ID"
	nothing_is_left
	rm "$T/state"/filler.*
	_deleted_with_room_again
}

a_read_only_state_directory_is_looked_at_only() {
	local pid
	bundle 'sh("while :; do sleep 1; done")'
	_state_on size=1m,mode=700
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	mount -o remount,ro "$T/state"
	_other_create
	like "$err" 'read-only file system'
	is "$(status_of "$ID")" running
	sbx exec "$ID" /bin/true
	# It can't be taken off the record: it says so, also when it has ended, and stays there until it can.
	run sbx delete -f "$ID"
	rc_is 1
	like "$err" 'read-only file system'
	wait_until 20 dead "$pid"
	is "$(status_of "$ID")" stopped
	mount -o remount,rw "$T/state"
	_deleted_with_room_again
	nothing_is_left
}

# A program of another version in the place of the one that made the container, as a package upgrade puts it there.
containers_outlive_an_upgrade() {
	local old=$SBXRUN
	needs make
	[ -d "${old%/*}/runtime" ] || skip 'needs the objects of the build'
	cp "$old" "$T/sbxrun-oci"
	SBXRUN=$T/sbxrun-oci
	bundle 'sh("while :; do sleep 1; done")'
	sbx run -d -b "$B" "$ID"
	bundle 'sh("while :; do sleep 1; done")'
	sbx create -b "$B" "$ID"
	bundle 'sh("exec sleep 1000")'
	background run -b "$B" "$ID"
	wait_until 20 status_is "$ID" running
	# The same objects, but for the version.
	cp -a "${old%/*}" "$T/build"
	rm "$T/build/sbxrun" "$T/build/runtime/cli/version.o"
	make -s -C "${TESTS_DIR%/*}" B="$T/build" VERSION=99.9 "$T/build/sbxrun"
	mv "$T/build/sbxrun" "$T/sbxrun-oci"
	like "$(sbx --version)" '99\.9'
	# The one in the foreground, whose runtime still is the old program.
	sbx exec "$ID" /bin/true
	sbx kill "$ID" KILL
	wait_for_background
	is "$rc" 137
	nothing_is_left
	ID=$P-1
	is "$(status_of "$ID")" running
	sbx exec "$ID" /bin/true
	sbx pause "$ID"
	is "$(status_of "$ID")" paused
	sbx resume "$ID"
	sbx update --pids-limit 50 "$ID"
	sbx kill "$ID" KILL
	wait_until 20 status_is "$ID" stopped
	sbx delete "$ID"
	nothing_is_left
	ID=$P-2
	sbx start "$ID"
	is "$(status_of "$ID")" running
	sbx delete -f "$ID"
	state_is_empty
}

# A pipe as log: nobody has it open, has stopped to read, or is gone. No verb waits or dies for it.
a_log_that_nobody_reads_holds_up_nothing() {
	local reader
	mkfifo "$T/log"
	bundle 'args(["/bin/true"])' '.process.user.umask = 0' '.process.capabilities.bounding += ["CAP_UNHEARD_OF"]'
	run timeout 60 "$SBXRUN" --root "$T/state" --log "$T/log" run -b "$B" "$ID"
	isnt "$rc" 124
	# Opened, and never read: the pipe is full soon.
	exec {reader}<>"$T/log"
	dd if=/dev/zero of="$T/log" bs=4k count=16 2>/dev/null
	run timeout 60 "$SBXRUN" --root "$T/state" --log "$T/log" --debug run -b "$B" "$ID"
	rc_is 0
	exec {reader}<&-
	run bash -c "timeout 60 $SBXRUN --root $T/state --debug run -b $B $ID 2> >(exec true); exit"
	rc_is 0
	run bash -c "timeout 60 $SBXRUN --root $T/state start $ID.none 2> >(exec true); exit"
	rc_is 1
}

run_tests
