#!/bin/bash
# Idea: what covers or closes a place is a mount, and mounts can be taken off, moved, copied without what is on them, and changed, by who
# has rights over mounts: in the container's user namespace, or in one that is made inside. tools/unlocker.c tries every way, with
# detached trees, too. Escape: a read-only bind is written, or what a mask or a mount of the host's covers is seen.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

_USERNS='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
_FEW='caps(["CAP_SETFCAP", "CAP_SETUID", "CAP_SETGID"])'

# The host's: a file, and one that a mount covers.
_source() {
	mkdir src
	mount -t tmpfs -o mode=777 tmpfs src
	install -m 666 /dev/null src/file
	mkdir -m 777 src/sub
	echo hidden >src/sub/hidden
	mount -t tmpfs -o mode=777 tmpfs src/sub
	install -m 666 /dev/null src/sub/file
}

# _closed ARGUMENTS FILTER…: none of the ways of the unlocker works, and all were tried: where a policy gives nobody a namespace, in place.
_closed() {
	local words=$1
	shift
	[[ ${POLICY:-oci} == oci ]] || words="-i $words"
	UNLOCKER=$SBXT_WORK/unlocker.$$
	[ -e "$UNLOCKER" ] || { needs gcc && gcc -O2 -static -o "$UNLOCKER" "$TESTS_DIR/tools/unlocker.c"; } || skip 'no static C library'
	bundle "args([\"/unlocker\"] + (\"$words\" / \" \"))" "$@"
	cp "$UNLOCKER" "$B/rootfs/unlocker"
	mkdir "$B/rootfs/m"
	chmod 755 "$T" "$B" "$B/rootfs"
	run "${RUN:-_run}"
	# Two kinds of binds are refused under code, where there is nothing to attack then: whose times of access are changed, and that are shared.
	[[ ${POLICY:-oci} != code || $rc == 0 || $words != *write* ||
		! $err =~ (is more restricted than that, and a user namespace|policy code refuses mounts that show up outside.*\[propagation\]) ]] || return 0
	[ "$out" = 'done' ] || escaped "$words: ${out//$'\n'/ }"
	rc_is 0
}

_run() {
	sbx run -b "$B" "$ID"
}

_run_without_pivot() {
	sbx run --no-pivot -b "$B" "$ID"
}

# As on a host whose root is the initial ramfs: the kernel refuses pivot_root.
_run_on_a_ramfs() {
	strace -f -o "$T/trace" -e trace=pivot_root -e inject=pivot_root:error=EINVAL "$SBXRUN" --root "$T/state" run --no-pivot -b "$B" "$ID"
}

flags_of_binds_stay_in_the_containers_user_namespace() {
	local options file
	_source
	for options in '["rbind", "rro", "nosuid"]' '["rbind", "rro", "ridmap"]' '["rbind", "rro", "rprivate", "noatime"]' '["rbind", "rro", "rnoatime"]' '["rbind", "rro", "strictatime", "nodiratime"]' '["rbind", "rro", "relatime"]' '["rbind", "rro", "rshared"]'; do
		for file in /m/file /m/sub/file; do
			_closed "write $file" "$_USERNS" "$(all_caps)" "mount({destination: \"/m\", source: (\$T + \"/src\"), options: $options})"
			_closed "-n write $file" "$_USERNS" "$(all_caps)" "mount({destination: \"/m\", source: (\$T + \"/src\"), options: $options})"
		done
	done
	umount -R src
}

flags_of_a_bound_part_stay() {
	_source
	mkdir -m 777 src/dir
	install -m 666 /dev/null src/dir/file
	_closed "write /m/file" "$_USERNS" "$(all_caps)" 'mount({destination: "/m", source: ($T + "/src/dir"), options: ["bind", "ro"]})'
	_closed "-n write /m/file" "$_FEW" 'mount({destination: "/m", source: ($T + "/src/dir"), options: ["bind", "ro"]})'
	umount -R src
}

what_the_host_covers_stays_covered() {
	local options file
	_source
	for options in '["rbind"]' '["rbind", "ro"]' '["rbind", "ridmap"]'; do
		_closed "show /m/sub/hidden /m/sub" "$_USERNS" "$(all_caps)" "mount({destination: \"/m\", source: (\$T + \"/src\"), options: $options})"
		_closed "-n show /m/sub/hidden /m/sub" "$_USERNS" "$(all_caps)" "mount({destination: \"/m\", source: (\$T + \"/src\"), options: $options})"
	done
	_closed "-n show /m/sub/hidden /m/sub" "$_FEW" 'mount({destination: "/m", source: ($T + "/src"), options: ["rbind"]})'
	umount -R src
}

# Binds, read-only paths, the root and masks, in a user namespace that the container makes.
nothing_opens_in_a_nested_user_namespace() {
	local how filter
	_source
	for how in _run _run_without_pivot _run_on_a_ramfs; do
		for filter in "$_FEW" "$_FEW | $_USERNS"; do
			[ $how != _run_on_a_ramfs ] || needs strace
			RUN=$how
			_closed '-n write /m/file' "$filter" 'mount({destination: "/m", source: ($T + "/src"), options: ["rbind", "ro"]})'
			_closed '-n write /proc/sys/kernel/domainname' "$filter"
			_closed '-n write /etc/passwd' "$filter"
			_closed '-n show /etc/passwd' "$filter" '.linux.maskedPaths += ["/etc/passwd"]'
			_closed '-n show /proc/version' "$filter" '.linux.maskedPaths += ["/proc/version"]'
			_closed '-n proc /proc/version' "$filter" '.linux.maskedPaths += ["/proc/version"]'
		done
	done
	umount -R src
}

run_tests
