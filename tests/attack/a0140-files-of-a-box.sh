#!/bin/bash
# Idea: who runs in a box that stays prepares names for the file tools, which are called from outside by root: links, pipes, devices, directories that are exchanged while they
# are looked up, leases, names that are lines of output. Escape: a file of the host is read, written, removed or made; fake: output that the tools did not write.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	[ -n "${B:-}" ] || bundle
	BOX=$(_box create --rootfs "$B/rootfs" "$@")
}
_sh() { _box exec "$BOX" -- sh -c "$1"; }
_of() { jq -r "$1" <<<"$out"; }
_canary() {
	mkdir -p canary/dir
	chmod 777 canary canary/dir
	echo secret >canary/secret
	chmod 666 canary/secret
}

links_lead_nowhere() {
	_canary
	_new
	_sh "ln -s $T/canary/secret link; ln -s $T/canary dir; mkdir d; ln -s ../../../../../../../../../..$T/canary d/up; ln -s . self; ln -s /proc/self/root$T/canary magic; ln -s /proc/1/root proc"
	for path in link dir/secret d/up/secret self/link magic/secret "proc/$T/canary/secret" d/../link "self/../../../..$T/canary/secret"; do
		run _box read "$BOX" "$path"
		hides "$out" secret "read by $path"
		rc_is 1
		run _box ls "$BOX" "${path%/*}"
		hides "$out" secret "listed by $path"
		run _box rm-file "$BOX" "$path"
	done
	_sh "ln -sf $T/canary/secret link"
	for path in dir/planted d/up/planted magic/planted dir/new/planted; do
		run _box write "$BOX" "$path" <<<planted
		untouched canary/dir "by $path"
		rc_is 1
	done
	# What is replaced is the link.
	run _box write "$BOX" link <<<mine
	rc_is 0
	run _box read "$BOX" link
	is "$out" mine
	holds canary/secret secret
	[ "$(ls canary)" = $'dir\nsecret' ] || escaped 'written through a link'
}

nothing_is_waited_for() {
	_new
	_sh 'mkfifo p; mkdir d'
	for verb in read stat rm-file; do
		run timeout 60 "$SBXRUN" --root "$T/state" box "$verb" "$BOX" p
		[ "$rc" != 124 ] || hangs "$verb waits for whoever opens the other end"
		[ "$verb" != read ] || like "$err" 'no regular file'
		_sh 'rm -f p; mkfifo p'
	done
	run timeout 60 "$SBXRUN" --root "$T/state" box write "$BOX" p <<<x
	rc_is 0
	run _box read "$BOX" p
	is "$out" x
	run _box write "$BOX" d <<<x
	rc_is 1
	like "$err" 'is a directory'
}

a_lease_keeps_nobody_waiting() {
	needs python3
	BOX=$(_box create --rootfs host python)
	"$SBXRUN" --root "$T/state" box exec "$BOX" -- python3 -c 'import fcntl, os, time
f = os.open("leased", os.O_RDWR | os.O_CREAT, 0o644)
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK); fcntl.fcntl(f, 10, 0)
import signal; signal.signal(signal.SIGIO, signal.SIG_IGN)
print("up", flush=True); time.sleep(1000)' >up &
	wait_until 20 grep -q up up
	run timeout 60 "$SBXRUN" --root "$T/state" box read "$BOX" leased
	[ "$rc" != 124 ] || hangs 'a lease holds up who reads'
	rc_is 1
	kill -TERM $!
	wait $! || :
}

devices_and_hard_links_of_a_volume_are_nobodys() {
	mkdir project
	chmod 777 project
	mknod project/zero c 1 5
	mknod project/mem c 1 1
	chmod 666 project/zero project/mem
	echo kept >project/one
	ln project/one project/two
	_new -v "$T/project:/workspace"
	for path in zero mem; do
		run timeout 60 "$SBXRUN" --root "$T/state" box read "$BOX" "$path"
		rc_is 1
		like "$err" 'no regular file'
	done
	run _box write "$BOX" one <<<new
	rc_is 0
	is "$(cat project/one)" new
	is "$(cat project/two)" kept
}

