#!/bin/bash
# Boxes that stay whose root filesystem is an EROFS image of sbxrun-rootfs: the mount that boxes share is let go after each command, and the box keeps its own.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/do-image.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_mounts() { grep -c " $T/state/image:.*:root .* erofs " /proc/self/mountinfo || :; }

the_image_stays_for_the_box() {
	library one
	_box create --id "$P" --rootfs one
	_box gc
	is "$(_mounts)" 0
	run _box exec "$P" -- sh -c 'stat -f -c %t /; echo kept >f'
	is "$out" "$EROFS"
	run _box exec "$P" -- cat f
	is "$out" kept
	is "$(_box list --json | jq -r '.[].rootfs')" one@sha256:feed
	run _box read "$P" f
	is "$out" kept
	_box destroy "$P"
	is "$(left_of_do)" ''
}

run_tests
