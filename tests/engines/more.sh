#!/bin/bash
# What docker does beyond smoke.sh, with a runtime ($RT): networks with a bridge, DNS and published ports, builds in several steps, names, events,
# and what gives the host away. engines/run calls it in a place of its own.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"
TEST_ID='more'
TEST_LIMIT=${ENGINE_TEST_LIMIT:-400}
IMAGE=localhost/more
ENGINE_LOG=$SBXT_WORK/engine.log

# ---- networks ----

# A container that says "hello from NAME" on port 80, to any number of callers.
_server() {
	sh_up "$1" "trap 'exit 0' TERM; while :; do echo hello from $1 | nc -l -p 80 & wait; done" "${@:2}"
}

_address() {
	get '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'
}

# _hears OPTIONS… -- HOST PORT: whether a container with these options is told hello.
_hears() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	box "${options[@]}" "$IMAGE" nc -w 5 "$2" "$3"
	[[ $out == 'hello from '* ]]
}

bridge() {
	local address
	_server a --network bridge
	address=$(_address)
	like "$address" '^172\.[0-9.]+$'
	wait_until 20 _hears --network bridge -- "$address" 80
	box --network bridge "$IMAGE" sh -c 'ls /sys/class/net; ip route | head -n 1'
	like "$out" $'^eth0\nlo\ndefault via 172\\.'
	e restart -t 5 "$C"
	address=$(_address)
	wait_until 20 _hears --network bridge -- "$address" 80
}

port_publish() {
	_server a --network bridge -p 127.0.0.1:8080:80
	is "$(e port "$C")" '80/tcp -> 127.0.0.1:8080'
	wait_until 20 _host_hears 8080
	e stop -t 5 "$C"
	run busybox nc -w 1 127.0.0.1 8080
	isnt "$rc" 0
}

_host_hears() {
	[[ $(busybox nc -w 5 127.0.0.1 "$1") == 'hello from '* ]]
}

user_network_with_dns() {
	e network create "$P-net" >/dev/null
	_server a --network "$P-net" --network-alias other-name
	wait_until 20 _hears --network "$P-net" -- "$C" 80
	wait_until 20 _hears --network "$P-net" -- other-name 80
	box --network "$P-net" "$IMAGE" sh -c 'grep -v "^#" /etc/resolv.conf; cat /etc/hosts'
	like "$out" 'nameserver 127\.0\.0\.11'
	box --network bridge "$IMAGE" nc -w 5 "$C" 80
	isnt "$rc" 0
	e rm -f "$C"
	e network rm "$P-net"
}

network_connect() {
	e network create "$P-one" >/dev/null
	e network create "$P-two" >/dev/null
	idle a --network "$P-one"
	is "$(e exec "$C" ls /sys/class/net)" $'eth0\nlo'
	e network connect "$P-two" "$C"
	is "$(e exec "$C" ls /sys/class/net)" $'eth0\neth1\nlo'
	_server b --network "$P-two"
	wait_until 20 e exec "$P-a" nc -w 5 "$P-b" 80
	e network disconnect "$P-two" "$P-a"
	is "$(e exec "$P-a" ls /sys/class/net)" $'eth0\nlo'
	e rm -f "$P-a" "$P-b"
	e network rm "$P-one" "$P-two"
}

names_in_files() {
	box --network bridge --add-host there:10.1.2.3 --dns 10.4.5.6 --dns-search inside.test --hostname box "$IMAGE" \
		sh -c 'grep there /etc/hosts; grep box /etc/hosts; cat /etc/resolv.conf'
	like "$out" '10\.1\.2\.3[[:space:]]there'
	like "$out" '[[:space:]]box'
	like "$out" 'nameserver 10\.4\.5\.6'
	like "$out" 'search inside\.test'
}

# ---- names, labels, events ----

rename() {
	idle a
	e rename "$C" "$P-b"
	is "$(e exec "$P-b" echo hello)" hello
	run e exec "$P-a" true
	isnt "$rc" 0
	is "$(get '{{.Name}}' "$P-b")" "/$P-b"
}

events() {
	local since
	since=$(date +%s)
	idle a
	e exec "$C" true
	e pause "$C"
	e unpause "$C"
	e kill -s KILL "$C"
	e wait "$C"
	run e events --since "$since" --until "$(($(date +%s) + 1))" --filter "container=$C" --filter type=container --format '{{.Action}}'
	is "$(sed 's/:.*//' <<<"$out" | grep -v '^exec_die' | tr '\n' ' ')" 'create start exec_create exec_start pause unpause kill die '
}

labels_and_annotations() {
	idle a --label colour=red
	is "$(get '{{.Config.Labels.colour}}')" red
	is "$(e ps -q --filter label=colour=red | wc -l)" 1
	# docker 20.10 knows no annotations
	! e run --help | grep -e --annotation >/dev/null || _annotation_is_kept
}

