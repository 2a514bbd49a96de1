#!/bin/bash
# Idea: a box prepares its files for who keeps them under a name and puts them into another box, as root: devices, setuid bits, attributes of overlays, whiteouts, links out,
# sockets, files that are larger than all disks, names that are no text, directories that are exchanged meanwhile; and somebody prepares the file of a snapshot itself.
# Escape: a file of the host is read, written or made, or a new box has what none may have; fake: a change that is not told, a wait, output that nobody of ours wrote.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# Words that begin with @ are ids of this test's own.
_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "${@/#@/$P.}"; }
# Who may write to the files of the root: of an ordinary user's box its one user, who has made them.
[ -n "${SBX_UID:-}" ] && OWNER=() || OWNER=(-u 0)
_own() { [ -z "${SBX_UID:-}" ] || chown -hR "$SBX_UID:$SBX_UID" "$@"; }
_new() {
	[ -n "${B:-}" ] || bundle
	_box create --id "$1" --rootfs "$B/rootfs" "${@:2}" >made 2>why || {
		grep -q 'writable root' why || fail "$(cat why)"
		skip "this host has no such root: $(cat why)"
	}
}
_sh() { _box exec "$1" -- sh -c "$2"; }
_canary() {
	mkdir -p canary/dir
	chmod 777 canary canary/dir
	echo secret >canary/secret
	chmod 666 canary/secret
}

what_is_no_file_is_not_kept() {
	_new @a --writable-root 4m "${OWNER[@]}"
	_sh @a 'mkfifo p; mknod w c 0 0; mkdir d; echo x >d/suid; chmod 6777 d/suid; chmod 3777 d; truncate -s 8191p huge 2>/dev/null || dd if=/dev/zero of=huge bs=1 count=0 seek=1000000000000 2>/dev/null; : >"$(printf "c\377\nx")"
		(sleep 100 | nc -lU sock 2>/dev/null &) ; ln d/suid hard; mkdir -p /etc; chmod 4755 /bin/true; echo y >/setuid; chmod 4755 /setuid' || :
	_box snapshot @a one 2>noted
	like "$(cat noted)" 'not kept: .*neither a file'
	run timeout 60 "$SBXRUN" --root "$T/state" box fork --id "$P.b" one
	rc_is 0
	run _sh @b 'ls -A; stat -c %a d d/suid hard /setuid /bin/true; find / -xdev \( -type b -o -type c -o -type p -o -type s \) 2>/dev/null'
	[[ $out != *[4567]7[57][57]* && $out != *$'\n'[2-7]7[57][57]* ]] || escaped "a bit that lends rights came along: $out"
	like "$out" $'\nd\nhard\nhuge\n'
	unlike "$out" $'\n(/|p$|w$)'
}

# As root of an overlay in a namespace of its own the box can't; who holds the file of the workspace's disk could.
attributes_of_overlays_do_not_come_along() {
	bundle
	mkdir -p "$B/rootfs/keep"
	echo hidden >"$B/rootfs/keep/f"
	_own "$B/rootfs/keep"
	_new @a --writable-root 4m "${OWNER[@]}"
	cat >xattr.py <<-'E'
		import os
		for name in ("user.overlay.opaque", "user.overlay.redirect", "user.overlay.metacopy", "trusted.overlay.opaque", "user.ours", "security.capability"):
		    for path in ("/workspace/d", "/workspace/d/f", "/keep", "/keep/f"):
		        try: os.setxattr(path, name, b"y")
		        except OSError as e: pass
	E
	_sh @a 'mkdir d; echo f >d/f; cat /keep/f; echo more >>/keep/f'
	[ ! -x "$B/rootfs/usr/bin/python3" ] || _box exec @a -- python3 - <xattr.py
	_box snapshot @a one
	_box fork --id @b one
	run _sh @b 'cat /keep/f d/f'
	is "$out" $'hidden\nmore\nf'
	holds "$B/rootfs/keep/f" hidden
}

# Who makes one believes that it can be used.
what_is_deleted_does_not_spoil_a_snapshot() {
	bundle
	mkdir -p "$B/rootfs/gone"
	echo x >"$B/rootfs/gone/file"
	ln -s /nowhere "$B/rootfs/gone/link"
	mkfifo "$B/rootfs/gone/pipe"
	mkdir "$B/rootfs/gone/dir"
	_own "$B/rootfs/gone"
	_new @a --writable-root 4m "${OWNER[@]}"
	_sh @a 'rm -r /gone/*; ls /gone'
	_box snapshot @a one
	run _box fork --id @b one
	[ "$rc" = 0 ] || faked "a snapshot that was made is none: $err"
	is "$(_sh @b 'ls /gone')" ''
	is "$(_box diff --json @b | jq -c '[.added, .modified, .deleted] | map(length)')" '[0,0,0]'
}

