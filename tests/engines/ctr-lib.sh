# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2317
# For ctr.sh: a containerd of its own, and words for its client.
#
#	c ARG…				ctr, with a time limit
#	run_box NAME [OPTION…] -- CMD…	its `run` of a container $C ($P-NAME) with the runtime, in the cgroup /ctr/$C
#	idle NAME [OPTION…]		the same, detached; SIGTERM ends it with status 7
#	x ARG…				its `task exec`
#	task_is STATUS, task_pid	of $C

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$TESTS_DIR/engines/lib.sh"
IMAGE=localhost/ctr:1
DIR=/run/ctr
PROGRAM=/usr/local/bin/sbxrun # where engines/inside has put it
[ "$RT" = sbxrun ] || PROGRAM=$(type -P "$RT")
EXECS=0

containerd_up() {
	mkdir -p "$DIR/root"
	mount -t tmpfs -o mode=711 tmpfs "$DIR/root"
	cat >"$DIR/config.toml" <<-END
		version = 2
		root = "$DIR/root"
		state = "$DIR/state"
		disabled_plugins = ["io.containerd.grpc.v1.cri"]
		[grpc]
		  address = "$DIR/sock"
	END
	containerd --config "$DIR/config.toml" >"$DIR/log" 2>&1 &
	wait_until 60 c version
	"$HERE/image" "$SBXT_WORK/template/rootfs" "$IMAGE" "$SBXT_WORK/image.tar"
	c images import "$SBXT_WORK/image.tar"
}

c() {
	timeout -k 2 100 ctr -a "$DIR/sock" "$@"
}

# run_box NAME [OPTION…] -- CMD…: ctr's run of a container $C with the runtime.
run_box() {
	local options=()
	C=$P-$1
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	: >"$T/named"
	c run --runc-binary "$PROGRAM" --cgroup "/ctr/$C" "${options[@]}" "$IMAGE" "$C" "$@"
}

idle() {
	run_box "$1" -d "${@:2}" -- sh -c 'trap "exit 7" TERM; while :; do sleep 0.1; done'
}

x() {
	c task exec --exec-id "$P-x$((++EXECS))" "$@"
}

task_is() {
	[[ $(c task ls) =~ $C\ +([0-9]+)\ +([A-Z]+) && ${BASH_REMATCH[2]} = "$1" ]]
}

task_pid() {
	[[ $(c task ls) =~ $C\ +([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

pid_in_host() {
	task_pid
}

# Called by the framework when a test has ended, before it looks for leaks.
delete_containers() {
	local name
	[ -e "$T/named" ] || return 0
	for name in $(c task ls -q); do
		[[ $name != "$P"* ]] || c task delete -f "$name" || :
	done
	for name in $(c container ls -q); do
		[[ $name != "$P"* ]] || c container delete "$name" || :
	done
}

cgroup_root() {
	echo "${CGROUP_MOUNTS[pids]:-${CGROUP_MOUNTS[unified]}}"
}
