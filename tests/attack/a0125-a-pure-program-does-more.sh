#!/bin/bash
# Idea: a program of the preset pure executes another, starts processes, opens a file for writing, or gets a socket, by any call and with any flags. Escape: one of them works.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# The program: Python of the host, with system calls by number. It prints a word for each that worked.
_pure() {
	needs python3
	export SBXRUN_ROOTFS_DIR=$T/library
	run sbx "do" --rootfs host --preset pure --json python "import ctypes, os, sys, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == 'x86_64'
def call(nr, *args):
    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_char_p(a) if isinstance(a, bytes) else a if isinstance(a, ctypes.Array) or a is None else ctypes.c_long(a) for a in args])
    return r
sh = (ctypes.c_char_p * 4)(b'/bin/sh', b'-c', b'echo ESCAPED', None)
env = (ctypes.c_char_p * 1)(None)
$1
print('end', flush=True)"
	jq -e . <<<"$out" >/dev/null || fail "no result: $out"
	said=$(jq -r .stdout <<<"$out")
	[[ $said != *ESCAPED* ]] || fail "ESCAPED: $said"
	like "$said" 'end$'
}

it_executes_again() {
	_pure 'execve, execveat = (59, 322) if x86 else (221, 281)
for i in range(3):
    call(execve, b"/bin/sh", sh, env)
fd = os.open("/bin/sh", os.O_RDONLY)
for flags in (0, 0x1000, 0x1000 | 1 << 32):
    call(execveat, fd, b"", sh, env, flags)
    call(execveat, -100, b"/bin/sh", sh, env, flags)
    call(execveat, fd, b"/bin/sh", sh, env, flags)'
	like "$(jq -r '.denials | map(.name) | join(" ")' <<<"$out")" 'execve.*execveat'
}

it_starts_another() {
	_pure 'clone = 56 if x86 else 220
for flags in (17, 0x4111, 0x1200011, 0x100, 0x3d0f00, 0x10000, 17 | 1 << 32):
    r = call(clone, flags, 0, 0, 0, 0)
    if r == 0:
        print("ESCAPED: a child", flush=True)
        os._exit(0)
    if r > 0:
        print("ESCAPED: a process", flush=True)
for nr in ((57, 58, 435) if x86 else (435,)):
    r = call(nr, 0, 88)
    if r == 0:
        os._exit(0)
    if r > 0:
        print("ESCAPED: by", nr, flush=True)'
	like "$(jq -r '.denials | map(.name) | join(" ")' <<<"$out")" 'clone'
}

it_writes_a_file() {
	_pure 'openat = 257 if x86 else 56
for high in (0, 1 << 32, 1 << 63):
    for flags in (os.O_WRONLY, os.O_RDWR, 3, os.O_CREAT, os.O_TRUNC, os.O_WRONLY | os.O_CREAT, os.O_TMPFILE | os.O_RDWR, os.O_APPEND | os.O_WRONLY):
        for path in (b"/workspace/main.py", b"/workspace/new", b"/tmp", b"/tmp/new", b"/dev/shm/new", b"/dev/shm", b"/proc/self/mem", b"/proc/self/comm"):
            if call(openat, -100, path, flags | high - (high >> 62) * (1 << 64), 0o600) >= 0:
                print("ESCAPED: opened", path, hex(flags), flush=True)
others = {"creat": 85, "mkdir": 83, "rename": 82, "unlink": 87, "link": 86, "symlink": 88, "truncate": 76, "memfd_create": 319, "mknod": 133, "openat2": 437, "shmget": 29, "mq_open": 240} if x86 else {"mkdirat": 34, "memfd_create": 279}
for name, nr in others.items():
    if call(nr, b"/tmp/x", b"/tmp/y", 0o600, 0, 0) >= 0:
        print("ESCAPED: by", name, flush=True)'
	like "$(jq -r '.denials | map(.target) | join(" ")' <<<"$out")" '/tmp/new'
}

it_gets_a_socket() {
	_pure 'socket, pair = (41, 53) if x86 else (198, 199)
two = (ctypes.c_int * 2)()
for family in (1, 2, 10, 16, 17, 40):
    for kind in (1, 2, 3):
        if call(socket, family, kind, 0) >= 0 or call(pair, family, kind, 0, two) >= 0:
            print("ESCAPED: a socket of", family, flush=True)'
	like "$(jq -r '.denials | map(.name) | join(" ")' <<<"$out")" 'socket'
}

run_tests