# Names that are too long to be kept are many, and none of them is counted as an entry.
names_cost_who_compares_no_memory_without_bound() {
	needs python3
	_box create --id @a --memory 1g --rootfs host python >/dev/null
	_box run --timeout 300 @a python 'import os
for i in range(15):
    os.mkdir("d" * 250); os.chdir("d" * 250)
open("x", "w").close()
for d in range(3):
    os.mkdir(str(d) * 200)
    for n in range(20000): os.link("x", "%s/%0240d" % (str(d) * 200, n))'
	python3 - "$SBXRUN" --root "$T/state" box diff "$P.a" >told <<-'E'
		import os, resource, subprocess, sys
		subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
	E
	[ "$(cat told)" -lt 220 ] || faked "names of a box take $(cat told) MB of who compares"
}

links_out_lead_nowhere() {
	_canary
	_new @a --writable-root 4m "${OWNER[@]}"
	_sh @a "ln -s $T/canary out; ln -s $T/canary/secret s; ln -s $T/canary /out; rm -rf /home; ln -s /proc/1/root$T/canary /home; ln -s / up"
	run _box snapshot @a one
	[ "$rc" = 0 ] || escaped "a link was followed to what can't be kept: $err"
	run _box diff --json @a
	hides "$out" secret 'read through a link'
	_box fork --id @b one
	run _sh @b "readlink out; cat s out/secret /out/secret 2>/dev/null; true"
	is "$out" "$T/canary"
	holds canary/secret secret
	[ "$(ls canary)" = $'dir\nsecret' ] || escaped 'written through a link'
}

# All the time a directory is a directory, or a link to one of the host's.
directories_exchanged_while_they_are_kept() {
	local i
	_canary
	_new @a --writable-root 4m "${OWNER[@]}"
	_sh @a 'mkdir d; echo inside >d/secret; mkdir /opt2; echo inside >/opt2/secret'
	"$SBXRUN" --root "$T/state" box exec --timeout 1000 "$P.a" -- sh -c \
		"echo up; while :; do mv d e; ln -s $T/canary d; rm d; mv e d; mv /opt2 /opt3; ln -s $T/canary /opt2; rm /opt2; mv /opt3 /opt2; done" >up &
	wait_until 20 grep -q up up
	for ((i = 0; i < STARTS; i++)); do
		run timeout 60 "$SBXRUN" --root "$T/state" box diff "$P.a"
		[ "$rc" != 124 ] || hangs 'who compares waits for ever'
		[[ $out != *dir* ]] || escaped 'a directory of the host is listed'
	done
	kill -TERM $!
	wait $! || :
	holds canary/secret secret
}

# A thread of a session does it while a snapshot is made, for on this host nobody can freeze it.
directories_exchanged_by_a_session_while_they_are_kept() {
	local i
	needs python3
	_canary
	echo what the host has >canary/secret
	SBXRUN_ROOTFS_DIR=$T/library sbx --cgroup-manager disabled box create --id "$P.a" --rootfs host python >made 2>why || fail "$(cat why)"
	_box run --session @a python "import os, threading
os.mkdir('d'); open('d/secret', 'w').write('inside'); os.mkdir('d/deep'); open('d/deep/secret', 'w').write('inside')
def turn():
    while True:
        os.rename('d', 'e'); os.symlink('$T/canary', 'd'); os.unlink('d'); os.rename('e', 'd')
threading.Thread(target=turn, daemon=True).start()"
	for ((i = 0; i < STARTS; i++)); do
		run timeout 60 "$SBXRUN" --root "$T/state" box snapshot "$P.a" "s$i"
		[ "$rc" != 124 ] || hangs 'who keeps waits for ever'
		[ "$rc" != 0 ] || like "$err" 'ran on: what they wrote'
		[ ! -e "state/boxes:snapshots/s$i" ] || ! grep -qa 'what the host has' "state/boxes:snapshots/s$i" || escaped 'a file of the host is kept'
		run timeout 60 "$SBXRUN" --root "$T/state" box diff "$P.a"
		[[ $out != *canary* && $out != *dir* ]] || escaped 'a directory of the host is listed'
	done
	# It turned all the time, and a snapshot that was made has one of the two.
	is "$(_box run --session @a python 'any(t.is_alive() for t in threading.enumerate() if t.daemon)')" True
	holds canary/secret 'what the host has'
	[ "$(ls canary)" = $'dir\nsecret' ] || escaped 'written through a link'
	for ((i = 0; i < STARTS; i++)); do
		[ ! -e "state/boxes:snapshots/s$i" ] || sbx box snapshots --remove "s$i"
	done
}

