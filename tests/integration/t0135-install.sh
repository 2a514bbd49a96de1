#!/bin/bash
# install and uninstall: config files of engines in trees of their own. Nothing of the machine's own config is touched: where the
# machine's root is meant, directories of the test lie on top of its own, in the mount namespace that the file has.
# Views: own
# shellcheck disable=SC2154,SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

BIN=/usr/local/bin/sbxrun

# _tree [ENGINE…]: $R, a machine with the program and these engines' daemons.
_tree() {
	local engine
	R=$T/tree
	mkdir -p "$R"/{etc,usr/bin,usr/local/bin,run}
	[ -e "$R$BIN" ] || ln "$SBXRUN" "$R$BIN" 2>/dev/null || cp "$SBXRUN" "$R$BIN"
	for engine; do
		: >"$R/usr/bin/$engine"
	done
}

_install() {
	run "$SBXRUN" install --sysroot "$R" --path "$BIN" "$@"
}

_uninstall() {
	run "$SBXRUN" uninstall --sysroot "$R" "$@"
}

# _daemon_json TEXT
_daemon_json() {
	F=$R/etc/docker/daemon.json
	mkdir -p "$R/etc/docker"
	printf '%s' "$1" >"$F"
}

# _containerd_config TEXT
_containerd_config() {
	F=$R/etc/containerd/config.toml
	mkdir -p "$R/etc/containerd"
	printf '%s' "$1" >"$F"
}

_files() {
	(cd "$R/etc" && find . -type f | sort)
}

engines_that_are_there_are_registered_and_the_others_named() {
	_tree dockerd podman
	_install
	rc_is 0
	is "$err" ''
	is "$(_files)" $'./containers/containers.conf.d/sbxrun.conf\n./docker/daemon.json'
	is "$(jq -c . "$R/etc/docker/daemon.json")" '{"runtimes":{"sbxrun":{"path":"/usr/local/bin/sbxrun"}}}'
	is "$(stat -c %a "$R/etc/docker" "$R/etc/docker/daemon.json")" $'755\n644'
	like "$out" "docker: $R/etc/docker/daemon.json: runtime \"sbxrun\" registered"
	like "$out" 'docker: now: systemctl reload docker'
	like "$out" 'docker: try: docker run --rm --runtime sbxrun hello-world'
	like "$out" 'podman: try: podman --runtime sbxrun run'
	unlike "$out" 'podman: now'
	like "$out" 'containerd: not found .*containerd.*/etc/containerd'
	like "$out" 'crio: not found'
}

a_config_directory_is_a_sign_of_an_engine() {
	_tree
	mkdir "$R/etc/crio"
	_install
	rc_is 0
	is "$(_files)" ./crio/crio.conf.d/50-sbxrun.conf
	file_has "$R/etc/crio/crio.conf.d/50-sbxrun.conf" '^runtime_path = "/usr/local/bin/sbxrun"$'
}

without_any_engine_it_fails_and_says_where_it_looked() {
	_tree
	_install
	rc_is 1
	like "$err" 'no engine was found .*dockerd.*/etc/docker.*containerd.*podman.*crio'
	is "$(_files)" ''
	_install docker
	rc_is 0
}

unknown_engines_are_refused_before_anything_is_done() {
	_tree dockerd
	_install docker dokcer
	rc_is 1
	like "$err" 'unknown engine "dokcer" .*docker, containerd, podman and crio'
	is "$(_files)" ''
}

what_is_done_twice_is_done_once() {
	local before
	_tree dockerd containerd podman crio
	_containerd_config $'version = 2\n'
	_install
	rc_is 0
	before=$(cd "$R/etc" && find . -type f -exec md5sum {} + -exec stat -c '%i %Z' {} + | sort)
	_install
	rc_is 0
	unlike "$out" 'now:'
	is "$(cd "$R/etc" && find . -type f -exec md5sum {} + -exec stat -c '%i %Z' {} + | sort)" "$before"
}

# Everything that people were seen to have there.
_realistic() {
	cat <<-'END'
		{}
		{"log-driver": "json-file", "log-opts": {"max-size": "10m", "max-file": "3"}}
		{ "exec-opts": ["native.cgroupdriver=systemd"], "storage-driver": "overlay2" }
		{"default-runtime":"nvidia","runtimes":{"nvidia":{"args":[],"path":"nvidia-container-runtime"}}}
		{"runtimes":{"runsc":{"path":"/usr/local/bin/runsc","runtimeArgs":["--platform=kvm"]},"kata":{"runtimeType":"io.containerd.kata.v2"}}}
		{"insecure-registries":["10.0.0.1:5000"],"registry-mirrors":["https://mirror.example"],"live-restore":true}
		{"bip":"172.26.0.1/16","default-address-pools":[{"base":"172.30.0.0/16","size":24}],"mtu":1450,"ipv6":false}
		{"hosts":["unix:///var/run/docker.sock","tcp://0.0.0.0:2376"],"tlsverify":true,"tlscacert":"/c","tlscert":"/s","tlskey":"/k"}
		{"userns-remap":"default","data-root":"/mnt/docker","max-concurrent-downloads":10,"shutdown-timeout":15}
		{"builder":{"gc":{"enabled":true,"defaultKeepStorage":"20GB"}},"features":{"buildkit":true,"containerd-snapshotter":true}}
		{"default-ulimits":{"nofile":{"Name":"nofile","Hard":64000,"Soft":64000}},"seccomp-profile":"/etc/docker/s.json"}
		{"dns":["8.8.8.8"],"runtimes":{},"experimental":false,"labels":["a=b"],"proxies":{"http-proxy":"http://p"}}
		{"a":1e400,"b":18446744073709551615,"c":1.10,"d":-0,"e":1E-7}
	END
}

