# shellcheck shell=bash
# The programs of the host that are called, and the Debian packages that have them.

package_of() {
	case $1 in
	apt-get) echo apt ;;
	dpkg-deb) echo dpkg ;;
	mkfs.erofs) echo erofs-utils ;;
	gpgv) echo gpgv ;;
	sha256sum | numfmt) echo coreutils ;;
	flock) echo util-linux ;;
	*) echo "$1" ;;
	esac
}

# needs PROGRAM…: names what is missing and what would install it. It installs nothing: that is the administrator's to decide.
needs() {
	local program missing=() packages=()
	PATH=$PATH:/usr/sbin:/sbin
	for program; do
		type -P "$program" >/dev/null && continue
		missing+=("$program")
		packages+=("$(package_of "$program")")
	done
	[ "${#missing[@]}" = 0 ] || die "missing here: ${missing[*]}. On Debian, root installs them with: apt-get install ${packages[*]}"
}
