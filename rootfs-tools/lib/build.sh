# shellcheck shell=bash
# shellcheck disable=SC2154  # what a recipe sets
# build: packages → tree → images → manifest, and all of it into place at once.

# Sets the variables of the recipe, and recipe_files to the files that they stand in.
read_recipe() {
	check_name "$1"
	[ -f "$HERE/recipes/$1" ] || die "there is no recipe called $1; there are: $(recipe_names | paste -sd ' ')"
	recipe_files=()
	include .base
	include "$1"
}

# include NAME: for recipes that begin with another.
include() {
	recipe_files+=("$HERE/recipes/$1")
	# shellcheck source=/dev/null
	. "$HERE/recipes/$1"
}

recipe_names() { (cd "$HERE/recipes" && printf '%s\n' *); }

# Sets formats to the words of --format.
read_formats() {
	local word
	if [ -n "$opt_format" ]; then
		IFS=, read -ra formats <<<"$opt_format"
	elif [ "$EUID" = 0 ]; then
		formats=(dir erofs)
	else
		# Only root mounts images.
		formats=(dir)
	fi
	for word in "${formats[@]}"; do
		[[ " dir erofs oci docker " == *" $word "* ]] || die_usage "no format is called '$word'; there are dir, erofs, oci, docker"
	done
	[[ " ${formats[*]} " != *' erofs '* ]] || needs mkfs.erofs
}

wants() { [[ " ${formats[*]} " == *" $1 "* ]]; }

# Sets lock to the file that --lock names, or with --frozen to the manifest of the last build; else to nothing.
find_lock() {
	lock=$opt_lock
	[ -n "$opt_frozen" ] && [ -z "$lock" ] || return 0
	lock=$place/manifest.json
	[ -f "$lock" ] || lock=$(store_dir)/$name/manifest.json
	[ -f "$lock" ] || die "$name: --frozen wants a lock: name one with --lock, for there is no $lock"
}

# Writes $work/packages: those of the lock if there is one, else what the mirror has.
choose() {
	find_lock
	main_uri='' security_uri=''
	if [ -n "$lock" ]; then
		python3 "$HERE/lib/packages.py" lock "$lock" "$arch" "$name" >"$work/packages" || exit 1
		[ "$(python3 "$HERE/lib/packages.py" recipe "$lock")" = "sha256:$(recipe_sum)" ] ||
			say "$name: the recipe has changed since the lock was made: the packages are the same, the digest will be another"
		[ -z "$opt_frozen" ] || return 0
		# The lock's packages are built; what the mirror has now is only told.
		if resolve "$work/now"; then
			tell_changes "$lock" "$work/now" 'the mirror has moved on; the lock stays at the older:'
		else
			warn "$name: the mirror can't be read; building from the lock and the cache"
		fi
		return 0
	fi
	resolve "$work/packages" || die "$name: the mirror can't be read, or lacks a package of the recipe"
	[ ! -f "$place/manifest.json" ] || tell_changes "$place/manifest.json" "$work/packages" 'the mirror has moved on since the last build:'
}

# The lock's pins of the npm registry go before those of the recipe.
choose_npm() {
	[ -z "$lock" ] || npm=$(python3 "$HERE/lib/packages.py" npm "$lock" | paste -sd ' ') || exit 1
}

# tell_changes OLD NEW TEXT
tell_changes() {
	local changes
	changes=$(python3 "$HERE/lib/packages.py" diff "$1" "$2") || return 0
	[ -n "$changes" ] || return 0
	say "$name: $3"
	[ -n "$opt_quiet" ] || sed 's/^/  /' <<<"$changes" >&2
}

# Unpacks all packages of $work/packages into $root. No maintainer script runs.
unpack() {
	make_skeleton && unpack_debs && unpack_npm && drop_documents || return
	find "$root" -type f -printf '%T@\n' | sort -n | sed -n '$s/\..*//p' >"$work/epoch"
}

# Packages of Debian 12 have files in /bin and in /usr/bin, which Debian has merged. And what filesystems of the kernel are mounted on.
make_skeleton() {
	local dir
	for dir in bin sbin lib lib64; do
		mkdir -p "$root/usr/$dir" && ln -s "usr/$dir" "$root/$dir" || return
	done
	mkdir -p "$root"/{proc,dev,sys,tmp,run,var/tmp,etc} && chmod 1777 "$root/tmp" "$root/var/tmp"
}

unpack_debs() {
	local sha
	set -f
	# shellcheck disable=SC2086  # a list of patterns
	printf '.%s\n' $exclude >"$work/exclude"
	set +f
	python3 "$HERE/lib/packages.py" lines "$work/packages" >"$work/lines" || return
	while read -r sha _; do
		dpkg-deb --fsys-tarfile "$(cached "$sha" .deb)" |
			tar -xpf - -C "$root" --no-same-owner --keep-directory-symlink --delay-directory-restore \
				--anchored --wildcards --exclude-from="$work/exclude" || return
	done <"$work/lines"
}

