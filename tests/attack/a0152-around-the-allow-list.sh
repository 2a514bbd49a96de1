#!/bin/bash
# Idea: what does not go through the proxy goes around it: tools that are told to use none, other protocols than TCP, descriptors of another box, another box's addresses, and the
# process that carries, which is an ordinary process of the machine.
# Escape: a packet leaves the machine that no rule allows; a box uses another one's rules; the process that carries is touched.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/lab.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_of() { jq -r "$1" <<<"$out"; }
# OPTION… CODE: python of the host's /usr
_python() { run sbx "do" --json --rootfs host "${@:1:$#-1}" python "${!#}"; }

# In the lab, whatever comes by UDP has a line, and echo requests are counted by the kernel.
_listen_for_datagrams() {
	nsenter -t "$LAB_PID" -n python3 - "$LAB/seen" <<-'PY' &
	import select, socket, sys
	all = []
	for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
	    for port in (123, 443, 1900, 5353, 33434):
	        s = socket.socket(family, socket.SOCK_DGRAM)
	        if family == socket.AF_INET6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
	        s.bind((host, port))
	        all.append(s)
	while True:
	    for s in select.select(all, [], [])[0]:
	        data = s.recvfrom(2000)
	        open(sys.argv[1], "a").write("udp %s %r\n" % (s.getsockname()[1], data[0]))
	PY
	wait_until 20 _datagrams_come
	sed -i '/^udp/d' "$LAB/seen"
}
_datagrams_come() {
	echo hello >/dev/udp/11.0.2.1/443
	grep -q '^udp 443' "$LAB/seen"
}
_echo_requests() { nsenter -t "$LAB_PID" -n awk '/^Icmp: [0-9]/ { print $2 }' /proc/net/snmp; }

_has_echoed() { [ "$(_echo_requests)" -gt "$1" ]; }

without_a_proxy_there_is_no_way() {
	lab
	_python --allow good.example --env 'no_proxy=*,other.example,11.0.2.1' --env 'NO_PROXY=*' --env http_proxy= --env https_proxy= --env all_proxy= '
import os, urllib.request, socket
for way in "asked", "empty":
    for url in "http://good.example/x", "http://other.example/x", "http://11.0.2.1/x", "http://[2a00::11]/x":
        try: print(url, urllib.request.urlopen(url, timeout=20).status)
        except Exception as e: print(url, "failed")
    for k in list(os.environ):
        if "proxy" in k.lower(): del os.environ[k]'
	is "$(_of .stdout)" "$(printf '%s\n' 'http://good.example/x 200' 'http://other.example/x failed' 'http://11.0.2.1/x failed' 'http://[2a00::11]/x failed' \
		'http://good.example/x 200' 'http://other.example/x failed' 'http://11.0.2.1/x failed' 'http://[2a00::11]/x failed')"
	nobody_asked other
	nobody_reached '^(11.0.2|2a00)'
	like "$(_of '.denials[].host')" other.example
}

no_other_protocol_leaves() {
	lab
	_listen_for_datagrams
	local before user
	before=$(_echo_requests)
	python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(b"\x08\0\xf7\xfd\0\1\0\1", ("11.0.2.1", 0))'
	wait_until 20 _has_echoed "$before"
	before=$(_echo_requests)
	for user in 65534 0; do
		_python --allow '**.good.example' --allow 11.0.2.0/24 -u "$user" '
import socket, struct
AF, S = socket, socket.socket
def tried(what, f):
    try: f()
    except OSError as e: print(what, type(e).__name__)
echo = b"\x08\0\xf7\xfd\0\1\0\1"
for host in "11.0.2.1", "11.0.1.1", "198.18.0.1", "255.255.255.255", "224.0.0.251":
    for port in 53, 123, 443, 1900, 5353, 33434:
        def say():
            s = S(AF.AF_INET, AF.SOCK_DGRAM)
            s.setsockopt(AF.SOL_SOCKET, AF.SO_BROADCAST, 1)
            s.sendto(b"secret", (host, port))
        tried("udp", say)
    for kind in AF.SOCK_RAW, AF.SOCK_DGRAM:
        tried("icmp", lambda: S(AF.AF_INET, kind, AF.IPPROTO_ICMP).sendto(echo, (host, 0)))
    for proto in 132, 33, 136, 47, 41, 255:
        tried("raw", lambda: S(AF.AF_INET, AF.SOCK_RAW, proto).sendto(b"E" + b"\0" * 39, (host, 0)))
    tried("sctp", lambda: S(AF.AF_INET, AF.SOCK_STREAM, 132).connect((host, 22)))
    tried("mptcp", lambda: S(AF.AF_INET, AF.SOCK_STREAM, 262).connect((host, 9)))
for port in 123, 443: tried("udp6", lambda: S(AF.AF_INET6, AF.SOCK_DGRAM).sendto(b"secret", ("2a00::11", port)))
for kind in AF.SOCK_RAW, AF.SOCK_DGRAM: tried("packet", lambda: S(17, kind, socket.htons(3)).sendto(b"\xff" * 60, ("lo", 0x800)))
print("done")'
		like "$(_of .stdout)" 'done'
	done
	nobody_reached '^udp'
	nobody_asked secret
	is "$(_echo_requests)" "$before"
}

