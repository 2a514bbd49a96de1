#!/bin/bash
# Policies: who chooses one, files that are refused, what their rows do to real containers, and what explain says of it.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own engine_refuses_what_hands_over_the_host
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"
. "${0%/*}/../lib/life.sh"

# What the test's own runtime is called decides; a flag stands above that.
_engine() { sbx --policy engine "$@"; }

_record() { jq -r "$1" "$T/state/$ID/state.json"; }

# _with_file JSON CMD…: with /etc/sbxrun/policy.json, which only CMD sees.
_with_file() {
	mkdir -p etc/up etc/work
	printf '%s\n' "$1" >policy.json
	shift
	# shellcheck disable=SC2016
	unshare -m --propagation private bash -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc || exit 99
		mkdir -p /etc/sbxrun && install -m "${POLICY_MODE:-644}" -o "${POLICY_OWNER:-0}" "$1/policy.json" /etc/sbxrun/policy.json || exit 99
		shift && "$@"' _ "$T" "$@"
}

# Who may refuse, and how: _refuses ROW JQ…
_refuses() {
	local row=$1
	shift
	bundle "$@"
	run _engine run -b "$B" "$ID"
	rc_is 1
	like "$err" "policy engine refuses .*\[$row\].*/etc/sbxrun/policy.json"
	nothing_is_left
	sbx run -b "$B" "$ID" >/dev/null 2>&1 || :
}

engine_holds_where_nobody_chose() {
	local plain=$T/sbxrun
	cp "$SBXRUN" "$plain"
	bundle 'sh("sleep 1000")'
	"$plain" --root "$T/state" run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	is "$(_record .policy)" engine
	like "$(_record '.clamps | map(.row) | join(" ")')" 'seccomp'
	sbx delete -f "$ID"
}

a_name_of_the_program_chooses() {
	local name
	bundle 'sh("sleep 1000")'
	for name in oci engine; do
		ln -sf "$SBXRUN" "$T/sbxrun-$name"
		"$T/sbxrun-$name" --root "$T/state" run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
		is "$(_record .policy)" "$name"
		sbx delete -f "$ID"
	done
	ln -sf "$SBXRUN" "$T/sbxrun-nosuch"
	run "$T/sbxrun-nosuch" --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'there is no policy "nosuch"'
	run "$T/sbxrun-nosuch" --policy oci --root "$T/state" explain -b "$B"
	rc_is 0
}

a_file_says_what_holds() {
	bundle 'sh("grep NoNewPrivs /proc/self/status")' '.process.noNewPrivileges = false'
	run _with_file '{"version": 1, "default": "loose", "policies": {"loose": {"no-new-privileges": "as-asked"}}}' \
		"${SBXRUN%/*}/sbxrun" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	like "$out" 'NoNewPrivs:.*0'
	run _with_file '{"version": 1}' "${SBXRUN%/*}/sbxrun" --root "$T/state" run -b "$B" "$ID"
	like "$out" 'NoNewPrivs:.*1'
	run _with_file '{"version": 1, "choices": ["code", "engine"]}' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'policy "oci": it is not among the "choices"'
}

a_file_that_can_not_be_trusted_lets_nothing_run() {
	bundle
	POLICY_MODE=664 run _with_file '{"version": 1}' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'others than its owner may write it: chmod go-w /etc/sbxrun/policy.json'
	POLICY_OWNER=1000 run _with_file '{"version": 1}' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'it belongs to uid 1000'
	run _with_file $'{"version": 1,\n"polices": {}}' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" '/etc/sbxrun/policy.json: line 2: .*unknown key "polices"'
	run _with_file '{"version": 1' "$SBXRUN" --root "$T/state" --policy oci run -b "$B" "$ID"
	rc_is 1
	like "$err" '/etc/sbxrun/policy.json: line '
	run _with_file '{"version": 7}' "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	like "$err" 'version: this sbxrun knows 1 to [1-6], and not 7'
	# Not even in a container that is there.
	bundle 'sh("sleep 1000")'
	_engine run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	run _with_file '{' "$SBXRUN" --root "$T/state" exec "$ID" /bin/true
	rc_is 255
	like "$err" 'policy.json'
	sbx delete -f "$ID"
}

