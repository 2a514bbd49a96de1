#!/bin/bash
# Imitates CVE-2021-43784: the length of a list (id mappings, then anything that is sent between the runtime's processes) wraps, and
# what follows is read as something else, such as another mapping. Escape: the container runs with a map that the config doesn't have.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# N: mappings for N single ids, none of them the host's 0.
_maps() {
	echo "ns(\"user\") | .linux.uidMappings = [range(0; $1) | {containerID: ., hostID: (100000 + .), size: 1}] |
		.linux.gidMappings = .linux.uidMappings"
}

a_long_map_is_taken_whole_or_refused() {
	local n
	# The kernel takes 340 of them, and no more than a page of text.
	for n in 6 200 340 341 1000 2730 2731 5000; do
		bundle 'args(["/bin/cat", "/proc/self/uid_map"])' "$(_maps "$n")"
		chmod 755 "$T" "$B"
		attack
		[ "$n" -gt 200 ] || rc_is 0
		[ "$rc" = 0 ] || { is "$out" ''; continue; }
		[ "$(wc -l <<<"$out")" = "$n" ] || escaped "$n mappings became $(wc -l <<<"$out")"
		[[ ! $out =~ ^[[:space:]]*[0-9]+[[:space:]]+0[[:space:]] ]] || escaped "$n mappings: the host's 0 is in it"
	done
}

long_texts_do_not_run_into_each_other() {
	local len
	for len in 4095 65535 65536 65537 131071; do
		bundle 'sh("echo ${#LONG}; id -u; echo $AFTER")' "env(\"LONG=\" + (\"u\" * $len)) | env(\"AFTER=after\")" \
			'.process.user = {uid: 1000, gid: 1000}'
		attack
		[ "$rc" != 0 ] || [ "$out" = "$len"$'\n1000\nafter' ] || [ "$len" = 131071 ] || escaped "length $len: ${out:0:100}"
		hides "$out" $'\n0\n' "length $len"
	done
}

long_paths_are_refused_or_stay_inside() {
	local len
	mkdir canary
	for len in 255 256 4000 4095 4096 65536; do
		bundle 'sh("true")' "mount({destination: (\"/\" + (\"a/\" * ($len / 2)) + \"../\" * ($len / 2) + \"..\" + \$T + \"/canary/made\"),
			type: \"tmpfs\", source: \"tmpfs\"})" writable
		attack
		untouched canary "$len"
	done
}

run_tests
