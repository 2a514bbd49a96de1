#!/bin/bash
# sbxrun do: what goes in, what comes out, what the program is held to. The root filesystem is busybox, but for tests that say so.
# Views: all
# Views: own code_is_a_word_a_file_or_input its_input_is_ours_and_ends its_environment_is_clean output_is_cut_and_the_program_goes_on a_reader_that_sleeps_does_not_hold_up_the_end
# Views: own events_come_as_they_happen a_flood_of_refusals_is_counted_and_bounded secrets_are_taken_out a_terminal_is_a_terminal runs_are_recorded
# Views: own c_is_compiled_in_a_box_before cut_text_stays_text a_reader_that_goes_away_ends_the_program output_that_is_lost_is_told a_signal_of_its_own_is_no_limit
# Views: own a_signal_ends_us_while_nobody_reads boxes_of_one_processor_have_different_ones where_the_time_went_is_told_part_by_part
# Views: own what_has_no_record_yet_is_swept_and_what_is_not_ours_is_not it_has_no_rights the_result_is_one_object names_and_connections_are_told what_it_wrote_is_taken_out_safely all_that_is_not_taken_out_is_counted
# Views: own volumes_show_directories a_directory_of_ours_is_the_workspace the_hosts_programs_stand_in
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

# _do OPTION… -- WORD…, and _sh OPTION… CODE: in a box with busybox.
_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs "$B/rootfs" "$@"
}
_sh() { _do "${@:1:$#-1}" -- sh -c "${!#}"; }
# What a JSON result has at a jq path.
_of() { jq -r "$1" <<<"$out"; }

output_and_status_are_the_programs() {
	run _sh 'echo out; echo err >&2; exit 7'
	rc_is 7
	is "$out" out
	like "$err" $'(^|\n)err(\n|$)'
	run _sh 'kill -9 $$'
	rc_is 137
	is "$out" ''
	like "$err" 'killed by SIGKILL'
	run _do -- nosuch
	rc_is 127
	run _do -- /etc
	rc_is 126
	run _do --memory 1 -- true
	rc_is 125
	like "$err" 'memory'
	run _do --rootfs "$T/nosuch" -- true
	rc_is 125
}

code_is_a_word_a_file_or_input() {
	bundle
	printf '#!/bin/sh\nexec sh "$@"\n' >"$B/rootfs/bin/bash"
	chmod 755 "$B/rootfs/bin/bash"
	run _do bash 'echo $0 $1 $#' one two
	is "$out" 'main.sh one 2'
	echo 'echo file $1' >code.sh
	run _do bash code.sh one
	is "$out" 'file one'
	run _do bash - one <<<'echo input $1; cat'
	is "$out" 'input one'
	run _do bash nosuch.sh
	rc_is 125
	like "$err" 'there is no file nosuch.sh'
	run _do cobol x
	rc_is 125
	like "$err" 'no language "cobol" .*python'
}

its_input_is_ours_and_ends() {
	run _sh 'cat; echo end' <<<hello
	is "$out" $'hello\nend'
	echo from a file >in
	run _sh --stdin in 'cat'
	is "$out" 'from a file'
	# A file of the caller's is not in its hands.
	run _sh --stdin in 'echo x >/proc/self/fd/0 || exit 3; : >/dev/stdin'
	is "$(cat in)" 'from a file'
}

it_has_no_rights() {
	run _sh 'grep -E "^(Cap(Eff|Bnd|Prm)|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\t" | tr "\n" " "; id -u; ls /proc/1 /sys 2>&1 | grep -c zzz; (: >/x) 2>&1; grep -c : /proc/self/net/dev'
	like "$out" 'CapPrm:0{16} CapEff:0{16} CapBnd:0{16} NoNewPrivs:1 Seccomp:2 '
	like "$out" 'Read-only file system'
	[ -n "${SBX_UID:-}" ] || like "$out" $'\n?65534|1 65534'
	like "$out" $'\n1$'
}

