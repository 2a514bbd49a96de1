#!/bin/bash
# sbxrun learn: every call is seen, of every process and thread; what is told of it holds; and nothing is given for its sake.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

# _caller: $B with the program that makes calls in known numbers.
_caller() {
	[ -n "${B:-}" ] || bundle
	[ -x "$SBXT_WORK/caller" ] || {
		cc -O1 -w -static -pthread -o "$SBXT_WORK/caller.$$" "$TESTS_DIR/tools/caller.c" && mv "$SBXT_WORK/caller.$$" "$SBXT_WORK/caller"
	}
	rm -f "$B/rootfs/bin/caller"
	cp "$SBXT_WORK/caller" "$B/rootfs/bin/caller"
	chmod 755 "$B/rootfs/bin/caller"
}
# _run POLICY FORMAT WORD…: as the program of a container; what was learned is in $T/learned.
_run() {
	local policy=$1 format=$2
	shift 2
	jq --argjson words "$(printf '%s\n' "$@" | jq -R . | jq -sc .)" '.process.args = $words' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	run sbx --policy "$policy" learn --format "$format" --output "$T/learned" run -b "$B" "$ID"
	rm -f "$T/state/explain:last"
}
_do() { run sbx learn --format json --output "$T/learned" "do" --rootfs "$B/rootfs" "$@"; }
_of() { jq -r "$1" "$T/learned"; }
_count() { _of "[.calls[] | select(.name == \"$1\") | .count][0] // 0"; }

every_call_of_every_process_and_thread_is_counted() {
	_caller
	_run oci json caller own 100 thread 20 child 3 vchild 4
	rc_is 0
	is "$(_count getppid)" 127
	is "$(_of .tasks)" 4
	is "$(_of '.filter, .lost')" $'false\n0'
	_do -- caller own 100 thread 20 child 3 vchild 4
	rc_is 0
	is "$(_count getppid)" 127
	is "$(_of .tasks)" 4
}

what_sbxrun_does_before_the_program_does_not_count() {
	_caller
	_run engine json caller own 1
	is "$(_count getppid)" 1
	is "$(_count setresuid)$(_count capset)$(_count mount)$(_count pivot_root)$(_count seccomp)" 00000
	_do -- caller own 1
	is "$(_count signalfd4)" 0
	# The first process of a box is ours, and a profile without its calls would end the box. It polls only if the program has not ended yet.
	[ "$(_of '[.calls[] | select(.name == "signalfd4") | .ours][0]')" -gt 0 ] || fail "the reaper was not seen: $(_of .calls)"
}

output_and_status_are_the_programs() {
	bundle
	_run oci text sh -c 'echo out; echo err >&2; exit 7'
	rc_is 7
	is "$out" out
	is "$err" err
	run sbx learn "do" --rootfs "$B/rootfs" -- sh -c 'echo out; kill -9 $$'
	rc_is 137
	is "$out" out
	like "$err" 'Made by the program'
	run sbx learn "do" --rootfs "$B/rootfs" -- nosuch
	rc_is 127
}

# With the very same answers as when nobody watches: what is refused, and what the kernel itself says.
nothing_is_given_for_its_sake() {
	local policy plain
	_caller
	for policy in oci engine code; do
		jq '.process.args = ["caller", "refused", "2", "socket", "17", "socket", "40", "ppid32"] | .process.capabilities = {}' "$B/config.json" >"$B/new"
		mv "$B/new" "$B/config.json"
		run sbx --policy "$policy" run -b "$B" "$ID"
		plain="$rc $out"
		run sbx --policy "$policy" learn --output "$T/learned" run -b "$B" "$ID"
		is "$rc $out" "$plain"
	done
	run sbx "do" --rootfs "$B/rootfs" -- caller refused 2 socket 17 ppid32
	plain="$rc $out"
	_do -- caller refused 2 socket 17 ppid32
	is "$rc $out" "$plain"
	rm -f "$T/state/explain:last"
	run sbx learn --output "$T/learned" "do" --rootfs "$B/rootfs" -- sh -c 'grep -E "^(Cap...|NoNewPrivs|Seccomp|Seccomp_filters|TracerPid):" /proc/self/status; id'
	plain=$out
	run sbx "do" --rootfs "$B/rootfs" -- sh -c 'grep -E "^(Cap...|NoNewPrivs|Seccomp|Seccomp_filters|TracerPid):" /proc/self/status; id'
	is "$out" "$plain"
}

