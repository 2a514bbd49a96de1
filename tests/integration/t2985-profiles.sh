#!/bin/bash
# Seccomp profiles of languages (spec/seccomp): the corpus runs under them, they only take away, users add to them, and `do` chooses.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

SECCOMP=${TESTS_DIR%/*}/spec/seccomp
_caller() {
	bundle
	[ -x "$SBXT_WORK/caller2" ] || {
		cc -O1 -w -static -pthread -o "$SBXT_WORK/caller2.$$" "$TESTS_DIR/tools/caller.c" && mv "$SBXT_WORK/caller2.$$" "$SBXT_WORK/caller2"
	}
	cp "$SBXT_WORK/caller2" "$B/rootfs/bin/caller"
	chmod 755 "$B/rootfs/bin/caller"
}
_box() { run sbx "do" --rootfs "$B/rootfs" "$@"; }
_of() { jq -r "$1" <<<"$out"; }

# _corpus LANGUAGE PROGRAM PROFILE: all of it comes to its end, and the profile itself refuses nothing.
_corpus() {
	local file said
	run sbx "do" --rootfs host -- sh -c "command -v $2"
	[ "$rc" = 0 ] || skip "no $2 on this host"
	for file in "$SECCOMP/corpus/$1"/*; do
		run sbx "do" --profile "$3" --rootfs host --json --timeout 100 --memory 1g --pids-limit 256 "$1" "$file"
		said=$(_of .stdout)
		[[ $'\n'$said == *$'\nok\n'* || $'\n'$said == *$'\nok' ]] || fail "${file##*/}: $(_of '.status, .stdout, .stderr' | tail -n 20)"
		is "$(_of '[.denials[] | select(.kind == "syscall" and (.hint | test("^the profile"))) | .name] | join(" ")')" '' "${file##*/}"
	done
}

the_corpus_of_python_runs_under_its_profile() { _corpus python python3 python; }
the_corpus_of_node_runs_under_its_profile() { _corpus node node node; }
the_corpus_of_bash_runs_under_its_profile() { _corpus bash bash bash; }
the_corpus_of_c_runs_under_its_profile() { _corpus c cc c; }
the_corpus_of_r_runs_under_its_profile() { _corpus r Rscript r; }

# A program of one language that starts another: what boxes with the host's /usr, where all of them are, have.
any_language_starts_any_other_under_the_union() { _corpus node node union; }

a_profile_takes_away_what_it_does_not_have_and_says_so() {
	_caller
	_box --profile none -- caller timerfd 1
	is "$out" 'timerfd done'
	_box --profile python --json -- caller timerfd 1
	is "$(_of .stdout)" 'timerfd EPERM'
	is "$(_of '.denials[0] | "\(.name) \(.errno)"')" 'timerfd_create EPERM'
	like "$(_of '.denials[0].hint')" 'the profile python does not have this call: --profile-add'
	is "$(_of .profile)" python
	_box --profile union -- caller timerfd 1
	is "$out" 'timerfd done'
}

a_users_file_adds_names() {
	_caller
	printf '%s\n' '# what this program needs besides' '' '  timerfd_create # one' 'timerfd_settime' >names
	_box --profile python --profile-add "$T/names" -- caller timerfd 1
	is "$out" 'timerfd done'
	echo personality >second
	_box --profile bash --profile-add "$T/names" --profile-add "$T/second" -- caller timerfd 1
	is "$out" 'timerfd done'
}

what_a_user_cannot_add_is_said() {
	_caller
	echo chroot >names
	_box --profile python --profile-add "$T/names" -- true
	rc_is 125
	like "$err" 'line 1: the policy code does not give chroot.*"system-calls": .*chroot'
	printf '\nnosuch\n' >names
	_box --profile python --profile-add "$T/names" -- true
	rc_is 125
	like "$err" 'line 2: there is no system call "nosuch"'
	_box --profile python --profile-add "$T/missing" -- true
	rc_is 125
	like "$err" "read $T/missing"
	_box --profile-add "$T/names" -- true
	rc_is 125
	like "$err" 'no profile to add to'
	_box --profile cobol -- true
	rc_is 125
	like "$err" 'there is no "cobol" \(there are python, node, bash, c, r, union, none\)'
}

the_policy_stays_the_bound() {
	local profile
	_caller
	for profile in union c python none; do
		_box --profile "$profile" -- caller refused 1 socket 17
		is "$out" $'chroot EPERM\nsocket EPERM' "$profile"
	done
}

