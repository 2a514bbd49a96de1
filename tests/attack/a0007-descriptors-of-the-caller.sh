#!/bin/bash
# The caller (an engine, a shell) has descriptors open: files, directories, sockets of the host. Escape: the program has one of them,
# or one of the runtime's own.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

the_program_has_stdio_and_nothing_else() {
	mkdir outside
	echo secret >outside/file
	# The shell's own descriptor of the directory is gone when the loop begins.
	bundle 'sh("cd /proc/$$/fd; for f in *; do [ ! -L $f ] || echo $f; done")'
	# shellcheck disable=SC2094
	run sbx run -b "$B" "$ID" 3<outside 4<outside/file 5>>outside/file 9<> <(:) 200</
	rc_is 0
	[ "$out" = $'0\n1\n2' ] || escaped "it has the descriptors ${out//$'\n'/ }"
	holds outside/file secret
}

a_detached_program_has_stdio_and_nothing_else() {
	local pid fd
	bundle 'sh("sleep 100")'
	sbx create -b "$B" "$ID" 3</ 7</etc/passwd
	sbx start "$ID" 3</ 8</etc/passwd
	pid=$(pid_of "$ID")
	wait_until 5 grep -q sleep "/proc/$pid/cmdline"
	for fd in "/proc/$pid/fd"/*; do
		[[ ${fd##*/} =~ ^[012]$ ]] || escaped "it has $(readlink "$fd")"
	done
}

a_created_container_waits_without_a_directory_of_the_host() {
	# Between create and start, the runtime's process is in the container's pid namespace.
	local pid fd
	bundle 'sh("sleep 100")'
	sbx create -b "$B" "$ID" 3</ 7</etc
	pid=$(pid_of "$ID")
	for fd in "/proc/$pid/fd"/*; do
		[ ! -d "$fd" ] || escaped "descriptor ${fd##*/} is $(readlink "$fd")"
	done
	is "$(stat -Lc %d:%i "/proc/$pid/root")" "$(stat -c %d:%i "$B/rootfs")" 'its root'
	is "$(stat -Lc %d:%i "/proc/$pid/cwd")" "$(stat -c %d:%i "$B/rootfs")" 'its working directory'
}

a_neighbour_in_the_pid_namespace_can_not_look_into_a_created_container() {
	# It has the same rights and no more: what the kernel lets pass, if the process doesn't hide.
	local pid rights='caps(["CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])'
	bundle 'args(["sleep", "100"])' "$rights"
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	bundle 'sh("sleep 100")' "$rights" "ns(\"pid\"; \"/proc/$pid/ns/pid\")"
	sbx create -b "$B" "$ID"
	run_in_box 'for p in /proc/[0-9]*; do
			[ ${p#/proc/} = $$ ] || [ ${p#/proc/} = 1 ] || for l in $p/fd/* $p/root $p/cwd $p/exe; do readlink $l || ls -d $l/. || cat $l; done 2>/dev/null
		done; echo end' "ns(\"pid\"; \"/proc/$pid/ns/pid\")" "$rights"
	[ "$out" = end ] || escaped "it saw $out"
}

# A hook of start is a program of the image. With CAP_SYS_PTRACE it can look at the process that will be the program.
a_hook_of_start_finds_no_file_of_the_host_and_no_second_proc() {
	local seen
	echo canary >log
	bundle writable '.process.oomScoreAdj = 100' '.process.noNewPrivileges = true' \
		'caps(["CAP_DAC_OVERRIDE", "CAP_SYS_PTRACE"])' \
		'hook("startContainer"; "/bin/sh"; ["sh", "-c", "cd /proc/1/fd; for f in *; do
			[ $f -lt 3 ] || readlink $f; ls -d $f/sys/kernel; [ ! -f $f ] || grep canary $f
			done >/seen 2>/dev/null; echo end >>/seen"])'
	run sbx --log "$T/log" run -b "$B" "$ID"
	rc_is 0
	slurp seen "$B/rootfs/seen"
	like "$seen" 'socket:.*end$'
	hides "$seen" 'sys/kernel' 'a procfs without masks'
	hides "$seen" '/log|canary' "the caller's log"
}

the_hosts_environment_does_not_reach_the_program() {
	bundle 'sh("env; tr \"\\\\0\" \"\\\\n\" </proc/1/environ")'
	run env SECRET_OF_HOST=canary "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	hides "$out" canary
}

# As long as the container lives, its run does: who finds a hole in the one should find no more in the other.
a_run_in_the_foreground_keeps_nothing_of_the_caller() {
	local pid fd
	mkdir outside
	bundle 'args(["sleep", "100"])'
	"$SBXRUN" --root "$T/state" run -b "$B" "$ID" 3<outside 9<outside 200<outside &
	pid=$!
	wait_until 10 eval '[ "$(status_of "$ID")" = running ]'
	for fd in "/proc/$pid/fd"/*; do
		[[ $(readlink "$fd") != */outside ]] || leaked "descriptor ${fd##*/} is still open"
	done
	sbx kill "$ID" KILL
	wait "$pid" || :
}

# From a directory ".." goes on, and from a place that was only looked up (O_PATH), too.
a_stream_that_is_a_directory() {
	mkdir -p canary/in
	echo hosts-secret >canary/secret
	bundle 'sh("cd /proc/self/fd/0 && cat ../secret")'
	run sbx run -b "$B" "$ID" <canary/in
	[[ $out != *hosts-secret* ]] || escaped 'run: the host is open'
	run python3 -c 'import os, sys
os.dup2(os.open("canary/in", os.O_PATH), 0)
os.execvp(sys.argv[1], sys.argv[1:])' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	[[ $out != *hosts-secret* ]] || escaped 'run: the host is open through a place'
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" sh -c 'cd /proc/self/fd/0 && cat ../secret' <canary/in
	[[ $out != *hosts-secret* ]] || escaped 'exec: the host is open'
}

# By a namespace the program could enter it, and by a process signal it.
a_stream_that_is_a_handle() {
	bundle 'sh("readlink /proc/self/fd/0")'
	run sbx run -b "$B" "$ID" </proc/self/ns/mnt
	[[ $out != *mnt:* ]] || escaped 'run: a namespace of the host'
	run python3 -c 'import os, sys
os.dup2(os.pidfd_open(os.getpid()), 0)
os.execvp(sys.argv[1], sys.argv[1:])' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	[[ $out != *pidfd* ]] || escaped 'run: a process of the host'
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" readlink /proc/self/fd/0 </proc/self/ns/mnt
	[[ $out != *mnt:* ]] || escaped 'exec: a namespace of the host'
}

run_tests
