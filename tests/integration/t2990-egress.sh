#!/bin/bash
# sbxrun do --allow: what a box reaches, by which front, and what is said of it.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/lab.sh"

# OPTION… CODE
_box() {
	[ -n "${B:-}" ] || bundle
	run sbx "do" --rootfs "$B/rootfs" "${@:1:$#-1}" -- sh -c "${!#}"
}
_of() { jq -r "$1" <<<"$out"; }
# Fronts, for the shell in the box: HOST PORT, then standard input.
_FRONTS='
connect() { { printf "CONNECT %s:%s HTTP/1.1\r\n\r\n" $1 $2; cat; } | nc 127.0.0.1 3128; }
socks4() { { printf "\4\1\0\\$(printf %03o $2)\0\0\0\1\0%s\0" $1; cat; } | nc 127.0.0.1 3128; }
socks5() { { printf "\5\1\0\5\1\0\3\\$(printf %03o ${#1})%s\0\\$(printf %03o $2)" $1; cat; } | nc 127.0.0.1 3128; }
plain() { printf "GET http://%s:%s/p HTTP/1.1\r\nHost: %s:%s\r\n\r\n" $1 $2 $1 $2 | nc 127.0.0.1 3128; }
direct() { nc $1 $2; }
'

a_host_that_is_allowed_is_reached_by_its_name() {
	lab
	_box --json --allow good.example 'printf "GET /x HTTP/1.1\r\nHost: good.example\r\n\r\n" | nc good.example 80'
	like "$(_of .stdout)" 'GET /x HTTP/1.1\|Host: good.example\|'
	is "$(_of .denials)" '[]'
	is "$(_of .limits.network)" allow-list
	is "$(_of .usage.network.connections)" 1
	is "$(_of .usage.network.bytes_in)" 75
	reached '^11.0.1.1 80 '
}

every_front_leads_there() {
	lab
	_box --json --allow good.example --allow good.example:22 "$_FRONTS"'
		for f in connect socks4 socks5 direct; do echo hello | $f good.example 22 | tr -d "\r\000" | grep -c SSH-2.0-lab; done
		plain good.example 80'
	like "$(_of .stdout)" $'^1\n1\n1\n1\n.*GET /p HTTP/1.1'
	is "$(_of .usage.network.connections)" 5
	is "$(_of .denials)" '[]'
}

