#!/bin/bash
# spec and features: documents that others read.
# Views: own the_rootless_spec_maps_the_caller features_lists_what_engines_ask_for
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

the_spec_runs_as_it_is_but_for_the_terminal() {
	bundle
	mkdir spec
	cd spec
	run sbx spec
	rc_is 0
	is "$out$err" ''
	cp -al "$B/rootfs" .
	jq --arg path "/$P/$ID" '.process.terminal = false | .process.args = ["sh", "-c", "hostname; id -u; touch /x || echo read-only"]
		| .linux.cgroupsPath = $path' config.json >config.new
	mv config.new config.json
	run sbx run "$ID"
	rc_is 0
	is "$out" $'sbxrun\n0\nread-only'
}

the_spec_names_a_version_and_a_root() {
	mkdir spec
	sbx spec -b "$T/spec"
	jq -e '(.ociVersion | test("^1\\.")) and .root.path == "rootfs" and .process.cwd == "/" and (.process.args | length > 0)
		and ([.mounts[].destination] | contains(["/proc", "/dev", "/sys"]))
		and ([.linux.namespaces[].type] | contains(["pid", "mount", "network", "ipc", "uts"]))' spec/config.json >/dev/null
}

spec_does_not_overwrite() {
	mkdir spec
	echo mine >spec/config.json
	refused 'exist' sbx spec --bundle "$T/spec"
	is "$(<spec/config.json)" mine
	ln -s nowhere spec/link
	mkdir spec2
	ln -s "$T/target" spec2/config.json
	refused . sbx spec --bundle "$T/spec2"
	[ ! -e "$T/target" ] || fail 'a link was followed'
}

the_rootless_spec_maps_the_caller() {
	mkdir -m 777 spec
	as_user 1234 "$SBXRUN" spec --rootless -b "$T/spec"
	jq -e '([.linux.namespaces[].type] | contains(["user"]))
		and .linux.uidMappings == [{containerID: 0, hostID: 1234, size: 1}]
		and .linux.gidMappings == [{containerID: 0, hostID: 1234, size: 1}]
		and .linux.resources == null' spec/config.json >/dev/null || fail "$(cat spec/config.json)"
}

an_ordinary_user_runs_the_rootless_spec() {
	bundle
	mkdir -m 755 user
	chown 1234:1234 user
	as_user 1234 "$SBXRUN" spec --rootless -b "$T/user"
	ln -s "$B/rootfs" user/rootfs
	jq '.process.terminal = false | .process.args = ["sh", "-c", "id -u; cat /proc/self/uid_map"] | .root.path = $path' \
		--arg path "$B/rootfs" user/config.json >config.new
	cat config.new >user/config.json
	run as_user 1234 "$SBXRUN" --root "$T/user/state" run -b "$T/user" "$ID"
	rc_is 0
	like "$out" $'^0\n +0 +1234 +1$'
}

features_is_one_json_object_and_nothing_else() {
	run "$SBXRUN" features
	rc_is 0
	is "$err" ''
	jq -es 'length == 1 and (.[0] | (.ociVersionMin | test("^1\\.")) and (.ociVersionMax | test("^1\\.[0-9]+\\.[0-9]+")))' \
		"$T/out" >/dev/null
}

features_lists_what_engines_ask_for() {
	"$SBXRUN" features >features
	jq -e '.hooks | sort == (["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"] | sort)' \
		features >/dev/null || fail hooks
	jq -e '.mountOptions | contains(["ro", "rro", "bind", "rbind", "nosuid", "idmap", "tmpcopyup"])' features >/dev/null ||
		fail mountOptions
	jq -e '.linux.namespaces | sort == (["pid", "network", "mount", "ipc", "uts", "user", "cgroup", "time"] | sort)' features >/dev/null ||
		fail namespaces
	jq -e '.linux | .cgroup.v1 and .cgroup.v2 and .seccomp.enabled and .mountExtensions.idmap.enabled
		and (.capabilities | contains(["CAP_CHOWN", "CAP_CHECKPOINT_RESTORE"]))' features >/dev/null || fail linux
	jq -e '.linux.cgroup | .systemd and .systemdUser' features >/dev/null || fail 'the systemd driver'
	# As prefixes, which is what the trailing dot says; nothing else may be set by an annotation.
	jq -e '.potentiallyUnsafeConfigAnnotations == ["org.systemd.property."]' features >/dev/null || fail potentiallyUnsafeConfigAnnotations
}