its_environment_is_clean() {
	SECRET=x run _sh -e A=1 -e 'B=two words' -e HOME_OF=y 'env | sort'
	unlike "$out" SECRET
	like "$out" '^A=1'
	like "$out" 'B=two words'
	like "$out" 'HOME=/workspace'
	printf '%s\n' '# no' C=3 '' D=4 >vars
	SECRET=x run _sh --env-file vars -e SECRET 'echo $C $D $SECRET'
	is "$out" '3 4 x'
	run _sh -w /tmp 'pwd'
	is "$out" /tmp
}

time_is_up_and_all_of_it_ends() {
	run _sh --timeout 0.5 'trap "" TERM; (setsid sleep 1001 &) ; echo before; sleep 1000'
	rc_is 124
	is "$out" before
	like "$err" 'killed after 0.5 s'
	run _sh --json --timeout 500ms 'trap "echo term; exit 3" TERM; while :; do sleep 0.1; done'
	rc_is 124
	is "$(_of '.status, .timed_out, .exit_code, .stdout, .error.type')" $'timeout\ntrue\n3\nterm\n\nTimeoutError'
}

what_it_leaves_in_the_background_ends_with_it() {
	run _sh '(setsid sh -c "sleep 1000; echo late" &) ; echo done'
	rc_is 0
	is "$out" "done"
}

memory_that_runs_out_is_told_apart() {
	_has_limits
	run _sh --json --memory 16m 'x=$(head -c 64000000 /dev/zero | tr "\0" x); echo ${#x}'
	[ "$(_of .oom_killed)" = true ] || fail "no oom: $out"
	run _sh --json --memory 16m 'exec awk "BEGIN { s = \"x\"; while (length(s) < 64000000) s = s s; print length(s) }"'
	rc_is 137
	is "$(_of '.status, .oom_killed, .signal, .error.type')" $'oom\ntrue\nSIGKILL\nMemoryError'
	run _sh --json 'kill -9 $$'
	is "$(_of '.status, .oom_killed')" $'signal\nfalse'
}

# Without cgroups there is nobody who could hold them.
_has_limits() {
	local note
	note=$(_sh --json true | jq -r '.notes | join(" ")')
	[[ $note != *limit* && $note != *cgroup* ]] || skip "no limits for this caller here"
}

# An older kernel maps none on this filesystem, and volumes are of whom they are.
_has_ids() {
	local note
	note=$(_sh --json true | jq -r '.notes | join(" ")')
	[[ $note != *'no user namespace'* ]] || skip 'this host maps no ids'
}

processes_run_out() {
	_has_limits
	run _sh --pids-limit 8 'i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i + 1)); done; echo done'
	like "$err" 'fork'
	run _sh --pids-limit 16 --timeout 5 ':() { : | : & }; : ; sleep 0.2; echo still here'
	like "$out$rc" 'still here|124|[1-9]'
}

# By the kernel's own count, with the first process of the box: a few more than were started.
processes_are_counted() {
	local peak
	run _sh --json --pids-limit 32 'for i in 1 2 3 4 5 6 7; do sleep 0.5 & done; wait'
	peak=$(_of .usage.pids_peak)
	if [ -z "${CGROUP_MOUNTS[pids]:-}${CGROUP_MOUNTS[unified]:-}" ] || ! _counts_processes; then
		is "$peak" null
		return
	fi
	_has_limits
	[ "$peak" -ge 8 ] && [ "$peak" -le 12 ] || fail "$peak processes at once, where 8 and those of ours were"
	run _sh --json --pids-limit 32 true
	[ "$(_of .usage.pids_peak)" -le 4 ] || fail "$(_of .usage.pids_peak) processes at once, where one was"
}
# Linux 6.1 and newer.
_counts_processes() {
	local major minor
	IFS=.- read -r major minor _ </proc/sys/kernel/osrelease
	[ "$major" -gt 6 ] || [[ $major = 6 && $minor -ge 1 ]]
}

