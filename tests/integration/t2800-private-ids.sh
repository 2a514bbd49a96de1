#!/bin/bash
# A user namespace that nobody asked for: the row user-namespace of a policy.
# Views: own
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"

SBXRUN=${SBXRUN%-oci}
# A policy that differs from "oci" in this row alone: $1 is its level.
_policy() {
	_private_ids
	echo "$PRIVATE_IDS_ENTRY" >"$PRIVATE_IDS"
	jq -n --arg level "$1" '{version: 1, policies: {p: {base: "oci", "user-namespace": $level}}}' >policy.json
}

_sbx() {
	sbx --policy "$T/policy.json" "$@"
}

# As run_in_box, with that policy.
_box() {
	local BOX_CODE=$1
	shift
	# shellcheck disable=SC2016
	bundle 'sh($code)' "$@"
	run _sbx run -b "$B" "$ID"
}

# What the record says of a container.
_range() {
	jq -r '.idRange.first // 0' "state/$1/state.json"
}

_clamps() {
	jq -r '.clamps // [] | .[] | select(.row == "user-namespace").text' "state/$1/state.json"
}

_volume() {
	mkdir volume
	chown "$1" volume
	VOLUME="mount({destination: \"/volume\", type: \"bind\", source: \"$T/volume\", options: [\"rbind\", \"rw\"]})"
}

OWNERS='caps(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_SETUID", "CAP_SETGID", "CAP_FOWNER"])'

a_container_has_64k_ids_of_our_entry() {
	local first
	_policy always
	_box 'cat /proc/self/uid_map /proc/self/gid_map; id -u' writable
	rc_is 0
	read -r _ first _ <<<"$out"
	is "$(tr -s ' ' <<<"$out")" $' 0 '"$first"$' 65536\n 0 '"$first"$' 65536\n0'
	[ "$first" -ge 1879048192 ] && [ "$first" -lt 2147352576 ] || fail "$first is not in the entry"
	is $((first % 65536)) 0
}

root_inside_is_nobody_outside() {
	local first
	_policy always
	bundle 'sh("sleep 100")'
	_sbx run -d -b "$B" "$ID"
	first=$(_range "$ID")
	is "$(status_field "$(pid_of "$ID")" Uid)" "$first"$'\t'"$first"$'\t'"$first"$'\t'"$first"
	is "$(_clamps "$ID")" "linux.namespaces: a user namespace of its own with the ids $first to $((first + 65535))"
}

two_containers_share_no_id() {
	local a
	_policy always
	bundle
	_sbx create -b "$B" "$ID"
	a=$(_range "$ID")
	bundle
	_sbx create -b "$B" "$ID"
	isnt "$(_range "$ID")" "$a"
	isnt "$a" 0
}

sixty_four_at_once_share_no_id() {
	local i pids=()
	_policy always
	bundle
	for ((i = 0; i < 64; i++)); do
		# Their cgroups are one and the same path otherwise.
		(cd "$B" && jq --arg p "/$P/$i" '.linux.cgroupsPath = $p' config.json >"$T/config.$i") &&
			mkdir "b.$i" && ln -s "$B/rootfs" "b.$i/rootfs" && mv "config.$i" "b.$i/config.json"
		_sbx create -b "b.$i" "$P-x$i" </dev/null >/dev/null 2>"err.$i" &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" || fail "create $i: $(cat "err.$i")"
	done
	is "$(jq -r .idRange.first state/*/state.json | sort -u | wc -l)" 64
	for ((i = 0; i < 64; i++)); do
		_sbx delete -f "$P-x$i"
	done
}

files_of_the_image_are_roots_inside_and_stay_as_they_are_outside() {
	_policy always
	bundle 'sh("stat -c %u:%g / /bin/busybox /etc/passwd /seven; echo x >/new; echo y >>/etc/passwd; chown 5:6 /seven")' \
		writable "$OWNERS"
	touch "$B/rootfs/seven"
	chown 7:8 "$B/rootfs/seven"
	run _sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'0:0\n0:0\n0:0\n7:8'
	is "$(stat -c %u:%g "$B"/rootfs/{new,etc/passwd,bin/busybox,seven})" $'0:0\n0:0\n0:0\n5:6'
}

