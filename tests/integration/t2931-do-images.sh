#!/bin/bash
# sbxrun do with EROFS images: mounted once, cloned for each box, unmounted when nobody uses them; and no rootfs is removed under a box.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/do-image.sh"

_do() { SBXRUN_ROOTFS_DIR=$T/library sbx "do" "$@"; }
_sh() { _do "${@:1:$#-1}" -- sh -c "${!#}"; }
_mounts() { grep -c " $T/state/image:.*:root .* erofs " /proc/self/mountinfo || :; }

the_image_is_the_root() {
	library one
	run _sh --json --rootfs one 'stat -f -c %t /; id -u; ls -ld / | cut -c 1-10; : >/x'
	is "$(jq -r .stdout <<<"$out")" "$EROFS"$'\n65534\ndrwxr-xr-x'
	is "$(jq -r .rootfs <<<"$out")" one@sha256:feed
	is "$(jq -c .notes <<<"$out")" '[]'
	run _sh --rootfs "$T/library/one/rootfs.erofs" 'stat -f -c %t /'
	is "$out" "$EROFS"
	is "$(left_of_do)" ''
}

it_needs_no_directory_beside_it() {
	library one
	rm -rf "$T/library/one/rootfs"
	mkdir volume
	echo v >volume/f
	run _sh --rootfs one -v "$T/volume:/no/such" -w /else 'stat -f -c %t /bin; cat /no/such/f; pwd'
	is "$out" "$EROFS"$'\nv\n/else'
}

an_ordinary_user_has_the_directory() {
	library one
	chmod 711 "$T/library/one"
	mkdir home
	chown 4000 home
	chmod 711 "$T" "$SBXT_WORK"
	run as_user 4000 env HOME="$T/home" XDG_RUNTIME_DIR="$T/home" SBXRUN_ROOTFS_DIR="$T/library" "$SBXRUN" "do" --rootfs one -- stat -f -c %t /
	[[ $err != *'user namespace'* ]] || skip 'no user namespaces for ordinary users'
	rc_is 0
	isnt "$out" "$EROFS"
	rm -rf "$T/library/one/rootfs"
	run as_user 4000 env HOME="$T/home" XDG_RUNTIME_DIR="$T/home" SBXRUN_ROOTFS_DIR="$T/library" "$SBXRUN" "do" --rootfs one -- true
	rc_is 125
	like "$err" 'only root mounts its image: sbxrun-rootfs build --format dir'
}

many_at_once_leave_nothing() {
	local i n pids=()
	library one
	for i in 1 2 3 4; do
		(for n in 1 2 3 4 5; do _sh --rootfs one 'stat -f -c %t /'; done) >"many$i" 2>&1 &
		pids+=($!)
	done
	wait "${pids[@]}"
	is "$(sort many? | uniq -c | tr -s ' ')" " 20 $EROFS"
	_sh --rootfs "$T/library/one/rootfs" true
	is "$(left_of_do)" ''
}

boxes_share_one_mount_and_the_last_unmounts_it() {
	local i pids=() devices=()
	library one
	mkdir -m 777 volume
	for i in 1 2 3; do
		_sh --rootfs one -v "$T/volume:/v" "stat -c %d /bin >/v/$i.new; mv /v/$i.new /v/$i; until [ -e /v/go$i ]; do sleep 0.01; done" 2>"err$i" &
		pids+=($!)
	done
	for i in 1 2 3; do
		wait_until 10 test -e "volume/$i"
		devices+=("$(cat "volume/$i")")
	done
	is "${devices[1]} ${devices[2]}" "${devices[0]} ${devices[0]}"
	is "$(_mounts)" 1
	: >volume/go1
	wait "${pids[0]}"
	is "$(_mounts)" 1
	: >volume/go2
	: >volume/go3
	wait "${pids[@]}"
	is "$(left_of_do)" ''
}

a_mount_is_kept_for_a_while_and_used_again() {
	local id
	library one
	SBXRUN_IMAGE_KEEP=1000 run _sh --rootfs one 'stat -c %d /'
	id=$out
	is "$(_mounts)" 1
	SBXRUN_IMAGE_KEEP=1000 run _sh --rootfs one 'stat -c %d /'
	is "$out" "$id"
	is "$(_mounts)" 1
	touch -d '1 hour ago' "$T"/state/image:*[0-9a-f]
	# Whatever runs next unmounts it.
	SBXRUN_IMAGE_KEEP=60 run _sh --rootfs "$T/library/one/rootfs" true
	is "$(left_of_do)" ''
}

an_image_that_was_written_anew_is_another_one() {
	library one
	SBXRUN_IMAGE_KEEP=1000 run _sh --rootfs one 'ls /new'
	rc_is 1
	: >"$T/library/one/rootfs/new"
	mkfs.erofs --quiet --all-root "$T/library/one/rootfs.erofs.new" "$T/library/one/rootfs" >/dev/null
	mv "$T/library/one/rootfs.erofs.new" "$T/library/one/rootfs.erofs"
	library_manifest "$T/library/one"
	run _sh --rootfs one 'stat -f -c %t /; ls /new'
	is "$out" "$EROFS"$'\n/new'
	run _sh --rootfs one true
	is "$(left_of_do)" ''
}

