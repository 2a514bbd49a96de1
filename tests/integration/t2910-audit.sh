#!/bin/bash
# Audit files: what do --audit appends verifies, and what is done to the file afterwards is found and named.
# shellcheck disable=SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

APPEND=$(dirname "$SBXRUN")/tests/audit-append
_append() { "$APPEND" audit - "$@"; }
_verify() { run "$SBXRUN" audit verify "$@" audit; }

_five() {
	[ -x "$APPEND" ] || skip 'no build/tests/audit-append (make unit)'
	_append 1 2 3 4 5
}

# _bad LINE REGEX: verify says that, with status 1.
_bad() {
	_verify
	rc_is 1
	like "$out" "^audit: line $1 is bad: .*$2"
}

do_appends_a_line_a_run() {
	run "$SBXRUN" --root "$T/state" 'do' --audit audit bash 'echo hi; exit 3'
	[ "$rc" != 125 ] || skip "do does not work here: $err"
	rc_is 3
	"$SBXRUN" --root "$T/state" 'do' --audit audit --json bash true >result
	is "$(jq -r .id result)" "$(jq -r 'select(.n == 2).id' audit)"
	is "$(jq -c '[.n, .verb, .uid, .language, .status, .exit_code]' audit | paste -sd ' ')" '[1,"do",0,"shell","error",3] [2,"do",0,"shell","ok",0]'
	is "$(jq -r 'select(.n == 1).code_sha256' audit)" "$(printf %s 'echo hi; exit 3' | sha256sum | cut -d ' ' -f 1)"
	_verify
	rc_is 0
	like "$out" '^audit: ok, 2 lines, 2:[0-9a-f]{64}$'
}

# Before it runs: nobody is told that something ran that nobody can look up.
do_does_not_run_what_it_cannot_record() {
	ln -s elsewhere audit
	mkdir -m 777 volume
	run "$SBXRUN" --root "$T/state" 'do' -v "$T/volume:/out" bash 'echo ran >/out/first'
	[ "$rc" = 0 ] && [ -e volume/first ] || skip "do does not work here: $err"
	run "$SBXRUN" --root "$T/state" 'do' --audit audit -v "$T/volume:/out" bash 'echo ran >/out/ran'
	rc_is 125
	like "$err" 'audit is a link'
	[ ! -e volume/ran ] && [ ! -e elsewhere ] || fail 'it ran'
}

runs_at_the_same_time_make_one_chain() {
	local i pids=()
	_five
	for i in 1 2 3 4; do
		_append a b c d e &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	_verify
	rc_is 0
	like "$out" '^audit: ok, 25 lines'
}

verify_finds_what_was_done_to_the_file() {
	_five
	cp audit good
	sed -i '3s/"status":"ok"/"status":"no"/' audit
	_bad 3 'was changed'
	sed 2d good >audit
	_bad 2 'taken out'
	sed -n '2{h;d};3{p;x};p' good >audit
	_bad 2 'exchanged'
	sed '4p' good >audit
	_bad 5 'put in'
	head -n 4 good >audit
	_bad 5 'missing at the end'
	head -c -20 good >audit
	_bad 5 'half a line'
	cp good audit
	_verify
	rc_is 0
}

# The chain of a file that was cut is as good as that of a whole one.
verify_says_when_only_the_chain_was_checked() {
	_five
	rm audit.head
	sed -i '4,$d' audit
	_verify
	rc_is 0
	like "$out" 'ok, 3 lines'
	like "$out" 'only the chain could be checked, there is no head'
	run "$SBXRUN" audit verify --json audit
	is "$(jq -c '[.ok, .head_checked]' <<<"$out")" '[true,false]'
}

an_anchor_finds_a_new_chain() {
	local anchor
	_five
	_verify
	anchor=$(grep -o '[0-9]*:[0-9a-f]\{64\}' <<<"$out")
	_append 6
	_verify --anchor "$anchor"
	rc_is 0
	rm audit audit.head
	_append 1 2 3 4 5 6
	_verify
	rc_is 0
	_verify --anchor "$anchor"
	rc_is 1
	like "$out" 'line 5 is bad: it is not the line of the anchor'
	_verify --anchor 5:nonsense
	rc_is 2
}

a_head_lies_where_it_is_asked_for() {
	_five
	mkdir apart
	"$APPEND" other apart/head 1 2
	[ ! -e other.head ] || fail 'there is other.head'
	run "$SBXRUN" audit verify --head apart/head other
	rc_is 0
	unlike "$out" 'only the chain'
	sed -i 2d other
	run "$SBXRUN" audit verify --head apart/head other
	rc_is 1
}

a_crash_is_survived_and_told() {
	_five
	printf '{"n":6,"ti' >>audit
	_bad 6 'half a line'
	run _append 6
	rc_is 0
	like "$out" 'cut short in its line'
	_verify
	rc_is 0
	like "$out" '1 line tells of an append that was cut short, the last one is line 7'
}

an_append_does_not_whitewash() {
	_five
	sed -i 5d audit
	run _append 6
	rc_is 0
	like "$out" 'was not at the end'
	_append 7
	_bad 5 ''
}

files_of_others_are_refused() {
	_five
	chmod 644 audit
	run _append 6
	rc_is 1
	like "$err" 'chmod 600'
	chmod 600 audit
	ln audit second
	run _append 6
	rc_is 1
	like "$err" 'other names'
	rm second
	chown 4242 audit
	run _append 6
	rc_is 1
	like "$err" 'belongs to uid 4242'
}

a_full_disk_is_an_error() {
	mkdir disk
	mount -t tmpfs -o size=16k tmpfs disk
	cd disk
	[ -x "$APPEND" ] || skip 'no build/tests/audit-append (make unit)'
	while _append 1 2>../why; do
		:
	done
	file_has ../why 'no space left'
	_verify
	rc_is 0
	cd ..
	umount disk
}

# What is told to the journal is enough to check the file with.
the_journal_is_told_the_head() {
	local told listener
	needs python3
	_five
	mkdir -p run
	mount --bind run /run
	mkdir -p /run/systemd/journal
	python3 - <<-'END' &
		import socket
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind("/run/systemd/journal/socket")
		s.settimeout(60)
		open("told", "wb").write(s.recv(4096))
	END
	listener=$!
	wait_until 30 test -S /run/systemd/journal/socket
	_append 6
	wait "$listener" # it has a deadline of its own, and holds the mount
	umount /run
	file_has told '^SBXRUN_AUDIT_COUNT=6$'
	told=$(sed -n 's/^MESSAGE=audit \([^ ]*\) audit$/\1/p' told)
	_verify --anchor "$told"
	rc_is 0
	like "$out" "$told"
}

show_prints_runs_and_escapes_them() {
	_five
	_append $'e\e[31mvil' 7
	run "$SBXRUN" audit show --last 3 audit
	rc_is 0
	is "$(wc -l <<<"$out")" 3
	like "$out" '^5 +[0-9T:-]+ +0 +do +python +ok +0 5'
	unlike "$out" $'\e'
	run "$SBXRUN" audit show --json --last 2 audit
	is "$(jq -r .n <<<"$out" | paste -sd ' ')" '6 7'
	run "$SBXRUN" audit show /dev/null
	rc_is 2
	run "$SBXRUN" audit look audit
	rc_is 2
}

run_tests