what_root_writes_to_a_volume_belongs_to_its_owner() {
	_policy always
	_volume 1234:4321
	_box 'stat -c %u:%g /volume; echo x >/volume/new; mkdir /volume/dir; stat -c %u:%g /volume/new' "$VOLUME"
	rc_is 0
	is "$out" $'0:0\n0:0'
	is "$(stat -c %u:%g volume/new volume/dir)" $'1234:4321\n1234:4321'
}

a_volume_of_root_is_roots() {
	_policy always
	_volume 0:0
	_box 'echo x >/volume/new' "$VOLUME"
	rc_is 0
	is "$(stat -c %u:%g volume/new)" 0:0
}

a_volume_of_an_id_that_no_container_has_works_too() {
	_policy always
	_volume 3000000:4000000
	_box 'echo x >/volume/new; stat -c %u:%g /volume/new' "$VOLUME"
	rc_is 0
	is "$out" 0:0
	is "$(stat -c %u:%g volume/new)" 3000000:4000000
}

other_ids_are_on_the_disk_as_inside() {
	_policy always
	_volume 1234:4321
	touch volume/old
	chown 33:34 volume/old
	_box 'stat -c %u:%g /volume/old; touch /volume/new; chown 999:998 /volume/new' "$VOLUME" "$OWNERS"
	rc_is 0
	is "$out" 33:34
	is "$(stat -c %u:%g volume/new)" 999:998
}

a_program_with_the_owners_id_writes_as_the_owner() {
	_policy always
	_volume 1000:1000
	_box 'stat -c %u:%g /volume; echo x >/volume/new' "$VOLUME" '.process.user = {uid: 1000, gid: 1000}'
	rc_is 0
	is "$out" 1000:1000
	is "$(stat -c %u:%g volume/new)" 1000:1000
}

# The id is root's inside, so there is no other for it, and the kernel says so.
nobody_but_root_has_the_owners_id() {
	_policy always
	_volume 1000:1000
	chmod 777 volume
	_box 'touch /volume/new' "$VOLUME" '.process.user = {uid: 1000, gid: 5}' '.process.user.uid = 1001'
	rc_is 0
	is "$(stat -c %u:%g volume/new)" 1001:5
	bundle 'sh("chown 1000 /volume/new")' "$VOLUME" "$OWNERS"
	run _sbx run -b "$B" "$ID"
	like "$err" 'Value too large|Invalid argument'
}

volumes_of_an_engine_have_the_ids_of_images() {
	_policy always
	mkdir -p volumes/data/_data
	chown 999:998 volumes/data/_data
	_box 'stat -c %u:%g /data; touch /data/new; chown 999:998 /data/new; touch /data/roots' "$OWNERS" \
		'mount({destination: "/data", type: "bind", source: ($T + "/volumes/data/_data"), options: ["rbind"]})'
	rc_is 0
	is "$out" 999:998
	is "$(stat -c %u:%g volumes/data/_data/{new,roots})" $'999:998\n0:0'
}

a_source_inside_the_root_is_mapped_with_it() {
	_policy always
	bundle 'sh("echo x >/b/new; stat -c %u /b")' 'mount({destination: "/b", type: "bind", source: ($B + "/rootfs/a"), options: ["bind"]})'
	mkdir "$B"/rootfs/{a,b}
	run _sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" 0
	is "$(stat -c %u "$B/rootfs/a/new")" 0
}

devices_and_files_of_the_kernel_need_no_mapping() {
	_policy always
	_box 'cat /cpus >/dev/null && echo x >/null' \
		'mount({destination: "/cpus", type: "bind", source: "/proc/cpuinfo", options: ["bind", "ro"]})' \
		'mount({destination: "/null", type: "bind", source: "/dev/null", options: ["bind"]})'
	rc_is 0
}

# ---- overlays ----

