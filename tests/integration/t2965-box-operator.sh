#!/bin/bash
# /etc/sbxrun/boxes.json: what an operator lets boxes have at most.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
# _with JSON CMD…: with that file, which only CMD sees.
_with() {
	mkdir -p etc/up etc/work
	printf '%s\n' "$1" >boxes.json
	shift
	export -f _box sbx
	export SBXRUN T
	unshare -m --propagation private bash -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" overlay /etc || exit 99
		mkdir -p /etc/sbxrun && install -m "${FILE_MODE:-644}" -o "${FILE_OWNER:-0}" "$1/boxes.json" /etc/sbxrun/boxes.json || exit 99
		shift && "$@"' _ "$T" "$@"
}
_of() { jq -r "$1" <<<"$out"; }

limits_are_lowered_or_refused() {
	local file='{"version": 1, "idle_s": 60, "limits": {"max_memory_mb": 64, "max_cpu_percent": 50, "max_pids": 20, "max_disk_mb": 8, "max_execution_time": 5, "max_output_bytes": 1000}}'
	bundle
	run _with "$file" _box create --json --id "$P.a" --rootfs "$B/rootfs"
	rc_is 0
	is "$(_of '.limits | .memory, .pids, .disk, .output, (.timeout_s * 10 / 10), (.cpus * 10 / 10)')" $'67108864\n20\n8388608\n1000\n5\n0.5'
	is "$(_of .idle_limit_s)" 60
	for more in '--memory 65m' '--cpus 0.6' '--pids-limit 21' '--disk 9m' '--timeout 6' '--output-limit 1001' '--idle 61'; do
		# shellcheck disable=SC2086
		run _with "$file" _box create --rootfs "$B/rootfs" $more
		rc_is 125
		like "$err" "${more%% *}: "
		case $more in
		--memory*) like "$err" 'operator allows, which is 64m \(' ;;
		--cpus*) like "$err" 'which is 0.5 \(' ;;
		--timeout*) like "$err" 'which is 5 seconds \(' ;;
		--output*) like "$err" 'which is 1000 \(' ;;
		esac
	done
	run _with "$file" _box create --id "$P.b" --rootfs "$B/rootfs" --memory 32m --pids-limit 5 --idle 10
	rc_is 0
	# Of a call, too.
	run _with "$file" _box exec --timeout 6 "$P.a" -- true
	rc_is 125
	like "$err" 'more than the operator allows'
	run _with "$file" _box exec --timeout 4 "$P.a" -- true
	rc_is 0
}

their_number_is_the_operators() {
	bundle
	run _with '{"version": 1, "boxes": 1}' _box create --id "$P.a" --rootfs "$B/rootfs"
	rc_is 0
	run _with '{"version": 1, "boxes": 1}' _box create --id "$P.b" --rootfs "$B/rootfs"
	rc_is 125
	like "$err" 'there are 1 boxes'
}

languages_have_the_operators_roots() {
	local file
	bundle
	file='{"version": 1, "languages": {"bash": "'$B/rootfs'"}}'
	run _with "$file" _box create --json --id "$P.a" sh
	is "$(_of '.rootfs, .language')" "$B/rootfs"$'\nshell'
	run _with "$file" _box create python
	rc_is 125
	like "$err" 'the operator has no such boxes'
	run _with "$file" _box create --rootfs "$B/rootfs" bash
	rc_is 125
	like "$err" '--rootfs: the operator says'
}

what_is_not_understood_or_trusted_lets_nothing_be_made() {
	bundle
	for file in '{}' '{"version": 2}' '{"version": 1, "boxs": 3}' '{"version": 1, "limits": {"max_memory": 3}}' '{"version": 1, "boxes": null}' '{"version": 1, "idle_s": 0}' \
		'{"version": 1, "boxes": -1}' '{"version": 1, "languages": {"cobol": "x"}}' '{"version": 1' '{"version": 1, "limits": {"max_pids": 1.5}}'; do
		run _with "$file" _box create --rootfs "$B/rootfs"
		rc_is 125
		like "$err" '/etc/sbxrun/boxes.json'
	done
	FILE_MODE=666 run _with '{"version": 1}' _box create --rootfs "$B/rootfs"
	rc_is 125
	like "$err" 'others than its owner may write it'
	FILE_OWNER=1234 run _with '{"version": 1}' _box create --rootfs "$B/rootfs"
	rc_is 125
	is "$(sbx list -q)" ''
}

# The schema for editors says what the program takes.
the_schema_has_all_keys() {
	local schema=${TESTS_DIR%/*}/spec/schema/boxes.json file
	bundle
	file=$(jq -c '{version: 1, boxes: 5, idle_s: 5, snapshots: 5, languages: {bash: "x"},
		network: {enabled: true, allowed: ["a.org"], denied: ["b.org"], default: ["a.org"], max_bytes: 9999, max_rate: 9999}, registries: {pypi: {index: "https://a.org/", hosts: ["c.org"]}},
		models: (.properties.models.properties | with_entries(.value = 1)),
		limits: (.properties.limits.properties | with_entries(.value = 1))}' "$schema")
	is "$(jq -r '.properties | keys | join(" ")' "$schema")" "$(jq -r 'keys | join(" ")' <<<"$file")"
	run _with "$file" _box create python
	unlike "$err" 'unknown key'
	like "$err" 'operator'
	is "$(jq -r '.properties.network.properties | keys | join(" ")' "$schema")" "$(jq -r '.network | keys | join(" ")' <<<"$file")"
	is "$(jq -r '.properties.registries.additionalProperties.properties | keys | join(" ")' "$schema")" "$(jq -r '.registries.pypi | keys | join(" ")' <<<"$file" | tr ' ' '\n' | sort | xargs)"
}

# What is more than that is refused before anything is made; t3281 has what becomes of it.
what_a_box_may_reach_is_the_operators() {
	local file='{"version": 1, "network": {"allowed": ["**.a.org", "b.org:22", "10.0.0.0/8:22", "@pypi"]}}' rule
	bundle
	for rule in c.org a.org:22 b.org b.org:23 '.org' 10.0.0.0/7:22 11.0.0.1:22 10.0.0.1 @npm; do
		run _with "$file" _box create --rootfs "$B/rootfs" --allow "$rule"
		rc_is 125
		like "$err" "--allow $rule: more than the operator allows, which is \\*\\*.a.org, b.org:22, 10"
	done
	run _with '{"version": 1, "network": {"enabled": false}}' _box create --rootfs "$B/rootfs" --allow a.org
	rc_is 125
	like "$err" 'lets no box reach anything'
	run _with '{"version": 1, "network": {"max_bytes": 1024}}' _box create --rootfs "$B/rootfs" --allow a.org --net-limit 1025
	rc_is 125
	like "$err" 'net-limit: more than the operator allows'
	for file in '{"version": 1, "network": {"allow": []}}' '{"version": 1, "network": {"allowed": ["*"]}}' '{"version": 1, "network": {"denied": ["@pypi"]}}' '{"version": 1, "network": {"max_rate": 1}}' \
		'{"version": 1, "registries": {"cargo": {}}}' '{"version": 1, "registries": {"pypi": {"index": "file:///x"}}}' '{"version": 1, "registries": {"npm": {"hosts": ["x y"]}}}'; do
		run _with "$file" _box create --rootfs "$B/rootfs"
		rc_is 125
		like "$err" '/etc/sbxrun/boxes.json'
	done
	is "$(sbx list -q)" ''
}

run_tests
