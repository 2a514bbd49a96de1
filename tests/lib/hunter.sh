# shellcheck shell=bash disable=SC2154,SC2034
# A container whose first process lies in wait for whoever joins it (tools/hunter.c). Needs lib/test.sh.

# lie_in_wait FILTER…: starts it; $B and $ID are the hunter's.
lie_in_wait() {
	needs gcc
	bundle writable 'args(["/hunter"])' "$@"
	[ -e "$SBXT_WORK/hunter.$$" ] || gcc -O2 -static -o "$SBXT_WORK/hunter.$$" "$TESTS_DIR/tools/hunter.c" ||
		skip 'no static C library'
	cp "$SBXT_WORK/hunter.$$" "$B/rootfs/hunter"
	chmod 777 "$B/rootfs"
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/report"
}

# call_it_off: ends the hunt of $B and sets REPORT.
call_it_off() {
	: >"$B/rootfs/end"
	wait_until 20 grep -q ^end "$B/rootfs/report"
	slurp REPORT "$B/rootfs/report"
	echo "$REPORT"
}
