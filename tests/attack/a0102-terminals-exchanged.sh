#!/bin/bash
# Imitates CVE-2025-52565: a neighbour exchanges /dev/pts and /dev/console while a terminal is set up, by `run` or by `exec -t`. Escape:
# something is made in the canary or written to it, or a mount of the terminal is nowhere in the container's tree, since it went to the
# host's. Fake: the program's terminal is none or the neighbour's, or /dev/console is something else than the program's terminal.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# What the program says of its terminal and of its console: what they are, and how many mounts of a devpts it sees.
# shellcheck disable=SC2016
_SEE='test -t 0 || echo no terminal; stat -Lc "stdin %F %d:%i %t:%T" /proc/self/fd/0; stat -Lc "console %F %d:%i %t:%T" /dev/console
	echo mounts $(grep -c " devpts " /proc/self/mountinfo); echo end'

# FILTER…: a bundle whose /dev is the image's, a directory that the neighbour shares.
_image() {
	local BOX_CODE=$_SEE
	mkdir -p canary
	echo canary >canary.txt
	# shellcheck disable=SC2016
	bundle '.mounts |= map(select(.destination == "/dev/pts" or (.destination | startswith("/dev") | not)))' writable 'sh($code)' "$@"
	mkdir -p "$B"/rootfs/dev/{pts,fake,other}
	echo canary >"$B/rootfs/dev/fake/ptmx"
	echo canary >"$B/rootfs/dev/fake/0"
	: >"$B/rootfs/dev/console"
	ln -s "$T/canary/made" "$B/rootfs/dev/link"
	ln -s "../../../../../../../../../../..$T/canary" "$B/rootfs/dev/climb"
	ln -s "../../../../../../../../../../..$T/canary.txt" "$B/rootfs/dev/climb.txt"
	build_attacker
}

# PAIR…: exchanges these files of /dev until _stop.
_exchange() {
	(cd "$B/rootfs/dev" && exec "$ATTACKER" swap "$@") &
	SWAPPER=$!
}

_stop() {
	kill "$SWAPPER"
	wait "$SWAPPER" || :
}

# A devpts of the neighbour's, who sits at its terminal 0; what is written to that is in the file "overheard".
_neighbour() {
	mkdir neighbour
	mount -t devpts -o newinstance,ptmxmode=0666 devpts neighbour
	build_attacker
	"$ATTACKER" terminal neighbour >overheard &
	NEIGHBOUR=$!
	wait_until 20 grep -q waiting overheard
}

_neighbour_heard_nothing() {
	[ "$(cat overheard)" = waiting ] || faked "${1:-}the terminal is the neighbour's: $(tail -n +2 overheard | head -c 100)"
}

_neighbour_leaves() {
	kill "$NEIGHBOUR"
	wait "$NEIGHBOUR" || :
	umount neighbour
}

# WHEN: what the program has said in the file "output".
_judge() {
	untouched canary "$1"
	holds canary.txt canary "$1"
	cat output
	grep -q end output || return 0
	ran=$((ran + 1))
	! grep -q 'no terminal' output || faked "$1: a terminal that is none"
}

# The console is where it was told to be and the program's terminal; not to be asked if it is exchanged itself.
_judge_console() {
	! grep -q end output || [ "$(sed -n 's/^console //p' output)" = "$(sed -n 's/^stdin //p' output)" ] ||
		faked "$1: $(grep -E '^(stdin|console)' output | tr '\r\n' '  ')"
}

# The devpts and the console's mount are in sight.
_judge_mounts() {
	! grep -q end output || grep -q '^mounts [2-9]' output || escaped "$1: a mount of the terminal went elsewhere"
}

_fake_is_untouched() {
	local file
	for file in "$B"/rootfs/dev/{fake,pts}/{ptmx,0}; do
		[ ! -e "$file" ] || holds "$file" canary
	done
}

# PAIR…: starts containers at a terminal while the pairs are exchanged.
_terminals() {
	local i ran=0
	_image '.process.terminal = true'
	_exchange "$@"
	for ((i = 0; i < STARTS; i++)); do
		at_terminal timeout -k 1 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null
		_judge "start $i"
		[[ $* == *console* ]] || _judge_console "start $i"
		_judge_mounts "start $i"
		run sbx delete -f "$ID"
	done
	_stop
	_fake_is_untouched
	echo "$ran of $STARTS ran"
}

pts_exchanged_with_a_directory() {
	_terminals pts fake
}

pts_exchanged_with_a_link() {
	_terminals pts climb
}

the_console_exchanged_with_a_link() {
	_terminals console link
}

the_console_exchanged_with_a_link_to_a_file() {
	_terminals console climb.txt
}

# The terminal of that number is there, too, but it is the neighbour's.
pts_exchanged_with_a_neighbours() {
	local i ran=0
	_neighbour
	# shellcheck disable=SC2016
	_image '.process.terminal = true' '.mounts |= [{destination: "/dev/other", source: ($T + "/neighbour"), options: ["bind"]}] + .'
	_exchange pts other
	for ((i = 0; i < STARTS; i++)); do
		at_terminal timeout -k 1 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null
		_judge "start $i"
		_judge_console "start $i"
		# The first of a devpts of its own: number 0 of the other one is taken.
		! grep -q end output || grep -q '^stdin .* 88:0' output || faked "start $i: a terminal of the neighbour's: $(grep ^stdin output)"
		_neighbour_heard_nothing "start $i: "
		run sbx delete -f "$ID"
	done
	_stop
	_neighbour_leaves
	echo "$ran of $STARTS ran"
}

# FILTER PAIR…: the same for a process that joins; the container is there before anything is exchanged.
_execs() {
	local i ran=0
	_image 'args(["/bin/sleep", "1000"])' "$1"
	shift
	sbx run -d -b "$B" "$ID"
	_exchange "$@"
	for ((i = 0; i < STARTS; i++)); do
		at_terminal timeout -k 1 60 "$SBXRUN" --root "$T/state" exec -t "$ID" /bin/sh -c "$_SEE" </dev/null
		_judge "exec $i"
		[ ! -e overheard ] || _neighbour_heard_nothing "exec $i: "
	done
	_stop
	sbx delete -f "$ID"
	_fake_is_untouched
	echo "$ran of $STARTS ran"
}

exec_while_pts_is_exchanged_with_a_directory() {
	_execs . pts fake
}

exec_while_pts_is_exchanged_with_a_neighbours() {
	_neighbour
	# shellcheck disable=SC2016
	_execs 'mount({destination: "/dev/other", source: ($T + "/neighbour"), options: ["bind"]})' pts other
	_neighbour_leaves
}

run_tests
