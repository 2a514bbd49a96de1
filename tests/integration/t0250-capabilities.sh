#!/bin/bash
# process.capabilities, all five sets, as /proc/self/status shows them after execve. The kernel computes them anew there: what is
# permitted for uid 0 is the bounding set, unless no_new_privs forbids a gain; what is permitted for others is the ambient set.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# Runs with FILTERs and sets INH PRM EFF BND AMB to the hexadecimal masks without leading zeros.
_sets_of() {
	local name value
	bundle 'args(["/bin/cat", "/proc/self/status"])' '.process.noNewPrivileges = false' "$@"
	run "${CALLER[@]}" "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	like "$err" "^${WARNING:-}\$"
	while read -r name value; do
		case $name in
		Cap???:)
			name=${name#Cap}
			name=${name%:}
			printf -v "${name^^}" %x "0x$value"
			;;
		esac
	done <<<"$out"
}
CALLER=()

the_sets_of_root() {
	_sets_of 'caps(["CAP_CHOWN", "CAP_KILL", "CAP_NET_BIND_SERVICE"])'
	is "$INH $PRM $EFF $BND $AMB" '0 421 421 421 0'
}

no_new_privs_keeps_root_to_what_is_permitted() {
	_sets_of '.process.noNewPrivileges = true' '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL", "CAP_NET_BIND_SERVICE"],
		permitted: ["CAP_KILL"], effective: ["CAP_KILL"]}'
	is "$INH $PRM $EFF $BND $AMB" '0 20 20 421 0'
}

an_ordinary_user_has_none_without_ambient_ones() {
	_sets_of '.process.user = {uid: 1000, gid: 1000}' 'caps(["CAP_CHOWN", "CAP_KILL", "CAP_NET_BIND_SERVICE"])'
	is "$INH $PRM $EFF $BND $AMB" '0 0 0 421 0'
}

ambient_ones_reach_an_ordinary_user() {
	_sets_of '.process.user = {uid: 1000, gid: 1000}' '.process.capabilities = {
		bounding: ["CAP_CHOWN", "CAP_KILL", "CAP_NET_BIND_SERVICE"], permitted: ["CAP_KILL", "CAP_NET_BIND_SERVICE"],
		effective: ["CAP_KILL"], inheritable: ["CAP_KILL", "CAP_NET_BIND_SERVICE"], ambient: ["CAP_NET_BIND_SERVICE"]}'
	is "$INH $PRM $EFF $BND $AMB" '420 400 400 421 400'
}

inheritable_ones_are_set() {
	_sets_of '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL"], permitted: ["CAP_CHOWN", "CAP_KILL"],
		effective: ["CAP_CHOWN", "CAP_KILL"], inheritable: ["CAP_KILL"]}'
	is "$INH $PRM $EFF $BND $AMB" '20 21 21 21 0'
}

none_are_given_when_none_are_asked_for() {
	_sets_of '.process.capabilities = {}'
	is "$INH $PRM $EFF $BND $AMB" '0 0 0 0 0'
	_sets_of 'del(.process.capabilities)'
	is "$INH $PRM $EFF $BND $AMB" '0 0 0 0 0'
}

all_of_them_are_those_of_the_caller() {
	local mine WARNING='(sbxrun: warning: process.capabilities: ignoring what (is unknown here|the runtime itself lacks): "CAP_[^'$'\n'']*)?'
	WARNING+="($'\\n'$WARNING)?"
	mine=$(awk '/^CapBnd:/ { print $2 }' /proc/self/status)
	"$SBXRUN" features >features
	_sets_of ".process.capabilities = ($(jq -c .linux.capabilities features) | {bounding: ., effective: ., permitted: .})"
	is "$BND" "$(printf %x "0x$mine")"
	is "$PRM" "$BND"
}

one_that_the_caller_lacks_is_left_out() {
	local WARNING='sbxrun: warning: process.capabilities: ignoring what the runtime itself lacks: "CAP_CHOWN"'
	CALLER=(setpriv --bounding-set=-chown --inh-caps=-all)
	_sets_of 'caps(["CAP_CHOWN", "CAP_KILL", "CAP_SETPCAP"])'
	is "$PRM $EFF $BND" '120 120 120'
}

one_that_nobody_knows_is_left_out() {
	local WARNING='sbxrun: warning: process.capabilities: ignoring what is unknown here: "CAP_NONSENSE", "kill", "", "CAP_99"'
	_sets_of 'caps(["CAP_KILL", "CAP_NONSENSE", "kill", "", "CAP_99"])'
	is "$INH $PRM $EFF $BND $AMB" '0 20 20 20 0'
}

the_callers_ambient_ones_do_not_pass() {
	CALLER=(setpriv --inh-caps '+chown,+net_raw' --ambient-caps '+chown,+net_raw')
	_sets_of 'caps(["CAP_KILL"])'
	is "$INH $PRM $EFF $BND $AMB" '0 20 20 20 0'
	_sets_of '.process.user = {uid: 1000, gid: 1000}' 'caps(["CAP_KILL"])'
	is "$INH $PRM $EFF $BND $AMB" '0 0 0 20 0'
}

what_is_left_out_has_no_effect() {
	run_in_box 'chown 5 /x && stat -c %u /x' writable 'caps(["CAP_CHOWN"])' '.process.user = {uid: 0, gid: 0}'
	touch "$B/rootfs/x"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" 5
	jq '.process.capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"], permitted: ["CAP_KILL"]}' "$B/config.json" >new
	chown 0 "$B/rootfs/x"
	run sbx run -b "$B" -f "$T/new" "$ID"
	rc_is 1
	is "$(stat -c %u "$B/rootfs/x")" 0
}

run_tests