_annotation_is_kept() {
	up b --annotation "test.colour=blue" "$IMAGE" sleep 1000
	is "$(get '{{index .HostConfig.Annotations "test.colour"}}')" blue
	like "$(cat /run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby/"$(get '{{.Id}}')"/config.json)" '"test.colour":"blue"'
}

attach() {
	local client
	sh_up a 'trap "exit 6" USR1; while :; do echo here; sleep 0.1; done'
	e attach --no-stdin "$C" >"$T/attached" 2>&1 &
	client=$!
	wait_until 20 grep -q here "$T/attached"
	e kill -s USR1 "$C"
	run wait "$client"
	rc_is 6
}

restart_policy() {
	sh_up a 'echo x; exit 1' --restart on-failure:2
	wait_until 30 get_is '{{.State.Status}} {{.RestartCount}}' 'exited 2'
	is "$(e logs "$C" | wc -l)" 3
}

propagation() {
	mkdir -p "$T/data"
	mount -t tmpfs tmpfs "$T/data"
	mount --make-rshared "$T/data"
	mkdir "$T/data/later"
	idle a -v "$T/data:/data:rslave"
	mount -t tmpfs tmpfs "$T/data/later"
	echo here >"$T/data/later/file"
	is "$(e exec "$C" cat /data/later/file)" here
	e rm -f "$C"
	umount -R "$T/data"
}

block_io() {
	_has_blkio || skip 'needs a blkio controller with throttling'
	[ -b /dev/loop0 ] || [ -b /dev/vda ] || skip 'needs a block device'
	local device=/dev/vda
	[ -b "$device" ] || device=/dev/loop0
	idle a --device-read-bps "$device:1mb" --device-write-iops "$device:100"
	like "$(knob blkio blkio.throttle.read_bps_device io.max)" '1048576'
	like "$(knob blkio blkio.throttle.write_iops_device io.max)" '100'
}

_has_blkio() {
	[ -e "${CGROUP_MOUNTS[blkio]:-}/blkio.throttle.read_bps_device" ] || grep -qw io /sys/fs/cgroup/cgroup.controllers 2>/dev/null
}

# ---- builds ----

_build() {
	DOCKER_BUILDKIT=0 e build --network none "$@"
}

build_in_steps() {
	mkdir "$T/build"
	echo words >"$T/build/file"
	printf '%s\n' "FROM $IMAGE AS first" 'COPY file /src/file' 'RUN tr a-z A-Z </src/file >/src/out && id -u >>/src/out' "FROM $IMAGE" \
		'ENV COLOUR=red' 'WORKDIR /made' 'COPY --from=first /src/out .' 'RUN adduser -D -u 1000 user 2>/dev/null || echo user:x:1000:1000::/:/bin/sh >>/etc/passwd' \
		'USER 1000' 'RUN id -u >/tmp/by; echo $COLOUR >>/tmp/by' 'CMD ["cat", "/made/out", "/tmp/by"]' >"$T/build/Dockerfile"
	run _build -q -t "localhost/$P" "$T/build"
	rc_is 0
	box "localhost/$P"
	e rmi -f "localhost/$P" >/dev/null
	is "$out" $'WORDS\n0\n1000\nred'
}

build_that_fails() {
	mkdir "$T/build"
	printf '%s\n' "FROM $IMAGE" 'RUN echo before; exit 7' >"$T/build/Dockerfile"
	run _build --force-rm -t "localhost/$P" "$T/build"
	isnt "$rc" 0
	like "$out$err" 'before'
	like "$out$err" 'returned a non-zero code: 7'
}

# ---- the ways to register it: by a link whose name chooses the policy, and by arguments, which docker puts into a script of its own ----

# _runs_with RUNTIME ARG…: `run --rm` by another name.
_runs_with() {
	run e run --rm --network none --runtime "$@"
}

a_link_chooses_the_policy() {
	_runs_with by-oci --cap-add NET_ADMIN "$IMAGE" sed -n 's/^NoNewPrivs:.//p' /proc/self/status
	rc_is 0
	is "$out" 0
	_runs_with by-engine "$IMAGE" sed -n 's/^NoNewPrivs:.//p' /proc/self/status
	rc_is 0
	is "$out" 1
	_runs_with by-engine --cap-add NET_ADMIN "$IMAGE" true
	rc_is 125
	like "$err" 'policy engine refuses CAP_NET_ADMIN .*\[capabilities\]'
}