what_is_not_allowed_is_named_with_what_would_allow_it() {
	lab
	_box --json --allow good.example "$_FRONTS"'
		echo | connect other.example 443 | head -n 3
		plain other.example 80 | tail -n 1
		echo | socks5 other.example 22 | od -An -tx1
		nc other.example 443 </dev/null || echo no name
		nc good.example 5432 </dev/null || echo no port
		nc 11.0.1.1 443 </dev/null; nc 11.0.1.1 5432 </dev/null || echo no port'
	like "$(_of .stdout)" '403 Forbidden'
	like "$(_of .stdout)" 'sbxrun: other.example:80 is not allowed'
	like "$(_of .stdout)" '05 00 05 02'
	like "$(_of .stdout)" 'no name.*no port.*no port'
	is "$(_of '.denials | map("\(.kind) \(.host) \(.port // 0) \(.hint)") | sort | .[]')" "network 11.0.1.1 443 --allow 11.0.1.1
network 11.0.1.1 5432 --allow 11.0.1.1:5432
network good.example 5432 --allow good.example:5432
network other.example 0 --allow other.example
network other.example 22 --allow other.example:22
network other.example 443 --allow other.example
network other.example 80 --allow other.example"
	nobody_asked other
	nobody_reached .
}

names_are_answered_without_asking() {
	lab
	_box --json --allow '*.good.example' 'cat /etc/resolv.conf 2>/dev/null
		for i in 1 2; do nc www.good.example 80 </dev/null >/dev/null && echo reached; done; nc good.example 80 || echo end'
	like "$(_of .stdout)" $'reached\nreached\nend'
	is "$(_of '.denials[] | select(.host == "good.example") | .hint')" '--allow good.example'
	asked '^www.good.example 1 udp'
	nobody_asked '^good'
}

aliases_long_answers_and_silent_resolvers() {
	lab
	_lab_resolver 11.0.0.9 11.0.0.2
	_box --json --allow alias.example --allow many.example --allow dead.example --allow silent.example --allow nosuch.example "$_FRONTS"'
		plain alias.example 80 | tail -n 1; plain many.example 80 | tail -n 1; plain silent.example 80 | head -n 1; plain nosuch.example 80 | grep X-Proxy'
	like "$(_of .stdout)" '\|Host: alias.example\|'
	like "$(_of .stdout)" '\|Host: many.example\|'
	like "$(_of .stdout)" 'HTTP/1.1 502'
	like "$(_of .stdout)" 'no-such-host'
	asked '^many.example 1 tcp'
	reached '^11.0.1.2 80 '
}

hosts_that_have_ipv6_alone_are_reached() {
	[ -e /proc/net/if_inet6 ] || skip 'this machine has no IPv6'
	lab
	_box --json --allow six.example --allow '[2a00::12]:80' --allow '[2a00::11]:80' "$_FRONTS"'
		plain six.example 80 | tail -n 1; printf "GET /6 HTTP/1.1\r\nHost: x\r\n\r\n" | nc 2a00::11 80 | tail -n 1; nc 2a00::13 80; busybox nslookup six.example ::1'
	like "$(_of .stdout)" 'GET /p .*Host: six.example.*GET /6 .*198\.18\.1\.0'
	is "$(_of '.denials[] | select(.host == "2a00::13") | .hint')" '--allow 2a00::13'
}

refusals_are_told_as_far_as_somebody_wants_to_know() {
	lab
	_box --json --denials none --allow good.example 'nc other.example 80; nc good.example 22'
	is "$(_of .denials)" null
	_box --json --denials calls --allow good.example 'nc other.example 80'
	is "$(_of '.denials[].hint')" '--allow other.example'
}

what_is_allowed_may_be_an_address() {
	lab
	_box --json --allow 11.0.5.5:22 --allow 10.9.9.0/24:22 'for a in 11.0.5.5 10.9.9.9 11.0.5.6; do nc $a 22 </dev/null | head -n 1; done'
	is "$(_of .stdout | grep -c SSH-2.0-lab)" 2
	is "$(_of '.denials | map(.host) | .[]')" 11.0.5.6
}

private_addresses_are_reached_by_names_that_may() {
	lab
	_box --json --allow private.example:22 'nc private.example 22 </dev/null'
	is "$(_of .stdout)" ''
	like "$(_of '.denials[0].hint')" 'private networks by --allow ADDRESS'
	_box --json --allow private.example:22 --allow 10.0.0.0/8:22 'nc private.example 22 </dev/null'
	like "$(_of .stdout)" SSH-2.0-lab
}

much_is_carried_whole() {
	lab
	_box --json --timeout 60 --allow good.example:7 --allow good.example:5432 'nc good.example 7 </dev/null | wc -c
		dd if=/dev/zero bs=1k count=3000 2>/dev/null | tr "\000" x >big; nc good.example 5432 <big | cmp - big && echo same'
	is "$(_of .stdout)" $'1048576\nsame'
	[ "$(_of .usage.network.bytes_out)" = 3072000 ]
	[ "$(_of .usage.network.bytes_in)" = $((1048576 + 3072000)) ]
}

# The head that the host gets is longer than the one that came.
a_request_may_come_with_as_much_of_its_body_as_there_is_room_for() {
	lab
	_box --json --timeout 60 --allow good.example 'dd if=/dev/zero bs=1k count=600 2>/dev/null | tr "\000" x >body
		for i in 1 2 3 4; do { printf "PUT /$i HTTP/1.1\r\nHost: good.example\r\nContent-Length: 614400\r\n\r\n"; cat body; } >put; nc good.example 80 <put | tail -n +5 | wc -c; done'
	is "$(_of .stdout)" $'614436\n614436\n614436\n614436'
	is "$(_of .denials)" '[]'
}

protocols_that_are_neither_are_carried() {
	lab
	_box --json --allow good.example:5432 'say() { printf "$1" | nc good.example 5432 | od -An -c | tr -d " \n"; echo; }
		say "\000\000\000\010\004\322\026/HTTP/"; say "git-upload-pack /x\000host=y\000"; say "AMQP\000\000HTTP/"; say "EHLO x\r\nHTTP/\r\n"
		{ printf "h"; sleep 0.2; printf "e"; sleep 0.2; printf "HTTP\n"; } | nc good.example 5432'
	is "$(_of .denials)" '[]'
	is "$(_of .usage.network.connections)" 5
	is "$(_of .stdout | grep -c .)" 5
	like "$(_of .stdout)" 'heHTTP$'
}

# Both versions, one that is resumed, and one whose server wants another key share.
tls_is_spoken_with_the_host() {
	needs openssl
	lab
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=good.example 2>/dev/null
	nsenter -t "$LAB_PID" -n openssl s_server -accept 8443 -key key -cert cert -groups P-384 -www >served 2>&1 </dev/null &
	wait_until 10 bash -c ': </dev/tcp/11.0.1.1/8443'
	local how
	for how in '-tls1_2' '-tls1_2 -reconnect' '-tls1_3 -groups P-384' '-tls1_3 -groups X25519:P-384'; do
		run _host --json --allow good.example:8443 -- /bin/sh -c "printf 'GET / HTTP/1.0\r\n\r\n' | openssl s_client -ign_eof -servername good.example -connect good.example:8443 $how 2>&1"
		like "$(_of .stdout)" 'Cipher is [A-Z]'
		case $how in
		*reconnect) like "$(_of .stdout)" 'Reused, TLSv1.2.*Reused, TLSv1.2' ;;
		*) like "$(_of .stdout)" 'HTTP/1.0 200 ok' ;;
		esac
		is "$(_of .denials)" '[]'
	done
}

