#!/bin/bash
# --debug and --log-level: every step of init, every write to a cgroup and every decision of a plan is a line; none of them is reachable
# from inside, and none has a secret in it.
# shellcheck disable=SC2016
# Views: own each_step_of_init_is_a_line info_says_what_was_made
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

_debugged() {
	sbx --debug --log "$T/log" "$@"
}

# _says LEVEL REGEX: a line of the text log.
_says() {
	file_has "$T/log" "level=$1 msg=\"$2"
}

each_step_of_init_is_a_line() {
	local step
	bundle 'sh("sleep 100")'
	_debugged create -b "$B" "$ID"
	for step in detach cgroups sources root-ids hide names loopback build-root console runtime-hooks container-hooks enter-root proc \
		finish-root limits keyring confine settle; do
		_says debug "init: $step\""
	done
	_says debug 'stage: ready has come'
	_says debug 'program: /bin/sh'
	_debugged start "$ID"
	_says debug 'stage: start'
	_debugged exec "$ID" true
	for step in leave-caller cgroups namespaces console limits identity; do
		_says debug "exec: $step\""
	done
}

each_write_to_a_cgroup_is_a_line() {
	local dir
	bundle 'sh("sleep 100")' '.linux.resources.pids.limit = 77 | .linux.resources.memory.limit = 123457536'
	_debugged run -d -b "$B" "$ID"
	dir=$(cgroup_dir pids)
	_says debug "cgroup: write 77 to $dir/pids.max\""
	_says debug "cgroup: write 123457536 to $(cgroup_dir memory)/memory\.(limit_in_bytes|max)\""
	_says info "cgroup made: $dir\""
	_debugged update --pids-limit 78 "$ID"
	_says debug "cgroup: write 78 to $dir/pids.max\""
	_debugged pause "$ID"
	_says debug "cgroup: write (FROZEN|1) to "
	_debugged resume "$ID"
	_says debug "cgroup: write (THAWED|0) to "
	_debugged delete -f "$ID"
	_says info "cgroup removed: $dir\""
}

a_write_that_fails_says_why() {
	bundle 'sh("sleep 100")' '.linux.resources.cpu.quota = 20000'
	sbx run -d -b "$B" "$ID"
	run sbx --debug --log "$T/log" update --cpu-burst 50000 "$ID"
	rc_is 1
	_says debug 'cgroup: write 50000 to .*/(cpu.cfs_burst_us|cpu.max.burst): invalid argument"'
	is "$(grep -c level=error "$T/log")" 1
}

each_decision_of_a_plan_is_a_line() {
	bundle '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 99, hard: 100}]' 'mount({destination: "/mnt", type: "bind", source: $T, options: ["bind", "ro"]})'
	_debugged create -b "$B" "$ID"
	_says debug 'plan: namespace kind=pid new'
	_says debug "plan: mount kind=bind at=/mnt type=bind source=$T .*set=ro"
	_says debug 'plan: rlimit name=RLIMIT_NOFILE soft=99 hard=100'
	_says debug 'plan: capabilities bounding='
}

info_says_what_was_made() {
	local verb words
	bundle 'sh("sleep 100")'
	sbx --log "$T/log" --log-level info create -b "$B" "$ID"
	_says info "container $ID created, init is process $(pid_of "$ID")\""
	for verb in "start $ID" "exec $ID true" "pause $ID" "resume $ID" "kill $ID" "delete -f $ID"; do
		# shellcheck disable=SC2086
		sbx --log "$T/log" --log-level info $verb
	done
	for words in "container $ID started" "process [0-9]+ started in container $ID" "container $ID paused" "container $ID resumed" \
		"signal 15 sent to process [0-9]+ of container $ID" "container $ID deleted"; do
		_says info "$words\""
	done
	! grep -q level=debug "$T/log" || fail "$(grep -m1 level=debug "$T/log")"
	bundle 'sh("exit 7")'
	run sbx --log "$T/log" --log-level info run -b "$B" "$ID"
	_says info "container $ID ended with status 7\""
}

json_has_an_object_a_line() {
	bundle
	sbx --debug --log "$T/log.json" --log-format json run -b "$B" "$ID"
	jq -es 'length > 50 and all((.level | IN("debug", "info")) and (.time | test("^2")) and (.msg | type == "string"))' "$T/log.json" >/dev/null ||
		fail "$(head -n 3 "$T/log.json")"
}

