#!/bin/bash
# What was broken once, found by hand: whose files are trusted, ordinary users, long texts.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own an_ordinary_users_default_state_root_made_by_another_is_refused
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../lib/mountinfo.sh"
. "${0%/*}/../tools/exec.sh"

# ---- whom it trusts ----

# A copy of $1 at $2 with a capability that an ordinary user gets by running it.
_with_capability() {
	cp "$1" "$2"
	setcap cap_sys_admin+ep "$2" || skip 'no file capabilities in this file system'
}

file_capabilities_are_refused() {
	needs setcap setpriv
	mkdir bin
	install -d -o 12345 -g 12345 own
	_with_capability "$(type -P cat)" bin/cat
	run as_user 12345 bin/cat /proc/self/status
	[[ $out =~ CapPrm:.0*200000 ]] || skip 'file capabilities have no effect here'
	cp "$SBXRUN" bin/plain
	run as_user 12345 bin/plain --root "$T/own" list
	rc_is 0
	_with_capability "$SBXRUN" bin/mighty
	run as_user 12345 bin/mighty --root "$T/own" list
	isnt "$rc" 0
	is "$out" ''
	like "$err" 'capabilities'
}

# A container in state root $1, whose poststop hook makes the file $2.
_make_bait() {
	bundle 'sh("sleep 1000")' "hook(\"poststop\"; \"/bin/sh\"; [\"sh\", \"-c\", \"id -u >$2\"])"
	mkdir -m 700 "$1"
	"$SBXRUN" --root "$1" create -b "$B" "$ID"
}

# Nothing in state root $1 is believed.
_is_refused_as_root() {
	local verb
	for verb in "delete --force $ID" "kill $ID KILL" "start $ID" list "state $ID" "create -b $B $ID-new" "run -b $B $ID-new"; do
		# shellcheck disable=SC2086
		run "$SBXRUN" --root "$1" $verb
		isnt "$rc" 0 "$verb"
		is "$out" '' "$verb"
		like "$err" "$1.*(somebody else|write)" "$verb"
	done
	[ ! -e ran ] || fail 'the hook has run'
	[ ! -e "$1/$ID-new" ] || fail 'a container was made'
}

a_state_root_of_another_user_or_writable_by_others_is_refused() {
	local pid mode
	_make_bait "$T/theirs" "$T/ran"
	pid=$("$SBXRUN" --root "$T/theirs" state "$ID" | jq .pid)
	chown 12345 theirs
	_is_refused_as_root "$T/theirs"
	chown 0 theirs
	for mode in 777 1777 770 702; do
		chmod "$mode" theirs
		_is_refused_as_root "$T/theirs"
	done
	lives "$pid" || fail 'it was killed'
	chmod 755 theirs
	"$SBXRUN" --root "$T/theirs" delete --force "$ID"
	is "$(<ran)" 0 'the bait was good'
}

