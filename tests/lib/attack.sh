# shellcheck shell=bash disable=SC2154,SC2034
# For attacks. Needs lib/test.sh. A test that fails with "ESCAPED", "FAKED" or "LEAKED" has hit the runtime: attack/compare counts
# these.
#
#	attack			run the bundle $B as $ID in the foreground, kept like `run`
#	escaped WHY		the attack has reached what is not the container's
#	faked WHY		the container was given something else than it was told (a device, a mask, an id)
#	leaked WHY		the program has something of the caller's that nobody gave it
#	untouched DIR [WHY]	nothing has been made in DIR or mounted on it, else it is an escape
#	holds FILE TEXT [WHY]	FILE still says TEXT, else it is an escape
#	hides TEXT REGEX [WHY]	TEXT has no match of REGEX, else it is an escape
#	$NO_DEV			a FILTER that takes away everything mounted on or below /dev

# shellcheck disable=SC2016
NO_DEV='.mounts |= map(select(.destination | startswith("/dev") | not))'

# How often a race is run: a dozen in `make check`, thousands in attack/torture.sh.
STARTS=${STARTS:-12}

escaped() {
	fail "ESCAPED: $*"
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
