#!/bin/bash
# Imitates CVE-2018-16359 (a call that was forgotten in the filter: renameat), the ways around a filter by the numbers of another
# architecture (i386, x32), and the ways into CVE-2022-0185 (fsconfig in a user namespace), CVE-2022-0492 (mounting cgroup v1), and of
# io_uring, bpf, userfaultfd and exotic sockets. Escape: a call that the profile denies is carried out.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

# _denied NAMES: a filter that denies these with an errno that nothing else gives.
_denied() {
	echo ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\", architectures: [\"SCMP_ARCH_X86_64\"${2:-}],
		syscalls: [{names: [$1], action: \"SCMP_ACT_ERRNO\", errnoRet: 122}]}"
}

all_ways_of_renaming_can_be_denied() {
	bundle 'sh("/attacker calls renameat; mv /from /to; ls /to")' writable "$(_denied '"rename", "renameat", "renameat2"')"
	with_attacker
	: >"$B/rootfs/from"
	attack
	[ -e "$B/rootfs/from" ] || escaped 'it was renamed'
}

# The profile names one architecture: the others are closed, with whatever end the program comes to.
another_architectures_numbers_are_closed() {
	local abi
	[ "$(uname -m)" = x86_64 ] || skip 'needs an x86-64 machine'
	for abi in i386 x32; do
		bundle writable "$(_denied '"mkdir", "mkdirat"')"
		jq --arg abi "mkdir-$abi" '.process.args = ["/attacker", "calls", $abi]' "$B/config.json" >new && mv new "$B/config.json"
		with_attacker
		attack
		[ ! -e "$B/rootfs/made-by-$abi" ] || escaped "mkdir by the numbers of $abi"
	done
}

# Named architectures get the same rules by their own numbers.
named_architectures_are_filtered_too() {
	[ "$(uname -m)" = x86_64 ] || skip 'needs an x86-64 machine'
	bundle 'sh("/attacker calls mkdir; /attacker calls mkdir-i386; /attacker calls mkdir-x32; true")' writable \
		"$(_denied '"mkdir", "mkdirat"' ', "SCMP_ARCH_X86", "SCMP_ARCH_X32"')"
	with_attacker
	attack
	[ -z "$(find "$B/rootfs" -maxdepth 1 -name 'made-by-*')" ] || escaped "${out//$'\n'/, }"
}

# docker's profile, with docker's capabilities: what is at the bottom of most kernel holes.
the_engines_profile_closes_what_it_says() {
	local profile=$TESTS_DIR/../spec/bundles/docker/config.json
	bundle 'sh("for c in userns mntns fsopen mount bpf perf userfaultfd add_key handle kexec module; do /attacker calls $c; done")' \
		".linux.seccomp = $(jq -c .linux.seccomp "$profile")" '.process.noNewPrivileges = true' \
		'caps(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_NET_RAW", "CAP_MKNOD"])'
	with_attacker
	attack
	hides "$out" ' OK'
	[ "$(wc -l <<<"$out")" = 11 ] || fail "$out"
}

# What docker's profile leaves open: a family of sockets by its argument, and calls that are newer than most profiles.
exotic_calls_can_be_denied() {
	bundle 'sh("for c in io_uring clone3 vsock; do /attacker calls $c; done")' \
		"$(_denied '"io_uring_enter", "io_uring_register", "io_uring_setup", "clone3"')" \
		'.linux.seccomp.syscalls += [{names: ["socket"], action: "SCMP_ACT_ERRNO", errnoRet: 122, args: [{index: 0, value: 40, op: "SCMP_CMP_EQ"}]}]'
	with_attacker
	attack
	[ "$out" = $'io_uring EDQUOT\nclone3 EDQUOT\nvsock EDQUOT' ] || escaped "past the filter: ${out//$'\n'/, }"
}

# A rule with arguments on socket says nothing about socketcall, where they can't be seen.
a_family_of_sockets_is_closed_through_socketcall_too() {
	[ "$(uname -m)" = x86_64 ] || skip 'needs an x86-64 machine'
	bundle 'sh("/attacker calls unix; /attacker calls unix-socketcall")' \
		"$(jq -c '.linux.seccomp | .defaultErrnoRet = 122 | .syscalls |= map(.names -= ["socket", "socketcall"])' \
			"$TESTS_DIR/../spec/bundles/docker/config.json" | sed 's/^/.linux.seccomp = /')" \
		'.linux.seccomp.syscalls += [{names: ["socket"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: 1, op: "SCMP_CMP_NE"}]}]'
	with_attacker
	attack
	[ "$out" = $'unix EDQUOT\nunix-socketcall EDQUOT' ] || escaped "past the filter: ${out//$'\n'/, }"
}

# Of rules that hold for one call, the strictest decides: before or after another, with or without arguments.
no_rule_opens_what_another_closes() {
	local open='{names: ["socket"], action: "SCMP_ACT_ALLOW"}' closed rules
	local some='{names: ["socket"], action: "SCMP_ACT_ALLOW", args: [{index: 1, value: 0, op: "SCMP_CMP_GE"}]}'
	closed='{names: ["socket"], action: "SCMP_ACT_ERRNO", errnoRet: 122, args: [{index: 0, value: 1, op: "SCMP_CMP_EQ"}]}'
	for rules in "$open, $closed" "$closed, $open" "$some, $closed" "$closed, $some"; do
		bundle 'sh("/attacker calls unix")' ".linux.seccomp = {defaultAction: \"SCMP_ACT_LOG\", syscalls: [$rules]}"
		with_attacker
		attack
		[ "$out" = 'unix EDQUOT' ] || escaped "past the filter: $out ($rules)"
	done
}

# An unknown name in a rule that denies must not leave the rest of the rule out.
an_unknown_name_does_not_open_the_others() {
	bundle 'sh("/attacker calls mkdir; true")' writable "$(_denied '"no_such_call", "mkdir", "mkdirat"')"
	with_attacker
	attack
	[ ! -e "$B/rootfs/made-by-mkdir" ] || escaped 'mkdir was not denied'
}

the_filter_holds_for_exec_and_for_children() {
	bundle 'sh("sleep 100")' writable "$(_denied '"mkdir", "mkdirat"')"
	with_attacker
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" /bin/sh -c '(/attacker calls mkdir); mkdir /made-by-mkdir; true'
	[ ! -e "$B/rootfs/made-by-mkdir" ] || escaped "$out"
}

run_tests
