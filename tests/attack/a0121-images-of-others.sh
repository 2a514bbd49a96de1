#!/bin/bash
# Idea: a filesystem image is parsed by the kernel, and whoever wrote it talks to the kernel's code. Somebody who is not root has `do`, run by root, mount an image of his: by its owner, its mode, its
# directory, its manifest, a link, or by exchanging it at the right moment. Escape: it is mounted.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/do-image.sh"

# _is_not_mounted [PLACE…]: root asks for it by name and by path.
_is_not_mounted() {
	local place
	[ $# != 0 ] || set -- one "$T/library/one/rootfs.erofs"
	for place in "$@"; do
		SBXRUN_ROOTFS_DIR=$T/library run sbx "do" --rootfs "$place" -- stat -f -c %t /
		[[ $out != *"$EROFS"* ]] || fail 'ESCAPED: it was mounted'
	done
}

an_image_that_another_owns_or_may_write() {
	library one
	chown 4000 "$T/library/one/rootfs.erofs"
	_is_not_mounted
	chown 0 "$T/library/one/rootfs.erofs"
	chmod 664 "$T/library/one/rootfs.erofs"
	_is_not_mounted
}

an_image_in_a_directory_of_anothers() {
	library one
	chown 4000 "$T/library/one"
	_is_not_mounted
	chown 0 "$T/library/one"
	chmod 1777 "$T/library/one"
	_is_not_mounted
}

a_manifest_of_anothers() {
	library one
	chown 4000 "$T/library/one/manifest.json"
	_is_not_mounted
}

names_in_the_manifest_that_lead_elsewhere() {
	local name
	library one
	library two
	mv "$T/library/one/rootfs.erofs" "$T/library/one/kept"
	ln -s ../two/rootfs.erofs "$T/library/one/rootfs.erofs"
	_is_not_mounted one
	rm "$T/library/one/rootfs.erofs"
	for name in ../two/rootfs.erofs "$T/library/two/rootfs.erofs" two/../rootfs.erofs; do
		jq --arg name "$name" '.images.erofs.path = $name' "$T/library/two/manifest.json" >"$T/library/one/manifest.json"
		_is_not_mounted
	done
}

an_image_that_no_manifest_knows() {
	library one
	jq 'del(.images.erofs)' "$T/library/one/manifest.json" >m && cat m >"$T/library/one/manifest.json"
	_is_not_mounted
	rm "$T/library/one/manifest.json"
	_is_not_mounted
}

run_tests
