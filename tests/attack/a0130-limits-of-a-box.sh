#!/bin/bash
# Idea: a program in a box of `sbxrun do` wants more than its share: processes, memory, room on disk, files, output, processor time, and the caller's own memory and disk by what
# it leaves behind. Escape: more than the limit was had; fake: a result that does not say how it ended.
# Views: all
# Views: own a_million_small_files_are_not_had huge_files_of_nothing_do_not_fill_the_callers_disk deep_directories_are_listed_taken_out_and_removed
# Views: own there_is_no_other_place_to_write_to the_directory_of_devices_holds_devices
# Views: own a_loop_of_refusals_is_not_the_callers_time a_loop_of_names_is_not_the_callers_time
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

# Every process forks until it can't, and leaves a byte for each child that it got.
a_fork_bomb_has_as_many_processes_as_it_may() {
	do_has_limits
	do_python --pids-limit 32 --timeout 4 'import os, time
count = os.open("count", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    try:
        if os.fork():
            os.write(count, b"x")
            print(os.fstat(count).st_size, flush=True)
    except BlockingIOError:
        time.sleep(0.05)'
	rc_is 124
	is "$(do_of .status)" timeout
	do_of .stdout | awk '$1 > 31 { bad = 1 } END { exit bad || NR < 20 }' || escaped "$(do_of .stdout | sort -n | tail -n 1) children of 31"
}

# As a shell writes it. Meanwhile others have boxes.
a_fork_bomb_is_nobody_elses_concern() {
	do_has_limits
	sbx "do" --rootfs "$B/rootfs" --json --pids-limit 24 --timeout 3 -- sh -c 'b() { b | b & }; b; sleep 1000' >bomb 2>&1 &
	sleep 0.5 # no event: it grows, and is never all there
	do_shell 'echo fine'
	is "$(do_of .stdout)" fine
	run wait $!
	rc_is 124
	is "$(jq -r '.status' bomb)" timeout
	is "$(sbx list -q)" ''
}

# Children are had and gone so fast that whoever ends them one by one never sees all of them.
rabbits_do_not_outrun_the_end() {
	do_python --timeout 10 'import os, signal, time
for s in signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU:
    signal.signal(s, signal.SIG_IGN)
def run():
    while True:
        try:
            if os.fork():
                os._exit(0)
            os.setsid()
        except BlockingIOError:
            pass
for _ in range(6):
    if os.fork() == 0:
        run()
time.sleep(0.3)'
	# Its first process ends at once, and the rest with it.
	rc_is 0
	is "$(do_of .status)" ok
	is "$(sbx list -q)" ''
}

memory_of_many_processes_is_one_sum() {
	do_has_limits
	do_python --memory 64m 'import os, signal
for _ in range(12):
    if os.fork() == 0:
        x = b"x" * (24 << 20)
        signal.pause()
os.wait()
print("one was killed", flush=True)
os._exit(7)'
	is "$(do_of '.status, .exit_code, .oom_killed, .stdout')" $'error\n7\ntrue\none was killed'
	[ "$(do_of .usage.memory_peak)" -le $((64 << 20)) ] || escaped "$(do_of .usage.memory_peak) bytes of memory"
}

# What lies in memory without being a process's: files, pipes, sockets, anonymous files.
memory_that_is_no_processs_counts() {
	do_has_limits
	do_python --memory 64m --tmpfs 60m 'import os
def fill(fd):
    try:
        while True:
            os.write(fd, b"x" * (1 << 20))
    except OSError as e:
        print(e.strerror, flush=True)
for path in "/workspace/big", "/tmp/big":
    fill(os.open(path, os.O_WRONLY | os.O_CREAT))
fill(os.memfd_create("big"))'
	is "$(do_of '.status, .oom_killed')" $'oom\ntrue'
	[ "$(do_of .usage.memory_peak)" -le $((64 << 20)) ] || escaped "$(do_of .usage.memory_peak) bytes of memory"
}

# With the limits that a box has when nobody says anything.
disks_are_full_where_they_say() {
	do_python --denials none 'import os
def fill(path, most):
    size = 0
    f = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        while size <= most:
            size += os.write(f, b"x" * (1 << 20))
    except OSError as e:
        return size >> 20, e.strerror
    finally:
        os.close(f)
        os.unlink(path)
    return size >> 20, "MORE"
for path in "/workspace/big", "/tmp/big", "/dev/shm/big":
    print(*fill(path, 1 << 30))'
	# The code is a file in the workspace, too.
	is "$(do_of '.status, .stdout')" $'ok\n255 No space left on device\n64 No space left on device\n64 No space left on device'
}

# By the mount table: what is neither read-only nor the kernel's own has a size of its own.
there_is_no_other_place_to_write_to() {
	do_shell 'while read -r _ _ _ _ at how rest; do
			case $how/${rest#*- } in ro,* | */proc* | */devpts*) ;; *) echo "$at ${rest##* }" ;; esac
		done </proc/self/mountinfo | sort
		for d in / /dev /etc /run /var /proc /sys /bin; do touch $d/new && echo WRITTEN $d; done 2>/dev/null'
	unlike "$(do_of .stdout | grep -vx "${SBX_UID:+WRITTEN /dev}")" WRITTEN # an ordinary user is root inside
	is "$(do_of .stdout | grep -v WRITTEN | cut -d ' ' -f 1 | xargs)" '/dev /dev/shm /tmp /workspace'
	is "$(do_of .stdout | grep -c 'size=.*nr_inodes=')" 4
}

# Whoever is root in the box owns the directory of its devices.
the_directory_of_devices_holds_devices() {
	local root=()
	[ -n "${SBX_UID:-}" ] || root=(--user 0)
	do_shell "${root[@]}" 'i=0; while [ $i -lt 1000 ] && echo x >/dev/f$i; do i=$((i + 1)); done 2>/dev/null; echo $i'
	[ "$(do_of .stdout)" -lt 64 ] || escaped "$(do_of .stdout) files in /dev"
}

a_million_small_files_are_not_had() {
	do_python --timeout 100 --denials none 'import os
n = 0
try:
    for d in range(100):
        os.mkdir(f"d{d}")
        for n in range(10000):
            os.close(os.open(f"d{d}/{n}", os.O_WRONLY | os.O_CREAT))
except OSError as e:
    print(d * 10000 + n < 66000, e.strerror)'
	[[ $(do_of .stdout) == True* ]] || escaped "as many files as it wants: $(do_of .stdout)"
	is "$(do_of '.status, .stdout, .files.more')" $'ok\nTrue No space left on device\n\ntrue'
	[ "$(do_of '.files.added | length')" -le 1000 ] || escaped 'a list of files without end'
}

# VmHWM in kB of the process that looks after the box, while it writes.
output_of_a_gigabyte_is_nobodys_memory() {
	local peak
	needs python3
	do_bundle
	run python3 -c 'import json, resource, subprocess, sys
r = json.loads(subprocess.run(sys.argv[1:], stdout=subprocess.PIPE).stdout)
print(r["status"], r["bytes"]["stdout"], r["truncated"]["stdout"], len(r["stdout"]) < 1500000, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
		"$SBXRUN" --root "$T/state" "do" --json --timeout 100 --rootfs "$B/rootfs" -- dd if=/dev/zero bs=1M count=1024
	peak=${out##* }
	[ "$peak" -lt 24000 ] || escaped "$peak kB of memory are the caller's"
	is "${out% *}" 'ok 1073741824 True True'
}

# Each child has little processor time of its own; together they have all of it.
processor_time_of_children_adds_up() {
	do_has_limits
	do_python --cpu-time 1 --timeout 60 'import os, time
while True:
    if os.fork() == 0:
        while time.process_time() < 0.05:
            pass
        os._exit(0)
    os.wait()'
	[ "$(do_of .usage.cpu_s | cut -d . -f 1)" -lt 3 ] || escaped "$(do_of .usage.cpu_s) s on processors instead of one"
	rc_is 124
	is "$(do_of '.status, .error.type')" $'timeout\nCPUTimeError'
}

# A file that says it is 8 EB has no bytes: taking it out makes none.
huge_files_of_nothing_do_not_fill_the_callers_disk() {
	mkdir taken
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" taken
	do_shell --copy-out taken 'dd if=/dev/zero of=huge bs=1 count=1 seek=4611686018427387904 2>/dev/null; dd if=/dev/zero of=large bs=1 count=1 seek=17179869184 2>/dev/null; echo x >small'
	is "$(cat taken/small)" x
	[ "$(du -sk taken | cut -f 1)" -lt 1024 ] || escaped 'the disk of the caller fills'
}

# _burn CODE: a box of python, and `burnt` in its result: the processor time that the process which looks after it has used itself, without the box's.
_burn() {
	needs python3
	run env SBXRUN_ROOTFS_DIR="$T/library" python3 -c 'import json, os, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
burnt = 0
while p.poll() is None:
    with open(f"/proc/{p.pid}/stat") as f: # of a child that nobody has waited for it is there
        took = f.read().rsplit(")", 1)[1].split()
    burnt = max(burnt, (int(took[11]) + int(took[12])) / os.sysconf("SC_CLK_TCK"))
    try:
        p.wait(0.05)
    except subprocess.TimeoutExpired:
        pass
print(json.dumps(dict(json.load(p.stdout), burnt=burnt)))' "$SBXRUN" --root "$T/state" "do" --json --timeout 3 --cpus 2 --rootfs host python "$1"
	is "$(do_of .status)" timeout
}

# Answers wait past a rate, of which three times as much would take all of a processor.
_is_bounded() {
	[ "$(do_of '.burnt <= 0.6 * .execution_time + 0.3')" = true ] || escaped "$(do_of .burnt) s of the caller's time in $(do_of .execution_time) s"
	[ "$(do_of '([.denials[].count] | add) <= 20000 * (.execution_time + 0.3)')" = true ] || escaped "$(do_of '[.denials[].count] | add') answers in $(do_of .execution_time) s"
	[ "$(do_of '([.denials[].count] | add) > 100')" = true ] || fail 'hardly anything was asked'
}

a_loop_of_refusals_is_not_the_callers_time() {
	_burn 'import os
os.fork(), os.fork()
while True:
    try:
        os.mkdir("/usr/x")
    except OSError:
        pass'
	_is_bounded
}

# A socket that is open already asks one name after the other, and waits for no answer.
a_loop_of_names_is_not_the_callers_time() {
	_burn 'import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
os.fork(), os.fork()
while True:
    s.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\4evil\7example\0\0\1\0\1", ("127.0.0.1", 53))'
	_is_bounded
}

# Names of 255 bytes below each other, deeper than a path can be long.
deep_directories_are_listed_taken_out_and_removed() {
	mkdir taken
	[ -z "${SBX_UID:-}" ] || chown "$SBX_UID" taken
	do_python --copy-out taken --timeout 60 'import os
open("before", "w").close()
for _ in range(2000):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("deep", "w").close()'
	is "$(do_of '.status')" ok
	like "$(do_of '.files.added | join(" ")')" before
	[ -e taken/before ] || fail 'nothing was taken out'
	is "$(sbx list -q)" ''
}

# What is queued in sockets is nobody's memory, unless the kernel is told.
memory_of_sockets_is_the_boxs() {
	do_has_limits
	do_python --memory 32m 'import socket
n, keep, l = 0, [], socket.socket()
l.bind(("127.0.0.1", 0)); l.listen(200)
for i in range(100):
    c = socket.socket(); c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    c.connect(l.getsockname()); keep += [c, l.accept()[0]]; c.setblocking(False)
    try:
        while n < 300 << 20: n += c.send(b"x" * 65536)
    except BlockingIOError: pass
print(n >> 20)'
	case $(do_of .status) in
	ok) [ "$(do_of .stdout)" -le 64 ] || escaped "$(do_of .stdout) MB are queued under --memory 32m" ;;
	esac
}

run_tests