# The bundle's root becomes an overlay as an engine makes it, with the mount beside its upper layer.
_overlay() {
	mkdir -p 'layers/two of two' layers/low layers/it/{diff,work,merged}
	cp -a "$B/rootfs/." layers/low
	echo upper >'layers/two of two/two'
	mv "$B/rootfs" "$B/image"
	ln -s ../layers/it/merged "$B/rootfs"
	ln -s 'two of two' layers/l
	mount -t overlay overlay -o "lowerdir=$T/layers/l:$T/layers/low,upperdir=$T/layers/it/diff,workdir=$T/layers/it/work" "$B/rootfs"
}

the_root_may_be_an_overlay() {
	_policy always
	bundle "$OWNERS" writable 'sh("stat -c %u:%g / /two /bin/busybox; chown 5:6 /two; echo more >>/two; touch /new; rm /etc/group; cat /two")'
	_overlay
	run _sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'0:0\n0:0\n0:0\nupper\nmore'
	is "$(stat -c %u:%g layers/it/diff/{two,new})" $'5:6\n0:0'
	is "$(stat -c %u:%g:%s layers/l/two)" 0:0:6
	[ -c layers/it/diff/etc/group ] || fail "no whiteout"
	is "$(ls layers/it)" $'diff\nmerged\nwork'
	# The engine's own still works, and sees it.
	is "$(stat -c %u:%g "$B/rootfs/two")" 5:6
	echo x >>"$B/rootfs/etc/passwd"
	umount "$B/rootfs"
}

an_overlay_without_an_upper_layer_is_read_only() {
	_policy always
	bundle 'sh("cat /two; ! touch /new 2>/dev/null")' writable
	_overlay
	umount "$B/rootfs"
	mkdir -p layers/low/{proc,sys,dev}
	mount -t overlay overlay -o "lowerdir=$T/layers/l:$T/layers/low" "$B/rootfs"
	run _sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" upper
	umount "$B/rootfs"
}

a_directory_in_an_overlay_is_no_root_that_can_be_mapped() {
	_policy always
	bundle '.root.path = "rootfs/sub"'
	_overlay
	mkdir "$B/rootfs/sub"
	run _sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'root.path: .*, an overlay, can.t map ids: it is not the top of the overlay'
	is "$(ls layers/it)" $'diff\nmerged\nwork'
	umount "$B/rootfs"
}

delete_by_force_removes_the_work_directory_beside_the_layers() {
	_policy always
	bundle 'sh("sleep 100")'
	_overlay
	_sbx run -d -b "$B" "$ID"
	is "$(ls layers/it)" $'diff\nmerged\nwork\nwork.sbxrun'
	_sbx delete -f "$ID"
	is "$(ls layers/it)" $'diff\nmerged\nwork'
	umount "$B/rootfs"
}

# ---- hosts that can't ----

# No kernel maps ids of a ramfs.
_ramfs() {
	mkdir ram
	mount -t ramfs ramfs ram
	RAM="mount({destination: \"/ram\", type: \"bind\", source: \"$T/ram\", options: [\"rbind\", \"rw\"]})"
}

always_refuses_a_filesystem_that_cannot_and_names_it() {
	_policy always
	_ramfs
	_box true "$RAM"
	rc_is 1
	like "$err" 'policy p refuses a container without a user namespace \(mounts\[[0-9]+\]: the filesystem of .*/ram \(ramfs\) can.t map ids'
	like "$err" 'keep it on ext4, xfs, btrfs or a tmpfs\) \[user-namespace\]; to allow it, an administrator gives "user-namespace": "auto"'
	umount ram
}

auto_runs_without_and_says_why() {
	_policy auto
	_ramfs
	bundle 'sh("cat /proc/self/uid_map; sleep 100")' "$RAM"
	_sbx run -d -b "$B" "$ID" >log
	wait_until 5 grep -q . log
	is "$(tr -s ' ' <log)" ' 0 0 4294967295'
	is "$(_range "$ID")" 0
	like "$(_clamps "$ID")" '^linux.namespaces: no user namespace, since mounts.*\(ramfs\) can.t map ids'
	run _sbx explain "$ID"
	rc_is 0
	like "$out" 'ramfs'
	_sbx delete -f "$ID"
	umount ram
}

the_root_may_be_what_cannot_be_mapped() {
	_policy always
	_ramfs
	bundle '.root.path = ($T + "/ram")'
	cp -a "$B/rootfs/." ram
	run _sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'root.path: the filesystem of .*/ram \(ramfs\)'
	umount ram
}

