#!/bin/bash
# sbxrun do: no box changes the root filesystem that it runs in. What it lacks (targets of volumes, directories to run in) is the box's own, and gone with it.
# Views: v2
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs "$B/rootfs" "$@"
}
_sh() { _do "${@:1:$#-1}" -- sh -c "${!#}"; }
# Everything of it that a box could have changed.
# Files of the template are linked into other tests' bundles meanwhile, which changes their ctime.
_print_tree() {
	(cd "$B/rootfs" && find . \( -type d -o -links 1 \) -printf "%p %y %m %U %s %C@ %l\n" -o -printf "%p %y %m %U %s %l\n" | sort)
}
_volume() {
	mkdir -m 777 "$T/$1"
	echo "of $1" >"$T/$1/file"
}

targets_that_are_missing_leave_nothing_behind() {
	bundle
	rm -rf "$B/rootfs"/{tmp,proc,dev,workspace}
	mkdir -p "$B/rootfs/usr/share/doc"
	echo old >"$B/rootfs/usr/share/doc/old"
	ln -s ../run "$B/rootfs/var/run"
	rm -rf "$B/rootfs/run"
	_volume volume
	_print_tree >before
	run _sh -v "$T/volume:/data" -v "$T/volume:/usr/share/deep/er" -v "$T/volume/file:/etc/one" -v "$T/volume:/var/run/there" -w /opt/a/b \
		'pwd; cat /data/file /usr/share/deep/er/file /etc/one /run/there/file /usr/share/doc/old; echo new >/data/new; ls /proc/1 >/dev/null && echo x >/tmp/x && : >/dev/null && echo well'
	rc_is 0
	is "$out" $'/opt/a/b\nof volume\nof volume\nof volume\nof volume\nold\nwell'
	is "$(cat volume/new)" new
	_print_tree >after
	cmp before after
}

# A program that may write to a directory of the host's can leave there what others run: the result names it, and nothing else.
what_others_run_later_is_told() {
	_volume repo
	mkdir -p "$T/repo/.git/hooks" "$T/repo/.vscode" "$T/repo/safe"
	echo old | tee "$T/repo/.git/config" "$T/repo/.git/hooks/pre-commit" "$T/repo/.bashrc" "$T/repo/.envrc" >/dev/null
	chmod -R a+rwX "$T/repo"
	_told() { jq -r '.notes[] | select(test("others run later"))' <<<"$out"; }
	run _sh --json -v "$T/repo:/data" 'cat /data/.bashrc /data/.git/config; echo x >/data/README; echo x >/data/.git/hooks/update.sample; echo x >/data/safe/.bashrc; echo x >/data/.git/index'
	is "$(_told)" ''
	run _sh --json -v "$T/repo:/data" 'cd /data; echo new >.git/hooks/post-merge; echo new >.mcp.json; echo new >>.bashrc; touch -d @0 .bashrc; ln -s /etc/passwd .profile; mv .envrc x; echo other >.envrc; rm -r .vscode; ln -s safe .vscode; printf x >".git/hooks/a<b"'
	like "$(_told)" '/data/.bashrc, /data/.profile, /data/.envrc, /data/.mcp.json, /data/.vscode, /data/.git/hooks/'
	like "$(_told)" '/data/.git/hooks/post-merge'
	unlike "$(_told)" 'pre-commit|config|README|<'
	# What was prepared beside is put in place as a whole.
	run _sh --json -v "$T/repo:/data" 'mkdir -p /data/g/hooks; echo x >/data/g/hooks/pre-push'
	is "$(_told)" ''
	run _sh --json -v "$T/repo:/data" 'mv /data/.git /data/was; mv /data/g /data/.git'
	like "$(_told)" ': /data/.git/hooks/pre-push;'
	run _sh --json -v "$T/repo:/data:ro" 'echo x >/data/.bashrc'
	is "$(_told)" ''
	run _sh --json -v "$T/repo/.bashrc:/rc/.bashrc" 'echo x >>/rc/.bashrc'
	like "$(_told)" ': /rc/.bashrc;'
	run _sh --json --copy-out taken 'mkdir -p .git/hooks a/.claude; echo x | tee f a/.claude/settings.json >.git/hooks/pre-push'
	like "$(_told)" 'copy-out: .*(pre-push|settings.json) .and more. is what others run later'
	run _sh --json --copy-out taken2 'echo x >f'
	is "$(_told)" ''
}

