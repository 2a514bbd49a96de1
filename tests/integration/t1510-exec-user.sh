#!/bin/bash
# exec -u and -g: numbers are numbers (CVE-2016-3697, CVE-2026-30892), and another user has none of root's powers.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# shellcheck disable=SC2016
_IDS='while read -r key a b c d rest; do case $key in Uid:|Gid:) echo $key $a $b $c $d;; Groups:) echo $key $a $b $c $d $rest;; esac; done </proc/self/status'

all_four_ids_are_those_asked_for() {
	box '.process.user = {uid: 5, gid: 6, additionalGids: [30, 20]}'
	in_box "$ID" sh -c "$_IDS"
	is "$out" $'Uid: 5 5 5 5\nGid: 6 6 6 6\nGroups: 20 30'
	in_box -u 1 "$ID" sh -c "$_IDS"
	is "$out" $'Uid: 1 1 1 1\nGid: 6 6 6 6\nGroups: 20 30' 'a uid alone leaves the group'
	in_box --user 7:8 "$ID" sh -c "$_IDS"
	is "$out" $'Uid: 7 7 7 7\nGid: 8 8 8 8\nGroups: 20 30'
	in_box --user=0:0 "$ID" sh -c "$_IDS"
	is "$out" $'Uid: 0 0 0 0\nGid: 0 0 0 0\nGroups: 20 30'
	in_box -u 4294967294:4294967294 "$ID" sh -c "$_IDS"
	is "$out" $'Uid: 4294967294 4294967294 4294967294 4294967294\nGid: 4294967294 4294967294 4294967294 4294967294\nGroups: 20 30'
}

groups_are_added() {
	box
	in_box -g 10 --additional-gids 2000 --additional-gids=5 -u 1000:1000 "$ID" sh -c "$_IDS"
	rc_is 0
	is "$out" $'Uid: 1000 1000 1000 1000\nGid: 1000 1000 1000 1000\nGroups: 5 10 2000'
}

what_is_no_number_is_refused() {
	local bad
	box
	for bad in '' ' 1' '1 ' $'1\n' -1 +1 0x1 1e3 1.0 root user 4294967295 4294967296 18446744073709551616 : 1: :1 1:root 1:-1 \
		1:4294967295 1:4294967296 1:2:3 '1: 2' '1,2' ١; do
		exec_refused 'user' "--user=$bad" "$ID" id -u
	done
	for bad in '' ' 1' -1 root 0x1 4294967296 1:2; do
		exec_refused 'additional-gids' "--additional-gids=$bad" "$ID" id -u
	done
}

a_name_in_the_image_that_is_a_number_means_nothing() {
	box
	printf '%s\n' '1000:x:0:0:trap:/:/bin/sh' 'root:x:0:0:root:/root:/bin/sh' >"$B/rootfs/etc/passwd"
	printf '%s\n' '1000:x:0:' >"$B/rootfs/etc/group"
	in_box -u 1000:1000 "$ID" sh -c "$_IDS"
	is "$out" $'Uid: 1000 1000 1000 1000\nGid: 1000 1000 1000 1000\nGroups:'
}

another_user_has_no_capabilities() {
	box 'caps(["CAP_KILL", "CAP_CHOWN"])'
	in_box -u 1000 "$ID" grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status
	is "$out" $'CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000'
	in_box -u 1000 "$ID" chown 1000 /etc/passwd
	isnt "$rc" 0
}

ids_are_the_containers_in_a_user_namespace() {
	box 'ns("user")' '.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 2000}] | .linux.gidMappings = .linux.uidMappings'
	sbx exec -d --pid-file pid -u 1000:1001 -g 7 "$ID" sleep 100
	is "$(status_field "$(<pid)" Uid | tr '\t' ' ')" '101000 101000 101000 101000'
	is "$(status_field "$(<pid)" Gid | tr '\t' ' ')" '101001 101001 101001 101001'
	like "$(status_field "$(<pid)" Groups)" '^100007 ?$'
	# Not mapped: refused, never somebody else.
	exec_refused '.' -u 2000 "$ID" id
	exec_refused '.' -u 0:65534 "$ID" id
}

the_user_can_reopen_its_streams() {
	box
	sbx exec -u 1000 "$ID" sh -c 'echo out >/dev/stdout; echo err >/dev/stderr' 2> >(cat >err-file) | cat >out-file
	is "$(<out-file)" out
	wait_until 10 test -s err-file
	is "$(<err-file)" err
}

run_tests
