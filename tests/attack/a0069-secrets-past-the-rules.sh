#!/bin/bash
# Output that is to pass redaction: in pieces, at the border of what is shown, or so dear to look at that nobody does. Leak: the secret,
# or a text that no rule has read to its end.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# _prints CODE OPTION…: what a box shows of it.
_prints() {
	local code=$1
	shift
	run timeout 100 "$SBXRUN" --root "$T/state" 'do' --redact "$@" --json bash "$code"
	[ "$rc" != 125 ] || skip "no boxes here: $err"
	shown=$(jq -r '.stdout, .stderr' <<<"$out")
}

a_secret_in_pieces_is_one() {
	local ways=('printf bob@exa; sleep 0.2; printf mple.com' 'for c in b o b @ e x a m p l e . c o m; do printf %s $c; sleep 0.01; done')
	for code in "${ways[@]}"; do
		_prints "$code"
		[[ $shown != *bob* && $shown != *example* ]] || leaked "$shown"
		like "$shown" '\[REDACTED_EMAIL\]'
	done
}

# As events, each of which somebody may show before the next one comes.
a_secret_in_pieces_is_one_in_events_too() {
	local ways=('printf bob@exa; sleep 0.3; printf mple.com; sleep 0.3; echo " end"' 'for c in b o b @ e x a m p l e . c o m " " e n d; do printf "%s" "$c"; sleep 0.01; done')
	for code in "${ways[@]}"; do
		run timeout 100 "$SBXRUN" --root "$T/state" 'do' --redact --stream bash "$code"
		[ "$rc" != 125 ] || skip "no boxes here: $err"
		shown=$(jq -rj 'select(.event == "stdout").data' <<<"$out")
		[[ $out != *bob* && $out != *mple* ]] || leaked "$out"
		like "$shown" '^\[REDACTED_EMAIL\] end'
		is "$(jq -rs '.[-1].result.redactions | map("\(.rule) \(.stream) \(.count)") | join(",")' <<<"$out")" 'email stdout 1'
	done
}

a_secret_at_the_end_of_what_is_shown_is_not_cut_in_two() {
	local n
	for n in 20 24 30 36 40; do
		_prints 'printf "xxxxxxxxxxxxxxxxxxx sk-proj-abcdefghijklmnopqrstuvwxyz0123456789\n"' --output-limit "$n"
		[[ $shown != *sk-* && $shown != *abc* ]] || leaked "$n: $shown"
	done
}

# The rule is such that only this text makes it explode, which the check of the file does not try.
what_is_too_dear_to_read_does_not_pass() {
	printf '{"version":1,"rules":[{"name":"dear","pattern":"(?:(?:qw)+)+z"}]}\n' >rules
	_prints 'for i in {1..200}; do printf qw; done; echo " and bob@example.com"' --redact-rules rules
	[[ $shown != *qwqwqwqwqwqwqwqwqwqwqwqwqwqwqwqwqwqwqw* && $shown != *bob* ]] || leaked "$shown"
	like "$shown" '\[REDACTED_UNCHECKED\]'
	is "$(jq '[.redactions[] | select(.rule == "dear").unchecked > 0] | any' <<<"$out")" true
}

# It comes to an end, and shows no more than it may.
a_flood_of_almost_secrets_ends() {
	_prints 'yes a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@a@ | head -c 20000000; echo end >&2' --output-limit 4096 --timeout 60
	is "$(jq -r .truncated.stdout <<<"$out")" true
	is "$(jq -r .bytes.stdout <<<"$out")" 20000000
	like "$shown" 'end$'
	[ "${#shown}" -lt 5000 ] || leaked "${#shown} bytes are shown"
}

run_tests
