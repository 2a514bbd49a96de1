# shellcheck shell=bash
# Debian trees, for families of tests that want other programs than this machine's. Sourced.
#
#	debian_tree SUITE DIR OPTION…	makes one in DIR by mmdebstrap, without recommended packages. A mirror may move, or be away
#					for a moment: it is tried three times. A test's own network has no mirror at all.
#	"${lean_tree[@]}"		OPTIONs: without manuals, translations and documents, also of what is installed later

# shellcheck disable=SC2034
lean_tree=(--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*')

debian_tree() {
	local suite=$1 dir=$2 try mode=auto
	shift 2
	[ "$EUID" != 0 ] || mode=root
	for try in 1 2 3; do
		rm -rf --one-file-system "$dir"
		mmdebstrap --quiet --mode="$mode" --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
			--aptopt='Acquire::Retries "3"' --aptopt='Acquire::http::Timeout "60"' --aptopt='APT::Install-Recommends "false"' \
			--dpkgopt=force-unsafe-io "$@" "$suite" "$dir" </dev/null && return
		echo "attempt $try of 3: mmdebstrap made no tree of $suite; is the Debian mirror to be reached?" >&2
		[ "$try" = 3 ] || sleep $((try * 5))
	done
	rm -rf --one-file-system "$dir"
	return 1
}