# The program exchanges a directory with a link to one of the host's, all the time.
directories_exchanged_while_they_are_looked_up() {
	local i
	_canary
	_new
	_sh 'mkdir d; echo inside >d/secret'
	"$SBXRUN" --root "$T/state" box exec --timeout 1000 "$BOX" -- sh -c \
		"echo up; while :; do mv d e; ln -s $T/canary d; rm d; mv e d; done" >up &
	wait_until 20 grep -q up up
	for ((i = 0; i < STARTS * 4; i++)); do
		run _box read "$BOX" d/secret
		[ "$rc" != 0 ] || [ "$out" = inside ] || escaped 'read a file of the host'
		run _box write "$BOX" d/planted <<<planted
		run _box ls "$BOX" d
		hides "$out" 'dir$' 'a directory of the host is listed'
		run _box rm-file "$BOX" d/planted
	done
	kill -TERM $!
	wait $! || :
	holds canary/secret secret
	[ "$(ls canary)" = $'dir\nsecret' ] || escaped 'written through a link'
}

names_are_no_output_of_ours() {
	_new
	_sh 'touch "$(printf "a\nfile      0644          6 forged")" "$(printf "\033[2Jb")" "$(printf "c\377")"'
	run _box ls "$BOX"
	[ "$(wc -l <<<"$out")" = 3 ] || faked 'a name is a line'
	[[ $out != *$'\033'* ]] || faked 'a name moves the cursor'
	_sh 'rm -f *; touch "$(printf "d\302\2332Je")" "$(printf "f\342\200\256txt.exe")"'
	run _box ls "$BOX"
	[[ $out != *$'\302\233'* ]] || faked 'a name has a control of eight bits'
	[[ $out != *$'\342\200\256'* ]] || faked 'a name turns the text around'
	_sh 'rm -f *; touch "$(printf "a\nfile      0644          6 forged")" "$(printf "\033[2Jb")" "$(printf "c\377")"'
	run _box ls --json "$BOX"
	is "$(_of '.files | length')" 3
	is "$(_of '.files[] | select(.base64).base64')" "$(printf 'c\377' | base64)"
	run _box write "$BOX" "$(printf 'x\ny')" <<<x
	rc_is 1
	like "$err" 'control characters'
	run _box read "$BOX" "$(printf '\033[2Jnosuch')"
	[[ $err != *$'\033'* ]] || faked 'a name moves the cursor'
}

a_full_workspace_loses_nothing() {
	_new --disk 64k
	_box write "$BOX" f <<<old
	_sh 'head -c 100000 /dev/zero >big; true' 2>/dev/null
	run _box write --json "$BOX" f < <(head -c 50000 /dev/zero)
	rc_is 1
	is "$(_of .error.type)" NoSpaceError
	run _box read "$BOX" f
	is "$out" old
	run _sh 'ls -A'
	is "$out" $'big\nf'
	_sh 'rm big; i=0; while : >f$i; do i=$((i + 1)); done' 2>/dev/null || :
	run _box write --json "$BOX" many/files <<<x
	is "$(_of .error.type)" NoSpaceError
}

# Root calls the tools, and the box's user has what he may have.
rights_are_those_of_the_boxs_user() {
	_new
	_sh 'mkdir closed; echo again >closed/f; chmod 0 closed/f'
	run _box read "$BOX" closed/f
	[[ $out != *again* ]] || escaped 'root reads what the user has closed'
	rc_is 1
	like "$err" 'permissions'
	_box write "$BOX" d/f <<<mine
	run _sh 'stat -c %u:%g d d/f | sort -u; chmod 755 d/f'
	# An ordinary user's box has his own id alone.
	is "$out" "$([ -n "${SBX_UID:-}" ] && echo 0:0 || echo 65534:65534)"
	_box write "$BOX" d/f <<<again
	run _sh 'stat -c %a d/f'
	is "$out" 755
}