# npm packages go where `npm -g` looks for them.
unpack_npm() {
	local package version sha
	while read -r package version sha; do
		mkdir -p "$root/usr/lib/node_modules/$package" &&
			tar -xzf "$(cached "$sha" .tgz)" -C "$root/usr/lib/node_modules/$package" --strip-components=1 --no-same-owner --no-same-permissions || return
	done < <(xargs -n 3 <<<"$npm" | grep .)
}

# All but licences.
drop_documents() {
	find "$root/usr/share/doc" -mindepth 2 ! -type d ! -name copyright -delete &&
		find "$root/usr/share/doc" -mindepth 1 -type d -empty -delete
}

# Runs in the box what maintainer scripts would have done.
finish_tree() {
	{
		printf 'links=%q\n' "$links"
		cat "$HERE/finish.sh"
		declare -f finish
		echo finish
		cat "$HERE/finish-end.sh"
	} | in_box "$root" --writable -- /usr/bin/bash -s && settle_tree
}

# One time stamp, nothing that gives rights, and no leftovers of the box.
settle_tree() {
	find "$root" -xdev -perm /6000 ! -type l -exec chmod ug-s {} + &&
		find "$root"/{dev,proc,sys,run,tmp} -mindepth 1 -delete &&
		mkdir -p "$root/run/lock" &&
		find "$root" -xdev -exec touch -h -d "@$epoch" {} +
}

# pack OUT: OUT/rootfs becomes the images of $formats in OUT, with the list of its files, the manifest and the SBOM.
pack() {
	local out=$1 layer='' blobs=()
	local root=$out/rootfs
	! wants oci || blobs+=(oci)
	! wants docker || blobs+=(docker)
	[ "${#blobs[@]}" = 0 ] || layer=$work/layer.tar
	step "$name: summing up" python3 "$HERE/lib/tree.py" tar "$root" "$epoch" "$out/files" ${layer:+"$layer"} || return
	read -r digest layer_size <"$work/step.log"
	if wants erofs; then
		# A UUID that says what is in it.
		step "$name: writing the EROFS image" mkfs.erofs --quiet -x-1 -T"$epoch" -U"$(uuid_of "$digest")" --all-root "$out/rootfs.erofs" "$root" || return
	fi
	write_manifest "$out" || return
	if [ "${#blobs[@]}" != 0 ]; then
		step "$name: writing the image for engines" python3 "$HERE/lib/image.py" "$out" "$layer" "$out/manifest.json" "${blobs[@]}" || return
		rm "$layer"
	fi
	wants dir || delete_tree "$root"
	# Again: it has the sums of the images.
	write_manifest "$out" && python3 "$HERE/lib/sbom.py" "$out/manifest.json" >"$out/sbom.spdx.json"
}

uuid_of() { sed -E 's/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/\1-\2-\3-\4-\5/' <<<"$1"; }

# Decides the bytes, besides packages: the recipe and the code that finishes a tree; or the archive that was imported.
recipe_sum() {
	[ -z "${archive:-}" ] || { sha256sum <"$archive" | cut -d ' ' -f 1 && return; }
	cat "${recipe_files[@]}" "$HERE/finish.sh" "$HERE/finish-end.sh" | sha256sum | cut -d ' ' -f 1
}

write_manifest() {
	python3 "$HERE/lib/manifest.py" "$1" "$work/packages" name="$name" digest="$digest" size="$layer_size" summary="$summary" source="$([ -n "${archive:-}" ] && echo import || echo debian)" \
		suite="$suite" architecture="$arch" epoch="$epoch" env="$env" command="$command" smoke="$smoke" expect="$expect" \
		recipe="$(recipe_sum)" npm="$npm" ${archive:+meta="$work/meta.json"}
}

cmd_build() {
	local name=$1 arch root epoch digest layer_size lock
	needs apt-get dpkg-deb tar gpgv python3 flock sha256sum numfmt
	read_recipe "$name"
	read_formats
	find_sbxrun
	check_boxes
	arch=$(dpkg --print-architecture)
	store_open "$name"
	open_cache
	choose
	choose_npm
	fetch_packages "$work/packages"
	fetch_npm
	root=$work/out/rootfs
	mkdir -p "$root"
	step "$name: unpacking $(python3 "$HERE/lib/packages.py" lines "$work/packages" | wc -l) packages" unpack || die "$name: could not unpack"
	epoch=$(cat "$work/epoch")
	step "$name: finishing" finish_tree || die "$name: could not finish"
	pack "$work/out" || die "$name: could not write the images"
	store_place "$work/out"
	say "$name@sha256:$digest is in $place ($SECONDS s)"
}
