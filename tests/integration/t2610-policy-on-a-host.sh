#!/bin/bash
# Policies and what is on the host: a policy file that can't be read, each path that is guarded, the journal, and a file that has become stricter
# since a container was made. The host is one of the test's own: a mount namespace whose root is a tmpfs, with overlays above this machine's
# directories, so that nothing that is made in them is made on the machine.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

PLAIN=${SBXRUN%-oci}
USER_ID=4711

# _host CODE [ARG…]: as root of that host, with the ARGs as $1, …
_host() {
	run unshare -m --propagation private bash -c '
		set -eu
		mkdir -p "$T/host"
		mount -t tmpfs host "$T/host"
		mkdir "$T/host/layers"
		needed=" dev proc sys $(cut -d/ -f2 <<<"$T") $(cut -d/ -f2 <<<"$PLAIN") "
		for dir in /* /.[!.]*; do
			case $dir in
			/bin | /boot | /etc | /lib* | /sbin | /usr | /var) how=overlay ;;
			*) [[ $needed == *" ${dir#/} "* ]] && how=bind || how=empty ;;
			esac
			if [ -L "$dir" ]; then
				cp -P "$dir" "$T/host$dir"
			elif [ -d "$dir" ]; then
				mkdir "$T/host$dir"
				[ $how != bind ] || mount --rbind "$dir" "$T/host$dir"
				[ $how != overlay ] || {
					mkdir "$T/host/layers$dir" "$T/host/layers$dir.work"
					mount -t overlay -o "lowerdir=$dir,upperdir=$T/host/layers$dir,workdir=$T/host/layers$dir.work" overlay "$T/host$dir"
				}
			fi
		done
		mount -t tmpfs run "$T/host/run"
		cd "$T/host"
		mkdir old
		pivot_root . old
		cd "$T"
		umount -l /old
		rm -rf /etc/sbxrun
		mkdir /etc/sbxrun
		eval "$0"' "$@"
	[ "$rc" != 99 ] || fail "the host could not be made: $err"
}

export PLAIN USER_ID SBXRUN T ID B

# ---- the policy file ----

# WHAT CODE: the code puts something at /etc/sbxrun/policy.json, and nothing runs, neither as root nor, if WHO is one, as an ordinary user.
_unreadable() {
	local why=$1 who=${WHO:-}
	_host "$2"'
		[ -z "$1" ] || exec setpriv --reuid "$1" --regid "$1" --clear-groups -- "$PLAIN" --root "$T/state.user" run -b "$B" "$ID"
		exec "$PLAIN" --root "$T/state" run -b "$B" "$ID"' "$who"
	rc_is 1
	is "$out" ''
	like "$err" "/etc/sbxrun/policy.json: $why" "$2"
	state_is_empty
}

a_policy_file_that_can_not_be_read_lets_nothing_run() {
	bundle 'sh("echo ran")'
	chmod 755 "$T" "$B" "$B/rootfs"
	mkdir -m 777 state.user
	cp "$PLAIN" "$T/plain" && chmod 755 "$T/plain" && PLAIN=$T/plain
	# All well, or what follows says nothing.
	_host 'echo "{\"version\": 1, \"default\": \"oci\"}" >/etc/sbxrun/policy.json; exec "$PLAIN" --root "$T/state" run -b "$B" "$ID"'
	is "$out" ran
	WHO=$USER_ID _unreadable "nothing is run as long as it can't be read: permission denied" 'install -m 600 /dev/null /etc/sbxrun/policy.json'
	WHO=$USER_ID _unreadable "nothing is run as long as it can't be read: permission denied" 'chmod 700 /etc/sbxrun'
	_unreadable 'not a regular file' 'mkdir /etc/sbxrun/policy.json'
	_unreadable 'not a regular file' 'mkfifo /etc/sbxrun/policy.json'
	_unreadable 'not a regular file' 'ln -s /dev/null /etc/sbxrun/policy.json'
	_unreadable "nothing is run as long as it can't be read: no such file" 'ln -s /no/such/file /etc/sbxrun/policy.json'
	_unreadable "nothing is run as long as it can't be read: no such file" 'rmdir /etc/sbxrun; ln -s /no/such/dir /etc/sbxrun'
	_unreadable "nothing is run as long as it can't be read: not a directory" 'rmdir /etc/sbxrun; : >/etc/sbxrun'
	_unreadable "nothing is run as long as it can't be read: too many levels" 'ln -s policy.json /etc/sbxrun/policy.json'
	_unreadable "it belongs to uid $USER_ID: chown root" 'echo "{\"version\": 1}" >/etc/others; chown "$USER_ID" /etc/others; ln -s ../others /etc/sbxrun/policy.json'
	_unreadable 'others than its owner may write it' 'echo "{\"version\": 1}" >/etc/others; chmod 666 /etc/others; ln -s ../others /etc/sbxrun/policy.json'
}

# The file of the operator of boxes is opened in the same way, and other verbs ask the policy, too.
a_link_that_leads_nowhere_is_no_missing_file() {
	_host 'ln -s /no/such/file /etc/sbxrun/boxes.json; exec "$PLAIN" --root "$T/state" box create --json x'
	isnt "$rc" 0
	like "$out$err" "/etc/sbxrun/boxes.json: nothing is run as long as it can't be read"
	_host 'ln -s /no/such/file /etc/sbxrun/policy.json; exec "$PLAIN" policy check'
	rc_is 1
	like "$err" "/etc/sbxrun/policy.json: nothing is run"
}

# ---- guarded paths ----

# From SECURITY 4.3, not from the program: "any" is refused in every way, "write" but for reading, and what is in a place of "engines" is a source.
GUARDED='any /proc
any /sys
any /dev
any /boot
any /run/docker.sock
any /run/docker
any /run/containerd
any /run/podman
any /run/crio
any /run/systemd/private
any /run/dbus/system_bus_socket
any /etc/shadow
any /etc/shadow-
any /etc/gshadow
any /etc/gshadow-
any /etc/sudoers
any /etc/sudoers.d
any /etc/ssh
any /etc/kubernetes
any /var/lib/kubelet/pki
any /etc/sbxrun
any /run/sbxrun
write /etc
write /usr
write /bin
write /sbin
write /lib
write /lib32
write /lib64
write /libx32
write /run
write /var/lib/docker
write /var/lib/containerd
write /var/lib/containers
write /var/lib/kubelet
write /var/spool/cron
engines /var/lib/docker/containers
engines /var/lib/docker/volumes
engines /var/lib/containers/storage/overlay-containers
engines /var/lib/containers/storage/vfs-containers
engines /var/lib/containers/storage/volumes
engines /run/containers/storage/overlay-containers
engines /run/containers/storage/vfs-containers
engines /var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes
engines /run/containerd/io.containerd.grpc.v1.cri/sandboxes
engines /var/lib/kubelet/pods'

the_program_guards_what_this_test_tries() {
	is "$(sed -nE 's/^\t\{"([^"]*)", GUARD_([A-Z]*)\},$/\2 \1/p' "${TESTS_DIR%/*}/runtime/policy/conditions.c" | tr '[:upper:]' '[:lower:]' | sort)" "$(sort <<<"$GUARDED")"
}

# What is missing is made: files where the name says so. Each path is made a source, and so is something in it, for reading and for writing; a line
# says what became of it.
TRY='
	try() {
		sed "s,@SOURCE@,$2,; s,@HOW@,$3," "$B/config.json.in" >"$B/config.json"
		if "$PLAIN" --root "$T/state" run -b "$B" "$ID" >"$T/said" 2>&1 </dev/null; then
			echo "$1 $2 $3 ran"
		elif grep -q "policy engine refuses mounts.*host-paths" "$T/said"; then
			echo "$1 $2 $3 refused"
		else
			echo "$1 $2 $3 $(head -n 1 "$T/said")"
		fi
	}
	make() {
		[ ! -e "$1" ] || return 0
		case $1 in
		*sock* | */private | *shadow | *shadow- | */sudoers) mkdir -p "${1%/*}" && : >"$1" ;;
		*) mkdir -p "$1" ;;
		esac
	}
	while read -r kind path; do
		make "$path"
	done <<<"$1"
	while read -r kind path; do
		case $kind in
		any) inside=$(find "$path/" -mindepth 1 -maxdepth 1 \( -type d -o -type f \) 2>/dev/null | head -n 1) ;;
		write | engines) mkdir -p "$path/inside"; inside=$path/inside ;;
		esac
		try "$kind" "$path" ro
		try "$kind" "$path" rw
		[ -z "$inside" ] || try "$kind-inside" "${inside/\/\///}" ro
		[ -z "$inside" ] || try "$kind-inside" "${inside/\/\///}" rw
	done <<<"$1"
