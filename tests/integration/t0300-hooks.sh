#!/bin/bash
# The six kinds of hooks: when they run, where, with what, and what they are told.
# Views: own poststop_runs_when_everything_is_gone
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

KINDS='prestart createRuntime createContainer startContainer poststart poststop'

# A bundle with one hook of each kind that runs sh code $1 with its kind as $1, and the directory $T/shared at the same place
# inside and outside.
_bundle_with_all_hooks() {
	local code=$1
	shift
	mkdir -p shared
	HOOK_CODE=$code bundle "$@" 'mount({destination: ($T + "/shared"), type: "none", source: ($T + "/shared"), options: ["bind"]})' \
		'reduce ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop") as $k
			(.; hook($k; "/bin/sh"; ["sh", "-c", env.HOOK_CODE, "sh", $k]))'
}

all_six_run_in_order() {
	_bundle_with_all_hooks "echo \$1 >>$T/shared/order" "sh(\"echo process >>$T/shared/order; sleep 100\")"
	sbx create -b "$B" "$ID"
	is "$(<shared/order)" $'prestart\ncreateRuntime\ncreateContainer'
	sbx start "$ID"
	wait_until 10 grep -q process shared/order
	wait_until 10 grep -q poststart shared/order
	is "$(grep -v poststart shared/order)" $'prestart\ncreateRuntime\ncreateContainer\nstartContainer\nprocess'
	is "$(grep -v process shared/order)" $'prestart\ncreateRuntime\ncreateContainer\nstartContainer\npoststart'
	rm shared/order
	sbx delete -f "$ID"
	is "$(<shared/order)" poststop
}

those_of_a_kind_run_as_listed() {
	_bundle_with_all_hooks "echo \$1.1 >>$T/shared/order"
	# shellcheck disable=SC2016
	jq --arg f "$T/shared/order" '.hooks |= with_entries(.key as $k | .value += [2, 3 | {path: "/bin/sh",
		args: ["sh", "-c", "echo \($k).\(.) >>\($f)"]}])' "$B/config.json" >new
	sbx run -b "$B" -f "$T/new" "$ID"
	for kind in $KINDS; do
		is "$(grep "^$kind" shared/order)" "$kind.1"$'\n'"$kind.2"$'\n'"$kind.3"
	done
}

each_gets_the_state_on_stdin() {
	local pid kind
	_bundle_with_all_hooks "cat >$T/shared/\$1.json" 'sh("sleep 100")' '.annotations = {"a": "b \"c\""}'
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	sbx start "$ID"
	sbx delete -f "$ID"
	for kind in $KINDS; do
		jq -es --arg id "$ID" --arg b "$B" 'length == 1 and (.[0] | (.ociVersion | test("^1\\.")) and .id == $id and .bundle == $b
			and .annotations == {"a": "b \"c\""})' "shared/$kind.json" >/dev/null || fail "$kind: $(cat "shared/$kind.json")"
	done
	# The specification calls it created once its namespaces are there.
	is "$(jq -r '.status + " " + (.pid | tostring)' shared/prestart.json)" "created $pid"
	is "$(jq -r '.status + " " + (.pid | tostring)' shared/createRuntime.json)" "created $pid"
	is "$(jq -r '.status + " " + (.pid | tostring)' shared/createContainer.json)" 'created 1' 'as seen in the container'
	is "$(jq -r '.status + " " + (.pid | tostring)' shared/startContainer.json)" 'created 1' 'as seen in the container'
	is "$(jq -r '.status + " " + (.pid | tostring)' shared/poststart.json)" "running $pid"
	is "$(jq -r .status shared/poststop.json)" stopped
}

the_pid_is_that_of_the_hooks_namespace() {
	local pid
	_bundle_with_all_hooks "cat >$T/shared/\$1.json" 'sh("sleep 100")' 'without_ns("pid")'
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	sbx start "$ID"
	is "$(jq .pid shared/createRuntime.json)" "$pid"
	is "$(jq .pid shared/createContainer.json)" "$pid"
	is "$(jq .pid shared/startContainer.json)" "$pid"
	is "$(jq .pid shared/poststart.json)" "$pid"
}

