# shellcheck shell=bash
# import: the image of an archive becomes a rootfs. The archive is hostile: whatever reads it (unpack-image.sh) runs in a box, and
# what comes out of the box is read here as plain files that are never followed.

# Ids, memory and processes of the box; the disk is watched, for a filesystem has no limit of its own.
IMPORT_MEMORY=$((1 << 30))
IMPORT_PIDS=256

cmd_import() {
	local name=$1 archive=$2 tools max epoch digest layer_size root arch
	local summary="an image, imported from ${2##*/}" env='' command='' smoke='' expect='' npm='' suite=''
	needs tar python3 flock numfmt sha256sum dpkg
	check_name "$name"
	[ ! -f "$HERE/recipes/$name" ] || die "$name is the name of a recipe: choose another"
	[ -f "$archive" ] || die "$archive is no file"
	max=$(numfmt --from=iec "${opt_max_size:-8G}" 2>/dev/null) || die_usage "--max-size $opt_max_size is no size, such as 500M or 8G"
	read_formats
	find_sbxrun
	check_boxes
	arch=$(dpkg --print-architecture)
	open_tools
	store_open "$name"
	make_workspace
	step "$name: unpacking $archive in a box" unpack_image_in_box || die "$name: the archive can't be imported"
	read_meta
	root=$work/out/rootfs
	mkdir -p "$root"
	step "$name: taking the files out" take_out || die "$name: what was unpacked can't be taken out"
	echo '[]' >"$work/packages"
	pack "$work/out" || die "$name: could not write the images"
	store_place "$work/out"
	say "$name@sha256:$digest is in $place ($SECONDS s)"
}

# Sets tools to the rootfs with skopeo and umoci, and keeps it from being removed.
open_tools() {
	tools=$(realpath -m "$(store_dir)")/oci-tools
	if [ ! -d "$tools/rootfs" ]; then
		say 'import wants the rootfs oci-tools, which is not there; building it'
		"$HERE/sbxrun-rootfs" build oci-tools --format dir --dir "$(store_dir)" ${opt_quiet:+--quiet} || die 'oci-tools could not be built'
	fi
	exec {in_use}<"$tools"
	flock -s "$in_use"
}

# The only place of the host that the box can write to. It belongs to the box's root; nobody else gets there, for it may have setuid files.
make_workspace() {
	mkdir "$work/unpacked"
	chmod 700 "$work"
	[ "$EUID" != 0 ] || chown "$(private_base):$(private_base)" "$work/unpacked"
}

unpack_image_in_box() {
	local pid status=0 box_policy=$HERE/import-policy.json
	in_strict_box "$tools/rootfs" --memory "$IMPORT_MEMORY" --pids "$IMPORT_PIDS" --bind-rw "$work/unpacked:/workspace" --cwd /workspace -- \
		/usr/bin/bash -c "$(cat "$HERE/unpack-image.sh")" <"$archive" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		if [ "$(unpacked_size)" -gt "$max" ]; then
			end_boxes "$work"
			wait "$pid" || :
			echo "it takes more than $(human "$max") unpacked (--max-size)"
			return 1
		fi
		sleep 0.3
	done
	wait "$pid" || status=$?
	return "$status"
}

# Files that go away while du looks at them are no errors.
unpacked_size() {
	du -s --block-size=1 "$work/unpacked" 2>/dev/null | cut -f 1
}

# Sets epoch. The box wrote the file: what is in it is checked by manifest.py, and this here.
read_meta() {
	[ -f "$work/unpacked/meta.json" ] && [ ! -L "$work/unpacked/meta.json" ] || die "$name: the box left no meta.json"
	head -c 200000 "$work/unpacked/meta.json" >"$work/meta.json"
	epoch=$(python3 "$HERE/lib/manifest.py" --epoch "$work/meta.json") || die "$name: the config of the image can't be read"
}

# By the canonical tar: owners, extended attributes and time stamps of the box's files stay behind.
take_out() {
	[ -d "$work/unpacked/bundle/rootfs" ] && [ ! -L "$work/unpacked/bundle" ] && [ ! -L "$work/unpacked/bundle/rootfs" ] || return
	python3 "$HERE/lib/tree.py" tar "$work/unpacked/bundle/rootfs" "$epoch" "$work/seen" "$work/seen.tar" &&
		tar -xpf "$work/seen.tar" -C "$root" --no-same-owner --delay-directory-restore &&
		rm "$work/seen.tar" && delete_tree "$work/unpacked"
}
