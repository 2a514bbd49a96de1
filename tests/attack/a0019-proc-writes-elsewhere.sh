#!/bin/bash
# Imitates CVE-2025-52881, CVE-2025-62596 and CVE-2019-16884: what the runtime writes to /proc (sysctls, labels, oom_score_adj, maps) is
# led to another file, a real one of procfs at best. Escape: another sysctl than the one that was named is written, or a file of the
# volume. The sysctls are those of the container's own namespaces.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_sysctl='.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
_see='sh("cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/ip_default_ttl /proc/sys/kernel/domainname /proc/self/oom_score_adj; true")'

# A container that runs all the same must have the value where it belongs.
_written_where_it_belongs() {
	[ "$rc" != 0 ] || [ "$out" = $'1\n64\n(none)\n7' ] || escaped "${out//$'\n'/ }${1:+ ($1)}"
}

# Places below /proc that a volume or another procfs file is put on.
nothing_can_be_put_on_what_is_written() {
	local place source
	mkdir -p fake/net/ipv4 fake/attr
	echo 0 >fake/net/ipv4/ip_forward
	echo 0 >fake/oom_score_adj
	for place in /proc/sys /proc/sys/net /proc/sys/net/ipv4 /proc/self /proc/self/attr /proc/self/oom_score_adj /proc/1 \
		/proc/thread-self /proc/sys/net/ipv4/ip_forward /proc/../proc/sys/net //proc//sys /tmp/../proc/sys; do
		for source in "$T/fake" "$T/fake/oom_score_adj" /proc/sys/kernel/domainname; do
			bundle "$_see" "$_sysctl" '.process.oomScoreAdj = 7' \
				"mount({destination: \"$place\", source: \"$source\", options: [\"bind\"]})"
			attack
			_written_where_it_belongs "$source on $place"
			holds fake/net/ipv4/ip_forward 0 "$place"
			holds fake/oom_score_adj 0 "$place"
		done
	done
}

# The image's links lead from an innocent name into /proc.
links_of_the_image_do_not_lead_into_proc() {
	local link
	mkdir -p fake/net/ipv4
	echo 0 >fake/net/ipv4/ip_forward
	for link in proc/sys /proc/sys ../../../../../proc/sys proc/self proc; do
		bundle "$_see" "$_sysctl" '.process.oomScoreAdj = 7' 'mount({destination: "/data", source: ($T + "/fake"), options: ["bind"]})'
		ln -s "$link" "$B/rootfs/data"
		attack
		_written_where_it_belongs "$link"
		holds fake/net/ipv4/ip_forward 0 "$link"
	done
}

# A second procfs or a part of the host's, bound where the container's own should be.
another_procfs_is_not_written_to() {
	local options
	for options in bind rbind; do
		bundle 'sh("echo ran")' "$_sysctl" '.process.oomScoreAdj = 7' \
			"unmount(\"/proc\") | mount({destination: \"/proc\", source: \"/proc/sys\", options: [\"$options\", \"ro\"]})"
		attack
		[ "$rc" != 0 ] || escaped "/proc is a part of another ($out)"
	done
}

keys_do_not_climb() {
	local key
	for key in net/../kernel/domainname net.ipv4.../../kernel.domainname net.ipv4/../../kernel/domainname ../kernel/domainname \
		net.ipv4.ip_forward/../ip_default_ttl; do
		bundle "$_see" ".linux.sysctl = {\"$key\": \"1\"}" '.process.oomScoreAdj = 7' 'ns("uts")'
		attack
		[ "$rc" != 0 ] || [ "$out" = $'0\n64\n(none)\n7' ] || escaped "$key: ${out//$'\n'/ }"
	done
}

# Those of the host have no namespace: a container must not set them.
sysctls_of_the_host_are_refused() {
	local key before
	for key in kernel.core_pattern kernel.sysrq vm.drop_caches kernel.modprobe fs.suid_dumpable kernel.randomize_va_space; do
		before=$(cat "/proc/sys/${key//.//}" 2>/dev/null || :)
		# What is there already: a runtime that falls for it changes nothing.
		bundle 'sh("echo started")' ".linux.sysctl = {\"$key\": $(jq -n --arg v "${before:-0}" '$v')}"
		[ "$key" != vm.drop_caches ] || jq '.linux.sysctl["vm.drop_caches"] = "none"' "$B/config.json" >new
		[ ! -e new ] || mv new "$B/config.json"
		attack
		[ "$rc" != 0 ] || escaped "$key was written"
	done
}

run_tests
