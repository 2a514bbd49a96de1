#!/bin/bash
# ask.sh RUNTIME ROOT CONTAINER VERB: for crash.c: fails, and says why, if the box reaches what it must not. Less than it may is fine: who carried may be dead.
# Who runs in the box already reaches at most what rules on record allow, and a call that comes now exactly what they say.
runtime=$1 root=$2 box=${3#box-}
rules=$'\n'$("$runtime" --root "$root" box rules "$box" 2>/dev/null)$'\n' || exit 0
pid=$("$runtime" --root "$root" state "$3" 2>/dev/null | jq .pid) && [ "${pid:-0}" != 0 ] || exit 0
# shellcheck disable=SC2016
reach='for h in good.example www.good.example other.example; do
	case $(nc $h 22 </dev/null) in SSH*) echo $h:22 ;; esac
	case $(printf "GET / HTTP/1.0\r\nHost: $h\r\n\r\n" | nc $h 8080) in HTTP*) echo $h:8080 ;; esac
done'

wrong() {
	echo "$1 reaches $2, and the rules are:${rules//$'\n'/ }"
	exit 1
}

for where in $(nsenter -t "$pid" -n busybox sh -c "${reach//nc /busybox nc }" 2>/dev/null); do
	[[ $rules == *$'\n'"allow $where"$'\n'* ]] || wrong "who is in the box" "$where"
done
for where in $("$runtime" --root "$root" box exec --timeout 60 "$box" -- /bin/sh -c "$reach" 2>/dev/null); do
	[[ $rules == *$'\n'"allow $where"$'\n'* && $rules != *$'\n'"deny $where"$'\n'* ]] || wrong "a call" "$where"
done
exit 0
