#!/bin/bash
# sbxrun box: a box that stays between calls. What is kept, what ends with a call, which boxes there are, and how they go.
# Views: all
# Views: own code_is_written_run_and_removed which_boxes_there_are_is_told what_is_no_box_is_left_alone unused_boxes_expire_and_say_so a_long_call_is_not_idle
# Views: own calls_come_one_at_a_time there_are_a_hundred_at_most the_result_is_that_of_do
# Views: own a_box_that_is_destroyed_is_gone_for_all what_was_used_is_told volumes_are_of_the_box calls_are_recorded the_log_is_bounded a_call_has_no_rights
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

# The runtime, with busybox for a root filesystem. _new OPTION… makes a box, whose id is $BOX; _sh OPTION… CODE runs a shell in it.
_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	[ -n "${B:-}" ] || bundle
	BOX=$(_box create --rootfs "$B/rootfs" "$@")
}
_sh() { _box exec "${@:1:$#-1}" "$BOX" -- sh -c "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }
_pid() { sbx state "box-$BOX" | jq .pid; }
# How many processes are in the box but its first.
_others() { sbx ps --format json "box-$BOX" | jq 'length - 1'; }
_is_quiet() { [ "$(_others)" = 0 ]; }

files_stay_and_processes_do_not() {
	_new
	run _sh 'echo kept >f; mkdir d; echo tmp >/tmp/t; (setsid sh -c "sleep 1000; echo late >f" &); (sleep 1000 &); echo done'
	rc_is 0
	is "$out" "done"
	is "$(_others)" 0
	run _sh 'cat f /tmp/t; ls'
	is "$out" $'kept\ntmp\nd\nf'
	run _sh '(: >/x) 2>&1; exit 6'
	rc_is 6
	like "$out" 'Read-only'
	_box destroy "$BOX"
	run _sh 'cat f'
	rc_is 125
	like "$err" 'sandbox not found'
}

a_call_has_no_rights() {
	_new
	run _sh 'grep -E "^(Cap(Eff|Bnd|Prm)|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\t" | tr "\n" " "; id -u; grep -c : /proc/self/net/dev'
	like "$out" 'CapPrm:0{16} CapEff:0{16} CapBnd:0{16} NoNewPrivs:1 Seccomp:2 '
	like "$out" $'\n1$'
	[ -n "${SBX_UID:-}" ] || like "$out" 65534
	SECRET=x run _sh -e A=1 'env | sort'
	unlike "$out" SECRET
	like "$out" '^A=1'
	run _sh 'echo $A'
	is "$out" ''
}

code_is_written_run_and_removed() {
	bundle
	printf '#!/bin/sh\nexec sh "$@"\n' >"$B/rootfs/bin/bash"
	chmod 755 "$B/rootfs/bin/bash"
	BOX=$(_box create --rootfs "$B/rootfs" -e WHO=all bash)
	run _box run "$BOX" bash 'echo mine >main.sh; echo $1 $WHO' -- -one
	is "$out" '-one all'
	run _box run -e WHO=me "$BOX" bash - <<<'echo input $WHO; cat; exit 3'
	rc_is 3
	is "$out" 'input me'
	run _sh 'ls -A; cat main.sh'
	is "$out" $'main.sh\nmine'
	run _box run -w /tmp "$BOX" bash 'pwd'
	is "$out" /tmp
	run _box run "$BOX" cobol x
	rc_is 125
	like "$err" 'no language "cobol"'
}

the_result_is_that_of_do() {
	_new --id "$P.the_one" --memory 64m
	run _sh --json 'cat; mkdir /usr/x; mount -t tmpfs x /tmp; printf err >&2; exit 2' <<<in
	rc_is 2
	is "$err" ''
	is "$(_of '.v, .sandbox_id, .status, .exit_code, .stdout, .limits.memory, .encoding')" $'1\n'"$P"$'.the_one\nerror\n2\nin\n\n67108864\nutf-8'
	is "$(_of '.denials[] | select(.name == "mount") | .kind, .errno')" $'syscall\nEPERM'
	like "$(_of '.denials[] | select(.kind == "file") | .target')" '/usr/x'
	_sh --stream 'echo one; exit 4' >events || :
	is "$(jq -rs '.[0].data, .[1].event, .[1].result.sandbox_id' <events)" $'one\n\nend\n'"$P.the_one"
	run _sh --redact --output-limit 12 'echo me@example.org 123456789012345'
	like "$out" '^\[REDACTED_EM.*TRUNCATED'
	run _box exec "$BOX" -- nosuch
	rc_is 127
	run _box exec --json "$BOX" -- /etc
	rc_is 126
	run _box exec --json nosuch -- true
	rc_is 125
	is "$(_of '.status, .error.type, .sandbox_id')" $'sandbox_error\nSandboxNotFound\nnosuch'
}

time_that_is_up_ends_the_call_and_not_the_box() {
	_new --timeout 100
	run _sh --json --timeout 0.5 'echo kept >f; trap "" TERM; (setsid sleep 1001 &); echo before; sleep 1000'
	rc_is 124
	is "$(_of '.status, .stdout, (.limits.timeout_s | . * 10 / 10)')" $'timeout\nbefore\n\n0.5'
	is "$(_others)" 0
	run _sh --json 'cat f'
	is "$(_of '.stdout, (.limits.timeout_s | . * 10 / 10)')" $'kept\n\n100'
}

limits_are_the_boxs() {
	local note
	_new --memory 32m --disk 1m --pids-limit 8
	run _sh 'dd if=/dev/zero of=big bs=64k count=64 2>&1'
	like "$out" 'No space left'
	run _sh 'stat -c %s big; rm big; echo x >small'
	is "$out" 1048576
	note=$(_box create --json --id "$P.other" --rootfs "$B/rootfs" | jq -r '.notes | join(" ")')
	[[ $note != *limit* && $note != *cgroup* ]] || skip "no limits for this caller here"
	run _sh --json 'exec awk "BEGIN { s = \"x\"; while (length(s) < 128000000) s = s s; print length(s) }"'
	rc_is 137
	is "$(_of '.status, .oom_killed')" $'oom\ntrue'
	run _sh --json 'cat small'
	is "$(_of '.stdout, .oom_killed')" $'x\n\nfalse'
	run _sh 'i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i + 1)); done; echo done'
	like "$err" 'fork'
	is "$(_others)" 0
}

which_boxes_there_are_is_told() {
	_new --id "$P.a.1" --idle 60
	_new --id "$P.b"
	is "$(_box list --json | jq -r 'map(.sandbox_id) | join(" ")')" "$P.a.1 $P.b"
	is "$(_box list --json | jq -c '.[0] | [.status, .idle_limit_s, .disk_backing, .limits.pids, .language]')" '["idle",60,"memory",64,null]'
	like "$(_box list)" $'^ID .*\n'"$P"'.a.1 +idle'
	run _box create --id "$P.b" --rootfs "$B/rootfs"
	rc_is 125
	like "$err" "there is a box \"$P.b\" already"
	for id in '' '../x' 'a/b' 'a b' "$(printf 'x\ny')" "$(printf 'x%.0s' {1..65})"; do
		run _box destroy "$id"
		rc_is 125
		[ -z "$id" ] || like "$err" 'is no id of a box'
	done
	run _box create --json --rootfs "$B/rootfs" bash
	is "$(_of '.status, .language, .idle_limit_s')" $'idle\nshell\n3600'
	run _box create
	rc_is 125
	like "$err" 'a language, or --rootfs'
	run _box create --rootfs "$B/rootfs" --preset pure
	rc_is 125
	run _box list --memory 1m
	rc_is 125
	like "$err" 'box list has no --memory'
	run _box nosuch
	rc_is 125
	like "$err" 'no verb "nosuch" .*create'
}

# Their cgroups have different names, though they are called the same.
two_state_directories_may_have_the_same_id() {
	local other=$T/state2 pids
	_new --id same
	_other() { SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$other" box "$@"; }
	run _other create --id same --rootfs "$B/rootfs"
	rc_is 0
	_other exec same -- sh -c 'echo theirs >f; sleep 1000' >/dev/null &
	wait_until 60 eval '[ "$(_other read same f 2>/dev/null)" = theirs ]'
	_sh 'echo ours >f'
	run _other pause same
	[ "$rc" != 0 ] || is "$(_sh 'cat f')" ours
	_box destroy same
	is "$(_other read same f)" theirs
	pids=$("$SBXRUN" --root "$other" ps --format json box-same | jq length)
	[ "$pids" -ge 3 ] || fail "$pids processes are left"
	_other destroy same
	wait $! || :
	is "$(_box list --json; _other list --json)" $'[]\n[]'
}

# What a call has used is told: memory of the box so far, and what its workspace holds.
what_was_used_is_told() {
	_new --id used
	run _sh --json 'head -c 3000000 /dev/zero >f'
	[[ $(_of '.notes | join(" ")') != *'no cgroups'* ]] || skip 'nobody counts memory here'
	is "$(_of '.usage.disk_used >= 3000000 and .usage.disk_used < 4000000')" true
	is "$(_of '.usage.memory_peak == null or .usage.memory_peak > 3000000')" true
	is "$(_of '.usage.pids_peak == null or .usage.pids_peak > 1')" true
	run _sh --json 'rm f'
	is "$(_of '.usage.disk_used < 1000000')" true
}

# From the moment on in which somebody has begun to, and though he never comes to the end.
a_box_that_is_destroyed_is_gone_for_all() {
	local lock
	_new --id "$P.half"
	exec {lock}<"$T/state/box-$P.half"
	flock "$lock"
	"$SBXRUN" --root "$T/state" box destroy "$P.half" {lock}<&- &
	wait_until 20 eval '[ "$(tail -c 1 "$T/state/box-$P.half/box")" = g ]'
	kill -STOP $! # it would give up
	for verb in 'exec X -- true' 'stat X .' 'pause X' 'logs X'; do
		# shellcheck disable=SC2086
		run _box ${verb/X/$P.half}
		rc_is 125
		like "$err" 'sandbox not found'
	done
	is "$(_box list --json)" '[]'
	kill -KILL $!
	wait $! || :
	exec {lock}<&-
	is "$(_box gc --audit "$T/audit")" '1 removed'
	is "$(jq -r .verb audit)" 'box gc'
	run _box exec "$P.half" -- true
	like "$err" 'sandbox not found'
	[ ! -e "$T/state/box-$P.half" ] || fail 'it is still there'
}

# A container of somebody's that happens to have such a name.
what_is_no_box_is_left_alone() {
	bundle 'sh("sleep 1000")'
	sbx create -b "$B" "box-$P"
	run _box destroy "$P"
	rc_is 125
	like "$err" 'sandbox not found'
	run _box exec "$P" -- true
	rc_is 125
	is "$(_box gc)" '0 removed'
	is "$(status_of "box-$P")" created
	is "$(_box list --json)" '[]'
}

unused_boxes_expire_and_say_so() {
	_new --id "$P.short" --idle 1
	_new --id "$P.long"
	# By the time of files, and so by the clock of the wall, both are of last year.
	find "$T/state" -exec touch -h -d '1 year ago' {} +
	mkdir "$T/state/box-$P.none" # of a create that was killed at its begin
	_box gc
	[ ! -e "$T/state/box-$P.none" ] || fail 'an empty directory stays'
	is "$(_box list --json | jq -r '.[] | select(.sandbox_id | endswith("long")) | .status')" idle
	wait_until 20 _is_expired "$P.short"
	rc_is 125
	like "$err" "sandbox expired: \"$P.short\" was idle for too long"
	is "$(sbx list -q)" "box-$P.long"
	run _box exec --json "$P.short" -- true
	is "$(_of .error.type)" SandboxExpired
	is "$(_box list --json | jq -r 'map(.sandbox_id) | join(" ")')" "$P.long"
	_new --id "$P.short"
	run _box exec "$P.short" -- echo again
	is "$out" again
	_box destroy "$P.short"
	run _box exec "$P.short" -- true
	like "$err" 'sandbox not found'
}
_is_expired() {
	sleep 1.1 # no event: a call would use it
	run _box exec "$1" -- true
	[ "$rc" != 0 ]
}

a_long_call_is_not_idle() {
	_new --idle 1
	_sh 'echo up; until [ -e go ]; do sleep 0.1; done; echo end' >out &
	wait_until 20 grep -q up out
	is "$(_box list --json | jq -r '.[].status')" busy
	sleep 1.5 # no event: for longer than it may be idle
	is "$(_box gc)" '0 removed'
	_box write "$BOX" go </dev/null
	wait $!
	is "$(cat out)" $'up\nend'
}

calls_come_one_at_a_time() {
	_new
	"$SBXRUN" --root "$T/state" box exec "$BOX" -- sh -c 'echo up; sleep 1000; echo first >>log' >out &
	wait_until 20 grep -q up out
	run _sh --timeout 0.3 'echo second'
	rc_is 125
	like "$err" 'is busy'
	run _sh --json --timeout 0.3 'echo second'
	is "$(_of .error.type)" SandboxBusy
	kill -TERM $!
	wait $! || :
	run _sh --timeout 60 'echo third >>log; cat log'
	is "$out" third
}

who_is_killed_takes_the_call_along() {
	_new
	"$SBXRUN" --root "$T/state" box exec "$BOX" -- sh -c 'echo up; (setsid sleep 1000 &); sleep 1000' >up &
	wait_until 20 grep -q up up
	kill -KILL $!
	wait $! || :
	wait_until 20 _is_quiet
	run _sh 'echo next'
	is "$out" next
	# Its own reaper, killed from inside.
	run _sh --json 'kill -9 $PPID; sleep 1000'
	is "$(_of '.status, .signal')" $'signal\nSIGKILL'
	is "$(_others)" 0
	run _sh 'echo next'
	is "$out" next
	# Both: the next call begins with an empty box.
	"$SBXRUN" --root "$T/state" box exec "$BOX" -- sh -c 'echo up; sleep 1000' >up2 &
	wait_until 20 grep -q up up2
	kill -STOP $!
	kill -KILL "$(_reaper_of_call)"
	kill -KILL $!
	wait $! || :
	run _sh 'pidof sleep; echo none'
	is "$out" none
}
_reaper_of_call() {
	local pid first
	first=$(_pid)
	for pid in $(sbx ps --format json "box-$BOX" | jq '.[]'); do
		[ "$pid" = "$first" ] || [ "$(cat "/proc/$pid/comm")" != reaper ] || echo "$pid"
	done
}

a_box_that_has_ended_is_told_and_removed() {
	_new
	kill -KILL "$(_pid)"
	wait_until 20 eval '[ "$(status_of "box-$BOX")" = stopped ]'
	run _sh true
	rc_is 125
	like "$err" 'sandbox expired: .*has ended by itself'
	is "$(sbx list -q)" ''
}

destroy_wins_over_a_call() {
	_new
	_sh --json 'echo up >f; sleep 1000' >out 2>/dev/null &
	# Before the program runs, what ends the call is an error of sbxrun's.
	wait_until 60 eval '[ "$(_box read "$BOX" f 2>/dev/null)" = up ]'
	_box destroy "$BOX"
	wait $! || :
	is "$(jq -r '.status, .signal' out)" $'signal\nSIGKILL'
	is "$(sbx list -q)" ''
}

# What a create leaves that was killed before it had written the file of the box.
a_box_that_was_never_finished_is_swept() {
	_new
	rm "$T/state/box-$BOX/box"
	run _sh true
	rc_is 125
	like "$err" 'sandbox not found'
	is "$(_box gc)" '1 removed'
	is "$(sbx list -q)" ''
}

there_are_a_hundred_at_most() {
	local i
	[ "$VIEW" != v2 ] || [ -z "${SBX_IN_UML:-}" ] || skip 'a fork costs too much here'
	bundle
	for ((i = 0; i < 100; i++)); do
		mkdir -p "$T/state/box-fill$i"
		: >"$T/state/box-fill$i/left" # an empty one is what a create that was killed has left
	done
	chmod 700 "$T"/state "$T"/state/box-fill*
	[ -z "${SBX_UID:-}" ] || chown -R "$SBX_UID" "$T/state"
	run _box create --rootfs "$B/rootfs"
	rc_is 125
	like "$err" 'there are 100 boxes'
	rm -r "$T"/state/box-fill*
	_new
}

what_is_paused_goes_on_or_ends_in_time() {
	_new
	run _box pause "$BOX"
	[ "$rc" = 0 ] || skip "no limits for this caller here"
	is "$(_box list --json | jq -r '.[].status')" paused
	run _sh true
	rc_is 125
	like "$err" "is paused: box resume $BOX"
	_box resume "$BOX"
	_sh 'echo up; until [ -e go ]; do sleep 0.1; done; echo end' >out &
	wait_until 20 grep -q up out
	_box pause "$BOX"
	_box write "$BOX" f <<<'while it is frozen'
	_box write "$BOX" go </dev/null
	sleep 0.5 # no event: it is frozen
	is "$(cat out)" up
	_box resume "$BOX"
	wait $!
	is "$(cat out)" $'up\nend'
	_sh --timeout 4 'echo up; sleep 1000' >out2 2>/dev/null &
	wait_until 20 grep -q up out2
	_box pause "$BOX"
	run wait $!
	rc_is 124
	run _sh 'cat f'
	is "$out" 'while it is frozen'
	_box pause "$BOX"
	_box destroy "$BOX"
	is "$(sbx list -q)" ''
}

what_was_done_is_told() {
	_new
	_box write "$BOX" f <<<x
	run _sh 'exit 3'
	run _box read "$BOX" nosuch
	is "$(_box logs "$BOX" | jq -r '[.verb, .path, .exit_code, .success, .args[2]] | @csv')" $'"write","f",,true,\n"exec",,3,false,"exit 3"\n"read","nosuch",,false,'
	run _box write "$BOX" "$(printf 'x\ny')" <<<x
	is "$(_box logs "$BOX" | jq -s length)" 4
	run _box logs nosuch
	rc_is 125
}

# Past its size the file becomes the old one.
the_log_is_bounded() {
	_new
	head -c 1100000 /dev/zero | tr '\0' '\n' >"$T/state/box-$BOX/log"
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" "$T/state/box-$BOX/log"
	_sh true
	_sh true
	is "$(wc -l <"$T/state/box-$BOX/log")" 2
	is "$(_box logs "$BOX" | jq -s length)" 2
}

calls_are_recorded() {
	_new --id "$P"
	run _sh --audit "$T/audit" 'exit 3'
	rc_is 3
	is "$(jq -r '.verb, .id, .exit_code' "$T/audit")" $'box exec\n'"$P"$'\n3'
	run _sh --audit /nosuch/audit 'echo ran >ran'
	rc_is 125
	run _sh 'ls'
	is "$out" ''
}

volumes_are_of_the_box() {
	_new
	[[ $(_box create --json --id "$P.other" --rootfs "$B/rootfs" | jq -r '.notes | join(" ")') != *'no user namespace'* ]] || skip 'this host maps no ids'
	mkdir project
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" project
	_new -v "$T/project:/workspace"
	run _sh 'echo new >made'
	rc_is 0
	is "$(ls -A project)" made
	is "$(_box list --json | jq -r '.[] | select(.sandbox_id == "'"$BOX"'").disk_backing')" volume
}

run_tests
