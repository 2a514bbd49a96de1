#!/bin/bash
# torture.sh: the races among the attacks, STARTS (2500) starts each; one line a race: what was tried, how often, what was found.
# RACES, a glob of the names of tests, chooses some of them.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
export STARTS=${STARTS:-2500} TEST_LIMIT=${TEST_LIMIT:-7200} FILE_LIMIT=${FILE_LIMIT:-36000}
hits=0 races=0
for file in "$tests"/attack/a01[0-9][0-9]-*.sh "$tests"/attack/a0900-*.sh; do
	while read -r line; do
		case $line in
		'ok '* | 'not ok '* | 'skip '*) races=$((races + 1)) ;;
		*) continue ;;
		esac
		case $line in
		'ok '*) printf 'race %s: %d starts, 0 hits\n' "${line#ok }" "$STARTS" ;;
		'skip '*) printf 'race %s\n' "${line#skip }" ;;
		*) printf 'race %s\n' "${line#not ok }" && hits=$((hits + 1)) ;;
		esac
	done < <(TEST_ONLY=${RACES:-*} bash "$file" </dev/null 2>&1)
done
printf 'races: %d, %d starts each, %d hit\n' "$races" "$STARTS" "$hits"
[ "$hits" = 0 ]
