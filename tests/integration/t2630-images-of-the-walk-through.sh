#!/bin/bash
# What well-known images do, as far as a policy has a say in it, under the policy engine with the config that docker makes: who builds, who runs the
# jobs of others, notebooks, agents of a node. The images are not here; the same calls are made by busybox. Services of Debian are in
# tests/programs/t4100, engines' own lines in tests/engines.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/../surface/lib.sh"

SBXRUN=${SBXRUN%-oci}

# _image CODE FILTER…: docker's config, whose root may be written.
_image() {
	touch resolv.conf hostname hosts
	bundle 'sh("")' "$(surface_docker)" "args([\"sh\", \"-c\", $(jq -Rs . <<<"$1")])" "${@:2}"
}

_run() {
	run sbx run -b "$B" "$ID"
}

# _is_refused WHO ROW WHAT FILTER…: and the sentence says what an administrator writes.
_is_refused() {
	_image true "${@:4}"
	_run
	rc_is 1
	like "$err" "^sbxrun: .*policy engine refuses .*$3.*\[$2\]; to allow it, an administrator gives \"" "$1"
	like "$err" '/etc/sbxrun/policy.json, or runs this with --policy oci' "$1"
	is "$(wc -l <<<"$err")" 1 "$1"
	nothing_is_left
}

# kaniko unpacks layers over its own root, with owners, setuid bits, capabilities of files, hard and symbolic links, removes what whiteouts
# name, runs commands as other users, reads the mounts to leave them out, and packs what has changed.
kaniko_builds() {
	_image '
		set -e
		mkdir -p /kaniko /layer/app /layer/etc; echo data >/layer/app/data; cp /bin/busybox /layer/app/su; ln -s data /layer/app/link; ln /layer/app/data /layer/app/hard
		chown -R 1000:1000 /layer/app; chmod 4755 /layer/app/su; echo gone >/app-gone
		tar -C /layer -cf /kaniko/layer.tar app; rm -r /layer
		tar -C / -xpf /kaniko/layer.tar; rm /app-gone
		stat -c "%u:%g %a %h" /app/su /app/data
		readlink /app/link
		grep -c . /proc/self/mountinfo >/dev/null
		chown 33:33 /app/data; touch -d @0 /app/data; stat -c "%u %Y" /app/data
		chroot / /bin/busybox su -s /bin/sh nobody -c "id -u; [ ! -w /app/data ] && echo not-its-own" 2>&1
		tar -C / -cf /kaniko/out.tar app && tar -tvf /kaniko/out.tar | grep -c app'
	grep -q '^nobody:' "$B/rootfs/etc/passwd" 2>/dev/null || echo nobody:x:65534:65534::/:/bin/sh >>"$B/rootfs/etc/passwd"
	_run
	rc_is 0
	is "$out" $'1000:1000 4755 1\n1000:1000 644 2\ndata\n33 0\n65534\nnot-its-own\n5'
}

