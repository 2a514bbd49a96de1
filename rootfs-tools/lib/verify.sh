# shellcheck shell=bash
# verify: is what lies there what the manifest says, and does it run?

cmd_verify() {
	local name=$1 epoch digest smoked=''
	needs python3 flock
	store_find "$name"
	find_sbxrun
	# A shared lock: nobody replaces it meanwhile.
	exec {in_use}<"$place"
	flock -s "$in_use"
	work=$(mktemp -d "${TMPDIR:-/tmp}/sbxrun-rootfs.XXXXXX")
	trap 'store_close' EXIT
	trap 'exit 130' INT TERM HUP
	step "$name: comparing images" python3 "$HERE/lib/verify.py" "$place" || die "$name is not what its manifest says"
	read -r epoch digest < <(python3 "$HERE/lib/verify.py" --facts "$place")
	if [ -d "$place/rootfs" ]; then
		verify_tree "$place/rootfs"
		smoke "$place/rootfs"
	else
		step "$name: unpacking the image" unpack_image || die "$name: could not unpack the image"
		smoke "$work/rootfs"
	fi
	echo "$name@sha256:$digest is as its manifest says$smoked"
}

verify_tree() {
	local found
	step "$name: comparing files" python3 "$HERE/lib/tree.py" tar "$1" "$epoch" "$work/files" || die "$name is not what its manifest says"
	read -r found _ <"$work/step.log"
	[ "$found" != "$digest" ] || return 0
	python3 "$HERE/lib/tree.py" diff "$place/files" "$work/files" >"$work/diff"
	head -n 20 "$work/diff" | sed 's/^/  /' >&2
	die "$name: the directory is not what the manifest says: $(wc -l <"$work/diff") files differ"
}

# Of a rootfs that has no directory: the images were compared, so any of them will do.
unpack_image() {
	mkdir "$work/rootfs"
	if [ -f "$place/rootfs.erofs" ]; then
		needs fsck.erofs
		fsck.erofs --extract="$work/rootfs" --overwrite "$place/rootfs.erofs"
	elif [ -d "$place/oci" ]; then
		tar -xf "$place/oci/blobs/sha256/$digest" -C "$work/rootfs"
	else
		tar -xOf "$place/docker.tar" "blobs/sha256/$digest" | tar -xf - -C "$work/rootfs"
	fi
}

# Runs the smoke test in a box, as nobody, and compares what it prints.
smoke() {
	local command expect
	command=$(python3 "$HERE/lib/verify.py" --smoke-command "$place")
	expect=$(python3 "$HERE/lib/verify.py" --smoke-expect "$place")
	# An imported image has none.
	[ -n "$command" ] || return 0
	chmod 755 "$work"
	step "$name: running the smoke test" in_strict_box "$1" --user 65534 65534 --tmp 256m --cwd /workspace -- /usr/bin/bash -c "$command" ||
		die "$name: the smoke test fails"
	[ "$(cat "$work/step.log")" = "$expect" ] || {
		sed 's/^/  /' "$work/step.log" >&2
		die "$name: the smoke test printed the above in place of: $expect"
	}
	smoked=', and its smoke test passes'
}
