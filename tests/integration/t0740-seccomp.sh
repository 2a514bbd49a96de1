#!/bin/bash
# linux.seccomp, by what calls answer inside. Signals that do nothing by default (0, 17, 18, 23, 28) serve as arguments.
# Views: own bad_values_are_errors_that_name_the_field
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# shellcheck disable=SC2016
_seccomp='def seccomp($rules): .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: $rules};'

# Runs CODE under RULES (a jq list), with further FILTERs.
_under() {
	local code=$1 rules=$2
	shift 2
	run_in_box "$code" "$_seccomp seccomp($rules)" writable 'caps(["CAP_DAC_OVERRIDE", "CAP_KILL"])' "$@"
}

a_call_is_refused_with_eperm_unless_told_otherwise() {
	_under 'mkdir /made; rmdir /tmp/none; grep -E "Seccomp:|NoNewPrivs" /proc/self/status' \
		'[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}, {names: ["rmdir", "unlinkat"], action: "SCMP_ACT_ERRNO", errnoRet: 38}]'
	rc_is 0
	is "$out" $'NoNewPrivs:\t1\nSeccomp:\t2'
	like "$err" 'made.*not permitted'
	like "$err" 'Function not implemented'
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
}

without_no_new_privileges_the_filter_holds_too() {
	_under 'mkdir /made; grep -E "Seccomp:|NoNewPrivs|CapEff" /proc/self/status; id -u' \
		'[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 38}]' \
		'.process.noNewPrivileges = false' '.process.user = {uid: 1000, gid: 1000}'
	rc_is 0
	like "$out" $'NoNewPrivs:\t0\n'
	like "$out" $'Seccomp:\t2\n1000$'
	like "$err" 'Function not implemented'
}

killing_the_process_is_what_kill_process_does() {
	_under '(mkdir /made; echo alive) ; echo "status $?"; mkdir /made' \
		'[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_KILL_PROCESS"}]'
	# The call was made in a child each time; the shell tells of signal 31.
	like "$out" 'alive'
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
	is "$rc" 159
}

kill_and_kill_thread_and_trap_end_the_program() {
	local action
	for action in SCMP_ACT_KILL SCMP_ACT_KILL_THREAD SCMP_ACT_TRAP; do
		_under 'mkdir /made' "[{names: [\"mkdir\", \"mkdirat\"], action: \"$action\"}]"
		is "$rc" 159 "$action"
		[ ! -e "$B/rootfs/made" ] || fail "$action: it was made"
		[ "$VIEW" != v2 ] || break
	done
}

log_and_allow_let_the_call_through() {
	_under 'mkdir /made && rmdir /made && echo ok' '[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_LOG"},
		{names: ["rmdir", "unlinkat"], action: "SCMP_ACT_ALLOW"}]'
	rc_is 0
	is "$out" ok
}

_kills='for s in 0 17 18 23 28; do kill -$s $$ 2>&1 && echo "$s ok"; done | sed "s/.*: //"'

arguments_are_compared_by_eq_gt_and_lt() {
	_under "$_kills" '[{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 11, args: [{index: 1, value: 17, op: "SCMP_CMP_EQ"}]},
		{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 12, args: [{index: 1, value: 23, op: "SCMP_CMP_GT"}]},
		{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 28, args: [{index: 1, value: 1, op: "SCMP_CMP_LT"}]}]'
	is "$out" $'No space left on device\nResource temporarily unavailable\n18 ok\n23 ok\nCannot allocate memory'
}

arguments_are_compared_by_ge_le_and_masked_eq() {
	_under "$_kills" '[{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 11, args: [{index: 1, value: 28, op: "SCMP_CMP_GE"}]},
		{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 12, args: [{index: 1, value: 0, op: "SCMP_CMP_LE"}]},
		{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 28, args: [{index: 1, value: 3, valueTwo: 3, op: "SCMP_CMP_MASKED_EQ"}]}]'
	is "$out" $'Cannot allocate memory\n17 ok\n18 ok\nNo space left on device\nResource temporarily unavailable'
}

arguments_are_compared_by_ne() {
	_under "$_kills" '[{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 11, args: [{index: 1, value: 18, op: "SCMP_CMP_NE"}]}]'
	is "$out" $'Resource temporarily unavailable\nResource temporarily unavailable\n18 ok\nResource temporarily unavailable\nResource temporarily unavailable'
}

