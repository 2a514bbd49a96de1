#!/bin/bash
# Imitates CVE-2025-31133: the image's /dev/null is a link or a regular file, and masking binds it over what is to be hidden, or
# stdio is re-opened from it. Escape: the secret is readable, the canary is written to, or the fake shows through a mask.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# Puts the fake in place and looks at a masked file.
_run_with_null() {
	echo canary >canary
	echo secret >"$B/rootfs/etc/secret"
	attack
	hides "$out$err" 'secret$|canary'
	holds canary canary
	holds "$B/rootfs/etc/secret" secret
	[ "$rc" != 0 ] || [ "$out" = $'1:3\n1:3' ] || faked "/dev/null and the mask are '$out'"
}

_bundle_with_mask() {
	bundle 'sh("cat /etc/secret; stat -c %t:%T /etc/secret; stat -c %t:%T /dev/null; echo written >/dev/null")' "$NO_DEV" \
		'.linux.maskedPaths = ["/etc/secret"] | .linux.readonlyPaths = []' writable
}

a_link_to_a_host_file_is_not_followed() {
	_bundle_with_mask
	ln -s "$T/canary" "$B/rootfs/dev/null"
	_run_with_null
}

a_link_into_proc_is_not_followed() {
	# A sysctl of the container's own uts namespace: were it written, nothing outside would change.
	_bundle_with_mask
	ln -s /proc/sys/kernel/domainname "$B/rootfs/dev/null"
	_run_with_null
}

a_regular_file_masks_nothing() {
	_bundle_with_mask
	echo fake >"$B/rootfs/dev/null"
	_run_with_null
}

another_device_masks_nothing() {
	_bundle_with_mask
	mknod "$B/rootfs/dev/null" c 1 5
	_run_with_null
}

a_directory_masks_nothing() {
	_bundle_with_mask
	mkdir "$B/rootfs/dev/null"
	_run_with_null
}

closed_stdio_is_not_filled_from_the_image() {
	bundle 'sh("echo text")' "$NO_DEV"
	echo fake >"$B/rootfs/dev/null"
	rc=0
	sbx run -b "$B" "$ID" <&- >&- 2>&- || rc=$?
	[[ $(cat "$B/rootfs/dev/null") =~ ^(fake)?$ ]] || faked 'output went to a file named /dev/null'
}

run_tests