disks_fill_up() {
	run _sh --memory 64m --disk 1m 'dd if=/dev/zero of=big bs=64k count=64 2>&1; stat -c %s big'
	like "$out" 'No space left'
	is "$(tail -n 1 <<<"$out")" 1048576
	run _sh --disk 64k 'i=0; while : >f$i; do i=$((i + 1)); done 2>&1 | tail -n 1; echo >/tmp/ok && echo tmp'
	like "$out" 'No space left.*tmp'
	run _sh --disk 64k --tmpfs 64k 'dd if=/dev/zero of=/tmp/big bs=64k count=9 2>&1'
	like "$out" 'No space left'
}

output_is_cut_and_the_program_goes_on() {
	run _sh --json --output-limit 1000 'yes | head -c 5000000; echo err >&2; exit 3'
	rc_is 3
	is "$(_of '.truncated.stdout, .truncated.stderr, .bytes.stdout, .exit_code')" $'true\nfalse\n5000000\n3'
	like "$(_of .stdout)" 'OUTPUT TRUNCATED: 5000000 bytes, showing first 1000\]'
	is "$(_of '.stdout | length')" 1055
	run _sh --output-limit 10 'printf 123456789012345; printf 1234567890 >&2'
	is "$out" $'1234567890\n[OUTPUT TRUNCATED: 15 bytes, showing first 10]'
	like "$err" $'(^|\n)1234567890'
}

a_reader_that_sleeps_does_not_hold_up_the_end() {
	mkfifo pipe
	tail -f /dev/null <pipe &
	bundle
	run timeout 60 bash -c '"$1" --root "$2" do --timeout 0.5 --rootfs "$3" -- yes >pipe' _ "$SBXRUN" "$T/state" "$B/rootfs"
	rc_is 124
	like "$err" 'killed after 0.5 s'
	kill %1
}

limits_of_files_and_numbers_hold() {
	run _sh --file-size 1000 'dd if=/dev/zero of=x bs=1000 count=4 2>/dev/null; stat -c %s x'
	is "$out" 1000
	run _sh --ulimit nofile=20 'ulimit -n'
	is "$out" 20
	run _sh 'ulimit -n; ulimit -c'
	is "$out" $'1024\n0'
	run _sh --ulimit bogus 'true'
	rc_is 125
}

processor_time_runs_out() {
	_has_limits
	run _sh --json --cpu-time 0.2 --timeout 60 'while :; do :; done'
	rc_is 124
	is "$(_of '.status, .error.type')" $'timeout\nCPUTimeError'
}

the_result_is_one_object() {
	run _sh --json 'printf "a\377b"; printf "\"quoted\"\n" >&2; mkdir d; echo 1 >d/f; exit 2'
	rc_is 2
	is "$err" ''
	is "$(jq -s length <<<"$out")" 1
	is "$(_of '.v, .success, .status, .encoding, .stdout, (.stderr | @base64d), .files.added[0], .language, .limits.pids')" \
		$'1\nfalse\nerror\nbase64\nYf9i\n"quoted"\n\nd/f\nnull\n64'
	run _do --json -- nosuch
	rc_is 127
	is "$(_of '.status, .success, .error.type')" $'sandbox_error\nfalse\nSandboxError'
}

events_come_as_they_happen() {
	bundle
	_sh --stream 'echo one; read x; echo two >&2; exit 4' >events < <(wait_until 20 grep -q one events && echo go) || :
	is "$(jq -rs 'map(.event | select(. != "note")) | join(" ")' <events)" 'stdout stderr end'
	is "$(jq -rs 'map(select(.event != "note")) | .[0].data, .[1].data, .[2].result.exit_code' <events)" $'one\n\ntwo\n\n4'
}

what_was_refused_is_told() {
	run _sh --json 'mount -t tmpfs x /tmp; mkdir /usr/x; echo x >/etc/y; : >/workspace/ok; : >/tmp/ok; exit 0'
	rc_is 0
	is "$(_of '.denials[] | select(.name == "mount") | .kind, .errno, .count')" $'syscall\nEPERM\n1'
	like "$(_of '.denials[] | select(.kind == "file") | .target' | tr '\n' ' ')" '/usr/x.*/etc/y'
	unlike "$(_of '.denials[].target')" 'ok'
	run _sh 'unshare -r true'
	like "$err" 'sbxrun: refused: unshare .*EPERM.*: a box makes no namespaces'
	run _sh --denials none --json 'mkdir /usr/x; mount -t tmpfs x /tmp'
	is "$(_of .denials)" null
	run _sh --denials calls --json 'mkdir /usr/x; mount -t tmpfs x /tmp'
	is "$(_of '.denials | map(.name) | join(" ")')" mount
}

