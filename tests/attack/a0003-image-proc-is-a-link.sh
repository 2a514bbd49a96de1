#!/bin/bash
# Imitates CVE-2019-19921, CVE-2023-27561, CVE-2023-28642: the image's /proc or /sys is a link, so that labels, sysctls and masks
# go to files of the attacker's choice. Escape: the container starts, or something is mounted on or written to the canary.
# Views: v2 proc_as_a_link_is_refused a_volume_that_hides_sysctls_is_refused
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_nothing_started() {
	[ "$rc" != 0 ] && [ -z "$out" ] || faked 'it started with something else as /proc or /sys'
}

# NAME LINK
_refused() {
	bundle 'sh("echo started")' '.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
	mkdir -p canary
	rmdir "$B/rootfs/$1"
	ln -s "$2" "$B/rootfs/$1"
	mkdir -p "$B/rootfs/tmp/fake/sys/net/ipv4"
	echo 0 >"$B/rootfs/tmp/fake/sys/net/ipv4/ip_forward"
	attack
	_nothing_started
	untouched canary
	holds "$B/rootfs/tmp/fake/sys/net/ipv4/ip_forward" 0
}

proc_as_a_link_is_refused() {
	_refused proc tmp/fake
	_refused proc "$T/canary"
	_refused proc ../../canary
}

sys_as_a_link_is_refused() {
	_refused sys tmp/fake
	_refused sys "$T/canary"
}

a_directory_bound_on_proc_is_refused() {
	mkdir -p fake/self/attr fake/sys
	bundle 'sh("echo started")' '(.mounts[] | select(.destination == "/proc")) = {destination: "/proc", source: ($T + "/fake"), options: ["bind"]}'
	attack
	_nothing_started
	[ "$(find fake | sort | tr '\n' ' ')" = 'fake fake/self fake/self/attr fake/sys ' ] || escaped 'something was made in it'
}

a_tmpfs_on_proc_is_refused() {
	bundle 'sh("echo started")' 'mount({destination: "/proc", type: "tmpfs", source: "tmpfs"})'
	attack
	_nothing_started
}

a_volume_that_hides_sysctls_is_refused() {
	mkdir -p fake/net/ipv4
	echo 0 >fake/net/ipv4/ip_forward
	bundle 'sh("echo started")' '.linux.sysctl = {"net.ipv4.ip_forward": "1"}' \
		'mount({destination: "/proc/sys", source: ($T + "/fake"), options: ["bind"]})'
	attack
	_nothing_started
	holds fake/net/ipv4/ip_forward 0
}

run_tests
