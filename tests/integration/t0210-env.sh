#!/bin/bash
# process.env, and HOME, which the image's /etc/passwd may decide. Trust: that file is hostile.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

the_environment_is_the_configs_and_nothing_else() {
	bundle 'args(["/bin/env"])' '.process.env = ["B=x=y", "A=", "PATH=/bin", "HOME=/h", "Ü=ä b", "lower=\"q\u0027\\"]'
	SECRET=caller LD_PRELOAD_X=1 run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'B=x=y\nA=\nPATH=/bin\nHOME=/h\nÜ=ä b\nlower="q\'\\'
}

an_empty_environment_has_only_home() {
	bundle 'args(["/bin/env"])' '.process.env = []'
	run sbx run -b "$B" "$ID"
	is "$out" HOME=/root
	jq 'del(.process.env)' "$B/config.json" >new
	run sbx run -b "$B" -f "$T/new" "$ID"
	is "$out" HOME=/root
}

newlines_in_a_value_stay() {
	run_in_box 'printf "<%s>" "$X"' 'env("X=a\nb\n")'
	is "$out" $'<a\nb\n>'
}

an_entry_that_is_not_name_and_value_is_refused() {
	local entry
	bundle
	for entry in '"NOEQUALS"' '""' '"=x"' '7' 'null' '"A=\u0000"'; do
		jq --argjson e "$entry" '.process.env += [$e]' "$B/config.json" >new
		refused 'env' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

# Runs env with HOME left to the runtime, as user $1, and sets HOME_INSIDE.
_home_of() {
	bundle 'args(["/bin/env"])' '.process.env = ["PATH=/bin"]' ".process.user = {uid: $1, gid: 0}"
	[ -z "${PASSWD:-}" ] || printf "$PASSWD" >"$B/rootfs/etc/passwd"
	if [ -n "${SPOIL:-}" ]; then
		(cd "$B/rootfs" && rm etc/passwd && eval "$SPOIL")
	fi
	run timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	like "$out" $'^PATH=/bin\nHOME=[^\n]*$'
	HOME_INSIDE=${out#*HOME=}
}

home_is_that_of_the_uid() {
	_home_of 0
	is "$HOME_INSIDE" /root
	_home_of 1000
	is "$HOME_INSIDE" /home/user
}

home_is_the_root_for_an_unknown_uid() {
	_home_of 4711
	is "$HOME_INSIDE" /
}

home_of_the_config_is_kept() {
	bundle 'args(["/bin/env"])' '.process.env = ["HOME=/mine"]'
	run sbx run -b "$B" "$ID"
	is "$out" HOME=/mine
}

the_first_line_of_a_uid_counts() {
	PASSWD='# comment\n\na:x:1000:1000::/first:\nb:x:1000:1000::/second:\n' _home_of 1000
	is "$HOME_INSIDE" /first
}

a_name_of_digits_is_a_name() {
	PASSWD='1000:x:5:5::/by-name:\n5:x:1000:5::/by-uid:\n' _home_of 1000
	is "$HOME_INSIDE" /by-uid
}

a_uid_is_a_whole_number() {
	PASSWD='a:x:1000x:0::/1:\nb:x: 1000:0::/2:\nc:x:+1000:0::/3:\nd:x:4294968296:0::/4:\ne:x:0x3e8:0::/5:\nf:x:1e3:0::/6:\ng:x::0::/7:\nh:x:1000:0::/right:\n' \
		_home_of 1000
	is "$HOME_INSIDE" /right
	PASSWD='g:x::0::/empty:\nh:x:-1:0::/minus:\n' _home_of 0
	is "$HOME_INSIDE" /
}

lines_that_are_cut_short_are_passed_over() {
	PASSWD=':\n::::::\na:x:1000\nb:x:1000:0:\nc:x:1000:0::relative:\nd:x:1000:0::/right' _home_of 1000
	is "$HOME_INSIDE" /right
}

bytes_that_are_no_text_do_no_harm() {
	PASSWD='\0\0\377\376\n\0:x:0:0::/nul:\nroot:x:0:0::/ro\0ot:\n' _home_of 0
	like "$HOME_INSIDE" '^/[a-z]*$'
}

a_huge_passwd_is_not_read_for_ever() {
	SPOIL='truncate -s 20G etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='{ head -c 3000000 /dev/zero | tr "\0" x; echo; echo user:x:1000:0::/late:; } >etc/passwd' _home_of 1000
	like "$HOME_INSIDE" '^/(late)?$'
}

a_passwd_that_is_no_file_is_passed_over() {
	SPOIL=: _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='mkdir etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='mkfifo etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='ln -s passwd etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='ln -s /dev/zero etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
}

a_link_does_not_lead_out_of_the_root() {
	echo 'user:x:1000:0::/host-file:' >"$T/host-passwd"
	SPOIL='ln -s "$T/host-passwd" etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='ln -s "../../../../../../../../../..$T/host-passwd" etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /
	SPOIL='mkdir other; mv etc old-etc; ln -s ../../../../../.."$T" etc' _home_of 1000
	is "$HOME_INSIDE" /
}

a_link_inside_the_root_is_followed() {
	SPOIL='echo user:x:1000:0::/through-a-link: >opt-passwd; ln -s /opt-passwd etc/passwd' _home_of 1000
	is "$HOME_INSIDE" /through-a-link
}

a_passwd_that_only_root_may_read_is_no_hindrance() {
	SPOIL='echo user:x:1000:0::/mine: >etc/passwd; chmod 600 etc/passwd' _home_of 1000
	like "$HOME_INSIDE" '^/(mine)?$'
}

of_one_name_the_last_counts_and_an_empty_home_is_none() {
	run_in_box 'env | grep -E "^(A|AB|B|HOME)="' '.process.env = ["PATH=/bin", "A=1", "AB=2", "HOME=", "A=3", "B=", "A=4"]'
	like "$(sort <<<"$out")" $'^A=4\nAB=2\nB=\nHOME=/[a-z]*$'
	run_in_box 'env | grep -E "^HOME="' '.process.env = ["PATH=/bin", "HOME=", "HOME=/first", "HOME=/last"]'
	is "$out" HOME=/last
}

run_tests
