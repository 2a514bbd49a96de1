#!/bin/bash
# Idea: boxes that wait belong to whoever calls next. A program wants to meet the next one in its box, or to reach those who keep boxes; a caller who is held to little
# wants a box that was made by somebody who is held to less. Escape: something of a call is there in the next, or a box that its caller could not have made.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_pool() { SBXRUN_ROOTFS_DIR=$T/library sbx pool "$@"; }
_do() { SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs host --json "$@"; }
_of() { jq -r "$1" <<<"$out"; }
_start() {
	needs python3
	_pool --size "${SIZE:-1}" --rootfs host python >/dev/null
	trap 'sbx pool stop --all' EXIT
}
_ready() { _pool list --json | jq -e '.[0].ready == .[0].size' >/dev/null; }
# OPTION… CODE: the next call, which is served by the pool.
_call() {
	wait_until 5 _ready
	run _do "${@:1:$#-1}" python "${!#}"
	is "$(_of .usage.warm)" true
}

nothing_of_a_call_is_in_the_next() {
	_start
	for i in 1 2 3; do
		_call 'import os, glob, sys
seen = glob.glob("/tmp/*") + glob.glob("/dev/shm/*") + [f for f in os.listdir("/workspace") if f != "main.py"]
seen += [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]
print("SEEN", seen) if seen else print("alone")
for d in "/tmp", "/dev/shm", "/workspace": open(d + "/left", "w").write("x")
os.environ["LEFT"] = "x"
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in range(1, 32):
            try: __import__("signal").signal(s, __import__("signal").SIG_IGN)
            except (OSError, ValueError): pass
        __import__("time").sleep(1000)
    os._exit(0)'
		is "$(_of .status)" ok
		! grep -q SEEN <<<"$(_of .stdout)" || escaped "call $i has found $(_of .stdout)"
	done
}

# Two callers at once have two boxes.
nobody_shares_a_box() {
	SIZE=2 _start
	wait_until 5 _ready
	for i in 1 2 3 4; do
		_do python 'import time, os, glob
open("/tmp/here", "w"); time.sleep(0.3); print(len(glob.glob("/proc/[0-9]*")))' >"result.$i" &
	done
	wait
	[ "$(jq -r .id result.? | sort -u | wc -l)" = 4 ] || escaped 'two calls had one box'
	[ "$(jq -r .stdout result.? | sort -u | grep .)" = 2 ] || escaped "a call saw others: $(jq -r .stdout result.?)"
}

# Who keeps boxes is out of reach: three descriptors, no parent, no socket.
those_who_keep_boxes_are_out_of_reach() {
	_start
	_call 'import os, socket, glob
print(sorted(os.listdir("/proc/self/fd")))
print(os.getppid(), [open(p + "/comm").read().strip() for p in glob.glob("/proc/[0-9]*")])
for path in open("/proc/net/unix").read().split("\n")[1:]:
    print("SEEN", path) if "@" in path or "/" in path else None
for p in range(1, 40000):
    try: os.kill(p, 0)
    except OSError: continue
    print("SEEN", p) if p not in (1, os.getpid()) else None
for p in 1, os.getppid():
    for f in "fd", "mem", "environ", "maps":
        try: print("SEEN", f, os.listdir(f"/proc/{p}/{f}") if f == "fd" else open(f"/proc/{p}/{f}", "rb").read(1))
        except OSError: pass'
	hides "$(_of .stdout)" SEEN
	like "$(_of .stdout)" "^\['0', '1', '2', '[3-9]'\]"
	like "$(_of .stdout)" $'\n1 \[.*reaper.*\]'
}