each_runs_in_its_namespaces() {
	local pid kind name
	_bundle_with_all_hooks "for n in mnt uts ipc net; do readlink /proc/self/ns/\$n; done >$T/shared/\$1.ns" 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	for name in mnt uts ipc net; do
		readlink "/proc/self/ns/$name" >>outside
		readlink "/proc/$pid/ns/$name" >>inside
	done
	sbx delete -f "$ID"
	for kind in prestart createRuntime poststart poststop; do
		cmp outside "shared/$kind.ns"
	done
	for kind in createContainer startContainer; do
		cmp inside "shared/$kind.ns"
	done
}

paths_are_those_of_the_host_until_the_root_is_entered() {
	# The image has no such program, the host has; and the other way round.
	bundle 'hook("createRuntime"; $T + "/prog"; ["prog", "createRuntime"])' 'hook("createContainer"; $T + "/prog"; ["prog", "createContainer"])' \
		'hook("startContainer"; "/only-inside"; ["only-inside"])' 'hook("poststart"; $T + "/prog"; ["prog", "poststart"])' writable \
		'hook("poststop"; $T + "/prog"; ["prog", "poststop"])'
	printf '#!/bin/bash\necho "$1" >>%s/ran\n' "$T" >prog
	printf '#!/bin/sh\necho inside >/ran\n' >"$B/rootfs/only-inside"
	chmod +x prog "$B/rootfs/only-inside"
	sbx run -b "$B" "$ID"
	is "$(<ran)" $'createRuntime\ncreateContainer\npoststart\npoststop'
	is "$(<"$B/rootfs/ran")" inside
}

a_container_hook_sees_the_mounts_below_the_bundle() {
	bundle 'mount({destination: "/mnt/x", type: "tmpfs", source: "marked"})' \
		'hook("createContainer"; "/bin/sh"; ["sh", "-c", "grep \" \($B)/rootfs/mnt/x \" /proc/self/mountinfo >\($T)/seen; echo put >\($B)/rootfs/mnt/x/file"])' \
		'sh("cat /mnt/x/file")'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" put 'what it puts there is in the container'
	file_has seen marked
	[ ! -e "$B/rootfs/mnt/x/file" ] || fail 'it is on the host'
}

a_runtime_hook_finds_the_mounts_through_the_pid() {
	bundle 'mount({destination: "/mnt/x", type: "tmpfs", source: "marked"})' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "nsenter -t $(jq .pid) -m cat /proc/self/mountinfo >\($T)/seen"])'
	sbx create -b "$B" "$ID"
	file_has seen "$B/rootfs/mnt/x .*marked"
}

the_words_and_the_environment_are_the_hooks_own() {
	local kind
	_bundle_with_all_hooks 'unused'
	jq --arg d "$T/shared" '.hooks |= with_entries(.key as $k | .value = [{path: "/bin/sh", env: ["A=b c", "K=" + $k],
		args: ["sh", "-c", "tr \"\\0\" \"\\n\" </proc/self/environ >\($d)/$K.env; echo \"$0|$1|$#\" >\($d)/$K.args", "first", "", "x y"]}])' \
		"$B/config.json" >new
	SECRET=1 sbx run -b "$B" -f "$T/new" "$ID"
	for kind in $KINDS; do
		is "$(grep -vE '^(PWD|SHLVL|_|OLDPWD)=' "shared/$kind.env")" $'A=b c\nK='"$kind"
		is "$(<"shared/$kind.args")" 'first||2'
	done
}