many_connections_at_once_wait_for_each_other() {
	lab
	_box --json --timeout 60 --pids-limit 1000 --allow good.example:22 'for i in $(seq 300); do (nc good.example 22 </dev/null | head -n 1; ) & done; wait'
	is "$(_of .stdout | grep -c SSH-2.0-lab)" 300
	is "$(_of .usage.network.connections)" 300
}

without_it_there_is_no_process_and_no_route() {
	bundle
	_box 'env | grep -ci proxy; nc 11.0.0.1 80; nc 127.0.0.1 3128'
	is "$out" 0
	like "$err" 'Network is unreachable.*Connection refused'
	is "$(carrier)" ''
}

rules_that_are_none_are_told_before_anything_runs() {
	bundle
	_box --allow 'https://a.org/' 'echo RAN'
	rc_is 125
	like "$err" '--allow https://a.org/: it is a URL: a rule is its host alone, a.org'
	_box --allow '*' 'echo RAN'
	like "$err" '--allow \*: it stands for every host'
	local rule
	for rule in 0.0.0.0/0 ::/0 0.0.0.0/0:443; do
		_box --allow "$rule" 'echo RAN'
		rc_is 125
		like "$err" "--allow $rule: it stands for every host, and there is no word for that"
	done
	for rule in 127.0.0.1:8080 localhost:8080 app.localhost '*.localhost' 127.0.0.0/8 0.0.0.0 '[::1]:80' ::; do
		_box --allow "$rule" 'echo RAN'
		rc_is 125
		like "$err" 'a box reaches no address of this machine'
	done
	_box --allow 169.254.169.254 'echo RAN'
	rc_is 125
	like "$err" '--allow 169.254.169.254: no box reaches this address'
	_box --deny a.org 'echo RAN'
	like "$err" 'nothing to deny'
	_box --network none --allow a.org 'echo RAN'
	like "$err" 'contradict'
	_box --preset pure --allow a.org 'echo RAN'
	like "$err" 'preset pure: nothing is reached'
	unlike "$out" RAN
	_box --explain --allow a.org --deny b.org:22 true
	like "$out" 'network +loopback, and the hosts a.org; never b.org:22'
}

