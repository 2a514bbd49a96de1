# shellcheck shell=bash disable=SC2154,SC2034
# Real servers for programs behind an allow-list. Needs lib/test.sh, lib/lab.sh, programs/lib.sh.
#
#	world SERVER…	a lab (lib/lab.sh) with these of the tree's servers at all of its addresses: web (80 and 443: files, git, and what is uploaded;
#			world.py), ssh (22), postgres (5432). They write nothing but into an overlay of their own. Kept: $WORLD/cert.pem, which they prove
#			themselves with; $LAB/seen, what the web servers were asked for

world() {
	has_tree
	LAB_PORTS=7 lab
	WORLD=$T/world
	mkdir -p "$WORLD"
	nsenter -t "$LAB_PID" -n unshare -m -p --fork --kill-child --propagation private \
		bash "$TESTS_DIR/programs/world" "$TREE" "$WORLD" "$LAB" "$TESTS_DIR/programs/world.py" "$@" </dev/null >"$WORLD/log" 2>&1 &
	WORLD_PID=$!
	wait_until 120 _world_is_there
}
_world_is_there() {
	kill -0 "$WORLD_PID" 2>/dev/null || fail "no servers: $(tail -n 3 "$WORLD/log")"
	[ -e "$WORLD/ready" ]
}
