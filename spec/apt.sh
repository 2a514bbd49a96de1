# shellcheck shell=bash
# Installing with apt, for spec/install-deps and what the tests need. Sourced; runs as root.
#
#	apt_missing PACKAGE…	prints those that are not installed; NAME:ARCH is one of another architecture
#	apt_install PACKAGE…	installs them, with the package lists that are there. If that fails, the lists are absent, or older
#				than the mirror, or the mirror moved or was away for a moment: it reads them anew, and tries again,
#				three times. What apt said comes on stderr if none was of use.
#	apt_again COMMAND…	runs what fetches from a mirror up to three times, until it succeeds

apt_missing() {
	local have package
	# A package of two architectures answers twice.
	# shellcheck disable=SC2016
	have=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ${db:Status-Status}:${Package}:${Architecture} ' "$@" 2>/dev/null || :)"
	for package; do
		[[ $have == *" installed:$package "* ]] || echo "$package"
	done
}

# apt_get ARG…: waits for others who use dpkg, and asks a mirror that does not answer again.
apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Acquire::http::Timeout=60 \
		-o Dpkg::Use-Pty=0 "$@"
}

apt_install() {
	local log try status=1
	log=$(mktemp)
	for try in 0 1 2 3; do
		if [ "$try" != 0 ]; then
			echo "refreshing the package lists${APT_SAID:+ ($APT_SAID)}"
			# A mirror in the middle of its own update is whole again in a moment.
			[ "$try" = 1 ] || sleep $((try * 5))
			apt_get update >>"$log" 2>&1 || { APT_SAID='reading them failed' && continue; }
		fi
		apt_get install -y --no-install-recommends "$@" >>"$log" 2>&1 && status=0 && break
		APT_SAID=$(grep -m 1 '^E: ' "$log" | cut -c 1-200)
	done
	if [ "$status" != 0 ]; then
		cat "$log" >&2
		echo "apt could not install, in four attempts: $*" >&2
		echo "Is the machine's Debian mirror to be reached? 'apt-get update' says. All that is needed can be installed by hand, too." >&2
	fi
	rm -f "$log"
	return "$status"
}

apt_again() {
	local try
	for try in 1 2 3; do
		! "$@" || return 0
		echo "attempt $try of 3 failed: $*; is the Debian mirror to be reached?" >&2
		[ "$try" = 3 ] || sleep $((try * 5))
	done
	return 1
}
