#!/bin/bash
# sbxrun box run --session: interpreters that stay between calls. What stays, what comes back, what ends a session, and what other calls do to it.
# Views: v2 variables_stay other_calls_leave_sessions_alone a_snapshot_is_of_one_moment
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	needs python3
	BOX=$(_box create --rootfs host "$@")
}
# OPTION… CODE
_cell() { run _box run --session "${@:1:$#-1}" "$BOX" python "${!#}"; }
_json() { _cell --json "$@"; }
_of() { jq -r "$1" <<<"$out"; }
_keeper() { "$SBXRUN" --root "$T/state" box sessions --json "$BOX" | jq -r '.[].session'; }

variables_stay() {
	_new
	_cell $'import math\nx = 41\nprint("printed")\nx + 1'
	rc_is 0
	is "$out" $'printed\n42'
	_json 'def f(y): return x + y + math.floor(1.5)
f(_)'
	is "$(_of '.status, .exit_code, .result["text/plain"], .session.name, .session.cell, .session.began, .session.lost')" \
		$'ok\n0\n84\ndefault\n2\nfalse\nfalse'
	_json 'x = 5;'
	is "$(_of '.result, .exception')" $'null\nnull'
	_json 'with open("used", "wb") as f: n = f.write(bytes(3000000))
sum(range(10 ** 6));'
	is "$(_of '.usage.disk_used >= 3000000')" true
	# Without cgroups nobody counts these.
	[ -n "${SBX_UID:-}" ] || is "$(_of '.usage.cpu_s > 0, .usage.memory_peak > 3000000')" $'true\ntrue'
	_cell 'x + 1;'
	is "$out" ''
	_cell 'await __import__("asyncio").sleep(0)
async def g(): return 7
await g()'
	is "$out" 7
	run _box run --session=other "$BOX" python 'x'
	rc_is 1
	like "$err" 'NameError'
	is "$(_box sessions --json "$BOX" | jq -c 'map([.session, .language, .cells]) | sort')" '[["default","python",6],["other","python",1]]'
}

what_fails_leaves_the_session() {
	_new
	_cell 'x = 1'
	_json 'def f():
    return x / 0
f()'
	rc_is 1
	is "$(_of '.status, .exit_code, .exception.name, .exception.value, .session.lost')" $'error\n1\nZeroDivisionError\ndivision by zero\nfalse'
	like "$(_of .stderr)" '<cell 2>", line 2, in f'
	unlike "$(_of .stderr)" 'sbxrun'
	_json 'f('
	is "$(_of .exception.name)" SyntaxError
	unlike "$(_of .stderr)" IPython
	_json '!pip install x'
	is "$(_of .exception.name)" SyntaxError
	like "$(_of '.exception.traceback')" 'IPython.*sbxrun box install'
	_json 'import sys; sys.exit(3)'
	rc_is 3
	is "$(_of '.exit_code, .exception')" $'3\nnull'
	_json 'input("name? ")'
	is "$(_of .exception.name)" EOFError
	like "$(_of .exception.value)" 'no standard input'
	_cell 'import os
if os.fork() == 0: x = 2
else: os.wait()'
	rc_is 0
	_cell x
	is "$out" 1
}

