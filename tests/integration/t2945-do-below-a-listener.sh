#!/bin/bash
# sbxrun do where whoever started it listens to its system calls (tools/listener.c), so that nobody else can: the box has the plain filter, and what is refused
# is not known.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

_listener() {
	[ -x "$SBXT_WORK/listener.$$" ] || gcc -O1 -Wall -Wextra -Werror -static -o "$SBXT_WORK/listener.$$" "$TESTS_DIR/tools/listener.c" || skip 'no static C library'
	do_bundle
}
# _below WORD…: the runtime, below a listener, as `run`
_below() {
	SBXRUN_ROOTFS_DIR=$T/library run "$SBXT_WORK/listener.$$" "$SBXRUN" --root "$T/state" "$@"
}

what_is_refused_is_not_known_and_that_is_said() {
	_listener
	_below "do" --rootfs "$B/rootfs" --json -- sh -c 'echo x >f && cat f; mkdir /usr/x; mount -t tmpfs x /tmp; exit 3'
	rc_is 3
	is "$(do_of '.status, .stdout, .denials, .more_denials')" $'error\nx\n\nnull\nfalse'
	like "$(do_of .stderr)" 'mount: permission denied'
	like "$(do_of '.notes | join(" ")')" '--denials: what is refused is not known: whoever started sbxrun'
	# Who reads along is told before.
	_below "do" --rootfs "$B/rootfs" -- sh -c 'echo now >&2'
	like "$err" $'^sbxrun: --denials: what is refused is not known: [^\n]*\nnow$'
	_below "do" --rootfs "$B/rootfs" --explain -- true
	rc_is 0
	like "$out" 'what is refused is not known'
	# Who asks for none misses none.
	_below "do" --rootfs "$B/rootfs" --denials none --json -- true
	is "$(do_of '.denials, (.notes | map(select(test("denials"))) | length)')" $'null\n0'
}

# Each call, in a child, with arguments that no call takes: what it fails with says whether the filter lets it pass. The number of filters is one more.
the_filter_is_the_same() {
	local code plain
	needs python3
	[ "$(uname -m)" = x86_64 ] || skip 'numbers of x86-64'
	_listener
	code='import ctypes, os, re
libc = ctypes.CDLL(None, use_errno=True)
print(re.search(r"Seccomp_filters:\s*(\d+)", open("/proc/self/status").read()).group(1), flush=True)
stay = {15, 34, 56, 57, 58, 60, 231} # sigreturn, pause, those that fork and end
for n in set(range(470)) - stay:
    child = os.fork()
    if child == 0:
        libc.syscall(n, *([ctypes.c_long(-1)] * 6))
        os._exit(ctypes.get_errno())
    status = os.waitpid(child, 0)[1]
    print(n, "killed" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))'
	do_python --timeout 200 "$code"
	is "$(do_of .status)" ok
	plain=$(do_of .stdout)
	[ "$(grep -c ' 1$' <<<"$plain")" -gt 100 ] || fail 'hardly any call was refused'
	_below "do" --rootfs host --json --timeout 200 python "$code"
	is "$(do_of .status)" ok
	is "$(do_of .stdout | tail -n +2)" "$(tail -n +2 <<<"$plain")"
	is "$(do_of .stdout | head -n 1)" $((${plain%%$'\n'*} + 1))
}

what_kills_kills() {
	_listener
	cc -O1 -w -static -pthread -o "$B/rootfs/bin/caller" "$TESTS_DIR/tools/caller.c"
	_below "do" --rootfs "$B/rootfs" --json -- caller ppid32
	rc_is 159
	is "$(do_of '.status, .signal')" $'signal\nSIGSYS'
}

what_is_not_enough_is_refused() {
	_listener
	_below "do" --rootfs "$B/rootfs" --strict-limits -- echo ran
	rc_is 125
	is "$out" ''
	like "$err" '^sbxrun: --strict-limits: --denials can.t be had here: whoever started .*; --denials none asks for none$'
	_below "do" --rootfs "$B/rootfs" --preset pure -- echo ran
	rc_is 125
	is "$out" ''
	like "$err" '^sbxrun: --preset pure: it needs a seccomp listener, and whoever started'
	_below "do" --rootfs "$B/rootfs" --preset pure --explain --json -- echo ran
	rc_is 125
}

# A session's interpreter keeps what it was begun with.
boxes_that_stay_do_without_it_too() {
	local box
	_listener
	_below box create --rootfs host
	box=$out
	_below box exec --json "$box" -- sh -c 'mkdir /usr/x; exit 4'
	is "$(do_of '.exit_code, .denials')" $'4\nnull'
	like "$(do_of '.notes | join(" ")')" 'what is refused is not known'
	_below box run --session --json "$box" python 'x = 41
x + 1'
	is "$(do_of '.status, .denials, .result["text/plain"]')" $'ok\nnull\n42'
	run sbx box run --session --json "$box" python 'x + 2'
	is "$(do_of '.status, .denials, .result["text/plain"]')" $'ok\nnull\n43'
	run sbx box exec --json "$box" -- mkdir /usr/x
	is "$(do_of '.denials[0].target')" /usr/x
	sbx box destroy "$box"
}

# One that comes last before the program must not swallow the others.
all_notes_are_told_before_the_program() {
	do_bundle
	run sbx --policy engine --cgroup-manager disabled "do" --rootfs "$B/rootfs" -- sh -c 'echo now >&2'
	like "$err" $'(^|\n)sbxrun: the box is held to the policy engine, and not to code\n(sbxrun: [^\n]*\n)*now'
	like "$err" $'(^|\n)sbxrun: --memory, [^\n]*no cgroups[^\n]*\n(sbxrun: [^\n]*\n)*now'
	run sbx --policy engine "do" --rootfs "$B/rootfs" --stream -- true
	is "$(jq -rs '.[0] | .event, .text' <<<"$out")" $'note\nthe box is held to the policy engine, and not to code'
}

run_tests
