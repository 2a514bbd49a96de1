#!/bin/bash
# What podman, and buildah, do beyond smoke.sh as root, with a runtime ($RT): ids that podman chooses, containers for systemd, pods from
# files of Kubernetes, builds, secrets. engines/run calls it in a place of its own.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"
TEST_ID='more'
TEST_LIMIT=${ENGINE_TEST_LIMIT:-400}
IMAGE=localhost/more
ENGINE_LOG=$SBXT_WORK/engine.log
PROGRAM=/usr/local/bin/sbxrun # where engines/inside has put it
[ "$RT" = sbxrun ] || PROGRAM=$(type -P "$RT")

# ---- ids ----

userns_auto() {
	box --userns auto "$IMAGE" sh -c 'cat /proc/self/uid_map; echo x >/file; stat -c "%u %g" /file /etc; touch /proc/1/comm'
	rc_is 0
	like "$out" $'^ *0 +(7[0-9]{5}|8[0-9]{5}) +[0-9]+\n0 0\n0 0$'
}

userns_auto_of_a_size() {
	box --userns auto:size=3000 "$IMAGE" cat /proc/self/uid_map
	like "$out" '^ *0 +[78][0-9]{5} +3000$'
}

userns_auto_gives_each_its_own() {
	local one other
	idle a --userns auto
	one=$(e exec "$C" cat /proc/self/uid_map)
	is "$(stat -c %u "/proc/$(pid_in_host)")" "$(awk '{ print $2 }' <<<"$one")"
	idle b --userns auto
	other=$(e exec "$C" cat /proc/self/uid_map)
	isnt "$one" "$other"
}

uidmap() {
	box --uidmap 0:400000:5000 --gidmap 0:400000:5000 "$IMAGE" sh -c 'id -u; cat /proc/self/uid_map'
	rc_is 0
	like "$out" $'^0\n +0 +400000 +5000$'
}

# ---- for systemd ----

systemd_always() {
	box --systemd always "$IMAGE" sh -c 'grep -oE " /(run|run/lock|tmp|var/log/journal) tmpfs r[wo]" /proc/mounts | sort; echo $container'
	rc_is 0
	is "$out" $' /run tmpfs rw\n /run/lock tmpfs rw\n /tmp tmpfs rw\n /var/log/journal tmpfs rw\npodman'
}

systemd_is_stopped_by_its_signal() {
	sh_up a 'trap "echo halting; exit 3" 37; echo ready; while :; do sleep 0.05; done' --systemd always
	wait_until 20 logs_have ready
	like "$(get '{{.Config.StopSignal}}')" '^(37|SIGRTMIN\+3)$'
	e stop -t 20 "$C"
	is "$(get '{{.State.ExitCode}}')" 3
}

systemd_false() {
	box --systemd false "$IMAGE" sh -c 'grep -cE " /(run/lock|var/log/journal) " /proc/mounts'
	is "$out" 0
}

# ---- pods ----