a_path_is_a_file_of_policies() {
	bundle 'sh("grep CapBnd /proc/self/status")' 'caps(["CAP_CHOWN", "CAP_NET_RAW"])'
	printf '{"version": 1, "policies": {"raw": {"capabilities": {"allow": ["CAP_NET_RAW"]}}}}' >raw.json
	run sbx --policy "$T/raw.json" run -b "$B" "$ID"
	rc_is 0
	like "$out" 'CapBnd:.*0000000000002001'
	run _engine run -b "$B" "$ID"
	like "$out" 'CapBnd:.*0000000000000001'
	chmod o+w raw.json
	run sbx --policy "$T/raw.json" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'others than its owner'
}

an_annotation_only_tightens() {
	bundle '.annotations = {"org.sbxrun.policy": "oci"}'
	run _engine run -b "$B" "$ID"
	rc_is 1
	like "$err" 'org.sbxrun.policy: policy oci is not stricter than engine in the row '
	bundle '.annotations = {"org.sbxrun.policy": "engine"}' 'sh("grep NoNewPrivs /proc/self/status")' '.process.noNewPrivileges = false'
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$out" 'NoNewPrivs:.*1'
}

engine_refuses_what_hands_over_the_host() {
	_refuses host-namespaces 'without_ns("pid")'
	_refuses host-namespaces 'without_ns("network")'
	_refuses host-namespaces 'ns("ipc"; "/proc/self/ns/ipc")'
	_refuses capabilities 'caps(["CAP_SYS_ADMIN"])'
	_refuses capabilities 'caps(["CAP_DAC_READ_SEARCH"])'
	_refuses devices '.linux.devices += [{path: "/dev/loop-control", type: "c", major: 10, minor: 237}]'
	_refuses devices '.linux.resources.devices = [{allow: true, access: "rwm"}]'
	_refuses propagation '.linux.rootfsPropagation = "rshared"'
	_refuses filesystems 'mount({destination: "/x", type: "ramfs", source: "x"})'
}

# Sources are judged by what they are, not by their names.
what_would_hand_over_the_host_is_no_volume() {
	local source
	ln -s /etc/shadow shadow
	ln -s /proc procs
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
	for source in / /proc /proc/sys /sys /dev /dev/null /boot /etc/shadow /etc /run "$T/shadow" "$T/procs/sys" "$T/sock" "$T/state"; do
		[ -e "$source" ] || [ "$source" = "$T/state" ] || continue
		mkdir -p state
		_refuses host-paths "mount({destination: \"/x\", type: \"bind\", source: \"$source\", options: [\"rbind\", \"ro\"]})"
	done
	mkdir -p "$T/home/.ssh" "$T/home/.ssh/deep"
	for source in /etc/hostname /usr /usr/bin /usr/share /var /var/lib "$T/home/.ssh" "$T/home/.ssh/deep" "$T/../"; do
		[ -e "$source" ] || continue
		[[ $source != */../ ]] || continue
		_refuses host-paths "mount({destination: \"/x\", type: \"bind\", source: \"$source\", options: [\"rbind\"]})"
	done
}

# The same directory by another name.
a_bind_of_the_host_is_what_it_is() {
	mkdir alias
	bundle 'mount({destination: "/x", type: "bind", source: ($T + "/alias/ssl"), options: ["rbind"]})'
	[ -d /etc/ssl ] || skip 'no /etc/ssl'
	run unshare -m --propagation private bash -c 'mount --bind /etc "$1/alias" && shift && "$@"' _ "$T" "$SBXRUN" --policy engine --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" '\[host-paths\]'
}

ordinary_volumes_stay_what_they_are() {
	mkdir data
	: >data/f
	bundle 'sh("cat /h >/dev/null && echo x >/d/new && grep -c . /b >/dev/null; mount | grep -E \" /(h|d|b) \"")' \
		'mount({destination: "/h", type: "bind", source: "/etc/hostname", options: ["rbind", "ro"]})' \
		'mount({destination: "/d", type: "bind", source: ($T + "/data"), options: ["rbind", "rw"]})' \
		'mount({destination: "/b", type: "bind", source: ($B + "/config.json"), options: ["rbind"]})'
	run _engine run -b "$B" "$ID"
	rc_is 0
	is "$(cat data/new)" x
	is "$(grep -c 'nosuid,nodev' <<<"$out")" 3
}

