#!/bin/bash
# Idea: the interpreter of a session runs the attacker's code, who finds the driver's socket and writes there himself: results of other calls, more than anybody can
# hold, what is no JSON, no base64, words before the next call asks, descriptors. Or something outlives a call because there are sessions that must.
# Escape: something of a call is there in the next; fake: a result that the driver did not give for this call; a caller that hangs or dies.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	needs python3
	BOX=$(_box create --rootfs host "$@")
}
_cell() { run _box run --json --session "${@:1:$#-1}" "$BOX" python "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }
# The driver's socket, as the code finds it.
FIND='import os, json, socket, threading, time
fd = [int(f) for f in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + f) and os.readlink("/proc/self/fd/" + f).startswith("socket:")][0]
N = 2
def say(text): os.write(fd, text.encode())
def frame(**f): say(json.dumps(f) + "\n")
'
# The session has ended, its interpreter too, and the next call is a new one's.
_is_ended() {
	[ "$(_of '.session.lost')" = true ] || faked "it was believed: ${out:0:600}"
	[ "$(_of '.success')" = false ] || faked 'the call has succeeded'
	_cell '"fresh"'
	is "$(_of '.session.began, .result["text/plain"]')" $'true\n\'fresh\''
	is "$(sbx ps --format json "box-$BOX" | jq length)" 3
}

lies_about_calls_end_the_session() {
	_new
	_cell 1
	for lie in 'frame(t="done", id=3, ok=True)' 'frame(t="done", id=0, ok=True)' 'frame(t="result", id=99, data={})' 'say("{\"t\":\"done\",\"id\":2,\"ok\":true}\n" * 2)' \
		'frame(t="result", id=N, data={}); frame(t="result", id=N, data={})' 'frame(t="done", id=N)' 'frame(t="other", id=N)' 'frame(t="done", id=N, ok=True, extra=1)' \
		'frame(t="done", id=-1, ok=True)' 'frame(id=N, ok=True)' 'say("{\"t\":\"done\",\"id\":2,\"ok\":true}\n{")'; do
		_cell "$FIND$lie"$'\ntime.sleep(1000)'
		_is_ended
	done
}

what_is_no_frame_ends_the_session() {
	_new
	_cell 1
	for words in 'say("\n")' 'say("{}\n")' 'say("[" * 10000 + "\n")' 'say("{\"t\":" + "{\"a\":" * 1000 + "\n")' 'os.write(fd, b"\xff\x00\n")' \
		'frame(t="result", id=N, data={"image/png": "!no base64!"})' 'frame(t="result", id=N, data={"image/png": "AAA"})' \
		'frame(t="result", id=N, data={"text/plain": {"a": 1}})' 'frame(t="result", id=N, data={"TEXT": "x"})' \
		'frame(t="result", id=N, data={"a/" + str(i): "" for i in range(17)})' 'frame(t="result", id=N, data={"a/" + "b" * 100: ""})' \
		'say("{\"t\":\"done\",\"t\":\"done\",\"id\":2,\"ok\":true}\n")'; do
		_cell "$FIND$words"$'\ntime.sleep(1000)'
		[ "$(_of '.error.type')" = SessionError ] || faked "it was believed: ${out:0:300}"
		_is_ended
	done
}

floods_are_cut() {
	_new
	_cell 1
	for flood in 'while True: say("x" * 65536)' 'while True: frame(t="display", id=N, data={})' 'while True: frame(t="display", id=N, data={"text/plain": "x" * 1000000})'; do
		_cell "$FIND$flood"
		[ "$(_of '.error.type')" = SessionError ] || faked "it was believed: ${out:0:300}"
		_is_ended
	done
	# Output beyond the limit while the driver is done, from a thread that does not stop.
	_cell --output-limit 100000 'import threading, os
def flood():
    while True: os.write(1, b"y" * 65536)
threading.Thread(target=flood, daemon=True).start()'
	rc_is 0
	[ "$(_of '.stdout | length')" -lt 101000 ] || faked 'more than the limit'
	_cell --timeout 20 --output-limit 100000 '1'
	[ "$(_of '.status')" = ok ] || faked "the next call suffers: ${out:0:300}"
}