files_of_all_kinds_keep_what_is_theirs_and_come_back_as_they_were() {
	local text form n=0
	_tree
	needs jq
	while IFS= read -r text; do
		for form in "$text" "$(jq . <<<"$text")" "$(jq --tab . <<<"$text")"$'\n' "$(jq --indent 4 . <<<"$text")"; do
			_daemon_json "$form"
			_install docker
			rc_is 0
			printf '%s\n' "$form" >>before
			cat "$F" >>between
			echo >>between
			_uninstall docker
			rc_is 0
			is "$(cat "$F" && echo .)" "$form."
			is "$(ls "$R/etc/docker")" daemon.json
			n=$((n + 1))
		done
	done < <(_realistic)
	is "$n" 52
	# All at once, for jq takes longer to start than the rest.
	is "$(jq -c 'del(.runtimes.sbxrun) | if .runtimes == {} then del(.runtimes) else . end' between)" \
		"$(jq -c 'if .runtimes == {} then del(.runtimes) else . end' before)"
	is "$(jq -r .runtimes.sbxrun.path between | sort | uniq -c | xargs)" "52 $BIN"
}

a_file_that_install_made_is_gone_after_uninstall() {
	_tree dockerd containerd podman crio
	_containerd_config $'version = 2\n'
	_install
	rc_is 0
	_uninstall
	rc_is 0
	is "$(_files)" ./containerd/config.toml
	is "$(cat "$F")" 'version = 2'
	_uninstall
	rc_is 0
	like "$out" 'docker: nothing to do'
	like "$out" 'crio: nothing to do'
}

an_empty_file_counts_as_an_empty_object() {
	_tree
	_daemon_json ''
	_install docker
	rc_is 0
	is "$(jq -c . "$F")" '{"runtimes":{"sbxrun":{"path":"/usr/local/bin/sbxrun"}}}'
	_uninstall docker
	rc_is 0
	is "$(stat -c %s "$F")" 0
}

a_file_that_docker_would_not_read_is_left_as_it_is() {
	local text
	_tree
	for text in '{' '[]' '{"runtimes": []}' '{"a": 1, "a": 2}' '{"a": 1,}' '{"a": NaN}' '{"runtimes": {"sbxrun": 5}}' $'\xef\xbb\xbf{}' 'x'; do
		_daemon_json "$text"
		_install docker
		rc_is 1
		like "$err" "^sbxrun: docker: $F:1:[0-9]+: "
		is "$(cat "$F")" "$text"
		is "$(ls -A "$R/etc/docker")" daemon.json
	done
	_daemon_json $'{\n  "a": 1,\n  "b": 2,\n  "a": 3\n}'
	_install docker
	like "$err" ":4:3: the key \"a\" stands there already, in line 2.*remove one"
}

another_entry_is_replaced_by_force_alone() {
	_tree
	_daemon_json '{"runtimes": {"sbxrun": {"path": "/opt/sbxrun", "runtimeArgs": ["--debug"]}}}'
	_install docker
	rc_is 1
	like "$err" '/opt/sbxrun.*--force'
	_install --force docker
	rc_is 0
	is "$(jq -c .runtimes "$F")" '{"sbxrun":{"path":"/usr/local/bin/sbxrun"}}'
	file_has "$F.sbxrun-backup" '/opt/sbxrun'
	_daemon_json '{"runtimes": {"sbxrun": {"path": "/opt/sbxrun", "runtimeArgs": ["--debug"]}}}'
	_uninstall docker
	rc_is 1
	like "$err" '--force'
	_uninstall -f docker
	rc_is 0
	is "$(jq -c . "$F")" '{"runtimes":{}}'
}

the_default_runtime_is_never_ours_by_install_and_is_not_taken_away() {
	_tree dockerd podman
	_install
	unlike "$(cat "$R"/etc/docker/* "$R"/etc/containers/*/*)" 'default|^runtime *='
	_daemon_json '{"default-runtime": "sbxrun", "runtimes": {"sbxrun": {"path": "/usr/local/bin/sbxrun"}}}'
	_uninstall --force docker
	rc_is 1
	like "$err" "daemon.json:1:21: sbxrun is docker's default runtime.*take \"default-runtime\" out first"
	is "$(jq -r .runtimes.sbxrun.path "$F")" "$BIN"
}

