#!/bin/bash
# Where a mount goes and where it comes from: order, relative paths, missing targets, links in the image.
# Views: v2 mounts_are_made_in_the_order_of_the_list places_in_a_volume_are_made_by_their_names
# Views: v2 links_of_the_image_into_volumes_are_followed the_last_link_of_a_destination_is_followed_inside_the_root
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

mounts_are_made_in_the_order_of_the_list() {
	mkdir one two
	echo 1 >one/file
	echo 2 >two/file
	mkdir two/below
	run_in_box 'cat /m/file; ls /m/below; stat -f -c %T /m/below; cat /n/file; ls -d /n/below 2>/dev/null' \
		'mount({destination: "/m", source: ($T + "/one"), options: ["bind"]})' \
		'mount({destination: "/m", source: ($T + "/two"), options: ["bind"]})' \
		'mount({destination: "/m/below", type: "tmpfs", source: "tmpfs"})' \
		'mount({destination: "/n/below", type: "tmpfs", source: "tmpfs"})' \
		'mount({destination: "/n", source: ($T + "/one"), options: ["bind"]})'
	is "$out" $'2\ntmpfs\n1'
}

a_relative_destination_is_below_the_root() {
	run_in_box 'stat -f -c %T /rel/dest; pwd' '.process.cwd = "/tmp"' \
		'mount({destination: "rel/dest", type: "tmpfs", source: "tmpfs"})'
	rc_is 0
	is "$out" $'tmpfs\n/tmp'
}

dots_in_a_destination_do_not_lead_out_of_the_root() {
	run_in_box 'stat -f -c %T /up; ls /' \
		'mount({destination: "/../../../up", type: "tmpfs", source: "tmpfs"})'
	if [ "$rc" = 0 ]; then
		like "$out" ^tmpfs
	else
		rc_is 1
		like "$err" 'mounts\[7\]'
	fi
	[ ! -e "$T/up" ] || fail 'a directory was made outside the root'
}

a_relative_source_of_a_bind_is_below_the_bundle() {
	bundle 'sh("cat /m/file")' 'mount({destination: "/m", source: "data/dir", options: ["bind"]})'
	mkdir -p "$B/data/dir"
	echo text >"$B/data/dir/file"
	cd /
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" text
}

a_file_is_bound_on_a_file_and_a_missing_file_is_made() {
	echo text >file
	bundle 'sh("cat /etc/there /new/dir/file; test -f /new/dir/file && echo regular")' \
		'mount({destination: "/etc/there", source: ($T + "/file"), options: ["bind"]})' \
		'mount({destination: "/new/dir/file", source: ($T + "/file"), options: ["bind"]})'
	echo old >"$B/rootfs/etc/there"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\ntext\nregular'
	is "$(cat "$B/rootfs/etc/there")" old
}

a_missing_directory_is_made_for_a_directory_and_a_file_system() {
	mkdir src
	run_in_box 'test -d /a/b/c && test -d /d/e && stat -c %a /a /a/b' \
		'mount({destination: "/a/b/c", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/d/e", type: "tmpfs", source: "tmpfs"})'
	rc_is 0
	is "$out" $'755\n755'
}

a_directory_on_a_file_and_a_file_on_a_directory_are_errors() {
	echo text >file
	mkdir dir
	bundle 'mount({destination: "/etc/passwd", source: ($T + "/dir"), options: ["bind"]})'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'mounts\[7\]'
	bundle 'mount({destination: "/etc", source: ($T + "/file"), options: ["bind"]})'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'mounts\[7\]'
}

a_missing_source_is_an_error_that_names_it() {
	run_in_box 'echo started' 'mount({destination: "/m", source: ($T + "/missing"), options: ["bind"]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
	[ ! -e missing ] || fail 'the source was made'
}

a_link_on_the_way_is_followed_inside_the_root() {
	mkdir -p src outside
	echo text >src/file
	bundle 'sh("cat /real/x/file /abs/y/file; readlink /abs")' \
		'mount({destination: "/rel/x", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/abs/y", source: ($T + "/src"), options: ["bind"]})'
	mkdir "$B/rootfs/real" "$B/rootfs/other"
	ln -s real "$B/rootfs/rel"
	ln -s /other "$B/rootfs/abs"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\ntext\n/other'
	[ ! -e /other ] || fail 'a directory was made on the host'
}

the_last_link_of_a_destination_is_followed_inside_the_root() {
	mkdir -p src outside
	echo text >src/file
	bundle 'sh("cat /real/file")' 'mount({destination: "/link", source: ($T + "/src"), options: ["bind"]})'
	mkdir "$B/rootfs/real"
	ln -s ../../../../real "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" text
}

a_link_as_the_source_of_a_bind_is_followed_on_the_host() {
	mkdir src
	echo text >src/file
	ln -s src link
	run_in_box 'cat /m/file' 'mount({destination: "/m", source: ($T + "/link"), options: ["bind"]})'
	rc_is 0
	is "$out" text
}

