#!/bin/bash
# Section 3 of our own trials: configs that name the host itself. What sbxrun applies as written is said in spec/threat-model.md; here is
# what it must not do: mix up the host with the container. Escape: a namespace is the host's where the config asks for two answers, the
# root is the host's, or what is read-only can be written.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

a_namespace_named_twice_is_refused() {
	local type file
	for type in network:net pid:pid mount:mnt uts:uts ipc:ipc; do
		file=/proc/$$/ns/${type#*:}
		bundle 'sh("echo ran")' ".linux.namespaces += [{type: \"${type%:*}\", path: \"$file\"}]"
		attack
		[ "$rc" != 0 ] && [ -z "$out" ] || escaped "two answers for ${type%:*}"
	done
}

the_hosts_root_is_no_image() {
	local path
	ln -s / link
	for path in / /. //../ "$T/link"; do
		bundle 'args(["/bin/true"])' ".root.path = \"$path\"" '.root.readonly = true'
		attack
		[ "$rc" != 0 ] || escaped "$path became a container's root"
	done
}

# Host directories that are bound read-only, with everything below them.
a_read_only_bind_can_not_be_written_anywhere_below() {
	mkdir -p host/inner
	mount -t tmpfs tmpfs host/inner
	echo text >host/inner/file
	bundle 'sh("echo attack >/h/inner/file; mount -o remount,rw,bind /h/inner; mount -o remount,rw /h/inner; echo attack >/h/inner/file; true")' \
		'mount({destination: "/h", source: ($T + "/host"), options: ["rbind", "rro"]})' "$(all_caps SYS_ADMIN)"
	attack
	holds host/inner/file text
	umount host/inner
}

# Nothing that is mounted in the container shows on the host, not even on a bind that the host shares.
mounts_do_not_travel_to_the_host() {
	mkdir -p host/dir
	mount --bind host host
	mount --make-shared host
	bundle 'sh("mount -t tmpfs tmpfs /h/dir && : >/h/dir/made; true")' "$(all_caps)" \
		'mount({destination: "/h", source: ($T + "/host"), options: ["rbind"]})' '.linux.maskedPaths = [] | .linux.readonlyPaths = []'
	attack
	[ -z "$(ls -A host/dir)" ] || escaped 'a mount travelled to the host'
	umount host
}

# Without a filter or capabilities in the config there are none: nothing is made up from the caller's.
without_capabilities_in_the_config_there_are_none() {
	bundle 'args(["/bin/grep", "-E", "^Cap(Prm|Eff|Bnd|Amb)", "/proc/self/status"])' 'del(.process.capabilities)' 'del(.linux.seccomp)'
	attack
	[ "$rc" != 0 ] || hides "$out" $'\t''[0-9a-f]*[1-9a-f]'
}

a_fork_bomb_stays_inside() {
	# CVE-2018-19333 and its like bring the sandbox itself down; ours has no kernel of its own, but limits.
	bundle 'sh("i=0; while [ $i -lt 60 ]; do sleep 3 & i=$((i + 1)); done 2>/dev/null; ls -d /proc/[0-9]* | wc -l")' \
		'.linux.resources.pids = {limit: 20}'
	attack
	[ "$rc" != 0 ] || [ "${out##*$'\n'}" -le 20 ] || escaped "$out processes"
}

run_tests
