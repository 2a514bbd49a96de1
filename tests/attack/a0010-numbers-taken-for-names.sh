#!/bin/bash
# Imitates CVE-2016-3697 (an id is looked up as a *name* in the image's passwd) and CVE-2026-30892 (`exec -u 1` read as 0:0).
# Escape: the program runs with other ids than it was told, root's at best.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# An image in which every number is a name of root's.
_lie() {
	printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' '1000:x:0:0:root:/root:/bin/sh' '1:x:0:0::/:/bin/sh' ':x:0:0::/:/bin/sh' \
		'4242:x:0:0:root:/root:/bin/sh' '0:x:1000:1000::/:/bin/sh' >"$B/rootfs/etc/passwd"
	printf '%s\n' 'root:x:0:1000,1,4242' '1000:x:0:1000,1,4242' '1:x:0:1000,1' '4242:x:0:' >"$B/rootfs/etc/group"
}

the_configs_ids_are_numbers() {
	bundle 'sh("id -u; id -g; id -G")' '.process.user = {uid: 1000, gid: 4242}'
	_lie
	attack
	[ "$out" = $'1000\n4242\n4242' ] || escaped "ids ${out//$'\n'/ }"
}

ids_of_exec_are_numbers() {
	local user
	bundle 'sh("sleep 100")'
	_lie
	sbx run -d -b "$B" "$ID"
	for user in 1 1000 4242 1000:1000 1:4242; do
		run sbx exec --user "$user" "$ID" /bin/sh -c 'id -u; id -g'
		[ "$rc" = 0 ] || fail "$user was refused: $err"
		[[ $out == "${user%:*}"$'\n'* ]] || escaped "--user $user: ${out//$'\n'/ }"
		[[ $user != *:* ]] || [[ $out == *$'\n'"${user#*:}" ]] || escaped "--user $user: ${out//$'\n'/ }"
	done
}

# What is no number is an error, never 0.
nothing_else_is_root() {
	local user
	bundle 'sh("sleep 100")'
	_lie
	sbx run -d -b "$B" "$ID"
	for user in 4294967296 18446744073709551616 -1 1x x1 0x1 '1 ' 1.5 1e3 1:4294967296 1:x '' : :0 1:0:0; do
		run sbx exec --user "$user" "$ID" /bin/sh -c 'echo "uid $(id -u)"'
		hides "$out" 'uid 0' "user '$user'"
	done
}

the_home_of_a_lying_passwd_stays_inside() {
	mkdir outside
	bundle 'sh("echo $HOME; cd && pwd -P")' '.process.user = {uid: 1000, gid: 1000}' '.process.env = ["PATH=/bin"]'
	printf '1000:x:0:0::/root:/bin/sh\nx:x:1000:1000::%s:/bin/sh\n' "../../..$T/outside" >"$B/rootfs/etc/passwd"
	attack
	hides "$out" "^$T/outside$"
}

a_passwd_that_is_no_file_does_no_harm() {
	bundle 'sh("id -u")' '.process.user = {uid: 1000, gid: 1000}' '.process.env = ["PATH=/bin"]'
	echo "x:x:1000:1000::/canary:/bin/sh" >canary
	rm "$B/rootfs/etc/passwd"
	ln -s "../../..$T/canary" "$B/rootfs/etc/passwd"
	attack
	hides "$out$err" /canary
	# Nobody ever writes to it.
	bundle 'args(["/bin/true"])' '.process.user = {uid: 1000, gid: 1000}' '.process.env = ["PATH=/bin"]'
	rm "$B/rootfs/etc/passwd"
	mkfifo "$B/rootfs/etc/passwd"
	run timeout -k 1 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	[ "$rc" = 0 ] || [ "$rc" = 1 ] || fail 'it waits for a fifo'
}

run_tests
