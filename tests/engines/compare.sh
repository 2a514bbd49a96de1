#!/bin/bash
# The lines of engines/compare-lines with sbxrun and with runc under one daemon; engines/compare calls it in a place of its own.
#
# Prints a verdict a line. What both print is compared after names, ids and the words of an error have been made the same.
# shellcheck disable=SC2016,SC2317,SC2034
set -u
TESTS_DIR=$(cd "$(dirname "$0")/.." && pwd)
HERE=$TESTS_DIR/engines
# shellcheck source-path=SCRIPTDIR source=../lib/dockerd.sh
. "$TESTS_DIR/lib/dockerd.sh"
only=${COMPARE_ONLY:-*} sample=${COMPARE_SAMPLE:-} kind=$ENGINE${REMAP:+-remap}
AT_ONCE=3
I=localhost/compare
# What the runtimes mount in ways of their own.
not_ours="'/sys/fs/cgroup\|/proc/\(acpi\|keys\|timer_list\)\|/sys/firmware'"
# docker shows a terminal's user another message for a status that isn't 0 now and then; nothing of the caller's comes along.
export LC_ALL=C.UTF-8 TERM=xterm DOCKER_BUILDKIT=0 PODMAN_IGNORE_CGROUPSV1_WARNING=1

# ---- the words of the lines ----

r() { $RUN --rm "$@"; }

up() {
	$RUN -d --name "$C" "$@" "$I" sh -c 'trap "exit 0" TERM; while :; do sleep 0.1; done' >/dev/null
}

x() { $E exec "$@"; }

until_is() {
	local want=$1 end=$((SECONDS + 60))
	shift
	until [ "$("$@" 2>&1)" = "$want" ]; do
		[ "$SECONDS" -lt "$end" ] || { echo "never '$want'"; return 1; }
		sleep 0.05
	done
}

tty() { printf '%b' "${steps:-}" | "$HERE/pty.py" "$@"; }

# ---- one line with one runtime ----

# Names, ids and addresses are chance, and so is podman's word of a resize that came when the program had ended. Of an error of the runtime, what the engine makes of it counts: the status; its words
# are each runtime's own.
same() {
	sed -E -e '/error waiting for container: /d; /ERRO.*container not running +.?$/d; s/^time="[^"]*"/time=T/; s/podman[0-9]{5,}/FILE/; s/`[a-z\/]*\/('"$RT|$RIVAL"') /`RUNTIME /' -e "s/$C/NAME/g" -e "s/\b($RT|$RIVAL)\b/RUNTIME/g" -e 's/\b[0-9a-f]{64}\b/ID/g; s/\b[0-9a-f]{12}\b/SHORT/g' \
		-e 's/(OCI runtime [a-z]* failed:|OCI runtime error:).*/\1 …/; s/^Error: RUNTIME: .*: (OCI .*)/Error: … \1/; s/(failed to create (shim )?task:|cannot (start|update|exec|kill|pause) [^:]*:).*(OCI runtime)/\1 \4/' \
		-e 's/overlay2\/[^, :]*/LAYER/g; s/\/overlay\/(l\/)?[0-9A-Z]*/LAYER/g' -e 's/\bl\/[A-Z0-9]{26}\b/LAYER/g' \
		-e 's/- sysfs sysfs r[ow]/- sysfs sysfs/; s/^[0-9]+ [0-9]+ [0-9]+:[0-9]+ /MOUNT /; s/ (master|shared):[0-9]+/ \1/g; s/(pipe|socket|(ipc|mnt|net|pid|user|uts|cgroup|time)):\[[0-9]+\]/\1:[N]/g' \
		"$1"
}

# with RT NUMBER CODE
with() {
	local RT=$1 C=c$2-$1 T=$files-$1 steps='' dir=$work/$2-$1 code=$3 CREATE RUN
	case $ENGINE in
	docker) E=docker RUN="docker run --runtime $RT --network none" CREATE="docker create --runtime $RT --network none" ;;
	podman) E="podman --runtime $RT" RUN="$E run --network none" CREATE="$E create --network none" ;;
	esac
	mkdir "$dir"
	(eval "$code") >"$dir/out" 2>"$dir/err" </dev/null
	echo "$?" >"$dir/status"
	$E rm -f "$C" >/dev/null 2>&1
	for file in out err status; do
		same "$dir/$file" >"$dir/$file.same"
	done
}

