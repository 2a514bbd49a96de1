#!/bin/bash
# An ordinary user's ids, limits and places: what works is there, what can't be had is said, and refused by --strict.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

_LIMITS='.linux.resources = {memory: {limit: 67108864}, pids: {limit: 20}}'

the_maps_are_the_configs() {
	local first count want=" 0 $SBX_UID 1"
	read -r first count <<<"$SBX_SUBIDS"
	[ "$count" = 0 ] || want+=" 1 $first $count"
	run_in_box 'echo $(cat /proc/self/uid_map) $(cat /proc/self/gid_map); cat /proc/self/setgroups'
	rc_is 0
	is "${out%%$'\n'*}" "${want# }$want"
	is "${out##*$'\n'}" "$([ "$count" = 0 ] && echo deny || echo allow)"
}

a_single_id_has_no_other_groups() {
	[ "$SBX_VIEW" = rootless-single ] || { _with_groups; return; }
	run_in_box 'id -u; id -g'
	is "$out" $'0\n0'
	run_in_box true '.process.user.additionalGids = [7]'
	rc_is 1
	like "$err" 'process\.user\.additionalGids'
	run_in_box true '.process.user.uid = 1000'
	rc_is 1
	like "$err" 'process\.user\.uid'
}

_with_groups() {
	run_in_box 'id -u; id -g; id -G' '.process.user = {uid: 1000, gid: 1001, additionalGids: [7, 8]}'
	rc_is 0
	is "$out" $'1000\n1001\n1001 7 8'
}

ids_of_somebody_else_are_refused() {
	run_in_box true '.linux.uidMappings = [{containerID: 0, hostID: 0, size: 1}]'
	rc_is 1
	like "$err" 'newuidmap refused the mapping: .*/etc/subuid'
	state_is_empty
}

# Whoever writes to a directory in the caller's PATH must not be asked for ids, and the helpers get none of his environment.
the_helpers_are_not_looked_for_in_the_path() {
	mkdir bin
	printf '#!/bin/sh\ntouch %s/fooled\nexit 1\n' "$T" | tee bin/newuidmap bin/newgidmap >/dev/null
	chmod +x bin/*
	bundle 'args(["id", "-u"])'
	PATH=$T/bin:$PATH run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" 0
	PATH='' run "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	[ ! -e fooled ] || fail 'they are'
}

# With a delegated subtree limits hold; without, each that is asked for is named once, in the log alone.
limits_hold_or_are_said_to_have_no_effect() {
	bundle 'args(["sleep", "1000"])' "$_LIMITS"
	run sbx --log "$T/log" --log-level warning run -d -b "$B" "$ID"
	rc_is 0
	is "$out$err" ''
	if [ "$SBX_VIEW" = rootless-v2 ]; then
		file_has "$(cgroup_dir memory)/memory.max" '^67108864$'
		file_has "$(cgroup_dir memory)/pids.max" '^20$'
		file_has "$(cgroup_procs)" "^$(pid_of "$ID")$"
		return
	fi
	is "$(grep -c 'without effect' log)" 1
	file_has log 'level=warning msg="linux\.resources\.memory\.limit, linux\.resources\.pids\.limit: without effect, for there are no cgroups: '
}

strict_refuses_what_can_not_be_had() {
	bundle "$_LIMITS"
	run sbx --strict run -b "$B" "$ID"
	if [ "$SBX_VIEW" = rootless-v2 ]; then
		rc_is 0
		return
	fi
	rc_is 1
	like "$err" '^sbxrun: --strict: linux\.resources\.memory\.limit, linux\.resources\.pids\.limit: without effect'
	state_is_empty
	bundle
	run sbx --strict run -b "$B" "$ID"
	rc_is 0
	is "$err" ''
}

# They need a program that only root may load, or cgroup v1.
device_rules_are_said_to_have_no_effect() {
	bundle 'sh("true </dev/null && echo ran")' '.linux.resources.devices = [{allow: false, access: "rwm"}]'
	run sbx --log "$T/log" --log-level warning run -b "$B" "$ID"
	rc_is 0
	is "$out$err" ran
	file_has log 'level=warning msg="linux\.resources\.devices: without effect: '
	run sbx --strict run -b "$B" "$ID"
	rc_is 1
	like "$err" '^sbxrun: --strict: linux\.resources\.devices: without effect'
	state_is_empty
	bundle 'sh("echo ran")' '.linux.resources.devices = [{allow: true, access: "rwm"}]'
	run sbx --strict run -b "$B" "$ID"
	is "$out$err" ran 'rules that deny nothing'
}

limits_without_effect_are_said() {
	bundle "$_LIMITS"
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$err" '^sbxrun: warning: linux\.resources\.memory\.limit, linux\.resources\.pids\.limit: without effect'
	run sbx --log "$T/log" run -b "$B" "$ID"
	is "$err" ''
	file_has log 'level=warning.*without effect'
}

rootless_must_be_what_the_caller_is() {
	bundle
	run sbx --rootless=true run -b "$B" "$ID"
	rc_is 0
	run sbx --rootless=auto run -b "$B" "$ID"
	rc_is 0
	run sbx --rootless=false run -b "$B" "$ID"
	rc_is 1
	like "$err" "the caller's uid is $SBX_UID"
}

the_state_is_below_xdg_runtime_dir() {
	install -d -m 700 -o "$SBX_UID" -g "$SBX_UID" xdg
	bundle 'args(["sleep", "1000"])'
	run env XDG_RUNTIME_DIR="$T/xdg" "$SBXRUN" run -d -b "$B" "$ID"
	rc_is 0
	[ -e "xdg/sbxrun/$ID/state.json" ] || fail 'it is elsewhere'
	run env XDG_RUNTIME_DIR="$T/xdg" "$SBXRUN" delete -f "$ID"
	rc_is 0
}

a_lower_oom_score_is_an_error_that_names_it_a_higher_one_is_set() {
	run_in_box 'cat /proc/self/oom_score_adj' '.process.oomScoreAdj = 700'
	rc_is 0
	is "$out" 700
	run_in_box true '.process.oomScoreAdj = -900'
	rc_is 1
	like "$err" 'process\.oomScoreAdj'
}

without_a_user_namespace_it_says_what_to_do() {
	run_in_box true 'without_ns("user")' 'del(.linux.uidMappings, .linux.gidMappings)'
	rc_is 1
	like "$err" 'needs a user namespace .*spec --rootless'
}

run_tests