# docker 20.10 brings a network, also "none", by a hook, which the policy for code that nobody has read refuses; a network of another container
# comes without one, and newer ones have none.
the_policy_code_by_a_link() {
	if [[ $(e version -f '{{.Server.Version}}') == 20.* ]]; then
		_runs_with by-code "$IMAGE" true
		rc_is 125
		like "$err" 'policy code refuses a hook .*\[hooks\]'
	else
		_runs_with by-code "$IMAGE" sh -c 'ls /sys/class/net || echo hello'
		rc_is 0
	fi
	idle a
	run e run --rm --network "container:$C" --runtime by-code "$IMAGE" sh -c 'cat /proc/self/uid_map; grep CapEff /proc/self/status; echo x >/file'
	isnt "$rc" 0
	like "$out$err" 'CapEff:.0000000000000000'
	like "$err" 'Read-only file system'
}

arguments_choose_the_policy() {
	_runs_with by-arguments --cap-add NET_ADMIN "$IMAGE" sed -n 's/^NoNewPrivs:.//p' /proc/self/status
	is "$rc/$out" 0/0
	_runs_with by-engine-arguments --cap-add NET_ADMIN "$IMAGE" true
	rc_is 125
	like "$err" 'policy engine refuses CAP_NET_ADMIN .*\[capabilities\]'
	idle a --runtime by-arguments
	is "$(e exec "$C" echo hello)" hello
	e pause "$C"
	e unpause "$C"
	like "$(e top "$C")" 'sleep|sh -c'
	e update --memory 64m --memory-swap 64m "$C"
	e stop -t 5 "$C"
	is "$(get '{{.State.ExitCode}}')" 0
}

# The daemon hands a refusal of the command line on, too.
arguments_that_nobody_knows() {
	_runs_with by-bad-arguments "$IMAGE" true
	isnt "$rc" 0
	like "$err" 'no-such-policy'
}

_register() {
	local name
	for name in engine code oci; do
		ln -f /usr/local/bin/sbxrun "/usr/local/bin/sbxrun-$name"
	done
	jq '.runtimes += {
		"by-engine": {path: "/usr/local/bin/sbxrun-engine"}, "by-code": {path: "/usr/local/bin/sbxrun-code"}, "by-oci": {path: "/usr/local/bin/sbxrun-oci"},
		"by-arguments": {path: "/usr/local/bin/sbxrun", runtimeArgs: ["--policy", "oci"]},
		"by-engine-arguments": {path: "/usr/local/bin/sbxrun", runtimeArgs: ["--policy", "engine"]},
		"by-bad-arguments": {path: "/usr/local/bin/sbxrun", runtimeArgs: ["--policy", "no-such-policy"]}}' /etc/docker/daemon.json >"$SBXT_WORK/daemon.json"
	cat "$SBXT_WORK/daemon.json" >/etc/docker/daemon.json
}

# ---- what gives the host away: under the policy engine refused, each by its row ----

privileged() {
	box --privileged "$IMAGE" sh -c 'mount -t tmpfs tmpfs /tmp && mknod /tmp/null c 1 3 && echo hello >/tmp/null && echo so'
	rc_is 0
	is "$out" so
}

docker_socket() {
	box -v /run/docker.sock:/run/docker.sock "$IMAGE" sh -c \
		'printf "GET /_ping HTTP/1.0\r\n\r\n" | nc -w 5 local:/run/docker.sock || test -S /run/docker.sock && echo there'
	rc_is 0
	like "$out" 'there|OK'
}

docker_socket_read_only() {
	box -v /run/docker.sock:/run/docker.sock:ro "$IMAGE" test -S /run/docker.sock
	rc_is 0
}

run_of_the_host() {
	box -v /run:/host "$IMAGE" test -S /host/docker.sock
	rc_is 0
}

root_of_the_host() {
	box -v /:/host "$IMAGE" test -d /host/etc
	rc_is 0
}

etc_of_the_host_to_write() {
	mkdir -p /etc/sbxt
	box -v /etc/sbxt:/host "$IMAGE" touch /host/file
	rc_is 0
	[ -e /etc/sbxt/file ]
}

device_of_the_host() {
	[ -e /dev/fuse ] || skip 'needs /dev/fuse'
	box --device /dev/fuse "$IMAGE" test -c /dev/fuse
	rc_is 0
}

nothing_is_left() {
	wait_until 60 _is_all_gone || true
	is "$(e ps -aq; e network ls -q --filter type=custom; ip -o link show type veth; ls /run/docker/containerd/daemon/*runtime*/moby)" ''
}

_is_all_gone() {
	[ -z "$(pgrep shim)" ]
}

# What is registered is ours.
[ "$RT" = sbxrun ] || unset -f a_link_chooses_the_policy the_policy_code_by_a_link arguments_choose_the_policy arguments_that_nobody_knows
_register
make_template
if ! engine_up --bridge '' --iptables=true; then
	echo "not ok more start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG" | sed 's/^/    /'
	exit 1
fi
run_tests
