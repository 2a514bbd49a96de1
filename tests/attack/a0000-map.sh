#!/bin/bash
# The map in README.md and the files beside it are the same set, and the mutants are of today's source.
# Views: own
# shellcheck disable=SC2154
. "${0%/*}/../lib/test.sh"

_here=$TESTS_DIR/attack

# Prints the numbers of the files, without our own.
_files() {
	local file
	for file in "$_here"/a[0-9][0-9][0-9][0-9]-*.sh; do
		file=${file##*/}
		[ "${file%%-*}" = "$TEST_ID" ] || echo "${file%%-*}"
	done | sort -u
}

every_row_names_an_attack_that_is_there() {
	local line id rows=0
	while IFS='|' read -r _ line _ attacks _; do
		[ -n "${attacks:-}" ] && [[ $line != *---* && $line != ' CVE or idea '* ]] || continue
		rows=$((rows + 1))
		[ -n "${attacks// /}" ] || fail "no attack for$line"
		for id in $attacks; do
			compgen -G "$_here/$id-*.sh" >/dev/null || fail "$id of$line is not there"
		done
	done < <(sed -n '/^## What imitates what/,$p' "$_here/README.md" | grep '^|')
	[ "$rows" -gt 40 ] || fail "only $rows rows were found"
}

every_attack_is_in_the_map() {
	is "$(grep -oE '\ba[0-9]{4}\b' "$_here/README.md" | sort -u)" "$(_files)"
}

every_attack_says_what_an_escape_is() {
	local file
	for file in "$_here"/a[0-9][0-9][0-9][0-9]-*.sh; do
		[ "${file##*/}" = "$TEST_FILE" ] || sed -n '2,/^\./p' "$file" | grep -E '(Escape|Fake|Leak): ' >/dev/null || fail "$file"
	done
}

# What programs try in containers, they try in boxes of do, or it is said why not.
every_attack_is_tried_in_do_or_cannot_be() {
	local file how what
	is "$(grep -v '^#' "$_here/in-do" | cut -f 1)" "$(_files)"
	while IFS=$'\t' read -r file how what; do
		[[ $file != '#'* ]] || continue
		[ -n "$what" ] || fail "$file: no word about what is tried, or why nothing is"
		case $how in
		own) grep -qE "([\"']do[\"']|sbx box|_box|_in_do|learn|do_shell|do_python) " "$_here/$file"-*.sh || fail "$file calls neither do nor box" ;;
		as-do | no) ;;
		*) fail "$file: $how" ;;
		esac
	done <"$_here/in-do"
	is "$(grep -P '\tas-do\t' "$_here/in-do" | cut -f 1)" "$(grep -oE '_in_do a[0-9]{4}' "$_here"/a0132-*.sh | cut -d ' ' -f 2 | sort -u)"
}

# Or they would show nothing when somebody runs them, which takes too long for every day.
every_mutant_fits_the_source() {
	needs perl
	run "$_here/mutants" --fit
	is "$out" ''
	rc_is 0
}

run_tests