a_mount_below_that_cannot_is_named_as_such() {
	_policy always
	mkdir tree tree/ram
	mount -t ramfs ramfs tree/ram
	_box true "mount({destination: \"/tree\", type: \"bind\", source: \"$T/tree\", options: [\"rbind\"]})"
	rc_is 1
	like "$err" 'a filesystem that is mounted below .*/tree'
	umount tree/ram
}

# _without_files CMD…: neither /etc/subuid nor /etc/subgid is there for CMD.
_without_files() {
	mkdir -p etc/up etc/work
	unshare -m --propagation private bash -c 'umount /etc/subuid /etc/subgid
		mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc || exit 99
		rm -f /etc/subuid /etc/subgid && shift && "$@"' _ "$T" "$@"
}

# On a fresh machine nobody has written anything.
without_an_entry_there_are_the_usual_ids() {
	local first
	_policy always
	bundle 'sh("cat /proc/self/uid_map")'
	for text in '' joe:100000:65536 $'sbxrunner:1:2\n::\nx:y:z'; do
		printf '%s' "$text" >"$PRIVATE_IDS"
		run _sbx run -b "$B" "$ID"
		rc_is 0
		read -r _ first _ <<<"$out"
		[ "$first" -ge 1879048192 ] && [ "$first" -lt 2147352576 ] || fail "$first is not one of the usual ids"
	done
	run _without_files "$SBXRUN" --root "$T/state" --policy "$T/policy.json" run -b "$B" "$ID"
	rc_is 0
	like "$out" "^ +0 +$first +65536"
}

ids_that_others_have_are_left_to_them() {
	_policy always
	echo other:1879048192:268238848 >"$PRIVATE_IDS"
	_box 'cat /proc/self/uid_map'
	rc_is 0
	is "$(tr -s ' ' <<<"$out")" ' 0 2147287040 65536'
	echo other:1879048192:268238849 >"$PRIVATE_IDS"
	_box true
	rc_is 1
	like "$err" 'give all ids of sbxrun:1879048192:268304384 to others, and no entry sbxrun'
}

an_administrator_who_wants_none_says_so() {
	_policy always
	echo sbxrun:0:0 >"$PRIVATE_IDS"
	_box true
	rc_is 1
	like "$err" '/etc/subuid: the entry sbxrun:0:0 gives containers no ids.*\[user-namespace\]'
	_policy auto
	echo sbxrun:0:0 >"$PRIVATE_IDS"
	_box 'cat /proc/self/uid_map'
	rc_is 0
	is "$(tr -s ' ' <<<"$out")" ' 0 0 4294967295'
}

a_file_that_ends_early_is_no_list() {
	_policy always
	printf 'joe:100000:65536\n\0\nother:1879048192:268304384\n' >"$PRIVATE_IDS"
	_box true
	rc_is 1
	like "$err" '/etc/subuid: it has a NUL byte'
}

an_entry_with_ids_of_others_is_refused() {
	_policy always
	printf '%s\n' "$PRIVATE_IDS_ENTRY" containers:1879048192:65536 >"$PRIVATE_IDS"
	_box true
	rc_is 1
	like "$err" 'belong to containers, too'
}

ids_above_the_range_are_refused_or_left_alone() {
	_policy always
	_box true '.process.user.uid = 65536'
	rc_is 1
	like "$err" 'process.user has an id above 65535'
	_policy auto
	_box 'id -u' '.process.user.uid = 65536'
	rc_is 0
	is "$out" 65536
}

a_procfs_of_a_joined_pid_namespace_is_its_owners() {
	_policy auto
	bundle 'sh("sleep 100")'
	_sbx run -d -b "$B" "$ID"
	_box 'cat /proc/self/uid_map' "ns(\"pid\"; \"/proc/$(pid_of "$ID")/ns/pid\")"
	rc_is 0
	is "$(tr -s ' ' <<<"$out")" ' 0 0 4294967295'
	_policy always
	bundle "ns(\"pid\"; \"/proc/$(pid_of "$P-1")/ns/pid\")"
	run _sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'joins a pid namespace and mounts a procfs for it'
}

