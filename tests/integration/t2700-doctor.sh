#!/bin/bash
# doctor: what it says of a host, where something is missing that it notices, and that its remedies help. What is taken away is taken away in a
# namespace of the test's own; the host's sysctls and files stay as they are.
# shellcheck disable=SC2154,SC2119,SC2016
# Views: own every_kind_of_namespace_has_a_limit_that_is_named
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

MAN=${TESTS_DIR%/*}/runtime/man/sbxrun-doctor.8.md
USER_ID=4711

# Where everybody can execute it, under the name that remedies have.
_program() {
	mkdir -p "$T/bin"
	cp "$SBXRUN" "$T/bin/sbxrun"
	chmod 755 "$T" "$T/bin" "$T/bin/sbxrun"
	mkdir -p "$T/run"
	chown "$USER_ID" "$T/run"
	PATH=$T/bin:$PATH
	export PATH USER_ID
}

# What scripts in namespaces of their own begin with: doctor FILE keeps answers, help FILE ID carries out the remedy in them, and user_doctor
# asks as an ordinary user.
PREAMBLE='
set -eu
doctor() {
	local rc=0
	sbxrun --root "$T/state" doctor --json >"$1" || rc=$?
	echo "$rc" >"$1.rc"
}
user_doctor() {
	local rc=0
	XDG_RUNTIME_DIR=$T/run setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups -- sbxrun doctor --json >"$1" || rc=$?
	echo "$rc" >"$1.rc"
}
remedy() {
	jq -er --arg id "$2" ".checks[] | select(.id == \$id) | .remedy // empty" "$1"
}
help() {
	sh -c "$(remedy "$1" "$2")"
}
# A copy of /etc that can be changed.
own_etc() {
	mkdir "$T/etc"
	mount -t tmpfs etc "$T/etc"
	cp -a /etc/. "$T/etc"
	mount --move "$T/etc" /etc
}
'

# _apart CODE: in a mount namespace of its own.
_apart() {
	run unshare -m --propagation private bash -c "$PREAMBLE$1"
	rc_is 0
}

# _inside CODE: as root of a user namespace in which all users of the machine are there, too.
_inside() {
	local pid own
	mkfifo "$T/go"
	own=$(readlink /proc/self/ns/user)
	unshare -U -m --propagation private bash -c 'read -r _ <"$T/go"; exec bash -c "$0"' "$PREAMBLE$1" >"$T/inside" 2>&1 &
	pid=$!
	wait_until 20 _has_left "$pid" "$own"
	echo '0 0 70000' >"/proc/$pid/uid_map"
	echo '0 0 70000' >"/proc/$pid/gid_map"
	echo >"$T/go"
	rc=0
	wait "$pid" || rc=$?
	slurp out "$T/inside"
	rc_is 0
}

_has_left() {
	[ "$(readlink "/proc/$1/ns/user")" != "$2" ]
}

# Of the answers in a file: the status, what was found, the remedy, and how the doctor ended.
_status() {
	jq -r --arg id "$2" '.checks[] | select(.id == $id) | .status' "$T/$1"
}

_found() {
	jq -r --arg id "$2" '.checks[] | select(.id == $id) | .found' "$T/$1"
}

_remedy() {
	jq -r --arg id "$2" '.checks[] | select(.id == $id) | .remedy' "$T/$1"
}

# _answers FILE RC ID STATUS [FOUND]
_answers() {
	is "$(_status "$1" "$3")" "$4" "$3: $(_found "$1" "$3")"
	[ -z "${5:-}" ] || like "$(_found "$1" "$3")" "$5" "$3"
	is "$(<"$T/$1.rc")" "$2" "status; missing: $(jq -rc '[.checks[] | select(.status == "no") | .id, .found]' "$T/$1")"
}

root_is_told_that_it_can_run_containers_where_the_tests_do() {
	run sbx doctor
	rc_is 0
	is "$err" ''
	like "$out" $'^ok    Linux +[0-9.]+'
	like "$out" $'\nok    namespaces of ordinary users '
	like "$out" 'all that is needed is there.* \(asked as root\)$'
	unlike "$out" $'(^|\n)no '
}

json_has_every_id_once_and_the_page_names_it() {
	local id ids
	run sbx doctor --json
	rc_is 0
	jq -e '(keys == ["caller", "checks"]) and .caller == "root"' <<<"$out"
	jq -e '.checks | all(keys == ["found", "id", "remedy", "status"])' <<<"$out"
	jq -e '.checks | all((.status | . == "ok" or . == "warn" or . == "no") and (.found | length > 0))' <<<"$out"
	jq -e '.checks | map(.id) | length == (unique | length) and length > 30' <<<"$out"
	mapfile -t ids < <(jq -r '.checks[].id' <<<"$out")
	for id in "${ids[@]}"; do
		file_has "$MAN" "\\*\\*${id//./\\.}\\*\\*"
	done
	run sbx doctor
	is "$(grep -cE '^(ok|warn|no) ' <<<"$out")" "${#ids[@]}"
}

a_wrong_command_line_has_a_status_of_its_own() {
	run sbx doctor docker
	rc_is 2
	like "$err" 'usage: sbxrun doctor'
	run sbx doctor --jsn
	rc_is 2
	like "$err" 'did you mean --json'
}

nothing_is_left_behind() {
	run "$SBXRUN" --root "$T/some/where" doctor --json
	rc_is 0
	[ ! -e "$T/some" ] || fail 'the directory of the state was made'
	is "$(find /sys/fs/cgroup -maxdepth 6 -name 'sbxrun-doctor-*' 2>/dev/null)" ''
	is "$(jq -r '.checks[] | select(.id == "state") | .found' <<<"$out")" "$T/some/where can be made"
}

an_ordinary_user_is_told_of_himself() {
	_program
	_apart 'user_doctor "$T/1"'
	_answers 1 0 ns.user ok
	is "$(jq -r .caller "$T/1")" user
	is "$(_status 1 user.namespaces)" ''
	is "$(_status 1 mount.detached)" ok
	is "$(_found 1 state)" "$T/run/sbxrun can be made"
}

a_user_without_ranges_is_told_the_command_that_gives_him_some() {
	needs usermod
	_program
	_apart '
		own_etc
		echo "doc:x:$USER_ID:$USER_ID::/:/bin/sh" >>/etc/passwd
		echo "doc:!:1::::::" >>/etc/shadow
		echo "doc:x:$USER_ID:" >>/etc/group
		printf "other:100000:65536\n" | tee /etc/subuid >/etc/subgid
		user_doctor "$T/1"
		help "$T/1" ids.subuid
		help "$T/1" ids.subgid
		cp /etc/subuid /etc/subgid "$T"
		user_doctor "$T/2"'
	_answers 1 0 ids.subuid warn '/etc/subuid has no ids for doc'
	_answers 1 0 ids.subgid warn '/etc/subgid has no ids for doc'
	is "$(_remedy 1 ids.subuid)" 'usermod --add-subuids 165536-231071 doc'
	_answers 2 0 ids.subuid ok '65536 ids for doc'
	_answers 2 0 ids.subgid ok
	file_has "$T/subuid" '^doc:165536:65536$'
	file_has "$T/subgid" '^doc:165536:65536$'
}

a_user_without_a_name_has_ranges_by_his_number() {
	_program
	_apart '
		own_etc
		: >/etc/subuid
		rm -f /etc/subgid
		user_doctor "$T/1"
		help "$T/1" ids.subuid
		help "$T/1" ids.subgid
		user_doctor "$T/2"'
	_answers 1 0 ids.subuid warn
	_answers 2 0 ids.subuid ok "65536 ids for $USER_ID"
	_answers 2 0 ids.subgid ok
}

# Without any set-up; where others have some of them; where an entry can't be used, or says that there are none.
root_is_told_what_ranges_containers_get() {
	_program
	_apart '
		own_etc
		: >/etc/subuid
		rm /etc/subgid
		doctor "$T/1"
		echo other:1879048192:65536 | tee /etc/subuid >/etc/subgid
		doctor "$T/2"
		echo sbxrun:1879048200:65536 >>/etc/subuid
		doctor "$T/3"
		help "$T/3" ids.auto
		doctor "$T/4"
		cp /etc/subuid "$T/subuid"
		echo sbxrun:0:0 >>/etc/subgid
		doctor "$T/5"
		help "$T/5" ids.auto
		doctor "$T/6"
		echo other:1800000000:1000000000 >/etc/subuid
		doctor "$T/7"
		echo sbxrun:100000:65536 | tee -a /etc/subuid >>/etc/subgid
		doctor "$T/8"'
	_answers 1 0 ids.auto ok '^for 4094 containers: the usual ids'
	_answers 2 0 ids.auto ok '^for 4093 containers'
	_answers 3 0 ids.auto warn 'sbxrun:1879048200:65536'
	_answers 4 0 ids.auto ok '^for 4093 containers'
	is "$(<"$T/subuid")" 'other:1879048192:65536'
	_answers 5 0 ids.auto warn '/etc/subgid: the entry sbxrun:0:0 gives containers no ids'
	_answers 6 0 ids.auto ok '^for 4093 containers'
	_answers 7 0 ids.auto warn 'to others, and no entry sbxrun'
	_answers 8 0 ids.auto ok '^for 1 containers$'
}

helpers_without_the_right_to_map_are_noticed() {
	_program
	_apart '
		[ -e /usr/bin/newuidmap ]
		cp /usr/bin/newuidmap "$T/newuidmap"
		chmod 755 "$T/newuidmap"
		mount --bind "$T/newuidmap" /usr/bin/newuidmap
		doctor "$T/1"
		help "$T/1" ids.helpers
		doctor "$T/2"'
	_answers 1 0 ids.helpers warn '/usr/bin/newuidmap has neither the setuid bit'
	_answers 2 0 ids.helpers ok
}

a_sysctl_that_forbids_user_namespaces_is_named() {
	needs sysctl
	_program
	_inside '
		echo 0 >/proc/sys/user/max_user_namespaces
		user_doctor "$T/1"
		doctor "$T/2"
		help "$T/1" ns.user
		user_doctor "$T/3"'
	_answers 1 1 ns.user no 'user.max_user_namespaces is 0'
	is "$(_status 1 ns.pid)" no
	is "$(_remedy 1 ns.user)" 'sysctl -w user.max_user_namespaces=65536'
	# Root of the namespace makes the others without one.
	is "$(jq -r .caller "$T/2")" 'root of a user namespace'
	is "$(_status 2 ns.user)" warn
	is "$(_status 2 ns.pid)" ok
	_answers 3 0 ns.user ok
	is "$(_status 3 ns.pid)" ok
}

# Sysctls that this kernel may not have, in a /proc/sys/kernel of the test's own.
OWN_SYSCTLS='
	mkdir "$T/kernel"
	mount -t tmpfs kernel "$T/kernel"
	chmod 755 "$T/kernel"
	mount --move "$T/kernel" /proc/sys/kernel
	sysctls() {
		echo "$2" >/proc/sys/kernel/$1
	}
'

# Debian'"'"'s kernels may forbid them to ordinary users, and say so to root, too.
a_sysctl_that_leaves_user_namespaces_to_root_is_named() {
	needs strace
	_program
	_apart "$OWN_SYSCTLS"'
		sysctls unprivileged_userns_clone 0
		user_doctor() {
			local rc=0
			XDG_RUNTIME_DIR=$T/run setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups -- \
				strace -qq -f -o /dev/null -e trace=unshare -e inject=unshare:error=EPERM sbxrun doctor --json >"$1" || rc=$?
			echo "$rc" >"$1.rc"
		}
		user_doctor "$T/1"
		strace -qq -f -o /dev/null -e trace=unshare -e inject=unshare:error=EPERM sbxrun --root "$T/state" doctor --json >"$T/2" || :'
	_answers 1 1 ns.user no 'kernel.unprivileged_userns_clone is 0'
	is "$(_remedy 1 ns.user)" 'sysctl -w kernel.unprivileged_userns_clone=1'
	is "$(_status 2 user.namespaces)" warn
	is "$(_found 2 user.namespaces)" 'kernel.unprivileged_userns_clone is 0'
}

# As on Ubuntu 24.04: AppArmor lets a user namespace be made, and nothing in it.
a_restriction_by_apparmor_is_named_with_its_remedies() {
	needs strace sysctl
	_program
	_apart "$OWN_SYSCTLS"'
		own_etc
		sysctls apparmor_restrict_unprivileged_userns 1
		mkdir "$T/share"
		mount -t tmpfs share "$T/share"
		cp -a /usr/share/zoneinfo "$T/share" 2>/dev/null || :
		restricted() {
			local rc=0
			XDG_RUNTIME_DIR=$T/run setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups -- \
				strace -qq -f -o /dev/null -e trace=unshare -e inject=unshare:error=EPERM:when=2+ sbxrun doctor --json >"$1" || rc=$?
			echo "$rc" >"$1.rc"
		}
		restricted "$T/1"
		strace -qq -f -o /dev/null -e trace=unshare -e inject=unshare:error=EPERM:when=2+ sbxrun --root "$T/state" doctor --json >"$T/root" || :
		mkdir -p "$T/share/sbxrun/apparmor" /etc/apparmor.d
		: >"$T/share/sbxrun/apparmor/sbxrun"
		mount --move "$T/share" /usr/share
		rm -f /etc/apparmor.d/sbxrun
		restricted "$T/2"
		ln -s /usr/share/sbxrun/apparmor/sbxrun /etc/apparmor.d/
		restricted "$T/3"
		help "$T/1" ns.user
		cp /proc/sys/kernel/apparmor_restrict_unprivileged_userns "$T/after"
		user_doctor "$T/4"'
	for n in 1 2 3; do
		is "$(_status $n ns.user)" no
		like "$(_found $n ns.user)" '^kernel.apparmor_restrict_unprivileged_userns is on, and no profile'
		is "$(<"$T/$n.rc")" 1
	done
	is "$(_remedy 1 ns.user)" 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'
	is "$(_remedy 2 ns.user)" 'ln -s /usr/share/sbxrun/apparmor/sbxrun /etc/apparmor.d/ && apparmor_parser -r /etc/apparmor.d/sbxrun'
	is "$(_remedy 3 ns.user)" 'apparmor_parser -r /etc/apparmor.d/sbxrun'
	is "$(_status root user.namespaces)" warn
	like "$(_found root user.namespaces)" '^kernel.apparmor_restrict_unprivileged_userns is on'
	is "$(<"$T/after")" 0
	is "$(_status 4 ns.user)" ok
}

# _without CALL ERROR [STRACE-OPTION…]: root asks, on a kernel whose call fails so; the answers are in $T/1.
_without() {
	needs strace
	_program
	STRACE="-qq -f -o /dev/null -e trace=$1 -e inject=$1:error=$2 ${*:3}" _apart '
		rc=0
		strace $STRACE sbxrun --root "$T/state" doctor --json >"$T/1" || rc=$?
		echo "$rc" >"$T/1.rc"'
}

filesystems_that_a_kernel_lacks_are_named_with_the_module() {
	_program
	_apart '
		grep -v -e erofs /proc/filesystems >"$T/filesystems"
		mount --bind "$T/filesystems" /proc/filesystems
		doctor "$T/1"'
	is "$(_status 1 mount.erofs)" warn
	is "$(_found 1 mount.erofs)" 'this kernel knows none, or has not loaded it'
	is "$(_remedy 1 mount.erofs)" 'modprobe erofs'
	_without mount ENODEV -P "$(sed -n 's/^#define PLACE "\(.*\)"$/\1/p' "${TESTS_DIR%/*}/runtime/doctor/"*.[ch] | head -n 1)/merged"
	for id in mount.overlay mount.overlay.user mount.overlay.idmap; do
		is "$(_status 1 $id)" warn
		is "$(_found 1 $id)" 'this kernel knows none, or has not loaded it'
		is "$(_remedy 1 $id)" 'modprobe overlay'
	done
	is "$(_status 1 mount.detached)" ok
}

# Before Linux 6.12.
images_that_need_a_block_device_are_told() {
	grep -q erofs /proc/filesystems || skip 'this kernel has no EROFS'
	_without fsconfig ENOTBLK
	is "$(_status 1 mount.erofs)" warn
	is "$(_found 1 mount.erofs)" 'by a block device alone; from a file since Linux 6.12'
}

a_filesystem_that_maps_no_ids_is_named() {
	_without mount_setattr EINVAL
	is "$(_status 1 mount.idmap.here)" warn
	like "$(_found 1 mount.idmap.here)" "^\. on [a-z0-9]+ can't have its ids mapped\$"
	is "$(_status 1 mount.overlay.idmap)" warn
	like "$(_found 1 mount.overlay.idmap)" '^no layer can have its ids mapped'
}

every_kind_of_namespace_has_a_limit_that_is_named() {
	local kind
	needs sysctl
	_program
	_inside '
		for kind in pid net ipc uts cgroup mnt time; do
			echo 0 >"/proc/sys/user/max_${kind}_namespaces"
		done
		doctor "$T/1"
		for kind in pid net ipc uts cgroup mnt time; do
			[ ! -e "/proc/self/ns/$kind" ] || help "$T/1" "ns.$kind"
		done
		doctor "$T/2"'
	for kind in pid net ipc uts cgroup mnt; do
		_answers 1 1 "ns.$kind" no "user.max_${kind}_namespaces is 0"
		is "$(_status 2 "ns.$kind")" ok
	done
	_answers 1 1 ns.time warn 'user.max_time_namespaces is 0|this kernel has no'
	is "$(_status 2 ns.time)" "$([ -e /proc/self/ns/time ] && echo ok || echo warn)"
}

a_covered_proc_is_noticed_and_uncovered() {
	_program
	_apart '
		mount --bind /dev/null /proc/timer_list
		mount -t tmpfs mask /proc/irq
		user_doctor "$T/1"
		doctor "$T/2"
		help "$T/1" mount.proc
		user_doctor "$T/3"'
	_answers 1 1 mount.proc no 'covered in 2 places \(/proc/timer_list /proc/irq\)'
	is "$(_remedy 1 mount.proc)" 'umount /proc/timer_list /proc/irq'
	_answers 2 0 mount.proc warn
	_answers 3 0 mount.proc ok
}

read_only_cgroups_are_noticed_and_made_writable() {
	local n
	_program
	_apart '
		n=0
		while read -r _ _ _ _ point rest; do
			case $rest in
			*" - cgroup "* | *" - cgroup2 "*) mount -o remount,bind,ro "$point" && n=$((n + 1)) ;;
			esac
		done </proc/self/mountinfo
		echo "$n" >"$T/n"
		doctor "$T/1"
		cp "$T/1" "$T/2"
		while [ "$n" -gt 0 ]; do
			help "$T/2" cgroup.create
			doctor "$T/2"
			n=$((n - 1))
		done'
	n=$(<"$T/n")
	[ "$n" -ge 1 ] || fail 'there are no cgroups'
	_answers 1 1 cgroup.create no 'is mounted read-only'
	like "$(_remedy 1 cgroup.create)" '^mount -o remount,bind,rw /'
	is "$(_status 1 cgroup.mode)" ok
	_answers 2 0 cgroup.create ok
}

without_any_cgroup_root_lacks_something() {
	_program
	_apart '
		umount -R /sys/fs/cgroup
		doctor "$T/1"
		user_doctor "$T/2"'
	_answers 1 1 cgroup.mode no 'none is mounted'
	_answers 2 0 cgroup.mode warn
}

an_old_kernel_is_one_that_is_too_old() {
	needs setarch
	_program
	_apart '
		doctor() {
			local rc=0
			setarch --uname-2.6 sbxrun --root "$T/state" doctor --json >"$1" || rc=$?
			echo "$rc" >"$1.rc"
		}
		doctor "$T/1"
		setarch --uname-2.6 sh -c "$(remedy "$T/1" kernel.version)" >"$T/2"'
	_answers 1 1 kernel.version no '^2\.6\..*UNAME26'
	file_has "$T/2" '^ok +Linux'
}

securityfs_can_be_mounted_to_see_the_modules() {
	_program
	grep -q securityfs /proc/filesystems || skip 'this kernel has no securityfs'
	_apart '
		! mountpoint -q /sys/kernel/security || umount -R /sys/kernel/security
		doctor "$T/1"
		[ -z "$(remedy "$T/1" lsm || :)" ] || help "$T/1" lsm
		doctor "$T/2"'
	_answers 2 0 lsm ok
}

the_policy_file_is_there_or_not() {
	_program
	_apart '
		own_etc
		rm -rf /etc/sbxrun
		doctor "$T/1"
		mkdir /etc/sbxrun
		echo "{}" >/etc/sbxrun/policy.json
		doctor "$T/2"'
	_answers 1 0 policy ok 'there is no /etc/sbxrun/policy.json'
	_answers 2 0 policy ok '/etc/sbxrun/policy.json is there'
}

a_state_that_has_no_place_is_missing() {
	_program
	_apart '
		cd /
		rc=0
		setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups -- env -u XDG_RUNTIME_DIR sbxrun doctor --json >"$T/1" || rc=$?
		echo "$rc" >"$T/1.rc"
		mkdir "$T/closed"
		mount -t tmpfs -o ro,mode=700 closed "$T/closed"
		rc=0
		sbxrun --root "$T/closed/some/where" doctor --json >"$T/2" || rc=$?
		echo "$rc" >"$T/2.rc"
		rc=0
		sbxrun --root "$T/closed" doctor --json >"$T/3" || rc=$?
		echo "$rc" >"$T/3.rc"'
	_answers 1 1 state no 'XDG_RUNTIME_DIR is not set'
	like "$(_remedy 1 state)" '^export XDG_RUNTIME_DIR='
	_answers 2 1 state no 'closed/some/where can.t be made: .*/closed: read-only file system'
	_answers 3 1 state no 'takes no files: read-only file system'
}

