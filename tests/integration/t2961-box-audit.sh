#!/bin/bash
# sbxrun box --audit: each verb has a line, which comes behind the deed and before the answer. And what programs are told of a failure.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	[ -n "${B:-}" ] || {
		bundle
		printf '#!/bin/sh\nexec sh "$@"\n' >"$B/rootfs/bin/bash"
		chmod 755 "$B/rootfs/bin/bash"
	}
	_box create --rootfs "$B/rootfs" "$@" >/dev/null
}
_of() { jq -r "$1" <<<"$out"; }
# _line VERB FILTER: of its last line.
_line() { jq -rs "map(select(.verb == \"box $1\")) | last | $2" "$T/audit"; }
_good() {
	run sbx audit verify "$T/audit"
	rc_is 0
	like "$out" "ok, $1 line"
}
# _moment ID SECONDS: as if it had been used so long ago.
_moment() {
	local now file=$T/state/box-$1/box text
	read -r now _ </proc/uptime
	text=$(cut -c 22-31 "$file")
	printf '%020d %s\n' $(((${now%.*} - $2) * 1000000000)) "$text" | dd of="$file" conv=notrunc status=none
}

every_verb_has_a_line() {
	local a=(--audit "$T/audit") verbs
	_new "${a[@]}" --id one
	{
		_box exec "${a[@]}" one -- true
		_box run "${a[@]}" one bash 'echo x'
		_box sessions "${a[@]}" one
		_box end-session "${a[@]}" one || :
		_box install "${a[@]}" one pypi './bad' || :
		_box allow "${a[@]}" one 'not a host' || :
		_box deny "${a[@]}" one 'not a host' || :
		_box rules "${a[@]}" one
		_box write "${a[@]}" one f <<<x
		_box read "${a[@]}" one f
		_box ls "${a[@]}" one
		_box stat "${a[@]}" one f
		_box rm-file "${a[@]}" one f
		_box diff "${a[@]}" one
		_box snapshot "${a[@]}" one kept
		_box snapshots "${a[@]}"
		_box fork "${a[@]}" kept
		_box list "${a[@]}"
		_box logs "${a[@]}" one
		_box pause "${a[@]}" one || : # without cgroups nobody can
		_box resume "${a[@]}" one || :
		_box destroy "${a[@]}" one
		_box gc "${a[@]}"
	} >/dev/null 2>&1
	# Of those that there are, none is forgotten.
	run _box nosuch
	[[ $err =~ 'there are '(.*)')' ]] || fail "$err"
	verbs=$(tr -d ' ' <<<"${BASH_REMATCH[1]}" | tr , '\n' | sort | xargs)
	is "$(jq -r '.verb | ltrimstr("box ")' audit | sort -u | xargs)" "$verbs"
	is "$(jq -s "map(select(.uid != ${SBX_UID:-0})) | length" audit)" 0
	_good 24
}

