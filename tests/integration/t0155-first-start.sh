#!/bin/bash
# A verb that enters a container starts twice: from its file, and from a copy that the container can't write. The first of the two is
# short where nothing speaks against it, and whatever is unusual takes the long way to the same end.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# _starts ARG…: how often the C library began in sbxrun's own process.
_starts() {
	strace -qq -o trace -e trace=set_tid_address,execve,execveat "$SBXRUN" --root "$T/state" "$@" >/dev/null
	grep -c set_tid_address trace || :
}

it_is_over_before_the_library_begins() {
	needs strace
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip 'no first start is written for this machine' ;;
	esac
	bundle 'args(["/bin/true"])'
	is "$(_starts run -b "$B" "$ID")" 1 run
	is "$(grep -c execveat trace)" 1 'it started again'
	bundle 'args(["/bin/sleep", "100"])'
	is "$(_starts create -b "$B" "$ID")" 1 create
	sbx start "$ID"
	is "$(_starts exec "$ID" /bin/true)" 1 exec
	is "$(_starts "do" --rootfs "$B/rootfs" -- /bin/true)" 1 "do"
}

who_enters_nothing_starts_once() {
	needs strace
	is "$(_starts list)" 1 list
	is "$(grep -c execveat trace)" 0 'it started again'
}

# Descriptors that must outlive the start are known to who reads the options.
what_speaks_of_descriptors_takes_the_long_way() {
	needs strace
	bundle 'args(["/bin/true"])'
	is "$(_starts run --preserve-fds 0 -b "$B" "$ID")" 2
	is "$(LISTEN_FDS=1 _starts run -b "$B" "$ID")" 2 'socket activation'
	is "$(_starts run -b "$B" "$ID" 0<&-)" 2 'no standard input'
}

# More words than fit the first start's own memory.
an_environment_of_thousands_of_words() {
	local i words=()
	for ((i = 0; i < 3000; i++)); do
		words+=("WORD_$i=x")
	done
	bundle 'sh("echo it runs")'
	run env "${words[@]}" "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" 'it runs'
}

an_empty_environment() {
	bundle 'sh("echo it runs")'
	run env -i "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	is "$out" 'it runs'
}

# The copy is made without a look at the options: what is wrong with them is told as ever.
wrong_options_are_told_as_ever() {
	refused 'unknown option.*--nonsense|nonsense' sbx run --nonsense run
	refused 'usage: sbxrun run' sbx run
	refused 'run' sbx state run
}

# A variable of the caller's can stop a loop, and grants nothing.
the_word_that_stops_the_loop_grants_nothing() {
	bundle 'args(["/bin/true"])'
	run env _SBXRUN_PROTECTED=1 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 1
	like "$err" 'protected copy'
}

run_tests
