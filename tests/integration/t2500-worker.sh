#!/bin/bash
# Containers that a server has made by a worker (worker/worker.h). tools/server.c is the server.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

SERVER=$(dirname "$SBXRUN")/tests/server

# _serve WORD…: the server with the bundle of the test, kept like `run`.
_serve() {
	_needs_server
	run "$SERVER" "$SBXRUN" "$T/state" "$ID" "$B" "$@"
}

_needs_server() {
	[ -x "$SERVER" ] || skip "no $SERVER: make unit"
}

# The same in the background, with what it says in the file `said`.
_serve_on() {
	_needs_server
	"$SERVER" "$SBXRUN" "$T/state" "$ID" "$B" "$@" >said 2>&1 &
	PID_OF_SERVER=$!
}

_worker() {
	sed -n 's/.*, worker //p' said
}

# What the server has said is shown if the word never comes.
_says() {
	grep -qs "$1" said && return
	[ "$((SECONDS - ${SAID_SINCE:=$SECONDS}))" -lt 28 ] || echo "the server said: $(cat said 2>&1)"
	return 1
}

_is_gone() {
	[ ! -e "$T/state/$ID" ]
}

a_container_lives_and_goes() {
	bundle 'sh("echo inside; exit 7")'
	_serve streams create start wait remove close
	rc_is 0
	like "$out" '^created [0-9]+, worker [0-9]+'
	like "$out" 'inside'
	like "$out" 'started'
	like "$out" 'ended 7 signal 0 wall cpu'
	unlike "$out" 'error'
	nothing_is_left
}

a_config_comes_from_memory() {
	bundle 'sh("exit 9")'
	# Larger than a message can be.
	jq '.annotations["org.example.long"] = ("x" * 500000)' "$B/config.json" >other.json
	echo '{}' >"$B/config.json"
	_serve "config:$T/other.json" create start wait remove close
	like "$out" 'ended 9 signal 0'
	unlike "$out" 'error'
	nothing_is_left
}

without_streams_there_is_nothing_of_the_servers() {
	bundle 'sh("echo hello; [ -c /proc/self/fd/0 ] && [ -c /proc/self/fd/1 ] && [ -c /proc/self/fd/2 ]")'
	_serve create start wait remove close
	unlike "$out$err" 'hello'
	like "$out" 'ended 0 '
}

the_environment_of_the_server_stays_there() {
	bundle 'sh("sleep 1000")'
	SECRET_OF_SERVER=1 _serve_on create start sleep
	wait_until 20 _says started
	[ "$(tr '\0' '\n' <"/proc/$(_worker)/environ" | grep -c SECRET)" = 0 ] || fail 'the worker has it'
	is "$(find "/proc/$(_worker)/fd" -lname '*said' | wc -l)" 0 'descriptors of the server'
	kill "$PID_OF_SERVER"
	wait_until 20 _is_gone
}

the_worker_runs_from_a_protected_copy() {
	bundle 'sh("sleep 1000")'
	_serve_on create sleep
	wait_until 20 grep -q created said
	isnt "$(readlink "/proc/$(_worker)/exe")" "$(readlink -f "$SBXRUN")"
	kill "$PID_OF_SERVER"
	wait_until 20 _is_gone
}

a_terminal_comes_to_the_server() {
	bundle '.process.terminal = true' 'sh("echo on a terminal; test -t 0 && exit 3")'
	_serve create start hear wait remove close
	like "$out" 'created [0-9]+ with a terminal'
	like "$out" 'heard on a terminal'
	like "$out" 'ended 3 '
	nothing_is_left
}

a_listener_comes_to_the_server() {
	bundle 'sh("exit 4")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/nowhere",
		syscalls: [{names: ["swapon"], action: "SCMP_ACT_NOTIFY"}]}'
	_serve listener create start wait remove close
	like "$out" 'started with a listener'
	like "$out" 'ended 4 '
}

a_program_is_waited_for_as_long_as_the_server_likes_and_killed() {
	bundle 'sh("sleep 1000")'
	_serve create start wait:20 kill:9 wait wait remove close
	like "$out" $'started\nrunning\nended 137 signal 9'
	is "$(grep -c 'ended 137' <<<"$out")" 2 'it can be asked again'
	nothing_is_left
}

