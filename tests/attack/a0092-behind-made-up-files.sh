#!/bin/bash
# Idea: where /proc shows processes alone, a few files are made up and lie on the kernel's own. Root inside, with every capability but CAP_SYS_ADMIN, tries to get at
# what lies below, at other names of the whole procfs that it was for a moment, and to change what is made up. Leak: a file tells of the machine.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"

SBXRUN=${SBXRUN%-oci}
FILES='cpuinfo loadavg meminfo stat uptime'

# CODE FILTER…: as root with every capability but the one that may unmount, in a user namespace.
_as_root() {
	local BOX_CODE=$1
	shift
	_private_ids
	echo '{"version": 1, "policies": {"p": {"base": "oci", "proc": "pids", "user-namespace": "always"}}}' >policy.json
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$(all_caps SYS_ADMIN)" '.linux.maskedPaths = [] | .linux.readonlyPaths = []' "$@"
	run sbx --policy "$T/policy.json" run -b "$B" "$ID"
}

# Every name that the host has in /proc is tried, listed or not.
no_other_name_is_found() {
	local names
	names=$(find /proc -maxdepth 1 ! -name '[0-9]*' ! -path /proc -printf '%f\n' 2>/dev/null | grep -vxE "self|thread-self|${FILES// /|}" | paste -sd ' ' || :)
	like "$names" 'kcore|sys.*'
	_as_root "for f in $names; do [ -e /proc/\$f ] || [ -L /proc/\$f ] && echo \$f; done; ls /proc | grep -v '^[0-9]'; true"
	[ "$out" = $'self\nthread-self' ] || leaked "${out//$'\n'/ }"
}

what_is_made_up_says_nothing_of_the_machine() {
	local model
	_as_root "cd /proc && cat $FILES" '.linux.resources.memory.limit = 64000000'
	rc_is 0
	model=$(sed -n '/^model name.*: /{s///p;q}' /proc/cpuinfo)
	[ -z "$model" ] || [[ $out != *"$model"* ]] || leaked "$model"
	[[ $out != *"$(grep MemTotal: /proc/meminfo)"* ]] || leaked 'the memory of the machine'
	[[ $out != *"$(grep btime /proc/stat)"* ]] || leaked 'when the machine was started'
	like "$out" 'MemTotal: +62500 kB'
}

what_is_made_up_can_not_be_changed() {
	_as_root "for f in $FILES; do (echo attack >/proc/\$f) 2>/dev/null; chmod 666 /proc/\$f 2>/dev/null; rm -f /proc/\$f 2>/dev/null
		mount -o remount,rw,bind /proc/\$f 2>/dev/null; (echo attack >>/proc/\$f) 2>/dev/null; cat /proc/\$f; done"
	[[ $out != *attack* ]] || escaped 'a file was written to'
}

# In a user namespace of its own, where it has that one as well.
what_lies_below_can_not_be_uncovered() {
	_as_root "unshare -Um sh -c 'for f in $FILES; do umount /proc/\$f; umount -l /proc/\$f; done; umount -l /proc; mount -o remount,rw /proc; mount -t proc proc /proc
		cat /proc/cpuinfo; ls /proc' 2>/dev/null"
	[[ $out != *"$(sed -n '/^model name.*: /{s///p;q}' /proc/cpuinfo)"* ]] || leaked 'the processor'
	[[ $out != *kcore* ]] || leaked 'a whole procfs'
	like "$out" thread-self
}

run_tests