# ---- what engines write ----

a_config_with_a_user_namespace_keeps_its_own() {
	_policy always
	_box 'cat /proc/self/uid_map' 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] |
		.linux.gidMappings = .linux.uidMappings'
	rc_is 0
	is "$(tr -s ' ' <<<"$out")" ' 0 100000 1000'
}

as_asked_gives_none() {
	_policy as-asked
	_box 'cat /proc/self/uid_map'
	rc_is 0
	is "$(tr -s ' ' <<<"$out")" ' 0 0 4294967295'
}

a_network_namespace_that_is_joined_works() {
	_policy always
	: >net
	unshare --net="$T/net" true
	_box 'ls -d /sys/class/net && cat /proc/self/uid_map' "ns(\"network\"; \"$T/net\")"
	umount net
	rc_is 0
	unlike "$(tr -s ' ' <<<"$out")" ' 0 0 '
}

groups_that_may_ping_are_those_inside() {
	_policy always
	_box 'cat /proc/sys/net/ipv4/ping_group_range' '.linux.sysctl["net.ipv4.ping_group_range"] = "0 2147483647"'
	rc_is 0
	is "$(tr -s '\t ' ' ' <<<"$out")" '0 65535'
}

# The directory with the socket is the runtime's own, and not there yet when ids are mapped.
a_service_learns_that_the_program_is_ready() {
	local policy
	needs cc python3
	_policy always
	python3 -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("manager")
while True:
	text = s.recv(4096)
	open("heard", "ab").write(text)' &
	wait_until 10 test -S manager
	export NOTIFY_SOCKET=$T/manager
	for policy in "$T/policy.json" engine code; do
		rm -f heard
		bundle 'args(["/bin/notify", "READY=1"])'
		cc -static -o "$B/rootfs/bin/notify" "$TESTS_DIR/tools/notify.c"
		sbx --policy "$policy" run -d -b "$B" "$ID"
		wait_until 10 test -s heard
		like "$(<heard)" "^READY=1"$'\n'"MAINPID=$(pid_of "$ID")"
	done
}

the_callers_priority_does_not_pass() {
	_policy always
	# shellcheck disable=SC2016
	bundle 'sh("read -r line </proc/1/stat; set -- ${line##*) }; echo ${17} ${39}")'
	run nice -n 7 "$SBXRUN" --root "$T/state" --policy "$T/policy.json" run -b "$B" "$ID"
	is "$out" '0 0'
	bundle 'sh("sleep 100")'
	_sbx run -d -b "$B" "$ID"
	# shellcheck disable=SC2016
	run nice -n 7 "$SBXRUN" --root "$T/state" exec "$ID" /bin/sh -c 'read -r line </proc/$$/stat; set -- ${line##*) }; echo ${17} ${39}'
	is "$out" '0 0'
}

streams_can_be_opened_again() {
	_policy always
	bundle 'sh("echo x >/dev/stdout && echo y >/proc/self/fd/2")'
	is "$(_sbx run -b "$B" "$ID" 2>&1 | cat)" $'x\ny'
	bundle 'sh("sleep 100")'
	_sbx run -d -b "$B" "$ID"
	is "$(_sbx exec "$ID" sh -c 'echo z >/dev/stdout' | cat)" z
}

exec_is_in_the_same_user_namespace() {
	_policy always
	bundle 'sh("sleep 100")'
	_sbx run -d -b "$B" "$ID"
	run _sbx exec "$ID" sh -c 'cat /proc/self/uid_map; id -u'
	rc_is 0
	is "$(tr -s ' ' <<<"$out")" " 0 $(_range "$ID") 65536"$'\n0'
	run _sbx exec -u 1000:1000 "$ID" id -u
	rc_is 0
	is "$out" 1000
}

other_verbs_work() {
	_policy always
	bundle 'sh("sleep 100")'
	_sbx create -b "$B" "$ID"
	is "$(status_of "$ID")" created
	_sbx start "$ID"
	_sbx update --pids-limit 50 "$ID"
	_sbx pause "$ID"
	is "$(status_of "$ID")" paused
	_sbx resume "$ID"
	_sbx kill "$ID" KILL
	wait_until 5 eval '[ "$(status_of "$ID")" = stopped ]'
	_sbx delete "$ID"
	is "$(ls -d "state/$ID" 2>/dev/null || :)" ""
}