# What the document claims is put to the test: each word of it is used in a config.
every_mount_option_of_features_is_taken() {
	# idmap needs a file system that can (t0550), remount something to remount, bind a source.
	# shellcheck disable=SC2016
	bundle 'sh("ls /m | wc -l; ls -d /m/*/here | wc -l")' '.mounts += [{destination: "/m", type: "tmpfs", source: "tmpfs"}]' \
		"$("$SBXRUN" features | jq -r '.mountOptions - ["idmap", "ridmap"] | map(
			{destination: ("/m/" + .), type: "tmpfs", source: "tmpfs", options: [.]} +
			if test("^r?bind$") then {source: "here"} elif . == "remount" then {destination: "/dev"} else {} end) |
			".mounts += " + tostring')"
	mkdir -p "$B/here/here"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" "$("$SBXRUN" features | jq '.mountOptions | length - 3')"$'\n2'
	# Any other word goes to the file system, which knows no such.
	run_in_box 'echo started' '.mounts += [{destination: "/m", type: "tmpfs", source: "tmpfs", options: ["nosuchoption"]}]'
	rc_is 1
}

every_namespace_of_features_is_made() {
	local type kinds
	# A user namespace needs maps (t0710).
	kinds=$("$SBXRUN" features | jq -r '.linux.namespaces[] | select(. != "user")')
	[ -e /proc/self/ns/time ] || kinds=${kinds/time/}
	bundle '.linux.namespaces = []' "$(for type in $kinds; do printf 'ns("%s") | ' "$type"; done) ."
	sbx create -b "$B" "$ID"
	for type in $kinds; do
		type=${type/network/net}
		type=${type/mount/mnt}
		isnt "$(readlink "/proc/$(pid_of "$ID")/ns/$type")" "$(readlink "/proc/self/ns/$type")" "$type"
	done
}

every_word_of_seccomp_in_features_is_taken() {
	# Rules for calls that nothing makes, one for each action and for each operator; SCMP_ACT_NOTIFY has its own tests (t1700).
	# shellcheck disable=SC2016
	bundle 'sh("echo started")' "$("$SBXRUN" features | jq -r '.linux.seccomp |
		(.actions - ["SCMP_ACT_NOTIFY"]) as $actions | .operators as $operators |
		["acct", "swapon", "swapoff", "reboot", "quotactl", "settimeofday", "kexec_load", "lookup_dcookie", "vhangup"] as $calls |
		{defaultAction: "SCMP_ACT_ALLOW", architectures: .archs, syscalls: (
			[range($actions | length) | {names: [$calls[.]], action: $actions[.]}] +
			[$operators[] | {names: ["ioperm"], action: "SCMP_ACT_ERRNO", args: [{index: 0, value: 77, valueTwo: 77, op: .}]}])} |
		".linux.seccomp = " + tostring')"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" started
}

features_does_not_depend_on_the_caller() {
	"$SBXRUN" features >as-root
	as_user 65534 env -i "$SBXRUN" features >as-nobody
	cmp as-root as-nobody
}

# ---- plan ----

a_plan_says_what_would_be_done_and_does_nothing() {
	bundle '.hostname = "planned"' '.linux.maskedPaths = ["/proc/keys"]' '.linux.sysctl = {"net.ipv4.ip_forward": "1"}' \
		'.hooks.poststop = [{path: "/bin/true", env: ["TOKEN=secret"]}]' 'sh("echo one two")' '.process.env += ["TOKEN=secret"]'
	run sbx plan -b "$B" "$ID"
	rc_is 0
	is "$err" ''
	like "$out" '^root path=.*/rootfs by=pivot'
	like "$out" $'\nnamespace kind=pid new\n'
	like "$out" $'\nnames hostname=planned\n'
	like "$out" $'\nmasked-path path=/proc/keys\n'
	like "$out" $'\nsysctl key=net.ipv4.ip_forward value=1\n'
	like "$out" $'\nhook kind=poststop path=/bin/true\n'
	like "$out" $'\nprogram cwd=/ args=/bin/sh,-c,"echo one two" env=[A-Z,]*TOKEN'
	unlike "$out" secret
	state_is_empty
	nothing_is_left
}

a_plan_is_json_that_can_be_asked() {
	bundle
	run sbx plan --json -b "$B"
	rc_is 0
	is "$(jq -r 'map(select(.fact == "mount" and .at == "/proc")) | .[0].type' <<<"$out")" proc
	is "$(jq -r 'map(select(.fact == "user")) | .[0].uid' <<<"$out")" 0
}

a_plan_of_what_create_refuses_is_refused_alike() {
	bundle '.process.capabilities.effective = ["CAP_KILL"]' '.process.capabilities.permitted = []'
	run sbx create -b "$B" "$ID"
	local words=$err
	run sbx plan -b "$B" "$ID"
	rc_is 1
	is "$err" "$words"
}

run_tests
