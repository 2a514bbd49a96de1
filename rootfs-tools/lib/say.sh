# shellcheck shell=bash
# Words for people. All of them go to stderr: stdout is for answers.

say() { [ -n "${opt_quiet:-}" ] || printf '%s\n' "$*" >&2; }

warn() { printf 'sbxrun-rootfs: warning: %s\n' "$*" >&2; }

die() {
	printf 'sbxrun-rootfs: %s\n' "$*" >&2
	exit 1
}

die_usage() {
	printf 'sbxrun-rootfs: %s; see sbxrun-rootfs help\n' "$*" >&2
	exit 2
}

# step TEXT CMD…: runs CMD and keeps what it says for the case that it fails. While it takes its time, a line every two seconds says
# so; the function step_detail, if it is there, adds how far it is.
step() {
	local text=$1 log status=0 pid start=$SECONDS next
	shift
	say "$text"
	log=$work/step.log
	# A process group of its own: store_close ends all of it. It keeps the lock of the name, so that whoever comes after a crash waits for it.
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	helper_pid=$pid
	next=$((SECONDS + 2))
	while kill -0 "$pid" 2>/dev/null; do
		if [ "$SECONDS" -ge "$next" ]; then
			say "  … $((SECONDS - start)) s$(step_detail)"
			next=$((SECONDS + 2))
		fi
		sleep 0.1
	done
	wait "$pid" || status=$?
	helper_pid=''
	[ "$status" = 0 ] || tail -n 20 "$log" | sed 's/^/  /' >&2
	return "$status"
}

step_detail() { :; }

# Bytes, as people write them.
human() { numfmt --to=iec --suffix=B "$1"; }
