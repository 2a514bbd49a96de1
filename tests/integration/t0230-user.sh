#!/bin/bash
# process.user: ids, groups, umask.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

STATUS='grep -E "^(Uid|Gid|Groups|Umask):" /proc/1/status | tr "\t" " "; true'

all_four_ids_are_those_of_the_config() {
	run_in_box "$STATUS" '.process.user = {uid: 1000, gid: 2000}'
	rc_is 0
	like "$out" $'Uid: 1000 1000 1000 1000\nGid: 2000 2000 2000 2000\n'
	run_in_box "$STATUS" '.process.user = {uid: 0, gid: 0}'
	like "$out" $'Uid: 0 0 0 0\nGid: 0 0 0 0\n'
}

large_ids_work() {
	run_in_box "$STATUS" '.process.user = {uid: 4294967294, gid: 4294967294}'
	rc_is 0
	like "$out" $'Uid: 4294967294 4294967294 4294967294 4294967294\nGid: 4294967294 '
}

the_user_is_root_by_default() {
	run_in_box "$STATUS" 'del(.process.user)'
	rc_is 0
	like "$out" $'Uid: 0 0 0 0\nGid: 0 0 0 0\n'
}

the_groups_are_those_of_the_config() {
	run_in_box "$STATUS" '.process.user = {uid: 1000, gid: 1000, additionalGids: [5, 2000, 4000000000]}'
	rc_is 0
	like "$out" 'Groups: 5 2000 4000000000 *'
}

the_callers_groups_do_not_pass() {
	bundle "sh($(jq -n --arg c "$STATUS" '$c'))" '.process.user = {uid: 1000, gid: 1000}'
	run setpriv --groups 4242,4343 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	like "$out" $'Groups: *(\n|$)'
	# Nor does the image's /etc/group add any.
	unlike "$out" 2000
}

the_groups_count_for_files() {
	bundle 'sh("cat /for-group")' '.process.user = {uid: 1000, gid: 1000, additionalGids: [2000]}'
	echo text >"$B/rootfs/for-group"
	chgrp 2000 "$B/rootfs/for-group"
	chmod 040 "$B/rootfs/for-group"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" text
	jq '.process.user.additionalGids = [2001]' "$B/config.json" >new
	run sbx run -b "$B" -f "$T/new" "$ID"
	rc_is 1
}

the_umask_is_that_of_the_config() {
	run_in_box 'umask; touch /x; stat -c %a /x' writable '.process.user.umask = 63'
	rc_is 0
	is "$out" $'0077\n600'
	run_in_box 'umask' '.process.user.umask = 0'
	is "$out" 0000
}

the_callers_umask_does_not_pass() {
	bundle 'sh("umask")'
	run bash -c 'umask 077; exec "$0" --root "$1" run -b "$2" "$3"' "$SBXRUN" "$T/state" "$B" "$ID"
	rc_is 0
	is "$out" 0022
	run bash -c 'umask 000; exec "$0" --root "$1" run -b "$2" "$3"' "$SBXRUN" "$T/state" "$B" "$ID"
	is "$out" 0022
}

values_that_are_no_ids_are_refused() {
	local filter
	bundle
	for filter in 'uid = 4294967295' 'gid = 4294967295' 'uid = -1' 'gid = 4294967296' 'uid = 1.5' 'uid = "0"' \
		'additionalGids = [4294967295]' 'additionalGids = [-1]' 'additionalGids = 7' 'umask = 512' 'umask = -1' 'umask = "022"'; do
		jq ".process.user.$filter" "$B/config.json" >new
		refused 'process.user' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

an_ordinary_user_may_reopen_its_streams() {
	bundle 'sh("echo out >/dev/stdout; echo err >/dev/stderr; cat /dev/stdin")' '.process.user = {uid: 1000, gid: 1000}'
	echo in | sbx run -b "$B" "$ID" 2> >(cat >err-file) | cat >out-file
	is "$(<out-file)" $'out\nin'
	wait_until 10 test -s err-file
	is "$(<err-file)" err
}

run_tests
