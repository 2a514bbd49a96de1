#!/bin/bash
# What was broken once, found by hand: damaged records, files of the caller, hooks that hang.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own a_container_with_a_damaged_record_is_listed_and_can_be_deleted a_stray_file_does_not_make_a_container_undeletable
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# A stopped container whose cgroups are gone, so that a record is not needed to remove them.
_stopped_without_cgroups() {
	local dir
	bundle
	sbx run -d -b "$B" "$ID"
	wait_until 10 status_is "$ID" stopped
	for dir in /sys/fs/cgroup/"$P/$ID" /sys/fs/cgroup/*/"$P/$ID"; do
		[ -L "${dir%/"$P/$ID"}" ] || [ ! -d "$dir" ] || rmdir "$dir"
	done
}

a_container_with_a_damaged_record_is_listed_and_can_be_deleted() {
	local damage
	for damage in '' '{' 'nonsense' '{}'; do
		_stopped_without_cgroups
		printf %s "$damage" >"$T/state/$ID/state.json"
		run sbx list
		like "$out$err" "$ID" "with '$damage'"
		run sbx delete --force "$ID"
		rc_is 0
		nothing_is_left
	done
}

a_stray_file_does_not_make_a_container_undeletable() {
	_stopped_without_cgroups
	touch "$T/state/$ID/stray"
	run sbx delete --force "$ID"
	rc_is 0
	nothing_is_left
}

a_record_that_is_a_fifo_is_no_hang() {
	box
	mv "$T/state/$ID/state.json" record
	mkfifo "$T/state/$ID/state.json"
	run timeout 60 "$SBXRUN" --root "$T/state" state "$ID"
	rc_is 1
	rm "$T/state/$ID/state.json"
	mv record "$T/state/$ID/state.json"
	is "$(status_of "$ID")" running
}

# ---- files of the caller ----

a_file_that_is_only_read_stays_the_callers() {
	bundle '.process.user = {uid: 1000, gid: 1000}' 'args(["/bin/cat"])'
	echo secret >in
	chmod 600 in
	run eval 'sbx run -b "$B" "$ID" <in'
	rc_is 0
	is "$out" secret
	is "$(stat -c %u:%g:%a in)" 0:0:600
}

# ---- hooks that hang ----

a_run_whose_hook_hangs_can_be_ended() {
	local signal
	for signal in TERM INT; do
		rm -f hook
		bundle writable 'sh("echo >/mark")' 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "echo $$ >\($T)/hook; exec sleep 300"])'
		# Not in the background of the shell, where SIGINT is ignored.
		env --default-signal=INT "$SBXRUN" --root "$T/state" run -b "$B" "$ID" &
		BG=$!
		wait_until 10 test -s hook
		kill -"$signal" "$BG"
		wait_until 10 dead "$BG"
		wait_for_background
		isnt "$rc" 0
		[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
		sbx delete --force "$ID"
		nothing_is_left
		wait_until 10 dead "$(<hook)"
	done
}

a_hook_that_deletes_its_own_container_is_no_deadlock() {
	bundle "hook(\"createRuntime\"; \"$SBXRUN\"; [\"sbxrun\", \"--root\", \"$T/state\", \"delete\", \"--force\", \$ID])"
	run timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	isnt "$rc" 124
	sbx delete --force "$ID"
	nothing_is_left
}

# A record is JSON, and can't keep such a name; what it named was looked for in vain, and left.
a_state_directory_that_is_not_utf8_is_refused() {
	local root=$T/$'ro\377ot'
	bundle
	run "$SBXRUN" --root "$root" create -b "$B" "$ID"
	rc_is 1
	like "$err" 'root.*UTF-8'
	cp -r "$B" "$T/"$'bun\377dle'
	run sbx create -b "$T/"$'bun\377dle' "$ID"
	rc_is 1
	like "$err" 'bundle.*UTF-8'
	nothing_is_left
}

a_log_that_may_not_grow_kills_nobody() {
	bundle '.process.capabilities.bounding += ["CAP_NO_SUCH"]' 'sh("exit 7")'
	truncate -s 1M log
	run bash -c 'ulimit -f 1024; exec "$@"' bash "$SBXRUN" --root "$T/state" --log "$T/log" run -b "$B" "$ID"
	rc_is 7
	state_is_empty
}

names_that_speak_to_the_terminal_are_not_printed() {
	bundle
	mv "$B" "$T/"$'esc\n\033[31mX'
	sbx create -b "$T/"$'esc\n\033[31mX' "$ID"
	run sbx list
	rc_is 0
	unlike "$out" $'\033'
	is "$(wc -l <"$T/out")" 2
}

run_tests
