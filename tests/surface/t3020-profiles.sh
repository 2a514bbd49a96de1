#!/bin/bash
# What a box reaches under each profile of `do`, as the probe counts it: never more than the policy, and what README says.
# Views: own
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/lib.sh"

# _reached PROFILE: the calls, one a line, in the file $T/PROFILE.
_reached() {
	[ "$(uname -m)" = x86_64 ] || skip 'the probe knows the system calls of x86_64 alone'
	surface_build "$SBXT_WORK/probe"
	[ -n "${B:-}" ] || bundle
	cp -f "$SBXT_WORK/probe" "$B/rootfs/bin/probe"
	# Nobody listens: denials would be told one by one.
	run sbx "do" --denials none --rootfs "$B/rootfs" --profile "$1" -- /bin/probe --list calls
	rc_is 0
	is "$(surface_figure "$T/out" end)" 1 'the probe came to its end'
	awk '$1 == "call" && $3 == "reached" { print $2 }' "$T/out" | LC_ALL=C sort >"$T/$1"
	echo "$1 reaches $(wc -l <"$T/$1")"
}

# Profile, and the most that it may reach: a profile that grows is a decision.
profiles_reach_what_readme_says_at_most_and_never_more_than_the_policy() {
	local profile most
	_reached none
	while read -r profile most; do
		_reached "$profile"
		is "$(LC_ALL=C comm -13 "$T/none" "$T/$profile" | paste -sd ' ')" '' "$profile has more than the policy"
		[ "$(wc -l <"$T/$profile")" -le "$most" ] || fail "$profile reaches $(wc -l <"$T/$profile"), want $most at most"
	done <<-END
		bash 165
		r 172
		node 181
		python 183
		c 188
		union 189
	END
}

run_tests
