#!/bin/bash
# Idea: a mask or a read-only path is written in a way that the kernel takes for a directory ("/etc/secret/", "/etc/secret/."), and a file
# is then "not there". Escape: what the config hides can be read, or what it protects can be written.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_SPELLINGS=(/etc/secret/ /etc/secret/. /etc/secret// /etc/secret/./ /etc/secret/.. /etc//secret/ /./etc/secret //etc/secret
	/etc/secret/../secret /etc/passwd/../secret /missing/../etc/secret /etc/../etc/secret/)

masks_hide_files_however_they_are_spelt() {
	local path
	for path in "${_SPELLINGS[@]}"; do
		[ "$path" != /etc/secret/.. ] || continue # that is /etc
		bundle 'sh("cat /etc/secret; true")' ".linux.maskedPaths = [\"$path\"]"
		echo secret >"$B/rootfs/etc/secret"
		attack
		hides "$out" secret "$path"
	done
}

files_are_read_only_however_they_are_spelt() {
	local path
	for path in "${_SPELLINGS[@]}"; do
		bundle 'sh("echo attack >/etc/secret; true")' writable ".linux.maskedPaths = [] | .linux.readonlyPaths = [\"$path\"]"
		echo secret >"$B/rootfs/etc/secret"
		attack
		holds "$B/rootfs/etc/secret" secret "$path"
	done
}

# Below /proc, where they are looked up on the mount.
masks_hide_files_of_proc_however_they_are_spelt() {
	local path
	for path in /proc/version/ /proc/version/. //proc/version /proc/./version/ /proc/meminfo/../version /sys/../proc/version/; do
		bundle 'sh("cat /proc/version; true")' ".linux.maskedPaths = [\"$path\"]"
		attack
		hides "$out" Linux "$path"
	done
}

# Listed twice, or reached by two names, a path is covered once; and what lies below or above is still covered.
paths_are_covered_once() {
	bundle 'sh("cut -d\" \" -f5 /proc/self/mountinfo | grep -E \"^/(etc|v|proc/(version|sys))\" | sort; cat /etc/secret /v/f /etc/link /proc/version; ls /v")' \
		'.linux.maskedPaths = ["/etc/secret", "/etc/secret", "/etc/link", "/etc//secret/", "/v/f", "/v", "/v", "/v/f", "/v/../v", "/proc/version",
			"/proc/../proc/version"] | .linux.readonlyPaths = ["/proc/sys", "/proc/sys", "/proc/sys/", "/proc/sys/kernel", "/v", "/v/f", "/v/../v"]' "$@"
	mkdir "$B/rootfs/v"
	echo secret >"$B/rootfs/v/f"
	echo secret >"$B/rootfs/etc/secret"
	ln -s secret "$B/rootfs/etc/link"
	attack
	hides "$out" 'secret$|Linux'
	is "$out" $'/etc/secret\n/proc/sys\n/proc/version\n/v\n/v\n/v/f'
}

paths_are_covered_once_in_a_user_namespace() {
	paths_are_covered_once 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
}

# Whatever it is, it is the null device afterwards, or stays what it is and can not be changed.
files_of_every_kind_are_covered() {
	bundle 'sh("stat -c %t:%T /p /s /dev/zero /link; chmod 600 /p2; echo x >/p3; chmod 600 /dev/full; stat -c %a /p2 /dev/full; stat -c %F /p2 /s2")' writable \
		'.linux.maskedPaths = ["/p", "/s", "/dev/zero", "/link"] | .linux.readonlyPaths = ["/p2", "/s2", "/dev/full"]'
	needs python3
	mkfifo -m 644 "$B/rootfs/p" "$B/rootfs/p2"
	(cd "$B/rootfs" && python3 -c 'import socket; [socket.socket(socket.AF_UNIX).bind(n) for n in ("s", "s2")]')
	ln -s dev/zero "$B/rootfs/link"
	attack
	[ "$out" = $'1:3\n1:3\n1:3\n0:0\n644\n666\nfifo\nsocket' ] || faked "${out//$'\n'/ }"
}

the_root_is_not_covered() {
	local path
	for path in / /.. // /proc/.. /link; do
		bundle ".linux.maskedPaths = [\"$path\"]"
		ln -s / "$B/rootfs/link"
		attack
		[ "$rc" = 1 ] || faked "$path: a mask that covers nothing"
		like "$err" 'maskedPaths.*root.readonly'
	done
}

run_tests