names_and_connections_are_told() {
	run _sh --json 'nc -w 1 192.0.2.7 80 </dev/null; wget -T 1 http://evil.example/ 2>/dev/null || ping -c 1 evil.example; true'
	like "$(_of '.denials[] | select(.kind == "network") | .name + " " + .target' | tr '\n' ' ')" 'connect 192.0.2.7:80'
	like "$(_of '.denials[] | select(.name == "resolve") | .target' | tr '\n' ' ')" 'evil.example'
}

a_flood_of_refusals_is_counted_and_bounded() {
	run _sh --json --timeout 3 'while :; do mkdir /nosuch/$RANDOM; done 2>/dev/null'
	is "$(_of .status)" timeout
	is "$(_of '.denials | length <= 100')" true
	like "$(_of '.denials[] | select(.target == "others") | .count')" '^[0-9]+$'
}

secrets_are_taken_out() {
	run _sh --json --redact 'echo postgres://u:p@db/x; echo me@example.org 10.1.2.3'
	unlike "$out" 'u:p@db|me@example|10.1.2.3'
	like "$(_of '.redactions | map(.rule) | join(" ")')" 'email'
	echo '{"version": 1, "rules": [{"name": "ticket", "pattern": "T-[0-9]+", "replacement": "[TICKET]"}]}' >rules
	run _sh --redact-rules rules 'echo see T-1234'
	is "$out" 'see [TICKET]'
}

what_it_wrote_is_taken_out_safely() {
	local name
	mkdir taken
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" taken
	echo mine >taken/kept
	run _sh --copy-out taken 'mkdir d; echo 1 >d/f; echo theirs >kept; ln -s /etc/passwd link; mkfifo pipe; echo x >set; chmod 755 set; mkdir -p deep/er; echo y >deep/er/z'
	rc_is 0
	is "$(cat taken/d/f taken/deep/er/z)" $'1\ny'
	is "$(cat taken/kept)" mine
	[ ! -e taken/link ] && [ ! -e taken/pipe ]
	is "$(stat -c %a taken/set)" 755
	like "$err" '--copy-out left out'
	unlike "$err" 'other'
	for name in kept link pipe; do
		like "$err" "--copy-out left out .*$name: [a-z]"
	done
}

all_that_is_not_taken_out_is_counted() {
	local name
	mkdir taken
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" taken
	run _sh --json --copy-out taken 'for i in 1 2 3 4 5 6 7 8; do ln -s x l$i; done; echo x >f'
	is "$(_of '.notes[] | select(startswith("--copy-out left out")) | split("; ") | length, (join(" ") | test("other"))')" $'8\nfalse'
	run _sh --json --copy-out taken 'for i in 1 2 3 4 5 6 7 8 9; do ln -s x l$i; done'
	like "$(_of '.notes[]')" 'l[1-9]: not a regular file; and 1 other$'
	run _sh --json --copy-out taken 'mkdir d; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ln -s x d/l$i; done; ln -s x "$(printf "a\033b")"'
	is "$(_of '.notes[] | select(startswith("--copy-out left out")) | split("; ") | length, .[-1]')" $'9\nand 5 others'
	like "$(_of '.notes[]')" 'a.b: not a regular|others'
	unlike "$(_of '.notes[]')" $'\033'
}

volumes_show_directories() {
	_has_ids
	mkdir data results
	echo in >data/x
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" data results
	chmod 755 data results
	run _sh -v "$T/data:/data:ro" -v "$T/results:/results" 'cat /data/x; (: >/data/y) 2>&1; echo r >/results/r; stat -c %u /results/r'
	like "$out" '^in'
	like "$out" 'Read-only'
	is "$(cat results/r)" r
	is "$(stat -c %u results/r)" "$(stat -c %u results)"
	run _sh -v "$T/nosuch:/x" true
	rc_is 125
	run _sh -v "$T/data" true
	rc_is 125
}