'

_tried() {
	local kinds=$1
	bundle 'mount({destination: "/mnt", type: "bind", source: "@SOURCE@", options: ["rbind", "@HOW@"]})' 'args(["/bin/true"])'
	mv "$B/config.json" "$B/config.json.in"
	_host "$TRY" "$(grep -E "^($kinds) " <<<"$GUARDED")"
	rc_is 0
	is "$err" ''
}

what_hands_over_the_host_is_no_source_at_all() {
	_tried any
	is "$(grep -v ' refused$' <<<"$out")" ''
	is "$(grep -c '^any ' <<<"$out")" "$((2 * $(grep -c '^any ' <<<"$GUARDED")))"
	[ "$(grep -c '^any-inside ' <<<"$out")" -ge 8 ] || fail "hardly anything was tried inside: $out"
}

# The directories themselves, too, if nothing in them is guarded in every way.
what_the_host_runs_or_believes_is_a_source_for_reading() {
	_tried write
	is "$(grep -E '^write.* rw ' <<<"$out" | grep -v ' refused$')" ''
	is "$(grep -E '^write-inside .* ro ' <<<"$out" | grep -v ' ran$')" ''
	is "$(grep -E '^write /(usr|bin|sbin|lib|lib32|lib64|libx32|var/lib/docker|var/lib/containerd|var/lib/containers|var/spool/cron) ro ' <<<"$out" | grep -v ' ran$')" ''
	is "$(grep -c '^write .* rw ' <<<"$out")" "$(grep -c '^write ' <<<"$GUARDED")"
	is "$(grep -c '^write-inside .* ro ' <<<"$out")" "$(grep -c '^write ' <<<"$GUARDED")"
}