figures_and_forms_come_back() {
	_new
	_box exec "$BOX" -- sh -c 'mkdir matplotlib; : >matplotlib/__init__.py; cat >matplotlib/pyplot.py' <<-'PY'
		import sys
		sys.modules["matplotlib"].rcParams = {}
		class Figure:
		    def savefig(self, to, format): to.write(b"\x89PNG" if format == "png" else b"<svg/>")
		shown = [1, 2]
		get_fignums = lambda: list(shown)
		figure = lambda n: Figure()
		close = lambda what: shown.clear()
	PY
	_json 'import matplotlib.pyplot as plt
class Table:
    def _repr_html_(self): return "<table>"
    def _repr_png_(self): return b"png"
    def _repr_json_(self): return {"a": 1}
    def _repr_svg_(self): raise ValueError
    def _repr_jpeg_(self): return "no base64!"
    def __repr__(self): return "a table"
display(Table())
Table()'
	is "$(_of '.result | keys | join(" ")')" 'application/json image/png text/html text/plain'
	is "$(_of '.result["text/plain"], .result["text/html"], .result["image/png"], .result["application/json"]')" $'a table\n<table>\ncG5n\n{"a": 1}'
	is "$(_of '.displays | length')" 3
	is "$(_of '.displays[1]["image/png"], .displays[0]["text/html"]')" $'iVBORw==\n<table>'
	_json 'sys = __import__("sys"); sys.modules["matplotlib"].rcParams["savefig.format"] = "svg"; plt.shown.append(3)'
	is "$(_of '.displays[0]["image/svg+xml"]')" '<svg/>'
	_json '"x" * 100000'
	like "$(_of '.result["text/plain"]')" '34466 characters more'
	_json 'class Bad:
    def __repr__(self): raise ValueError
Bad()'
	like "$(_of '.result["text/plain"]')" 'raised ValueError'
	_json '"\ud800\0"'
	rc_is 0
	_json --redact 'print("me@example.org"); "you@example.org"'
	like "$(_of '.stdout + .result["text/plain"]')" 'REDACTED_EMAIL.*REDACTED_EMAIL'
	unlike "$out" 'example.org'
	is "$(_of '.redactions[0].count')" 2
	_json --redact 'raise type("me@example.org", (Exception,), {})("you@example.org")'
	is "$(_of '.exception.name')" '[REDACTED_EMAIL]'
	unlike "$out" 'example.org'
}

# Code has written the value, and a terminal obeys what it is sent.
a_value_does_nothing_to_a_terminal() {
	_new
	export BOX
	run python3 - "$SBXRUN" "$T/state" "$BOX" <<-'PY'
		import os, pty, sys
		code = r"""class V:
		    def __repr__(self): return 'a\x1b]0;title\x07\tb\n\x9b31m\u202ec'
		V()"""
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], [sys.argv[1], "--root", sys.argv[2], "box", "run", "--session", sys.argv[3], "python", code])
		seen = b""
		try: # the end of a terminal is an error
		    while data := os.read(fd, 4096): seen += data
		except OSError: pass
		_, status = os.waitpid(pid, 0)
		print(status, ascii(seen.decode()))
	PY
	is "$out" "0 'a?]0;title?\\tb\\r\\n?31m?c\\r\\n'"
	# A file has it as it is.
	_cell '"\x1b[0m"; print(1); type("V", (), {"__repr__": lambda self: "\x1b[0m"})()'
	is "$out" $'1\n\e[0m'
}

time_that_is_up_interrupts() {
	_new
	_cell 'x = 1'
	_json --timeout 0.5 'print("before"); n = 7
while True: pass'
	rc_is 124
	is "$(_of '.status, .stdout, .exception.name, .session.lost')" $'timeout\nbefore\n\nKeyboardInterrupt\nfalse'
	_json --timeout 0.5 'import asyncio; await asyncio.sleep(1000)'
	is "$(_of '.status, .session.lost')" $'timeout\nfalse'
	_cell 'x + n'
	is "$out" 8
	# One that does not hear it.
	_json --timeout 0.5 'import signal, subprocess; signal.signal(signal.SIGINT, signal.SIG_IGN)
p = subprocess.Popen(["setsid", "sleep", "1000"])
while True: pass'
	rc_is 124
	is "$(_of '.status, .session.lost')" $'timeout\ntrue'
	like "$(_of .error.message)" '^interrupted after 0.5 s \(SIGINT.*killed'
	is "$(sbx ps --format json "box-$BOX" | jq length)" 1
	_json x
	is "$(_of '.exception.name, .session.began, .session.lost_before')" $'NameError\ntrue\nfalse'
}

an_interpreter_that_ends_is_told() {
	_new
	_json 'import os; print("out", flush=True); os._exit(5)'
	rc_is 5
	is "$(_of '.status, .stdout, .error.type, .session.lost')" $'error\nout\n\nSessionEnded\ntrue'
	_json 'import os; os.kill(os.getpid(), 9)'
	is "$(_of '.status, .signal, .session.lost')" $'signal\nSIGKILL\ntrue'
	_cell 'x = 1'
	_json 'import threading, os, time; threading.Thread(target=lambda: (time.sleep(0.05), os._exit(0))).start()'
	wait_until 20 eval '[ -z "$(_keeper)" ]'
	_json 'x'
	is "$(_of '.exception.name, .session.began')" $'NameError\ntrue'
	_box end-session "$BOX"
	is "$(_box sessions --json "$BOX")" '[]'
	run _box end-session "$BOX"
	rc_is 125
	like "$err" 'has no session "default"'
	_cell 'x = 2'
	_json --restart 'x'
	is "$(_of '.exception.name, .session.cell')" $'NameError\n1'
}

