# shellcheck shell=sh
# A docker daemon for namespaces of its own: all that it makes is in /run and /var/lib/docker, which the caller has put there,
# and it has no network but loopback. For any shell; $b may name the busybox to take programs from.

# dockerd_up LOG [OPTION…]: starts it and waits until it answers; sets DOCKER_HOST for its clients.
dockerd_up() {
	dockerd_log=$1
	shift
	export DOCKER_HOST=unix:///run/docker.sock
	dockerd --data-root /var/lib/docker --exec-root /run/docker --pidfile /run/docker.pid -H "$DOCKER_HOST" \
		--bridge none --iptables=false --ip6tables=false "$@" >"$dockerd_log" 2>&1 &
	dockerd_pid=$!
	n=0
	until docker version >/dev/null 2>&1; do
		n=$((n + 1))
		[ "$n" -lt 1200 ] && kill -0 "$dockerd_pid" 2>/dev/null || return 1
		${b:-} sleep 0.1
	done
}