several_arguments_must_all_match() {
	_under 'kill -17 $$ && echo 17 ok; kill -18 $$ || echo 18 denied; kill -18 99999 2>&1 | sed "s/.*: //"' \
		'[{names: ["kill"], action: "SCMP_ACT_ERRNO", errnoRet: 11, args: [
			{index: 0, value: 1, op: "SCMP_CMP_EQ"}, {index: 1, value: 18, op: "SCMP_CMP_EQ"}]}]'
	is "$out" $'17 ok\n18 denied\nNo such process'
}

# What a static busybox, and the runtime before it, need.
ALLOWED='["access","arch_prctl","brk","capget","capset","chdir","clone","clone3","close","close_range","dup","dup2","dup3","execve",
	"execveat","exit","exit_group","fchdir","fcntl","fork","fstat","futex","getcwd","getdents64","getegid","geteuid","getgid","getpgid",
	"getpgrp","getpid","getppid","getrandom","gettid","getuid","ioctl","lseek","lstat","madvise","mmap","mprotect","mremap","munmap",
	"newfstatat","open","openat","pipe","pipe2","poll","prctl","pread64","prlimit64","read","readlink","readlinkat","recvmsg","rseq",
	"rt_sigaction","rt_sigprocmask","rt_sigreturn","sched_yield","sendmsg","sendto","set_robust_list","set_tid_address","setgid",
	"setgroups","setresgid","setresuid","setuid","sigaltstack","stat","statx","sysinfo","umask","uname","vfork","wait4","waitid","write","writev"]'