backups_are_kept_and_never_overwritten() {
	_tree
	_daemon_json '{"a": 1}'
	_install docker
	like "$out" "as it was: $F.sbxrun-backup"
	is "$(cat "$F.sbxrun-backup")" '{"a": 1}'
	# somebody goes on with the file: uninstall keeps the backup
	jq '.b = 2' "$F" >new && cat new >"$F"
	_uninstall docker
	rc_is 0
	is "$(jq -c . "$F")" '{"a":1,"b":2}'
	is "$(cat "$F.sbxrun-backup")" '{"a": 1}'
	_install docker
	rc_is 0
	is "$(cat "$F.sbxrun-backup")" '{"a": 1}'
	is "$(jq -c . "$F.sbxrun-backup.1")" '{"a":1,"b":2}'
}

a_dry_run_prints_a_diff_that_patch_takes_and_writes_nothing() {
	local before
	_tree dockerd containerd podman crio
	needs patch
	_daemon_json $'{\n    "debug": true\n}'
	_containerd_config $'version = 2\n[debug]\n  level = "info"\n'
	before=$(_files; cat "$R"/etc/*/*.*)
	_install --dry-run
	rc_is 0
	is "$(_files; cat "$R"/etc/*/*.*)" "$before"
	is "$(ls -A "$R/etc")" $'containerd\ndocker'
	unlike "$out" 'now:'
	cp -a "$R" copy
	(cd copy && patch -p"$(tr -cd / <<<"$R/" | wc -c)" -s <../out)
	_install
	is "$(cd "$R/etc" && find . -type f ! -name '*backup' -exec md5sum {} + | sort)" \
		"$(cd copy/etc && find . -type f ! -name '*.orig' -exec md5sum {} + | sort)"
	_uninstall -n
	rc_is 0
	like "$out" $'\n\\+\\+\\+ /dev/null'
	[ -e "$R/etc/crio/crio.conf.d/50-sbxrun.conf" ] || fail 'a dry run has removed a file'
}

what_is_printed_has_nothing_that_a_terminal_obeys() {
	local name=$'real\e[2J.json'
	_tree
	_daemon_json $'{"a": "\x7f\xc2\x9b2J"}'
	_install --dry-run docker
	rc_is 0
	like "$out" '"a": "\\x7f\\xc2\\x9b2J"'
	unlike "$out" $'[\x7f\e]|\xc2\x9b'
	# a name that the tree has chosen
	mv "$F" "$R/etc/docker/$name"
	ln -s "$name" "$F"
	_install docker
	rc_is 0
	like "$out" 'as it was: .*/real\\x1b\[2J.json.sbxrun-backup'
	unlike "$out" $'\e'
}

mode_owner_and_attributes_stay() {
	_tree
	needs python3
	_daemon_json '{}'
	chmod 640 "$F"
	chown 1234:2345 "$F"
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.mine", b"words")' "$F" || skip 'no attributes here'
	_install docker
	rc_is 0
	is "$(stat -c '%a %u %g' "$F")" '640 1234 2345'
	is "$(python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.mine").decode())' "$F")" words
	is "$(stat -c '%a %u %g' "$F.sbxrun-backup")" '640 1234 2345'
}

a_link_is_followed_and_stays() {
	_tree
	mkdir -p "$R/etc/docker" "$R/srv"
	echo '{"a": 1}' >"$R/srv/real.json"
	# as the tree sees it
	ln -s /srv/real.json "$R/etc/docker/daemon.json"
	_install docker
	rc_is 0
	is "$(readlink "$R/etc/docker/daemon.json")" /srv/real.json
	is "$(jq -c 'keys' "$R/srv/real.json")" '["a","runtimes"]'
	is "$(ls -A "$R/srv")" $'real.json\nreal.json.sbxrun-backup'
	_uninstall docker
	is "$(cat "$R/srv/real.json")" '{"a": 1}'
	ln -sf /nowhere "$R/etc/docker/daemon.json"
	_install docker
	rc_is 1
	like "$err" 'daemon.json: a link that leads nowhere'
	ln -sf ../../../../../../../../../../../../../etc/passwd "$R/etc/docker/daemon.json"
	_install docker
	rc_is 1
	like "$err" 'leads nowhere'
}

what_is_no_plain_file_is_refused() {
	_tree
	mkdir -p "$R/etc/docker/daemon.json"
	_install docker
	rc_is 1
	rmdir "$R/etc/docker/daemon.json"
	mkfifo "$R/etc/docker/daemon.json"
	_install docker
	rc_is 1
	like "$err" 'not a plain file'
	rm "$R/etc/docker/daemon.json"
	# one that can't be opened outside of a devpts
	mknod "$R/etc/docker/daemon.json" c 5 2 || skip 'no device nodes here'
	_install docker
	rc_is 1
	like "$err" 'not a plain file'
}