an_exception_opens_one_path() {
	bundle 'mount({destination: "/x", type: "bind", source: "/etc/hostname", options: ["rbind"]})'
	printf '{"version": 1, "policies": {"p": {"host-path-exceptions": {"allow": ["/etc/hostname:rw"]}}}}' >p.json
	run sbx --policy ./p.json run -b "$B" "$ID"
	rc_is 0
	printf '{"version": 1, "policies": {"p": {"host-path-exceptions": {"allow": ["/etc/hostname"]}}}}' >p.json
	run sbx --policy ./p.json run -b "$B" "$ID"
	rc_is 1
	like "$err" 'host-paths'
}

# By whatever name, under both policies: what is the host's is no container's root.
the_host_is_no_root() {
	local policy root
	_private_ids
	ln -s / link
	mkdir bound
	for policy in engine code; do
		for root in / "$T/link" "$T/bound"; do
			bundle ".root.path = \"$root\""
			run unshare -m --propagation private bash -c 'mount --rbind / "$1" && shift && "$@"' _ "$T/bound" \
				"$SBXRUN" --policy "$policy" --root "$T/state" run -b "$B" "$ID"
			rc_is 1
			like "$err" 'root(.path|fs)|the host.s /' "$policy $root"
			is "$out" ''
			nothing_is_left
		done
	done
}

# Who builds images without rights is told why, where the config would have let it.
builders_that_need_a_namespace_are_told_why() {
	local why='no namespaces can be made inside; rootless builders .* fail, kaniko needs none'
	bundle 'del(.linux.seccomp)' 'sh("unshare -U true")'
	run _engine explain -b "$B"
	like "$out" "seccomp +linux.seccomp: $why"
	run _engine run -b "$B" "$ID"
	isnt "$rc" 0
	like "$err" 'unshare.*Operation not permitted'
	bundle '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", syscalls: [{names: ["read", "unshare"], action: "SCMP_ACT_ALLOW"}]}'
	run _engine explain -b "$B"
	like "$out" "$why"
	# A config that closes them itself loses nothing.
	bundle '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", syscalls: [{names: ["read", "write"], action: "SCMP_ACT_ALLOW"}]}'
	run _engine explain -b "$B"
	unlike "$out" "$why"
	echo '{"version": 1, "policies": {"builders": {"seccomp": "as-asked"}}}' >builders.json
	bundle 'del(.linux.seccomp)' 'sh("unshare -U true && echo built")'
	run sbx --policy ./builders.json run -b "$B" "$ID"
	is "$out" built
}

the_state_is_no_root() {
	bundle '.root.path = $T'
	run _engine run -b "$B" "$ID"
	rc_is 1
	like "$err" "root.path: it holds the runtime's own state"
}

hooks_are_roots_own_files() {
	printf '#!/bin/sh\ncat >/dev/null\necho "$0" >>%s/ran\n' "$T" >hook
	cp /bin/true elf
	chmod 755 hook elf
	bundle 'hook("createRuntime"; $T + "/hook"; ["hook"])' 'hook("poststop"; $T + "/hook"; ["hook"])' 'hook("createContainer"; $T + "/elf"; ["elf"])'
	run _engine run -b "$B" "$ID"
	rc_is 0
	is "$(wc -l <ran)" 2
	chmod g+w hook
	run _engine run -b "$B" "$ID"
	rc_is 1
	like "$err" 'policy engine refuses the hook .*/hook: .*\[hooks\]'
	chmod g-w hook
	chown 1000 hook
	run _engine run -b "$B" "$ID"
	rc_is 1
	like "$err" 'it belongs to uid 1000'
	is "$(wc -l <ran)" 2
}

# A program of i386 that ends with 3: a header, one part, exit(3).
_i386() {
	printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\124\200\4\10\64\0\0\0\0\0\0\0\0\0\0\0\64\0\40\0\1\0\0\0\0\0\0\0' >"$1"
	printf '\1\0\0\0\0\0\0\0\0\200\4\10\0\200\4\10\140\0\0\0\140\0\0\0\5\0\0\0\0\20\0\0' >>"$1"
	printf '\270\1\0\0\0\273\3\0\0\0\315\200' >>"$1"
	chmod 755 "$1"
}