what_was_refused_is_told_with_the_row_that_would_give_it() {
	_caller
	_run code json caller refused 3 socket 17
	is "$(_of '.refused[] | select(.name == "chroot") | "\(.count) \(.answer) \(.by)"')" '3 EPERM system-calls'
	is "$(_of '.refused[] | select(.name == "socket") | "\(.count) \(.answer) \(.by) \(.values[0].value)"')" '1 EPERM sockets 17'
	is "$(_of '.rows["system-calls"].allow, .rows.sockets.allow | tostring')" $'["chroot"]\n["packet"]'
	is "$(_count chroot)" 0
	_run code text caller refused 3
	file_has "$T/learned" 'policy code, row system-calls'
	file_has "$T/learned" '"system-calls": \{"allow": \["chroot"\]\}'
	# And that row does give it: the answer then is the kernel's own.
	printf '{"version": 1, "policies": {"more": {"base": "code", %s}}}\n' "$(sed -n 's/.*"base": "code", \(.*\)}}}$/\1/p' "$T/learned")" >policy.json
	jq '.process.args = ["caller", "refused", "1"] | .process.user.uid = 0' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	run sbx --policy "$T/policy.json:more" learn --format json -o "$T/learned" run -b "$B" "$ID"
	if [ "$rc" = 0 ]; then
		is "$(_of '.refused | length')" 0
	else
		like "$err" 'policy' # how a file's policy is chosen is another test's affair
	fi
	rm -f "$T/state/explain:last"
}

# _refused_bundle: asks for what the policy engine does not give, two of a kind among it.
_refused_bundle() {
	bundle 'sh("echo ran")' 'caps(["CAP_NET_ADMIN", "CAP_SYS_PTRACE", "CAP_KILL"])' 'without_ns("ipc")' \
		'mount({destination: "/boot", type: "bind", source: "/boot", options: ["rbind", "rw"]})' \
		'mount({destination: "/host", type: "bind", source: "/", options: ["rbind", "ro"]})'
}

# All of it, though a container is told of the first alone; and those rows do allow it.
a_container_that_a_policy_refuses_is_told_with_all_rows_that_would_allow_it() {
	_refused_bundle
	run sbx --policy engine learn --format json --output "$T/learned" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'policy engine refuses the host.s ipc namespace'
	unlike "$out" ran
	is "$(_of '.policy, .ran')" $'engine\nfalse'
	is "$(_of '.rows.capabilities.allow | sort | tostring')" '["CAP_NET_ADMIN","CAP_SYS_PTRACE"]'
	is "$(_of '.rows["host-namespaces"].allow | tostring')" '["ipc"]'
	is "$(_of '.rows["host-path-exceptions"].allow | sort | tostring')" '["/","/boot:rw"]'
	is "$(_of '[.refusals[].row] | unique | tostring')" '["capabilities","host-namespaces","host-paths"]'
	is "$(_of '.refusals | length')" 5
	printf '{"version": 1, "policies": {"more": {"base": "engine", %s}}}\n' "$(_of '.rows | tojson | .[1:-1]')" >"$T/policy.json"
	run sbx policy check "$T/policy.json"
	rc_is 0
	run sbx --policy engine learn --output "$T/learned" run -b "$B" "$ID"
	rc_is 1
	file_has "$T/learned" '^learned: policy engine refuses this, and nothing ran$'
	file_has "$T/learned" '^  CAP_SYS_PTRACE \(process.capabilities.bounding\) \[capabilities\]$'
	file_has "$T/learned" '"base": "engine", .*"capabilities": \{"allow": \["CAP_NET_ADMIN", "CAP_SYS_PTRACE"\]\}.*"host-path-exceptions"'
	# As the administrator would have it, it runs.
	mkdir "$T/etc"
	mount -t tmpfs tmpfs "$T/etc"
	mkdir "$T/etc/up" "$T/etc/work"
	run unshare -m --propagation private sh -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc && mkdir -p /etc/sbxrun &&
		install -m 644 "$1/policy.json" /etc/sbxrun/policy.json && shift && exec "$@"' sh "$T" "$SBXRUN" --root "$T/state" --policy more run -b "$B" "$ID"
	umount "$T/etc"
	rc_is 0
	is "$out" ran
	rm -f "$T/state/explain:last"
}

