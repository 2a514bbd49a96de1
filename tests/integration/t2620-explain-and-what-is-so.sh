#!/bin/bash
# explain: its picture of what a program reaches, member by member, against what a program finds inside: under each policy, and "as the config asks"
# under oci, which is the config as written.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/../surface/lib.sh"

# What is there, one thing a line: a word and what it is about. A mask and a read-only path are mounts, too, which nobody writes to; so is each
# device in a user namespace.
INSIDE='
	while read -r _ _ _ _ at options _; do
		case $at in
		/dev/null | /dev/zero | /dev/full | /dev/random | /dev/urandom | /dev/tty | /dev/console) continue ;;
		esac
		echo "mount $at"
		case ,$options, in *,rw,*) echo "writable $at" ;; esac
		case ,$options, in *,nosuid,*) ;; *) echo "suid $at" ;; esac
		case ,$options, in *,nodev,*) ;; *) echo "dev $at" ;; esac
	done </proc/self/mountinfo
	for ns in /proc/self/ns/*; do
		case $ns in *_for_children) ;; *) echo "ns ${ns##*/} $(readlink "$ns")" ;; esac
	done
	find /dev -xdev \( -type c -o -type b \) | sed "s/^/device /"
	for device in null zero full random urandom tty; do
		[ ! -c /dev/$device ] || echo "device /dev/$device"
	done
	sed -n "s/^NoNewPrivs:[^0-9]*/nnp /p; s/^Seccomp:[^0-9]*/seccomp /p; s/^CapBnd:[^0-9a-f]*/caps /p" /proc/self/status'

# POLICY FILTER…: keeps what is inside in the file inside-POLICY.
_look() {
	bundle "args([\"sh\", \"-c\", $(jq -Rs . <<<"$INSIDE")])" "${@:2}"
	run sbx --policy "$1" run -b "$B" "$ID"
	rc_is 0
	is "$err" ''
	rm -f "$T/state/explain:last"
	sort -u <<<"$out" >"inside-$1"
}

# FILE WORD: what is behind it.
_inside() {
	sed -n "s/^$2 //p" "inside-$1" | sort -u
}

# MEMBER (jq, of the object explain.json): a list, one a line.
_told() {
	jq -r "$1 | .[]" explain.json | sort -u
}

# Capabilities by name, without CAP_.
_caps() {
	local n=0 name
	while read -r name; do
		(((0x$1 >> n++) & 1)) && echo "$name"
	done < <(sed -nE 's/^#define CAP_([A-Z_]*)[[:space:]]+[0-9]+$/\1/p' /usr/include/linux/capability.h) | sort
}

# POLICY OBJECT: what explain says of it is what was found.
_is_so() {
	local policy=$1 o=$2 ns word n
	# Beside them there are masks and read-only paths.
	is "$(comm -23 <(_told ".$o.mounts") <(_inside "$policy" mount))" '' "$policy: mounts that are not there"
	is "$(_inside "$policy" writable)" "$(_told ".$o.writable")" "$policy: writable"
	is "$(comm -12 <(_told ".$o.mounts") <(_inside "$policy" suid) | wc -l)" "$(jq ".$o.mountsWithoutNosuid" explain.json)" "$policy: suid"
	is "$(comm -12 <(_told ".$o.mounts") <(_inside "$policy" dev) | wc -l)" "$(jq ".$o.mountsWithoutNodev" explain.json)" "$policy: dev"
	is "$(_inside "$policy" device)" "$(_told ".$o.devices")" "$policy: devices"
	is "$(_inside "$policy" nnp)" "$(jq ".$o.noNewPrivileges | if . then 1 else 0 end" explain.json)" "$policy: no new privileges"
	is "$(_inside "$policy" seccomp)" "$(jq ".$o.filter | if . then 2 else 0 end" explain.json)" "$policy: filter"
	is "$(_caps "$(_inside "$policy" caps)")" "$(jq -r ".$o.capabilities" explain.json | tr ' ' '\n' | grep -vx none | sort)" "$policy: capabilities"
	n=0
	while read -r ns word; do
		case $ns in net) ns=network ;; mnt) ns=mount ;; esac
		if [ "$(readlink "/proc/self/ns/$(sed 's/network/net/; s/mount/mnt/' <<<"$ns")")" = "$word" ]; then
			_told ".$o.hostNamespaces" | grep -qx "$ns" || fail "$policy: $ns is the host's, and explain does not say so"
		else
			_told ".$o.ownNamespaces, .$o.joinedNamespaces" | grep -qx "$ns" || fail "$policy: $ns is not the host's, and explain does not say so"
		fi
		n=$((n + 1))
	done < <(_inside "$policy" ns)
	is "$n" "$(jq ".$o | [.ownNamespaces, .joinedNamespaces, .hostNamespaces] | map(length) | add" explain.json)" "$policy: namespaces"
}

# POLICY FILTER…: under the policy, and as the config asks.
_compare() {
	local policy=$1
	_look oci "${@:2}"
	_look "$policy" "${@:2}"
	sbx --policy "$policy" explain -b "$B" --json >explain.json
	is "$(jq -c .refused explain.json)" '[]'
	_is_so "$policy" reaches
	_is_so oci asAsked
	# The figures of the text are those.
	run sbx --policy "$policy" explain -b "$B"
	like "$out" "devices +$(jq -r '.reaches.devices | join(" ")' explain.json)"
	like "$out" "mounts +$(jq -r '.reaches | "\(.mounts | length), \(.mountsWithoutNosuid) without nosuid, \(.mountsWithoutNodev) without nodev: \(.mounts | join(" "))"' explain.json)"
	like "$out" "writable +$(jq -r '.reaches.writable | if length > 0 then join(" ") else "none" end' explain.json)"
}

what_is_said_of_the_usual_config_is_so() {
	_compare engine
}

what_is_said_of_a_wide_config_is_so() {
	mkdir data
	_compare engine writable 'del(.linux.seccomp)' '.process.noNewPrivileges = false' '.linux.maskedPaths = []' '.linux.readonlyPaths = []' \
		'caps(["CAP_CHOWN", "CAP_NET_RAW", "CAP_MKNOD"])' 'without_ns("cgroup")' \
		'mount({destination: "/data", type: "bind", source: ($T + "/data"), options: ["rbind", "rw"]})' \
		'mount({destination: "/data-ro", type: "bind", source: ($T + "/data"), options: ["rbind", "ro"]})' \
		'mount({destination: "/tmp", type: "tmpfs", source: "tmpfs"})'
}

what_is_said_of_dockers_config_is_so() {
	touch resolv.conf hostname hosts
	_compare engine "$(surface_docker)"
}

what_is_said_of_a_joined_namespace_is_so() {
	needs ip
	unshare -n sleep 1000 &
	wait_until 20 _has_left $! net
	_compare engine "ns(\"network\"; \"/proc/$!/ns/net\")"
	is "$(jq -c .reaches.joinedNamespaces explain.json)" '["network"]'
}

_has_left() {
	[ "$(readlink "/proc/$1/ns/$2")" != "$(readlink "/proc/self/ns/$2")" ]
}

what_is_said_of_code_is_so() {
	_private_ids
	_compare code
}

# Of a container that is there, too, when its bundle is gone.
what_is_said_of_a_container_is_so() {
	_look engine
	bundle 'sh("sleep 1000")'
	sbx --policy engine run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	rm "$B/config.json"
	sbx explain "$ID" --json >explain.json
	_is_so engine reaches
	sbx delete -f "$ID"
}

run_tests
