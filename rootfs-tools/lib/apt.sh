# shellcheck shell=bash
# Which packages a recipe means today: apt is asked, with a state of its own that knows nothing of what this machine has installed.
# The mirror is that of the machine's own apt where the machine is Debian, and so are proxies and the like: they stand in
# /etc/apt/apt.conf.d.

APT_HELPER=/usr/lib/apt/apt-helper

# Sets main_uri and security_uri.
find_mirror() {
	local uri release codename
	main_uri='' security_uri=''
	if [ -n "$opt_mirror" ]; then
		main_uri=${opt_mirror%/}/
		# A full mirror has the security archive beside the main one.
		security_uri=${opt_mirror%/}-security/
		return
	fi
	codename=$(. /etc/os-release && echo "${ID:-} ${VERSION_CODENAME:-}")
	[[ $codename == 'debian '?* ]] || die 'this machine is not Debian: name a Debian mirror with --mirror URL'
	codename=${codename#debian }
	while IFS='|' read -r uri release; do
		case $release in
		"$codename") main_uri=${main_uri:-$uri} ;;
		"$codename-security") security_uri=${security_uri:-$uri} ;;
		esac
	done < <(apt-get indextargets --format "\$(REPO_URI)|\$(RELEASE)" 'Created-By: Packages' 'Component: main')
	[ -n "$main_uri" ] || die "apt of this machine has no source for $codename main: name a Debian mirror with --mirror URL"
}

# The keys for the mirror's signature.
find_keyring() {
	keyring=${opt_keyring:-/usr/share/keyrings/debian-archive-keyring.gpg}
	keyring=$(realpath -m "$keyring")
	[ -f "$keyring" ] || die "no keys at $keyring: install debian-archive-keyring, or name a file with --keyring"
}

# our_apt CMD…: apt-get and the like with a state of their own.
our_apt() {
	# This machine's apt may be told to keep no cache; ours does.
	"$1" -q -o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache='' -o Acquire::GzipIndexes=false -o Dir::State="$apt_state" -o Dir::State::Lists="$apt_state/lists" -o Dir::State::status="$apt_state/status" \
		-o Dir::Cache="$apt_state" -o Dir::Cache::archives="$apt_state/archives" \
		-o Dir::Etc::sourcelist="$apt_state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Install-Recommends=false -o APT::Get::Assume-Yes=true \
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Debug::NoLocking=true "${@:2}"
}

# apt's method "file" hands out links; "copy" copies.
fetchable() {
	case $1 in
	file:*) echo "copy:${1#file:}" ;;
	*) echo "$1" ;;
	esac
}

# mirror_has URI SUITE: not every mirror has updates and security.
mirror_has() {
	"$APT_HELPER" -q download-file "$(fetchable "$1")dists/$2/InRelease" "$work/probe" >/dev/null 2>&1
}

# Prints the sources: the suite, and its updates and security where the mirror has them.
sources() {
	echo "deb [signed-by=$keyring] $main_uri $suite main"
	[ -z "$security_uri" ] || ! mirror_has "$security_uri" "$suite-security" ||
		echo "deb [signed-by=$keyring] $security_uri $suite-security main"
	! mirror_has "$main_uri" "$suite-updates" || echo "deb [signed-by=$keyring] $main_uri $suite-updates main"
}

# Packages that others depend on for the sake of maintainer scripts, which are not run here: apt takes them for installed.
installed() {
	local package
	for package in $omit; do
		printf '%s\n' "Package: $package" 'Status: install ok installed' 'Version: 1:9999' "Architecture: $arch" 'Multi-Arch: foreign' \
			'Maintainer: none' 'Description: none'
		[ "$package" != debconf ] || echo 'Provides: debconf-2.0'
		echo
	done
}

# The lists are kept in the cache, a directory for each set of sources: apt then fetches only what has changed.
open_lists() {
	local text lock
	text=$(sources)
	apt_state=$(cache_dir)/apt/$suite-$(sha256sum <<<"$text" | cut -c 1-16)
	mkdir -p "$apt_state"/{lists,archives}/partial
	exec {lock}>>"$apt_state/.lock"
	flock -w 600 "$lock" || die "$apt_state is locked by another build"
	echo "$text" >"$apt_state/sources.list"
	# apt's cache holds as long as the file is the same.
	installed | cmp -s - "$apt_state/status" || installed >"$apt_state/status"
}

# resolve FILE: writes the packages of the recipe, as the mirror has them now, to FILE.
resolve() {
	find_mirror
	find_keyring
	open_lists
	step "$name: reading what the mirror has" our_apt apt-get -o APT::Update::Error-Mode=any update &&
		step "$name: choosing packages" choose_packages &&
		python3 "$HERE/lib/packages.py" resolve "$work/stanzas" >"$1"
}

choose_packages() {
	local chosen
	# shellcheck disable=SC2086  # lists of words
	our_apt apt-get install --simulate $base_packages $packages >"$work/plan" || return
	mapfile -t chosen < <(sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p' "$work/plan" | sort)
	our_apt apt-cache show "${chosen[@]}" >"$work/stanzas"
}
