# shellcheck shell=bash
# Where a rootfs lies, and how it gets there: made beside its place, put there by one rename, guarded by a lock a name.
#
#	STORE/NAME/		manifest.json and what it names: rootfs/, rootfs.erofs, oci/, docker.tar, files, sbom.spdx.json
#	STORE/.NAME.lock	held by whoever builds, imports or removes NAME
#	STORE/.NAME.new.*	a build; after a crash the next one removes it
#	STORE/.NAME.old.*	what was replaced or removed while somebody used it, who holds a shared lock (flock) on the directory

store_dir() {
	if [ -n "$opt_dir" ]; then
		echo "$opt_dir"
	elif [ -n "${SBXRUN_ROOTFS_DIR:-}" ]; then
		echo "$SBXRUN_ROOTFS_DIR"
	elif [ "$EUID" = 0 ]; then
		echo /var/lib/sbxrun/rootfs
	else
		echo "${XDG_DATA_HOME:-${HOME:?is not set}/.local/share}/sbxrun/rootfs"
	fi
}

cache_dir() {
	if [ -n "${SBXRUN_CACHE_DIR:-}" ]; then
		echo "$SBXRUN_CACHE_DIR"
	elif [ "$EUID" = 0 ]; then
		echo /var/cache/sbxrun
	else
		echo "${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/sbxrun"
	fi
}

# A name is a word of a path, and no option.
check_name() {
	[[ $1 =~ ^[a-z0-9][a-z0-9._-]{0,63}$ ]] || die_usage "'$1' is no name: up to 64 of a-z, 0-9, '.', '_' and '-', and no sign first"
}

# Sets place to the directory of the rootfs NAME, which must be there.
store_find() {
	check_name "$1"
	place=$(realpath -m "$(store_dir)")/$1
	[ -f "$place/manifest.json" ] && return
	if [ -f "$HERE/recipes/$1" ]; then
		die "$1 is not built; build it with: sbxrun-rootfs build $1"
	fi
	die "there is no rootfs called $1 in ${place%/*}; sbxrun-rootfs list shows those that are"
}

# store_open NAME: takes the lock, removes what a crash left, and sets place (where the result will be), work (an empty directory on
# the same filesystem) and lock_fd. At the end of the program work goes.
store_open() {
	local name=$1 parent
	if [ -n "$opt_output" ]; then
		place=$(realpath -m "$opt_output")
		name=${place##*/}
		[ "$place" != / ] || die '--output is /'
	else
		place=$(realpath -m "$(store_dir)")/$name
	fi
	parent=${place%/*}
	mkdir -p "${parent:-/}"
	exec {lock_fd}>>"$parent/.$name.lock"
	if ! flock -n "$lock_fd"; then
		say "$name: somebody else builds or removes it; waiting"
		flock -w 1800 "$lock_fd" || die "$name: still locked after half an hour"
	fi
	store_sweep "$parent" "$name"
	work=$(mktemp -d "$parent/.$name.new.XXXXXX")
	trap 'store_close' EXIT
	trap 'exit 130' INT TERM HUP
}

store_close() {
	local status=$?
	trap '' INT TERM HUP
	[ -z "${helper_pid:-}" ] || kill -- "-$helper_pid" 2>/dev/null || :
	end_boxes "$work"
	wait 2>/dev/null || :
	delete_tree "$work"
	exit "$status"
}

# Directories of a tree may be read-only for their owner.
delete_tree() {
	[ -e "$1" ] || return 0
	rm -rf --one-file-system "$1" 2>/dev/null && return
	find "$1" -type d ! -perm -u+rwx -exec chmod u+rwx {} \;
	rm -rf --one-file-system "$1"
}

# Removes what crashed builds left, and what was replaced and is used no more.
store_sweep() {
	local left
	for left in "$1/.$2.new."??????; do
		[ -d "$left" ] || continue
		end_boxes "$left"
		delete_tree "$left"
	done
	for left in "$1/.$2.old."??????; do
		[ ! -d "$left" ] || store_discard "$left"
	done
}

# Deletes directory $1 unless a box runs from it.
store_discard() {
	if flock -n -x "$1" true; then
		delete_tree "$1"
	else
		say "${1##*/} is in use; the next build or remove deletes it"
	fi
}

# store_place DIR: DIR, which has everything, becomes the rootfs. What was there is replaced in the same instant.
store_place() {
	local old
	if [ -e "$place" ] && [ ! -f "$place/manifest.json" ] && [ -n "$(ls -A "$place")" ]; then
		die "$place is not ours: it has no manifest.json"
	fi
	sync -f "$1"
	if [ -e "$place" ]; then
		old=$(mktemp -u "${place%/*}/.${place##*/}.old.XXXXXX")
		python3 "$HERE/lib/swap.py" "$1" "$place" "$old"
		store_discard "$old"
	else
		mv -T "$1" "$place"
	fi
}

cmd_path() {
	store_find "$1"
	echo "$place"
}

cmd_remove() {
	local old
	needs flock
	store_find "$1"
	store_open "$1"
	[ -f "$place/manifest.json" ] || die "$1 was removed meanwhile"
	old=$(mktemp -u "${place%/*}/.${place##*/}.old.XXXXXX")
	mv -T "$place" "$old"
	store_discard "$old"
}