the_remedy_for_a_missing_place_is_a_place() {
	_program
	chmod 1777 "$TMPDIR"
	_apart '
		cd /
		setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups -- env -u XDG_RUNTIME_DIR sbxrun doctor --json >"$T/1" || :
		rc=0
		setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups -- env -u XDG_RUNTIME_DIR \
			sh -c "$(remedy "$T/1" state); sbxrun doctor --json" >"$T/2" || rc=$?
		echo "$rc" >"$T/2.rc"'
	_answers 2 0 state ok
}

# ---- confined ----

# The runtime's own defaults: a few capabilities, and no right to mount.
in_a_container_it_says_what_is_missing() {
	bundle 'args(["/sbxrun", "doctor", "--json"])' 'env("container=podman")'
	cp "$SBXRUN" "$B/rootfs/sbxrun"
	run sbx run -b "$B" "$ID"
	rc_is 1
	printf '%s' "$out" >"$T/1"
	echo 1 >"$T/1.rc"
	_answers 1 1 own.capabilities no CAP_SYS_ADMIN
	is "$(_remedy 1 own.capabilities)" 'podman run --privileged …'
	_answers 1 1 own.container warn podman
	_answers 1 1 ns.mnt no 'mnt namespaces are forbidden by the container around us'
}

a_filter_around_us_is_noticed() {
	bundle 'args(["/sbxrun", "doctor", "--json"])' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["unshare"], action: "SCMP_ACT_KILL_PROCESS"}]}'
	cp "$SBXRUN" "$B/rootfs/sbxrun"
	run sbx run -b "$B" "$ID"
	rc_is 1
	printf '%s' "$out" >"$T/1"
	echo 1 >"$T/1.rc"
	_answers 1 1 own.seccomp warn 'one on us'
	_answers 1 1 ns.mnt no 'ended by signal 31: a seccomp filter'
}

