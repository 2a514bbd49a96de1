#!/bin/bash
# Idea: a container that is given a private range of ids, and its root, with every capability, tries to be somebody outside: through volumes, whose
# ids are mapped, and through files of the kernel. Escape: what is root's on the host is read, written or made.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"

SBXRUN=$PLAIN_SBXRUN

# CODE FILTER…: root with every capability runs CODE; nothing but its ids holds it back.
_as_root() {
	local BOX_CODE=$1
	shift
	_private_ids
	echo '{"version": 1, "policies": {"p": {"base": "oci", "user-namespace": "always"}}}' >policy.json
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$(all_caps)" '.linux.maskedPaths = [] | .linux.readonlyPaths = []' "$@"
	run sbx --policy "$T/policy.json" run -b "$B" "$ID"
	rc_is 0
}

# A user's directory in which something is root's.
_volume() {
	mkdir volume
	chown 1000:1000 volume
	echo secret >volume/roots
	chmod 600 volume/roots
	install -m 755 /bin/busybox volume/setuid-root
	chmod u+s volume/setuid-root
	VOLUME='mount({destination: "/volume", type: "bind", source: ($T + "/volume"), options: ["rbind", "rw"]})'
}

what_is_roots_in_a_users_volume_stays_roots() {
	_volume
	_as_root 'cat /volume/roots; echo attack >/volume/roots; chmod 666 /volume/roots; chown 0:0 /volume/roots; chmod 777 /volume/setuid-root
		echo attack >>/volume/setuid-root; ln /volume/roots /volume/link; true' "$VOLUME"
	hides "$out" secret
	holds volume/roots secret
	[ "$(stat -c %u:%g:%a volume/roots)" = 0:0:600 ] || escaped "roots is $(stat -c %u:%g:%a volume/roots)"
	[ "$(stat -c %u:%a volume/setuid-root)" = 0:4755 ] || escaped "setuid-root is $(stat -c %u:%a volume/setuid-root)"
	cmp -s volume/setuid-root /bin/busybox || escaped "setuid-root was written to"
}

nothing_that_is_made_in_a_users_volume_is_roots() {
	local id
	_volume
	_as_root 'cp /bin/busybox /volume/own; chmod 4755 /volume/own
		for id in 0 1000 65534 65535; do cp /bin/busybox /volume/id.$id; chown $id:$id /volume/id.$id; chmod 6755 /volume/id.$id; done 2>/dev/null
		mknod /volume/disk b 7 0; mknod /volume/null c 1 3; true' "$VOLUME"
	for id in own id.0 id.1000 id.65534 id.65535; do
		[ ! -e "volume/$id" ] || [ "$(stat -c %u "volume/$id")" != 0 ] || escaped "$id is root's"
		[ ! -e "volume/$id" ] || [ "$(stat -c %g "volume/$id")" != 0 ] || escaped "$id is of root's group"
	done
	[ ! -b volume/disk ] && [ ! -c volume/null ] || escaped "devices were made"
}

# They are opened, not written to.
settings_of_the_kernel_cannot_be_written() {
	local file
	_as_root 'for f in kernel/core_pattern kernel/modprobe kernel/sysrq vm/drop_caches fs/file-max; do
			(: >>/proc/sys/$f) 2>/dev/null && echo "$f"; done; (: >>/proc/sysrq-trigger) 2>/dev/null && echo sysrq-trigger; true'
	file=$out
	[ -z "$file" ] || escaped "opened for writing: ${file//$'\n'/ }"
}

# Where nobody set anything up: an ordinary user has all ids that containers get but the last range, and so files and processes with them.
no_container_has_ids_of_an_ordinary_user() {
	_as_root true
	echo joe:1879048192:268238848 >"$PRIVATE_IDS"
	_as_root 'cat /proc/self/uid_map /proc/self/gid_map'
	[ "$(tr -s ' ' <<<"$out" | sort -u)" = ' 0 2147287040 65536' ] || escaped "the ids are joe's: $out"
}

run_tests