a_call_in_a_box_tells_what_others_run_later() {
	bundle
	_volume repo
	chmod 777 "$T/repo"
	run sbx box create --id "$ID" --rootfs "$B/rootfs" -v "$T/repo:/workspace"
	rc_is 0
	run sbx box exec --json "$ID" -- sh -c 'echo x >.mcp.json'
	like "$(jq -r '.notes[]' <<<"$out")" ': /workspace/.mcp.json;'
	run sbx box exec --json "$ID" -- cat .mcp.json
	is "$(jq -r '.notes[]' <<<"$out")" ''
	sbx box destroy "$ID"
}

what_was_made_can_not_be_written() {
	local user=()
	_volume volume
	[ -n "${SBX_UID:-}" ] || user=(--user 0)
	run _sh "${user[@]}" -v "$T/volume:/usr/new/place" 'for d in / /usr /usr/new /bin /etc; do (: >$d/x) 2>&1; done; ls /bin/sh && rm /bin/sh; mv /usr /u; chmod 777 / /usr; ls -d /x /usr/x /u'
	is "$(grep -c 'Read-only file system' <<<"$out"$'\n'"$err")" 9
	unlike "$out" '^/(x|usr/x|u)$'
}

boxes_do_not_see_each_others() {
	local pids=() i
	bundle
	_volume one
	_volume two
	chmod 777 "$T"
	for i in one two; do
		_sh -v "$T/$i:/only/$i" ": >/only/$i/here; until [ -e /only/$i/go ]; do sleep 0.01; done; ls /only" >"$i.out" 2>"$i.err" &
		pids+=($!)
	done
	wait_until 10 test -e one/here -a -e two/here
	[ ! -e "$B/rootfs/only" ]
	: >one/go
	: >two/go
	wait "${pids[@]}"
	is "$(cat one.out) $(cat two.out)" 'one two'
}

a_root_that_is_read_only_does_as_well() {
	[ -z "${SBX_UID:-}" ] || skip 'only root mounts'
	bundle
	_volume volume
	mount --bind "$B/rootfs" "$B/rootfs"
	mount -o remount,bind,ro "$B/rootfs"
	run _sh -v "$T/volume:/no/such" -w /nor/this 'cat /no/such/file'
	umount "$B/rootfs"
	rc_is 0
	is "$out" 'of volume'
}

what_is_mounted_in_the_root_stays_and_is_read_only() {
	[ -z "${SBX_UID:-}" ] || skip 'only root mounts'
	bundle
	_volume volume
	mkdir -m 777 "$B/rootfs/sub" "$B/rootfs/usr/sub"
	mount -t tmpfs tmpfs "$B/rootfs/sub"
	mount -t tmpfs tmpfs "$B/rootfs/usr/sub"
	echo below | tee "$B/rootfs/sub/file" >"$B/rootfs/usr/sub/file"
	chmod 777 "$B/rootfs/sub" "$B/rootfs/usr/sub"
	run _sh -v "$T/volume:/data" 'cat /sub/file /usr/sub/file; : >/sub/x; : >/usr/sub/x'
	is "$(ls "$B/rootfs/sub" "$B/rootfs/usr/sub" | sort -u | tr '\n' ' ')" " $B/rootfs/sub: $B/rootfs/usr/sub: file "
	umount "$B/rootfs/sub" "$B/rootfs/usr/sub"
	is "$out" $'below\nbelow'
	like "$err" 'Read-only'
}

what_can_not_be_had_is_named_with_the_remedy() {
	bundle
	_volume volume
	mkdir "$B/rootfs/full"
	(cd "$B/rootfs/full" && seq 1100 | xargs touch)
	run _sh -v "$T/volume:/full/place" true
	rc_is 125
	like "$err" '/full/place is missing in the root filesystem, .*: make it in '
	[ ! -e "$B/rootfs/full/place" ]
}

a_target_that_is_there_costs_no_mount() {
	bundle
	_volume volume
	mkdir -p "$B/rootfs/data" "$B/rootfs/workspace"
	run _sh -v "$T/volume:/data" 'stat -c %i /'
	is "$out" "$(stat -c %i "$B/rootfs")"
	rmdir "$B/rootfs/data"
	run _sh -v "$T/volume:/data" 'stat -c %i /'
	isnt "$out" "$(stat -c %i "$B/rootfs")"
}

run_tests