# What is known to differ: a pattern of names, of engines, and why.
known() {
	local names engines why
	while IFS=$'\t' read -r names engines why; do
		# shellcheck disable=SC2053
		[[ $names != \#* && $1 == $names && ($kind == $engines || ${ENTER:+sid-}$kind == $engines) ]] || continue
		echo "$why"
		return 0
	done <"$HERE/compare-known"
	return 1
}

# verdict NUMBER NAME
verdict() {
	local number=$1 name=$2 file why differs=''
	for file in status out err; do
		cmp -s "$work/$number-$OURS/$file.same" "$work/$number-$RIVAL/$file.same" || differs="$differs $file"
	done
	# A script for a terminal that came to no end with either shows nothing.
	! grep -hq '^pty: ' "$work/$number-"*/err || differs="$differs terminal"
	if [ -z "$differs" ]; then
		echo "ok compare $kind-$name"
	elif why=$(known "$name"); then
		echo "ok compare $kind-$name # differs as known: $why"
	else
		echo "not ok compare $kind-$name:$differs"
		for file in status out err; do
			diff -U 0 --label "$RIVAL" --label "$OURS" "$work/$number-$RIVAL/$file.same" "$work/$number-$OURS/$file.same"
			# the words that were made the same, and what a terminal waited for
			[ "$file" != err ] || head -c 1000 "$work/$number-$RIVAL/err" "$work/$number-$OURS/err"
		done | sed 's/^/    /' | head -n 100
		return 1
	fi
	[ -z "${COMPARE_VERBOSE:-}" ] || head -n 100 "$work/$number-"*/{status,out,err}
}

# ---- the place ----

# share DIR: what the containers of one runtime get from the host.
share() {
	mkdir -p "$1"/{share,other,hidden/share}
	echo words | tee "$1/share/file" >"$1/hidden/share/file"
	chmod 700 "$1/hidden"
	printf 'no program' >"$1/share/bad"
	printf '#!/no/such\n' >"$1/share/noint"
	chmod 755 "$1/share/"{bad,noint}
	printf 'X=y\nZ=1 2\n' >"$1/share/env"
	echo '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["chmod","fchmodat"],"action":"SCMP_ACT_ERRNO"}]}' >"$1/share/seccomp.json"
}

prepare() {
	local root=$work/root
	mount --make-rshared / # as systemd leaves it; docker asks for it
	mkdir -p "$root"/{bin,etc,tmp,proc,sys,dev,run}
	if [ -n "${COMPARE_TREE:-}" ]; then
		root=$COMPARE_TREE
	else
		cp "$(type -P busybox)" "$root/bin/busybox"
		chroot "$root" /bin/busybox --install -s /bin
		echo root:x:0:0::/root:/bin/sh >"$root/etc/passwd"
		echo nobody:x:65534:65534::/home:/bin/sh >>"$root/etc/passwd"
		printf 'root:x:0:\nnobody:x:65534:\n' >"$root/etc/group"
		: >"$root/etc/there"
		ln -s etc/there "$root/link"
		ln -s ../run/made/there "$root/dangling"
		chmod 1777 "$root/tmp"
	fi
	chmod 755 "$work"
	share "$files-$OURS"
	share "$files-$RIVAL"
	[ "$ENGINE" != docker ] || dockerd_up "$work/daemon.log" --storage-driver overlay2 \
		${REMAP:+--userns-remap "$REMAP"} || return 1
	tar -C "$root" -c --exclude ./proc/* --exclude ./sys/* . | "$ENGINE" import - "$I" >/dev/null 2>"$work/import"
}

work=$(mktemp -d)
cd "$work" || exit # conmon leaves a file where it is called
files=$work/files
OURS=${OURS:-sbxrun} RIVAL=${RIVAL:-runc}
if ! prepare; then
	echo "not ok compare start: $kind did not come up"
	tail -n 20 "$work/daemon.log" | sed 's/^/    /'
	exit 1
fi
# Rows are run a few at a time; their verdicts come in order.
names=() codes=()
while IFS=$'\t' read -r name code; do
	[[ -n $name && $name != \#* ]] || continue
	[ -z "$sample" ] || [[ $name == \** ]] || continue
	name=${name#\*}
	[ -z "$sample" ] || [ "$kind" != podman ] || [[ $name == tty-* ]] || continue
	# shellcheck disable=SC2053
	[[ $name == $only ]] || continue
	names+=("$name") codes+=("$code")
done <"${COMPARE_LINES:-$HERE/compare-lines${COMPARE_TREE:+-debian}}"
failed=0
for ((first = 0; first < ${#names[@]}; first += AT_ONCE)); do
	pids=()
	for ((i = first; i < first + AT_ONCE && i < ${#names[@]}; i++)); do
		with "$OURS" "$i" "${codes[i]}" &
		pids+=($!)
		with "$RIVAL" "$i" "${codes[i]}" &
		pids+=($!)
	done
	wait "${pids[@]}"
	for ((i = first; i < first + AT_ONCE && i < ${#names[@]}; i++)); do
		verdict "$i" "${names[i]}" || failed=1
	done
done
exit "$failed"
