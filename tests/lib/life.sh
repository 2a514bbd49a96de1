# shellcheck shell=bash disable=SC2154,SC2034
# For tests of the life cycle: what must be there, and what must not.

# Of a container (default: $ID) there is no state and no cgroup; to be asked before the framework's own clean-up.
nothing_is_left() {
	local id=${1:-$ID} dir
	for dir in "$T/state/$id" /sys/fs/cgroup/"$P/$id" /sys/fs/cgroup/*/"$P/$id"; do
		[ ! -e "$dir" ] || fail "$dir is left"
	done
}

# Not even a trace under another name.
state_is_empty() {
	local entry
	for entry in "$T"/state/* "$T"/state/.[!.]*; do
		[ ! -e "$entry" ] || fail "$entry is left"
	done
}

# refused REGEX CMD…: CMD fails with status 1 and says something that matches.
refused() {
	local regex=$1
	shift
	run "$@"
	rc_is 1
	like "$err" "$regex" "$*"
}

# Whether the process is there and not a zombie.
lives() {
	local state
	{ read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null || return 1
	[ "$state" != Z ]
}

dead() {
	! lives "$1"
}

# status_is ID STATUS
status_is() {
	[ "$(status_of "$1")" = "$2" ]
}

# Starts `sbx ARG…` in the background as a process of its own and sets BG to its pid.
background() {
	"$SBXRUN" --root "$T/state" "$@" &
	BG=$!
}

# Sets rc to the status of background process $BG.
wait_for_background() {
	rc=0
	wait "$BG" || rc=$?
}

# Whether this test itself has the capability of that number: some machines lack a few.
has_capability() {
	local mask
	mask=$(status_field self CapEff)
	(((0x$mask >> $1) & 1))
}