what_is_left_running_does_not_print_into_the_next_call() {
	_new
	_cell 'import threading, time, sys
go = threading.Event()
def late():
    go.wait(); print("late"); done.set()
done = threading.Event()
threading.Thread(target=late).start()
threading.Timer(0.2, go.set).start()'
	wait_until 20 eval '_json "done.is_set()"; [ "$(_of ".result[\"text/plain\"]")" = True ] || [ "$(_of .session.bytes_between.stdout)" != 0 ]'
	if [ "$(_of .session.bytes_between.stdout)" != 0 ]; then
		unlike "$(_of .stdout)" late
		like "$(_of '.notes | join(" ")')" 'printed between the calls'
	fi
}

other_calls_leave_sessions_alone() {
	_new
	_cell 'x = 1'
	_box exec "$BOX" -- sh -c '(setsid sleep 1000 &); (sleep 1000 &) ; exit 0'
	run _box exec --json "$BOX" -- ps -eo comm=
	unlike "$(_of .stdout)" sleep
	is "$(grep -c reaper <<<"$(_of .stdout)")" 3
	run _box exec --timeout 0.3 "$BOX" -- sh -c 'trap "" TERM; (setsid sleep 1000 &); while :; do :; done'
	rc_is 124
	run _box exec "$BOX" -- /nosuch
	rc_is 127
	run _box run "$BOX" python 'import os; os.fork(); os.kill(os.getpid(), 15)'
	_cell 'x'
	is "$out" 1
	is "$(sbx ps --format json "box-$BOX" | jq length)" 3
}

a_shell_stays() {
	_new
	_sh() { run _box run --json --session=sh "${@:1:$#-1}" "$BOX" bash "${!#}"; }
	_sh 'x=1; cd /tmp; f() { echo "f $x"; }; echo ü'
	is "$(_of '.stdout, .result')" $'ü\n\nnull'
	_sh 'f; pwd; cat; (exit 7)'
	rc_is 7
	is "$(_of '.stdout, .status, .session.lost')" $'f 1\n/tmp\n\nerror\nfalse'
	_sh --timeout 0.5 'while :; do :; done'
	is "$(_of '.status, .session.lost')" $'timeout\nfalse'
	_sh --timeout 0.5 'sleep 1000; echo after'
	is "$(_of '.status, .stdout, .session.lost')" $'timeout\n\nfalse'
	_sh 'ls /proc/self/fd | wc -l; f'
	is "$(_of .stdout)" $'4\nf 1'
	_sh 'exit 4'
	rc_is 4
	is "$(_of '.session.lost')" true
}

node_stays() {
	needs node
	_new
	_js() { run _box run --json --session=js "${@:1:$#-1}" "$BOX" node "${!#}"; }
	_js 'const x = 41; console.log("printed"); x + 1'
	is "$(_of '.stdout, .result["text/plain"]')" $'printed\n\n42'
	_js 'const x = await new Promise(r => setTimeout(r, 10, 5)); x'
	is "$(_of '.result["text/plain"]')" 5
	_js 'function f() { throw new TypeError("bad") }; f()'
	rc_is 1
	is "$(_of '.exception.name, .exception.value, .session.lost')" $'TypeError\nbad\nfalse'
	unlike "$(_of .stderr)" inspector
	_js 'process.exit(3)'
	rc_is 3
	is "$(_of '.session.lost')" false
	_js --timeout 1 'while (true);'
	is "$(_of '.status, .session.lost')" $'timeout\nfalse'
	_js --timeout 1 'await new Promise(() => {})'
	is "$(_of '.status, .session.lost')" $'timeout\nfalse'
	_js 'display({ [Symbol.for("Jupyter.display")]() { return { "image/png": Buffer.from("png") } } }); x + 2'
	is "$(_of '.displays[0]["image/png"], .result["text/plain"]')" $'cG5n\n7'
	_js 'process.stdin'
	like "$(_of .exception.value)" 'no standard input'
}