what_is_not_roots_or_not_known_is_not_mounted() {
	local dir change
	library one
	dir=$T/library/one
	for change in 'chown 4000 rootfs.erofs' 'chmod g+w rootfs.erofs' 'chmod o+w manifest.json' 'chown 4000 manifest.json' 'chmod 777 .' 'truncate -s +4096 rootfs.erofs'; do
		cp -a "$dir" "$T/keep"
		(cd "$dir" && $change)
		run _sh --json --rootfs one 'stat -f -c %t /'
		isnt "$(jq -r .stdout <<<"$out")" "$EROFS"
		like "$(jq -r .notes[] <<<"$out")" 'it is not mounted'
		run _sh --rootfs "$dir/rootfs.erofs" true
		rc_is 125
		like "$err" 'it is not mounted'
		rm -rf "$dir"
		mv "$T/keep" "$dir"
	done
	cp "$dir/rootfs.erofs" "$T/loose.erofs"
	run _sh --rootfs "$T/loose.erofs" true
	rc_is 125
	like "$err" 'neither a directory nor an image that a manifest.json beside it names'
	rm "$dir/manifest.json"
	run _sh --rootfs one 'stat -f -c %t /'
	rc_is 0
	isnt "$out" "$EROFS"
	is "$(left_of_do)" ''
}

an_image_that_is_broken_leaves_the_directory() {
	library one
	dd if=/dev/zero of="$T/library/one/rootfs.erofs" bs=4096 count=1 conv=notrunc status=none
	run _sh --json --rootfs one 'stat -f -c %t /'
	isnt "$(jq -r .stdout <<<"$out")" "$EROFS"
	like "$(jq -r .notes[] <<<"$out")" 'mount the EROFS image'
	is "$(jq -r .status <<<"$out")" ok
	rm -rf "$T/library/one/rootfs"
	run _sh --rootfs one true
	rc_is 125
	like "$err" 'mount the EROFS image'
	run _sh --rootfs "$T/library/one/rootfs.erofs" true
	is "$(left_of_do)" ''
}

# As kernels before 6.12 have it.
an_image_may_need_a_block_device() {
	needs strace losetup
	[ -e /dev/loop-control ] || skip 'no loop devices here'
	library one
	mkdir -m 777 volume
	# The third call makes the filesystem, of the file itself.
	SBXRUN_ROOTFS_DIR=$T/library run strace -qq -o /dev/null -e trace=fsconfig -e inject=fsconfig:error=ENOTBLK:when=3 "$SBXRUN" --root "$T/state" \
		"do" --rootfs one -v "$T/volume:/v" -- sh -c 'stat -f -c %t /; : >/v/here; until [ -e /v/go ]; do sleep 0.01; done' &
	wait_until 10 test -e volume/here
	grep " $T/state/image:" /proc/self/mountinfo >mounted
	: >volume/go
	wait $!
	like "$(cat mounted)" ' erofs /dev/loop[0-9]+ '
	wait_until 5 eval '[ -z "$(left_of_do)" ]'
}

# SIGKILL at calls that matter, one after the other; what is left, the next run takes away.
a_run_that_is_killed_leaves_what_the_next_one_sweeps() {
	local call n killed
	needs strace
	library one
	for call in fsmount move_mount mkdirat flock utimensat umount2 unlinkat; do
		killed=0
		for n in 1 2 3 4 5 6; do
			SBXRUN_ROOTFS_DIR=$T/library run strace -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$SBXRUN" --root "$T/state" "do" --rootfs one -- true
			[ "$rc" != 0 ] || break
			killed=$n
		done
		isnt "$killed" 0
		run _sh --rootfs one true
		rc_is 0
		run _sh --rootfs "$T/library/one/rootfs" true
		is "$(left_of_do)" ''
	done
	is "$(sbx list -q)" ''
}

a_run_that_is_killed_while_its_program_runs_is_swept() {
	local pid
	library one
	mkdir -m 777 volume
	SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" "do" --rootfs one -v "$T/volume:/v" -- sh -c ': >/v/here; sleep 1000' &
	pid=$!
	wait_until 10 test -e volume/here
	# It is used: nobody unmounts it.
	_sh --rootfs "$T/library/one/rootfs" true
	is "$(_mounts)" 1
	kill -KILL "$pid"
	wait "$pid" || :
	wait_until 10 eval '_sh --rootfs "$T/library/one/rootfs" true && [ -z "$(left_of_do)" ]'
}

a_rootfs_in_use_is_not_removed_under_a_box() {
	local pid tool=${TESTS_DIR%/*}/rootfs-tools/sbxrun-rootfs
	library one
	mkdir -m 777 volume
	rm "$T/library/one/rootfs.erofs" "$T/library/one/manifest.json"
	echo '{"name":"one","digest":"sha256:feed","images":{"dir":{"path":"rootfs"}}}' >"$T/library/one/manifest.json"
	_sh --rootfs one -v "$T/volume:/v" ': >/v/here; until [ -e /v/go ]; do sleep 0.01; done; ls /bin/sh' >box.out 2>&1 &
	pid=$!
	wait_until 10 test -e volume/here
	run "$tool" --dir "$T/library" remove one
	rc_is 0
	like "$err" 'in use'
	[ ! -e "$T/library/one" ]
	run _sh --rootfs one true
	rc_is 125
	: >volume/go
	wait "$pid"
	is "$(cat box.out)" /bin/sh
	library one
	run "$tool" --dir "$T/library" remove one
	rc_is 0
	is "$(find "$T/library" -mindepth 1 -maxdepth 1 ! -name '.one.lock')" ''
}

# A user who can read it can lock it as he likes.
a_lock_of_somebody_else_keeps_no_box_waiting() {
	library one
	flock -x "$T/library/one" sleep 1000 &
	wait_until 5 bash -c "! flock -n -s '$T/library/one' true"
	run _sh --rootfs one 'echo ran'
	is "$out" ran
}

run_tests