# _faulted CALL ERROR [N]: install of docker with that call failing the Nth time; what was there is still there.
_faulted() {
	_daemon_json '{"a": 1}'
	rm -f "$F".sbxrun-backup
	run strace -qq -o strace.out -e trace="$1" -e inject="$1:error=$2:when=${3:-1}" "$SBXRUN" install --sysroot "$R" --path "$BIN" docker
	rc_is 1
	like "$err" "^sbxrun: docker: .*$R/etc/docker"
	is "$(cat "$F")" '{"a": 1}'
	# whose lock it is can't be told when it is refused
	[ "$1" != flock ] || rm -f "$R/etc/docker/.sbxrun-lock"
	rm -f "$F".sbxrun-backup
	is "$(ls -A "$R/etc/docker")" daemon.json
}

# The first file that is written is the backup, the second the config.
failing_calls_leave_the_old_file() {
	local n
	_tree
	needs strace
	for n in 1 2; do
		_faulted write ENOSPC $n
		_faulted fsync EIO $n
		_faulted fchmod EPERM $n
		_faulted linkat EROFS $n
	done
	_faulted renameat EIO
	_faulted flock EAGAIN
	like "$err" 'another sbxrun is at work'
	_install docker
	rc_is 0
}

full_disks_and_closed_directories_leave_the_old_file() {
	_tree
	mkdir -p "$R/etc/docker"
	mount -t tmpfs -o size=8k,nr_inodes=10 tmpfs "$R/etc/docker"
	_daemon_json "{\"a\": \"$(head -c 3000 /dev/zero | tr '\0' x)\"}"
	cp "$F" before
	head -c 8192 /dev/zero >"$R/etc/docker/full" 2>/dev/null || :
	_install docker
	rc_is 1
	like "$err" 'no space left on device'
	cmp "$F" before
	mount -o remount,ro "$R/etc/docker"
	_install docker
	rc_is 1
	like "$err" 'read-only file system'
	cmp "$F" before
	umount "$R/etc/docker"
	_daemon_json '{}'
	mount --bind "$F" "$F"
	_install docker
	rc_is 1
	like "$err" 'a mount point'
	umount "$F"
}

a_change_by_somebody_else_is_not_lost() {
	_tree
	needs strace
	_daemon_json '{"a": 1}'
	# stopped before it locks
	strace -qq -o strace.out -e inject=flock:signal=STOP:when=1 "$SBXRUN" install --sysroot "$R" --path "$BIN" docker >i.out 2>i.err &
	local tracer=$! pid
	wait_until 20 grep -q 'stopped by SIGSTOP' strace.out
	pid=$(pgrep -P "$tracer")
	echo '{"b": 2}' >"$F"
	kill -CONT "$pid"
	rc=0
	wait "$tracer" || rc=$?
	# the lock is the tracer's first stop; the file was read before it
	rc_is 1
	file_has i.err 'somebody has changed it meanwhile'
	is "$(cat "$F")" '{"b": 2}'
}

# Anybody can read /etc/docker, and lock it.
a_lock_of_others_on_the_directory_keeps_nobody_out() {
	_tree
	needs flock setpriv
	_daemon_json '{"a": 1}'
	chmod 755 "$T" "$R" "$R/etc" "$R/etc/docker"
	mkfifo held
	setpriv --reuid 4242 --regid 4242 --clear-groups -- flock -x "$R/etc/docker" sh -c 'echo; exec sleep 60' >held &
	local holder=$!
	read -r _ <held
	_install docker
	kill "$holder" 2>/dev/null || :
	wait "$holder" || :
	rc_is 0
	is "$(ls -A "$R/etc/docker")" $'daemon.json\ndaemon.json.sbxrun-backup'
}

# _killed_at CALL: killed at its first, its second, … call of this kind, it leaves the old file or the new one, and the next
# install finishes the work. POINTS counts.
_killed_at() {
	local n=0 text
	for ((;;)); do
		n=$((n + 1))
		rm -rf "${R:?}/etc"
		_daemon_json '{"a": 1}'
		rc=0
		strace -qq -o strace.out -e trace="$1" -e inject="$1:signal=KILL:when=$n" "$SBXRUN" install --sysroot "$R" --path "$BIN" docker crio \
			>i.out 2>i.err || rc=$?
		text=$(tr -d ' \n' <"$R/etc/docker/daemon.json")
		case $text in
		'{"a":1}' | '{"a":1,"runtimes":{"sbxrun":{"path":"/usr/local/bin/sbxrun"}}}') ;;
		*) fail "after $1 $n: $text" ;;
		esac
		[ "$rc" != 0 ] || return 0
		POINTS=$((POINTS + 1))
		_install docker crio
		rc_is 0
		is "$(find "$R/etc" -type f ! -name '*backup' -printf '%P\n' | sort)" $'crio/crio.conf.d/50-sbxrun.conf\ndocker/daemon.json' "after $1 $n"
		is "$(jq -c . "$R/etc/docker/daemon.json")" '{"a":1,"runtimes":{"sbxrun":{"path":"/usr/local/bin/sbxrun"}}}'
	done
}

# At calls that change something, and at those between them.
killed_at_any_call_it_leaves_a_whole_file() {
	local call POINTS=0
	_tree
	needs strace
	for call in openat write fchmod fsync linkat unlinkat renameat mkdirat flock; do
		_killed_at $call
	done
	[ "$POINTS" -ge 20 ] || fail "only $POINTS calls"
}

