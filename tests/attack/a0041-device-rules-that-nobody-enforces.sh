#!/bin/bash
# Without cgroups there is nothing that holds a container to its device rules. Escape: a config that denies devices becomes a container
# which can open them, and nobody is told.
# Views: own
# shellcheck disable=SC2016,SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_deny='.linux.resources.devices = [{allow: false, access: "rwm"}]'
# /dev/net/tun, which does nothing for who only opens it; no container is given it.
_node='c 10 200'

_without_cgroups() {
	run sbx --cgroup-manager disabled "$@" run -b "$B" "$ID"
}

a_program_that_may_make_devices_is_refused() {
	bundle "sh(\"mknod /tmp/node $_node && true </tmp/node && echo opened\")" "$_deny" 'caps(["CAP_MKNOD"])' writable
	_without_cgroups
	[ "$rc" != 0 ] && [ -z "$out" ] || escaped "it ran: $out"
	like "$err" 'linux\.resources\.devices: .*CAP_MKNOD'
	bundle 'sh("echo ran")' 'caps(["CAP_MKNOD"])' '.linux.resources.devices = [{allow: true, access: "rwm"}]'
	_without_cgroups
	is "$out" ran 'a config that denies none'
}

rules_that_have_no_effect_are_told_and_refused_by_strict() {
	bundle 'sh("echo ran")' "$_deny"
	_without_cgroups --log "$T/log" --log-level warning
	is "$out" ran
	grep -q 'linux.resources.devices: without effect: ' log || escaped 'nothing was said'
	_without_cgroups --strict
	[ "$rc" != 0 ] && [ -z "$out" ] || escaped 'it ran though it is strict'
	like "$err" '^sbxrun: --strict: .*linux\.resources\.devices'
}

nodes_of_the_image_are_no_devices() {
	bundle "sh(\"true </node && echo opened; true </read-only/node && echo opened there; true </dev/null && echo null\")" "$_deny" \
		'.linux.readonlyPaths += ["/read-only"]'
	mkdir "$B/rootfs/read-only"
	mknod "$B/rootfs/node" $_node
	mknod "$B/rootfs/read-only/node" $_node
	(: <"$B/rootfs/node") || skip 'this kernel has no such device'
	_without_cgroups
	hides "$out" opened
	is "$out" null
}

run_tests