a_program_of_another_architecture_is_named() {
	[ "$(uname -m)" = x86_64 ] || skip 'for x86-64'
	bundle 'args(["/seven"])'
	_i386 "$B/rootfs/seven"
	printf '#!/seven\n' >"$B/rootfs/script"
	chmod 755 "$B/rootfs/script"
	run sbx run -b "$B" "$ID"
	unlike "$err" foreign-abi
	run _engine create -b "$B" "$ID"
	rc_is 1
	like "$err" '"/seven": policy engine refuses programs of i386 \[foreign-abi\]; to allow it.*"foreign-abi": "as-asked" to a policy in /etc/sbxrun/policy.json'
	nothing_is_left
	jq '.process.args = ["sleep", "1000"]' "$B/config.json" >config && mv config "$B/config.json"
	_engine run -d -b "$B" "$ID"
	run sbx exec "$ID" /script
	rc_is 255
	like "$err" '"/script": policy engine refuses programs of i386 \[foreign-abi\]'
	printf '\76' | dd of="$B/rootfs/seven" bs=1 seek=18 conv=notrunc status=none
	run sbx exec "$ID" /seven
	like "$err" 'programs of x32'
	printf '\50' | dd of="$B/rootfs/seven" bs=1 seek=18 conv=notrunc status=none
	run sbx exec "$ID" /seven
	unlike "$err" foreign-abi
	head -c 40 "$B/rootfs/seven" >short && cat short >"$B/rootfs/seven"
	run sbx exec "$ID" /seven
	unlike "$err" foreign-abi
}

# Rows leave /sys and cgroups out, and what comes behind them keeps its number.
messages_name_the_mount_of_the_config() {
	_private_ids
	bundle '.mounts |= map(select(.destination != "/dev/mqueue"))' \
		'mount({destination: "/none", type: "bind", source: "/no/such/source", options: ["bind"]})'
	run sbx --policy code run -b "$B" "$ID"
	rc_is 1
	like "$err" "mounts\[$(jq '.mounts | length - 1' "$B/config.json")\].source"
}

# What programs ask /proc for is made up from the limits, and nothing else is there.
files_of_proc_are_made_up() {
	_private_ids
	bundle 'sh("head -n 1 /proc/meminfo; cat /proc/uptime; grep -c ^processor /proc/cpuinfo; grep -c ^cpu /proc/stat
		cat /proc/loadavg /proc/version; ls /proc | grep -v ^[0-9]; cat /proc/1/comm; : >>/proc/meminfo; cat /sys/x")' \
		'.linux.resources.memory = {limit: 67108864}' '.linux.resources.cpu = {quota: 100000, period: 100000}'
	run sbx --policy code run -b "$B" "$ID"
	is "$out" $'MemTotal:          65536 kB\n0.00 0.00\n1\n2\n0.00 0.00 0.00 1/1 1\nself\nthread-self\nsh'
	like "$err" "version.: No such file.*meminfo: (Read-only file system|Permission denied)"
	run sbx --policy code plan -b "$B" "$ID"
	like "$out" 'mount kind=fs at=/proc type=proc.* then=subset=pid'
	like "$out" 'proc-file name=meminfo'
	# Also where the caller is the machine's root and there is no user namespace to write them from.
	echo '{"version": 1, "policies": {"p": {"base": "oci", "proc": "pids"}}}' >policy.json
	bundle 'sh("cat /proc/uptime; ls /proc | grep -v ^[0-9]; cat /proc/sys/kernel/ostype")'
	run sbx --policy "$T/policy.json" run -b "$B" "$ID"
	is "$out" $'0.00 0.00\nself\nthread-self'
	run sbx --policy "$T/policy.json" run --no-pivot -b "$B" "$ID"
	is "$out" $'0.00 0.00\nself\nthread-self'
}

