#!/bin/bash
# The command line: how options are spelled, what help and version print, and that a wrong call changes nothing.
# Views: own help_goes_to_stdout flags_that_engines_pass_are_taken
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

version_names_program_commit_and_spec() {
	local lines
	for flag in --version -v -version; do
		run "$SBXRUN" "$flag"
		rc_is 0
		is "$err" ''
		mapfile -t lines <<<"$out"
		is "${#lines[@]}" 3
		like "${lines[0]}" '^[a-z]+ version [0-9]+\.[0-9]+\.[0-9]+'
		like "${lines[1]}" '^commit: .+'
		like "${lines[2]}" '^spec: 1\.[0-9]+\.[0-9]+$'
	done
}

help_goes_to_stdout() {
	local words verb
	for words in help --help -h 'help create' 'create --help' 'run -h' 'create some-id --bundle x --help' 'exec -t -h'; do
		# shellcheck disable=SC2086
		run "$SBXRUN" $words
		rc_is 0
		is "$err" ''
		like "$out" 'sbxrun'
	done
	for words in h 'help help' 'help -h' 'h --help' '-h state' '--help nonsense'; do
		# shellcheck disable=SC2086
		run "$SBXRUN" $words
		rc_is 0
		like "$out" '^sbxrun \[OPTION…\] COMMAND'
	done
	mapfile -t verbs < <("$SBXRUN" help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help)
	[ "${#verbs[@]}" -gt 20 ] || fail "help names only ${#verbs[@]} commands"
	for verb in "${verbs[@]}"; do
		for words in "$verb -h" "$verb --help" "$verb -help" "help $verb" "h $verb"; do
			# shellcheck disable=SC2086
			run "$SBXRUN" $words
			rc_is 0
			is "$err" ''
			like "$out" "^sbxrun $verb"
		done
	done
	run "$SBXRUN" help create
	for words in bundle pid-file preserve-fds console-socket no-pivot; do
		like "$out" "--$words"
	done
}

the_readme_names_every_command() {
	local verb said
	# The list goes on over the end of the line, up to the first semicolon.
	said=$(tr '\n' ' ' <"$TESTS_DIR/../README.md" | sed 's/.* Works: \([^;]*\);.*/\1/')
	while read -r verb; do
		[[ " ${said//,/ } " == *" $verb "* ]] || fail "README.md, Where it stands: Works: lacks $verb"
	done < <("$SBXRUN" help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help)
}

a_call_without_a_command_is_refused() {
	run "$SBXRUN"
	rc_is 1
	is "$out" ''
	isnt "$err" ''
}

unknown_commands_and_flags_are_refused() {
	bundle
	refused 'nonsense' sbx nonsense
	refused 'nonsense' "$SBXRUN" help nonsense
	refused 'nonsense' "$SBXRUN" --nonsense list
	refused 'nonsense' sbx create --nonsense -b "$B" "$ID"
	refused 'z' sbx run -z -b "$B" "$ID"
	state_is_empty
}

a_mistyped_command_is_answered_with_the_nearest() {
	refused 'unknown command "strat" .*start' "$SBXRUN" strat
	refused 'unknown command "exce" .*exec' "$SBXRUN" help exce
	refused 'unknown command "hlep" .*help' "$SBXRUN" hlep
	refused 'unknown command "frobnicate" .*sbxrun help' "$SBXRUN" frobnicate
	unlike "$err" 'did you mean'
}

an_unknown_flag_is_answered_with_those_that_there_are() {
	refused 'flag provided but not defined: --bundel .*did you mean --bundle\?' sbx create --bundel=x "$P"
	refused 'flag provided but not defined: --nonsense .*--format.*--quiet' sbx list --nonsense
	refused 'flag provided but not defined: --nonsense .*none' sbx start --nonsense
	refused 'flag provided but not defined: --root .*before the command' "$SBXRUN" list --root "$T/state"
	refused 'flag provided but not defined: --bundle .*--root' "$SBXRUN" --bundle x list
}

# PATTERN COMMAND…, of a command whose own failures are 125
_answered() {
	run "${@:2}"
	rc_is 125
	is "$out" ''
	like "$err" "$1"
}

