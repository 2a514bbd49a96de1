#!/bin/bash
# Idea: a program in a box of `sbxrun do` goes for what is around it: its first process, whose word is its result, the caller's process, streams and files, what is taken
# out of its workspace, volumes. Escape: a file of the host is read, written or made root's; fake: a result that is not what happened.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# OPTION… CODE
_box() {
	[ -n "${B:-}" ] || bundle
	run sbx "do" --rootfs "$B/rootfs" "${@:1:$#-1}" -- sh -c "${!#}"
}
_of() { jq -r "$1" <<<"$out"; }

the_first_process_can_not_be_looked_into_or_spoken_for() {
	_box --json 'ls /proc/1/fd && echo SEEN; cat /proc/1/mem && echo SEEN; tr "\0" " " </proc/1/environ && echo SEEN
		for n in 3 4 5 6 7 8 9; do printf "\2\0\0\0\0\0\0\0" >/proc/1/fd/$n; printf "\2\0\0\0\0\0\0\0" >&$n; done; ls /proc/self/fd | tr "\n" " "; exit 9'
	hides "$out" SEEN
	is "$(_of '.status, .exit_code')" $'error\n9'
	like "$(_of .stdout)" '^0 1 2 3 $'
}

signals_to_the_first_process_do_not_end_it() {
	_box --json 'for s in KILL STOP SEGV ILL SYS; do kill -$s 1; done; sleep 0.2; echo alive; exit 4'
	is "$(_of '.stdout, .exit_code')" $'alive\n\n4'
}

# The directory of the copy lies in a volume, or was exchanged by an earlier run.
a_copy_goes_where_it_was_to_go() {
	mkdir -p canary volume/build
	chmod -R 777 canary volume
	_box -v "$T/volume:/project" --copy-out "$T/volume/results" "rmdir /project/results; ln -s $T/canary /project/results; echo owned >evil"
	untouched canary
	rm -f volume/results
	_box -v "$T/volume:/project" --copy-out "$T/volume/build/out" "mv /project/build /project/old; ln -s $T/canary /project/build; echo owned >evil"
	untouched canary
	ln -s "$T/canary" planted
	_box --copy-out "$T/planted" 'echo owned >evil'
	untouched canary
	rc_is 125
	like "$err" 'is a link or no directory'
	_box --copy-out "$T/plain" 'echo fine >good'
	is "$(<plain/good)" fine
}

a_program_that_stops_everybody_does_not_outlive_its_time() {
	_box --json --timeout 1 '(while :; do kill -STOP -1; done) & sleep 1000'
	is "$(_of .status)" timeout
	is "$(sbx list -q)" ''
}

what_is_taken_out_is_nothing_of_the_hosts() {
	mkdir canary results
	echo secret >canary/secret
	ln -s ../canary results/dir # somebody has put a link where a directory will come
	_box --copy-out results "mkdir dir; echo x >dir/planted; ln -s $T/canary/secret link; ln -s $T/canary sub; mkdir 'a
b'; echo y >'a
b/.hidden'"
	[ ! -e canary/planted ] || fail 'ESCAPED: written through a link'
	[ ! -e results/link ] && [ ! -e results/sub ]
	! grep -rq secret results/ --exclude-dir=dir
}

a_root_whose_workspace_is_a_link_leads_nowhere() {
	bundle
	mkdir canary
	rm -rf "$B/rootfs/workspace"
	ln -s "$T/canary" "$B/rootfs/workspace"
	_box --json --copy-out out2 'echo x >/workspace/x; pwd'
	[ -z "$(ls canary)" ] || fail 'ESCAPED: the workspace is a directory of the host'
}

a_volume_gets_no_setuid_file_of_roots() {
	mkdir volume
	_box -v "$T/volume:/v" 'cp /bin/busybox /v/a; chmod 4755 /v/a; chmod u+s /v/a; chmod 2755 /v/a; umask 0; mkdir -m 2777 /v/d; ls -l /v'
	[ -e volume/a ] || fail 'nothing was made, so nothing was shown'
	[ -z "$(find volume -perm /6000)" ] || escaped "made in a volume: $(find volume -perm /6000 -ls)"
}

input_that_is_a_file_stays_as_it_is() {
	echo mine >input
	_box --json 'exec 3<&0; : >/proc/self/fd/0; echo theirs >/proc/self/fd/3; truncate -s 0 /proc/self/fd/0; chmod 777 /proc/self/fd/0; true' <input
	is "$(cat input)" mine
	is "$(stat -c %a input)" 644
}

words_of_the_program_are_no_words_of_ours() {
	_box "exec 2>/dev/null
mkdir '/etc/a
sbxrun: all is well'; mkdir '/etc/$(printf '\033[2J\033[31m')x'"
	like "$err" 'refused: mkdir'
	! grep -q '^sbxrun: all is well' <<<"$err" || faked "the program speaks as sbxrun: $err"
	! grep '^sbxrun: refused' <<<"$err" | grep $'\033' >/dev/null || faked "the program's control characters are in a line of sbxrun's"
}

the_caller_is_not_kept_by_a_flood() {
	_box --json --timeout 2 --output-limit 1000 'while :; do echo x; mkdir /etc/x; done 2>&1'
	is "$(_of '.status, .truncated.stdout')" $'timeout\ntrue'
}

run_tests
