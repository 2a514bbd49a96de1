# shellcheck shell=bash
# shellcheck disable=SC2154
# For smoke.sh and nested.sh: the engine's daemon, and words that read the same for docker and podman.
#
#	e ARG…			the engine's command line, with a time limit
#	box ARG…		`run --rm` with the runtime and no network, kept like `run` of lib/test.sh
#	up NAME ARG…		a detached container $P-NAME; $C is its name
#	sh_up NAME CODE ARG…	the same, a shell that runs CODE
#	get FORMAT [NAME]	from `inspect`, of $C if not said otherwise
#	pid_in_host		the pid of $C's init
#	knob CONTROLLER V1-FILE V2-FILE		what a limit's file says, of $C; CONTROLLER and V1-FILE on a machine with v1
#	all_is_gone		fails if the engine or the runtime has left something in this place, whose containers have been removed
#	on_terminal CMD…	CMD on a terminal that the script on stdin drives (pty.py); kept like `run`

# shellcheck source-path=SCRIPTDIR source=../lib/dockerd.sh
. "$TESTS_DIR/lib/dockerd.sh"

# podman, as root or as the ordinary user $ROOTLESS that engines/inside has made.
export PODMAN_IGNORE_CGROUPSV1_WARNING=1 # podman 5 says on stderr that v1 will be gone
PODMAN=(podman)
if [ -n "${ROOTLESS:-}" ]; then
	PODMAN=(setpriv --reuid 4242 --regid 4242 --clear-groups -- env -u DBUS_SESSION_BUS_ADDRESS
		HOME="/var/$ROOTLESS" XDG_RUNTIME_DIR="/run/$ROOTLESS" TMPDIR="/var/$ROOTLESS" podman)
fi

e() {
	case $ENGINE in
	docker) timeout -k 2 100 docker "$@" ;;
	podman) timeout -k 2 100 "${PODMAN[@]}" --runtime "$RT" "$@" ;;
	esac
}

# The verbs `run` and `create` with what every container here gets; docker is told the runtime here, podman in e().
with_runtime() {
	local verb=$1
	shift
	[[ " $* " != *" --name "* ]] || : >"$T/named"
	[ "$ENGINE" != docker ] || set -- --runtime "$RT" "$@"
	[[ " $* " == *" --network "* ]] || set -- --network none "$@"
	set -- "$verb" "$@"
	e "$@"
}

box() {
	run with_runtime run --rm "$@"
}

up() {
	C=$P-$1
	shift
	with_runtime run -d --name "$C" "$@" >"$T/id" || fail "run -d gave status $?: $(tail -n 1 "$T.log")"
}

# What `sh_up` runs has its stdout unbuffered and is ended by SIGTERM at once.
sh_up() {
	local name=$1 code=$2
	shift 2
	up "$name" "$@" "$IMAGE" sh -c "$code"
}

idle() {
	sh_up "$1" 'trap "exit 0" TERM; while :; do sleep 0.1; done' "${@:2}"
}

get() {
	e inspect -f "$1" "${2:-$C}"
}

get_is() {
	[ "$(get "$1")" = "$2" ]
}

logs_have() {
	[[ $(e logs "$C" 2>&1) =~ $1 ]]
}

pid_in_host() {
	get '{{.State.Pid}}' "$C"
}

cgroup_path() {
	local pid=$1 controller=$2 line v1='' v2=''
	while IFS= read -r line; do
		case $line in
		*:*"$controller"*:*) v1=${line#*:*:} ;;
		0::*) v2=${line#0::} ;;
		esac
	done <"/proc/$pid/cgroup"
	if [ -n "${CGROUP_MOUNTS[$controller]:-}" ]; then
		echo "${CGROUP_MOUNTS[$controller]}$v1"
	else
		echo "${CGROUP_MOUNTS[unified]}$v2"
	fi
}

knob() {
	local dir file=$2
	dir=$(cgroup_path "$(pid_in_host)" "$1")
	[ -n "${CGROUP_MOUNTS[$1]:-}" ] || file=$3
	cat "$dir/$file"
}

knob_is() {
	local want=$1
	shift
	is "$(knob "$@")" "$want" "$*"
}

# v1 or v2: which of two values is right here.
by_view() {
	if [ "$VIEW" = v2 ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

on_terminal() {
	run "$HERE/pty.py" "$@"
}

# [OPTION…]: the daemon, if the engine has one, with its options, and an image of the framework's busybox tree. With $STORE images are containerd's.
engine_up() {
	local store=(--storage-driver overlay2)
	[ -z "${STORE:-}" ] || store=(--feature containerd-snapshotter=true)
	[ "$ENGINE" != docker ] || dockerd_up "$ENGINE_LOG" "${store[@]}" ${REMAP:+--userns-remap "$REMAP"} "$@" || return 1
	tar -C "$SBXT_WORK/template/rootfs" -c . >"$SBXT_WORK/image.tar"
	e import "$SBXT_WORK/image.tar" "$IMAGE" >>"$ENGINE_LOG" 2>&1
}

# Called by the framework when a test has ended, before it looks for leaks.
delete_containers() {
	local names
	[ -e "$T/named" ] || return 0
	[ ! -e "$T/pod" ] || e pod rm -i -f -t 0 "$P-pod"
	mapfile -t names < <(e ps -a --filter "name=$P" --format '{{.Names}}')
	[ "${#names[@]}" = 0 ] || e rm -f "${names[@]}"
}

# Prints what the engine or the runtime should have taken away by now.
_what_is_left() {
	local dir pid cmd
	e ps -aq --no-trunc | sed 's/^/container /'
	for dir in /sys/fs/cgroup/{,*/}{docker,libpod_parent,machine.slice}/*/; do
		[ ! -d "$dir" ] || [[ $dir == */libpod_parent/conmon/ ]] || echo "cgroup $dir"
	done
	# Not those of a tree that somebody makes beside.
	awk '$5 ~ "/(merged|rootfs|shm|userdata)(/|$)" && $5 !~ "^/(dev/shm$|tmp/|var/cache/)" { print "mount", $5 }' /proc/self/mountinfo
	for dir in /run/docker/runtime-*/moby/* /run/docker/containerd/daemon/*runtime*/moby/* /run/{sbxrun,runc}/* \
		/run/containerd/{runc,fifo}/*; do
		# What `explain --last` shows outlives the container on purpose.
		[ ! -e "$dir" ] || [[ $dir == */explain:last ]] || echo "state $dir"
	done
	for pid in /proc/[0-9]*; do
		# By its own name: the path of a script of ours may have any of these words in it.
		read -r cmd <"$pid/comm" || continue
		case $cmd in
		*shim* | conmon* | sbxrun* | runc* | sleep | tini* | docker-init) echo "process $cmd" ;;
		esac
	done 2>/dev/null
}

all_is_gone() {
	local end=$((SECONDS + 60)) found
	# What ends a container goes on for a moment after its `rm` has returned.
	until found=$(_what_is_left) && [ -z "$found" ]; do
		[ "$SECONDS" -lt "$end" ] || { echo "$found"; fail "${found%%$'\n'*} and more"; }
		nap
	done
}
