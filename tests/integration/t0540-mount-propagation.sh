#!/bin/bash
# Propagation of binds and of the root, in the mount table and by really mounting on either side.
# Views: v2 mounts_cross_only_where_the_word_lets_them rootfs_propagation_lets_no_mount_out
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

# Word | what the table says of the mount | what it says of the one below | the host's mounts come in | ours go out
ROWS=(
	'private|^$|.|no|no'
	'slave|^master:[0-9]+$|.|yes|no'
	'shared|^shared:[0-9]+|.|yes|yes'
	'unbindable|^unbindable$|.|no|no'
	'rprivate|^$|^$|no|no'
	'rslave|^master:[0-9]+$|^master:[0-9]+$|yes|no'
	'rshared|^shared:[0-9]+|^shared:[0-9]+|yes|yes'
	'runbindable|^unbindable$|^unbindable$|no|no'
)

_start_with_binds() {
	local i list=()
	mkdir src
	mount -t tmpfs tmpfs src
	mount --make-shared src
	for i in "${!ROWS[@]}"; do
		mkdir -p "src/$i"/{sub,in,out}
		mount -t tmpfs tmpfs "src/$i/sub"
		mount --make-shared "src/$i/sub"
		list+=("{destination: \"/m/$i\", source: \"$T/src/$i\", options: [\"rbind\", \"${ROWS[i]%%|*}\"]}")
	done
	bundle 'sh("sleep 100")' ".mounts += [$(IFS=, && echo "${list[*]}")]" "$@"
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
}

the_words_show_in_the_mount_table() {
	local i row top below pid
	_start_with_binds
	run cat "/proc/$pid/mountinfo"
	read_mountinfo "$out"
	for i in "${!ROWS[@]}"; do
		IFS='|' read -r row top below _ <<<"${ROWS[i]}"
		like "${MOUNT_PEERS["/m/$i"]}" "$top" "$row"
		[ "$below" = . ] || like "${MOUNT_PEERS["/m/$i/sub"]}" "$below" "$row, below"
	done
	sbx delete -f "$ID"
	umount -R src
}

mounts_cross_only_where_the_word_lets_them() {
	local i row in out_ pid
	# Engines ask for both when mounts are to go out: the bind's word and the root's.
	_start_with_binds '.linux.rootfsPropagation = "rshared"'
	for i in "${!ROWS[@]}"; do
		mount -t tmpfs from-host "src/$i/in"
		nsenter -t "$pid" -m /bin/mount -t tmpfs from-box "/m/$i/out"
	done
	run cat "/proc/$pid/mountinfo"
	read_mountinfo "$out"
	for i in "${!ROWS[@]}"; do
		IFS='|' read -r row _ _ in out_ <<<"${ROWS[i]}"
		is "$([ -z "${MOUNT_TYPE["/m/$i/in"]:-}" ] && echo no || echo yes)" "$in" "$row: from the host"
		is "$(grep -q " $T/src/$i/out .* from-box " /proc/self/mountinfo && echo yes || echo no)" "$out_" "$row: to the host"
	done
	sbx delete -f "$ID"
	umount -R src
}

a_bind_without_a_word_lets_no_mount_out() {
	mkdir src
	mount -t tmpfs tmpfs src
	mount --make-shared src
	mkdir src/out
	bundle 'sh("sleep 100")' 'mount({destination: "/m", source: ($T + "/src"), options: ["rbind"]})'
	sbx run -d -b "$B" "$ID"
	nsenter -t "$(pid_of "$ID")" -m /bin/mount -t tmpfs from-box /m/out
	! grep -q from-box /proc/self/mountinfo || fail 'the mount is on the host'
	sbx delete -f "$ID"
	umount -R src
}

_root_is() {
	local word=$1 want=$2
	run_in_box 'cat /proc/self/mountinfo' ". ${word:+| .linux.rootfsPropagation = \"$word\"}"
	rc_is 0
	read_mountinfo "$out"
	like "${MOUNT_PEERS[/]}" "$want" "${word:-absent}"
}

rootfs_propagation_shows_in_the_mount_table() {
	_root_is private '^$'
	_root_is rprivate '^$'
	_root_is slave '^(master:[0-9]+)?$'
	_root_is rslave '^(master:[0-9]+)?$'
	_root_is shared 'shared:[0-9]+'
	_root_is rshared 'shared:[0-9]+'
	_root_is unbindable '^unbindable$'
	_root_is runbindable '^unbindable$'
}

an_unknown_rootfs_propagation_is_an_error() {
	run_in_box 'echo started' '.linux.rootfsPropagation = "everywhere"'
	rc_is 1
	is "$out" ''
	like "$err" rootfsPropagation
}

rootfs_propagation_lets_no_mount_out() {
	local word
	for word in '' shared rslave; do
		bundle 'sh("sleep 100")' ". ${word:+| .linux.rootfsPropagation = \"$word\"}" writable
		mkdir "$B/rootfs/here"
		sbx run -d -b "$B" "$ID"
		nsenter -t "$(pid_of "$ID")" -m /bin/mount -t tmpfs from-box /here
		! grep -q from-box /proc/self/mountinfo || fail "${word:-absent}: the mount is on the host"
		sbx delete -f "$ID"
	done
}

run_tests
