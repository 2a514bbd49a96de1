#!/bin/bash
# Containers that share a pid or a user namespace while one of them is not yet, or not everywhere, what its config says: an init
# that waits without its filter, hooks of the host, and hunters that exec doesn't find by looking at main threads. Escape: a hunter with
# CAP_SYS_PTRACE finds a right or a lack of a filter that the program won't have, or the host's tree ("GOT").
# Views: own
# shellcheck disable=SC2016,SC2153,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/hunter.sh"

RIGHTS='caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_KILL"])'
FEWER='caps(["CAP_DAC_OVERRIDE", "CAP_KILL"])'
USERNS='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
PLAIN='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]}'

# A filter that is loaded at the very end, for a call that has to follow it is not simply allowed.
_late() {
	echo ".process.noNewPrivileges = false | .linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\",
		syscalls: [{names: [\"$1\"], action: \"SCMP_ACT_ERRNO\", errnoRet: 0}]}"
}

# A hook that says which process it is and waits for the file go.
_hook() {
	mkdir -p hook
	chmod 777 hook
	printf '#!/bin/bash\nread -r pid _ </proc/self/stat\necho "$pid" >%q\nmv %q %q\nuntil [ -e %q ]; do read -rt 0.02 <> <(:); done\nexit 0\n' \
		"$T/hook/new" "$T/hook/new" "$T/hook/pid" "$T/hook/go" >hook/run
	chmod 755 hook/run
	echo "hook(\"$1\"; \$T + \"/hook/run\"; [\"run\"])"
}

# _hunt_first FILTER…: a hunter is to join; the processes that are there already are prey, the first one too. It must be refused.
_hunt_first() {
	bundle writable 'args(["/hunter", "first"])' "$RIGHTS" "$PLAIN" "$@"
	build_hunter
	cp "$HUNTER" "$B/rootfs/hunter"
	chmod 777 "$B/rootfs"
	run sbx run -d -b "$B" "$ID"
	if [ "$rc" = 0 ]; then
		wait_until 20 grep -qs ^end "$B/rootfs/report"
		slurp REPORT "$B/rootfs/report"
		hides "$REPORT" 'GOT (trace|root)[^
]*'
	fi
	rc_is 1
	like "$err" 'linux\.namespaces.*start that container first'
}

_join() {
	echo "ns(\"$1\"; \"/proc/$2/ns/$1\")"
}

# So many groups make a long /proc/PID/status, where older kernels have to be asked who is the first.
an_init_that_waits_for_its_filter_is_not_joined() {
	bundle 'sh("sleep 100")' "$FEWER" "$(_late accept4)" '.process.user.additionalGids = [range(100000; 101000)]'
	sbx create -b "$B" "$ID"
	_hunt_first "$(_join pid "$(pid_of "$ID")")"
}

an_init_that_waits_for_its_listener_is_not_joined() {
	bundle 'sh("sleep 100")' "$FEWER" '.process.noNewPrivileges = false | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
		listenerPath: ($T + "/sock"), syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}'
	sbx create -b "$B" "$ID"
	_hunt_first "$(_join pid "$(pid_of "$ID")")"
}

an_init_that_waits_for_hooks_is_not_joined() {
	local maker
	bundle 'sh("sleep 100")' "$FEWER" "$PLAIN" "$(_hook createRuntime)"
	maker=$ID
	sbx create -b "$B" "$ID" &
	wait_until 20 test -e hook/pid
	_hunt_first "$(_join pid "$(pid_of "$maker")")"
	: >hook/go
	wait $!
}

# The hook's root is the host's, and its memory belongs to the container's user namespace.
hooks_are_not_joined_in_their_user_namespace() {
	bundle 'sh("sleep 100")' "$USERNS" "$(_hook createContainer)"
	sbx create -b "$B" "$ID" &
	wait_until 20 test -e hook/pid
	_hunt_first "$(_join pid "$(<hook/pid)")" "$(_join user "$(<hook/pid)")"
	: >hook/go
	wait $!
}

# … nor from the host's pid namespace, where they are seen, too.
hooks_are_not_joined_in_their_user_namespace_alone() {
	bundle 'sh("sleep 100")' "$USERNS" "$(_hook createContainer)"
	sbx create -b "$B" "$ID" &
	wait_until 20 test -e hook/pid
	_hunt_first 'without_ns("pid")' "$(_join user "$(<hook/pid)")" 'del(.linux.maskedPaths, .linux.readonlyPaths)' \
		'.mounts |= map(if .destination == "/proc" then {destination: "/proc", type: "bind", source: "/proc", options: ["rbind"]} else . end)'
	: >hook/go
	wait $!
}

what_runs_is_joined() {
	bundle 'sh("sleep 100")' "$USERNS" "$(_late accept4)"
	sbx run -d -b "$B" "$ID"
	run_in_box 'echo here' "$(_join pid "$(pid_of "$ID")")" "$(_join user "$(pid_of "$ID")")"
	rc_is 0
	is "$out" here
}

# _pod FILTER…: a container that sleeps, and buries its dead; its id is $POD.
_pod() {
	bundle 'sh("sleep 1000; :")' "$FEWER" "$@"
	POD=$ID
	sbx run -d -b "$B" "$POD"
}

# A pid namespace of a user namespace, with a hunter of ours in it.
a_neighbour_of_a_neighbour_is_not_caught_before_its_filter() {
	local i hunter refused=0
	_pod "$USERNS" "$PLAIN"
	lie_in_wait "$RIGHTS" "$PLAIN" "$(_join pid "$(pid_of "$POD")")"
	hunter=$B
	bundle 'args(["/hunter", "idle"])' "$FEWER" "$(_late accept4)" "$(_join pid "$(pid_of "$POD")")"
	ln "$hunter/rootfs/hunter" "$B/rootfs/hunter"
	for ((i = 0; i < STARTS; i++)); do
		run sbx create -b "$B" "$ID"
		[ "$rc" = 0 ] || refused=$((refused + 1))
		run sbx delete -f "$ID"
	done
	B=$hunter
	call_it_off
	hides "$REPORT" 'GOT trace[^
]*'
	[ "$refused" = "$STARTS" ] || escaped 'created beside a hunter'
}

