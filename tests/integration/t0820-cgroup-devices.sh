#!/bin/bash
# linux.resources.devices. No driver has majors 240 and 241 here: opening such a node says "No such device" when the rules
# allow it and "not permitted" when they don't.
# Views: all
. "${0%/*}/../lib/test.sh"

# Runs a container with RULES (jq); $out has a line for each node and access: "x1 r open", "x1 w denied".
_under() {
	local rules=$1
	shift
	run_in_box 'for n in x1 x2 y1; do
			cat /dev/$n 2>&1 | grep -q permitted && echo "$n r denied" || echo "$n r open"
			(echo >/dev/$n) 2>&1 | grep -q permitted && echo "$n w denied" || echo "$n w open"
		done' ".linux.resources.devices = $rules" '.linux.devices = [
			{path: "/dev/x1", type: "c", major: 240, minor: 1, fileMode: 438},
			{path: "/dev/x2", type: "c", major: 240, minor: 2, fileMode: 438},
			{path: "/dev/y1", type: "c", major: 241, minor: 1, fileMode: 438}]' "$@"
}

# Compares $out with six words, for x1 r, x1 w, x2 r, x2 w, y1 r, y1 w.
_decides() {
	rc_is 0
	is "$out" "x1 r $1
x1 w $2
x2 r $3
x2 w $4
y1 r $5
y1 w $6"
}

what_is_not_allowed_is_denied() {
	_under '[{allow: false, access: "rwm"}, {allow: true, type: "c", major: 240, minor: 1, access: "r"},
		{allow: true, type: "c", major: 241, access: "rwm"}]'
	_decides open denied denied denied open open
}

what_is_denied_after_everything_was_allowed_is_denied() {
	_under '[{allow: true, access: "rwm"}, {allow: false, type: "c", major: 240, minor: 1, access: "w"},
		{allow: false, type: "c", major: 241, minor: 1, access: "rwm"}]'
	_decides open denied open open denied denied
}

the_last_rule_wins() {
	_under '[{allow: true, type: "c", major: 240, minor: 1, access: "rwm"}, {allow: false, access: "rwm"},
		{allow: true, type: "c", major: 240, minor: 2, access: "rwm"}, {allow: false, type: "c", major: 240, minor: 2, access: "w"}]'
	_decides denied denied open denied denied denied
}

a_hole_in_a_wildcard_is_cut_or_refused_but_never_ignored() {
	_under '[{allow: false, access: "rwm"}, {allow: true, type: "c", major: 240, access: "rw"},
		{allow: false, type: "c", major: 240, minor: 2, access: "rw"}]'
	if [ "$VIEW" = v2 ] || [ "$rc" = 0 ]; then
		_decides open open denied denied denied denied
	else
		rc_is 1
		is "$out" ''
		like "$err" 'linux\.resources\.devices'
	fi
}

without_any_rule_the_defaults_alone_are_allowed() {
	_under '[]'
	_decides denied denied denied denied denied denied
	run_in_box 'for d in null zero full random urandom; do head -c 1 /dev/$d | wc -c; done; echo x >/dev/null && echo ok' \
		'del(.linux.resources)'
	rc_is 0
	is "$out" $'0\n1\n1\n1\n1\nok'
}

the_default_devices_work_although_everything_is_denied() {
	run_in_box 'for d in zero full random urandom; do head -c 1 /dev/$d | wc -c; done; echo x >/dev/null && echo ok; exec 3<>/dev/ptmx && echo ptmx' \
		'.linux.resources.devices = [{allow: false, access: "rwm"}]'
	rc_is 0
	is "$out" $'1\n1\n1\n1\nok\nptmx'
}

a_node_made_inside_is_under_the_rules() {
	run_in_box 'mknod /dev/made c 240 1 && cat /dev/made; mknod /dev/null2 c 1 3 && cat /dev/null2 && echo null' \
		'.linux.resources.devices = [{allow: false, access: "rwm"}]' 'caps(["CAP_MKNOD"])'
	rc_is 0
	is "$out" null
	like "$err" 'not permitted'
}

block_devices_are_told_from_character_devices() {
	run_in_box 'cat /dev/b; cat /dev/c' '.linux.resources.devices = [{allow: false, access: "rwm"},
			{allow: true, type: "b", major: 240, minor: 1, access: "r"}]' '.linux.devices = [
			{path: "/dev/b", type: "b", major: 240, minor: 1, fileMode: 438}, {path: "/dev/c", type: "c", major: 240, minor: 1, fileMode: 438}]'
	like "$err" '/dev/b.*: No such'
	like "$err" '/dev/c.*: Operation not permitted'
}

bad_rules_are_errors_that_name_the_field() {
	local bad
	for bad in '{allow: true, access: "rwx"}' '{allow: true, type: "z", access: "r"}' '{allow: true, type: "c", major: -2, access: "r"}' '{allow: "yes"}'; do
		run_in_box 'echo started' ".linux.resources.devices = [$bad]"
		rc_is 1
		is "$out" '' "$bad"
		like "$err" 'linux\.resources\.devices\[0\]' "$bad"
	done
}

run_tests