_pod_file() {
	cat <<-END
		apiVersion: v1
		kind: Pod
		metadata:
		  name: $P-pod
		  labels: {colour: red}
		spec:
		  restartPolicy: Never
		  volumes:
		  - name: data
		    hostPath: {path: $T/data, type: Directory}
		  containers:
		  - name: one
		    image: localhost/with-path
		    imagePullPolicy: Never
		    command: [sh, -c, 'echo \$COLOUR >/data/said; trap "exit 0" TERM; while :; do sleep 0.1; done']
		    env: [{name: COLOUR, value: red}]
		    resources: {limits: {memory: 64Mi, cpu: 500m}}
		    volumeMounts: [{name: data, mountPath: /data}]
		  - name: two
		    image: localhost/with-path
		    imagePullPolicy: Never
		    command: [sh, -c, 'echo from two; exec sleep 1000']
		    securityContext: {runAsUser: 1000, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
	END
}

kube_play() {
	mkdir -m 777 "$T/data"
	: >"$T/named"
	: >"$T/pod"
	_pod_file >"$T/pod.yaml"
	e kube play --network none "$T/pod.yaml"
	wait_until 30 grep -q red "$T/data/said"
	C=$P-pod-one
	knob_is 67108864 memory memory.limit_in_bytes memory.max
	knob_is "$(by_view 50000 '50000 100000')" cpu cpu.cfs_quota_us cpu.max
	C=$P-pod-two
	wait_until 30 logs_have 'from two'
	run e exec "$C" sh -c 'id -u; grep -E "CapEff|NoNewPrivs" /proc/self/status; touch /x'
	like "$out" $'^1000\nCapEff:.0000000000000000\nNoNewPrivs:.1$'
	like "$err" 'Read-only file system'
	is "$(e exec "$P-pod-one" readlink /proc/self/ns/net)" "$(e exec "$P-pod-two" readlink /proc/self/ns/net)"
	e pod pause "$P-pod"
	is "$(get '{{.State.Status}}')" paused
	e pod unpause "$P-pod"
	like "$(e pod top "$P-pod")" 'sleep'
	e kube play --down "$T/pod.yaml"
	is "$(e ps -aq --filter "name=$P")" ''
}

kube_generate() {
	idle a --memory 64m -e COLOUR=red
	run e generate kube "$C"
	rc_is 0
	like "$out" 'kind: Pod'
	like "$out" 'value: red'
}

pod_of_containers() {
	local code='for ns in net ipc uts mnt; do readlink /proc/self/ns/$ns; done' one other
	: >"$T/named"
	: >"$T/pod"
	e pod create --name "$P-pod" --infra-image "$IMAGE" --infra-command 'sleep 1000' --network none --share net,ipc,uts,pid
	e run -d --pod "$P-pod" --name "$P-a" "$IMAGE" sleep 1000
	e run -d --pod "$P-pod" --name "$P-b" "$IMAGE" sleep 1000
	one=$(e exec "$P-a" sh -c "$code; readlink /proc/self/ns/pid")
	other=$(e exec "$P-b" sh -c "$code; readlink /proc/self/ns/pid")
	is "$(grep -v mnt <<<"$one")" "$(grep -v mnt <<<"$other")"
	e pod stop -t 1 "$P-pod"
	e pod start "$P-pod"
	is "$(e exec "$P-a" echo hello)" hello
	e pod rm -f -t 0 "$P-pod"
	is "$(e ps -aq --filter "name=$P")" ''
}

# ---- one container ----

healthcheck_by_hand() {
	idle a --health-cmd 'test -e /tmp/fine' --health-interval disable
	run e healthcheck run "$C"
	isnt "$rc" 0
	e exec "$C" touch /tmp/fine
	run e healthcheck run "$C"
	rc_is 0
}

init_before_start() {
	C=$P-a
	with_runtime create --name "$C" "$IMAGE" sh -c 'echo run; exit 3'
	e init "$C"
	is "$(get '{{.State.Status}}')" initialized
	run e start -a "$C"
	rc_is 3
	is "$out" run
}

secret() {
	echo words | e secret create "$P" - >/dev/null
	box --secret "$P" "$IMAGE" cat "/run/secrets/$P"
	e secret rm "$P" >/dev/null
	is "$out" words
}

rename() {
	idle a
	e rename "$C" "$P-b"
	is "$(e exec "$P-b" echo hello)" hello
	run e exec "$P-a" true
	isnt "$rc" 0
}

events() {
	idle a
	e kill -s KILL "$C"
	e wait "$C"
	run e events --stream=false --filter "container=$C" --format '{{.Status}}'
	like "$out" $'create\n.*start\n.*died'
}

logs_follow() {
	sh_up a 'for n in 1 2 3; do echo $n; sleep 0.1; done'
	run e logs -f "$C"
	is "$out" $'1\n2\n3'
}

cgroup_parent() {
	idle a --cgroup-parent /libpod_parent/of-tests
	like "$(cgroup_path "$(pid_in_host)" pids)" '/libpod_parent/of-tests/'
}

privileged() {
	box --privileged "$IMAGE" sh -c 'mount -t tmpfs tmpfs /tmp && echo so'
	rc_is 0
	is "$out" so
}

run_of_the_host() {
	box -v /run:/host "$IMAGE" test -d /host
	rc_is 0
}

# ---- builds ----

# buildah would raise limits that are not given, which not every root may.
LIMITS=(--ulimit nofile=1024:1024 --ulimit nproc=1000:1000)

build_in_steps() {
	mkdir "$T/build"
	echo words >"$T/build/file"
	printf '%s\n' "FROM $IMAGE AS first" 'COPY file /src/file' 'RUN tr a-z A-Z </src/file >/src/out && id -u >>/src/out' "FROM $IMAGE" \
		'ENV COLOUR=red' 'WORKDIR /made' 'COPY --from=first /src/out .' 'USER 1000' 'RUN id -u >/tmp/by; echo $COLOUR >>/tmp/by' \
		'CMD ["cat", "/made/out", "/tmp/by"]' >"$T/build/Dockerfile"
	run e build "${LIMITS[@]}" --isolation oci --network none -q -t "localhost/$P" "$T/build"
	rc_is 0
	box "localhost/$P"
	e rmi -f "localhost/$P" >/dev/null
	is "$out" $'WORDS\n0\n1000\nred'
}

build_that_fails() {
	mkdir "$T/build"
	printf '%s\n' "FROM $IMAGE" 'RUN echo before; exit 7' >"$T/build/Dockerfile"
	run e build "${LIMITS[@]}" --isolation oci --network none --force-rm -t "localhost/$P" "$T/build"
	isnt "$rc" 0
	like "$out$err" 'before'
	like "$out$err" '(exit )?status 7'
}

_buildah() {
	timeout -k 2 100 buildah "$@"
}

buildah_from_and_run() {
	local made
	made=$(_buildah from "${LIMITS[@]}" --pull-never "$IMAGE")
	run _buildah run --runtime "$PROGRAM" --isolation oci --network none "$made" -- sh -c 'echo out; id -u; echo x >/built; exit 9'
	is "$rc/$out" $'9/out\n0'
	run _buildah run --runtime "$PROGRAM" --isolation oci --network none --user 1000 "$made" -- sh -c 'id -u; cat /built; grep Seccomp: /proc/self/status'
	rc_is 0
	like "$out" $'^1000\nx\nSeccomp:.2$'
	_buildah commit -q "$made" "localhost/$P" >/dev/null
	_buildah rm "$made" >/dev/null
	box "localhost/$P" cat /built
	e rmi -f "localhost/$P" >/dev/null
	is "$out" x
}

buildah_volumes_and_failures() {
	local made
	mkdir -m 777 "$T/data"
	made=$(_buildah from "${LIMITS[@]}" --pull-never "$IMAGE")
	run _buildah run --runtime "$PROGRAM" --isolation oci --network none -v "$T/data:/data" "$made" -- sh -c 'echo mine >/data/file'
	rc_is 0
	file_has "$T/data/file" mine
	run _buildah run --runtime "$PROGRAM" --isolation oci --network none "$made" -- no-such-command
	isnt "$rc" 0
	like "$err" 'not found'
	_buildah rm "$made" >/dev/null
}

# ---- the end ----

_left() {
	local pid cmd
	e ps -aq --no-trunc --external | sed 's/^/container /'
	e pod ps -q | sed 's/^/pod /'
	find /sys/fs/cgroup -path '*/libpod_parent/*' -type d | grep -vE '/(conmon|of-tests)$' | sed 's/^/cgroup /'
	ls -d /run/{sbxrun,runc,crun}/* 2>/dev/null | sed '/\/explain:last$/d; s/^/state /'
	for pid in /proc/[0-9]*; do
		read -r cmd <"$pid/comm" || continue
		case $cmd in
		conmon* | sbxrun* | runc* | sleep) echo "process $cmd" ;;
		esac
	done 2>/dev/null
}

nothing_is_left() {
	local end=$((SECONDS + 60)) found
	until found=$(_left) && [ -z "$found" ]; do
		[ "$SECONDS" -lt "$end" ] || { echo "$found"; fail "${found%%$'\n'*} and more"; }
		nap
	done
}

# Pods from files get neither a command nor a PATH but their image's.
_images() {
	e import --change 'CMD ["sleep", "1000"]' --change ENV=PATH=/bin "$SBXT_WORK/image.tar" localhost/infra
	e import --change ENV=PATH=/bin "$SBXT_WORK/image.tar" localhost/with-path
}

# Ids for --userns=auto belong to this user; pods from files want to know an image that holds their namespaces.
echo 'containers:x:4243:4243::/:/bin/false' >>/etc/passwd
echo 'containers:700000:200000' | tee -a /etc/subuid >>/etc/subgid
echo 'infra_image = "localhost/infra:latest"' >>/etc/containers/containers.conf.d/tests.conf
type -P buildah >/dev/null || unset -f buildah_from_and_run buildah_volumes_and_failures
make_template
if ! { engine_up && _images >>"$ENGINE_LOG" 2>&1; }; then
	echo "not ok more start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG" | sed 's/^/    /'
	exit 1
fi
run_tests
