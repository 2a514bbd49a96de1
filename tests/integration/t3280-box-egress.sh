#!/bin/bash
# sbxrun box create --allow, box allow, box deny: what a box that stays reaches, while that changes, and what is left when somebody is killed.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/lab.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	[ -n "${B:-}" ] || bundle
	BOX=$(_box create --rootfs "$B/rootfs" "$@")
}
_sh() { _box exec "${@:1:$#-1}" "$BOX" -- sh -c "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }
_is_gone() { [ -z "$(carrier)" ]; }
_pid() { sbx state "box-$BOX" | jq .pid; }

what_is_allowed_is_reached_in_every_call() {
	lab
	_new --allow good.example --allow good.example:22
	run _sh --json 'nc good.example 22 </dev/null; printf "GET http://good.example/p HTTP/1.1\r\nHost: good.example\r\n\r\n" | nc 127.0.0.1 3128 | tail -n 1; nc other.example 80'
	like "$(_of .stdout)" 'SSH-2.0-lab.*GET /p'
	is "$(_of .limits.network)" allow-list
	is "$(_box list --json | jq -r '.[].limits.network')" allow-list
	is "$(_of .usage.network.connections)" 2
	is "$(_of '.denials[] | select(.kind == "network") | .hint')" '--allow other.example'
	# What another call was refused, and carried, is its own.
	run _sh --json 'nc good.example 22 </dev/null; env | grep -c -i _proxy='
	is "$(_of '.usage.network.connections, .denials')" $'1\n[]'
	like "$(_of .stdout)" '9$'
	is "$(carrier | wc -l)" 1
	_box destroy "$BOX"
	wait_until 10 _is_gone
	nobody_asked other
}

what_may_be_reached_is_told_of_each_box() {
	lab
	bundle
	run _box create --json --rootfs "$B/rootfs" --allow good.example --net-limit 1m
	is "$(_of '.limits.network, .limits.net_bytes')" $'allow-list\n1048576'
	_box destroy "$(_of .sandbox_id)"
	run _box create --json --rootfs "$B/rootfs"
	is "$(_of '.limits.network, .limits.net_bytes')" $'none\nnull'
	BOX=$(_of .sandbox_id)
	_box allow "$BOX" good.example
	is "$(_box list --json | jq -r '.[].limits.network')" allow-list
	_box allow --remove "$BOX" good.example
	is "$(_box list --json | jq -r '.[].limits.network')" none
}

rules_change_while_it_runs() {
	lab
	_new --allow good.example
	run _sh 'nc good.example 22 </dev/null || echo no; nc other.example 80 </dev/null || echo no'
	is "$out" $'no\nno'
	_box allow "$BOX" good.example:22 other.example
	run _sh 'nc good.example 22 </dev/null; printf "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n" | nc other.example 80 | tail -n 1'
	like "$out" $'SSH-2.0-lab.*GET /'
	is "$(_box rules "$BOX")" $'allow good.example\nallow good.example:22\nallow other.example'
	_box deny "$BOX" other.example
	_box allow --remove "$BOX" good.example:22
	run _sh 'nc good.example 22 </dev/null || echo no; nc other.example 80 </dev/null || echo no'
	is "$out" $'no\nno'
	is "$(_box rules --json "$BOX" | jq -c '[.allow, .deny]')" '[["good.example","other.example"],["other.example"]]'
	run _box allow "$BOX" other.example
	rc_is 125
	like "$err" 'box deny --remove'
	_box deny --remove "$BOX" other.example
	run _sh 'nc other.example 80 </dev/null >/dev/null && echo yes'
	is "$out" yes
	is "$(_box logs "$BOX" | jq -r 'select(.verb == "allow" or .verb == "deny") | "\(.verb) \(.args | join(" ")) \(.success)"')" 'allow good.example:22 other.example true
deny other.example true
allow good.example:22 true
allow other.example false
deny other.example true'
	for rule in 'https://a.org/' '*' 127.0.0.1 '@nosuch' 'a b'; do
		run _box allow "$BOX" "$rule"
		rc_is 125
		like "$err" 'allow'
	done
	run _box allow --remove "$BOX" nosuch.example
	like "$err" 'no such rule'
	is "$(_box rules "$BOX")" $'allow good.example\nallow other.example'
}

# The running call, too: what it has open is cut, and what it opens next is judged by the new rules.
a_connection_that_is_denied_is_cut() {
	lab
	_new --allow good.example:5432 --allow good.example:22
	mkfifo go
	exec 9<>go
	_sh --json '{ echo first; cat; } | nc good.example 5432; echo cut; nc good.example 5432 </dev/null | wc -c; nc good.example 22 </dev/null' <go >result 9>&- 2>/dev/null &
	reached '^11.0.1.1 5432 .*first'
	_box deny "$BOX" good.example:5432
	echo on >&9
	exec 9>&-
	wait_until 30 test -s result
	out=$(cat result)
	like "$(_of .stdout)" $'first\ncut\n0\nSSH-2.0-lab'
	nobody_reached again
}

a_box_that_reached_nothing_gets_its_network_when_it_is_allowed() {
	lab
	_new
	is "$(carrier)" ''
	run _sh 'nc good.example 22 </dev/null || echo no; env | grep -ci proxy='
	is "$out" $'no\n0'
	_box allow "$BOX" good.example:22
	run _sh --json 'nc good.example 22 </dev/null'
	like "$(_of .stdout)" SSH-2.0-lab
	is "$(carrier | wc -l)" 1
	_box allow --remove "$BOX" good.example:22
	run _sh 'nc good.example 22 </dev/null || echo no'
	is "$out" no
	_box destroy "$BOX"
	wait_until 10 _is_gone
}

without_rules_there_is_no_process() {
	bundle
	_new
	is "$(carrier)" ''
	run _box create --rootfs "$B/rootfs" --deny a.org
	like "$err" 'nothing to deny'
	run _box create --rootfs "$B/rootfs" --net-limit 1m
	like "$err" 'nothing is reached without --allow'
	run _box allow "$BOX"
	like "$err" usage
}

# SIGKILL of whoever carries: the network is gone, for good, and the box is not.
when_whoever_carries_is_killed_the_network_is_gone() {
	lab
	_new --allow good.example:22
	kill -KILL "$(carrier)"
	wait_until 10 _is_gone
	run _sh --json 'nc good.example 22 </dev/null || echo name; nc 11.0.1.1 22 </dev/null || echo address; printf "CONNECT good.example:22 HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128 || echo proxy; echo alive'
	is "$(_of .stdout)" $'name\naddress\nproxy\nalive'
	is "$(_of .usage.network)" null
	like "$(_of '.notes[]')" 'no network since'
	run _box allow "$BOX" good.example:22
	rc_is 125
	like "$err" 'has ended: it has no network any more'
	is "$(carrier)" ''
	nobody_reached .
	_box destroy "$BOX"
	[ ! -e "$T/state/box-$BOX" ]
}

# SIGKILL of the first process: whoever carries ends with it.
when_the_box_is_killed_nobody_carries() {
	lab
	_new --allow good.example:22
	kill -KILL "$(_pid)"
	wait_until 10 _is_gone
	run _sh 'nc good.example 22'
	rc_is 125
	like "$err" 'expired'
}

# SIGKILL of a create, at any moment: what is left the sweep removes.
a_create_that_is_killed_leaves_nobody() {
	lab
	bundle
	local i
	for i in 0.002 0.005 0.01 0.015 0.02 0.03 0.04 0.06; do
		timeout -s KILL "$i" "$SBXRUN" --root "$T/state" box create --id "$P.k${i#*.}" --rootfs "$B/rootfs" --allow good.example >/dev/null 2>&1 || :
	done
	for i in 0.002 0.005 0.01 0.015 0.02 0.03 0.04 0.06; do
		_box destroy "$P.k${i#*.}" 2>/dev/null || sbx delete -f "box-$P.k${i#*.}" 2>/dev/null || :
	done
	wait_until 20 _is_gone
}

how_much_it_carries_is_bounded() {
	lab
	_new --allow good.example:7 --net-limit 100k
	run _sh --json 'nc good.example 7 </dev/null | wc -c; nc good.example 7 </dev/null | wc -c'
	is "$(_of .limits.net_bytes)" 102400
	local got
	got=$(_of .stdout)
	got=${got%%$'\n'*}
	[ "$got" -le 102400 ] && [ "$got" -gt 50000 ] || fail "$got bytes came"
	is "$(_of .stdout | sed -n 2p)" 0
	like "$(_of '.denials[] | .hint')" 'as much as it may .--net-limit'
	# It is the box's, and no call's.
	run _sh --json 'nc good.example 7 </dev/null | wc -c'
	is "$(_of .stdout)" 0
	run sbx "do" --json --rootfs "$B/rootfs" --allow good.example:7 --net-limit 2m -- sh -c 'nc good.example 7 </dev/null | wc -c'
	is "$(_of '.stdout, .denials')" $'1048576\n\n[]'
}

# What stands right behind the words for the proxy is read with them.
what_is_said_behind_the_first_words_counts() {
	lab
	_new --allow good.example:5432 --net-limit 4k
	run _sh --json 'x=$(head -c 700 /dev/zero | tr "\0" x); for i in 1 2 3 4 5 6 7 8; do printf "CONNECT good.example:5432 HTTP/1.1\r\n\r\n%s\n" "$x" | nc 127.0.0.1 3128 | head -n 4; done'
	[ "$(grep -c xxx "$LAB/seen")" -le 3 ] || fail 'more was carried than may be'
	like "$(_of .stdout)" '200 Connection.*403 Forbidden.*X-Proxy-Error: spent'
	like "$(_of '.denials[] | .hint')" 'as much as it may .--net-limit'
	is "$(carrier | wc -l)" 1
}

# 512 KB a second: a megabyte takes two seconds, less one burst, whatever the machine is busy with.
how_fast_it_carries_is_bounded() {
	lab
	bundle
	run sbx "do" --json --timeout 60 --rootfs "$B/rootfs" --allow good.example:7 --net-rate 512k -- sh -c 'nc good.example 7 </dev/null | wc -c'
	is "$(_of .stdout)" 1048576
	[ "$(_of '.execution_time * 10 | floor')" -ge 15 ] || fail "it took $(_of .execution_time) s"
}

rules_and_audits_tell_who_allowed_what() {
	lab
	_new --allow good.example
	_box allow --audit "$T/audit" "$BOX" good.example:22
	run _box allow --audit "$T/audit" "$BOX" '*'
	_box deny --remove --audit "$T/audit" "$BOX" nosuch.example 2>/dev/null || :
	_sh --audit "$T/audit" 'nc other.example 22 </dev/null; nc good.example 22 </dev/null' >/dev/null 2>&1 || :
	is "$(jq -r '"\(.verb) \(.id == "'"$BOX"'") \(.status) \(.args | join(" "))"' "$T/audit")" 'box allow true ok good.example:22
box allow true sandbox_error *
box deny true sandbox_error --remove nosuch.example
box exec true ok sh -c nc other.example 22 </dev/null; nc good.example 22 </dev/null'
	is "$(jq -c 'select(.verb == "box exec") | .network | [.allow, .deny, .connections]' "$T/audit")" '[["good.example","good.example:22"],[],1]'
	is "$(jq -c 'select(.verb == "box exec") | .network.reached, (.denials[] | select(.kind == "network") | [.host, .port, .count > 0, .hint])' "$T/audit")" '[{"host":"good.example","port":22,"count":1}]
["other.example",null,true,"--allow other.example"]'
	run sbx audit verify "$T/audit"
	rc_is 0
}

# Each host that was allowed and reached, as the box called it, with how often; of one call, and no more than a bounded list.
what_was_reached_is_told_and_recorded() {
	lab
	bundle
	run sbx "do" --json --audit "$T/audit" --rootfs "$B/rootfs" --allow '**.good.example:22' --allow 11.0.1.3:80 -- sh -c 'nc good.example 22 </dev/null; nc www.good.example 22 </dev/null; nc www.good.example 22 </dev/null; nc other.example 22 </dev/null
		printf "GET http://11.0.1.3/p HTTP/1.1\r\nHost: 11.0.1.3\r\n\r\n" | nc 127.0.0.1 3128'
	local reached='[{"host":"good.example","port":22,"count":1},{"host":"www.good.example","port":22,"count":2},{"host":"11.0.1.3","port":80,"count":1}]'
	is "$(jq -c '.usage.network | .reached, .more_reached, .connections' <<<"$out")" "$reached"$'\nfalse\n4'
	is "$(jq -c '.network | .reached, .more_reached' "$T/audit")" "$reached"$'\nfalse'
	_new --allow good.example:22 --allow 11.0.3.0/24:22
	run _sh --json 'nc good.example 22 </dev/null'
	# What came before is another call's. A program that goes everywhere fills no list, and denials stand beside it.
	run _sh --timeout 120 --json 'i=0; while [ $((i += 1)) -le 40 ]; do printf "CONNECT 11.0.3.$i:22 HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128; done >/dev/null
		while [ $((i += 1)) -le 180 ]; do printf "CONNECT 11.0.4.$i:22 HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128; done | grep -c 403'
	is "$(_of '.usage.network | .connections, .refused, (.reached | length), .more_reached, .reached[0].host')" $'40\n139\n32\ntrue\n11.0.3.1'
	is "$(_of '.stdout, .more_denials, ([.denials[].count] | add), .denials[-1].target')" $'139\n\ntrue\n128\nothers'
}

run_tests