limits_and_denials_hold() {
	_new --memory 64m --pids-limit 16
	_json --output-limit 10 'print("0123456789abcdef"); import os
try: os.mkdir("/usr/x")
except OSError as e: print(e.errno)'
	is "$(_of '.truncated.stdout, .limits.output')" $'true\n10'
	like "$(_of '.denials[] | select(.kind == "file") | .target')" '/usr/x'
	_json '1'
	is "$(_of '.denials')" '[]'
	_cell --stream 'print("one")'
	is "$(jq -rs '.[0].data, .[-1].event, .[-1].result.session.cell' <<<"$out")" $'one\n\nend\n3'
	[[ $(_box create --json --rootfs host | jq -r '.notes | join(" ")') != *limit* ]] || return 0
	_json 'b = bytearray(200 << 20)'
	is "$(_of '.session.lost')" true
	is "$(_of .status)" oom
}

# A file that is called so, in the directory of whoever calls, is none of its business.
a_cell_is_no_file() {
	local word
	_new
	echo '"from the file"' >a
	run _box run "$BOX" python a
	rc_is 0
	_cell 'a = 7'
	_cell a
	is "$out" 7
	_cell './a'
	rc_is 1
	like "$err" SyntaxError
	_cell --code a
	is "$out" 7
	_cell --file a
	is "$out" "'from the file'"
	run eval 'echo a + 1 | _box run --session "$BOX" python -'
	is "$out" 8
	run _box run --session "$BOX" python -- -a
	is "$out" -7
	run _box run --code "$BOX" python a
	rc_is 1
	like "$err" NameError
	run _box run --code "$BOX" python -- --restart
	rc_is 1
	run _box run --file "$BOX" python 1
	rc_is 125
	like "$err" 'open 1: no such file'
	run _box exec --code "$BOX" -- true
	rc_is 125
	like "$err" 'box exec has no --code'
	for word in -c --code --file; do
		run _box run "$BOX" python a "$word"
		rc_is 125
		like "$err" "not defined: $word .*behind --"
	done
}

what_can_not_be_had_is_refused() {
	_new
	run _box exec --session "$BOX" -- true
	rc_is 125
	like "$err" 'box exec has no --session'
	run _box run --session=a/b "$BOX" python 1
	like "$err" 'is no name of a session'
	run _box run --restart "$BOX" python 1
	like "$err" 'of which --session'
	run _box run --session "$BOX" c 1
	like "$err" 'no sessions of c'
	run _box run --session "$BOX" python 1 -- arg
	like "$err" 'no arguments'
	run _box run --session --cpu-time 1 "$BOX" python 1
	like "$err" 'cpu-time'
	run _box run --session "$BOX" python "$(printf 'x = "\xff"')"
	like "$err" 'UTF-8'
	_cell -e A=b 'import os; os.environ["A"]'
	is "$out" "'b'"
	_cell -e A=c 'os.environ["A"]'
	rc_is 125
	like "$err" 'has begun'
	_box pause "$BOX" || return 0
	_cell 1
	rc_is 125
	like "$err" 'is paused'
	_box resume "$BOX"
	_cell 1
	rc_is 0
}

there_are_eight_at_most() {
	local i
	_new
	for ((i = 0; i < 8; i++)); do
		run _box run --session=s$i "$BOX" bash :
		rc_is 0
	done
	run _box run --session=more "$BOX" bash :
	rc_is 125
	like "$err" 'has 8 sessions, which is the most that there may be: box end-session'
	run _box run --session=s3 --restart "$BOX" bash :
	rc_is 0
	_box end-session "$BOX" s0
	run _box run --session=more "$BOX" bash :
	rc_is 0
	is "$(_box sessions --json "$BOX" | jq length)" 8
}

# The mark of a box, behind the moment of its last use.
_mark() { printf %s "$1" | dd of="$T/state/box-$BOX/box" bs=1 seek=32 conv=notrunc status=none; }

