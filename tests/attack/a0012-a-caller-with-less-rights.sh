#!/bin/bash
# Imitates CVE-2020-5291 (a setuid helper that can be used and traced), CVE-2017-5985 (acting on a network namespace that the caller
# does not own), CVE-2018-6556 and CVE-2022-47952 (its errors tell which files exist). Escape: a setuid copy of the runtime does
# anything, says different things of files that are there and files that are not, or joins a namespace of root's.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

_USER=4242

# MODE: a copy of the runtime with that mode, in a directory that the user can enter.
_copy() {
	mkdir -p place
	chmod 755 "$T" place
	rm -f place/runtime
	cp "$SBXRUN" place/runtime
	chmod "$1" place/runtime
}

# The user's own bundle and state; the root filesystem is root's.
_user_bundle() {
	bundle 'sh("id -u; touch /made")' "$@"
	mkdir -p user-state
	chown "$_USER" user-state
	chmod 755 "$B"
}

_as_user() {
	run as_user "$_USER" "$T/place/runtime" --root "$T/user-state" "$@"
}

a_setuid_copy_does_nothing() {
	local mode
	for mode in 4755 6755 2755; do
		_copy "$mode"
		_user_bundle
		_as_user run -b "$B" "$ID"
		[ "$rc" != 0 ] || escaped "mode $mode: it ran: $out"
		untouched user-state "mode $mode"
	done
}

# A copy with all the file capabilities that there are: with less it would get nowhere anyway.
_copy_with_capabilities() {
	local all
	needs setcap
	_copy 755
	all=$(all_caps | grep -o 'CAP_[A-Z_]*' | tr '\n' ,)
	setcap "${all%,}+ep" place/runtime
}

a_copy_with_file_capabilities_does_nothing() {
	_copy_with_capabilities
	_user_bundle
	_as_user run -b "$B" "$ID"
	[ "$rc" != 0 ] || escaped "it ran: $out"
	untouched user-state
}

# What the copy says of files that the user can't see.
_is_no_oracle() {
	local path there missing
	mkdir -m 700 secret
	mkdir secret/bundle
	echo '{}' >secret/bundle/config.json
	for path in secret/bundle secret/missing; do
		_as_user run -b "$T/$path" oracle
		printf '%s\n' "$rc${err//$path/}" >"said-${path##*/}"
	done
	slurp there said-bundle
	slurp missing said-missing
	[ "$there" = "$missing" ] || escaped "'$there' or '$missing'"
	for path in secret secret-missing; do
		run as_user "$_USER" "$T/place/runtime" --root "$T/$path" state oracle
		printf '%s\n' "$rc${err//$path/}" >"said-$path"
	done
	slurp there said-secret
	slurp missing said-secret-missing
	[ "$there" = "$missing" ] || escaped "'$there' or '$missing'"
}

a_setuid_copy_is_no_oracle() {
	_copy 4755
	_is_no_oracle
}

a_copy_with_file_capabilities_is_no_oracle() {
	_copy_with_capabilities
	_is_no_oracle
}

a_namespace_of_roots_can_not_be_joined() {
	local kind file
	_copy 755
	for kind in net:network ipc:ipc uts:uts pid:pid mnt:mount cgroup:cgroup; do
		file=/proc/$$/ns/${kind%:*}
		_user_bundle "ns(\"${kind#*:}\"; \"$file\")" 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 4242, size: 1}] |
			.linux.gidMappings = .linux.uidMappings' 'del(.linux.resources, .linux.cgroupsPath)'
		_as_user run -b "$B" "$ID"
		[ "$rc" != 0 ] || escaped "joined root's ${kind#*:} namespace"
	done
}

run_tests
