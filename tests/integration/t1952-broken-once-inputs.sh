#!/bin/bash
# What was broken once, found by hand: hostile images and neighbours, odd values in configs, terminals that nobody reads.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# The image's link decides where a volume of the config lands.
a_volume_does_not_land_on_proc_through_a_link_of_the_image() {
	local target mount
	mkdir volume
	for target in /proc /proc/sys ../proc /proc/self /proc/1/net; do
		for mount in '{destination: "/data", type: "tmpfs", source: "tmpfs"}' \
			'{destination: "/data", type: "bind", source: ($T + "/volume"), options: ["bind"]}'; do
			bundle 'sh("echo ran; cat /proc/self/mountinfo")' "mount($mount)"
			ln -s "$target" "$B/rootfs/data"
			run sbx run -b "$B" "$ID"
			isnt "$rc" 0 "$target: $mount"
			is "$out" ''
			like "$err" 'mounts\[7\]' "$target: $mount"
			nothing_is_left
		done
	done
}

the_root_as_a_read_only_path_is_read_only_or_refused() {
	run_in_box 'echo x >/x && echo written; :' writable '.linux.readonlyPaths = ["/"]'
	unlike "$out" written
	[ ! -e "$B/rootfs/x" ] || fail 'it was written'
	[ "$rc" = 0 ] || like "$err" 'readonlyPaths'
}

the_root_as_a_masked_path_is_masked_or_refused() {
	local path
	for path in / //. /proc/..; do
		run_in_box 'echo seen' ".linux.maskedPaths = [\"$path\"]"
		is "$out" '' "$path"
		isnt "$rc" 0 "$path"
		nothing_is_left
	done
}

a_hook_with_an_endless_time_limit_gets_it() {
	local limit
	for limit in 4611686018427387904 9223372036854775807 9007199254740993; do
		bundle 'hook("prestart"; "/bin/sh"; ["sh", "-c", "sleep 0.1; echo >\($T)/ran"])'
		# Through jq such a number would be rounded.
		sed -i "s|\"path\": \"/bin/sh\",|\"path\": \"/bin/sh\", \"timeout\": $limit,|" "$B/config.json"
		file_has "$B/config.json" "timeout.: $limit,"
		run sbx run -b "$B" "$ID"
		if [ "$rc" = 0 ]; then
			rm ran
		else
			unlike "$err" 'timed out'
			like "$err" 'hooks.prestart\[0\].timeout'
		fi
	done
}

a_failed_create_takes_its_pid_file_back() {
	bundle
	refused . sbx create -b "$B" --pid-file "$T/pid" --pidfd-socket "$T/not/there" "$ID"
	[ ! -e pid ] || fail "a pid file with $(<pid)"
	nothing_is_left
}

error_texts_send_no_control_characters_to_the_terminal() {
	local escape=$'\e' bell=$'\a' csi=$'\xc2\x9b'
	bundle 'args(["\u001b[31mfoo\u0007\u009b\r"])'
	run sbx run -b "$B" "$ID"
	isnt "$rc" 0
	like "$err" foo
	unlike "$err" "[$escape$bell"$'\r]'
	[[ $err != *"$csi"* ]] || fail 'a C1 control sequence introducer'
	run sbx state $'no\e]0;title\a'
	unlike "$err" "[$escape$bell]"
	run sbx run -b "$B" --no-such$'\e[31m' "$ID"
	unlike "$err" "[$escape$bell]"
}

a_working_directory_is_named_the_same_way_everywhere() {
	run_in_box pwd '.process.cwd = "/nonexist/../tmp"'
	rc_is 0
	is "$out" /tmp
	run_in_box pwd writable '.process.cwd = "/made/./here/../there"'
	rc_is 0
	is "$out" /made/there
}

# ---- neighbours ----

# With a user namespace of its own its CAP_SYS_PTRACE counts for what was made in there only, and a container in the making
# that joins both has come from outside.
a_neighbour_that_may_trace_in_its_user_namespace_gets_nothing_of_one_that_joins_it() {
	local i first neighbour many=40
	needs gcc
	[ "$VIEW" != v2 ] || many=10
	bundle writable 'args(["/hunter"])' 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	gcc -O2 -static -pthread -o "$B/rootfs/hunter" "$TOOLS/hunter.c" || skip 'no static C library'
	chmod 777 "$B/rootfs"
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/report"
	neighbour=$B first=$(pid_of "$ID")
	bundle 'args(["/hunter", "idle"])' "ns(\"pid\"; \"/proc/$first/ns/pid\") | ns(\"user\"; \"/proc/$first/ns/user\")"
	ln "$neighbour/rootfs/hunter" "$B/rootfs/hunter"
	run sbx run -b "$B" "$ID"
	for ((i = 0; i < many; i++)); do
		# One that attaches may disturb the program's end, but not the host.
		timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null >/dev/null 2>>errors || :
	done
	: >"$neighbour/rootfs/end"
	wait_until 20 grep -q ^end "$neighbour/rootfs/report"
	slurp out "$neighbour/rootfs/report"
	cat errors
	[ "$(nproc)" = 1 ] || unlike "$out" 'looked 0'
	unlike "$out" GOT
}

# ---- a terminal whose bytes nobody takes ----

# The container ends while there is more in its terminal than the pipe takes. Sets BG.
_run_into_a_full_pipe() {
	needs python3
	mkfifo pipe
	exec 7<>pipe
	bundle writable '.process.terminal = true' \
		'sh("yes 0123456789012345678901234567890123456789 & sleep 1; echo >/ends; exit 7")'
	"$PYTHON" -c 'import os, sys
os.dup2(os.open("pipe", os.O_WRONLY | getattr(os, sys.argv[1], 0)), 1)
os.execv(sys.argv[2], sys.argv[2:])' "$1" "$SBXRUN" --root "$T/state" run -b "$B" "$ID" 7>&- &
	BG=$!
	wait_until 20 test -e "$B/rootfs/ends"
	wait_until 10 _program_has_ended
}

_program_has_ended() {
	[ ! -e "$T/state/$ID" ] || status_is "$ID" stopped
}

# Again and again: the first signals may still be for the program, though it has just ended.
_ends_when_told_so() {
	kill -TERM "$BG" 2>/dev/null || :
	dead "$BG"
}

a_run_whose_output_nobody_takes_can_be_ended() {
	_run_into_a_full_pipe none
	wait_until 10 _ends_when_told_so
	wait_for_background
	nothing_is_left
}

# Clock ticks that process $1 has used.
_ticks_of() {
	local fields
	read -ra fields <"/proc/$1/stat" || return 0
	echo $((fields[13] + fields[14]))
}

a_run_whose_output_would_block_does_not_spin() {
	local before after
	_run_into_a_full_pipe O_NONBLOCK
	sleep 0.2 # no event: whatever it has to do first
	before=$(_ticks_of "$BG")
	sleep 1.5 # no event: it has the time to spin
	after=$(_ticks_of "$BG")
	# Of 150.
	[ "$((${after:-0} - ${before:-0}))" -lt 50 ] || fail "it has used $((after - before)) ticks in 1.5 s"
	wait_until 10 _ends_when_told_so
	wait_for_background
	nothing_is_left
}

run_tests