# An executor of kubernetes (GitLab, Jenkins, Tekton): the pod's pause owns the namespaces, a helper writes what the build reads by an emptyDir below
# /var/lib/kubelet/pods, secrets are read-only, and scripts come by exec, on standard input.
executors_of_kubernetes_run_jobs() {
	local pods=/var/lib/kubelet/pods/0123/volumes pause filter
	mkdir -p lib
	mount -t tmpfs lib lib
	mkdir -p lib/kubelet/pods/0123/volumes/kubernetes.io~empty-dir/builds lib/kubelet/pods/0123/volumes/kubernetes.io~secret/token
	echo secret >lib/kubelet/pods/0123/volumes/kubernetes.io~secret/token/token
	mount --bind lib /var/lib
	bundle 'sh("sleep 1000")'
	pause=$ID
	sbx run -d -b "$B" "$pause" </dev/null >/dev/null 2>&1
	filter='reduce ("network", "ipc", "uts") as $n (.; ns($n; "/proc/PID/ns/" + ({network: "net"}[$n] // $n))) | del(.hostname)
		| mount({destination: "/builds", type: "bind", source: "PODS/kubernetes.io~empty-dir/builds", options: ["rbind", "rprivate", "rw"]})
		| mount({destination: "/var/run/secrets/token", type: "bind", source: "PODS/kubernetes.io~secret/token", options: ["rbind", "rprivate", "ro"]})
		| .process.oomScoreAdj = 995'
	filter=${filter//PID/$(pid_of "$pause")}
	filter=${filter//PODS/$pods}
	bundle 'sh("echo source >/builds/main; cat /var/run/secrets/token/token; echo x >/var/run/secrets/token/y")' "$filter" 'del(.linux.seccomp)'
	_run
	is "$out" secret
	like "$err" 'Read-only file system'
	bundle 'sh("sleep 1000")' "$filter" 'del(.linux.seccomp)'
	sbx run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	echo 'set -e; cd /builds; cat main; echo built >artifact; exit 3' >script
	rc=0
	sbx exec "$ID" sh <script >said 2>&1 || rc=$?
	rc_is 3
	is "$(<said)" source
	is "$(<"lib/kubelet/pods/0123/volumes/kubernetes.io~empty-dir/builds/artifact")" built
	sbx delete -f "$ID"
	sbx delete -f "$pause"
	umount /var/lib
	umount lib
}

# A notebook is started by root, which hands over to its user; what its user does by setuid programs is over.
notebooks_start_and_their_user_gains_nothing() {
	_image 'set -e; adduser -D jovyan 2>/dev/null || echo "jovyan:x:1000:100::/home/jovyan:/bin/sh" >>/etc/passwd
		mkdir -p /home/jovyan /tmp; chown -R 1000:100 /home/jovyan
		su -s /bin/sh jovyan -c "echo notebook >/home/jovyan/x; id -u; grep NoNewPrivs /proc/self/status"
		stat -c %u /home/jovyan/x'
	_run
	rc_is 0
	is "$out" $'1000\nNoNewPrivs:\t1\n1000'
	run sbx explain -b "$B"
	like "$out" 'no-new-privileges +process.noNewPrivileges: on; sudo, su and other setuid programs gain nothing'
}

# Of two containers, what they were given: the network of one, for both.
an_actions_runner_has_its_services_beside_it() {
	local service
	bundle 'sh("mkdir -p /srv; while :; do echo ready | nc -l -p 5432; done")' writable
	service=$ID
	sbx run -d -b "$B" "$service" </dev/null >/dev/null 2>&1
	_image 'i=0; until nc 127.0.0.1 5432 2>/dev/null </dev/null | grep ready || [ $i -gt 600 ]; do i=$((i + 1)); sleep 0.05; done' \
		"ns(\"network\"; \"/proc/$(pid_of "$service")/ns/net\") | del(.linux.sysctl)"
	_run
	like "$out" ready
	sbx delete -f "$service"
}

agents_of_a_node_are_refused_with_their_remedy() {
	local bpf='mount({destination: "/sys/fs/bpf", type: "bind", source: "/sys/fs", options: ["rbind", "rw"]})'
	_is_refused calico-node host-namespaces "the host's network namespace" 'without_ns("network") | del(.linux.sysctl)' 'caps(["CAP_NET_ADMIN", "CAP_SYS_ADMIN"])' "$bpf"
	_is_refused calico-in-a-namespace capabilities CAP_NET_ADMIN 'caps(["CAP_NET_ADMIN"])'
	_is_refused calico-felix host-paths 'mounts.*/sys' "$bpf"
	_is_refused cilium capabilities CAP_SYS_ADMIN 'caps(["CAP_SYS_ADMIN", "CAP_BPF", "CAP_PERFMON"])' "$bpf"
	_is_refused istio-init capabilities CAP_NET_ADMIN 'caps(["CAP_NET_RAW", "CAP_NET_ADMIN"])'
	_is_refused node-exporter host-namespaces "the host's pid namespace" 'without_ns("pid")' 'mount({destination: "/host", type: "bind", source: "/", options: ["rbind", "ro"]})'
	_is_refused node-exporter-alone host-paths 'the host.s /|holds' 'mount({destination: "/host", type: "bind", source: "/", options: ["rbind", "ro"]})'
	_is_refused docker-in-docker capabilities 'CAP_[A-Z_]+' 'caps(["CAP_CHOWN", "CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_SYS_PTRACE"])' 'del(.linux.seccomp) | .linux.maskedPaths = []'
	_is_refused buildkit-with-fuse devices '/dev/fuse' '.linux.devices += [{path: "/dev/fuse", type: "c", major: 10, minor: 229}]'
}

run_tests