a_directory_of_ours_is_the_workspace() {
	bundle
	_has_ids
	mkdir project
	echo mine >project/main.sh
	[ -z "${SBX_UID:-}" ] || chown -R "$SBX_UID" project
	printf '#!/bin/sh\nexec sh "$@"\n' >"$B/rootfs/bin/bash"
	chmod 755 "$B/rootfs/bin/bash"
	run _do -v "$T/project:/workspace" bash 'pwd; cat main.sh; echo new >made'
	is "$out" $'/workspace\nmine'
	is "$(ls project | tr '\n' ' ')" 'made main.sh '
	run _do -w / bash 'pwd'
	is "$out" /
}

who_ends_us_ends_the_box() {
	bundle
	"$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" -- sh -c 'trap "exit 9" INT TERM; echo up; while :; do sleep 0.1; done' >up &
	wait_until 20 grep -q up up
	kill -TERM $!
	run wait $!
	rc_is 143
	is "$(sbx list -q)" ''
	"$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" -- sh -c 'echo up; sleep 1000' >up2 &
	wait_until 20 grep -q up up2
	kill -KILL $!
	wait $! || :
	wait_until 20 _all_stopped
	run _sh true
	wait_until 20 _swept
}
# A run that still passes output on asks its cgroups afterwards: others must leave them there.
a_box_that_is_looked_after_is_not_swept() {
	local first
	bundle
	mkfifo pipe
	tail -f /dev/null <pipe &
	"$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" -- sh -c 'head -c 100000 /dev/zero' >pipe &
	first=$!
	wait_until 20 _is_one_stopped
	for _ in 1 2 3; do
		_sh true
	done
	is "$(sbx list -q | wc -l)" 1
	kill -KILL $first
	wait $first || :
	_sh true
	wait_until 20 _swept
}
# A run that was killed before its record had a name leaves a directory; one of another name is somebody else's.
what_has_no_record_yet_is_swept_and_what_is_not_ours_is_not() {
	_sh true
	mkdir -m 700 "$T/state/do-999999999-5-aabbccdd" "$T/state/do-mine" "$T/state/do-$$-$(awk '{ print $22 }' /proc/$$/stat)-aabbccdd"
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" "$T"/state/do-*
	wait_until 20 _sweeps "$T/state/do-999999999-5-aabbccdd"
	[ -d "$T/state/do-mine" ] || fail 'a directory of somebody else was swept'
	[ -d "$T/state/do-$$-$(awk '{ print $22 }' /proc/$$/stat)-aabbccdd" ] || fail 'that of a run that lives was swept'
	rmdir "$T"/state/do-*
}
_sweeps() { _sh true && [ ! -d "$1" ]; }
_is_one_stopped() { [ "$(sbx list -f json | jq -r '[.[]? | select(.status == "stopped")] | length')" = 1 ]; }
_all_stopped() { [ -z "$(sbx list -f json | jq -r '.[]? | select(.status == "running") | .id')" ]; }
_swept() { _sh true && [ -z "$(sbx list -q)" ]; }

a_terminal_is_a_terminal() {
	needs script
	bundle
	run script -qec "$SBXRUN --root $T/state do --rootfs $B/rootfs -- sh -c 'tty; test -t 0 && test -t 1 && echo yes; exit 5'" /dev/null
	rc_is 5
	like "$out" '/dev/pts/0.*yes'
}

runs_are_recorded() {
	run _sh --audit "$T/audit" 'exit 3'
	rc_is 3
	run _sh --audit "$T/audit" 'mkdir /usr/x'
	is "$(jq -r .exit_code "$T/audit" | tr '\n' ' ')" '3 1 '
	like "$(jq -r '.denials[]?.name' "$T/audit")" mkdir
	run _sh --audit /nosuch/audit 'echo ran'
	rc_is 125
	unlike "$out" ran
}