# What programs do all day, where Landlock holds.
landlock_leaves_programs_alone() {
	[ "$("$SBXRUN" doctor --json | jq -r '.checks[] | select(.id == "landlock").status')" = ok ] || skip "this kernel's Landlock lacks something"
	echo '{"version": 1, "policies": {"p": {"base": "oci", "landlock": "always"}}}' >policy.json
	mkdir volume && touch volume/file && chmod 666 volume/file
	bundle 'sh("set -e; cd /tmp; mkdir a b; echo 1 >a/x; mv a/x b/y; ln b/y a/z; ln -s y b/l; rm -r a b; mkfifo p; cp /bin/busybox busybox; ./busybox true
		echo 1 >/dev/null; echo 1 >/dev/shm/s; echo 1 >>/volume/file; touch /volume/new; head -c 3 /dev/urandom >/dev/zero
		(: >/proc/self/comm) 2>/dev/null && echo proc; (: >/volume-ro/file) 2>/dev/null && echo ro
		nc -l -p 7777 >/tmp/heard & i=0; until echo hello | nc 127.0.0.1 7777 2>/dev/null || [ $i -gt 99 ]; do i=$((i + 1)); sleep 0.05; done
		wait; cat /tmp/heard; stat -c %U /proc/1/status; echo out >>/dev/stdout; echo err >>/dev/stderr")' \
		'mount({destination: "/tmp", type: "tmpfs", source: "tmpfs"})' \
		'mount({destination: "/volume", type: "bind", source: ($T + "/volume"), options: ["bind", "rw"]})' \
		'mount({destination: "/volume-ro", type: "bind", source: ($T + "/volume"), options: ["bind", "ro"]})'
	run sbx --policy "$T/policy.json" run -b "$B" "$ID"
	is "$out" $'hello\nroot\nout'
	is "$err" err
	rc_is 0
	[ -e volume/new ] || fail "no file in the volume"
	run sbx --policy "$T/policy.json" plan -b "$B" "$ID"
	like "$out" 'landlock abi=[0-9]+'
	like "$out" 'landlock-place path=/tmp if=writable-mount'
	run sbx --policy "$T/policy.json" explain -b "$B"
	like "$out" 'landlock +files as the mounts say, by Landlock \(ABI [0-9]+\)'
	like "$out" 'Landlock +ABI [0-9]+'
}

# The streams of a caller who has files for them, which lie outside the root.
landlock_lets_streams_be_opened_again() {
	echo '{"version": 1, "policies": {"p": {"base": "oci", "landlock": "auto"}}}' >policy.json
	bundle 'sh("cat /dev/stdin; echo out >>/dev/stdout; echo err >>/dev/stderr")'
	echo in >in
	sbx --policy "$T/policy.json" run -b "$B" "$ID" <in >streams 2>&1
	is "$(<streams)" $'in\nout\nerr'
	bundle 'sh("stty size </dev/tty; stty -echo </dev/console && tty")' '.process.terminal = true'
	run script -qec "stty rows 33 cols 77; $SBXRUN --root $T/state --policy $T/policy.json run -b $B $ID" /dev/null
	like "$out" '33 77.*/dev/pts/0'
	# One call goes in beside the first process, and may signal it.
	bundle 'sh("trap \"exit 5\" TERM; touch /tmp/ready; while :; do sleep 0.05; done")' 'mount({destination: "/tmp", type: "tmpfs", source: "tmpfs"})'
	sbx --policy "$T/policy.json" run -d -b "$B" "$ID"
	wait_until 10 sbx exec "$ID" test -e /tmp/ready
	sbx exec "$ID" kill -TERM 1
	wait_until 10 eval '[ "$(sbx state "$ID" | jq -r .status)" = stopped ]'
}

