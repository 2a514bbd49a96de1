#!/bin/bash
# linux.maskedPaths and linux.readonlyPaths.
# Views: v2 masks_follow_mounts a_masked_directory_is_empty_and_read_only a_read_only_path_keeps_the_other_flags_of_its_mount
# Views: v2 the_default_paths_hold
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

_no_paths='.linux.maskedPaths = [] | .linux.readonlyPaths = []'

a_masked_file_reads_as_empty() {
	bundle 'sh("cat /etc/secret; stat -c %t:%T /etc/secret; cat /proc/version; echo x >/etc/secret; :")' "$_no_paths" writable \
		'.linux.maskedPaths = ["/etc/secret", "/proc/version"]'
	echo text >"$B/rootfs/etc/secret"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" '1:3'
	is "$(cat "$B/rootfs/etc/secret")" text
}

a_masked_directory_is_empty_and_read_only() {
	bundle 'sh("cat /proc/self/mountinfo; echo --; ls -A /secret; touch /secret/x || echo refused")' "$_no_paths" writable \
		'.linux.maskedPaths = ["/secret"]'
	mkdir "$B/rootfs/secret"
	touch "$B/rootfs/secret/file"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "${out#*--}" $'\nrefused'
	read_mountinfo "$out"
	is "${MOUNT_TYPE[/secret]}" tmpfs
	mount_has /secret ro
	[ -e "$B/rootfs/secret/file" ] || fail 'the file is gone'
}

missing_paths_are_passed_over() {
	run_in_box 'echo started; ls /missing /etc/missing 2>/dev/null; :' "$_no_paths" \
		'.linux.maskedPaths = ["/missing", "/etc/missing", "/etc/passwd/below", "/proc/missing"]' \
		'.linux.readonlyPaths = ["/missing/too"]'
	rc_is 0
	is "$out" started
}

a_relative_path_is_an_error() {
	run_in_box 'echo started' '.linux.maskedPaths += ["proc/kcore"]'
	rc_is 1
	is "$out" ''
	like "$err" maskedPaths
	run_in_box 'echo started' '.linux.readonlyPaths += ["proc/sys"]'
	rc_is 1
	is "$out" ''
	like "$err" readonlyPaths
}

masks_follow_mounts() {
	mkdir src
	echo text >src/file
	run_in_box 'cat /m/file' "$_no_paths" '.linux.maskedPaths = ["/m/file"]' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind"]})'
	rc_is 0
	is "$out" ''
	is "$(cat src/file)" text
}

a_mask_stays_inside_the_root_when_the_image_has_a_link() {
	mkdir outside
	echo text >outside/file
	bundle 'sh("cat /inner/file; readlink /link")' "$_no_paths" ".linux.maskedPaths = [\"/link\", \"$T/outside/file\"]"
	mkdir "$B/rootfs/inner"
	echo inner >"$B/rootfs/inner/file"
	ln -s ../../../../../inner/file "$B/rootfs/link"
	run sbx run -b "$B" "$ID"
	rc_is 0
	unlike "$out" text
	is "$(cat outside/file)" text
}

a_read_only_path_can_be_read_but_not_written() {
	bundle 'sh("cat /ro/file; touch /ro/x || echo refused; echo y >>/etc/ro || echo refused; cat /etc/ro; touch /rw")' \
		"$_no_paths" writable '.linux.readonlyPaths = ["/ro", "/etc/ro"]'
	mkdir "$B/rootfs/ro"
	echo text >"$B/rootfs/ro/file"
	echo file >"$B/rootfs/etc/ro"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\nrefused\nrefused\nfile'
}

a_read_only_path_keeps_the_other_flags_of_its_mount() {
	mkdir src
	run_in_box 'cat /proc/self/mountinfo; touch /m/x || echo refused' "$_no_paths" \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind", "nosuid", "nodev", "noexec"]})' \
		'.linux.readonlyPaths = ["/m"]'
	like "$out" $'\nrefused$'
	read_mountinfo "$out"
	mount_has /m ro nosuid nodev noexec
}

the_default_paths_hold() {
	run_in_box 'cat /proc/self/mountinfo; echo --
		for f in /proc/kcore /proc/keys /proc/timer_list /proc/sysrq-trigger; do
			[ ! -e $f ] || { : 3<$f; wc -c <$f; }; done
		ls -A /proc/acpi /proc/scsi /sys/firmware 2>/dev/null | grep -v : | grep .
		echo 1 >/proc/sys/kernel/domainname || echo refused' \
		'caps(["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE"])' '.linux.readonlyPaths |= map(select(. != "/proc/sysrq-trigger"))' \
		'.linux.maskedPaths += ["/proc/sysrq-trigger"]'
	unlike "${out#*--}" '[1-9]'
	like "$out" $'refused$'
	read_mountinfo "$out"
	mount_has /proc/sys ro
}

run_tests
