# shellcheck shell=bash
# shellcheck disable=SC2154  # what a recipe sets
# build: packages → tree → images → manifest, and all of it into place at once.

# Sets the variables of the recipe.
read_recipe() {
	local recipe=$HERE/recipes/$1
	check_name "$1"
	[ -f "$recipe" ] || die "there is no recipe called $1; there are: $(recipe_names | paste -sd ' ')"
	# shellcheck source=/dev/null
	. "$HERE/recipes/.base"
	# shellcheck source=/dev/null
	. "$recipe"
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

# Writes $work/packages: those of the lock if there is one, else what the mirror has.
choose() {
	local lock=$opt_lock
	[ -z "$opt_frozen" ] || lock=${lock:-$place/manifest.json}
	if [ -n "$opt_frozen" ] && [ ! -f "$lock" ]; then
		die "$name: --frozen wants a lock: there is no $lock"
	fi
	main_uri='' security_uri=''
	if [ -n "$lock" ]; then
		python3 "$HERE/lib/packages.py" lock "$lock" "$arch" >"$work/packages" || exit 1
		[ -z "$opt_frozen" ] || return 0
		# What the lock names is built; what the mirror has now is only told.
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
	local sha pattern
	set -f
	printf '.%s\n' $exclude >"$work/exclude"
	set +f
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
	# Packages of Debian 12 have files in both, and Debian has merged them.
	for pattern in bin sbin lib lib64; do
		ln -s "usr/$pattern" "$root/$pattern"
	done
	python3 "$HERE/lib/packages.py" lines "$work/packages" | while read -r sha _; do
		dpkg-deb --fsys-tarfile "$(cached "$sha" .deb)" |
			tar -xf - -C "$root" --no-same-owner --keep-directory-symlink --delay-directory-restore \
				--anchored --wildcards --exclude-from="$work/exclude" || return
	done
	# Licences stay.
	find "$root/usr/share/doc" -mindepth 2 ! -type d ! -name copyright -delete
	find "$root/usr/share/doc" -mindepth 1 -type d -empty -delete
	find "$root" -type f -printf '%T@\n' | sort -n | sed -n '$s/\..*//p' >"$work/epoch"
	# What the kernel's filesystems are mounted on, and a place to write to.
	mkdir -p "$root"/{proc,dev,sys,tmp,run,var/tmp,etc}
	chmod 1777 "$root/tmp" "$root/var/tmp"
}

# Runs in the box what maintainer scripts would have done.
finish_tree() {
	{
		printf 'links=%q\n' "$links"
		cat "$HERE/finish.sh"
		declare -f finish
		echo finish
		cat "$HERE/finish-end.sh"
	} | in_box "$root" --writable -- /usr/bin/bash -s || return
	settle_tree "$root" "$epoch"
}

# settle_tree DIR EPOCH: one time stamp, and nothing that gives rights.
settle_tree() {
	find "$1" -xdev -perm /6000 ! -type l -exec chmod ug-s {} +
	# No tty, no leftovers of the box.
	rm -rf "$1"/{dev,proc,sys,run,tmp}/{,.[!.]}*
	mkdir -p "$1/run/lock"
	find "$1" -xdev -exec touch -h -d "@$2" {} +
}

# pack DIR: the tree $root becomes the images of $formats in DIR, with the list of its files; sets digest.
pack() {
	local out=$1 tar=''
	! wants oci && ! wants docker || tar=$work/layer.tar
	# shellcheck disable=SC2086  # one word or none
	step "$name: summing up" python3 "$HERE/lib/tree.py" tar "$root" "$epoch" "$out/files" $tar || return
	read -r digest layer_size <"$work/step.log"
}

# What besides packages decides the bytes: the recipe and the code that finishes a tree.
recipe_sum() {
	cat "$HERE/recipes/.base" "$HERE/recipes/$name" "$HERE/finish.sh" "$HERE/finish-end.sh" | sha256sum | cut -d ' ' -f 1
}

write_manifest() {
	python3 "$HERE/lib/manifest.py" "$1" "$work/packages" name="$name" digest="$digest" size="$layer_size" summary="$summary" source=debian \
		suite="$suite" architecture="$arch" epoch="$epoch" env="$env" command="$command" smoke="$smoke" expect="$expect" \
		recipe="$(recipe_sum)" npm="$npm"
}

cmd_build() {
	local name=$1 arch root epoch digest layer_size
	needs apt-get dpkg-deb tar gpgv python3 flock sha256sum numfmt
	read_recipe "$name"
	read_formats
	find_sbxrun
	check_boxes
	arch=$(dpkg --print-architecture)
	store_open "$name"
	open_cache
	choose
	fetch_packages "$work/packages"
	root=$work/out/rootfs
	mkdir -p "$root"
	step "$name: unpacking $(python3 "$HERE/lib/packages.py" lines "$work/packages" | wc -l) packages" unpack || die "$name: could not unpack"
	epoch=$(cat "$work/epoch")
	step "$name: finishing" finish_tree || die "$name: could not finish"
	pack "$work/out" || die "$name: could not write the images"
	write_manifest "$work/out" || die "$name: could not write the manifest"
	store_place "$work/out"
	say "$name@sha256:$digest is in $place ($SECONDS s)"
}
