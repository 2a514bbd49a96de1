#!/bin/bash
# sbxrun do: numbers that options and presets give, as the kernel has them.
# Views: v2 processors_are_a_quota_and_as_many_as_it_needs
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

# _quota PID: of its cgroup, in thousandths of a processor.
_quota() {
	local line controllers path quota period
	while IFS=: read -r _ controllers path; do
		case ,$controllers, in
		*,cpu,*)
			line=${CGROUP_MOUNTS[cpu]}$path
			quota=$(cat "$line/cpu.cfs_quota_us") period=$(cat "$line/cpu.cfs_period_us")
			;;
		,,)
			line=${CGROUP_MOUNTS[unified]:-}$path/cpu.max
			[ -z "${quota:-}" ] && [ -e "$line" ] || continue
			read -r quota period <"$line"
			;;
		esac
	done <"/proc/$1/cgroup"
	echo $((quota * 1000 / period))
}
# How many processors a process may be on.
_processors() { python3 -c 'import os, sys; print(len(os.sched_getaffinity(int(sys.argv[1]))))' "$1"; }

# Whoever asks for more than the machine has is held by the quota alone.
processors_are_a_quota_and_as_many_as_it_needs() {
	local cpus want all pid
	needs python3
	do_has_limits
	all=$(_processors $$)
	for cpus in 0.25:250:1 1.5:1500:2 2:2000:2; do
		IFS=: read -r cpus quota want <<<"$cpus"
		[ "$want" -le "$all" ] || want=$all
		: >up
		"$SBXRUN" --root "$T/state" "do" --rootfs "$B/rootfs" --cpus "$cpus" -- sh -c 'echo up; exec sleep 1000' >up &
		wait_until 20 grep -q up up
		pid=$(pgrep -P "$(pid_of "$(sbx list -q)")" -x sleep)
		is "$(_quota "$pid")" "$quota" "--cpus $cpus"
		is "$(_processors "$pid")" "$want" "--cpus $cpus"
		kill $!
		wait $! || :
	done
}

# The documents' own numbers: NAME memory cpus pids seconds disk tmpfs output open-files, and the processor's seconds where it has some.
_presets='
default 536870912 1.000 64 30.000 268435456 67108864 1048576 1024 -
judge 268435456 1.000 16 10.000 134217728 67108864 16777216 256 2.000
harombe 536870912 0.500 64 30.000 1073741824 67108864 1048576 1024 -
openmanus 536870912 1.000 64 300.000 268435456 67108864 1048576 1024 -
lesson 134217728 0.500 50 30.000 67108864 67108864 10000 1024 -
pure 134217728 1.000 4 10.000 67108864 1048576 1048576 64 -
research 4294967296 2.000 100 3600.000 268435456 536870912 16777216 4096 -'

every_preset_has_its_numbers() {
	local name numbers
	while read -r name numbers; do
		[ -n "$name" ] || continue
		do_bundle
		run sbx "do" --rootfs "$B/rootfs" --preset "$name" --explain --json -- true
		rc_is 0
		is "$(do_of '.box.limits | [.memory, .cpus, .pids, .timeout_s, .disk, .tmpfs, .output, .open_files, .cpu_time_s] | map(.value? // "-" | tostring) | join(" ")')" \
			"$(jq -rn --arg n "$numbers" '$n | split(" ") | map(tonumber? // "-" | tostring) | join(" ")')" "$name"
	done <<<"$_presets"
	# And there is no other.
	run sbx "do" --preset nosuch -- true
	rc_is 125
	is "$(sed 's/.*there are \(.*\))$/\1/; s/, /\n/g' <<<"$err" | sort)" "$(awk 'NF { print $1 }' <<<"$_presets" | sort)"
}

# Where no disk of that size can be had, a box that stays has what fits into memory, and says so; whoever asks for it by name has it or has no box.
a_presets_disk_gives_way_in_a_box_that_stays() {
	local box no_maker="mount --bind /dev/null /dev/loop-control; exec \"\$@\""
	do_bundle
	[ -e /dev/loop-control ] || skip 'no loop devices here'
	export SBXRUN_DISK_DIR=$T/disks
	run sbx "do" --rootfs "$B/rootfs" --preset harombe --json -- true
	is "$(do_of '.disk_backing, .limits.disk, .status')" $'disk\n1073741824\nok'
	run unshare -m sh -c "$no_maker" sh "$SBXRUN" --root "$T/state" box create --rootfs "$B/rootfs" --preset harombe --id "$P-less"
	rc_is 0
	like "$err" '--preset: the workspace lies in memory and has 256 MB, since: '
	run sbx box exec --json "$P-less" -- true
	is "$(do_of '.disk_backing, .limits.disk')" $'memory\n268435456'
	sbx box destroy "$P-less"
	for box in '--disk 1g' '--preset harombe --disk 1g' '--preset harombe --strict-limits'; do
		# shellcheck disable=SC2086
		run unshare -m sh -c "$no_maker" sh "$SBXRUN" --root "$T/state" box create --rootfs "$B/rootfs" $box
		rc_is 125
		like "$err" 'half of --memory can lie in memory'
	done
}

# HOME, LANG and PATH; what --env gives replaces them.
the_environment_is_exactly_this() {
	SECRET=x do_shell 'tr "\0" "\n" </proc/$$/environ | sort'
	is "$(do_of .stdout)" $'HOME=/workspace\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin'
	do_shell -e LANG=C -e A= 'tr "\0" "\n" </proc/$$/environ | sort'
	like "$(do_of .stdout)" $'^A=\nHOME=/workspace\nLANG=C\nPATH='
}

options_that_ask_for_what_is_so_already() {
	do_shell --network none 'grep -c : /proc/self/net/dev'
	is "$(do_of '.status, .stdout, .limits.network')" $'ok\n1\n\nnone'
	run sbx "do" --network none --allow example.org -- true
	rc_is 125
	like "$err" 'contradict each other'
	run sbx "do" --read-only -- true
	rc_is 125
	like "$err" '--read-only \(a box is that strict already, .* leave it out\)'
	do_shell '(: >/x) 2>&1'
	like "$(do_of .stdout)" 'Read-only file system'
}

# What programs of the host need besides /usr, as the host has it and to read.
the_hosts_alternatives_libraries_and_certificates_are_there() {
	local file n=0
	export SBXRUN_ROOTFS_DIR=$T/library
	for file in /etc/ld.so.cache /etc/ssl/certs/ca-certificates.crt; do
		[ -s "$file" ] || continue
		n=$((n + 1))
		run sbx "do" --rootfs host -- sh -c "sha256sum <$file; (: >>$file) 2>/dev/null || echo closed"
		is "$out" "$(sha256sum <"$file")"$'\nclosed'
	done
	[ "$n" -gt 0 ] || skip 'this host has neither'
	[ ! -d /etc/alternatives ] || {
		run sbx "do" --rootfs host -- ls /etc/alternatives
		is "$out" "$(ls /etc/alternatives)"
	}
	run sbx "do" --rootfs host -- sh -c 'cat /etc/passwd; ls /etc'
	unlike "$out" $'\n(shadow|fstab|machine-id)(\n|$)'
	like "$out" $'^root:x:0:0:[^\n]*\nnobody:x:65534:65534:[^\n]*\n'
}

run_tests