# Execs into $POD, each of which must be refused.
_exec_many_times() {
	local i refused=0
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$POD" /bin/sleep 0.01 </dev/null >/dev/null 2>errors ||
			! grep -q CAP_SYS_PTRACE errors || refused=$((refused + 1))
		cat errors
	done
	call_it_off
	hides "$REPORT" 'GOT trace[^
]*'
	[ "$refused" = "$STARTS" ] || escaped "$refused of $STARTS were refused"
}

exec_finds_a_hunter_when_the_program_has_made_a_user_namespace() {
	bundle writable 'caps(["CAP_SYS_PTRACE", "CAP_SETUID", "CAP_SETGID", "CAP_SETFCAP", "CAP_DAC_OVERRIDE", "CAP_KILL"])' "$(_late setsid)" \
		'sh("/hunter & (until [ $(readlink /proc/1/ns/user) != $(readlink /proc/self/ns/user) ]; do :; done
			echo 0 0 65536 >/proc/1/uid_map; echo 0 0 65536 >/proc/1/gid_map; : >/mapped) & exec unshare -U sleep 1000")'
	build_hunter
	cp "$HUNTER" "$B/rootfs/hunter"
	chmod 777 "$B/rootfs"
	POD=$ID
	sbx run -d -b "$B" "$POD"
	wait_until 20 test -e "$B/rootfs/mapped"
	wait_until 20 test -e "$B/rootfs/report"
	_exec_many_times
}

exec_finds_a_hunter_from_outside_the_user_namespace() {
	_pod "$USERNS" "$(_late setsid)"
	lie_in_wait "$RIGHTS" "$PLAIN" "$(_join pid "$(pid_of "$POD")")"
	_exec_many_times
}

# _hunter_that WORD FILTER…
_hunter_that() {
	_pod "$(_late setsid)"
	lie_in_wait 'caps(["CAP_SYS_PTRACE", "CAP_SETPCAP", "CAP_SETFCAP", "CAP_DAC_OVERRIDE", "CAP_KILL"])' "$PLAIN" \
		"$(_join pid "$(pid_of "$POD")")" "args([\"/hunter\", \"$1\"])"
}

exec_finds_a_hunter_that_is_a_thread() {
	_hunter_that thread
	_exec_many_times
}

exec_finds_a_hunter_that_forks_all_the_time() {
	_hunter_that hop
	_exec_many_times
}

# What is inheritable is had by a file that has it inheritable, too, whatever the bounding set says.
exec_finds_a_hunter_that_waits_to_inherit() {
	_hunter_that heir
	_exec_many_times
}

the_dead_keep_nobody_out() {
	local zombie
	_pod "$(_late setsid)" 'args(["sleep", "1000"])'
	bundle 'sh("sh -c \"until [ -e /end ]; do :; done\" & exit 0")' writable "$RIGHTS" "$PLAIN" "$(_join pid "$(pid_of "$POD")")"
	sbx run -d -b "$B" "$ID"
	run sbx exec "$POD" /bin/true
	like "$err" CAP_SYS_PTRACE
	: >"$B/rootfs/end"
	zombie="pgrep -P $(pid_of "$POD") -r Z"
	wait_until 20 eval "$zombie"
	run sbx exec "$POD" /bin/true
	rc_is 0
}

run_tests
