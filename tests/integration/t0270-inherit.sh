#!/bin/bash
# What the caller happens to have set is not passed on: signals, scheduling, terminal, descriptors.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

blocked_and_ignored_signals_do_not_pass() {
	bundle 'args(["/bin/grep", "-E", "^Sig(Blk|Ign):|^ShdPnd:", "/proc/self/status"])'
	run env --block-signal=TERM,USR1,RTMIN+3 --ignore-signal=HUP,INT,PIPE,CHLD,USR2,RTMAX "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" $'ShdPnd:\t0000000000000000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
}

blocked_and_ignored_signals_do_not_pass_through_create() {
	bundle writable 'sh("exec grep -E \"^Sig(Blk|Ign):\" /proc/self/status >/seen")'
	env --block-signal --ignore-signal=HUP,CHLD,USR2 "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	env --block-signal --ignore-signal=HUP,CHLD,USR2 "$SBXRUN" --root "$T/state" start "$ID"
	wait_until 10 grep -q SigIgn "$B/rootfs/seen"
	is "$(<"$B/rootfs/seen")" $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
}

hooks_get_no_blocked_or_ignored_signals() {
	bundle 'hook("createRuntime"; "/bin/grep"; ["grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"])' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "exec grep -E \"^Sig(Blk|Ign):\" /proc/self/status >\($T)/seen"])'
	env --block-signal=TERM,USR1 --ignore-signal=HUP,CHLD,USR2 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	is "$(<seen)" $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000'
}

# Prints nice value and policy of the first process.
SCHED='read -r line </proc/1/stat; set -- ${line##*) }; echo ${17} ${39}'

nice_and_policy_do_not_pass() {
	bundle "sh($(jq -n --arg c "$SCHED" '$c'))"
	run nice -n 7 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" '0 0'
	run chrt -b 0 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" '0 0'
}

the_io_class_does_not_pass() {
	bundle 'sh("sleep 100")'
	ionice -c 3 "$SBXRUN" --root "$T/state" run -d -b "$B" "$ID"
	unlike "$(ionice -p "$(pid_of "$ID")")" idle
}

the_affinity_does_not_pass() {
	local plain
	bundle 'sh("grep Cpus_allowed_list /proc/1/status; true")'
	run sbx run -b "$B" "$ID"
	plain=$out
	run taskset -c 0 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" "$plain"
	like "$plain" "$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)$"
}

the_program_has_a_session_of_its_own() {
	run_in_box 'read -r line </proc/1/stat; set -- ${line##*) }; echo "$3 $4 $5"'
	is "$out" '1 1 0'
}

the_callers_terminal_is_not_the_programs() {
	bundle writable 'sh("read -r line </proc/1/stat; set -- ${line##*) }; echo \"$3 $4 $5\" >/seen; echo x >/dev/tty && echo tty >>/seen; echo end >>/seen")'
	run script -qec "$SBXRUN --root $T/state run -b $B $ID" /dev/null
	rc_is 0
	is "$(<"$B/rootfs/seen")" $'1 1 0\nend'
}

descriptors_do_not_pass() {
	local pid
	bundle writable 'sh("exec >/seen; ls /proc/1/fd; echo end")'
	sbx create -b "$B" "$ID" 3</dev/zero 17</ 255</dev/zero
	pid=$(pid_of "$ID")
	[ ! -e "/proc/$pid/fd/17" ] && [ ! -e "/proc/$pid/fd/255" ] || fail 'init keeps them until then'
	sbx start "$ID" 3</dev/zero 18</
	wait_until 10 grep -q end "$B/rootfs/seen"
	is "$(<"$B/rootfs/seen")" $'0\n1\n2\nend'
}

the_environment_does_not_pass_to_hooks() {
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "cat /proc/self/environ >\($T)/seen"])' \
		'hook("poststop"; "/bin/sh"; ["sh", "-c", "cat /proc/self/environ >>\($T)/seen"])'
	SECRET_OF_CALLER=1 sbx run -b "$B" "$ID"
	[ -e seen ] || fail 'the hook did not run'
	unlike "$(tr '\0' '\n' <seen)" SECRET_OF_CALLER
}

a_caller_that_dies_takes_nothing_along() {
	local pid
	bundle 'sh("sleep 100")'
	# As engines do it: the runtime is told to die with its parent.
	setpriv --pdeathsig KILL -- sh -c '"$0" --root "$1" run -d -b "$2" "$3"; exit 0' "$SBXRUN" "$T/state" "$B" "$ID"
	pid=$(pid_of "$ID")
	nap
	lives "$pid" || fail 'it died with the caller'
	is "$(status_of "$ID")" running
}

run_tests