what_did_not_run_has_no_profile_and_leaves_the_file_as_it_was() {
	_refused_bundle
	echo before >"$T/learned"
	run sbx --policy engine learn --format oci --output "$T/learned" run -b "$B" "$ID"
	rc_is 1
	is "$(<"$T/learned")" before
	# A failure of another kind is nothing that rows would mend.
	jq '.process.capabilities = {} | .mounts |= map(select(.destination != "/boot" and .destination != "/host")) | .root.path = "nowhere"
		| .linux.namespaces += [{type: "ipc"}]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	run sbx --policy engine learn --format json --output "$T/learned" run -b "$B" "$ID"
	rc_is 1
	is "$(<"$T/learned")" before
	rm -f "$T/state/explain:last"
}

a_box_that_is_refused_is_told_alike() {
	bundle
	_do -v /boot:/mnt -v "$T/state:/other" -- true
	isnt "$rc" 0
	is "$(_of .ran)" false
	is "$(_of '.rows["host-path-exceptions"].allow | length')" 2
	run sbx learn --format json --output "$T/learned" "do" --json --rootfs "$B/rootfs" -v /boot:/mnt -- true
	is "$(jq -r .status <<<"$out")" sandbox_error
	is "$(_of .ran)" false
	rm -f "$T/state/explain:last"
}

what_the_config_itself_refuses_is_told_as_such() {
	_caller
	jq '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["chroot"], action: "SCMP_ACT_ERRNO", errnoRet: 5}]}' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	_run oci json caller refused 2
	is "$out" 'chroot EIO'
	is "$(_of '.refused[] | "\(.name) \(.count) \(.answer) \(.by)"')" 'chroot 2 EIO config'
	is "$(_of '.rows | length')" 0
}

calls_of_another_architecture_are_told_apart() {
	[ "$(uname -m)" = x86_64 ] || skip 'x86-64 alone has two'
	_caller
	_run engine json caller own 1 ppid32
	like "$(_of '.refused[].name')" 'getppid of X86'
	is "$(_of '.rows["foreign-abi"] // "none"')" none # ENOSYS: programs do without
	_run code json caller own 1 ppid32
	is "$(_of '.refused[] | select(.name | test("X86")) | "\(.answer) \(.by)"')" 'SIGSYS foreign-abi'
	is "$(_of '.rows["foreign-abi"]')" as-asked
}

what_was_learned_is_a_profile_that_the_program_runs_under() {
	bundle
	_run oci oci sh -c 'echo hi | cat; ls / >/dev/null; sleep 0.01; x=$(date); test -d /proc'
	rc_is 0
	is "$(_of .defaultAction)" SCMP_ACT_ERRNO
	jq --slurpfile s "$T/learned" '.linux.seccomp = $s[0]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" hi
	# It is no wider than what was seen: mkdir was not.
	jq '.process.args = ["sh", "-c", "mkdir /tmp/x 2>&1; unshare -U true 2>&1; echo end"]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	run sbx run -b "$B" "$ID"
	like "$out" "can't create directory.*Operation not permitted"
	like "$out" 'unshare.*Operation not permitted'
	# A policy takes it as it is: nothing in it is beyond the list.
	run sbx --policy engine plan -b "$B" "$ID"
	rc_is 0
}

values_are_held_to_where_that_helps() {
	_caller
	_run oci oci caller socket 1 child 1
	is "$(_of '[.syscalls[] | select(.names == ["socket"]) | .args[0].value] | tostring')" '[1]'
	is "$(_of '.syscalls[] | select(.names == ["clone"]) | .args[0].op')" SCMP_CMP_MASKED_EQ
	is "$(_of '[.syscalls[0].names[] | select(. == "socket" or . == "clone")] | length')" 0
}

what_was_refused_can_be_had_in_the_profile() {
	_caller
	_run code oci caller refused 1
	is "$(_of '[.syscalls[0].names[] | select(. == "chroot")] | length')" 0
	run sbx --policy code learn --format oci --with-refused -o "$T/learned" run -b "$B" "$ID"
	rm -f "$T/state/explain:last"
	is "$(_of '[.syscalls[0].names[] | select(. == "chroot")] | length')" 1
}