what_engines_made_for_their_containers_is_a_source() {
	_tried engines
	is "$(grep -E '^engines-inside' <<<"$out" | grep -v ' ran$')" ''
	is "$(grep -c '^engines-inside' <<<"$out")" "$((2 * $(grep -c '^engines ' <<<"$GUARDED")))"
	# All of them at once is another matter.
	is "$(grep -E '^engines .* rw' <<<"$out" | grep -v ' refused$')" ''
}

# Wherever they are.
directories_of_keys_are_read_only_by_their_name() {
	bundle 'mount({destination: "/mnt", type: "bind", source: "@SOURCE@", options: ["rbind", "@HOW@"]})' 'args(["/bin/true"])'
	mv "$B/config.json" "$B/config.json.in"
	mkdir -p home/.ssh/deep home/.kube home/.docker home/.gnupg home/.other
	_host "${TRY%%$'\n\twhile'*}"'
		for name in .ssh .ssh/deep .kube .docker .gnupg .other; do
			try key "$T/home/$name" ro
			try key "$T/home/$name" rw
		done'
	is "$err" ''
	is "$(grep -E ' ro ' <<<"$out" | grep -v ' ran$')" ''
	is "$(grep -E ' rw ' <<<"$out" | grep -v ' refused$')" "key $T/home/.other rw ran"
}

# ---- the journal ----

# Who listens writes each message with its place, and is there before anything is sent.
_LISTEN='
	cat >"$T/listen.py" <<-"END"
		import os, socket, sys
		places = sys.argv[2:]
		socks = []
		for place in places:
		    os.makedirs(os.path.dirname(place), exist_ok=True)
		    if os.path.lexists(place):
		        os.unlink(place)
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		    s.bind(place)
		    socks.append((place, s))
		def drain():
		    for place, s in socks:
		        s.setblocking(False)
		        try:
		            while True:
		                print(place, repr(s.recv(8192).decode()), flush=True)
		        except BlockingIOError:
		            pass
		open(sys.argv[1], "w").close()
		sys.stdin.readline()
		drain()
	END
	mkfifo "$T/end"
	python3 "$T/listen.py" "$T/ready" "$@" <"$T/end" >"$T/heard" &
	exec 9>"$T/end"
	until [ -e "$T/ready" ]; do sleep 0.01; done
	listened() {
		echo >&9
		wait
		rm -f "$T/end" "$T/ready"
	}
'