exec_is_held_to_the_same() {
	bundle 'sh("sleep 1000")' 'caps(["CAP_CHOWN", "CAP_NET_RAW"])'
	_engine run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	run sbx exec "$ID" /bin/grep -E 'CapBnd|NoNewPrivs' /proc/self/status
	like "$out" 'CapBnd:.*0000000000000001'
	like "$out" 'NoNewPrivs:.*1'
	run sbx exec --cap CAP_SYS_ADMIN "$ID" /bin/true
	rc_is 255
	like "$err" 'policy engine refuses CAP_SYS_ADMIN'
	# Today's file may be stricter than the record, and never looser.
	run _with_file '{"version": 1, "policies": {"engine": {"capabilities": {"deny": ["CAP_CHOWN"]}, "root": "read-only"}}}' \
		"$SBXRUN" --root "$T/state" exec "$ID" /bin/true
	rc_is 255
	like "$err" 'policy engine refuses CAP_CHOWN'
	run _with_file '{"version": 1, "policies": {"engine": {"base": "oci"}}}' "$SBXRUN" --root "$T/state" exec --cap CAP_SYS_ADMIN "$ID" /bin/true
	rc_is 255
	like "$err" 'refuses CAP_SYS_ADMIN'
	sbx delete -f "$ID"
}

update_takes_no_limit_away() {
	printf '{"version": 1, "policies": {"p": {"limits": "required"}}}' >p.json
	bundle 'sh("sleep 1000")'
	sbx --policy ./p.json run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	is "$(_record '.clamps | map(select(.row == "limits")) | length')" 4
	run sbx update --pids-limit -1 "$ID"
	rc_is 1
	like "$err" 'policy p refuses to take a limit away \[limits\]'
	run sbx update --memory -1 "$ID"
	rc_is 1
	run sbx update --pids-limit 50 "$ID"
	rc_is 0
	sbx delete -f "$ID"
}

what_a_policy_changes_is_not_in_the_log() {
	bundle 'caps(["CAP_NET_RAW"])'
	run _engine --log "$T/log" run -b "$B" "$ID"
	rc_is 0
	is "$(cat log 2>/dev/null)" ''
	is "$err" ''
}

explain_says_what_is_changed_refused_and_reached() {
	bundle 'caps(["CAP_NET_RAW", "CAP_SYS_ADMIN"])' 'without_ns("uts") | del(.hostname)'
	run _engine explain -b "$B" --json
	rc_is 0
	is "$(jq -r '.refused | map(.row) | sort | join(" ")' <<<"$out")" 'capabilities host-namespaces'
	is "$(jq -r '.policy' <<<"$out")" engine
	is "$(jq '.asAsked.filter' <<<"$out")" false
	[ "$(jq '.reaches.systemCalls' <<<"$out")" -lt "$(jq '.asAsked.systemCalls' <<<"$out")" ] || fail "as many system calls"
	run _engine explain -b "$B"
	like "$out" 'Refused: such a container is not made'
	like "$out" 'as the config asks'
	state_is_empty
}

explain_knows_containers_and_those_that_are_gone() {
	bundle 'sh("sleep 1000")' 'caps(["CAP_NET_RAW"])'
	_engine run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	rm -r "$B/config.json"
	run sbx explain "$ID" --json
	rc_is 0
	like "$(jq -r '.changed | map(.row) | join(" ")' <<<"$out")" 'capabilities'
	is "$(jq -r .id <<<"$out")" "$ID"
	sbx delete -f "$ID"
	run sbx explain --last 1
	rc_is 0
	is "$(jq -r .id <<<"$out")" "$ID"
	is "$(jq -r .policy <<<"$out")" engine
	bundle 'mount({destination: "/x", type: "bind", source: "/proc", options: ["rbind"]})'
	run _engine run -b "$B" "$ID"
	rc_is 1
	run sbx explain --last 9
	is "$(head -n 1 <<<"$out" | jq -r .id)" "$ID"
	like "$(head -n 1 <<<"$out" | jq -r .refused)" 'policy engine refuses'
	is "$(wc -l <<<"$out")" 2
}

