#!/bin/bash
# sbxrun box diff, snapshot, snapshots, fork: what has changed, what is kept of it, and what a new box begins with.
# Views: own
# shellcheck disable=SC2015,SC2016,SC2154
. "${0%/*}/../lib/test.sh"

# Words that begin with @ are ids of this test's own: cgroups have them, too, and others test beside it.
_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "${@/#@/$P.}"; }
[ -n "${SBX_UID:-}" ] && OWNER=() || OWNER=(-u 0)
# _new ID OPTION…
_new() {
	[ -n "${B:-}" ] || { bundle && mkdir -p "$B/rootfs/etc" && echo old >"$B/rootfs/etc/f" && echo gone >"$B/rootfs/etc/g" && chmod -R a+rX,go-w "$B/rootfs/etc" && { [ -z "${SBX_UID:-}" ] || chown -R "$SBX_UID:$SBX_UID" "$B/rootfs/etc"; }; }
	run _box create --id "$1" --rootfs "$B/rootfs" "${OWNER[@]}" "${@:2}"
	[ "$rc" != 0 ] || return 0
	like "$err" 'a writable root: .*(Linux|overlay)'
	skip "this host has no such root: $err"
}
_sh() { _box exec "$1" -- sh -c "$2"; }
# _with JSON CMD…: with that file of the operator's, which only CMD sees.
_with() {
	mkdir -p etc/up etc/work
	printf '%s\n' "$1" >boxes.json
	shift
	export -f _box sbx
	export SBXRUN T
	unshare -m --propagation private bash -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc || exit 99
		mkdir -p /etc/sbxrun && install -m 644 "$1/boxes.json" /etc/sbxrun/boxes.json || exit 99
		shift && "$@"' _ "$T" "$@"
}
_of() { jq -cr "$1" <<<"$out"; }
_files='echo hi >a; mkdir -p d/e; echo x >d/e/f; ln -s ../a d/link; chmod 750 d/e; printf "%s" "$(printf "\001\377")" >bytes'

what_has_changed_is_told() {
	_new @a --writable-root 4m
	is "$(_box diff @a)" ''
	_sh @a "$_files; echo more >>/etc/f; rm /etc/g; mkdir /opt; : >/opt/new; mkfifo p; : >\"\$(printf 'n\nl')\""
	run _box diff @a
	is "$out" $'A /workspace/a\nA /workspace/bytes\nA /workspace/d/\nA /workspace/d/e/\nA /workspace/d/e/f\nA /workspace/d/link\nA /workspace/n?l\nA /workspace/p\nD /etc/g\nM /etc/f\nA /opt/\nA /opt/new'
	run _box diff --json @a
	is "$(_of '.success, (.workspace.added | length), .more, .unread, .error')" $'true\n8\nfalse\n0\nnull'
	is "$(_of '.root.modified, .root.deleted')" $'[{"path":"etc/f","type":"file","size":9,"mode":"0644"}]\n[{"path":"etc/g","type":"file"}]'
	is "$(_of '.workspace.added | map(.type) | unique')" '["directory","file","link","other"]'
	_new @b
	run _box diff --json @b
	is "$(_of '.root, .workspace.added')" $'null\n[]'
	run _box diff --json nosuch
	rc_is 125
	is "$(_of '.success, .error.type')" $'false\nSandboxNotFound'
}

# The same size, and the time of the file set back.
a_change_can_not_be_hidden() {
	_new @a --writable-root 4m
	_sh @a 'touch -r /etc/f t; echo new >/etc/f; touch -r t /etc/f; rm t'
	is "$(_box diff @a)" 'M /etc/f'
}

a_snapshot_makes_boxes_that_begin_with_it() {
	_new @a --writable-root 4m -e WHO=me --memory 64m --idle 77
	_sh @a "$_files; echo more >>/etc/f; rm /etc/g; mkdir /opt; echo o >/opt/new; dd if=/dev/zero of=sparse bs=1 count=0 seek=67108864 2>/dev/null; echo end >>sparse"
	_box snapshot @a one
	_box destroy @a
	run _box fork --id @b one
	is "$out" "$P.b"
	run _sh @b 'cat a d/e/f d/link /etc/f /opt/new; ls /etc/g; stat -c %a:%s d/e bytes sparse; tail -c 4 sparse; [ $(stat -c %b sparse) -lt 100 ] && echo holes; echo $WHO'
	is "$out" $'hi\nx\nhi\nold\nmore\no\n750:60\n644:2\n644:67108868\nend\nholes\nme'
	is "$(_box list --json | jq -c '.[0] | [.limits.memory, .idle_limit_s, .writable_root]')" '[67108864,77,4194304]'
	is "$(_box diff @b)" ''
	_sh @b 'echo y >>a; rm d/link; : >n; echo z >>/etc/f; rm -r /opt; echo back >/etc/g'
	is "$(_box diff @b | LC_ALL=C sort)" $'A /etc/g\nA /workspace/n\nD /opt/\nD /opt/new\nD /workspace/d/link\nM /etc/f\nM /workspace/a'
	# Another one begins where the first began, and one of the box where that is now.
	_box fork --id @c one
	run _sh @c 'cat a; cat /etc/f'
	is "$out" $'hi\nold\nmore'
	_box fork --id @d @b
	run _sh @d 'cat a /etc/f /etc/g; ls -A'
	is "$out" $'hi\ny\nold\nmore\nz\nback\na\nbytes\nd\nn\nsparse'
	_sh @b 'echo later >a'
	is "$(_sh @d 'cat a')" $'hi\ny'
}

