#!/bin/bash
# The pages of the manual, the help and the completion say the same: all are compared with what `help` prints, which comes from
# the program's own tables. And the examples of the pages work.
# shellcheck disable=SC2154,SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../tools/exec.sh"

MAN=${TESTS_DIR%/*}/runtime/man
COMPLETION=${TESTS_DIR%/*}/runtime/cli/completion.bash

# Sets COMMANDS to the names, and SUMMARY[name] to what the help says of each.
_read_commands() {
	local line
	COMMANDS=()
	declare -gA SUMMARY=()
	while IFS= read -r line; do
		[[ $line =~ ^'  '([a-z]+)' '+(.*) ]] || continue
		COMMANDS+=("${BASH_REMATCH[1]}")
		SUMMARY[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
	done < <("$SBXRUN" help)
	[ "${#COMMANDS[@]}" -ge 15 ] || fail "the help lists ${#COMMANDS[@]} commands"
}

# _read_help [COMMAND]: sets OPTIONS to its options as they are written, "-b, --bundle DIR", SPELLINGS to each way to call them,
# and TITLE to what stands before them.
_read_help() {
	local line word
	OPTIONS=() SPELLINGS=() TITLE=''
	while IFS= read -r line; do
		TITLE=${TITLE:-${line%%: *}}
		[[ $line =~ ^' '+((-[A-Za-z], )?--[a-z0-9-]+(' '[^ ]+)?) ]] || continue
		OPTIONS+=("${BASH_REMATCH[1]}")
		for word in ${BASH_REMATCH[1]}; do
			[[ $word != -* ]] || SPELLINGS+=("${word%,}")
		done
	done < <("$SBXRUN" help "$@")
}

# _read_page PAGE SECTION: sets SECTION_LINES to the lines of the section that are not empty, without the marks of bold and italic.
_read_page() {
	local line inside=''
	SECTION_LINES=()
	while IFS= read -r line; do
		case $line in
		"# $2") inside=1 ;;
		'# '*) inside='' ;;
		?*)
			line=${line//'*'/}
			[ -z "$inside" ] || SECTION_LINES+=("${line//.../…}")
			;;
		esac
	done <"$MAN/$1.8.md"
}

# Sets PAGE_OPTIONS to the lines of the section that stand for options.
_read_page_options() {
	local line
	_read_page "$@"
	PAGE_OPTIONS=()
	for line in "${SECTION_LINES[@]}"; do
		[[ $line != -* ]] || PAGE_OPTIONS+=("$line")
	done
}

# _same_set WHERE HAVE WANT: both arrays have the same elements, in any order.
_same_set() {
	local -n have=$2 want=$3
	local element
	local -A seen=()
	for element in "${have[@]}"; do
		seen[$element]=1
	done
	for element in "${want[@]}"; do
		[ -n "${seen[$element]:-}" ] || fail "$1 lack '$element', which the help has"
	done
	is "${#have[@]}" "${#want[@]}" "$1 have more than the help: ${have[*]}"
}

every_command_has_a_page_that_says_what_its_help_says() {
	local name
	_read_commands
	for name in "${COMMANDS[@]}"; do
		[ "$name" != help ] || continue
		[ -f "$MAN/sbxrun-$name.8.md" ] || fail "$name has no page: runtime/man/sbxrun-$name.8.md"
		_read_help "$name"
		_read_page "sbxrun-$name" NAME
		is "${SECTION_LINES[*]}" "sbxrun-$name - ${SUMMARY[$name]}"
		_read_page "sbxrun-$name" SYNOPSIS
		is "${SECTION_LINES[*]}" "$TITLE"
		_read_page_options "sbxrun-$name" OPTIONS
		_same_set "the options of runtime/man/sbxrun-$name.8.md" PAGE_OPTIONS OPTIONS
	done
}

there_is_no_page_of_another_command() {
	local page
	_read_commands
	for page in "$MAN"/*.md; do
		page=${page##*/sbxrun}
		# A command of its own, which tests/rootfs compares with its page.
		[ "$page" != -rootfs.8.md ] || continue
		[ "$page" = .8.md ] || [[ " ${COMMANDS[*]} " == *" ${page:1:-5} "* ]] || fail "there is no command ${page:1:-5}"
	done
}

the_overview_has_the_global_options_and_the_commands() {
	local name so_far='' want=()
	_read_commands
	_read_help
	_read_page_options sbxrun 'GLOBAL OPTIONS'
	_same_set "the options of runtime/man/sbxrun.8.md" PAGE_OPTIONS OPTIONS
	_read_page sbxrun COMMANDS
	for name in "${COMMANDS[@]}"; do
		want+=("$name" ": ${SUMMARY[$name]}")
		[[ ${SECTION_LINES[*]} == *"$name : ${SUMMARY[$name]}"* ]] ||
			fail "runtime/man/sbxrun.8.md: COMMANDS lacks '$name' with ': ${SUMMARY[$name]}'"
	done
	for name in "${COMMANDS[@]}"; do
		so_far+="$name : ${SUMMARY[$name]} "
		[[ "${SECTION_LINES[*]} " == *"$so_far"* ]] ||
			fail "runtime/man/sbxrun.8.md: COMMANDS has another order than the help: '$name' is not behind the command before it"
	done
	[[ ${SECTION_LINES[*]} == *"${want[*]}"* ]] || fail "COMMANDS says '${SECTION_LINES[*]}', the help '${want[*]}'"
}