options_and_commands_of_other_tools_are_answered_with_ours() {
	_answered 'not defined: --rm .*always removed' "$SBXRUN" "do" --rm python x
	_answered 'not defined: -it .*leave it out' "$SBXRUN" "do" -it python x
	_answered 'not defined: -p .*nothing outside' "$SBXRUN" box create -p 80:80 python
	_answered 'not defined: --name .*--id NAME' "$SBXRUN" box create --name=x python
	refused 'not defined: -it .*process.terminal' sbx run -it "$P"
	_answered 'not defined: -c .*behind --' "$SBXRUN" box exec x sh -c y
	_answered 'not defined: --x .*behind --' "$SBXRUN" box run x python f.py --x
	refused 'unknown command "images" .*sbxrun-rootfs list' "$SBXRUN" images
	refused 'unknown command "python" .*sbxrun do' "$SBXRUN" python x
	_answered 'no verb "rm" .*box destroy' "$SBXRUN" box rm x
	_answered 'no verb "rmm" .*there are create' "$SBXRUN" box rmm x
}

# Nothing that is answered so is an option or a command of ours: the answer would never be reached.
words_of_other_tools_are_none_of_ours() {
	local commands command words word said=''
	while IFS='|' read -r commands words; do
		for command in $commands; do
			said=$("$SBXRUN" help "$command")
			for word in $words; do
				! grep -qE -- "^ +(-$word, |(-., )?--$word( |=|\[|\$))" <<<"$said" || fail "$command has $word"
			done
		done
	done < <(sed -n 's/^\t{"\([^"]*\)", "\([^"]*\)".*/\1|\2/p' "$TESTS_DIR/../runtime/cli/foreign.c")
	isnt "$said" ''
	said=" $("$SBXRUN" help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ')"
	like "$said" ' create .* box '
	for word in $(sed -n '/ commands\[\] = {/,/^};/s/^\t{NULL, "\([^"]*\)".*/\1/p' "$TESTS_DIR/../runtime/cli/foreign.c"); do
		unlike "$said" " $word "
	done
}

# podman asks for both before it offers to save a container: a failure, and no word of a missing argument.
checkpoint_and_restore_are_said_to_be_missing() {
	local words
	for words in 'checkpoint --help' 'checkpoint -h' 'checkpoint x' 'help checkpoint' 'checkpoint --image-path x y'; do
		# shellcheck disable=SC2086
		refused 'checkpoint is not supported' "$SBXRUN" $words
		is "$out" ''
	done
	refused 'restore is not supported' "$SBXRUN" restore -h
	refused 'restore is not supported' "$SBXRUN" restore --lsm-mount-context
	unlike "$err" 'argument'
}

a_flag_without_its_value_is_refused_in_the_words_that_engines_look_for() {
	refused 'flag needs an argument|requires an argument' sbx create --bundle
	refused 'flag needs an argument|requires an argument' sbx create x -b
	refused 'flag needs an argument|requires an argument' "$SBXRUN" --root
}

a_wrong_number_of_arguments_is_refused() {
	bundle
	for verb in create start run state kill delete; do
		refused . sbx "$verb"
	done
	refused . sbx create -b "$B" "$ID" more
	refused . sbx state "$ID" more
	refused . sbx kill "$ID" TERM more
	refused . sbx list more
	state_is_empty
}

global_options_are_spelled_in_four_ways() {
	local way
	bundle
	sbx create -b "$B" "$ID"
	for way in "--root $T/state" "--root=$T/state" "-root $T/state" "-root=$T/state"; do
		# shellcheck disable=SC2086
		run "$SBXRUN" $way state "$ID"
		rc_is 0
		like "$out" "\"id\": *\"$ID\""
	done
}

the_bundle_is_spelled_in_six_ways() {
	local way
	bundle 'sh("cat /mark")'
	echo here >"$B/rootfs/mark"
	for way in "-b $B" "-b=$B" "--bundle $B" "--bundle=$B" "-bundle $B" "-bundle=$B"; do
		# shellcheck disable=SC2086
		run sbx run $way "$ID"
		rc_is 0
		is "$out" here "$way"
	done
}

the_bundle_is_the_current_directory_by_default() {
	bundle 'sh("cat /mark")'
	echo here >"$B/rootfs/mark"
	cd "$B"
	run sbx run "$ID"
	rc_is 0
	is "$out" here
}

options_may_follow_the_id() {
	bundle 'sh("exit 7")'
	run sbx run "$ID" --bundle "$B"
	rc_is 7
	sbx create "$ID" -b "$B" --pid-file "$T/pid"
	[ -s "$T/pid" ] || fail 'no pid file'
	sbx delete "$ID" -f
	nothing_is_left
}

two_dashes_end_the_options() {
	bundle 'sh("exit 7")'
	run sbx run -b "$B" -- "$ID"
	rc_is 7
	# An id may begin with a dash; only so can it be said.
	run sbx run -b "$B" -- "-$ID"
	rc_is 7
	refused . sbx run -b "$B" "-$ID"
	state_is_empty
}