a_terminal_works() {
	_policy always
	bundle 'sh("sleep 100")' "$OWNERS"
	_sbx run -d -b "$B" "$ID"
	like "$(script -qec "$SBXRUN --root $T/state exec -t $ID sh -c 'tty; stat -c %u /dev/pts/0'" /dev/null </dev/null | tr -d '\r' | sed 's,\^@,,')" $'/dev/pts/0\n0'
}

plan_and_explain_hold_nothing() {
	_policy always
	bundle
	run _sbx plan -b "$B" "$ID"
	rc_is 0
	like "$out" 'user'
	run _sbx explain -b "$B"
	rc_is 0
	like "$out" 'a user namespace of its own'
	is "$(grep -lrs "^$T/" /run/sbxrun-ranges || :)" ""
}

# ---- who holds what ----

delete_frees_the_range() {
	local first
	_policy always
	bundle
	_sbx create -b "$B" "$ID"
	first=$(_range "$ID")
	is "$(head -1 "/run/sbxrun-ranges/$first")" "$T/state/$ID"
	# By another name of the same root.
	ln -s state elsewhere
	"$SBXRUN" --root "$T/elsewhere" delete "$ID"
	[ ! -e "/run/sbxrun-ranges/$first" ] || fail "$first is still held"
}

# Of the machine's ranges two, which nobody else's test has, in two state roots: by an entry, or (unasked) by what others leave.
_two_ranges() {
	FIRST=$((1879048192 + ($$ % 2000) * 131072))
	_policy always
	echo "sbxrun:$FIRST:131072" >"$PRIVATE_IDS"
	[ "${1:-}" != unasked ] ||
		printf 'other:%u:%u\n' $((FIRST + 131072)) $((2147352576 - FIRST - 131072)) 1879000000 $((FIRST - 1879000000)) >"$PRIVATE_IDS"
}

all_state_roots_have_one_table() {
	_two_ranges
	bundle
	_sbx create -b "$B" "$ID"
	bundle
	"$SBXRUN" --root "$T/state2" --policy "$T/policy.json" create -b "$B" "$ID"
	isnt "$(jq .idRange.first "state2/$ID/state.json")" "$(jq .idRange.first "state/$P-1/state.json")"
	bundle
	run _sbx create -b "$B" "$ID"
	rc_is 1
	like "$err" 'containers hold all of the 2 ranges of ids'
	"$SBXRUN" --root "$T/state2" delete "$P-2"
	_sbx create -b "$B" "$ID"
}

a_failed_create_holds_nothing() {
	local i
	_two_ranges
	for i in 1 2 3; do
		_box true 'args(["/no/such/program"])' "mount({destination: \"/x$i\", type: \"tmpfs\"})"
		rc_is 1
		bundle 'mount({destination: "/y", type: "bind", source: "/no/such/source", options: ["bind"]})'
		run _sbx create -b "$B" "$ID"
		rc_is 1
	done
	is "$(ls "/run/sbxrun-ranges/$FIRST" 2>/dev/null || :)" ""
}

a_create_that_was_killed_holds_nothing_once_it_is_deleted() {
	_killed_creates_hold_nothing
	_killed_creates_hold_nothing unasked
}

_killed_creates_hold_nothing() {
	local i
	_two_ranges "$@"
	for i in 1 2 3 4; do
		bundle 'hook("createRuntime"; "/bin/sleep"; ["sleep", "100"])'
		# In the hook it has its range and its record, and is not committed.
		setsid "$SBXRUN" --root "$T/state" --policy "$T/policy.json" create -b "$B" "$ID" </dev/null &>/dev/null &
		wait_until 5 test -e "state/$ID/state.json"
		isnt "$(_range "$ID")" 0
		kill -KILL $!
		wait $! || :
		_sbx delete -f "$ID"
	done
	is "$(ls "/run/sbxrun-ranges/$FIRST" 2>/dev/null || :)" ""
}

run_tests