an_ordinary_users_default_state_root_made_by_another_is_refused() {
	local pid dir
	needs setpriv
	mkdir -m 777 xdg
	_make_bait "$T/xdg/sbxrun" "$T/xdg/ran"
	pid=$("$SBXRUN" --root "$T/xdg/sbxrun" state "$ID" | jq .pid)
	"$SBXRUN" --root "$T/xdg/sbxrun" kill "$ID" KILL
	wait_until 10 dead "$pid"
	# What only root could remove would come before the hook.
	for dir in /sys/fs/cgroup/"$P/$ID" /sys/fs/cgroup/*/"$P/$ID"; do
		[ -L "${dir%/"$P/$ID"}" ] || [ ! -d "$dir" ] || rmdir "$dir"
	done
	chmod -R a+rwX xdg/sbxrun
	chown -R 666:666 xdg/sbxrun
	run as_user 12345 env XDG_RUNTIME_DIR="$T/xdg" "$SBXRUN" delete "$ID"
	[ ! -e xdg/ran ] || fail "the hook of another has run as $(<xdg/ran)"
	rc_is 1
	like "$err" "$T/xdg/sbxrun.*(somebody else|write)"
	chown -R 0:0 xdg/sbxrun
	chmod -R go-w xdg/sbxrun
	"$SBXRUN" --root "$T/xdg/sbxrun" delete --force "$ID"
}

an_ordinary_user_without_a_place_for_the_state_is_told_what_to_do() {
	needs setpriv
	run as_user 12345 env -u XDG_RUNTIME_DIR "$SBXRUN" list
	rc_is 1
	like "$err" 'XDG_RUNTIME_DIR.*--root'
	run as_user 12345 env -u XDG_RUNTIME_DIR "$SBXRUN" features
	rc_is 0
}

# ---- ordinary users ----

# A bundle ($B) that uid 12345 can run, with its state in $T/user/state. FILTERs are jq.
_bundle_of_user() {
	local filter all='.process.terminal = false | .root.path = $root'
	bundle
	for filter; do
		all+=" | $filter"
	done
	install -d -o 12345 -g 12345 user
	as_user 12345 "$SBXRUN" spec --rootless -b "$T/user"
	jq --arg root "$B/rootfs" "$all" user/config.json >config.new
	cat config.new >user/config.json
	B=$T/user
}

_user_sbx() {
	as_user 12345 "$SBXRUN" --root "$T/user/state" "$@"
}

an_ordinary_user_can_exec() {
	_bundle_of_user '.process.args = ["sleep", "1000"]'
	_user_sbx run -d -b "$B" "$ID"
	run _user_sbx exec "$ID" sh -c 'id -u; readlink /proc/self/ns/user'
	rc_is 0
	is "$out" "0"$'\n'"$(readlink "/proc/$(_user_sbx state "$ID" | jq .pid)/ns/user")"
	_user_sbx delete --force "$ID"
}

an_ordinary_users_container_needs_no_proc() {
	_bundle_of_user '.process.args = ["id", "-u"]' '.mounts |= map(select(.destination != "/proc"))' \
		'del(.linux.maskedPaths, .linux.readonlyPaths)'
	run _user_sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" 0
}

the_callers_umask_does_not_reach_the_state() {
	_bundle_of_user '.process.args = ["sh", "-c", "umask; exec sleep 1000"]'
	umask 0777
	run _user_sbx run -d -b "$B" "$ID"
	umask 022
	rc_is 0
	is "$(_user_sbx state "$ID" | jq -r .status)" running
	_user_sbx delete --force "$ID"
	[ ! -e "user/state/$ID" ] || fail 'its state is left'
}

# ---- what a config says ----

the_state_reaches_hooks_whole() {
	local kind
	bundle writable '.annotations = ([range(40) | {key: "large\(.)", value: ("x" * 60000)}] | from_entries)' \
		'reduce ("prestart", "createRuntime", "createContainer", "poststart", "poststop") as $kind (.;
			hook($kind; "/bin/sh"; ["sh", "-c", "cat >\($T)/\($kind)"]))' \
		'hook("startContainer"; "/bin/sh"; ["sh", "-c", "cat >/startContainer"])'
	run sbx run -b "$B" "$ID"
	rc_is 0
	mv "$B/rootfs/startContainer" .
	for kind in prestart createRuntime createContainer startContainer poststart poststop; do
		run jq -r '"\(.id) \(.annotations | length) \(.annotations | map(length) | add)"' "$kind"
		is "$out" "$ID 40 2400000" "$kind"
	done
}

an_overlay_with_long_options_keeps_its_attributes() {
	local i lower='' long
	printf -v long '%0100d' 0
	for i in 1 2 3 4; do
		mkdir -p "low/$long$i"
		echo "$i" >"low/$long$i/file$i"
		lower+=${lower:+:}$T/low/$long$i
	done
	ln -s file1 "low/${long}1/link"
	run_in_box 'cat /m/file4 /ro/file4; cat /m/link || echo not followed; echo x >/ro/new || echo not written; cat /proc/self/mountinfo' \
		"mount({destination: \"/m\", type: \"overlay\", source: \"overlay\",
			options: [\"lowerdir=$lower\", \"rnosuid\", \"rnoexec\", \"nosymfollow\", \"shared\", \"ro\"]})" \
		"mount({destination: \"/ro\", type: \"overlay\", source: \"overlay\", options: [\"lowerdir=$lower\", \"nodev\", \"rro\", \"slave\"]})"
	rc_is 0
	like "$out" $'^4\n4\nnot followed\nnot written\n'
	read_mountinfo "$out"
	is "${MOUNT_TYPE[/m]} ${MOUNT_TYPE[/ro]}" 'overlay overlay'
	mount_has /m ro nosuid noexec nosymfollow
	like "${MOUNT_PEERS[/m]}" shared:
	mount_has /ro ro nodev
	unlike "${MOUNT_PEERS[/ro]}" shared:
}

run_tests