several_engines_are_all_tried() {
	_tree dockerd podman crio
	_daemon_json '{'
	mkdir -p "$R/etc/crio/crio.conf.d"
	echo '# mine' >"$R/etc/crio/crio.conf.d/50-sbxrun.conf"
	_install
	rc_is 1
	like "$err" 'sbxrun: docker: .*daemon.json:1:2'
	like "$err" 'sbxrun: crio: .*50-sbxrun.conf: sbxrun install has not made it; .*--force'
	like "$out" 'podman: .*sbxrun.conf: made'
	is "$(cat "$R/etc/crio/crio.conf.d/50-sbxrun.conf")" '# mine'
	_uninstall crio
	rc_is 1
	_install --force crio
	rc_is 0
	_uninstall crio
	rc_is 0
	[ ! -e "$R/etc/crio/crio.conf.d/50-sbxrun.conf" ] || fail 'it is still there'
}

podmans_lists_keep_what_others_have_put_there() {
	_tree podman
	mkdir -p "$R"/{etc,usr/share}/containers/containers.conf.d
	printf '[engine]\nruntime_supports_json = ["crun", "one"]\n' >"$R/usr/share/containers/containers.conf"
	printf '[engine]\nruntime_supports_json = [\n "two", # x\n {append=true}]\nruntime_supports_nocgroup = ["three"]\n' \
		>"$R/etc/containers/containers.conf.d/a.conf"
	_install podman
	rc_is 0
	file_has "$R/etc/containers/containers.conf.d/sbxrun.conf" \
		'^runtime_supports_json = \["crun", "runc", "kata", "runsc", "youki", "krun", "ocijail", "one", "two", "sbxrun"\]$'
	file_has "$R/etc/containers/containers.conf.d/sbxrun.conf" '^runtime_supports_nocgroup = \["crun", "krun", "three", "sbxrun"\]$'
	_install podman
	like "$out" 'already'
}

an_ordinary_user_has_podman_of_his_own() {
	_tree
	mkdir -p "$T/home" "$T/bin"
	chmod 755 "$T" "$T/bin"
	cp "$SBXRUN" "$T/bin/sbxrun"
	chown 4242 "$T/home"
	run env -u XDG_CONFIG_HOME HOME="$T/home" setpriv --reuid 4242 --regid 4242 --clear-groups -- "$T/bin/sbxrun" install podman
	rc_is 0
	is "$(find "$T/home" -type f)" "$T/home/.config/containers/containers.conf.d/sbxrun.conf"
	file_has "$T/home/.config/containers/containers.conf.d/sbxrun.conf" "^sbxrun = \\[\"$T/bin/sbxrun\"\\]$"
	run env HOME="$T/home" setpriv --reuid 4242 --regid 4242 --clear-groups -- "$T/bin/sbxrun" install docker
	rc_is 1
	like "$err" 'docker: only root'
	run env -u XDG_CONFIG_HOME HOME="$T/home" setpriv --reuid 4242 --regid 4242 --clear-groups -- "$T/bin/sbxrun" uninstall
	rc_is 0
	is "$(find "$T/home" -type f)" ''
}

containerd_gets_a_part_of_its_config_or_a_file_in_conf_d() {
	_tree containerd
	_containerd_config $'version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
	_install
	rc_is 0
	is "$(_files)" $'./containerd/conf.d/sbxrun.toml\n./containerd/config.toml'
	is "$(cat "$F")" $'version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]'
	file_has "$R/etc/containerd/conf.d/sbxrun.toml" '^\[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.sbxrun\]$'
	_uninstall
	is "$(_files)" ./containerd/config.toml
	_containerd_config $'version = 3\n'
	_install
	rc_is 0
	file_has "$F" '^\[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.sbxrun\]$'
	_uninstall
	is "$(cat "$F")" 'version = 3'
}

containerds_config_that_can_not_be_added_to_is_left_as_it_is() {
	local text
	_tree containerd
	for text in $'version = 2\nplugins = {}' 'x' $'version = 2\n[a' $'[plugins.cri]\n' \
		$'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.sbxrun]'; do
		_containerd_config "$text"
		_install
		rc_is 1
		like "$err" "^sbxrun: containerd: $F"
		is "$(cat "$F" && echo .)" "$text."
		is "$(ls -A "$R/etc/containerd")" config.toml
	done
	_containerd_config $'version = 2\nimports = ["/etc/containerd/more.d/*.toml"]\n'
	mkdir "$R/etc/containerd/more.d"
	echo '[plugins."io.containerd.grpc.v1.cri".cni]' >"$R/etc/containerd/more.d/a.toml"
	_install
	rc_is 1
	like "$err" 'more.d/a.toml is imported.*add the handler there by hand'
	mv "$R/etc/containerd/more.d/a.toml" "$R/etc/containerd/more.d/a.off"
	_install
	rc_is 0
}