flags_take_true_and_false() {
	local word
	bundle 'sh("exit 7")'
	run sbx run --detach=false --keep=true -b "$B" "$ID"
	rc_is 7
	is "$(status_of "$ID")" stopped
	refused . sbx delete --force=maybe "$ID"
	sbx delete --force=true "$ID"
	nothing_is_left
	# As Go's flag package reads them.
	for word in T 1 TRUE; do
		run sbx run --detach=0 --keep=$word -b "$B" "$ID"
		rc_is 7
		is "$(status_of "$ID")" stopped "$word"
		sbx delete --force=f "$ID"
	done
}

a_number_must_be_one() {
	local value
	bundle
	for value in x -1 1x '' 99999999999; do
		refused 'preserve-fds' sbx create --preserve-fds "$value" -b "$B" "$ID"
	done
	state_is_empty
}

flags_that_engines_pass_are_taken() {
	bundle 'sh("exit 7")'
	run sbx --debug=false --rootless=false --cgroup-manager cgroupfs run --no-subreaper --no-new-keyring -b "$B" "$ID"
	rc_is 7
	run sbx --rootless auto run -no-subreaper -b "$B" "$ID"
	rc_is 7
}

a_driver_that_is_not_there_is_refused() {
	bundle
	refused 'systemd|cgroupfs' sbx --systemd-cgroup create -b "$B" "$ID"
	refused 'cgroup' sbx --cgroup-manager=systemd create -b "$B" "$ID"
	state_is_empty
}

# What podman asks for with --cgroups=disabled.
a_container_can_be_without_cgroups() {
	local pid
	bundle 'args(["/bin/sleep", "1000"])'
	sbx --cgroup-manager disabled run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	is "$(<"/proc/$pid/cgroup")" "$(<"/proc/self/cgroup")" 'it stays where the caller is'
	[ ! -e "$(cgroup_dir pids)" ] || fail 'a cgroup was made'
	run sbx exec "$ID" echo hello
	is "$out" hello
	run sbx ps --format json "$ID"
	is "$out" "[$pid]"
	refused 'cgroup' sbx pause "$ID"
	refused 'no cgroups' sbx update --pids-limit 5 "$ID"
	refused 'no cgroups' sbx events --stats "$ID"
	sbx delete -f "$ID"
	wait_until 10 dead "$pid"
	nothing_is_left
	bundle '.linux.resources.pids.limit = 5'
	refused 'linux.resources.pids.limit: no cgroups here: --cgroup-manager disabled' sbx --cgroup-manager=disabled run -b "$B" "$ID"
	state_is_empty
}

debug_leaves_the_containers_output_alone() {
	bundle 'sh("echo hello")'
	run sbx --debug --log "$T/log" run -b "$B" "$ID"
	rc_is 0
	is "$out" hello
	is "$err" ''
}

the_state_directory_is_made_for_the_owner_alone() {
	bundle 'sh("true")'
	"$SBXRUN" --root "$T/deep/er/roots" run --keep -b "$B" "$ID"
	is "$(stat -c %a "$T/deep/er/roots")" 700
	is "$(stat -c %a "$T/deep/er/roots/$ID")" 700
	"$SBXRUN" --root "$T/deep/er/roots" delete "$ID"
	[ ! -e "$T/deep/er/roots/$ID" ] || fail 'the state is still there'
}

the_state_directory_is_below_run_by_default() {
	bundle
	# shellcheck disable=SC2016
	run unshare -m sh -c '
		mount -t tmpfs tmpfs /run && "$0" run --keep -b "$1" "$2" && ls -d /run/sbxrun/"$2" && "$0" delete "$2"
	' "$SBXRUN" "$B" "$ID"
	rc_is 0
	is "$out" "/run/sbxrun/$ID"
}

# docker shows what it finds there, and "unable to retrieve OCI runtime error" where it finds nothing.
errors_of_usage_are_in_the_log_too() {
	local words
	for words in 'create --nonsense x' 'nonsense' 'create' 'kill x NOSUCHSIGNAL' 'create --preserve-fds 9999 x' 'delete --force' 'restore -b . x'; do
		rm -f log
		# shellcheck disable=SC2086
		run sbx --log "$T/log" --log-format json $words
		isnt "$rc" 0
		is "$(jq -r .level log)" error "$words"
		is "$err" "sbxrun: $(jq -r .msg log)"
	done
	rm -f log
	run sbx --log "$T/log" --log-level nonsense state x
	isnt "$rc" 0
	file_has log 'nonsense'
}

run_tests
