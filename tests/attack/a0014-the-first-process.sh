#!/bin/bash
# Imitates CVE-2025-2713 (gVisor): the first process has root's rights until its first fork, or paths are opened for it before it has
# its own ids. Escape: a user reads, enters or executes what only root may.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_user='.process.user = {uid: 1000, gid: 1000}'
_none='caps([])'

the_first_process_can_not_read_roots_files() {
	bundle 'args(["/bin/cat", "/etc/secret"])' "$_user" "$_none"
	echo secret >"$B/rootfs/etc/secret"
	chmod 600 "$B/rootfs/etc/secret"
	attack
	hides "$out" secret
}

the_first_process_can_not_be_what_only_root_may_run() {
	bundle 'args(["/bin/roots"])' "$_user" "$_none"
	printf '#!/bin/sh\necho ran\n' >"$B/rootfs/bin/roots"
	chmod 700 "$B/rootfs/bin/roots"
	attack
	[ "$rc" != 0 ] || escaped 'it ran'
	hides "$out" ran
}

it_does_not_start_in_a_directory_that_only_root_may_enter() {
	bundle 'sh("cat file; ls")' "$_user" "$_none" '.process.cwd = "/closed/inner"'
	mkdir -p "$B/rootfs/closed/inner"
	echo secret >"$B/rootfs/closed/inner/file"
	chmod 600 "$B/rootfs/closed/inner/file"
	chmod 700 "$B/rootfs/closed" "$B/rootfs/closed/inner"
	attack
	hides "$out" secret
}

# Before and after its first fork: the same ids, groups and capabilities.
it_is_the_same_before_and_after_a_fork() {
	local code='f() { grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/$1/status; }; f $$; sh -c "exec sleep 100" & f $!'
	bundle "sh($(jq -n --arg c "$code" '$c'))" '.process.user = {uid: 1000, gid: 1000, additionalGids: [2000]}' 'caps(["CAP_KILL"])'
	attack
	rc_is 0
	is "$(head -n "$(($(wc -l <<<"$out") / 2))" <<<"$out")" "$(tail -n "$(($(wc -l <<<"$out") / 2))" <<<"$out")"
	[[ $out == *'Uid:	1000	1000	1000	1000'* ]] || escaped "$out"
	hides "$out" 'Cap(Eff|Prm):	[0-9a-f]*[1-9a-f][0-9a-f]'
}

# A process of `create` waits as the program's user, not as root.
a_created_process_has_the_programs_rights_already() {
	bundle 'sh("true")' "$_user" 'caps(["CAP_KILL"])' '.process.noNewPrivileges = true'
	sbx create -b "$B" "$ID"
	run grep -E '^(Uid|CapEff|CapPrm)' "/proc/$(pid_of "$ID")/status"
	[ "$out" = $'Uid:\t1000\t1000\t1000\t1000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000' ] ||
		[[ $out == $'Uid:\t1000\t1000\t1000\t1000'*CapEff:*'0020' ]] || escaped "${out//$'\n'/, }"
}

# A hook of start is a program of the image, and without no_new_privs the process that waits for it keeps CAP_SYS_ADMIN for the filter.
a_hook_of_start_can_not_take_over_who_loads_the_filter() {
	local seen
	bundle writable '.process.noNewPrivileges = false' 'caps(["CAP_DAC_OVERRIDE", "CAP_SYS_PTRACE"])' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}' \
		'hook("startContainer"; "/bin/sh"; ["sh", "-c", "{ grep CapEff /proc/self/status; (exec 3<>/proc/1/mem) && echo taken; echo end; } >/seen"])' \
		'sh("grep CapEff /proc/self/status")'
	attack
	is "$out" $'CapEff:\t0000000000080002' 'the program'
	slurp seen "$B/rootfs/seen"
	like "$seen" 'CapEff:.*end$'
	hides "$seen" taken 'the memory of a process with CAP_SYS_ADMIN'
}

# It keeps that right while it waits for `start`, too.
an_exec_before_the_start_can_not_take_over_who_loads_the_filter() {
	bundle writable '.process.noNewPrivileges = false' 'caps(["CAP_DAC_OVERRIDE", "CAP_SYS_PTRACE"])' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["accept4"], action: "SCMP_ACT_ERRNO"}]}'
	sbx create -b "$B" "$ID"
	run sbx exec "$ID" /bin/sh -c '(exec 3<>/proc/1/mem) && echo taken'
	hides "$out" taken 'the memory of a process with CAP_SYS_ADMIN'
	# Who can't trace it may come.
	echo '{"cwd": "/", "args": ["/bin/echo", "in"], "user": {"uid": 0, "gid": 0}, "capabilities": {}}' >process
	run sbx exec -p process "$ID"
	is "$rc $out" '0 in'
}

# And while hooks of start are at work: the container counts as running by then.
an_exec_during_a_hook_of_start_can_not_take_it_over() {
	bundle writable '.process.noNewPrivileges = false' 'caps(["CAP_DAC_OVERRIDE", "CAP_SYS_PTRACE"])' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}' \
		'hook("startContainer"; "/bin/sh"; ["sh", "-c", "echo >/here; while [ ! -e /go ]; do sleep 0.05; done"])' 'sh("exec sleep 1000")'
	sbx create -b "$B" "$ID"
	"$SBXRUN" --root "$T/state" start "$ID" &
	wait_until 60 test -e "$B/rootfs/here"
	run sbx exec "$ID" /bin/sh -c '(exec 3<>/proc/1/mem) && echo taken'
	: >"$B/rootfs/go"
	wait $!
	hides "$out" taken 'the memory of a process with CAP_SYS_ADMIN'
	isnt "$rc" 0
	run sbx exec "$ID" /bin/echo in
	is "$rc $out" '0 in'
}

run_tests