a_containerd_without_cri_is_left_out_unless_named() {
	_tree containerd dockerd
	_containerd_config $'disabled_plugins = ["cri"]\n'
	_install
	rc_is 0
	like "$out" 'containerd: .*disabled_plugins has the CRI plugin.*nothing to register'
	is "$(cat "$F")" 'disabled_plugins = ["cri"]'
	_install containerd
	rc_is 1
	like "$err" 'has no version.*containerd config migrate'
}

# The program where root alone can change it.
_own_program() {
	[ -d /usr/local/sbin ] || skip 'no directory to mount on'
	[ "$(stat -c '%u %a' /usr/local)" = '0 755' ] || skip '/usr/local is not root'\''s alone'
	mount -t tmpfs -o mode=755 tmpfs /usr/local/sbin
	cp "$SBXRUN" /usr/local/sbin/sbxrun
}

# _own_containerd VERSION: the machine's root with this test's own /etc/containerd and a containerd that says it is of that version.
_own_containerd() {
	mkdir -p bin etc-containerd
	# shellcheck disable=SC2016
	printf '#!/bin/sh\n[ "$1" = --version ] && echo "containerd github.com/containerd/containerd %s x"\n' "$1" >bin/containerd
	chmod 755 bin/containerd
	mkdir -p /etc/containerd
	mount --bind etc-containerd /etc/containerd
	_own_program
	cp bin/containerd /usr/local/sbin/containerd
}

a_config_of_containerd_that_is_missing_is_made_for_its_version() {
	[ -d /etc/containerd ] || skip 'no directory to mount on'
	_own_containerd 1.7.24
	run /usr/local/sbin/sbxrun install containerd
	rc_is 0
	file_has etc-containerd/config.toml '^version = 2$'
	file_has etc-containerd/config.toml 'runtimes.runc\]$'
	file_has etc-containerd/config.toml '^BinaryName = "/usr/local/sbin/sbxrun"$'
	run /usr/local/sbin/sbxrun uninstall containerd
	rc_is 0
	is "$(ls -A etc-containerd)" ''
	sed -i 's/1\.7\.24/v2 2.1.9/' /usr/local/sbin/containerd
	run /usr/local/sbin/sbxrun install containerd
	rc_is 0
	file_has etc-containerd/config.toml '^version = 3$'
	file_has etc-containerd/config.toml '^imports = \["/etc/containerd/conf.d/\*.toml"\]$'
	file_has etc-containerd/conf.d/sbxrun.toml 'runtimes.sbxrun\]$'
	run /usr/local/sbin/sbxrun install containerd
	rc_is 0
	like "$out" 'already'
	run /usr/local/sbin/sbxrun uninstall containerd
	rc_is 0
	is "$(find etc-containerd -type f)" ''
	echo 'exit 1' >/usr/local/sbin/containerd
	run /usr/local/sbin/sbxrun install containerd
	rc_is 1
	like "$err" 'config.toml is missing.*containerd config default'
	umount /etc/containerd /usr/local/sbin
}

# A script that leaves a trace, with somebody else in control of it.
a_containerd_of_others_is_not_executed() {
	[ -d /etc/containerd ] || skip 'no directory to mount on'
	_own_containerd 1.7.24
	printf 'touch %s/ran\n' "$T" >>/usr/local/sbin/containerd
	for how in '--dry-run' ''; do
		chown 1234 /usr/local/sbin/containerd
		# shellcheck disable=SC2086
		run /usr/local/sbin/sbxrun install $how containerd
		rc_is 1
		like "$err" '/usr/local/sbin/containerd: others than root can change it, so .* is not asked'
		[ ! -e "$T/ran" ] || fail 'it was executed'
	done
	chown 0 /usr/local/sbin/containerd
	run /usr/local/sbin/sbxrun install --dry-run containerd
	rc_is 0
	[ -e "$T/ran" ] || fail 'it was not executed'
	umount /etc/containerd /usr/local/sbin
}

# Directories on top of all usual ones would hide the test's own tools: the engine is one that the machine has nowhere.
roots_path_does_not_count() {
	local dir
	for dir in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
		[ ! -e $dir/crio ] || skip 'crio is installed here'
	done
	[ ! -e /etc/crio ] || skip 'there is a config of crio'
	_own_program
	mkdir -p path
	printf '#!/bin/sh\n' >path/crio
	chmod 755 path path/crio
	run env PATH="$PWD/path:$PATH" /usr/local/sbin/sbxrun install --dry-run
	unlike "$out$err" '50-sbxrun.conf'
	like "$out$err" 'crio: not found \(looked for crio in the usual places'
	umount /usr/local/sbin
}

