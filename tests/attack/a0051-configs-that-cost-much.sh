#!/bin/bash
# A config of some hundred kilobytes keeps the runtime busy for seconds or fills the memory, because work grows with the square of a list:
# names that are unknown, options that take each other back, devices of one path. What each list costs at its cap is shown by
# unit/test_config_caps.c; here the whole program is tried. Escape: it takes more than a second of processor time, or 64 MB.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# WHAT [ARG…]: runs the bundle, or the command, with little time and memory. It may be refused or run, but not be ended for what it takes.
_is_cheap() {
	local what=$1
	shift
	[ $# != 0 ] || set -- run -b "$B" "$ID"
	run bash -c 'ulimit -t 1 -v 65536; exec "$@"' cheap "$SBXRUN" --root "$T/state" "$@"
	[ "$rc" -lt 128 ] || [ "$rc" = 255 ] || escaped "$what: ended by signal $((rc - 128))"
	[[ $err != *'out of memory'* ]] || escaped "$what: out of memory"
}

unknown_names_are_cheap() {
	bundle '.process.capabilities |= with_entries(.value += [range(20000) | "CAP_NOBODY_HAS_\(.)"])'
	_is_cheap capabilities
	bundle '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86", "SCMP_ARCH_ARM", "SCMP_ARCH_AARCH64"],
		syscalls: [range(20000) | {names: ["nobodys_call_\(.)"], action: "SCMP_ACT_ERRNO"}]}'
	_is_cheap calls
	bundle '.process.apparmorProfile = ("p" * 900000) | .process.selinuxLabel = ("p" * 900000)'
	_is_cheap labels
}

options_are_cheap() {
	bundle 'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ([range(60000) | "sync"] + [range(60000) | "async"])})'
	_is_cheap 'options that take each other back'
	bundle '.mounts += [range(200) | {destination: "/m\(.)", source: "/etc/hostname", options: (["bind"] + [range(200) | "sync"])}]'
	_is_cheap 'options without meaning'
}

devices_are_cheap() {
	bundle '.linux.devices = [range(60000) | {path: "/dev/d\(.)", type: "c", major: 1, minor: 3}]'
	_is_cheap devices
	bundle '.linux.resources.devices = [range(60000) | {allow: (. % 2 == 0), type: "c", major: ., minor: 3, access: "rwm"}]'
	_is_cheap 'device rules'
}

lists_in_texts_are_cheap() {
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	jq -n '{cwd: "/", args: ["true"], execCPUAffinity: {initial: ([range(149000) | "0-1023"] | join(","))}}' >process.json
	_is_cheap processors exec -p process.json "$ID"
}

run_tests