a_source_may_lie_in_an_earlier_mount_of_the_list() {
	mkdir src src/dir
	echo text >src/dir/file
	bundle 'sh("cat /a/file /b/file; cat /c/file; ls /d; stat -f -c %T /e; ls /f")' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind"]})' \
		'mount({destination: "/a", source: "rootfs/m/dir", options: ["bind"]})' \
		'mount({destination: "/b", source: ($B + "/rootfs/./m//dir/"), options: ["rbind", "ro"]})' \
		'mount({destination: "/c/file", source: ($B + "/rootfs/m/dir/file"), options: ["bind"]})' \
		'mount({destination: "/d", source: ($B + "/rootfs/of-the-image"), options: ["bind"]})' \
		'mount({destination: "/over", type: "tmpfs", source: "tmpfs"})' \
		'mount({destination: "/e", source: ($B + "/rootfs/over"), options: ["bind"]})' \
		'mount({destination: "/f", source: ($B + "/rootfs/m"), options: ["bind"]})'
	mkdir -p "$B/rootfs/of-the-image/x" "$B/rootfs/over/y"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\ntext\ntext\nx\ntmpfs\ndir'
	run_in_box 'echo started' 'mount({destination: "/a", source: ($B + "/rootfs/later"), options: ["bind"]})' \
		'mount({destination: "/later", type: "tmpfs", source: "tmpfs"})'
	rc_is 1
	like "$err" 'mounts\[[0-9]+\].source: open .*/rootfs/later: no such file'
}

# docker and kubernetes: volumes in volumes, files in volumes, a tmpfs over a part of one, under missing names.
places_in_a_volume_are_made_by_their_names() {
	mkdir -p vol inner
	echo text >file
	echo inner >inner/file
	run_in_box 'cat /data/sub/dir/file /data/a/b/file /data/inner/file; stat -f -c %T /data/tmp/over; pwd' \
		'mount({destination: "/data", source: ($T + "/vol"), options: ["rbind"]})' \
		'mount({destination: "/data/sub/dir/file", source: ($T + "/file"), options: ["rbind", "ro"]})' \
		'mount({destination: "/data/a/b", source: ($T + "/inner"), options: ["bind"]})' \
		'mount({destination: "/data/inner", source: ($T + "/inner"), options: ["bind"]})' \
		'mount({destination: "/data/tmp/over", type: "tmpfs", source: "tmpfs"})' '.process.cwd = "/data/desk/dir"'
	rc_is 0
	is "$out" $'text\ninner\ninner\ntmpfs\n/data/desk/dir'
	[ -f vol/sub/dir/file ] && [ -d vol/a/b ] && [ -d vol/desk/dir ] || fail 'they were not made in the volume'
}

# A pod with an emptyDir on /run: the token is mounted below /var/run, and that is a link in most images.
places_in_a_volume_on_run_are_made_by_their_usual_names() {
	mkdir -p vol token
	echo token >token/file
	echo text >file
	bundle 'sh("cat /run/secrets/kubernetes.io/token/file /etc/resolv.conf; pwd -P")' \
		'mount({destination: "/run", source: ($T + "/vol"), options: ["rbind"]})' \
		'mount({destination: "/var/run/secrets/kubernetes.io/token", source: ($T + "/token"), options: ["rbind", "ro"]})' \
		'mount({destination: "/etc/resolv.conf", source: ($T + "/file"), options: ["rbind", "ro"]})' '.process.cwd = "/var/run/desk"'
	ln -s /run "$B/rootfs/var/run"
	ln -s ../run/systemd/resolve/stub-resolv.conf "$B/rootfs/etc/resolv.conf"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'token\ntext\n/run/desk'
	bundle 'sh("cat /run/secrets/token/file")' \
		'mount({destination: "/var/run", source: ($T + "/vol"), options: ["rbind"]})' \
		'mount({destination: "/run/secrets/token", source: ($T + "/token"), options: ["rbind", "ro"]})'
	ln -s ../run "$B/rootfs/var/run"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" token
}

# They are there: nothing has to be made.
links_of_the_image_into_volumes_are_followed() {
	mkdir -p vol/there/dir token
	echo token >token/file
	bundle 'sh("cat /data/there/dir/file; pwd -P")' '.process.cwd = "/link"' \
		'mount({destination: "/data", source: ($T + "/vol"), options: ["rbind"]})' \
		'mount({destination: "/link/dir", source: ($T + "/token"), options: ["rbind"]})'
	ln -s /data/there "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'token\n/data/there'
	bundle 'sh("echo started")' '.process.cwd = "/link/new"' 'mount({destination: "/data", source: ($T + "/vol"), options: ["rbind"]})'
	ln -s /data/there "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'process.cwd: /link/new would be made in the volume on /data, where a link in the image leads: make it there'
}

nothing_may_be_mounted_on_the_root() {
	mkdir src
	run_in_box 'echo started' 'mount({destination: "/", source: ($T + "/src"), options: ["bind"]})'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\]'
}