snapshots_are_listed_and_removed() {
	_new @a
	_sh @a 'echo x >f; mkfifo p'
	run _box snapshot --json @a one
	is "$(_of '.snapshot, .sandbox_id, .uid, .files, .success, .error')" "one"$'\n'"$P.a"$'\n'"${SBX_UID:-0}"$'\n1\ntrue\nnull'
	like "$(_of '.notes[0]')" 'not kept: "/workspace/p": neither a file'
	run _box snapshot --json @a one
	rc_is 125
	is "$(_of .error.type)" SnapshotExists
	_box snapshot @a @two 2>/dev/null
	is "$(_box snapshots --json | jq -c 'map(.snapshot)')" "[\"one\",\"$P.two\"]"
	like "$(_box snapshots one)" $'^NAME .*\none +[0-9]+ sbxt'
	for name in '' ../x a/b .x $'a\nb' :one; do
		run _box snapshot @a "$name"
		rc_is 125
		run _box snapshots --remove "$name"
		rc_is 125
	done
	_box snapshots --remove one
	run _box snapshots --remove one
	rc_is 125
	like "$err" 'there is no snapshot "one"'
	run _box fork one
	rc_is 125
	like "$err" 'sandbox not found.*no box and no snapshot "one"'
	is "$(_box snapshots --json | jq -c 'map(.snapshot)')" "[\"$P.two\"]"
	_box destroy @a
	is "$(_box snapshots --json | jq length)" 1
	_new @two
	run _box fork @two
	rc_is 125
	like "$err" 'is a box and a snapshot: --from says'
	_box fork --from snapshot --id @x @two
	is "$(_sh @x 'cat f')" x
	_box fork --from box --id @y @two
	is "$(_sh @y ls)" ''
}

a_snapshot_has_a_size_and_there_is_a_number() {
	[ "$(id -u)" = 0 ] && [ -z "${SBX_UID:-}" ] || skip 'the operator is root'
	local admin='{"version":1,"snapshots":1,"limits":{"max_snapshot_mb":1,"max_writable_root_mb":0}}'
	_new @a
	_sh @a 'head -c 2000000 /dev/zero >big'
	run _with "$admin" _box snapshot @a one
	rc_is 125
	like "$err" 'more files than a snapshot may have: 1048576 bytes'
	is "$(ls -A "$T/state/boxes:snapshots")" ''
	_sh @a 'rm big'
	run _with "$admin" _box snapshot @a one
	rc_is 0
	run _with "$admin" _box snapshot @a two
	rc_is 125
	like "$err" 'there are 1 snapshots, which is the most'
	run _with "$admin" _box create --rootfs "$B/rootfs" --writable-root 1m
	rc_is 125
	like "$err" 'writable-root: more than the operator allows'
}
a_call_keeps_a_snapshot_waiting() {
	_new @a
	"$SBXRUN" --root "$T/state" box exec "$P.a" -- sh -c 'echo half >f; echo up; sleep 2; echo whole >f' >up &
	wait_until 20 grep -q up up
	_box snapshot @a one
	wait $!
	_box fork --id @b one
	is "$(_sh @b 'cat f')" whole
}

# What a fork can't have is no box.
what_does_not_fit_is_no_box() {
	_new @a --disk 1m
	_sh @a 'head -c 1000000 /dev/urandom >f'
	_box snapshot @a one
	sed -i 's/"disk":1048576/"disk":  65536/' "$T/state/boxes:snapshots/one"
	run _box fork --id @b one
	rc_is 125
	like "$err" 'no room for "/workspace/f" in the new box'
	is "$(_box list --json | jq -c length)" 1
}

run_tests
