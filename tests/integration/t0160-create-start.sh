#!/bin/bash
# create and start: what exists after each, and that a failure leaves nothing.
# Views: own without_a_process_create_works_and_start_fails
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

the_program_runs_at_start_and_not_before() {
	local pid
	bundle writable 'sh("echo $$ >/mark; sleep 100")'
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	lives "$pid" || fail 'no init'
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$pid$"
	[ ! -e "$B/rootfs/mark" ] || fail 'it has run'
	sbx start "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	is "$(<"$B/rootfs/mark")" 1
	is "$(pid_of "$ID")" "$pid" 'init became the program'
}

start_returns_when_the_program_has_been_executed() {
	bundle 'args(["/bin/sleep", "100"])'
	sbx create -b "$B" "$ID"
	sbx start "$ID"
	is "$(readlink "/proc/$(pid_of "$ID")/exe")" /bin/busybox
}

start_is_refused_unless_created() {
	bundle 'sh("echo x >>/mark; sleep 100")' writable
	refused 'does not exist' sbx start "$ID"
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	refused . sbx start "$ID"
	is "$(status_of "$ID")" running
	sbx kill "$ID" KILL
	wait_until 10 status_is "$ID" stopped
	refused . sbx start "$ID"
	is "$(<"$B/rootfs/mark")" x 'it ran once'
}

later_edits_of_the_config_have_no_effect() {
	bundle writable 'sh("echo first >/mark")' '.annotations = {"a": "first"}'
	sbx create -b "$B" "$ID"
	jq '.process.args[2] = "echo second >/mark" | .annotations.a = "second"' "$B/config.json" >"$B/new"
	cat "$B/new" >"$B/config.json"
	is "$(sbx state "$ID" | jq -r .annotations.a)" first
	sbx start "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	is "$(<"$B/rootfs/mark")" first
}

the_config_may_be_gone_after_create() {
	bundle writable 'sh("echo first >/mark")'
	sbx create -b "$B" "$ID"
	rm "$B/config.json"
	sbx start "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	wait_until 10 status_is "$ID" stopped
	sbx delete "$ID"
	nothing_is_left
}

without_a_process_create_works_and_start_fails() {
	local pid
	bundle 'del(.process)'
	sbx create -b "$B" "$ID"
	is "$(status_of "$ID")" created
	pid=$(pid_of "$ID")
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$pid$"
	refused 'process' sbx start "$ID"
	is "$(status_of "$ID")" created 'start had no effect'
	sbx delete "$ID"
	dead "$pid" || fail 'init is alive'
	nothing_is_left
}

without_a_process_run_fails_and_leaves_nothing() {
	bundle 'del(.process)'
	refused 'process' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_bundle_that_is_not_one_is_refused() {
	bundle
	refused 'no such file' sbx create -b "$T/nothing" "$ID"
	mkdir empty
	refused 'no such file' sbx create -b "$T/empty" "$ID"
	mkdir empty/config.json
	refused . sbx create -b "$T/empty" "$ID"
	refused 'no such file' sbx create -b "$B" -f "$T/nothing.json" "$ID"
	mkdir "$T/no-root"
	cp "$B/config.json" no-root
	refused 'root' sbx create -b "$T/no-root" "$ID"
	touch "$T/no-root/rootfs"
	refused 'root' sbx create -b "$T/no-root" "$ID"
	state_is_empty
	nothing_is_left
}

bad_configs_are_refused_and_leave_nothing() {
	local n=0 text good
	bundle
	jq -c . "$B/config.json" >good
	slurp good good
	for text in '' '{' '[]' 'null' '{}' "$good x" "$good$good" "${good/\"ociVersion\"/\"ociversion\"}" \
		"${good/\{/\{\"ociVersion\":\"1.0.0\",}" "${good/\"ociVersion\":\"1./\"ociVersion\":\"2.}" \
		"${good/\"rootfs\"/7}" "${good/\"rootfs\"/\"\"}" "${good/\"rootfs\"/\"a\\u0000b\"}"; do
		printf '%s' "$text" >"$B/config.json"
		n=$((n + 1))
		refused . sbx create -b "$B" "$ID"
	done
	is "$n" 13
	state_is_empty
	nothing_is_left
}

an_error_names_the_field() {
	bundle '.process.user.uid = "zero"'
	refused 'process.user.uid' sbx create -b "$B" "$ID"
	bundle '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 1}]'
	refused 'process.rlimits\[0\]' sbx create -b "$B" "$ID"
}

unknown_fields_are_ignored() {
	bundle 'sh("exit 7")' '.nonsense = {a: [1, null, true]} | .process.nonsense = 1.5e3 | .linux.nonsense = "x"' \
		'.solaris = {} | .windows = {} | .vm = {}'
	run sbx run -b "$B" "$ID"
	rc_is 7
	is "$err" ''
}

another_file_may_be_the_config() {
	bundle 'sh("exit 7")'
	mv "$B/config.json" "$T/other.json"
	run sbx run -b "$B" --config "$T/other.json" "$ID"
	rc_is 7
}

a_bundle_may_be_given_relatively_or_through_a_link() {
	bundle
	ln -s "$B" link
	sbx create -b link "$ID"
	is "$(sbx state "$ID" | jq -r .bundle)" "$B"
	sbx delete "$ID"
	cd "$B"
	sbx create -b ../"${B##*/}" "$ID"
	is "$(sbx state "$ID" | jq -r .bundle)" "$B"
}

no_process_of_ours_stays_beside_init() {
	local pid ppid comm
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	ppid=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
	slurp comm "/proc/$ppid/comm"
	unlike "$comm" sbxrun
}

init_goes_to_the_subreaper_that_called_us() {
	bundle 'sh("exit 7")'
	run python3 - "$SBXRUN" "$T/state" "$B" "$ID" <<-'END'
		import ctypes, os, subprocess, sys
		ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
		runtime, root, bundle, id = sys.argv[1:]
		subprocess.run([runtime, "--root", root, "create", "-b", bundle, "--pid-file", "pid", id], check=True)
		pid = int(open("pid").read())
		assert " %d " % os.getpid() in open("/proc/%d/stat" % pid).read()
		subprocess.run([runtime, "--root", root, "start", id], check=True)
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	rc_is 0
	is "$out" 7
}

a_program_that_cannot_be_executed_fails_the_start_and_ends_init() {
	local pid
	bundle 'args(["/prog"])'
	echo '#!/bin/sh' >"$B/rootfs/prog"
	chmod +x "$B/rootfs/prog"
	sbx create -b "$B" "$ID"
	echo '#!/no/interpreter' >"$B/rootfs/prog"
	pid=$(pid_of "$ID")
	refused 'no such file' sbx start "$ID"
	wait_until 10 dead "$pid"
	run sbx state "$ID"
	[ "$rc" = 1 ] || is "$(jq -r .status <<<"$out")" stopped
	sbx delete -f "$ID"
	nothing_is_left
}

without_pivot_root_the_root_is_the_containers() {
	bundle 'sh("cat /mark; ls /; readlink /proc/1/root; true")'
	echo inside >"$B/rootfs/mark"
	run sbx run --no-pivot -b "$B" "$ID"
	rc_is 0
	is "$out" "inside"$'\n'"$(ls "$B/rootfs")"$'\n/'
	nothing_is_left
}

timing_is_written_on_success() {
	bundle 'sh("exit 0")'
	sbx --timing "$T/timing" run -b "$B" "$ID"
	file_has "$T/timing" '[0-9]'
}

run_tests