the_examples_in_spec_are_what_install_writes() {
	local spec=${TESTS_DIR%/*}/spec/engines
	_tree dockerd podman crio
	_install
	is "$(jq -c . "$R/etc/docker/daemon.json")" "$(jq -c . "$spec/daemon.json")"
	is "$(grep -vE '^(#|$)' "$R/etc/crio/crio.conf.d/50-sbxrun.conf")" "$(grep -vE '^(#|$)' "$spec/crio-sbxrun.conf")"
	is "$(grep -E '^(\[|runtime)' "$R/etc/containers/containers.conf.d/sbxrun.conf")" "$(grep -E '^(\[|runtime)' "$spec/podman-sbxrun.conf")"
	# of containerd's it knows that it is not its own
	mkdir -p "$R/etc/containerd"
	cp "$spec/containerd-config.toml" "$R/etc/containerd/config.toml"
	_install containerd
	rc_is 1
	like "$err" 'config.toml:5: there is a handler "sbxrun" already'
}

# shellcheck disable=SC2154
a_program_that_others_can_change_is_not_registered() {
	_tree dockerd
	mkdir -m 777 "$R/open"
	cp "$SBXRUN" "$R/open/sbxrun"
	ln -s /open/sbxrun "$R/usr/bin/by-link"
	cp "$SBXRUN" "$R/usr/bin/his"
	chown 1234 "$R/usr/bin/his"
	cp "$SBXRUN" "$R/usr/bin/theirs"
	chmod 775 "$R/usr/bin/theirs"
	chgrp 1234 "$R/usr/bin/theirs"
	for file in /open/sbxrun /usr/bin/by-link /usr/bin/his /usr/bin/theirs; do
		run "$SBXRUN" install --sysroot "$R" --path "$file" docker
		rc_is 1
		like "$err" 'others than root can change it.*make install.*--path'
	done
	refused 'no such program in that tree.*make install DESTDIR' "$SBXRUN" install --sysroot "$R" --path /usr/bin/nothing docker
	refused 'not a program' "$SBXRUN" install --sysroot "$R" --path /usr/bin/dockerd docker
	refused 'must be absolute' "$SBXRUN" install --sysroot "$R" --path usr/bin/his docker
	refused 'without quotes' "$SBXRUN" install --sysroot "$R" --path '/a"b' docker
	is "$(_files)" ''
	mkdir -m 1777 open
	cp "$SBXRUN" open/sbxrun
	refused 'others than root can change it' open/sbxrun install --dry-run docker
}

# Neither end of the way is alice's.
a_link_of_others_on_the_way_is_seen() {
	_tree dockerd
	mkdir -p "$R/opt" "$R/home/alice"
	ln -s "$BIN" "$R/home/alice/link"
	ln -s /home/alice/link "$R/opt/sbxrun"
	chown -h 1234 "$R/home/alice" "$R/home/alice/link"
	refused '/home/alice: others than root can change it' "$SBXRUN" install --sysroot "$R" --path /opt/sbxrun docker
	chown 0 "$R/home/alice"
	refused '/home/alice/link: others than root can change it' "$SBXRUN" install --sysroot "$R" --path /opt/sbxrun docker
	# a directory on the way is a link as well
	chown -h 0 "$R/home/alice/link"
	ln -s ../home/alice/../bob "$R/opt/dir"
	mkdir "$R/home/bob"
	ln -s "../..$BIN" "$R/home/bob/sbxrun"
	chown 1234 "$R/home/bob"
	refused '/home/bob: others than root can change it' "$SBXRUN" install --sysroot "$R" --path /opt/dir/sbxrun docker
	is "$(_files)" ''
	chown 0 "$R/home/bob"
	for file in /opt/dir/sbxrun /opt/sbxrun; do
		run "$SBXRUN" install --force --sysroot "$R" --path $file docker
		rc_is 0
		is "$(jq -r .runtimes.sbxrun.path "$R/etc/docker/daemon.json")" $file
	done
}

# An access list shows as the group's right to write, and the group is root's.
an_access_list_is_seen() {
	_tree dockerd
	needs python3
	# not the one that the other names of it stand for
	rm "$R$BIN"
	cp "$SBXRUN" "$R$BIN"
	python3 - "$R$BIN" <<-'END' || skip 'no access lists here'
		import os, struct, sys
		entries = [(1, 7, 0xffffffff), (2, 7, 1234), (4, 5, 0xffffffff), (16, 7, 0xffffffff), (32, 5, 0xffffffff)]
		os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries))
	END
	is "$(stat -c '%a %g' "$R$BIN")" '775 0'
	_install docker
	rc_is 1
	like "$err" "$BIN: others than root can change it"
}

# On its way through ".." the kernel gives up (EAGAIN) if something is renamed or mounted anywhere on the machine.
a_rename_elsewhere_is_no_matter() {
	needs strace
	_tree dockerd
	mkdir "$R/opt"
	ln -s "../usr/../$BIN" "$R/opt/sbxrun"
	run strace -f -qq -o trace -e trace=openat2 -e inject=openat2:error=EAGAIN:when=1+2 \
		"$SBXRUN" install --sysroot "$R" --path /opt/sbxrun docker
	grep -q EAGAIN trace || fail 'nothing was renamed'
	rc_is 0
	_uninstall docker
	rc_is 0
}

containers_that_are_there_are_told_of_and_left_alone() {
	_tree dockerd
	_install
	mkdir -p "$R"/run/sbxrun/{a,b} "$R/run/docker/runtime-sbxrun/moby/c" "$R/run/containerd/runc/k8s.io/other"
	touch "$R"/run/sbxrun/{a,b}/{state,config}.json "$R"/run/docker/runtime-sbxrun/moby/c/{state,config}.json \
		"$R/run/containerd/runc/k8s.io/other/state.json"
	_uninstall
	rc_is 0
	like "$err" "warning: 2 containers of sbxrun are still there \(sbxrun --root $R/run/sbxrun list\)"
	like "$err" "warning: 1 container of sbxrun is still there .*runtime-sbxrun/moby"
	unlike "$err" k8s.io
	is "$(_files)" ''
}

# ---- kubernetes ----

_node_setup() { run "$TESTS_DIR/../spec/engines/node-setup" "$@"; }

a_node_is_set_up_by_one_command() {
	_tree
	rm "$R$BIN"
	_containerd_config $'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n  runtime_type = "io.containerd.runc.v2"\n'
	echo node-7 >"$R/etc/hostname"
	_node_setup --sysroot "$R" "$SBXRUN"
	rc_is 0
	cmp "$SBXRUN" "$R$BIN"
	is "$(stat -c %a "$R$BIN")" 755
	file_has "$F" 'runtimes\.sbxrun'
	file_has "$F" 'runtimes\.runc'
	like "$out" "$R is ready"
	like "$out" 'kubectl label node node-7 sbxrun=yes'
	cp "$F" "$T/before"
	_node_setup --sysroot "$R" "$SBXRUN"
	rc_is 0
	like "$out" 'nothing is restarted'
	cmp "$F" "$T/before"
}

# The engine is restarted if its config has changed, and only then. The directories are the test's own, on top of the machine's.
a_node_that_runs_has_its_engine_restarted() {
	local dir
	_tree
	_containerd_config $'version = 2\n'
	mkdir -p "$T/bin" /etc/containerd
	printf '%s\n' '#!/bin/sh' "echo \"\$*\" >>$T/asked" >"$T/bin/systemctl"
	chmod 755 "$T/bin/systemctl"
	PATH=$T/bin:$PATH run unshare -m sh -c 'mount --bind "$0/etc/containerd" /etc/containerd && mount --bind "$0/usr/local/bin" /usr/local/bin &&
		"$1" "$2" && "$1" "$2"' "$R" "$TESTS_DIR/../spec/engines/node-setup" "$SBXRUN"
	rc_is 0
	is "$(grep restart "$T/asked")" 'restart containerd'
}

a_node_without_an_engine_is_refused() {
	_tree
	rm "$R$BIN"
	_node_setup --sysroot "$R" "$SBXRUN"
	rc_is 1
	like "$err" 'neither containerd nor CRI-O'
	[ ! -e "$R$BIN" ] || fail 'the program was put there'
	_node_setup --sysroot "$R" /bin/false
	rc_is 1
	like "$err" '/bin/false does not run here'
}

# What the API server would say, as far as names of fields go: those of the published types.
the_files_for_kubernetes_have_the_documented_fields() {
	python3 - "$TESTS_DIR/../spec/engines" <<-'END'
		import sys, yaml
		pod = {"runtimeClassName": str, "restartPolicy": str, "automountServiceAccountToken": bool, "enableServiceLinks": bool,
		       "securityContext": {"runAsNonRoot": bool, "runAsUser": int, "seccompProfile": {"type": str}},
		       "containers": [{"name": str, "image": str, "command": [str], "resources": {"limits": {"memory": str, "cpu": str}},
		                       "securityContext": {"allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool, "capabilities": {"drop": [str]}}}]}
		meta = {"name": str}
		files = {"runtimeclass.yaml": ("node.k8s.io/v1", "RuntimeClass", {"handler": str}),
		         "pod.yaml": ("v1", "Pod", {"spec": pod}),
		         "agent-sandbox.yaml": ("agents.x-k8s.io/v1beta1", "Sandbox", {"spec": {"podTemplate": {"spec": pod}}})}
		def check(where, value, shape):
		    if isinstance(shape, dict):
		        assert isinstance(value, dict) and value, where
		        for key in value:
		            assert key in shape, f"{where}.{key}: no such field"
		            check(f"{where}.{key}", value[key], shape[key])
		    elif isinstance(shape, list):
		        assert isinstance(value, list) and value, where
		        for n, one in enumerate(value):
		            check(f"{where}[{n}]", one, shape[0])
		    else:
		        assert type(value) is shape, f"{where}: {value!r} is no {shape.__name__}"
		for name, (version, kind, shape) in files.items():
		    document, = yaml.safe_load_all(open(f"{sys.argv[1]}/{name}"))
		    check(name, document, dict(shape, apiVersion=str, kind=str, metadata=meta))
		    assert (document["apiVersion"], document["kind"]) == (version, kind), name
		    if kind != "RuntimeClass":
		        spec = document["spec"] if kind == "Pod" else document["spec"]["podTemplate"]["spec"]
		        assert spec["runtimeClassName"] == "sbxrun" and spec["containers"], name
		    else:
		        assert document["handler"] == document["metadata"]["name"] == "sbxrun", name
	END
}

run_tests