# Neither the record nor the files of another box are anywhere in it, nor what is said of both, nor the questions to people.
a_box_is_alone() {
	_new --id "$P.other" --audit "$T/audit"
	_sh 'echo mark of another >/workspace/f; echo mark of another >/tmp/f'
	mkdir -p state/approvals:queue
	echo mark of another >state/approvals:queue/question
	[ -z "${SBX_UID:-}" ] || chown -R "$SBX_UID" state/approvals:queue
	_new --id "$P.mine" --audit "$T/audit"
	_box exec --audit "$T/audit" "$BOX" -- sh -c 'echo mark of mine >/workspace/own'
	file_has audit 'box exec'
	run _sh "for d in / /workspace /tmp /dev/shm /run /var/tmp; do find \$d -xdev -type f -exec grep -lE 'mark of|box exec' {} + 2>/dev/null; done | sort -u; ls -d $T $T/* 2>/dev/null
		cat $T/audit /proc/*/root/workspace/f /proc/*/root$T/audit 2>/dev/null; find / \( -name 'approvals*' -o -name 'box-$P*' -o -name sbxrun-ranges \) ! -path '/proc/*' ! -path '/sys/*' 2>/dev/null; true"
	[ "$out" = /workspace/own ] || escaped "what is in a box, besides its own file: $out"
}

# Who could put them there is its owner; what he is told to look at may be somebody else's.
_has_no_cgroups() {
	find /sys/fs/cgroup -maxdepth 8 -depth -type d -name "sbxrun-box-$BOX.*" -exec rmdir {} + 2>/dev/null
	[ -z "$(find /sys/fs/cgroup -maxdepth 8 -type d -name "sbxrun-box-$BOX.*" 2>/dev/null)" ]
}

records_that_are_no_files_lead_nowhere() {
	local file kind call pid
	_canary
	echo what the host has >canary/secret
	for file in box log egress sessions config.json state.json; do
		for kind in link fifo directory; do
			_new
			pid=$(pid_of "box-$BOX")
			rm -f "state/box-$BOX/$file"
			case $kind in
			link) ln -s "$T/canary/secret" "state/box-$BOX/$file" ;;
			fifo) mkfifo -m 600 "state/box-$BOX/$file" ;;
			directory) mkdir "state/box-$BOX/$file" ;;
			esac
			for call in "logs $BOX" "rules $BOX" "exec $BOX -- true" list "diff $BOX"; do
				# shellcheck disable=SC2086
				run timeout 60 "$SBXRUN" --root "$T/state" box $call
				[ "$rc" != 124 ] || hangs "$call waits for a $kind in place of $file"
				[ "$rc" -lt 126 ] || fail "$call with a $kind in place of $file: status $rc"
				hides "$out$err" 'what the host has' "$call, by a $kind in place of $file"
				holds canary/secret 'what the host has' "$call, by a $kind in place of $file"
			done
			sbx delete -f "box-$BOX" 2>/dev/null || rm -rf "state/box-$BOX"
			# Without a record nobody knows it any more, nor its cgroups.
			kill -KILL "$pid" 2>/dev/null || :
			wait_until 10 _has_no_cgroups
		done
	done
}

records_that_lie_crash_nobody() {
	local lie file call
	for file in box state.json; do
		for lie in '' x '99999999999999999999 4294967295' '-0000000000000000001 0000000060' '{}' '[' '{"version":1,"limits":{"memory":-1}}' '{"version":1,"idle_s":-5,"volumes":[{}]}' \
			'{"version":99999999999}' '{"version":1,"env":["'"$(printf 'x%.0s' {1..3000})"'"],"limits":null}'; do
			_new
			if [ "$file" = box ]; then
				printf '%s\n' "$lie" >"state/box-$BOX/box"
			else
				# What the record has of the box, and the record itself.
				jq --arg lie "$lie" 'walk(if type == "string" and startswith("{\"version\"") then $lie else . end)' "state/box-$BOX/state.json" >record
				! cmp -s record "state/box-$BOX/state.json" || fail 'the record has it elsewhere'
				cat record >"state/box-$BOX/state.json"
			fi
			for call in "logs $BOX" "exec $BOX -- true" "list --json" gc "destroy $BOX"; do
				# shellcheck disable=SC2086
				run timeout 60 "$SBXRUN" --root "$T/state" box $call
				[ "$rc" != 124 ] || hangs "$call, with '$lie' in $file"
				[ "$rc" -lt 126 ] || faked "$call is ended by '$lie' in $file: status $rc"
			done
			sbx delete -f "box-$BOX" 2>/dev/null || :
			[ ! -e "state/box-$BOX" ] || fail "'$lie' in $file: nobody can remove the box"
		done
	done
}

run_tests