below_proc_only_the_short_list_may_be_mounted() {
	echo 'faked 1 2 3' >file
	mkdir dir
	run_in_box 'cat /proc/uptime' 'mount({destination: "/proc/uptime", source: ($T + "/file"), options: ["bind"]})'
	rc_is 0
	is "$out" 'faked 1 2 3'
	run_in_box 'echo started' 'mount({destination: "/proc/sys", source: ($T + "/dir"), options: ["bind"]})'
	rc_is 1
	is "$out" ''
	run_in_box 'echo started' '(.mounts[] | select(.destination == "/proc")) = {destination: "/proc", source: ($T + "/dir"), options: ["bind"]}'
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[0\]'
}

host_mounts_are_gone_inside_and_ours_never_appear_outside() {
	mkdir src
	local before after
	slurp before /proc/self/mountinfo
	bundle 'sh("sleep 100")' 'mount({destination: "/m", source: ($T + "/src"), options: ["rbind"]})' \
		'mount({destination: "/n", type: "tmpfs", source: "tmpfs"})'
	sbx run -d -b "$B" "$ID"
	slurp after /proc/self/mountinfo
	is "$after" "$before"
	run cat "/proc/$(pid_of "$ID")/mountinfo"
	unlike "$out" '/b1/rootfs/m'
	# Every mount is below the container's own root: the host's old root is not there.
	while read -r _ _ _ _ dir _; do
		[[ $dir == / || $dir == /@(proc|dev|sys|m|n)* ]] || fail "$dir is left from the host"
	done <<<"$out"
}

# LINK TARGET MADE: a file and a directory are bound on a link of the image that leads nowhere; MADE is what stands there then.
_over_a_dangling_link() {
	echo text >file
	mkdir -p dir
	echo below >dir/file
	bundle "sh(\"cat $1; cat $3; readlink $1; cat $1.d/file $3.d/file\")" \
		"mount({destination: \"$1\", source: (\$T + \"/file\"), options: [\"bind\"]})" \
		"mount({destination: \"$1.d\", source: (\$T + \"/dir\"), options: [\"bind\"]})"
	mkdir -p "$B/rootfs${1%/*}"
	ln -s "$2" "$B/rootfs$1"
	ln -s "$2.d" "$B/rootfs$1.d"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\ntext\n'"$2"$'\nbelow\nbelow'
	[ -f "$B/rootfs$3" ] && [ ! -s "$B/rootfs$3" ] && [ -d "$B/rootfs$3.d" ] || fail "$3 was not made in the image"
}

a_link_that_leads_nowhere_has_its_target_made_inside_the_root() {
	_over_a_dangling_link /etc/resolv.conf ../run/systemd/resolve/stub-resolv.conf /run/systemd/resolve/stub-resolv.conf
	_over_a_dangling_link /etc/resolv.conf /run/"$P"/absolute /run/"$P"/absolute
	_over_a_dangling_link /etc/resolv.conf beside /etc/beside
	_over_a_dangling_link /etc/resolv.conf .//./beside/./there /etc/beside/there
	_over_a_dangling_link /etc/resolv.conf missing/../other /etc/other
	_over_a_dangling_link /etc/resolv.conf missing/too/../../../up /up
	[ ! -e "/run/$P" ] || fail 'something was made on the host'
}

a_link_that_climbs_and_leads_nowhere_stays_inside_the_root() {
	_over_a_dangling_link /etc/deep/er/link "../../../../../../../../../../../../../..$T/made" "$T/made"
	[ ! -e made ] || fail 'something was made on the host'
	_over_a_dangling_link /etc/link "$T/made" "$T/made"
	[ ! -e made ] || fail 'something was made on the host'
}

links_to_links_that_lead_nowhere_are_followed_to_the_end() {
	echo text >file
	bundle 'sh("cat /end/of/it; readlink /etc/one; readlink /var/run")' \
		'mount({destination: "/etc/one", source: ($T + "/file"), options: ["bind"]})' \
		'mount({destination: "/var/run/sub/x", type: "tmpfs", source: "tmpfs"})'
	ln -s ../two "$B/rootfs/etc/one"
	ln -s /var/three "$B/rootfs/two"
	ln -s ../end/of/it "$B/rootfs/var/three"
	ln -s /no/run "$B/rootfs/var/run"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\n../two\n/no/run'
	[ -d "$B/rootfs/no/run/sub/x" ] || fail 'a directory on the way was not made'
}

links_in_a_circle_are_an_error() {
	echo text >file
	bundle 'mount({destination: "/etc/one", source: ($T + "/file"), options: ["bind"]})'
	ln -s two "$B/rootfs/etc/one"
	ln -s one "$B/rootfs/etc/two"
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'mounts\[[0-9]+\].*symbolic links'
}

a_link_through_a_file_is_an_error() {
	echo text >file
	bundle 'mount({destination: "/etc/one", source: ($T + "/file"), options: ["bind"]})'
	ln -s passwd/x "$B/rootfs/etc/one"
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'mounts\[[0-9]+\]'
}

a_working_directory_below_a_link_to_nowhere_is_made() {
	bundle 'sh("pwd; readlink /desk")' '.process.cwd = "/desk/x"'
	ln -s /var/lib/desk "$B/rootfs/desk"
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$out" '^(/var/lib/desk|/desk)/x
/var/lib/desk$'
}

run_tests
