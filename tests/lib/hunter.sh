# shellcheck shell=bash disable=SC2154,SC2034
# A container whose first process lies in wait for whoever joins it (tools/hunter.c). Needs lib/test.sh.

# Sets HUNTER to the program, compiled once for a file.
build_hunter() {
	needs gcc
	HUNTER=$SBXT_WORK/hunter.$$
	[ -e "$HUNTER" ] || gcc -O2 -static -pthread -o "$HUNTER" "$TESTS_DIR/tools/hunter.c" || skip 'no static C library'
}

# lie_in_wait FILTER…: starts it; $B and $ID are the hunter's.
lie_in_wait() {
	bundle writable 'args(["/hunter"])' "$@"
	build_hunter
	cp "$HUNTER" "$B/rootfs/hunter"
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