# Boxes that share a directory can hand each other descriptors. A socket is of the box that made it: judged by its rules, and cut by them.
a_descriptor_of_another_box_has_its_rules() {
	lab
	mkdir -m 777 shared
	local a b
	a=$(_box create --rootfs host -v "$T/shared:/shared" --allow good.example:22 python)
	b=$(_box create --rootfs host -v "$T/shared:/shared" python)
	_box run "$a" python 'import socket, os
l = socket.socket(socket.AF_UNIX); l.bind("/shared/s"); os.chmod("/shared/s", 0o777); l.listen()
c = socket.create_connection(("good.example", 22)); u = socket.socket(); v = socket.socket(); w = l.accept()[0]
socket.send_fds(w, [socket.gethostbyname("good.example").encode()], [c.fileno(), u.fileno(), v.fileno()]); w.recv(1)' >"$T/a" 2>&1 &
	wait_until 60 test -S shared/s
	_box run --json "$b" python 'import socket, time
s = socket.socket(socket.AF_UNIX); s.connect("/shared/s")
name, fds, _, _ = socket.recv_fds(s, 100, 3)
c, u, v = (socket.socket(fileno=f) for f in fds)
print("has", c.recv(99))
for one, to in ((u, ("11.0.2.1", 22)), (v, ("11.0.1.1", 22)), (socket.socket(), (name.decode(), 22))):
    try: one.connect(to); print("reached", one.recv(99))
    except OSError: print("refused")
open("/shared/now", "w").close()
try: print("cut", c.recv(99))
except ConnectionResetError: print("cut")' >result 2>"$T/b" &
	wait_until 60 test -e shared/now
	_box deny "$a" good.example
	wait_until 60 jq -e .status result >/dev/null
	out=$(cat result)
	hides "$(_of .stdout)" reached
	like "$(_of .stdout)" "has b'SSH-2.0-lab.*refused.refused.refused.cut"
	nobody_reached '^11.0.2.1'
	is "$(grep -c '^11.0.1.1 22' "$LAB/seen")" 1
	_box destroy "$a"
	_box destroy "$b"
}

# Each with rules of its own: what one may reach is nothing to the other, nor is what it listens on, nor what an address stands for.
two_boxes_are_nothing_to_each_other() {
	lab
	local a b at
	a=$(_box create --rootfs host --allow good.example:22 python)
	b=$(_box create --rootfs host --allow other.example:80 python)
	at=$(_box run "$a" python 'import socket; print(socket.gethostbyname("good.example"))')
	_box run --timeout 120 "$a" python 'import socket, time
all = []
for family, to in ((socket.AF_INET, ("0.0.0.0", 7000)), (socket.AF_INET, ("0.0.0.0", 7001)), (socket.AF_UNIX, "\0meet")):
    l = socket.socket(family); l.bind(to); l.listen(); all.append(l)
open("listens", "w").close(); time.sleep(100)' >/dev/null 2>&1 &
	wait_until 60 _box stat "$a" listens
	run _box run --json "$b" python "import socket
def go(family, to):
    s = socket.socket(family)
    s.settimeout(20)
    try: s.connect(to); print('reached', to)
    except OSError: print('refused')
for port in 22, 7000, 7001:
    for host in '$at', '11.0.1.1', '127.0.0.1', '198.18.0.1', '198.18.0.0', '198.18.0.2': go(socket.AF_INET, (host, port))
go(socket.AF_UNIX, '\0meet')
s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'CONNECT good.example:22 HTTP/1.1\r\n\r\n'); print(s.recv(12))"
	hides "$(_of .stdout)" 'reached|200'
	like "$(_of .stdout)" 'refused'
	nobody_reached '^11.0.1.1 22'
	_box destroy "$a"
	_box destroy "$b"
}

whoever_carries_is_not_seen_from_inside() {
	lab
	local pid
	BOX=$(_box create --rootfs host --allow good.example:22 -u 0 python)
	pid=$(carrier)
	run _box run --json "$BOX" python "import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
def said(what, f):
    try: r = f()
    except (OSError, AttributeError) as e: r = -1
    if r is not None and r != -1: print('TOUCHED', what, r)
for pid in [$pid] + list(range(2, 40)):
    if pid == os.getpid(): continue
    inside = os.path.exists('/proc/%d/status' % pid)
    if inside and open('/proc/%d/comm' % pid).read().startswith('sbxrun-net'): print('SEEN', pid)
    if inside and pid != $pid: continue
    said('kill', lambda: os.kill(pid, 0) or 0)
    said('pidfd', lambda: os.pidfd_open(pid))
    said('ptrace', lambda: libc.ptrace(16, pid, 0, 0))
    said('read', lambda: libc.process_vm_readv(pid, None, 0, None, 0, 0))
    said('prlimit', lambda: libc.prlimit(pid, 7, None, None))
    said('sched', lambda: libc.sched_setscheduler(pid, 0, ctypes.byref(ctypes.c_int(0))))
    said('open', lambda: os.open('/proc/%d/mem' % pid, 0))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('looked')"
	like "$(_of .stdout)" looked
	hides "$(_of .stdout)" 'TOUCHED|SEEN'
	is "$(carrier)" "$pid"
	run _box exec "$BOX" -- sh -c 'kill -9 -1; true'
	is "$(carrier)" "$pid"
	run _box exec "$BOX" -- python3 -c 'import socket; print(socket.create_connection(("good.example", 22)).recv(99))'
	like "$out" SSH-2.0-lab
	_box destroy "$BOX"
}

run_tests