# Who writes to a directory above the source of another volume of its own chooses what the name of that leads to when a fork asks for it.
_nested() {
	mkdir -p project/data project/sub/deep
	echo mine | tee project/data/f >project/sub/deep/f
	chmod -R 777 project
	_canary
	echo secret >canary/f
	mkdir -p canary/deep
	echo secret >canary/deep/f
	_own project
	_new @a -v "$T/project:/project" -v "$T/project/data:/data:ro" -v "$T/project/sub/deep:/deep:ro"
	_box snapshot @a one
	_box fork --id @same one
	is "$(_sh @same 'cat /data/f /deep/f')" $'mine\nmine'
	_box destroy @same
}
# SOURCE WHY [MOUNT]: neither of the box nor of its snapshots a fork is made, in which MOUNT would be what the source is now.
_no_fork() {
	local from n=0
	for from in @a one ${OLDER:-}; do
		n=$((n + 1))
		run _box fork --id "@f$n" "$from"
		[ "$rc" != 0 ] || hides "$(_sh "@f$n" "cat $3/f")" secret "a fork of $from shows a directory of the host"
		[ "$rc" = 125 ] || faked "a fork of $from has another directory than the one that was asked for"
		like "$err" "$1 $2"
	done
	is "$(_box list --json | jq length)" 1
}

sources_exchanged_with_links_are_not_forked() {
	_nested
	# As boxes of before have it: nobody knows what was there.
	grep -qaE '"inode":[1-9]' "$T/state/boxes:snapshots/one" || fail 'a snapshot does not know its sources'
	(umask 077 && perl -pe 's/("inode":)(\d+)/$1 . " " x (length($2) - 1) . "0"/ge' "$T/state/boxes:snapshots/one" >"$T/state/boxes:snapshots/older")
	_own "$T/state/boxes:snapshots/older"
	OLDER=older
	_sh @a "mv /project/data /project/d2; ln -s $T/canary /project/data"
	_no_fork "$T/project/data" 'is a link or lies behind one' /data
	_sh @a "rm /project/data; mv /project/d2 /project/data; mv /project/sub /project/s2; ln -s $T/canary /project/sub"
	_no_fork "$T/project/sub/deep" 'is a link or lies behind one' /deep
	_sh @a 'rm /project/sub; mv /project/s2 /project/sub'
	for from in @a one older; do
		_box fork --id @again "$from"
		is "$(_sh @again 'cat /data/f /deep/f')" $'mine\nmine'
		_box destroy @again
	done
}

sources_exchanged_with_directories_are_not_forked() {
	_nested
	_sh @a 'mv /project/data /project/d2; mkdir /project/data; echo other >/project/data/f'
	_no_fork "$T/project/data" 'is not the directory or file that it was' /data
}

