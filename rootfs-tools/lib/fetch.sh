# shellcheck shell=bash
# Gets packages into the cache, where a file's name is its SHA-256, and out of it. What is in the cache is believed only after its sum
# was taken.

# cached SHA256 SUFFIX: the file in the cache.
cached() { echo "$cache/files/$1$2"; }

open_cache() {
	cache=$(cache_dir)
	mkdir -p "$cache/files"
	# Files that a crash left half written.
	find "$cache/files" -name '*.*.*' -mmin +600 -delete
}

# Whether file $1 has the sum $2.
has_sum() {
	[ -f "$1" ] && [ "$(sha256sum <"$1")" = "$2  -" ]
}

# Where apt puts what it fetches, as a user of its own.
make_fetch_dir() {
	mkdir -p "$work/fetch"
	chmod 755 "$work"
	[ "$EUID" != 0 ] || ! id _apt >/dev/null 2>&1 || chown _apt "$work/fetch"
}

# fetch_all TEXT SUFFIX ADDRESS SHA256 …: fetches pairs into the cache. Sets unfetched to the sums of those that could not be had.
fetch_all() {
	local text=$1 suffix=$2 triples=() sums=() sum file
	shift 2
	make_fetch_dir
	while [ $# != 0 ]; do
		triples+=("$1" "$work/fetch/$2" "SHA256:$2")
		sums+=("$2")
		shift 2
	done
	step_detail() { echo ", $(human "$(du -sb "$work/fetch" | cut -f 1)")"; }
	# Its status does not count: the sums do.
	step "$text" "$APT_HELPER" -q -o Acquire::Retries=3 download-file "${triples[@]}" || :
	step_detail() { :; }
	unfetched=()
	for sum in "${sums[@]}"; do
		file=$(cached "$sum" "$suffix")
		if has_sum "$work/fetch/$sum" "$sum"; then
			mv "$work/fetch/$sum" "$file.$$"
			mv "$file.$$" "$file"
		else
			unfetched+=("$sum")
		fi
	done
	rm -rf "$work/fetch"
	[ "${#unfetched[@]}" = 0 ]
}

# fetch_packages LIST: all packages of LIST are in the cache, or it says which are not.
fetch_packages() {
	local sha size archive path package version total=0 uri wanted=()
	local -A missing=()
	while read -r sha size archive path package version; do
		has_sum "$(cached "$sha" .deb)" "$sha" && continue
		rm -f "$(cached "$sha" .deb)"
		missing[$sha]="$package $version"
		total=$((total + size))
		[ -z "$opt_frozen" ] || continue
		uri=$main_uri
		[ "$archive" = main ] || uri=$security_uri
		wanted+=("$(fetchable "$uri")${path//+/%2b}" "$sha")
	done < <(python3 "$HERE/lib/packages.py" lines "$1")
	[ "${#missing[@]}" != 0 ] || return 0
	if [ -n "$opt_frozen" ]; then
		printf '  %s\n' "${missing[@]}" | sort >&2
		die "$name: --frozen fetches nothing, and these ${#missing[@]} packages are not in the cache $cache"
	fi
	fetch_all "$name: fetching ${#missing[@]} packages, $(human "$total")" .deb "${wanted[@]}" && return
	for sha in "${unfetched[@]}"; do
		printf '  %s\n' "${missing[$sha]}" >&2
	done
	die "$name: these ${#unfetched[@]} packages are neither in the cache $cache nor on the mirror"
}

# fetch_npm: the packages of the npm registry that $npm names are in the cache. The npm client fetches them, or apt does if a registry is
# configured; this file knows none.
fetch_npm() {
	local package version sha file
	while read -r package version sha; do
		file=$(cached "$sha" .tgz)
		has_sum "$file" "$sha" && continue
		rm -f "$file"
		[ -z "$opt_frozen" ] || die "$name: --frozen fetches nothing, and $package $version is not in the cache $cache"
		if type -P npm >/dev/null; then
			step "$name: fetching $package $version" npm_pack "$package" "$version" || die "$name: npm could not fetch $package $version"
			has_sum "$work/npm/$package-$version.tgz" "$sha" || die "$name: $package $version has another content than the recipe says"
			mv "$work/npm/$package-$version.tgz" "$file.$$"
			mv "$file.$$" "$file"
		elif [ -n "${npm_config_registry:-}" ]; then
			fetch_all "$name: fetching $package $version" .tgz "${npm_config_registry%/}/$package/-/$package-$version.tgz" "$sha" ||
				die "$name: $package $version could not be fetched from the registry"
		else
			die "$name: $package $version comes from an npm registry: install npm, or set npm_config_registry to its address"
		fi
	done < <(xargs -n 3 <<<"${npm:-}" | grep .)
}

npm_pack() {
	mkdir -p "$work/npm"
	(cd "$work/npm" && npm pack --silent --ignore-scripts "$1@$2")
}