without_a_log_the_lines_are_on_stderr() {
	bundle 'sh("echo out; echo err >&2")'
	run sbx --debug run -b "$B" "$ID"
	rc_is 0
	is "$out" out
	like "$err" 'level=debug msg="init: detach"'
	like "$err" 'level=debug msg="init: settle"'
	like "$err" 'level=debug msg="plan: '
	like "$err" $'(^|\n)err($|\n)'
	run sbx --debug --log-format json state nobody
	rc_is 1
	like "$err" '^\{"level":"debug","msg":"state: '
}

# What init says when its stderr is the terminal already.
with_a_terminal_the_lines_do_not_go_there() {
	needs python3
	bundle '.process.terminal = true' 'sh("echo hello")'
	python3 - "$SBXRUN" "$T" "$B" "$ID" <<-'END' >"$T/terminal"
		import os, pty, subprocess, sys
		runtime, T, B, ID = sys.argv[1:]
		master, slave = pty.openpty()
		with open(T + '/stderr', 'w') as err:
		    p = subprocess.Popen([runtime, '--root', T + '/state', '--debug', 'run', '-b', B, ID], stdin=slave, stdout=slave, stderr=err)
		os.close(slave)
		p.wait()
		try:
		    sys.stdout.write(os.read(master, 100000).decode())
		except OSError:
		    pass
	END
	file_has "$T/stderr" 'level=debug msg="init: settle"'
	file_has "$T/terminal" hello
	! grep -q level= "$T/terminal" || fail "$(cat "$T/terminal")"
}

a_failure_is_the_one_error_and_engines_find_it() {
	bundle 'args(["/not/there"])'
	run sbx --debug --log "$T/log.json" --log-format json run -b "$B" "$ID"
	rc_is 1
	is "$(jq -r 'select(.level == "error") | .msg' "$T/log.json")" 'exec: "/not/there": stat /not/there: no such file or directory'
	is "$(tail -n 1 "$T/log.json" | jq -r .level)" error
}

secrets_are_not_in_it() {
	bundle 'sh("sleep 100")' 'env("TOKEN=hunter2-env")' '.process.args += ["hunter2-arg"]' '.annotations["org.x"] = "hunter2-annotation"' \
		'hook("createContainer"; "/bin/true"; ["true", "hunter2-hook"])' '.hooks.createContainer[0].env = ["TOKEN=hunter2-hook"]'
	_debugged run -d -b "$B" "$ID"
	_debugged exec -e TOKEN=hunter2-exec "$ID" /bin/sh -c 'true hunter2-word'
	echo '{"args": ["/bin/true", "hunter2-doc"], "env": ["TOKEN=hunter2-doc"], "cwd": "/", "user": {"uid": 0, "gid": 0}}' >process.json
	_debugged exec --process process.json "$ID"
	_debugged delete -f "$ID"
	_says debug 'hook: createContainer #0: /bin/true'
	bundle 'mount({destination: "/mnt", type: "nonsense", source: "none", options: ["username=me", "password=hunter2-mount"]})'
	run sbx --debug --log "$T/log" create -b "$B" "$ID"
	rc_is 1
	_says debug 'plan: mount kind=fs at=/mnt .*username=me password=\*\*\*'
	! grep hunter2 "$T/log" || fail 'a secret is in the log'
}

# Where programs of the host, of the image, or the container's own could find it: all of them list what is open.
nobody_inside_has_the_log_open() {
	local log pid
	for log in "--log $T/the-log" ''; do
		bundle 'sh("ls -l /proc/1/fd; echo listed; sleep 100")' \
			'hook("createContainer"; "/bin/sh"; ["sh", "-c", "ls -l /proc/$$/fd >\($T)/hook"])' \
			'hook("startContainer"; "/bin/sh"; ["sh", "-c", "ls -l /proc/1/fd /proc/$$/fd >/dev/shm/hook"])'
		# shellcheck disable=SC2086
		sbx --debug $log create -b "$B" "$ID" >"$T/printed" 2>"$T/the-log-of-stderr"
		pid=$(pid_of "$ID")
		ls -l "/proc/$pid/fd" >created
		sbx start "$ID"
		wait_until 5 grep -q listed "$T/printed"
		run sbx exec "$ID" cat /dev/shm/hook
		! grep 'the-log$' hook created out printed || fail 'the log is open'
		is "$(grep -c the-log-of-stderr created)" 1 'stderr itself, and no copy of it'
		! grep the-log-of-stderr hook || fail 'a hook has it'
		sbx delete -f "$ID"
	done
}

run_tests
