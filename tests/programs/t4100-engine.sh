#!/bin/bash
# What ordinary images do, under the policy engine, with the config that docker makes and programs of Debian: services run, and what the policy holds
# back is told. tests/engines has the same policy under docker and podman themselves.
# Views: own
# shellcheck disable=SC2016
# Before the framework, which has a limit for each test, and a network without a mirror.
[ -n "${SBXT_NS:-}" ] || [ "$EUID" != 0 ] || "${0%/*}/tree" >/dev/null
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/../surface/lib.sh"
# shellcheck source=tests/programs/lib.sh
. "${0%/*}/lib.sh"

SBXRUN=${SBXRUN%-oci}

# _image ARG…: the program of an image.
_image() {
	image "args($(jq -nc '$ARGS.positional' --args -- "$@"))"
}

_start() {
	_image "$@"
	sbx run -d -b "$B" "$ID" >"$T/said" 2>&1 || { cat "$T/said" && fail "it was not started: $(head -n 1 "$T/said")"; }
}

_in() {
	run sbx exec "$ID" "$@"
}

_serves() {
	sbx exec "$ID" "$@" >/dev/null 2>&1
}

# The master is root, its workers are www-data; a reload comes by exec, reads the pid and sends a signal.
nginx_serves_and_reloads_by_exec() {
	_start sh -c 'mkdir -p /var/www/html && echo first >/var/www/html/index.html && exec nginx -g "daemon off;"'
	wait_until 30 _serves curl -fs http://127.0.0.1/
	_in curl -fs http://127.0.0.1/
	is "$out" first
	_in ps -o user= -C nginx
	like "$out" 'www-data'
	_in sh -c 'mkdir /two && echo second >/two/index.html && sed -i s,/var/www/html,/two, /etc/nginx/sites-enabled/default && nginx -s reload'
	rc_is 0
	wait_until 30 _serves sh -c 'curl -fs http://127.0.0.1/ | grep second'
	# The master is the first process: its end may be ahead of who asked for it.
	_in sh -c 'nginx -s quit'
	[ "$rc" = 137 ] || rc_is 0
	wait_until 30 eval '[ "$(status_of "$ID")" = stopped ]'
	let_go
}

# As its image does: root makes the directory, and gives up its rights for initdb and the server.
postgres_makes_its_cluster_and_answers() {
	_start sh -c 'install -d -o postgres -g postgres -m 700 /pg /var/run/postgresql && cd /pg && PATH=$PATH:$(echo /usr/lib/postgresql/*/bin) &&
		gosu postgres initdb -D /pg/data -A trust >/pg/log && exec gosu postgres postgres -D /pg/data'
	wait_until 60 _serves gosu postgres psql -Atc 'select 1'
	_in gosu postgres psql -Atc 'create table t as select generate_series(1, 1000) x' -c 'select sum(x) from t' -c 'vacuum analyze t' -c 'checkpoint'
	rc_is 0
	like "$out" 500500
	_in gosu postgres psql -Atc "select count(*) from pg_stat_activity where backend_type = 'checkpointer'"
	is "$out" 1
	sbx kill "$ID" INT
	wait_until 30 eval '[ "$(status_of "$ID")" = stopped ]'
	let_go
}

redis_keeps_and_saves() {
	_start sh -c 'mkdir -p /r && chown redis /r && cd /r && exec gosu redis redis-server --save "" --dir /r --port 6379'
	wait_until 30 _serves redis-cli ping
	_in redis-cli set word canary
	is "$out" OK
	_in redis-cli bgsave
	like "$out" 'started'
	wait_until 30 test -s "$B/root/r/dump.rdb"
	_in redis-cli get word
	is "$out" canary
	let_go
}

# What images' build steps and packages' scripts do; both speak to the audit system, if there is one.
users_and_groups_are_made_and_removed() {
	_start sleep 1000
	_in sh -c 'useradd -m -G mail new && groupadd more && usermod -aG more new && id -nG new && chpasswd && userdel -r new && groupdel more; id new' <<<new:secret
	like "$out" '^new mail more$'
	like "$err" 'no such user'
	unlike "$err" 'audit'
	let_go
}