# In the language's own rootfs its profile; where other languages may be at hand, the union; of a command nothing is known.
do_chooses_by_language_and_rootfs() {
	bundle
	mkdir -p library/bash
	cp -al "$B/rootfs" library/bash/rootfs
	printf '#!/bin/sh\nexec sh "$@"\n' >library/bash/rootfs/bin/bash
	chmod 755 library/bash/rootfs/bin/bash
	export SBXRUN_ROOTFS_DIR=$T/library
	run sbx "do" --json bash 'echo hi'
	is "$(_of '.profile, .stdout')" $'bash\nhi'
	run sbx "do" --json --rootfs bash bash 'echo hi'
	is "$(_of .profile)" bash
	run sbx "do" --json --rootfs "$T/library/bash/rootfs" bash 'echo hi'
	is "$(_of .profile)" union
	run sbx "do" --json --rootfs bash -- sh -c 'echo hi'
	is "$(_of '.profile // "none"')" none
	run sbx --policy code "do" --json bash 'echo hi'
	is "$(_of '.profile // "none"')" none
	run sbx --policy code "do" --profile r --json bash 'echo hi'
	is "$(_of '.profile')" r
}

learn_tells_a_profile_from_a_policy() {
	_caller
	run sbx learn --format json -o "$T/learned" "do" --profile python --rootfs "$B/rootfs" -- caller timerfd 1 refused 1
	is "$(jq -r '.profile, (.refused[] | "\(.name) \(.by)")' "$T/learned")" $'python\nchroot system-calls\ntimerfd_create profile'
	is "$(jq -r '.rows["system-calls"].allow | tostring' "$T/learned")" '["chroot"]'
	# And from what it says to a profile that gives it.
	jq -r '.refused[] | select(.by == "profile") | .name' "$T/learned" >names
	_box --profile python --profile-add "$T/names" -- caller timerfd 1
	is "$out" 'timerfd done'
}

# What a stranger's program would miss: a part of Python's own tests, which no corpus of ours knows. What the policy refuses there (setuid, chroot, sync …) is its
# own affair; the profile refuses nothing. PYTHON_TESTS is the directory, if it isn't the one of the package libpython3.11-testsuite.
# PYTHON_TESTS_LONG=1 adds those that take minutes.
pythons_own_tests_miss_nothing_of_the_profile() {
	local dir=${PYTHON_TESTS:-} lib seconds=380
	local names=(test_os test_posix test_fcntl test_resource test_select test_epoll test_mmap test_shutil test_dbm test_fork1 test_wait4 test_popen)
	if [ -n "${PYTHON_TESTS_LONG:-}" ]; then
		names+=(test_subprocess test_signal test_threading test_thread test_io test_tempfile test_pathlib test_pty test_socket)
		seconds=2000
	fi
	lib=$(/usr/bin/python3 -c 'import os; print(os.path.dirname(os.__file__))' 2>/dev/null) || skip 'no python3 on this host'
	[ -n "$dir" ] || dir=$lib/test
	[ -e "$dir/test_posix.py" ] || skip "no tests of Python's own here (libpython3.11-testsuite)"
	run sbx "do" --profile python --rootfs host --json --timeout "$seconds" --memory 1g --pids-limit 256 -v "$dir:$lib/test:ro" -- \
		/usr/bin/python3 -m test -u none "${names[@]}"
	[ "$(_of .status)" != timeout ] || missed "${#names[@]} of Python's own tests in $seconds s"
	like "$(_of .stdout)" "${#names[@]} tests|\\[${#names[@]}/${#names[@]}"
	is "$(_of '[.denials[] | select(.kind == "syscall" and (.hint | test("^the profile"))) | .name] | join(" ")')" ''
	# That they were asked at all: the policy's own refusals are there.
	like "$(_of '[.denials[].name] | join(" ")')" 'chroot'
}

# What stands in a profile is what this machine sees, too. A machine with other versions may need more: then this says what.
the_recorded_profiles_have_what_this_machine_needs() {
	local language languages=()
	for language in python:python3 bash:bash; do
		run sbx "do" --rootfs host -- sh -c "command -v ${language#*:}"
		[ "$rc" != 0 ] || languages+=("${language%:*}")
	done
	[ "${#languages[@]}" -gt 0 ] || skip 'no language on this host'
	run env SBXRUN="$SBXRUN" SBXRUN_ROOTFS_DIR="$T" "$SECCOMP/record" --check "${languages[@]}"
	is "$rc $out" '0 '
}

run_tests