errors_come_back_with_their_words() {
	bundle 'args(["/no/such/program"])'
	_serve create
	like "$out" 'error: .*/no/such/program'
	_is_gone || fail 'its state is still there'
	bundle '.process.cwd = "relative"'
	_serve create
	like "$out" 'error: .*process.cwd'
	_is_gone || fail 'its state is still there'
	bundle
	_serve create create
	like "$out" 'error: container with given ID already exists'
}

notes_come_before_the_answer() {
	bundle 'sh("true")' '.hooks.poststop = [{path: "/bin/false"}]'
	_serve create start wait remove close
	like "$out" 'note: error running poststop hook #0'
	bundle 'args(["/no/such/program"])' '.hooks.poststop = [{path: "/bin/false"}]'
	_serve create
	like "$out" $'note: error running poststop hook #0.*\nerror: .*/no/such/program'
}

a_server_that_dies_takes_its_container_along() {
	local word
	for word in 'create' 'create start'; do
		bundle 'sh("sleep 1000")'
		# shellcheck disable=SC2086
		_serve_on $word sleep
		wait_until 20 _says "${word#create }"
		kill -9 "$PID_OF_SERVER"
		wait_until 20 _is_gone
		nothing_is_left
	done
}

a_server_that_dies_during_a_create_is_noticed() {
	bundle '.hooks.createRuntime = [{path: "/bin/sleep", args: ["sleep", "1000"]}]'
	_serve_on create
	wait_until 20 test -e "$T/state/$ID/state.json"
	kill -9 "$PID_OF_SERVER"
	wait_until 20 _is_gone
	nothing_is_left
}

a_container_that_is_to_survive_does() {
	bundle 'sh("sleep 1000")'
	_serve_on survives create start sleep
	wait_until 20 _says started
	kill -9 "$PID_OF_SERVER"
	wait_until 20 eval '! kill -0 "$(_worker)" 2>/dev/null'
	is "$(status_of "$ID")" running
	sbx delete -f "$ID"
	nothing_is_left
}

a_container_can_be_let_go() {
	bundle 'sh("sleep 1000")'
	_serve create start let-go close
	unlike "$out" 'error'
	is "$(status_of "$ID")" running
	sbx delete -f "$ID"
}

a_worker_that_dies_is_an_error_and_delete_cleans_up() {
	bundle 'sh("sleep 1000")'
	_serve create start kill-worker wait close
	like "$out" "error: the worker of container \"$ID\" has ended: what is left of it is for delete --force"
	_serve create start kill-worker kill:9 close
	like "$out" 'error'
	sbx delete -f "$ID"
	nothing_is_left
}

a_worker_that_does_not_answer_is_not_waited_for() {
	bundle 'sh("sleep 1000")'
	_serve_on create stop-worker deadline:200 start
	wait_until 20 grep -q "error: the worker of container \"$ID\" did not answer in time" said
	wait "$PID_OF_SERVER"
	kill -CONT "$(_worker)"
	wait_until 20 _is_gone
	nothing_is_left
}

requests_that_are_not_permitted_now_end_it() {
	local request
	for request in '{"version":1,"ask":"create","root":"/x","id":"y","bundle":"/"}' '{"version":1,"ask":"wait"' 'nonsense' '{"version":1,"ask":"create","fds":["config"]}' \
		'{"version":2,"ask":"start"}' '{"ask":"start"}' '{"version":1,"ask":"dance"}'; do
		bundle 'sh("sleep 1000")'
		_serve create "say:$request" close
		like "$out" $'\nhung up' "after $request"
		_is_gone || fail 'its state is still there'
	done
	nothing_is_left
	bundle 'sh("true")'
	_serve create start wait 'say:{"version":1,"ask":"start"}' close
	like "$out" $'\nhung up'
	nothing_is_left
}

it_is_no_command_for_people() {
	run "$SBXRUN" worker
	rc_is 1
	like "$err" 'worker is for programs'
	run "$SBXRUN" worker 3</dev/null
	rc_is 1
	run "$SBXRUN" help
	unlike "$out" '^  worker'
}

run_tests