# What it says, and where to read why.
sudo_gains_nothing_and_explain_says_so() {
	_start sleep 1000
	run sbx exec --user 1000:1000 "$ID" sudo -n id
	isnt "$rc" 0
	like "$err" 'no new privileges'
	run sbx explain "$ID"
	rc_is 0
	like "$out" 'no-new-privileges'
	like "$out" 'process.noNewPrivileges: on; sudo, su and other setuid programs gain nothing'
	_in gosu user id -u
	is "$out" 1000
	let_go
}

# By the kernel's own kind of socket; the file's capability is worth nothing.
ping_works_without_a_capability() {
	_image ping -c 1 -W 5 127.0.0.1
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$out" '1 received'
	_image gosu user ping -c 1 -W 5 127.0.0.1
	run sbx run -b "$B" "$ID"
	rc_is 0
	let_go
}

# traefik, portainer and their like: the socket is a canary.
a_mount_of_an_engines_socket_is_refused_with_the_remedy() {
	needs python3
	mount -t tmpfs tmpfs /run
	python3 -c 'import socket, time; s = socket.socket(socket.AF_UNIX); s.bind("/run/docker.sock"); open("ready", "w"); time.sleep(300)' &
	wait_until 20 test -e ready
	image 'args(["true"])' 'mount({destination: "/var/run/docker.sock", type: "bind", source: "/run/docker.sock", options: ["rbind", "ro"]})'
	run sbx run -b "$B" "$ID"
	umount -l /run
	rc_is 1
	like "$err" '^sbxrun: policy engine refuses mounts\[[0-9]+\]\.source, [^ ]*: it is a socket \[host-paths\]; to allow it, an administrator gives "host-path-exceptions"'
	let_go
}

agents_of_a_node_are_refused_with_the_remedy() {
	image 'args(["true"])' 'mount({destination: "/host", type: "bind", source: "/", options: ["rbind", "ro"]})'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'refuses mounts\[[0-9]+\]\.source, .*\[host-paths\]; to allow it' 'node-exporter'
	image 'args(["true"])' 'caps(["CAP_NET_ADMIN", "CAP_NET_RAW"])'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'refuses CAP_NET_ADMIN .*\[capabilities\]; to allow it' 'istio-init'
	image 'args(["true"])' 'without_ns("network") | del(.linux.sysctl)'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" "refuses the host's network namespace .*\\[host-namespaces\\]; to allow it" cilium
	let_go
}

# As podman makes one: a cgroup namespace, the tree for writing, /run and /tmp empty, and no further rights.
systemd_boots_in_podmans_style() {
	local unit
	image 'args(["/sbin/init"])' 'env("container=podman")' 'ns("cgroup")' 'del(.linux.seccomp)' \
		'.mounts |= map(select(.destination != "/sys/fs/cgroup"))' \
		'mount({destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["rprivate", "nosuid", "noexec", "nodev", "rw"]})' \
		'mount({destination: "/run", type: "tmpfs", source: "tmpfs", options: ["rw", "nosuid", "nodev", "mode=755"]})' \
		'mount({destination: "/run/lock", type: "tmpfs", source: "tmpfs", options: ["rw", "nosuid", "nodev", "mode=755"]})' \
		'mount({destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["rw", "nosuid", "nodev", "mode=1777"]})'
	# They want mount namespaces of their own, which need CAP_SYS_ADMIN.
	for unit in postgresql redis-server systemd-logind; do
		ln -sf /dev/null "$B/root/etc/systemd/system/$unit.service"
	done
	sbx run -d -b "$B" "$ID" >"$T/said" 2>&1
	wait_until 60 _serves sh -c 'systemctl is-system-running | grep -E "running|degraded"'
	_in systemctl is-active dbus.service multi-user.target
	is "$out" $'active\nactive'
	_in systemctl --failed --plain --no-legend
	is "$out" ''
	let_go
}

run_tests
