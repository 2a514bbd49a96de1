# shellcheck shell=bash disable=SC2154
# A world outside of boxes, for tests of what they may reach: two network namespaces of the test's own, and nothing that leads out of them.
# Needs lib/test.sh.
#
#	lab			the test's own namespace becomes a host at 11.0.0.1; every other address is in the lab (lib/lab.py), whose resolver
#				is this host's. Kept: $LAB/names, $LAB/seen
#	lab_far_away MS		from now on the way there and back takes so long
#	asked REGEX, reached REGEX		whether the lab was asked for such a name; whether such a connection came
#	nobody_asked REGEX, nobody_reached REGEX
#	carrier			the pid of the process that carries the connections of a box of this test

_lab_inside() {
	ip link set lo up
	for a in 11.0.0.0/8 10.9.9.9/32 169.254.169.254/32 100.100.100.200/32; do
		ip route add local "$a" dev lo
	done
	ip link set lab-far up
	ip addr add 11.0.0.2/24 dev lab-far
	ip -6 addr add 2a00::2/64 dev lab-far nodad || :
	ip -6 addr add 2a00::11/64 dev lab-far nodad || :
	exec python3 "$TESTS_DIR/lib/lab.py" "$LAB"
}

lab() {
	needs python3 ip
	LAB=$T/lab
	mkdir -p "$LAB"
	: >"$LAB/names"
	: >"$LAB/seen"
	export LAB TESTS_DIR
	unshare -n bash -c "$(declare -f _lab_inside); while [ ! -e '$LAB/go' ]; do sleep 0.01; done; _lab_inside" >"$LAB/log" 2>&1 &
	LAB_PID=$!
	wait_until 10 _lab_is_apart
	# That of the test before goes with its namespace, which takes the kernel a while.
	wait_until 20 _lab_connect
	ip addr add 11.0.0.1/24 dev lab-near
	ip -6 addr add 2a00::1/64 dev lab-near nodad || :
	ip link set lab-near up
	: >"$LAB/go"
	wait_until 20 test -e "$LAB/ready"
	ip route add default via 11.0.0.2
	_lab_resolver 11.0.0.2
}

# The file's tests have one such mount, and each writes what it needs: one on top of the other could not be removed.
_lab_resolver() {
	local file=$SBXT_WORK/resolv.$TEST_ID server
	if [ ! -e "$file" ]; then
		: >"$file"
		mount --bind "$file" "$(realpath /etc/resolv.conf)"
	fi
	for server; do echo "nameserver $server"; done >"$file"
}
_lab_connect() {
	ip link del lab-near 2>/dev/null || :
	ip link add lab-near type veth peer name lab-far netns "$LAB_PID" 2>/dev/null
}
_lab_is_apart() { [ "$(readlink "/proc/$LAB_PID/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

lab_far_away() {
	needs cc
	[ -c /dev/net/tun ] || skip 'no interfaces of a program here'
	cc -std=gnu17 -O2 -o "$T/delay" "$TESTS_DIR/lib/delay.c"
	"$T/delay" "$1" slow-near "$LAB_PID" slow-far >"$LAB/wire" &
	wait_until 10 grep -q up "$LAB/wire"
	nsenter -t "$LAB_PID" -n sh -c 'ip addr del 11.0.0.2/24 dev lab-far; ip addr add 11.0.0.2/24 dev slow-far; ip link set slow-far up'
	ip addr del 11.0.0.1/24 dev lab-near
	ip addr add 11.0.0.1/24 dev slow-near
	ip link set slow-near up
	ip route add default via 11.0.0.2
}

asked() { wait_until 10 grep -qE "$1" "$LAB/names"; }
reached() { wait_until 10 grep -qE "$1" "$LAB/seen"; }
nobody_asked() { ! grep -E "$1" "$LAB/names" || fail "ESCAPED: the question for a name left the machine"; }
nobody_reached() { ! grep -E "$1" "$LAB/seen" || fail "ESCAPED: a host was reached"; }

carrier() {
	local pid
	for pid in $(pgrep -x sbxrun-net); do
		[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ] || echo "$pid"
	done
}
