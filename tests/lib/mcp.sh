# shellcheck shell=bash disable=SC2154
# For tests of `sbxrun mcp`. Needs lib/test.sh. A test is a program of Python on standard input, which has all of mcp.py:
#
#	mcp <<'END'
#	s = Server()
#	…
#	END
#
# Boxes have the host's /usr, so that there is a python in them.

mcp() {
	needs python3
	{ printf 'from mcp import *\n' && cat; } >"$T/client.py"
	SBXRUN_ROOTFS_DIR=$T/library PYTHONPATH=$TESTS_DIR/lib PYTHONDONTWRITEBYTECODE=1 \
		env SBXRUN="$SBXRUN" python3 "$T/client.py" "$@" >"$T/said" 2>&1 || { cat "$T/said"; fail "the client: $(tail -n 1 "$T/said")"; }
}