words_between_calls_end_the_session() {
	_new
	_cell "$FIND"'def late():
    while not os.path.exists("go"): time.sleep(0.01)
    frame(t="result", id=2, data={"text/plain": "of another call"})
    open("said", "w")
threading.Thread(target=late, daemon=True).start()'
	rc_is 0
	_box write "$BOX" go </dev/null
	wait_until 30 _box read "$BOX" said
	_cell '"mine"'
	hides "$out" 'of another call'
	[ "$(_of .success)" = false ] || [ "$(_of .session.began)" = true ] || faked "what was said between the calls was taken: ${out:0:500}"
}

descriptors_go_nowhere() {
	_new
	_cell "$FIND"'s = socket.socket(fileno=os.dup(fd))
try:
    for i in range(50): socket.send_fds(s, [json.dumps({"t": "display", "id": 1, "data": {"text/plain": str(i)}}).encode() + b"\n"], [0, 1, 2])
except OSError as e: print("refused", e.errno)
7'
	is "$(_of '.status')" ok
	# The ends of it closed, or kept by a child: nobody waits.
	_cell --timeout 5 'os.close(fd); 1'
	[ "$(_of '.success')" = false ] || faked 'a result without a way'
	_cell --timeout 1 "$FIND"'if os.fork() == 0: time.sleep(1000)
os._exit(0)'
	[ "$(_of '.session.lost')" = true ] || faked 'a session without an interpreter'
	_cell '1'
	rc_is 0
	is "$(sbx ps --format json "box-$BOX" | jq length)" 3
}

# An interpreter that stops its reaper, or kills it: neither it nor what it started stays.
a_session_without_its_reaper_ends() {
	_new
	for sig in KILL STOP; do
		_cell --timeout 1 "import os, signal, time
os.spawnlp(os.P_NOWAIT, 'setsid', 'setsid', 'sleep', '1000')
os.kill(os.getppid(), signal.SIG$sig)
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(1000)"
		[ "$(_of '.success')" = false ] || faked 'a call that was killed has succeeded'
		_cell '"next"'
		is "$(_of '.result["text/plain"]')" "'next'"
		is "$(sbx ps --format json "box-$BOX" | jq length)" 3 "after $sig"
		_box end-session "$BOX"
	done
}

# Beside another session nobody else would look for what it has left.
what_a_killed_reaper_leaves_ends_beside_sessions() {
	_new
	_cell 'x = 1'
	run _box run --json --session=other "$BOX" python "import os, signal, time
os.spawnlp(os.P_NOWAIT, 'setsid', 'setsid', 'sleep', '1000')
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(1000)"
	[ "$(_of '.session.lost')" = true ] || faked 'a session without a reaper'
	[ "$(sbx ps --format json "box-$BOX" | jq length)" = 1 ] || escaped 'something outlives its session'
}

what_a_call_leaves_ends_beside_sessions() {
	_new --pids-limit 40
	_cell 'x = 1'
	run _box exec --timeout 60 "$BOX" -- bash -c 'bomb() { (setsid bash -c "while :; do (setsid sleep 0.01 &) ; done" &); }; bomb; bomb; bomb; sleep 0.3; exit 3'
	rc_is 3
	[ "$(sbx ps --format json "box-$BOX" | jq length)" = 3 ] || escaped 'something outlives its call'
	run _box exec --timeout 0.5 "$BOX" -- bash -c 'trap "" TERM; while :; do (setsid sleep 0.01 &); done'
	rc_is 124
	[ "$(sbx ps --format json "box-$BOX" | jq length)" = 3 ] || escaped 'something outlives its call'
	_cell 'x'
	is "$(_of '.result["text/plain"]')" 1
	# One that kills its reaper takes the sessions along, which is told.
	run _box exec --json "$BOX" -- bash -c '(setsid sleep 1000 &); kill -KILL $PPID; sleep 1000'
	is "$(sbx ps --format json "box-$BOX" | jq length)" 1
	like "$(_of '.notes | join(" ")')" 'sessions of the box have ended'
}

a_caller_that_is_killed_leaves_nothing() {
	local i pid
	_new
	for ((i = 0; i < 3; i++)); do
		_cell '1'
		"$SBXRUN" --root "$T/state" box exec "$BOX" -- bash -c '(setsid sleep 1000 &); : >up; sleep 1000' &
		pid=$!
		wait_until 20 _box read "$BOX" up
		kill -KILL "$pid"
		wait "$pid" || :
		_box rm-file "$BOX" up
		run _box exec "$BOX" -- ps -eo comm=
		! grep -q sleep <<<"$out" || escaped 'something of a call whose caller was killed'
	done
}

run_tests
