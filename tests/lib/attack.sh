# shellcheck shell=bash disable=SC2154,SC2034
# For attacks. Needs lib/test.sh. A test that fails with "ESCAPED", "FAKED" or "LEAKED" has hit the runtime: attack/compare counts
# these.
#
#	attack			run the bundle $B as $ID in the foreground, kept like `run`
#	escaped WHY		the attack has reached what is not the container's
#	faked WHY		the container was given something else than it was told (a device, a mask, an id)
#	hangs WHY		the attack makes somebody wait who must not; as an escape, but one that a slow machine may look like (missed)
#	leaked WHY		the program has something of the caller's that nobody gave it
#	untouched DIR [WHY]	nothing has been made in DIR or mounted on it, else it is an escape
#	holds FILE TEXT [WHY]	FILE still says TEXT, else it is an escape
#	hides TEXT REGEX [WHY]	TEXT has no match of REGEX, else it is an escape
#	as_if_systemd ARG…	the runtime with --systemd-cgroup where a directory says that systemd is the machine's init, and nobody
#				listens: for what is decided before systemd is asked
#	$NO_DEV			a FILTER that takes away everything mounted on or below /dev
#
# POLICY=engine or POLICY=code holds the containers to that policy, not to oci. Then the tests that attack/refused names must end as it says,
# and all others must pass. In the box of a0066 and a0067 it is oci always: they are about systemd.

# shellcheck disable=SC2016
NO_DEV='.mounts |= map(select(.destination | startswith("/dev") | not))'

# How often a race is run: a dozen in `make check`, thousands in attack/torture.sh.
STARTS=${STARTS:-12}

# The name of the runtime that chooses no policy, for files that choose one themselves.
PLAIN_SBXRUN=${SBXRUN%-oci}
PLAIN_SBXRUN=${PLAIN_SBXRUN%-code}
case ${POLICY:-} in
'' | oci) ;;
engine) SBXRUN=$PLAIN_SBXRUN ;;
*)
	SBXRUN=$PLAIN_SBXRUN-$POLICY
	# shellcheck source=tests/lib/private-ids.sh
	[ -n "${PRIVATE_IDS:-}" ] || . "$TESTS_DIR/lib/private-ids.sh"
	;;
esac

# Sets ROWS and SAYS to what attack/refused says of test $1 under the policy; fails if it says nothing.
_find_refusal() {
	local policies file name
	while IFS=$'\t' read -r policies file name ROWS SAYS _; do
		# shellcheck disable=SC2053
		[[ $policies == '#'* || $POLICY != $policies || $TEST_ID != $file || $1 != $name ]] || return 0
	done <"$TESTS_DIR/attack/refused"
	return 1
}

# For lib/test.sh: one that is to wait in vain needn't wait long.
before_test() {
	local ROWS SAYS
	[ -n "${POLICY:-}" ] && [ "$POLICY" != oci ] && _find_refusal "$1" && [[ $SAYS == 'still not true'* ]] || return 0
	WAITS_IN_VAIN=$SAYS
}

# Whether the test that has failed did so as ROWS and SAYS have it.
_failed_as_said() {
	local why row
	why=$(reason_of_failure "$RC")
	for row in ${ROWS//,/ }; do
		[ "$row" = - ] || grep -q "policy $POLICY refuses .*\[$row\]" "$T.log" "$T.told" || return 1
	done
	if [ "$SAYS" = - ]; then
		[[ ! $why =~ ESCAPED|FAKED|LEAKED ]]
	else
		[[ $why =~ $SAYS ]]
	fi
}

# For lib/test.sh: the verdict on test $1 where a policy has another answer than the test expects. A test that passes was not refused.
other_verdict() {
	local ROWS SAYS
	[ -n "${POLICY:-}" ] && [ "$POLICY" != oci ] && _find_refusal "$1" || return 1
	# What stops half-way leaves the mounts that it made itself.
	[[ $RC != @(77|timeout) && ! " ${LEAKS[*]}" =~ ' '(cgroup|state|process)' ' ]] || return 1
	if [ "$RC" = 0 ]; then
		verdict "not ok $TEST_ID $1: it passes under $POLICY, though attack/refused says $ROWS $SAYS" +
	elif _failed_as_said; then
		verdict "ok $TEST_ID $1 # as attack/refused says"
	elif is_late; then
		return 1
	else
		verdict "not ok $TEST_ID $1: $(reason_of_failure "$RC"); attack/refused says $ROWS $SAYS" +
	fi
}

escaped() {
	fail "ESCAPED: $*"
}

hangs() {
	missed "ESCAPED: $*"
}

faked() {
	fail "FAKED: $*"
}

leaked() {
	fail "LEAKED: $*"
}

# With ATTACK_NOTES it is noted there whether the runtime refused, for attack/compare.
attack() {
	local i verdict=ran
	run sbx run -b "$B" "$ID"
	[ -n "${ATTACK_NOTES:-}" ] || return 0
	[ "$rc" = 0 ] || [ -n "$out" ] || verdict=refused
	for i in "${!FUNCNAME[@]}"; do
		[ "${FUNCNAME[i]}" != body ] || echo "$verdict $TEST_ID ${FUNCNAME[i - 1]}" >>"$ATTACK_NOTES"
	done
}

as_if_systemd() {
	unshare -m --propagation private sh -c 'mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec "$@"' sh \
		"$SBXRUN" --root "$T/state" --systemd-cgroup "$@"
}

untouched() {
	local found
	found=$(ls -A "$1")
	[ -z "$found" ] || escaped "made in $1: ${found//$'\n'/ }${2:+ ($2)}"
	! grep -qF " $(realpath "$1")" /proc/self/mountinfo || escaped "mounted on $1${2:+ ($2)}"
}

holds() {
	local said
	[ -e "$1" ] || escaped "$1 is gone${3:+ ($3)}"
	slurp said "$1"
	[ "$said" = "$2" ] || escaped "$1 says '${said:0:100}', not '$2'${3:+ ($3)}"
}

hides() {
	[[ ! $1 =~ $2 ]] || escaped "'${1:0:200}' has a match of '$2'${3:+ ($3)}"
}

# Sets ATTACKER to tools/attacker.c, compiled once for a file. with_attacker puts it into the image of $B.
build_attacker() {
	ATTACKER=$SBXT_WORK/attacker.$$
	[ ! -e "$ATTACKER" ] || return 0
	needs gcc
	gcc -O2 -static -o "$ATTACKER" "$TESTS_DIR/tools/attacker.c" || skip 'no static C library'
}

with_attacker() {
	build_attacker
	cp "$ATTACKER" "$B/rootfs/attacker"
}