whoever_carries_has_nothing_but_sockets() {
	lab
	bundle
	sbx "do" --rootfs "$B/rootfs" --allow good.example -- sleep 100 >/dev/null 2>&1 &
	local carrier
	wait_until 10 _has_carrier
	carrier=$(carrier)
	wait_until 10 grep -q '^Seccomp:.*2' "/proc/$carrier/status"
	local uid=${SBX_UID:-65534}
	like "$(cat "/proc/$carrier/status")" $'Uid:\t'"$uid"$'\t'"$uid"$'\t'"$uid"$'\t'"$uid"
	like "$(cat "/proc/$carrier/status")" $'Groups:\t *\n'
	like "$(cat "/proc/$carrier/status")" $'CapPrm:\t0{16}'
	like "$(cat "/proc/$carrier/status")" $'NoNewPrivs:\t1'
	like "$(cat "/proc/$carrier/limits")" 'Max processes +0 +0'
	is "$(tr -d '\0' <"/proc/$carrier/environ")" ''
	is "$(find "/proc/$carrier/fd" -lname '/*' -printf '%l\n' | sort -u)" /dev/null
	kill -KILL "$(awk '$1 == "PPid:" { print $2 }' "/proc/$carrier/status")"
	wait_until 10 _is_gone "$carrier"
}
_has_carrier() { [ -n "$(carrier)" ]; }
_is_gone() { [ ! -e "/proc/$1" ]; }

_host() { SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs host "$@"; }
programs_find_it_by_themselves() {
	needs curl
	lab
	run _host --json --allow good.example -- /usr/bin/curl -sS http://good.example/c
	like "$(_of .stdout)" 'GET /c HTTP/1.1\|Host: good.example\|'
	run _host --json --allow good.example -- /usr/bin/curl -sS --noproxy '*' http://good.example/direct
	like "$(_of .stdout)" 'GET /direct HTTP/1.1\|Host: good.example\|'
	run _host --json --allow good.example -- /usr/bin/curl -sS --socks5-hostname 127.0.0.1:3128 -d body http://good.example/s
	like "$(_of .stdout)" 'POST /s HTTP/1.1\|Host: good.example\|body'
	run _host --json --allow good.example -- /usr/bin/curl -sS --proxytunnel -H 'Transfer-Encoding: chunked' -d body http://good.example/t
	like "$(_of .stdout)" 'POST /t HTTP/1.1\|Host: good.example\|'
	run _host --json --allow good.example -- /usr/bin/curl -sS http://other.example/
	like "$(_of .stdout)" 'sbxrun: other.example:80 is not allowed'
	[ ! -x /usr/bin/node ] || _node_finds_it
	[ ! -x /usr/bin/python3 ] || _python_finds_it
}
_node_finds_it() {
	run _host --json --allow good.example node 'require("http").get("http://good.example/n", r => r.on("data", d => console.log(String(d))))'
	like "$(_of .stdout)" 'GET /n HTTP/1.1\|Host: good.example\|'
}
_python_finds_it() {
	run _host --json --allow good.example python 'import urllib.request, http.client
print(urllib.request.urlopen("http://good.example/u").read())
c = http.client.HTTPConnection("good.example"); c.request("GET", "/h"); print(c.getresponse().read())'
	like "$(_of .stdout)" 'GET /u .*GET /h '
}
run_tests