# ---- engines ----

# Directories of our own where engines are looked for, with the program in one.
ENGINES='
	mkdir "$T/local" "$T/docker"
	mount -t tmpfs -o mode=755 local "$T/local"
	cp "$T/bin/sbxrun" "$T/local/sbxrun"
	mount --move "$T/local" /usr/local/bin
	PATH=/usr/local/bin:$PATH
	own_etc
	rm -rf /etc/docker /etc/containerd /etc/crio
	engine() {
		printf "#!/bin/sh\n%s\n" "$2" >"/usr/local/bin/$1"
		chmod 755 "/usr/local/bin/$1"
	}
'

an_engine_that_does_not_know_us_is_told_so_by_the_remedy() {
	_program
	_apart "$ENGINES"'
		engine dockerd "exit 1"
		doctor "$T/1"
		help "$T/1" engine.docker
		doctor "$T/2"
		rm /usr/local/bin/dockerd
		rm -r /etc/docker
		! type -P dockerd || exit 0
		doctor "$T/3"'
	_answers 1 0 engine.docker warn 'is here, and doesn.t know sbxrun'
	is "$(_remedy 1 engine.docker)" 'sbxrun install docker'
	_answers 2 0 engine.docker ok 'registered; to be tried by --try, or: docker run'
	[ ! -e "$T/3" ] || _answers 3 0 engine.docker ok '^not found'
}