what_it_has_and_never_used_is_told() {
	_caller
	_run code json caller own 1
	is "$(_of '[.unused[] | select(. == "mkdir")] | length')" 1
	is "$(_of '[.unused[] | select(. == "getppid" or . == "execve" or . == "mount")] | length')" 0
}

# As strace would have it break: handlers without SA_RESTART, programs that are stopped, children that are killed.
signals_and_stops_are_the_programs_own() {
	_caller
	_run oci json caller signals 50
	rc_is 0
	is "$out" 'failed 0'
	# A traced process is stopped when its tracer has let it.
	_run oci json sh -c 'sleep 100 & kill -STOP $!; until grep "^State:.[Tt]" /proc/$!/status; do :; done; kill -CONT $!; kill $!; wait $!; echo $?; trap "echo term" TERM; kill -TERM $$; sleep 0.01; echo end'
	# The state is that of a stop, though of one that is traced.
	like "$out" $'State:\t[Tt].*\n143\nterm\nend'
}

# Whoever is killed takes along what he watched: nothing runs unwatched and is taken for watched.
a_watcher_that_is_killed_ends_the_container() {
	local watcher
	bundle
	jq '.process.args = ["sleep", "1000"]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	sbx learn -o "$T/learned" run -b "$B" "$ID" 2>err &
	wait_until 30 eval '[ "$(status_of "$ID" 2>/dev/null)" = running ]'
	watcher=$(awk '/^TracerPid:/ { print $2 }' "/proc/$(pid_of "$ID")/status")
	isnt "$watcher" 0
	kill -9 "$watcher"
	rc=0
	wait $! || rc=$?
	rc_is 137
}

a_caller_that_is_killed_leaves_nothing() {
	local pid
	bundle
	jq '.process.args = ["sleep", "1000"]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	"$SBXRUN" --root "$T/state" learn -o "$T/learned" run -b "$B" "$ID" 2>err &
	wait_until 30 eval '[ "$(status_of "$ID" 2>/dev/null)" = running ]'
	pid=$(pid_of "$ID")
	kill -9 $!
	wait $! || :
	wait_until 30 eval '[ "$(status_of "$ID" 2>/dev/null)" = stopped ]'
	[ ! -e "/proc/$pid/exe" ] || fail 'the program runs on'
	sbx delete "$ID"
}

an_ordinary_user_learns_as_well() {
	_caller
	mkdir -p "$B/rootfs/workspace"
	chmod 755 "$T"
	install -d -o 54321 "$T/home"
	run as_user 54321 env HOME="$T/home" XDG_RUNTIME_DIR="$T/home" "$SBXRUN" --root "$T/home/state" learn --format json -o "$T/home/learned" \
		"do" --rootfs "$B/rootfs" -- caller own 50 thread 5 child 6 refused 1
	[[ $err != *'user namespace'* ]] || skip "no boxes for ordinary users here: $err"
	rc_is 0
	mv "$T/home/learned" "$T/learned"
	is "$(_count getppid)" 61
	is "$(_of '.refused[0].name')" chroot
}

wrong_words_are_refused_before_anything_runs() {
	bundle
	run sbx learn
	rc_is 1
	like "$err" 'usage: sbxrun learn'
	run sbx learn list
	rc_is 1
	like "$err" 'usage: sbxrun learn'
	run sbx learn --format yaml run -b "$B" "$ID"
	rc_is 1
	like "$err" 'neither text, json nor oci'
	run sbx learn --output /nosuch/dir/file run -b "$B" "$ID"
	rc_is 1
	like "$err" '/nosuch/dir/file'
	run sbx learn run -d -b "$B" "$ID"
	rc_is 1
	like "$err" 'until it ends'
	run sbx learn run
	rc_is 1
	like "$err" 'usage: sbxrun run'
	# The verb's own help, and what it is given behind --.
	run sbx learn "do" --help
	like "$out" '^sbxrun do '
	run sbx learn -o "$T/learned" -- "do" --rootfs "$B/rootfs" -- echo --format
	is "$out" --format
}

run_tests
