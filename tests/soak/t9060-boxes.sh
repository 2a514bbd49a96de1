#!/bin/bash
# Many boxes that stay, and callers that do all that there is to be done with them, at random, and are killed now and then: nothing hangs, no file has what is another's, and when the boxes
# are gone, all is as before. SOAK_BOXES says how many boxes (20; the long form 100), SOAK_BOXES_SECONDS for how long (45; an hour), SOAK_SEED what is chosen.
TEST_LIMIT=${TEST_LIMIT:-$((600 + ${SOAK_BOXES_SECONDS:-45} * 2))}
# shellcheck disable=SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/lib.sh"

# Busybox, and a shell for sessions.
_root_with_bash() {
	local name
	bundle
	cp "$(type -P bash)" "$B/rootfs/bin/bash"
	ldd "$B/rootfs/bin/bash" | grep -o '/[^ ]*' | while read -r name; do
		mkdir -p "$B/rootfs${name%/*}"
		cp "$name" "$B/rootfs$name"
	done
}

# All that a box has, and its callers leave nothing of: a line each.
_inventory() {
	local pid dir
	shopt -s nullglob # which the framework's own have, and tests have not
	find_cgroups
	find_mounts
	find_processes
	shopt -u nullglob
	for pid in "${!PIDS[@]}"; do
		[ "$pid" = "$BASHPID" ] || echo "process $(cat "/proc/$pid/comm")"
	done 2>/dev/null
	# Those that stay beside a box have wiped their environment; but nobody else is in this mount namespace.
	for pid in $(pgrep '^(sbxrun|reaper)' || :); do
		[ "$(readlink "/proc/$pid/ns/mnt")" != "$(readlink /proc/$$/ns/mnt)" ] || echo "keeper $(cat "/proc/$pid/comm")"
	done 2>/dev/null
	for dir in "${CGROUPS[@]}" "${MOUNTS[@]}"; do
		echo "cgroup or mount $dir"
	done
	echo "mounts $(wc -l </proc/self/mountinfo)"
	echo "ranges of ids $(grep -lsF "$T/" /run/sbxrun-ranges/* | tr '\n' ' ' || :)"
	echo "loop devices $(losetup -l -n -O BACK-FILE | grep -cF "$T" || :)"
	echo "descriptors of this shell $(find "/proc/$$/fd" -mindepth 1 | wc -l)"
	(cd "$T" && find state disks tmp | LC_ALL=C sort)
}

_is_as_before() {
	_inventory >after
	cmp -s before after
}

many_boxes_are_called_by_many() {
	local seed=${SOAK_SEED:-$RANDOM}
	needs python3 losetup
	_root_with_bash
	mkdir disks
	export SBXRUN_DISK_DIR=$T/disks SBXRUN_ROOTFS_DIR=$T/library
	# What the first box leaves on purpose is there beforehand: who has expired, and where snapshots are.
	sbx box create --id "$P.first" --rootfs "$B/rootfs"
	sbx box snapshot "$P.first" one
	sbx box snapshots --remove one
	sbx box destroy "$P.first"
	: >>state/boxes:expired
	touch out err after said
	_inventory >before
	# Not by `run`, whose output is long.
	python3 "$TESTS_DIR/soak/callers.py" "$SBXRUN" "$T/state" "$B/rootfs" "$P" "${SOAK_BOXES:-20}" 8 "${SOAK_BOXES_SECONDS:-45}" "$seed" >said 2>&1 ||
		{
			head -n 50 said
			fail "seed $seed: $(grep -c '^wrong' said) wrong: $(head -n 1 said)"
		}
	(wait_until 60 _is_as_before) || {
		diff before after
		exit 1
	}
	figure "boxes: $(tail -n 1 said)"
}

run_tests