# A session writes to two files in turn, with much to be read between them.
a_snapshot_is_of_one_moment() {
	local a b i
	_new
	_cell 'import os, threading
files = [os.open(n, os.O_RDWR | os.O_CREAT) for n in ("a", "c")]
open("b", "wb").write(b"x" * (16 << 20))
n = 0
def count():
    global n
    while True:
        n += 1
        for f in files: os.pwrite(f, b"%020d" % n, 0)
threading.Thread(target=count, daemon=True).start()'
	run _box snapshot "$BOX" one
	rc_is 0
	[[ $err != *'ran on'* ]] || skip "this host freezes nothing: $err"
	_box fork --id "$BOX.s" one
	_box fork --id "$BOX.b" "$BOX"
	for i in s b; do
		a=$(_box read "$BOX.$i" a) b=$(_box read "$BOX.$i" c)
		[ "$((10#$b))" -le "$((10#$a))" ] && [ $((10#$a - 10#$b)) -le 1 ] || fail "of two moments: $a, $b"
	done
	_json 'n'
	a=$(_of '.result["text/plain"]')
	is "$(_of '.status, .session.began')" $'ok\nfalse'
	_cell 'import time; time.sleep(0.01); n'
	[ "$out" -gt "$a" ] || fail 'the session does not go on'
	# One that is paused stays so.
	_box pause "$BOX"
	_box snapshot "$BOX" paused
	is "$(_box list --json | jq -r --arg id "$BOX" '.[] | select(.sandbox_id == $id) | .status')" paused
	# Who was killed while it kept one has left this; what a call has left that was killed is another thing.
	_mark f
	_json 'n >= 0'
	is "$(_of '.status, .result["text/plain"], .session.began')" $'ok\nTrue\nfalse'
	_mark c
	_json 'n >= 0'
	is "$(_of '.exception.name, .session.began')" $'NameError\ntrue'
}

# A zombie has ended: who reaps those that have no parent any more is the machine's business.
_has_ended() { [[ ! -e /proc/$1 || $(cat "/proc/$1/stat" 2>/dev/null) != *') '[!Z]* ]]; }
# The keeper: the parent of the session's reaper, which is the second process of the box.
_keeper_pid() { ps -o ppid= -p "$(sbx ps --format json "box-$BOX" | jq '.[1]')" | tr -d ' '; }

keepers_end_with_their_box() {
	local how keeper pids pid
	for how in destroy init; do
		_new
		_cell 'import subprocess; p = subprocess.Popen(["setsid", "sleep", "1000"])'
		keeper=$(_keeper_pid)
		like "$(cat "/proc/$keeper/comm")" '^sbxrun-session$'
		pids=$(sbx ps --format json "box-$BOX" | jq '.[]')
		is "$(wc -w <<<"$pids")" 4
		if [ "$how" = destroy ]; then
			_box destroy "$BOX"
		else
			kill -KILL "$(pid_of "box-$BOX")"
		fi
		for pid in $keeper $pids; do
			wait_until 20 _has_ended "$pid"
		done
		run _box gc
		[ ! -e "$T/state/box-$BOX" ] || fail "the record is there after $how"
	done
}

# Whoever is killed, nothing is left, and nobody waits.
the_death_of_each_party_is_survived() {
	local keeper
	_new
	_cell 'x = 1'
	"$SBXRUN" --root "$T/state" box run --session "$BOX" python 'open("up", "w"); import time; time.sleep(1000)' &
	wait_until 20 _box read "$BOX" up
	kill -KILL $!
	wait $! || :
	_json x
	is "$(_of '.exception.name, .session.began')" $'NameError\ntrue'
	is "$(sbx ps --format json "box-$BOX" | jq length)" 3
	keeper=$(_keeper_pid)
	kill -KILL "$keeper"
	wait_until 20 eval '[ "$(sbx ps --format json "box-$BOX" | jq length)" = 1 ]'
	_json x
	is "$(_of '.session.began, .session.lost_before')" $'true\ntrue'
	# The reaper.
	kill -KILL "$(sbx ps --format json "box-$BOX" | jq '.[1]')"
	wait_until 20 eval '[ -z "$(_keeper)" ]'
	_json x
	is "$(_of '.session.began')" true
	is "$(sbx ps --format json "box-$BOX" | jq length)" 3
	_box destroy "$BOX"
	[ ! -e "$T/state/box-$BOX" ] || fail 'the record is there'
}

# `ps` shows the words of a process to everybody on the host, and the keeper stays for hours.
the_keeper_forgets_how_it_was_called() {
	local word=forgotten-$$-$RANDOM pid parent keeper=''
	_new
	_cell --env "SECRET=$word" "print('${word}'[:9])"
	is "$out" forgotten
	for pid in $(sbx ps --format json "box-$BOX" | jq '.[]'); do
		parent=$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")
		[ "$(cat "/proc/$parent/comm")" != sbxrun-session ] || keeper=$parent
	done
	[ -n "$keeper" ] || fail 'nobody keeps the session'
	is "$(tr '\0' ' ' <"/proc/$keeper/cmdline" | grep -c "$word")" 0
}

run_tests