# Each of these would have a box that is stricter than the one that waits.
who_is_held_to_less_gets_less() {
	_start
	wait_until 5 _ready
	for words in '--memory 64m' '--pids-limit 8' '--tmpfs 4k' '--file-size 4k' '--ulimit nofile=20' '--profile bash' '--user 12345' '--cpu-time 1'; do
		# shellcheck disable=SC2086
		run _do $words python 'print(1)'
		[ "$(_of .usage.warm)" = false ] || escaped "$words was served by a box without it"
	done
	(ulimit -d 500000 && run _do python 'print(1)' && [ "$(_of .usage.warm)" = false ]) || escaped 'a limit of the caller did not hold'
	run unshare -m env SBXRUN_ROOTFS_DIR="$T/library" "$SBXRUN" --root "$T/state" "do" --rootfs host --json python 'print(1)'
	[ "$(_of .usage.warm)" = false ] || escaped 'a caller with another tree got a box of this one'
	run taskset -c 0 env SBXRUN_ROOTFS_DIR="$T/library" "$SBXRUN" --root "$T/state" "do" --rootfs host --json python 'print(1)'
	[ "$(nproc)" = 1 ] || [ "$(_of .usage.warm)" = false ] || escaped "a caller's processors did not count"
	_call 'print(1)'
}

# Boxes are below their caller's cgroup, and so held to its limits: one that waits is below another.
limits_of_the_callers_cgroup_hold() {
	local dir
	dir=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
	dir=/sys/fs/cgroup/memory$dir/$P
	mkdir "$dir" 2>/dev/null || skip 'there is no hierarchy of memory'
	_start
	wait_until 5 _ready
	run bash -c 'echo $$ >'"$dir"'/cgroup.procs && SBXRUN_ROOTFS_DIR='"$T"'/library exec "$@"' - "$SBXRUN" --root "$T/state" "do" --rootfs host --json python 'print(1)'
	rc_is 0
	[ "$(_of .usage.warm)" = false ] || escaped 'a box of another cgroup was taken'
	wait_until 5 rmdir "$dir"
}

# Another user's keeper, and what is no keeper.
a_false_keeper_serves_nobody() {
	_start
	id=$(_pool list --json | jq -r '.[0].id')
	_pool stop --all
	mkdir -m 755 "$T/state/do:pools"
	python3 - "$T/state/do:pools/$id" <<-'PY' &
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		os.chdir(os.path.dirname(sys.argv[1])); name = os.path.basename(sys.argv[1])
		s.bind(name); os.chmod(name, 0o777); s.listen(8)
		os.setgid(65534); os.setuid(65534)
		s.settimeout(60)
		try:
		    while True:
		        c, _ = s.accept()
		        print("asked", c.recv(100)); c.sendmsg([b"x" * 4300], [(1, 1, (0).to_bytes(4, "little"))])
		except OSError: pass
	PY
	false_one=$!
	wait_until 5 [ -S "$T/state/do:pools/$id" ]
	chmod 711 "$T" "$T/state" "${T%/*}" 2>/dev/null
	run _do python 'print(2)'
	is "$(_of '.stdout, .usage.warm')" $'2\n\nfalse'
	chmod 777 "$T/state/do:pools"
	run _do python 'print(3)'
	is "$(_of '.stdout, .usage.warm')" $'3\n\nfalse'
	kill "$false_one"
	wait "$false_one" || :
	rm -rf "$T/state/do:pools"
}

# One that says that it is the caller's own and then says nothing, or nonsense, holds up nobody for long.
a_keeper_that_lies_is_no_box() {
	_start
	id=$(_pool list --json | jq -r '.[0].id')
	_pool stop --all
	mkdir -m 700 "$T/state/do:pools"
	python3 - "$T/state/do:pools/$id" <<-'PY' &
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		os.chdir(os.path.dirname(sys.argv[1]))
		s.bind(os.path.basename(sys.argv[1])); s.listen(8)
		s.settimeout(60)
		n, kept = 0, []
		try:
		    while True:
		        c, _ = s.accept(); n += 1; kept.append(c)
		        c.recv(100)
		        fds = [(1, 1, b"".join((0).to_bytes(4, "little") for _ in range(n)))]
		        if n % 3 == 0: c.send(b"")
		        elif n % 3 == 1: c.sendmsg([b"\1\0\0\0" + b"\xff" * 4292], fds)
		        else: c.close()
		except OSError: pass
	PY
	false_one=$!
	wait_until 5 [ -S "$T/state/do:pools/$id" ]
	for i in 1 2 3 4 5 6; do
		run _do python 'print(2)'
		is "$(_of '.stdout, .usage.warm')" $'2\n\nfalse'
	done
	kill "$false_one"
	wait "$false_one" || :
	rm -rf "$T/state/do:pools"
}

run_tests
