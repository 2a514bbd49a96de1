# shellcheck shell=bash disable=SC2154,SC2034
# For tests of exec, terminals and listeners. Needs lib/test.sh and lib/life.sh.

TOOLS=$TESTS_DIR/tools
# The system's own rather than a version manager's wrapper, which takes a second.
PYTHON=python3
[ ! -x /usr/bin/python3 ] || PYTHON=/usr/bin/python3

# box [FILTER…]: a running container ($ID, $B) whose first process does nothing.
box() {
	bundle 'args(["/bin/sleep", "1000"])' "$@"
	sbx run -d -b "$B" "$ID"
}

# in_box ARG…: `exec` in $ID, kept like `run`.
in_box() {
	run sbx exec "$@"
}

# exec_refused REGEX ARG…: exec fails by itself and says why; nothing has run.
exec_refused() {
	local regex=$1
	shift
	run sbx exec "$@"
	rc_is 255
	is "$out" ''
	like "$err" "$regex" "$*"
}

# at_terminal CMD…: CMD on a terminal of its own, driven by stdin; sets rc, $said and the file "output".
at_terminal() {
	rc=0
	"$PYTHON" "$TOOLS/terminal.py" output run "$@" >said 2>said.err || rc=$?
	slurp said said
	printf '+ %s\nrc=%s\nsaid=%s\n' "$*" "$rc" "$said"
	cat said.err
}

# take_terminal SOCKET: in the background; stdin drives it. Afterwards: terminal_is_done.
take_terminal() {
	"$PYTHON" "$TOOLS/terminal.py" output take "$1" <&0 >said 2>said.err & # else it had /dev/null
	TERMINAL=$!
	wait_until 20 test -S "$1"
}

terminal_is_done() {
	rc=0
	wait "$TERMINAL" || rc=$?
	slurp said said
	printf 'rc=%s\nsaid=%s\n' "$rc" "$said"
	[ "$rc" = 0 ] || fail "the terminal: $(cat said.err)"
}