the_list_of_those_that_are_gone_stays_short() {
	local i
	bundle 'mount({destination: "/x", type: "bind", source: "/proc", options: ["rbind"]})'
	mkdir -p state
	for ((i = 0; i < 900; i++)); do
		printf '{"time":"2026-01-01T00:00:00Z","id":"old%d","policy":"engine","clamps":[{"row":"%0300d","text":"x"}]}\n' "$i" 0 >>state/explain:last
	done
	run _engine run -b "$B" "$ID"
	rc_is 1
	is "$(wc -l <state/explain:last)" 101
	is "$(head -n 1 state/explain:last | jq -r .id)" old800
	is "$(sed -n 100p state/explain:last | jq -r .id)" old899
	is "$(tail -n 1 state/explain:last | jq -r .id)" "$ID"
	# Long ones count by their length, and one that never ends is let go.
	for ((i = 0; i < 30; i++)); do
		printf '{"id":"long%d","policy":"%012000d"}\n' "$i" 0 >>state/explain:last
	done
	run _engine run -b "$B" "$ID"
	rc_is 1
	is "$(head -n 1 state/explain:last | jq -r .id)" long14
	is "$(wc -l <state/explain:last)" 17
	printf '%0300000d' 0 >state/explain:last
	run _engine run -b "$B" "$ID"
	is "$(jq -r .id state/explain:last)" "$ID"
}

policies_can_be_listed_shown_compared_and_checked() {
	run sbx policy list
	like "$out" 'engine +preset, the default'
	run sbx policy show code --json
	is "$(jq -r '.seccomp' <<<"$out")" code
	run sbx policy show code
	like "$out" 'no-new-privileges +always'
	run sbx policy diff engine code
	like "$out" 'code is at least as strict as engine in every row'
	run sbx policy calls engine
	like "$out" 'no +io_uring_setup'
	like "$out" 'some +clone '
	printf '{"version": 1, "policies": {"a": {"proc": "pids"}}}' >a.json
	run sbx policy check a.json
	rc_is 0
	like "$out" 'ok, version 1, 1 policy'
	printf '{"version": 1,\n "policies": {"a": {"prok": "pids"}}}' >a.json
	run sbx policy check a.json
	rc_is 1
	like "$err" 'a.json: line 2: .*unknown key "prok"'
	run sbx policy frobnicate
	rc_is 1
	like "$err" 'usage: sbxrun policy'
}

the_page_has_the_rows_and_their_words() {
	local page=${TESTS_DIR%/*}/runtime/man/sbxrun-policy.5.md schema=${TESTS_DIR%/*}/spec/schema/policy.json line n=0
	while read -r line; do
		grep -qF -- "$line" "$page" || fail "runtime/man/sbxrun-policy.5.md lacks '$line'"
		n=$((n + 1))
	done < <(jq -r '."$defs".policy.properties | to_entries[] | select(.key | IN("base", "description") | not)
		| "**\(.key)**" + if .value.enum then ": " + ([.value.enum[] | "**\(.)**"] | join(", ")) else "" end' "$schema")
	[ "$n" -gt 30 ] || fail "only $n rows were found"
}

# The schema for editors says what the program takes.
the_schema_has_the_rows_and_their_words() {
	local schema=${TESTS_DIR%/*}/spec/schema/policy.json row word n=0
	is "$(jq -r '."$defs".policy.properties | keys[]' "$schema" | grep -vx -e base -e description)" \
		"$(sbx policy show code --json | jq -r 'keys[]' | grep -vx base)"
	while read -r row word; do
		printf '{"version": 1, "policies": {"a": {"%s": "%s"}}}' "$row" "$word" >a.json
		run sbx policy check a.json
		rc_is 0
		n=$((n + 1))
	done < <(jq -r '."$defs".policy.properties | to_entries[] | select(.value.enum) | .key as $k | .value.enum[] | "\($k) \(.)"' "$schema")
	[ "$n" -gt 40 ] || fail "only $n words"
}

# What other architectures' calls, setuid bits and devices of the image come to.
engine_leaves_nothing_of_these() {
	bundle 'sh("mount; grep -E \"NoNewPrivs|Seccomp:\" /proc/self/status; cat /proc/kallsyms /proc/cmdline; ls /sys/kernel /sys/module; cat /proc/self/cgroup")'
	run _engine run -b "$B" "$ID"
	like "$out" 'NoNewPrivs:.*1'
	like "$out" 'Seccomp:.*2'
	unlike "$(grep -E ' type ' <<<"$out" | grep -v nosuid)" '.'
	unlike "$(grep -E ' type ' <<<"$out" | grep -vE 'nodev| on /dev | on /dev/pts ')" '.'
	unlike "$out" ' T _text|root='
	unlike "$(grep -E '^[0-9]+:' <<<"$out")" "$P"
}

run_tests