a_line_says_what_was_asked_and_what_became_of_it() {
	local long many=()
	mkdir data
	_new --audit "$T/audit" --id one --memory 64m -e SECRET=hunter2 -v "$T/data:/data:ro" bash
	is "$(_line create '.id, .status, .language, .rootfs, .limits.memory, (.args | join(" "))')" \
		$'one\nok\nshell\n'"$B/rootfs"$'\n67108864\n--rootfs='"$B/rootfs --volume=$T/data:/data:ro --memory=64m --env=SECRET bash"
	! grep hunter2 audit || fail 'a secret is in the audit'
	printf 'a\0b' | _box write --audit "$T/audit" one 'd/a b'
	is "$(_line write '.id, (.args | join(" ")), .content_sha256, .content_bytes, .exit_code')" $'one\nd/a b\n'"$(printf 'a\0b' | sha256sum | cut -d ' ' -f 1)"$'\n3\n0'
	_box read --audit "$T/audit" one 'd/a b' >got
	is "$(_line read .content_sha256)" "$(sha256sum <got | cut -d ' ' -f 1)"
	run _box read --audit "$T/audit" one nosuch
	is "$(_line read '.status, .exit_code, .error, .content_sha256')" $'error\n1\nread "nosuch": there is no such file\nnull'
	run _box read --audit "$T/audit" two x
	is "$(_line read '.id, .status, .exit_code')" $'two\nsandbox_error\n125'
	like "$(_line read .error)" 'sandbox not found'
	run _box run --audit "$T/audit" one cobol 'secret code'
	is "$(_line run '.status, (.args | join(" "))')" $'sandbox_error\ncobol'
	# As much as there is room for, and never less than the line.
	long=$(printf 'x%.0s' {1..400})
	for ((i = 0; i < 90; i++)); do many+=(--allow "$long"); done
	run _box create --audit "$T/audit" "${many[@]}" --rootfs "$B/rootfs"
	rc_is 125
	is "$(_line create '(.args | length), (.args[5] | utf8bytelength < 300), .shortened, .status')" $'64\ntrue\nnull\nsandbox_error'
	run _box stat --audit "$T/audit" one $'x","verb":"do\n\e[31m'
	is "$(_line stat '.args[0]')" $'x","verb":"do\n\e[31m'
	_good 8
	run sbx audit show --box one audit
	is "$(wc -l <<<"$out")" 6
	unlike "$out" $'\e'
	like "$out" $'box write +- +ok +0 one "d/a b"\n'
	like "$out" $'box read +- +error +1 one nosuch: "read '
	run sbx audit show --box one --last 2 --json audit
	is "$(_of .verb)" $'box run\nbox stat'
	run sbx audit show --last 1 audit
	like "$out" 'box stat'
	run sbx audit show --box nosuch audit
	rc_is 0
	is "$out" ''
}

