#!/bin/bash
# Imitates CVE-2019-10063: a rule on an argument compares 64 bits, while the kernel reads 32 of them; TIOCSTI with any high bit set
# types into the terminal all the same. Escape: the request gets past the filter.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_TIOCSTI=0x5412 _TIOCLINUX=0x541c
# An errno that nothing else gives.
_filter='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"], syscalls: [
	{names: ["ioctl"], action: "SCMP_ACT_ERRNO", errnoRet: 122, args: [{index: 1, value: $request, op: "SCMP_CMP_EQ"}]}]}'

the_filter_stops_it_with_every_high_bit() {
	local request high
	for request in $_TIOCSTI $_TIOCLINUX; do
		bundle "${_filter//'$request'/$((request))}" 'sh("for r in $WORDS; do echo $r $(/attacker ioctl $r); done")' \
			"env(\"WORDS=$(for high in 0 1 2 80000000 ffffffff; do printf '0x%s%08x ' "$high" "$request"; done)\")"
		with_attacker
		attack
		rc_is 0
		[ "$(grep -c EDQUOT <<<"$out")" = 5 ] || escaped "past the filter: ${out//$'\n'/, }"
	done
}

run_tests
