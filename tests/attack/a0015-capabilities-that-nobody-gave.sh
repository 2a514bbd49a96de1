#!/bin/bash
# Imitates CVE-2022-24769, CVE-2022-27650, CVE-2022-29162 and CVE-2025-27612: inheritable capabilities that the config doesn't ask for,
# of a container, of `exec --cap`, or of the caller. Leak: CapInh or CapAmb is not empty, or the bounding set holds more than was asked.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_sets='args(["/bin/grep", "^Cap", "/proc/self/status"])'
# CHOWN and KILL
_given='caps(["CAP_CHOWN", "CAP_KILL"])'

# Checks the five sets in $out against what may be there at most: bits 0 and 5.
_no_more() {
	local name value
	[ -n "$out" ] || fail "nothing was said: $err"
	while read -r name value; do
		case $name in
		CapInh: | CapAmb:) [ $((16#$value)) = 0 ] || leaked "$name $value${1:+ ($1)}" ;;
		*) [ $((16#$value & ~${2:-0x21})) = 0 ] || leaked "$name $value${1:+ ($1)}" ;;
		esac
	done <<<"$out"
}

nothing_is_inheritable_unless_asked_for() {
	bundle "$_sets" "$_given"
	attack
	_no_more
	bundle "$_sets" "$_given" '.process.user = {uid: 1000, gid: 1000}'
	attack
	_no_more
	bundle "$_sets" 'del(.process.capabilities)'
	attack
	_no_more 'no capabilities in the config' 0
}

exec_adds_nothing_that_is_inheritable() {
	bundle 'sh("sleep 100")' "$_given"
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" /bin/grep ^Cap /proc/self/status
	_no_more
	run sbx exec --user 1000 "$ID" /bin/grep ^Cap /proc/self/status
	_no_more
	run sbx exec --cap CAP_NET_RAW "$ID" /bin/grep -E '^Cap(Inh|Amb)' /proc/self/status
	[ "$rc" = 0 ] || fail "$err"
	_no_more '--cap'
}

the_callers_sets_do_not_pass() {
	needs setpriv
	bundle "$_sets" "$_given"
	run setpriv --inh-caps +chown,+net_raw,+sys_admin --ambient-caps +net_raw,+sys_admin -- \
		"$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	_no_more
}

securebits_of_the_caller_do_not_keep_capabilities() {
	needs setpriv
	bundle "$_sets" "$_given" '.process.user = {uid: 1000, gid: 1000}'
	run setpriv --securebits +noroot,+no_setuid_fixup -- "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	[ "$rc" != 0 ] || _no_more
}

# With them a program that gives up root would keep what root had.
securebits_of_the_caller_do_not_pass() {
	needs setpriv
	bundle 'args(["/attacker", "securebits"])'
	with_attacker
	run setpriv --securebits +no_setuid_fixup -- "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	[ "$out" = 0 ] || leaked "securebits $out"
	bundle 'args(["/bin/sleep", "1000"])'
	with_attacker
	sbx run -d -b "$B" "$ID"
	run setpriv --securebits +no_setuid_fixup -- "$SBXRUN" --root "$T/state" exec "$ID" /attacker securebits
	rc_is 0
	[ "$out" = 0 ] || leaked "securebits $out (exec)"
}

# A new user namespace has none.
securebits_that_are_locked_are_refused() {
	needs setpriv
	bundle 'args(["/attacker", "securebits"])'
	with_attacker
	run setpriv --securebits +no_setuid_fixup,+no_setuid_fixup_locked -- "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	[ "$out" != 0 ] || return 0
	[ -z "$out" ] || leaked "locked securebits $out"
	like "$err" 'securebits 0xc'
}

# A setuid program in the image gets no more than the bounding set, and nothing with no_new_privs.
a_setuid_program_gets_what_the_bounding_set_has() {
	bundle 'args(["/suid"])' "$_given" '.process.user = {uid: 1000, gid: 1000}' '.process.noNewPrivileges = false'
	printf '#include <stdio.h>\nint main(void) { char l[256]; FILE *f = fopen("/proc/self/status", "r");
		while (fgets(l, sizeof(l), f)) if (l[0] == 67 && l[1] == 97 && l[2] == 112) fputs(l, stdout); return 0; }\n' >suid.c
	needs gcc
	gcc -static -o "$B/rootfs/suid" suid.c || skip 'no static C library'
	chmod 4755 "$B/rootfs/suid"
	attack
	_no_more
	jq '.process.noNewPrivileges = true' "$B/config.json" >new && mv new "$B/config.json"
	attack
	_no_more 'no_new_privs' 0x21
	hides "$out" 'Cap(Eff|Prm):	[0-9a-f]*[1-9a-f]'
}

run_tests