# A line a container, whether it was changed or refused, and none where nothing was.
a_container_is_one_line_of_the_journal() {
	needs python3
	bundle 'args(["true"])' 'caps(["CAP_NET_RAW"])'
	_host "$_LISTEN"'
		"$PLAIN" --root "$T/state" run -b "$B" "$ID.changed"
		"$PLAIN" --root "$T/state" --policy oci run -b "$B" "$ID.asked"
		jq ".process.capabilities.bounding = [\"CAP_SYS_ADMIN\"]" "$B/config.json" >"$T/c" && cp "$T/c" "$B/config.json"
		"$PLAIN" --root "$T/state" run -b "$B" "$ID.refused" || :
		listened' /run/systemd/journal/socket
	rc_is 0
	is "$(wc -l <heard)" 2
	like "$(sed -n 1p heard)" "^/run/systemd/journal/socket 'PRIORITY=6.nSYSLOG_IDENTIFIER=sbxrun.nMESSAGE=container $ID.changed: policy engine changed [0-9]+ things [(]sbxrun explain --last 1[)].nSBXRUN_CONTAINER=$ID.changed.nSBXRUN_POLICY=engine.n'$"
	like "$(sed -n 2p heard)" "MESSAGE=container $ID.refused: .*policy engine refuses CAP_SYS_ADMIN.*SBXRUN_CONTAINER=$ID.refused.nSBXRUN_POLICY=engine.n'$"
}

a_machine_without_a_journal_has_syslog() {
	needs python3
	bundle 'args(["true"])' 'caps(["CAP_NET_RAW"])'
	# /dev/log is a link where systemd is; here it is a socket of its own in a /dev of its own.
	_host 'mount -t tmpfs dev /run && cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /run && mkdir /run/pts /run/shm &&
		mount --bind /dev/pts /run/pts && ln -s pts/ptmx /run/ptmx && mount --rbind /run /dev && umount -l /run && mount -t tmpfs run /run'"
		$_LISTEN"'
		"$PLAIN" --root "$T/state" run -b "$B" "$ID"
		listened' /dev/log
	rc_is 0
	is "$(wc -l <heard)" 1
	like "$(<heard)" "^/dev/log '<14>sbxrun: container $ID: policy engine changed [0-9]+ things"
}

# Nobody reads, and the queue is full: the container runs all the same.
a_journal_that_does_not_listen_keeps_nobody_waiting() {
	needs python3
	bundle 'sh("echo ran")' 'caps(["CAP_NET_RAW"])'
	_host "$_LISTEN"'
		python3 - <<-"END"
			import socket
			s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
			s.setblocking(False)
			try:
			    while True:
			        s.sendto(b"x", "/run/systemd/journal/socket")
			except BlockingIOError:
			    pass
		END
		"$PLAIN" --root "$T/state" run -b "$B" "$ID"
		listened' /run/systemd/journal/socket
	rc_is 0
	is "$out" ran
	unlike "$(<heard)" sbxrun
}

# ---- a file that has become stricter ----

# Of record and today's file the stricter one holds, row by row, whichever it is.
update_is_held_to_the_stricter_of_then_and_now() {
	bundle 'sh("sleep 1000")'
	_host '
		limits() {
			"${@:2}" >"$T/said" 2>&1 && echo "$1: done" || echo "$1: $(head -n 1 "$T/said")"
		}
		file() {
			echo "{\"version\": 1, \"default\": \"p\", \"policies\": {\"p\": {\"base\": \"engine\"$1}}}" >/etc/sbxrun/policy.json
		}
		file ""
		"$PLAIN" --root "$T/state" run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
		limits then-loose "$PLAIN" --root "$T/state" update --pids-limit -1 "$ID"
		file ", \"limits\": \"required\", \"cgroup-keys\": {\"deny\": [\"*\"]}"
		limits now-strict "$PLAIN" --root "$T/state" update --pids-limit -1 "$ID"
		echo "{\"unified\": {\"pids.max\": \"9\"}}" >"$T/r.json"
		limits now-keys "$PLAIN" --root "$T/state" update -r "$T/r.json" "$ID"
		limits now-given "$PLAIN" --root "$T/state" update --pids-limit 50 "$ID"
		"$PLAIN" --root "$T/state" delete -f "$ID"
		"$PLAIN" --root "$T/state" run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
		file ""
		limits then-strict "$PLAIN" --root "$T/state" update --pids-limit -1 "$ID"
		"$PLAIN" --root "$T/state" delete -f "$ID"'
	rc_is 0
	is "${out//sbxrun: /}" "then-loose: done
now-strict: policy p refuses to take a limit away [limits]
now-keys: policy p refuses a key of cgroups (unified: \"pids.max\") [cgroup-keys]
now-given: done
then-strict: policy p refuses to take a limit away [limits]"
}

run_tests