what_can_not_be_recorded_is_not_done() {
	_new --id one
	_box write one f <<<kept
	for call in 'write one g' 'read one f' 'rm-file one f' 'destroy one' 'pause one' 'snapshot one kept' 'fork one' "create --rootfs $B/rootfs" 'exec one -- touch ran' 'gc'; do
		# shellcheck disable=SC2086
		run _box ${call%% *} --audit /nosuch/audit ${call#"${call%% *}"} </dev/null
		rc_is 125
		is "$out" ''
		like "$err" '--audit: audit: open /nosuch/'
	done
	is "$(_box list --json | jq -c 'map([.sandbox_id, .status])')" '[["one","idle"]]'
	is "$(_box exec one -- ls)" f
}

# The file goes away while the verb is at it: who opens a fifo waits, behind its first look.
an_answer_without_a_line_is_none() {
	local feed
	_new --id one
	mkdir log
	mkfifo env in
	"$SBXRUN" --root "$T/state" box create --audit log/audit --env-file ./env --id two --rootfs "$B/rootfs" >made 2>said &
	exec {feed}>./env
	mv log away
	echo A=1 >&"$feed"
	exec {feed}>&-
	run wait $!
	rc_is 125
	is "$(cat made)" ''
	file_has said 'audit has no line about it.*; the box "two" is removed again'
	is "$(_box list --json | jq -c 'map(.sandbox_id)')" '["one"]'
	mv away log
	"$SBXRUN" --root "$T/state" box write --json --audit log/audit one g in >made 2>said &
	exec {feed}>in
	mv log away
	echo x >&"$feed"
	exec {feed}>&-
	run wait $!
	rc_is 125
	like "$(jq -r '.success, .error.message' made)" $'^false\n.*has no line about it'
}

who_is_killed_before_the_line_leaves_a_good_file() {
	local writer holder feed
	needs python3
	_new --id one --audit "$T/audit"
	mkfifo in hold
	"$SBXRUN" --root "$T/state" box write --audit "$T/audit" one f in &
	writer=$!
	exec {feed}>in # waits for it: its first look is behind it
	python3 -c 'import fcntl, sys
f = open("audit", "r+")
fcntl.lockf(f, fcntl.LOCK_EX)
open("locked", "w").close()
sys.stdin.read()' <>hold {feed}>&- &
	holder=$!
	wait_until 60 test -e locked
	echo x >&"$feed"
	exec {feed}>&-
	wait_until 60 _is_written
	kill -KILL "$writer"
	wait "$writer" || :
	kill "$holder"
	wait "$holder" || :
	is "$(jq -r .verb audit)" 'box create'
	_good 1
	is "$(_box read --audit "$T/audit" one f)" x
	_good 2
}

_is_written() { [ "$(_box read one f 2>/dev/null)" = x ]; }

boxes_that_are_swept_have_a_line() {
	_new --id short
	_new --id dead
	_new --id half
	_new --id long
	_moment short 4000
	kill -KILL "$(sbx state box-dead | jq .pid)"
	wait_until 60 eval '[ "$(status_of box-dead)" = stopped ]'
	rm "$T/state/box-half/box"
	# Whoever finds it: here, who asks for it.
	run _box exec --json --audit "$T/audit" short -- true
	is "$(_of .error.type)" SandboxExpired
	is "$(jq -rs 'map([.verb, .id, .args[0]] | join(" ")) | sort | join("\n")' audit)" 'box exec short true
box reaped dead has ended by itself
box reaped half was never finished
box reaped short was idle for too long'
	_moment long 4000
	_box gc --audit "$T/audit"
	is "$(_line reaped .id)" long
	_good 6
}

# A policy's file has them without being asked, and beside what do writes.
the_administrators_file_has_all() {
	_new --id one
	echo "{\"version\": 1, \"audit\": \"$T/audit\", \"policies\": {\"mine\": {\"base\": \"code\"}}}" >mine.json
	chmod 644 mine.json
	_with() { sbx --policy ./mine.json "$@"; }
	echo x | _with box write one f
	_with "do" --rootfs "$B/rootfs" -- true
	_with box exec --audit "$T/own" one -- true
	is "$(jq -r .verb audit)" $'box write\ndo\nbox exec'
	is "$(jq -r .verb own)" 'box exec'
	_good 3
	sed -i '1s/"args":\["f"\]/"args":["g"]/' audit
	run sbx audit verify audit
	rc_is 1
	like "$out" 'line 1 is bad'
}

a_failure_is_an_object() {
	_new --id one
	local call
	for call in "UsageError create --rootfs $B/rootfs --memory x" 'UsageError create' 'UsageError create --nosuch' "SandboxExists create --id one --rootfs $B/rootfs" 'SandboxError create --rootfs /nosuch' \
		'UsageError nosuch' 'UsageError gc one' 'UsageError destroy ../x' 'SandboxNotFound destroy two' 'SandboxNotFound pause two' 'SandboxNotFound resume two' 'SandboxNotFound logs two' 'SandboxNotFound rules two' \
		'SandboxNotFound sessions two' 'SandboxNotFound fork two' 'SandboxNotFound read two f' 'FileNotFoundError stat one f' 'UsageError read one'; do
		# shellcheck disable=SC2086
		run _box ${call#* } --json
		[ "$rc" != 0 ] || fail "$call: no failure"
		is "$(jq -r '.success, .error.type, (.error.message | length > 0)' <<<"$out")" $'false\n'"${call%% *}"$'\ntrue' "$call"
	done
	run _box exec --json --timeout x one -- true
	rc_is 125
	is "$(_of '.v, .status, .sandbox_id, .error.type')" $'1\nsandbox_error\none\nUsageError'
	run _box run --json one
	is "$(_of '.v, .error.type')" $'1\nUsageError'
	for verb in pause resume destroy; do
		run _box "$verb" --json one
		[[ $out != *'none that can be frozen'* && $out != *'not paused'* ]] || continue
		is "$out" '{"success":true,"sandbox_id":"one","error":null}'
	done
}

run_tests