a_default_action_meets_every_call_that_no_rule_names() {
	run_in_box 'echo works; mkdir /made' writable ".linux.seccomp = {defaultAction: \"SCMP_ACT_ERRNO\", defaultErrnoRet: 28,
		syscalls: [{names: $ALLOWED, action: \"SCMP_ACT_ALLOW\"}]}"
	is "$out" works
	like "$err" 'No space left on device'
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
}

a_call_that_nobody_knows_is_passed_over() {
	_under 'mkdir /made; :' '[{names: ["no_such_call", "mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}, {names: ["nor_this"], action: "SCMP_ACT_KILL"}]'
	rc_is 0
	like "$err" 'not permitted'
}

# What the process that waits for `start` is under: 0 nothing, 2 a filter.
_waits_under() {
	awk '$1 == "Seccomp:" { print $2 }' "/proc/$(pid_of "$ID")/status"
}

# RULES FILTER…: a bundle whose program says what it is under, created and not started.
_created_under() {
	bundle "$_seccomp seccomp($1)" 'sh("grep Seccomp: /proc/self/status >/under; sleep 100")' writable \
		'.process.noNewPrivileges = false' "${@:2}"
	sbx create -b "$B" "$ID"
}

_program_is_under_a_filter() {
	sbx start "$ID"
	wait_until 10 grep -qx $'Seccomp:\t2' "$B/rootfs/under"
}

a_created_container_waits_under_its_filter_without_more_rights() {
	_created_under '[{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]' 'caps(["CAP_KILL"])'
	is "$(_waits_under)" 2
	file_has "/proc/$(pid_of "$ID")/status" $'^CapPrm:\t0*20$'
	_program_is_under_a_filter
}

a_filter_that_would_stop_the_wait_comes_last() {
	local rule
	for rule in '{names: ["accept4"], action: "SCMP_ACT_KILL_PROCESS"}' '{names: ["recvmsg", "sendmsg"], action: "SCMP_ACT_ERRNO"}' \
		'{names: ["prctl"], action: "SCMP_ACT_ERRNO", args: [{index: 0, value: 1, op: "SCMP_CMP_EQ"}]}'; do
		_created_under "[$rule]"
		is "$(_waits_under)" 0
		_program_is_under_a_filter
	done
}

a_filter_that_forbids_execve_is_refused() {
	bundle 'sh("echo started")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO"}'
	refused 'linux\.seccomp.*execve' sbx create -b "$B" "$ID"
	nothing_is_left
	bundle 'sh("echo started")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["execve"], action: "SCMP_ACT_KILL_PROCESS"}]}'
	refused 'linux\.seccomp.*execve' sbx create -b "$B" "$ID"
	nothing_is_left
}

# Under such a filter init can't say what went wrong. Its parent sees that it has not executed anything; to a `start` that is not its
# parent the process may be gone before it can look. (With a hook of start, create does not look at the program.)
a_program_that_never_ran_is_an_error_all_the_same() {
	bundle writable 'args(["/bad"])' '.hooks.startContainer = [{path: "/bin/true"}]' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
		syscalls: [{names: ["sendmsg", "sendto", "write", "writev"], action: "SCMP_ACT_ERRNO"}]}'
	printf '#!/nowhere/interpreter\n' >"$B/rootfs/bad"
	chmod 755 "$B/rootfs/bad"
	run sbx run -d -b "$B" "$ID"
	isnt "$rc" 0
	like "$err" 'never|before it executed'
	nothing_is_left
}

hooks_of_start_are_not_under_the_filter() {
	_created_under '[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]' \
		'.hooks.startContainer = [{path: "/bin/mkdir", args: ["mkdir", "/made"]}]'
	is "$(_waits_under)" 0
	_program_is_under_a_filter
	[ -d "$B/rootfs/made" ] || fail 'the hook could not make a directory'
}

several_architectures_and_flags_are_taken() {
	_under 'mkdir /made; grep Seccomp: /proc/self/status' '[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]' \
		'.linux.seccomp.architectures = ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]' \
		'.linux.seccomp.flags = ["SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW"]'
	rc_is 0
	is "$out" $'Seccomp:\t2'
	like "$err" 'not permitted'
}

bad_values_are_errors_that_name_the_field() {
	local bad
	for bad in '.defaultAction = "SCMP_ACT_NOSUCH"' '.syscalls[0].action = "nosuch"' '.syscalls[0].args = [{index: 6, value: 1, op: "SCMP_CMP_EQ"}]' \
		'.syscalls[0].args = [{index: 0, value: 1, op: "SCMP_CMP_NOSUCH"}]' '.architectures = ["SCMP_ARCH_NOSUCH"]' '.flags = ["NOSUCH"]' \
		'.syscalls[0].action = "SCMP_ACT_ALLOW" | .syscalls[0].errnoRet = 5' 'del(.defaultAction)' '.syscalls[0].names = []' \
		'.listenerMetadata = "x"'; do
		_under 'echo started' '[{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]' ".linux.seccomp |= ($bad)"
		rc_is 1
		is "$out" '' "$bad"
		like "$err" 'linux\.seccomp' "$bad"
		# What is judged before anything is made does not depend on the cgroup tree, and there each costs a second.
		[ "$VIEW" != v2 ] || break
	done
}

# Answers one call of the filter with ENOSPC and prints the state that came with the descriptor.
_LISTENER='
import array, fcntl, os, socket, struct, sys
srv = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
srv.bind(sys.argv[1])
srv.listen(1)
open(sys.argv[2], "w").close()
con, _ = srv.accept()
text, fds = b"", []
while True:
    data, anc, _, _ = con.recvmsg(65536, socket.CMSG_SPACE(64))
    for level, kind, raw in anc:
        a = array.array("i"); a.frombytes(raw); fds += a
    if not data: break
    text += data
sys.stdout.write(text.decode() + "\n"); sys.stdout.flush()
buf = bytearray(80)
fcntl.ioctl(fds[0], 0xc0502100, buf)
ident = struct.unpack_from("Q", buf)[0]
fcntl.ioctl(fds[0], 0xc0182101, bytearray(struct.pack("QqiI", ident, 0, -28, 0)))
'

a_listener_gets_the_state_and_answers_for_the_call() {
	local listener
	needs python3
	timeout 60 python3 -c "$_LISTENER" "$T/sock" "$T/ready" >listened 2>listener.err &
	listener=$!
	wait_until 20 test -e ready
	_under 'mkdir /made' '[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_NOTIFY"}]' \
		'.linux.seccomp.listenerPath = $T + "/sock" | .linux.seccomp.listenerMetadata = "some text"' '.annotations = {a: "b"}'
	wait "$listener" || fail "the listener: $(cat listener.err)"
	like "$err" 'No space left'
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
	is "$(jq -r '.fds[0], .metadata, .state.id, .state.annotations.a' listened)" $'seccompFd\nsome text\n'"$ID"$'\nb'
	[ "$(jq .pid listened)" -gt 1 ] || fail 'no pid'
}

a_listener_that_is_not_there_is_an_error() {
	_under 'echo started' '[{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_NOTIFY"}]' '.linux.seccomp.listenerPath = $T + "/nobody"'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.seccomp'
}

run_tests
