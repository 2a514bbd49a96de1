#!/bin/bash
# Idea: a bind that maps ids is cloned by the runtime's parent, outside of the container's user namespace, and its read-only, nosuid and
# nodev flags are then not locked: root inside with CAP_SYS_ADMIN takes them off. Escape: what the host or the config has read-only is written.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

_USERNS='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings'

# The host's: OPTIONS of a tmpfs with one below it, all its files root's.
_source() {
	mkdir src
	mount -t tmpfs -o mode=777 tmpfs src
	mkdir -m 777 src/sub
	mount -t tmpfs -o mode=777 tmpfs src/sub
	install -m 666 /dev/null src/file
	install -m 666 /dev/null src/sub/file
	mount -o "remount,bind,$1" src/sub
	mount -o "remount,bind,$1" src
}

# MOUNT OPTIONS…: jq of the bind; the flags of the mount and what became of the files.
_take_flags_off() {
	bundle 'sh("for m in /m /m/sub; do mount -o remount,bind,rw,suid,dev,exec $m; mount -o remount,bind,rw $m; echo attack >$m/file; done 2>/dev/null;
		grep \" /m\" /proc/self/mountinfo | cut -d\" \" -f6")' "$_USERNS" "$(all_caps)" \
		"mount({destination: \"/m\", source: (\$T + \"/src\"), options: $1})"
	mkdir "$B/rootfs/m"
	attack
	if [[ $err == *'idmapped mounts'* ]]; then
		umount -R src
		skip 'this kernel can not map the ids of a tmpfs'
	fi
	rc_is 0
	holds src/file '' "$1"
	holds src/sub/file '' "$1"
}

flags_of_the_host_stay() {
	local options
	_source ro,nosuid,nodev,noexec
	for options in '["rbind", "ridmap"]' '["rbind", "idmap"]' '["rbind"]'; do
		_take_flags_off "$options"
		[ "$(grep -cE '^ro,nosuid,nodev,noexec' <<<"$out")" = 2 ] || escaped "the mounts are '$out' ($options)"
	done
	umount -R src
}

flags_of_the_config_stay() {
	_source rw
	_take_flags_off '["rbind", "ridmap", "rro", "rnosuid", "rnodev"]'
	[ "$(grep -cE '^ro,nosuid,nodev' <<<"$out")" = 2 ] || escaped "the mounts are '$out'"
	umount -R src
}

flags_of_the_config_stay_without_a_mapping() {
	_source rw
	_take_flags_off '["rbind", "rro", "rnosuid", "rnodev"]'
	[ "$(grep -cE '^ro,nosuid,nodev' <<<"$out")" = 2 ] || escaped "the mounts are '$out'"
	umount -R src
}

flags_stay_in_a_user_namespace_that_is_joined() {
	_source ro,nosuid,nodev
	bundle 'sh("sleep 100")' "$_USERNS"
	sbx run -d -b "$B" "$ID"
	_USERNS="ns(\"user\"; \"/proc/$(pid_of "$ID")/ns/user\")"
	_maps='uidMappings: [{containerID: 0, hostID: 100000, size: 1000}], gidMappings: [{containerID: 0, hostID: 100000, size: 1000}]'
	_take_flags_off "[\"rbind\", \"ridmap\"], $_maps"
	[ "$(grep -cE '^ro,nosuid,nodev' <<<"$out")" = 2 ] || escaped "the mounts are '$out'"
	umount -R src
}

# What root reaches by its rights alone is bound outside of the user namespace, too.
flags_of_a_source_below_a_closed_directory_stay() {
	mkdir closed
	cd closed
	_source ro,nosuid,nodev,noexec
	cd ..
	ln -s closed/src src
	chown 1234 closed
	chmod 700 closed
	_take_flags_off '["rbind"]'
	[ "$(grep -cE '^ro,nosuid,nodev,noexec' <<<"$out")" = 2 ] || escaped "the mounts are '$out'"
	umount -R closed/src
}

# Binds of one place do not get into each other's way, and the root is the root.
each_bind_is_itself() {
	_source rw
	bundle 'sh("stat -c %u /a/file /b/file /c/file /c/sub/file; cat /f; echo x >/a/new; ls /m; pwd")' "$_USERNS" writable \
		'mount({destination: "/a", source: ($T + "/src"), options: ["rbind", "ridmap"]})' \
		'mount({destination: "/b", source: ($T + "/src"), options: ["rbind"]})' \
		'mount({destination: "/c", source: ($T + "/src"), options: ["rbind", "idmap"]})' \
		'mount({destination: "/f", source: ($T + "/src/one"), options: ["bind", "idmap", "ro"]})'
	echo one >src/one
	mkdir "$B"/rootfs/{a,b,c,m}
	touch "$B"/rootfs/{f,m/there}
	attack
	is "$out" $'0\n65534\n0\n65534\none\nthere\n/'
	is "$(stat -c %u src/new)" 0
	umount -R src
}

# What else the options say of a bind is so, too.
a_bind_that_maps_ids_is_propagated_as_the_config_says() {
	local row
	_source rw
	mount --make-shared src
	for row in 'unbindable unbindable' 'rshared shared:' 'rslave master:' 'rprivate -' 'noatime noatime' 'strictatime rw,idmapped'; do
		bundle 'sh("grep \" /m \" /proc/self/mountinfo | cut -d\" \" -f6,7")' "$_USERNS" \
			"mount({destination: \"/m\", source: (\$T + \"/src\"), options: [\"bind\", \"idmap\", \"${row% *}\"]})"
		mkdir "$B/rootfs/m"
		run sbx run -b "$B" "$ID"
		if [[ $err == *'idmapped mounts'* ]]; then
			umount -R src
			skip 'this kernel can not map the ids of a tmpfs'
		fi
		like "$out" "${row#* }" "$row"
	done
	umount -R src
}

run_tests