another_program_under_our_name_is_noticed() {
	_program
	_apart "$ENGINES"'
		engine dockerd "exit 1"
		mkdir /etc/docker
		echo "{\"runtimes\": {\"sbxrun\": {\"path\": \"/opt/sbxrun\"}}}" >/etc/docker/daemon.json
		doctor "$T/1"'
	_answers 1 0 engine.docker warn '/opt/sbxrun'
}

engines_are_tried_only_when_asked() {
	_program
	_apart "$ENGINES"'
		engine dockerd "exit 1"
		engine docker "echo \"\$*\" >>$T/calls; echo one >&2; echo two >&2; [ \"\$1\" = version ] || exit \$(cat $T/end)"
		sbxrun install docker
		doctor "$T/1"
		[ ! -e "$T/calls" ]
		for end in 0 3; do
			echo "$end" >"$T/end"
			sbxrun --root "$T/state" doctor --json --try >"$T/try.$end" 2>"$T/err.$end"
			echo 0 >"$T/try.$end.rc"
		done
		engine docker "echo no daemon >&2; exit 1"
		sbxrun --root "$T/state" doctor --json --try >"$T/try.none" 2>"$T/err.none"
		echo 0 >"$T/try.none.rc"'
	_answers try.0 0 engine.docker ok 'registered, and a container ran'
	_answers try.3 0 engine.docker warn 'no container ran: two'
	_answers try.none 0 engine.docker warn 'doesn.t answer: no daemon'
	file_has "$T/err.0" '^docker: tried if it knows sbxrun, which may take'
	is "$(sort -u "$T/calls")" $'run --rm --runtime sbxrun hello-world\nversion'
}

a_program_that_hangs_is_not_waited_for() {
	_program
	_apart "$ENGINES"'
		engine containerd "echo \$\$ >$T/pid; exec sleep 1000"
		doctor "$T/1"'
	_answers 1 0 engine.containerd warn 'no answer within 2 s'
	wait_until 10 dead "$(<"$T/pid")"
}

run_tests
