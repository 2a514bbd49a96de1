#!/bin/bash
# What a caller (an engine, a shell, a service) happens to have must not leak in: signal mask and dispositions, umask, environment,
# keyring, personality, priority, supplementary groups, no controlling terminal, directory. Leak: the program has any of it.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# CODE PREFIX…: runs CODE in a container, PREFIX before the runtime.
_called_by() {
	local BOX_CODE=$1
	shift
	# shellcheck disable=SC2016
	bundle 'sh($code)'
	with_attacker
	run "$@" "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
}

signals_do_not_pass() {
	_called_by 'exec grep -E "^Sig(Blk|Ign):" /proc/self/status' env --block-signal=TERM,USR1 --ignore-signal=HUP,USR2,PIPE
	[ "$out" = $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000' ] || leaked "${out//$'\n'/, }"
}

the_umask_does_not_pass() {
	_called_by 'umask' sh -c 'umask 0; exec "$@"' sh
	[ "$out" = 0022 ] || leaked "umask $out"
	_called_by 'umask' sh -c 'umask 077; exec "$@"' sh
	[ "$out" = 0022 ] || leaked "umask $out"
}

the_environment_does_not_pass() {
	_called_by 'env; tr "\\0" "\\n" </proc/1/environ' env SECRET_OF_CALLER=canary LD_PRELOAD=/canary.so GCONV_PATH=/canary BASH_ENV=/canary
	[[ $out != *canary* ]] || leaked "$out"
}

the_execution_domain_does_not_pass() {
	_called_by '/attacker persona' setarch --addr-no-randomize --read-implies-exec
	[ "$out" = 0 ] || leaked "personality $out"
}

the_execution_domain_does_not_pass_through_exec() {
	bundle 'sh("sleep 100")'
	with_attacker
	sbx run -d -b "$B" "$ID"
	run setarch --addr-no-randomize "$SBXRUN" --root "$T/state" exec "$ID" /attacker persona
	[ "$out" = 0 ] || leaked "personality $out"
}

groups_do_not_pass() {
	_called_by 'id -G' setpriv --groups 4,24,4242
	[ "$out" = 0 ] || leaked "groups $out"
}

priority_does_not_pass() {
	_called_by 'read -r line </proc/1/stat; set -- ${line##*) }; echo ${17} ${39}' nice -n 7
	[ "$out" = '0 0' ] || leaked "priority $out"
}

# Those that the config names; others are the caller's (spec/threat-model.md).
limits_that_are_named_are_not_the_callers() {
	# shellcheck disable=SC2016
	bundle 'sh("grep -E \"^Max (open files|core file size|processes)\" /proc/self/limits | tr -s \" \"")' \
		'.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_CORE", soft: 0, hard: 0}, {type: "RLIMIT_NPROC", soft: 50, hard: 60}]'
	run prlimit --nofile=300:300 --core=4096:4096 --nproc=5000:5000 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	[ "$(sort <<<"$out" | sed 's/ [a-z]* *$//')" = $'Max core file size 0 0\nMax open files 100 200\nMax processes 50 60' ] || leaked "${out//$'\n'/, }"
}

the_affinity_does_not_pass() {
	local all
	needs taskset
	[ "$(nproc --all)" -gt 1 ] || skip 'needs two processors'
	_called_by 'grep Cpus_allowed_list /proc/1/status' env
	all=$out
	_called_by 'grep Cpus_allowed_list /proc/1/status' taskset -c 0
	[ "$out" = "$all" ] || leaked "$out"
}

# The session keyring is asked for by a program: what it names is not the one that the caller sees as its own.
the_keyring_does_not_pass() {
	local own
	needs gcc
	gcc -O2 -static -o keyring "$TESTS_DIR/tools/keyring.c" || skip 'no static C library'
	gcc -O2 -x c -o in-session - <<-'END'
		#include <linux/keyctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			(void)argc;
			if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, argv[1]) < 0)
				return 77;
			return execv(argv[2], argv + 2);
		}
	END
	run ./in-session "canary-$P" ./keyring
	[ "$rc" != 77 ] || skip 'the kernel has no keyrings here'
	own=$out
	like "$own" "canary-$P"
	bundle 'args(["/keyring"])'
	cp keyring "$B/rootfs/keyring"
	run ./in-session "canary-$P" "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	[[ $out != *"canary-$P"* ]] || leaked "the caller's keyring: $out"
	bundle 'sh("sleep 100")'
	cp keyring "$B/rootfs/keyring"
	sbx run -d -b "$B" "$ID"
	run ./in-session "canary-$P" "$SBXRUN" --root "$T/state" exec "$ID" /keyring
	[[ $out != *"canary-$P"* ]] || leaked "the caller's keyring by exec: $out"
}

the_directory_does_not_pass() {
	mkdir outside
	echo secret >outside/file
	bundle 'sh("pwd; cat file ../file; cat /proc/self/cwd/file")'
	cd outside
	attack
	[[ $out != *secret* ]] || leaked "$out"
	[ "${out%%$'\n'*}" = / ] || leaked "it is in $out"
}

descriptors_do_not_pass() {
	mkdir outside
	bundle 'sh("ls -l /proc/1/fd /proc/self/fd/ | grep outside; true")'
	run sbx run -b "$B" "$ID" 3<outside 11<outside 255<outside
	[[ $out != *outside* ]] || leaked "$out"
}

descriptors_do_not_pass_through_exec() {
	mkdir outside
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" /bin/sh -c 'cd /proc/$$/fd; for f in *; do [ ! -L $f ] || readlink $f; done' 3<outside 5</proc 11</ 255<outside
	[[ ! $out =~ outside|/proc$ ]] || leaked "$out"
}

# Until it is the program, the runtime's process in the container has the memory of the one that made it.
the_environment_can_not_be_read_from_a_container_that_waits() {
	bundle 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE"])'
	SECRET=canary-$P sbx create -b "$B" "$ID"
	run sbx exec "$ID" /bin/sh -c 'tr "\0" "\n" </proc/1/environ; echo end'
	like "$out" end
	[[ $out != *"canary-$P"* ]] || leaked "$out"
}

the_environment_can_not_be_read_while_exec_enters() {
	local i
	bundle writable 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE"])' \
		'sh("while :; do for p in /proc/[0-9]*; do ! grep -aq canary $p/environ || echo >/seen; done 2>/dev/null; done")'
	sbx run -d -b "$B" "$ID"
	for ((i = 0; i < STARTS; i++)); do
		SECRET=canary-$P sbx exec "$ID" /bin/true
	done
	[ ! -e "$B/rootfs/seen" ] || leaked "the caller's environment"
}

run_tests
