#!/bin/bash
# spec and features: documents that others read.
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
}

features_does_not_depend_on_the_caller() {
	"$SBXRUN" features >as-root
	as_user 65534 env -i "$SBXRUN" features >as-nobody
	cmp as-root as-nobody
}

run_tests