# Bytes that somebody else has put there: paths that lead out, by "..", by a link that an entry before has made, by a zero.
files_of_snapshots_that_lie() {
	local n=0 path
	needs python3
	_canary
	_new @a --writable-root 4m "${OWNER[@]}"
	_sh @a 'echo x >f'
	_box snapshot @a good
	cat >lie.py <<-'E'
		import struct, sys
		good = open(sys.argv[1], "rb").read()
		length = struct.unpack_from("<Q", good, 32)[0]
		head, facts = good[:40], good[40:40 + length]
		def entry(path, kind=1, place=0, data=b"", target=b"", change=0, mode=0o644, size=None):
		    n = len(target) if kind == 2 else (len(data) if size is None else size)
		    out = struct.pack("<IBBBBIIQqqQ", 0x59525445, place, change, kind, 0, mode, len(path), n, 0, 0, 0) + path + target
		    if kind == 1 and change != 2:
		        out += (struct.pack("<QQ", 0, len(data)) + data if data else b"") + struct.pack("<QQ", 0, 0)
		    return out
		out = sys.argv[3].encode()
		lies = [
		    [entry(b"../../x", data=b"x")], [entry(b"/" + out + b"/x", data=b"x")], [entry(b"a/../../x", data=b"x")],
		    [entry(b"l", 2, target=out), entry(b"l/planted", data=b"x")], [entry(b"l", 2, target=out), entry(b"l", 0), entry(b"l/planted", data=b"x")],
		    [entry(b"home", 2, 1, target=out), entry(b"home/planted", 1, 1, data=b"x"), entry(b"home/secret", 1, 1, change=2)],
		    [entry(b"l", 2, target=out + b"/secret"), entry(b"l", change=1, data=b"overwritten")],
		    [entry(b"d", 3)], [entry(b"s", mode=0o4755, data=b"x")], [entry(b"z\0y", data=b"x")], [entry(b"big", data=b"x", size=2**63 + 1)],
		    [entry(b"proc/sys/kernel/hostname", 1, 1, data=b"x")], [entry(b"dev/null", 1, 1, data=b"x")], [entry(b"workspace/x", 1, 1, data=b"x")],
		    [entry(b"f", data=b"x" * 100, size=10)], [entry(b"x" * 300)], [entry(b"a/" * 100 + b"f")], [entry(b".")], [entry(b"f/")], [entry(b"")],
		]
		lie = lies[int(sys.argv[4])] if int(sys.argv[4]) < len(lies) else sys.exit(9)
		end = struct.pack("<IBBBBIIQqqQ", 0x21444e45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		open(sys.argv[2], "wb").write(head[:16] + struct.pack("<QQQ", len(lie), 1, length) + facts + b"".join(lie) + end)
	E
	# What the file says of itself is as this test believes.
	(umask 077 && python3 - "$T/state/boxes:snapshots/good" <<-'E'
		import struct, sys
		good = open(sys.argv[1], "rb").read()
		assert good[:15] == b"sbxrun archive1" and struct.unpack_from("<I", good, 40 + struct.unpack_from("<Q", good, 32)[0])[0] == 0x59525445
	E
	) || fail 'the file of a snapshot looks otherwise'
	while (umask 077 && exec python3 lie.py "$T/state/boxes:snapshots/good" "$T/state/boxes:snapshots/lie" "$T/canary" "$n"); do
		run timeout 60 "$SBXRUN" --root "$T/state" box fork --id "$P.l$n" lie
		[ "$rc" != 124 ] || hangs "lie $n keeps everybody waiting"
		holds canary/secret secret
		[ "$(ls canary)" = $'dir\nsecret' ] || escaped "lie $n has made a file of the host"
		if [ "$rc" = 0 ]; then
			path=$(_sh "@l$n" 'find / -xdev -perm /7000 ! -type d; find /workspace; true' 2>/dev/null)
			[[ $path != *$'\n'/[!w]* && $path != /[!w]* ]] || escaped "lie $n: a file lends rights: $path"
			_box destroy "@l$n"
		fi
		n=$((n + 1))
	done
	[ "$n" = 20 ] || fail "$n of 20 lies were told"
	is "$(_box list --json | jq length)" 1
	run cat /proc/sys/kernel/hostname
	[ "$out" != x ] || escaped 'the name of the host'
	chmod 666 "$T/state/boxes:snapshots/lie"
	run _box fork lie
	rc_is 125
	like "$err" "somebody else's, or others can write to it"
	ln -sf "$T/canary/secret" "$T/state/boxes:snapshots/lie"
	run _box fork lie
	rc_is 125
	hides "$out$err" secret 'a link in place of a snapshot is followed'
}

# Neither the record, nor the log, nor a snapshot, nor another box is anywhere in a box that may write to its root.
a_root_of_its_own_shows_nothing_else() {
	_new @a --writable-root 4m "${OWNER[@]}"
	_sh @a 'echo secret of another >/f; echo secret of another >f'
	_box snapshot @a one
	_new @b --writable-root 4m "${OWNER[@]}"
	run _sh @b "for d in / /workspace /tmp /dev/shm; do find \$d -xdev -type f -exec grep -l 'secret of another' {} + 2>/dev/null; done; ls $T /run/sbxrun* 2>/dev/null; cat /proc/*/root/f 2>/dev/null; for d in upper work; do ls /\$d 2>/dev/null; done; mount -t overlay x /mnt 2>&1 | grep -v denied | grep -v permitted; true"
	is "$out" ''
	[ ! -e "$B/rootfs/f" ] || escaped 'the root filesystem itself was written'
}

names_are_no_output_of_ours() {
	_new @a
	_sh @a 'touch "$(printf "a\nD forged")" "$(printf "\033[2Jb")" "$(printf "c\377")"'
	run _box diff @a
	[ "$(wc -l <<<"$out")" = 3 ] || faked 'a name is a line'
	[[ $out != *$'\033'* ]] || faked 'a name moves the cursor'
	run _box diff --json @a
	is "$(jq -r '.workspace.added[] | select(.base64).base64' <<<"$out")" "$(printf 'c\377' | base64)"
	_sh @a 'mkfifo "$(printf "p\033[2J\ny")"'
	run _box snapshot @a one
	[[ $err != *$'\033'* && $(wc -l <<<"$err") = 1 ]] || faked 'a name moves the cursor'
}

run_tests