without_words_the_path_is_the_first() {
	bundle '.hooks.createRuntime = [{path: ($T + "/prog")}]'
	printf '#!/bin/sh\necho "$0 $#" >%s/ran; tr "\\0" "\\n" </proc/self/environ >>%s/ran\n' "$T" "$T" >prog
	chmod +x prog
	SECRET=1 sbx create -b "$B" "$ID"
	is "$(head -n 1 ran)" "$T/prog 0"
	unlike "$(<ran)" SECRET
}

a_hook_need_not_read_its_input() {
	bundle 'hook("createRuntime"; "/bin/true"; ["true"])' 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "exec <&-; sleep 0.1"])' \
		'hook("poststop"; "/bin/true"; ["true"])' '.annotations = {big: ("x" * 500000)}' 'hook("startContainer"; "/bin/true"; ["true"])' \
		'hook("createContainer"; "/bin/true"; ["true"])'
	sbx run -b "$B" "$ID"
	nothing_is_left
}

a_large_state_arrives_whole() {
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "sleep 0.1; cat >\($T)/state.json"])' '.annotations = {big: ("x" * 500000)}'
	sbx create -b "$B" "$ID"
	is "$(jq '.annotations.big | length' state.json)" 500000
}

a_hook_may_print_much() {
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"])' \
		'hook("poststart"; "/bin/sh"; ["sh", "-c", "head -c 1000000 /dev/zero"])' 'sh("echo hello")'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out$err" hello 'nothing of it is in our output'
}

a_child_that_a_hook_leaves_is_not_waited_for() {
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "sleep 300 & echo $! >\($T)/pid"])' 'sh("exit 7")'
	run timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 7
	kill -KILL "$(<pid)" 2>/dev/null || :
}

poststart_runs_after_the_program_was_executed() {
	bundle 'args(["/bin/sleep", "100"])' 'hook("poststart"; "/bin/sh"; ["sh", "-c", "readlink /proc/$(jq .pid)/exe >\($T)/exe"])'
	sbx create -b "$B" "$ID"
	sbx start "$ID"
	is "$(<exe)" /bin/busybox
}

poststop_runs_when_everything_is_gone() {
	bundle 'hook("poststop"; "/bin/sh"; ["sh", "-c", "ls -d /sys/fs/cgroup/\($P)/\($ID) /sys/fs/cgroup/*/\($P)/\($ID) >\($T)/left 2>/dev/null; true"])' \
		'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	sbx delete -f "$ID"
	[ -e left ] || fail 'it did not run'
	is "$(<left)" ''
}

the_environment_of_a_start_hook_is_the_programs_by_default() {
	bundle writable 'env("OF_PROGRAM=1")' 'hook("startContainer"; "/bin/sh"; ["sh", "-c", "env >/seen"])'
	SECRET=1 sbx run -b "$B" "$ID"
	unlike "$(<"$B/rootfs/seen")" SECRET
}

# Those of the host start in the bundle, createContainer in the root of the container, startContainer where the program does.
each_has_its_directory_and_a_path() {
	mkdir elsewhere
	_bundle_with_all_hooks "echo \$1 \$(pwd -P) \$PATH >>$T/shared/where" '.process.cwd = "/tmp"' 'sh("true")'
	(cd elsewhere && "$SBXRUN" --root "$T/state" run -b "$B" "$ID")
	is "$(awk '{ print $1, $2 }' shared/where)" "prestart $B
createRuntime $B
createContainer $B/rootfs
startContainer /tmp
poststart $B
poststop $B"
	[ "$(grep -c ' .*:.*/bin' shared/where)" = 6 ] || fail "no PATH: $(<shared/where)"
}

a_bundle_that_is_gone_does_not_keep_poststop_away() {
	bundle 'args(["/bin/sleep", "1000"])' "hook(\"poststop\"; \"/bin/sh\"; [\"sh\", \"-c\", \"pwd >$T/where\"])"
	sbx run -d -b "$B" "$ID"
	mv "$B" "$B.away"
	sbx delete -f "$ID"
	is "$(<where)" /
}

run_tests
