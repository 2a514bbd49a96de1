#!/bin/bash
# process.cwd: found or made inside the root, never outside.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

the_program_starts_there() {
	run_in_box 'pwd; readlink /proc/1/cwd; true' '.process.cwd = "/var/tmp"'
	rc_is 0
	is "$out" $'/var/tmp\n/var/tmp'
}

what_is_missing_is_made() {
	# Also below a root that is read-only for the container.
	run_in_box 'pwd' '.process.cwd = "/made/by/us"'
	rc_is 0
	is "$out" /made/by/us
	[ -d "$B/rootfs/made/by/us" ] || fail 'not made'
	is "$(stat -c '%a %u %g' "$B/rootfs/made/by")" '755 0 0'
}

it_is_made_below_a_mount() {
	run_in_box 'pwd; df . | tail -n 1' '.process.cwd = "/mnt/a/b"' 'mount({destination: "/mnt", type: "tmpfs", source: "marked"})'
	rc_is 0
	like "$out" $'^/mnt/a/b\nmarked '
	[ ! -e "$B/rootfs/mnt/a" ] || fail 'it was made below the mount'
}

dots_and_slashes_are_resolved() {
	run_in_box 'pwd -P' '.process.cwd = "//var/./tmp/../tmp/"'
	rc_is 0
	is "$out" /var/tmp
}

links_are_followed_inside_the_root() {
	bundle 'sh("pwd -P; cat mark")' '.process.cwd = "/link/sub"'
	mkdir -p "$B/rootfs/real/sub"
	echo inside >"$B/rootfs/real/sub/mark"
	ln -s /real "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'/real/sub\ninside'
}

links_do_not_lead_out_of_the_root() {
	bundle 'sh("cat mark")' '.process.cwd = "/link"'
	mkdir -p "$B/rootfs$T/dir" "$T/dir"
	echo inside >"$B/rootfs$T/dir/mark"
	echo outside >"$T/dir/mark"
	ln -s "../../../../../../../../../..$T/dir" "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" inside
	ln -sfn "$T/dir" "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	is "$out" inside
	# What is missing behind a link is made inside, too.
	ln -sfn "$T/dir/new" "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	[ ! -e "$T/dir/new" ] || fail 'a directory was made outside'
}

a_descriptor_is_no_way_out() {
	local n config
	bundle 'sh("ls -a . ../.. ../../..; cat ../../../etc/hostname")' '.process.cwd = "/link"'
	slurp config "$B/config.json"
	for n in 0 3 4 5 6 7 8 9 10 11 12; do
		echo "${config/\/link//proc/self/fd/$n}" >new
		run sbx run -b "$B" -f "$T/new" "$ID" 3</ 4</ 5</ 6</ 7</ 8</ 9</
		rc_is 1
		is "$out" '' "/proc/self/fd/$n"
	done
	for n in 3 7 9; do
		ln -sfn "/proc/self/fd/$n" "$B/rootfs/link"
		run sbx run -b "$B" "$ID" 3</ 4</ 5</ 6</ 7</ 8</ 9</
		rc_is 1
		is "$out" '' "a link to /proc/self/fd/$n"
	done
	nothing_is_left
}

a_path_through_the_root_of_a_process_is_no_way_out() {
	bundle 'sh("cat mark")' '.process.cwd = "/proc/self/root"'
	echo inside >"$B/rootfs/mark"
	run sbx run -b "$B" "$ID"
	# Refused or harmless.
	[ "$rc" = 1 ] || is "$out" inside
	jq '.process.cwd = "/proc/1/cwd"' "$B/config.json" >new
	run sbx run -b "$B" -f "$T/new" "$ID"
	[ "$rc" = 1 ] || is "$out" inside
}

what_is_not_absolute_is_refused() {
	local filter
	bundle
	for filter in '.process.cwd = "tmp"' '.process.cwd = "../x"' '.process.cwd = ""' 'del(.process.cwd)' '.process.cwd = null' \
		'.process.cwd = 7' '.process.cwd = "/a\u0000b"' '.process.cwd = "/" + "x" * 5000'; do
		jq "$filter" "$B/config.json" >new
		refused 'cwd' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

a_file_is_refused() {
	bundle '.process.cwd = "/etc/passwd"'
	refused 'cwd.*not a directory|not a directory.*cwd' sbx run -b "$B" "$ID"
	nothing_is_left
}

a_directory_of_the_user_alone_can_be_entered() {
	bundle 'sh("pwd; echo >mine && echo written")' writable '.process.cwd = "/home/user" | .process.user = {uid: 1000, gid: 1000}'
	mkdir -p "$B/rootfs/home/user"
	chmod 700 "$B/rootfs/home/user"
	chown 1000:1000 "$B/rootfs/home/user"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'/home/user\nwritten'
}

run_tests