# The rest is for the host's own programs.

the_hosts_programs_stand_in() {
	needs python3
	export SBXRUN_ROOTFS_DIR=$T/library
	run sbx "do" --json --rootfs host python 'import os, sys; print(2 + 2, os.listdir("/home") if os.path.exists("/home") else "none"); print(sys.version_info[0])'
	is "$(_of '.status, .stdout, .rootfs')" $'ok\n4 none\n3\n\nhost'
	run sbx "do" --rootfs host --timeout 5 python 'while True: pass'
	rc_is 124
}

c_is_compiled_in_a_box_before() {
	needs cc
	export SBXRUN_ROOTFS_DIR=$T/library
	run sbx "do" --rootfs host --json c 'int main(void) { return 42; }'
	is "$(_of '.status, .exit_code, .compile.status, .compile.exit_code')" $'error\n42\nok\n0'
	run sbx "do" --rootfs host -w / c 'int main(void) { return 5; }'
	rc_is 5
	run sbx "do" --rootfs host c 'int main(void) { return x; }'
	rc_is 1
	like "$err" 'main.c:1:.*x'
}

cut_text_stays_text() {
	run _sh --json --output-limit 5 'printf "\303\251\303\251\303\251\303\251"'
	is "$(_of '.encoding, .truncated.stdout, .bytes.stdout')" $'utf-8\ntrue\n8'
	like "$(_of .stdout)" 'showing first 4]'
	run _sh --json --output-limit 5 'printf "\377\377\377\377\377\377\377\377"'
	is "$(_of .encoding)" base64
}

a_reader_that_goes_away_ends_the_program() {
	run _pipefail_of _do -- yes
	is "$out" '141 0'
}
_pipefail_of() {
	"$@" | head -1 >/dev/null
	echo "${PIPESTATUS[*]}"
}

output_that_is_lost_is_told() {
	run _lost_of _sh 'echo hello'
	like "$err" 'standard output was not written in full: no space left'
}
_lost_of() { "$@" >/dev/full; }

a_signal_of_its_own_is_no_limit() {
	run _sh 'kill -XCPU $$'
	rc_is 152
	run _sh --cpu-time 5 'kill -XCPU $$'
	rc_is 152
}

a_signal_ends_us_while_nobody_reads() {
	local fd
	bundle
	mkfifo pipe
	exec {fd}<>pipe
	SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" -- \
		sh -c 'head -c 100000 /dev/zero; echo written >&2' >pipe 2>said {fd}>&- &
	pid=$!
	wait_until 30 grep -q written said
	sleep 0.5 # no event: the end of the box comes next, and it is after it that nothing ended us
	kill -TERM "$pid"
	wait_until 30 eval "! kill -0 $pid 2>/dev/null"
	exec {fd}>&-
}

where_the_time_went_is_told_part_by_part() {
	local stage
	bundle
	run env SBXRUN_ROOTFS_DIR="$T/library" "$SBXRUN" --root "$T/state" --timing times "do" --rootfs "$B/rootfs" -- true
	rc_is 0
	for stage in 'root found' 'host probed' planned 'binds prepared' 'id claimed' 'cgroups made' 'init cloned' 'finish-root' settle created \
		'program runs in the box' 'program ended in the box' 'init collected' 'cgroups removed' 'box removed' 'result shown'; do
		file_has times "^[0-9]+ [0-9]+ $stage$"
	done
}

# All of them were the first one's, whatever the machine had.
boxes_of_one_processor_have_different_ones() {
	[ "$(nproc)" -gt 1 ] || skip 'there is one processor'
	for _ in {1..24}; do
		_do --denials none --cpus 1 -- grep Cpus_allowed_list /proc/self/status
	done >cpus
	is "$(wc -l <cpus)" 24
	is "$(grep -cE '[-,]' cpus || :)" 0 'one processor each'
	[ "$(sort -u cpus | wc -l)" -gt 1 ] || fail "24 boxes had the same processor: $(sort -u cpus)"
}

run_tests
