# shellcheck shell=bash
# Reads a mount table, as a container has printed it, into arrays whose keys are mount points. The uppermost mount counts.

# shellcheck disable=SC2034
# read_mountinfo TEXT: sets MOUNT_FLAGS (per-mount), MOUNT_SUPER (of the file system), MOUNT_TYPE, MOUNT_PEERS (shared:1 …),
# MOUNT_ROOT and MOUNT_COUNT.
read_mountinfo() {
	local root dir flags rest peers type super
	declare -gA MOUNT_FLAGS=() MOUNT_SUPER=() MOUNT_TYPE=() MOUNT_PEERS=() MOUNT_ROOT=() MOUNT_COUNT=()
	while read -r _ _ _ root dir flags rest; do
		[[ $rest == *- ]] || [[ $rest == *'- '* ]] || continue
		peers=${rest%%- *}
		read -r type _ super <<<"${rest#*- }"
		MOUNT_FLAGS[$dir]=,$flags,
		MOUNT_SUPER[$dir]=,$super,
		MOUNT_TYPE[$dir]=$type
		MOUNT_PEERS[$dir]=${peers% }
		MOUNT_ROOT[$dir]=$root
		MOUNT_COUNT[$dir]=$((${MOUNT_COUNT[$dir]:-0} + 1))
	done <<<"$1"
}

# mount_has DIR WORD…: each WORD is a per-mount flag of the mount at DIR; !WORD is none.
mount_has() {
	local dir=$1 word
	shift
	[ -n "${MOUNT_FLAGS[$dir]:-}" ] || fail "nothing is mounted at $dir"
	for word; do
		if [[ $word == !* ]]; then
			[[ ${MOUNT_FLAGS[$dir]} != *",${word#!},"* ]] || fail "$dir has ${word#!}: ${MOUNT_FLAGS[$dir]}"
		else
			[[ ${MOUNT_FLAGS[$dir]} == *",$word,"* ]] || fail "$dir lacks $word: ${MOUNT_FLAGS[$dir]}"
		fi
	done
}

# super_has DIR WORD…: the same for the options of the file system.
super_has() {
	local dir=$1 word
	shift
	[ -n "${MOUNT_SUPER[$dir]:-}" ] || fail "nothing is mounted at $dir"
	for word; do
		if [[ $word == !* ]]; then
			[[ ${MOUNT_SUPER[$dir]} != *",${word#!},"* ]] || fail "$dir has ${word#!}: ${MOUNT_SUPER[$dir]}"
		else
			[[ ${MOUNT_SUPER[$dir]} == *",$word,"* ]] || fail "$dir lacks $word: ${MOUNT_SUPER[$dir]}"
		fi
	done
}
