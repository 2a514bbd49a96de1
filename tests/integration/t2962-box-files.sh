#!/bin/bash
# sbxrun box write, read, ls: how large files are, how many names, and bytes that are no text.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
_new() {
	[ -n "${B:-}" ] || bundle
	BOX=$(_box create --rootfs "$B/rootfs" "$@")
}
_sh() { _box exec "$BOX" -- sh -c "$1"; }
_of() { jq -r "$1" <<<"$out"; }
MOST=$((64 << 20))

files_have_64_megabytes_at_most() {
	# In memory: a workspace on disk is for root alone.
	_new --memory 512m --disk 200m
	truncate -s "$MOST" most
	truncate -s $((MOST + 1)) more
	run _box write --json "$BOX" big more
	rc_is 1
	is "$(_of '.success, .error.type')" $'false\nTooLargeError'
	like "$(_of .error.message)" '64 MB'
	run _box write "$BOX" big - <./more
	rc_is 1
	is "$(_sh 'ls -A')" ''
	_box write "$BOX" big most
	is "$(_sh 'stat -c %s big')" "$MOST"
	is "$(_box read "$BOX" big | cksum)" "$(cksum <most)"
	# One that a program has made, of holes.
	_sh "dd if=/dev/zero of=more bs=1 count=1 seek=$MOST 2>/dev/null"
	run _box read --json "$BOX" more
	rc_is 1
	is "$(_of '.error.type, .content')" $'TooLargeError\nnull'
	is "$(_box stat --json "$BOX" more | jq .size)" $((MOST + 1))
	_box rm-file "$BOX" more
	is "$(_sh 'ls -A')" big
}

ten_thousand_names_are_listed_at_most() {
	_new --memory 128m
	_box exec --timeout 300 "$BOX" -- sh -c 'mkdir d; cd d; seq 10001 | sed s/^/f/ | xargs touch'
	run _box ls --json "$BOX" d
	rc_is 0
	is "$(jq -r '(.files | length), .more' "$T/out")" $'10000\ntrue'
	_box ls "$BOX" d >listed
	is "$(wc -l <listed)" 10001
	is "$(tail -n 1 listed)" 'and more'
	_box rm-file "$BOX" d/f7
	run _box ls --json "$BOX" d
	is "$(jq -r '(.files | length), .more, (.files | map(select(.name == "f7")) | length)' "$T/out")" $'10000\nfalse\n0'
	_box ls "$BOX" d >listed
	is "$(wc -l <listed)" 10000
}

what_is_no_text_comes_as_base64() {
	local bytes
	_new
	for bytes in '\000' '\377' 'a\200b' '\355\240\200' 'text\300\257' '\001\000\002\377\n'; do
		printf '%b' "$bytes" >bytes
		_box write "$BOX" f bytes
		run _box read --json "$BOX" f
		is "$(_of '.encoding, .bytes, .content')" $'base64\n'"$(wc -c <bytes)"$'\n'"$(base64 -w 0 bytes)" "$bytes"
		_box read "$BOX" f | cmp - bytes
	done
	for bytes in '' 'text\n' 'gr\303\274n' '\342\202\254\t"\\\\'; do
		printf '%b' "$bytes" >bytes
		_box write "$BOX" f bytes
		run _box read --json "$BOX" f
		is "$(_of '.encoding, .bytes')" $'utf-8\n'"$(wc -c <bytes)" "$bytes"
		jq -j .content "$T/out" | cmp - bytes
	done
}

run_tests
