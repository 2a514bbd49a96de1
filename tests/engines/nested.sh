#!/bin/bash
# Docker, podman and systemd in a privileged container of docker's, whose runtime is $RT; engines/run calls it in a place of its own.
#
# The programs are this machine's, by a read-only /usr. On cgroup v1 docker gives such containers no cgroup namespace and a writable tree.
# shellcheck disable=SC2016,SC2317
. "${0%/*}/../lib/test.sh"
HERE=${TESTS_DIR:?}/engines
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"
TEST_ID=nested
TEST_LIMIT=${ENGINE_TEST_LIMIT:-400}
IMAGE=localhost/nested
ENGINE_LOG=$SBXT_WORK/engine.log

# docker 20.10 gives a privileged container every capability that it knows, and fails with any runtime where root lacks one. So
# the runtime is told of those that are there.
_make_runtime() {
	local bounding
	bounding=$(sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status)
	capsh --decode="$bounding" | sed 's/.*=//' | tr a-z, 'A-Z\n' | jq -R . | jq -s . >"$SBXT_WORK/caps"
	cat >"$SBXT_WORK/runtime" <<-END
		#!/bin/bash
		for word; do
			case \$before in
			--bundle) file=\$word/config.json ;;
			--process) file=\$word ;;
			esac
			before=\$word
		done
		if [ -n "\$file" ]; then
			jq --slurpfile have "$SBXT_WORK/caps" '(if .process then .process else . end).capabilities |=
				map_values(map(select(IN(\$have[0][]))))' "\$file" >"\$file.new"
			mv "\$file.new" "\$file"
		fi
		exec /usr/local/bin/sbxrun "\$@"
	END
	chmod 755 "$SBXT_WORK/runtime"
	RT=nested
}

# A root that has nothing but links to /usr, the busybox tree for the engines inside, and one unit for systemd: its own would set
# the machine up.
_make_image() {
	local root=$SBXT_WORK/nested dir
	mkdir -p "$root"/{dev,etc/systemd/system,proc,root,run,sys,tmp,usr,var/lib,var/tmp}
	for dir in bin sbin lib lib64; do
		[ ! -e "/$dir" ] || ln -s "usr/$dir" "$root/$dir"
	done
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	echo uninitialized >"$root/etc/machine-id"
	printf '%s\n' '[Unit]' DefaultDependencies=no 'Wants=nested.service' >"$root/etc/systemd/system/nested.target"
	printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' 'ExecStart=/bin/sh -c "cat /proc/self/cgroup; exec sleep 1000"' \
		StandardOutput=file:/run/said TasksMax=7 >"$root/etc/systemd/system/nested.service"
	tar -C "$root" -c . >"$SBXT_WORK/nested.tar"
	e import "$SBXT_WORK/nested.tar" "$IMAGE" >>"$ENGINE_LOG" 2>&1
}

NESTED=(--privileged -e container=docker -v /usr:/usr:ro -v /etc/alternatives:/etc/alternatives:ro -v /etc/containers:/etc/containers:ro
	--tmpfs '/run:exec,mode=755' --tmpfs /tmp --tmpfs /var/lib/docker:exec --tmpfs /var/lib/containers:exec
	-v "$TESTS_DIR/lib:/tests:ro" -v "$SBXT_WORK/image.tar:/image.tar:ro")

docker_in_docker() {
	local inner
	inner='set -e; mount --make-rshared /; . /tests/dockerd.sh
		dockerd_up /run/log --storage-driver overlay2 --add-runtime sbxrun=/usr/local/bin/sbxrun || { tail -n 5 /run/log; exit 1; }
		docker import /image.tar inner >/dev/null
		for runtime in runc sbxrun; do
			docker run --rm --network none --runtime $runtime --memory 64m --pids-limit 20 inner sh -c "echo said by \$(cat /proc/1/comm)"
			id=$(docker run -d --network none --runtime $runtime inner sleep 100)
			docker exec $id echo and by $runtime
			docker rm -f $id >/dev/null
		done'
	box --name "$P" "${NESTED[@]}" "$IMAGE" sh -c "$inner"
	rc_is 0
	is "$out" $'said by sh\nand by runc\nsaid by sh\nand by sbxrun'
}

podman_in_docker() {
	local inner
	inner='set -e; mount --make-rshared /
		for runtime in runc /usr/local/bin/sbxrun; do
			p="podman --runtime $runtime --cgroup-manager cgroupfs --events-backend file --storage-driver vfs"
			$p image exists inner || $p import -q /image.tar inner >/dev/null
			$p run --rm --network none --memory 64m --pids-limit 20 inner echo said by ${runtime##*/}
		done'
	box --name "$P" "${NESTED[@]}" "$IMAGE" sh -c "$inner"
	rc_is 0
	is "$out" $'said by runc\nsaid by sbxrun'
}

_service_runs() {
	e exec "$C" systemctl is-active -q nested.service && e exec "$C" cat /run/said >"$T/said" && [ -s "$T/said" ]
}

systemd_in_docker() {
	[ -x /lib/systemd/systemd ] || skip 'needs systemd'
	up systemd "${NESTED[@]}" "$IMAGE" /lib/systemd/systemd --unit=nested.target
	wait_until 30 _service_runs
	file_has "$T/said" '/system.slice/nested.service$'
	run e exec "$C" systemctl show -p TasksMax,SubState nested.service
	like "$out" 'TasksMax=7'
	like "$out" 'SubState=running'
	e exec "$C" systemctl stop nested.service
	run e exec "$C" systemctl is-active nested.service
	is "$out" inactive
}

make_template
_make_runtime
if ! { engine_up --add-runtime "nested=$SBXT_WORK/runtime" && _make_image; }; then
	echo "not ok $TEST_ID start: $ENGINE did not come up"
	tail -n 20 "$ENGINE_LOG" | sed 's/^/    /'
	exit 1
fi
run_tests
