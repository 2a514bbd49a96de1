# shellcheck shell=bash disable=SC2154
# For tests of `sbxrun mcp`. Needs lib/test.sh. A test is a program of Python on standard input, which has all of mcp.py:
#
#	mcp <<'END'
#	s = Server()
#	…
#	END
#
# $ASSERTION_IS is what an assertion that fails is called: "ESCAPED" in attacks, so that mutants are hit by nothing else.
# Boxes have the host's /usr, so that there is a python in them.

mcp() {
	needs python3
	{ printf 'from mcp import *\n' && cat; } >"$T/client.py"
	SBXRUN_ROOTFS_DIR=$T/library PYTHONPATH=$TESTS_DIR/lib PYTHONDONTWRITEBYTECODE=1 \
		env SBXRUN="$SBXRUN" python3 "$T/client.py" "$@" >"$T/said" 2>&1 || _mcp_failed
}

_mcp_failed() {
	local why
	cat "$T/said"
	why=$(tail -n 1 "$T/said")
	[[ $why != 'AssertionError: no line came' ]] || missed "the client: $why"
	[[ -z ${ASSERTION_IS:-} || $why != AssertionError* ]] || fail "$ASSERTION_IS: $why"
	fail "the client: $why"
}