# Sets OFFERS to what the completion offers for the line WORD…, of which the last is at the cursor.
_complete() {
	local COMP_WORDS=("$SBXRUN" "$@") COMP_CWORD=$# COMPREPLY=()
	_sbxrun
	OFFERS=("${COMPREPLY[@]}")
}

the_completion_offers_all_that_the_help_lists() {
	local name
	# It is made for a shell that people sit at.
	set +eu
	# shellcheck source=/dev/null
	. "$COMPLETION"
	_read_commands
	_complete ''
	_same_set "the commands of runtime/cli/completion.bash" OFFERS COMMANDS
	_read_help
	_complete -
	_same_set 'the global options of runtime/cli/completion.bash' OFFERS SPELLINGS
	for name in "${COMMANDS[@]}"; do
		[ "$name" != help ] || continue
		_read_help "$name"
		SPELLINGS+=(--help)
		_complete "$name" -
		_same_set "the options of $name in runtime/cli/completion.bash" OFFERS SPELLINGS
	done
}

the_completion_knows_ids_signals_and_words() {
	bundle
	sbx create -b "$B" "$ID"
	set +eu
	# shellcheck source=/dev/null
	. "$COMPLETION"
	_complete --root "$T/state" state ''
	is "${OFFERS[*]}" "$ID"
	_complete --root="$T/state" kill "$ID" SIGUS
	is "${OFFERS[*]}" 'SIGUSR1 SIGUSR2'
	_complete list --format ''
	is "${OFFERS[*]}" 'table json'
	_complete install docker po
	is "${OFFERS[*]}" podman
	_complete uninstall --sysroot / ''
	is "${OFFERS[*]}" 'docker containerd podman crio'
	_complete help exe
	is "${OFFERS[*]}" exec
	_complete box re
	is "${OFFERS[*]}" 'read resume'
	sbx box create --rootfs "$B/rootfs" --id "$P" >/dev/null
	_complete --root "$T/state" box exec ''
	is "${OFFERS[*]}" "$P"
	_complete --root "$T/state" box read "$P" ''
	isnt "${OFFERS[*]}" "$P"
	_complete --root "$T/state" box list ''
	is "${OFFERS[*]}" ''
	: >code.py
	_complete "do" python cod
	is "${OFFERS[*]}" code.py
}

# _examples PAGE: sets BLOCKS to the commands of its examples, those that stand together in one.
_examples() {
	local line inside='' block=''
	BLOCKS=()
	while IFS= read -r line; do
		case $line in
		'# EXAMPLES') inside=1 ;;
		'# '*) inside='' ;;
		'    '*) [ -z "$inside" ] || block+=$line$'\n' ;;
		*)
			[ -z "$block" ] || BLOCKS+=("$block")
			block=''
			;;
		esac
	done <"$MAN/$1.8.md"
	[ "${#BLOCKS[@]}" != 0 ] || fail "$1 has no example"
}

# What an example finds: its directory is a bundle. Most pages speak of a container that runs.
_prepare() {
	case $1 in
	sbxrun-run) bundle ;;
	sbxrun-audit)
		bundle
		"$(dirname "$SBXRUN")/tests/audit-append" "$B/audit.log" - a b
		;;
	sbxrun-install | sbxrun-uninstall)
		bundle
		mkdir -p "$B"/tree/{etc/docker,usr/local/bin}
		cp "$SBXRUN" "$B/tree/usr/local/bin/sbxrun"
		;;
	sbxrun | sbxrun-create | sbxrun-start | sbxrun-spec | sbxrun-plan | sbxrun-features | sbxrun-doctor) bundle 'args(["/bin/sleep", "1000"])' ;;
	*)
		bundle 'args(["/bin/sleep", "1000"])'
		sbx run -d -b "$B" "$ID"
		;;
	esac
}

# An example with a terminal is a shell to sit at.
_run_example() {
	if [[ $1 != *--tty* ]]; then
		run bash -euc "$1"
		return
	fi
	at_terminal bash -euc "$1" <<-'END'
		expect #
		send exit
		end
	END
	err=''
}

# _examples_work PAGE…: each of them, in a directory of its own.
_examples_work() {
	local page code
	needs python3
	mkdir bin
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nexec "%s" --root "%s" "$@"\n' "$SBXRUN" "$T/state" >bin/sbxrun
	chmod +x bin/sbxrun
	PATH=$T/bin:$PATH
	for page; do
		page=${page##*/}
		page=${page%.8.md}
		[ "$page" != sbxrun-rootfs ] || continue
		_examples "$page"
		# In User-mode Linux ps does not find the boot time.
		[ "$page" != sbxrun-ps ] || ps -ef >ps.out 2>&1 || continue
		for code in "${BLOCKS[@]}"; do
			_prepare "$page"
			cd "$B" || fail "no bundle"
			# The container is called "one" there.
			_run_example "${code// one/ $ID}"
			[ "$rc" = 0 ] || fail "$page: status $rc: $err"
			[ -z "$err" ] || fail "$page: $err"
			cd "$T" || fail "no directory"
			sbx delete -f "$ID"
		done
	done
}

the_examples_of_the_overview_and_of_create_to_features_work() {
	_examples_work "$MAN"/sbxrun.8.md "$MAN"/sbxrun-[a-f]*.8.md
}

the_examples_of_the_other_pages_work() {
	_examples_work "$MAN"/sbxrun-[g-z]*.8.md
}

run_tests
