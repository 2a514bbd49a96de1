#!/bin/bash
# Idea: root inside changes what it can name of the host. tools/prober.c tries every operation at everything in sight; what succeeds at an
# inode of the host's must be in the table below, which is that of spec/threat-model.md. Escape: something succeeds that is not in it.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

# What whoever can open something for reading can do to it.
_READ='flock lock lease watch fanotify'
_ALL="mode owner times touch xattr acl flags entry link write truncate $_READ"

# CLASS → what is allowed. A class that is not here is allowed nothing.
declare -gA _ALLOWED=(
	[cgroup]=$_READ         # files and directories, the container's own: the mount is read-only
	[namespace]=$_READ      # those that the container shares with the host
	[kernel]="touch write truncate $_READ" # writing by the modes of the files, /proc/pressure that is; procfs and sysfs beside processes, sysctls and the network
	[owned]="mode owner times touch write truncate $_READ" # the same for who is their owner: root without a user namespace
	[pipe]="mode owner times touch $_READ" # a stream; nobody opens it by a name
	[file]=$_ALL            # a stream, also a named pipe
	[devpts]=$_READ         # a stream that is a terminal of the host
	[bind]=$_ALL            # of the config, read-write
	[read]=$_READ           # of the config, read-only
	[mine]="mode owner times touch xattr entry write truncate $_READ" # the container's own cgroups, where the config has them read-write
	[notify]=$_READ         # the directory of the socket, and the socket
)

_probe_tool() {
	PROBER=$SBXT_WORK/prober.$$
	[ -e "$PROBER" ] || gcc -O2 -static -o "$PROBER" "$TESTS_DIR/tools/prober.c" || skip 'no static C library'
	cp "$PROBER" "$B/rootfs/prober"
}

# Sets CLASS to that of the inode $1 (DEV:INO) of type $2 at path $3, or to nothing if it is the container's own.
_classify() {
	CLASS=${KNOWN[$1]:-}
	if [ -n "$CLASS" ]; then
		SEEN[$CLASS]=1
		CLASS=${CLASS#own}
		return
	fi
	case $3 in
	"$OWN_TMPFS") ;;
	/proc/sys | /proc/sys/* | /proc/self/* | /proc/1/* | /proc/net/* | /proc) ;;
	/proc/* | /sys | /sys/*) CLASS=$KERNEL ;;
	esac
	CLASS=${DEVS[${1%:*}]:-$CLASS}
}

# KNOWN: inodes, DEVS: filesystems that the host has in sight. BINDS and TREES: single paths, and all that is below one, with their classes.
_look_at_the_host() {
	local dev type inode rest
	declare -gA KNOWN=() DEVS=() SEEN=()
	while read -r dev type; do
		DEVS[$dev]=${type/#cgroup*/cgroup}
	done < <(awk '{ split($3, d, ":"); for (i = 7; $i != "-"; i++); print d[1] ":" d[2], $(i + 1) }' /proc/self/mountinfo)
	while read -r inode; do
		KNOWN[$inode]=own
	done < <(find "$B/rootfs" -printf '%D:%i\n' | _dev_names)
	for rest in /proc/self/ns/*; do
		KNOWN[$(stat -Lc '%d:%i' "$rest" | _dev_names)]=namespace
	done
	for rest in "${!TREES[@]}"; do
		while read -r inode; do
			KNOWN[$inode]=${TREES[$rest]}
		done < <(find "$rest" -printf '%D:%i\n' | _dev_names)
	done
	for rest in "${!BINDS[@]}"; do
		KNOWN[$(stat -Lc '%d:%i' "$rest" | _dev_names)]=${BINDS[$rest]}
	done
}

# Numbers of devices as mountinfo has them.
_dev_names() {
	awk -F: '{ d = $1; minor = d % 256 + int(d / 1048576) * 256; print int(d / 256) % 4096 ":" minor ":" $2 }'
}

# What the report says is in the table.
_judge() {
	local inode type path ops op hits=()
	file_has report '^done$'
	while read -r inode type path ops; do
		[ "$inode" != 'done' ] || continue
		_classify "$inode" "$type" "$path"
		[ -n "$CLASS" ] || continue
		for op in $ops; do
			[[ " ${_ALLOWED[$CLASS]:-} " == *" $op "* ]] || hits+=("$CLASS $path: $op")
		done
	done <report
	printf '%s\n' "${hits[@]}"
	[ "${#hits[@]}" = 0 ] || escaped "${#hits[@]} times, e.g. ${hits[0]} ($1)"
}

_USERNS='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
_SAME_ROOT='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
# What docker gives.
_DOCKER='caps(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_SETGID", "CAP_SETUID", "CAP_SETFCAP"]) | writable'

# _box [FILTER…]: a bundle whose program does what $PROGRAM says.
_box() {
	declare -gA BINDS=() TREES=()
	KERNEL=owned OWN_TMPFS=none
	[[ $* != *'hostID: 100000'* ]] || KERNEL=kernel
	bundle "args(${PROGRAM:-[\"/prober\"]})" "$@"
	_probe_tool
	chmod 755 "$T" "$B" "$B/rootfs"
	: >report
	echo text >stream
	mkfifo fifo 2>/dev/null || :
	BINDS[$T/stream]=file BINDS[$T/fifo]=file
}

# The prober is what $@ starts, with each kind of stream.
_with_streams() {
	local what=$1
	shift
	coproc cat >/dev/null
	BINDS[/proc/$BASHPID/fd/${COPROC[1]}]=pipe
	_look_at_the_host
	# shellcheck disable=SC2261
	"$@" </dev/null >&"${COPROC[1]}" 2>stream 3>report
	_judge "$what, streams null, pipe and file"
	"$@" <stream >/dev/null 2<>fifo 3>report
	_judge "$what, streams file, null and named pipe"
	unset "BINDS[/proc/$BASHPID/fd/${COPROC[1]}]"
	eval "exec ${COPROC[1]}>&-"
	wait "$COPROC_PID" || :
}

_run() {
	sbx run --preserve-fds 1 -b "$B" "$ID"
}

_run_detached() {
	sbx run -d --preserve-fds 1 -b "$B" "$ID"
	wait_until 60 grep -q '^done$' report
	sbx delete -f "$ID"
}

_exec() {
	sbx exec --preserve-fds 1 "$ID" /prober
}

# FILTER…: by each verb.
_everywhere() {
	local what=$1
	shift
	_box "$@"
	_with_streams "$what, run" _run
	_with_streams "$what, run -d" _run_detached
	PROGRAM='["/bin/sleep", "100"]' _box "$@"
	sbx run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	_with_streams "$what, exec" _exec
	sbx delete -f "$ID"
}

the_default_config_changes_nothing_of_the_hosts() {
	_everywhere default
}

the_rights_that_docker_gives_change_nothing_of_the_hosts() {
	_everywhere docker "$_DOCKER"
}

a_user_namespace_changes_nothing_of_the_hosts() {
	_everywhere userns "$_USERNS" "$_DOCKER"
	_everywhere 'userns with all rights' "$_USERNS" "$(all_caps)" writable
}

root_of_the_host_in_a_user_namespace_changes_nothing() {
	_everywhere 'same root' "$_SAME_ROOT" "$_DOCKER"
}

# Files that engines make for a container, and a volume that may not be written.
binds_are_what_the_config_says() {
	local filter
	for filter in "$_DOCKER" "$_DOCKER | $_SAME_ROOT"; do
		_box "$filter" 'mount({destination: "/etc/hosts", source: ($T + "/hosts"), options: ["rbind", "rprivate"]})' \
			'mount({destination: "/volume", source: ($T + "/volume"), options: ["rbind", "ro"]})'
		mkdir -p volume/dir
		echo text | tee hosts >volume/file
		BINDS[$T/hosts]=bind BINDS[$T/volume]=read BINDS[$T/volume/dir]=read BINDS[$T/volume/file]=read
		_with_streams binds _run
	done
}

# Its own cgroups are the container's to use then; those above and beside them are not.
cgroups_that_may_be_written_to_are_the_containers_own() {
	local rights controllers path
	for rights in "$_DOCKER" "$(all_caps) | writable"; do
		PROGRAM='["/bin/sleep", "100"]' _box "$rights" '.mounts |= map(if .type == "cgroup" then .options -= ["ro"] else . end)'
		# The directories of the hierarchies lie in one there.
		[ "$VIEW" = v2 ] || OWN_TMPFS=/sys/fs/cgroup
		sbx run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
		while IFS=: read -r _ controllers path; do
			controllers=${controllers%%,*}
			[[ $path != *"$ID"* ]] || TREES[${CGROUP_MOUNTS[${controllers:-unified}]}$path]=mine
		done <"/proc/$(pid_of "$ID")/cgroup"
		_with_streams 'cgroups read-write' _exec
		is "${SEEN[mine]:-}" 1
		sbx delete -f "$ID"
	done
}

# Of the manager's socket there is a directory in the state, which the container sees.
the_directory_of_the_notify_socket_is_read_only() {
	local filter
	for filter in "$_DOCKER" "$_DOCKER | $_SAME_ROOT"; do
		PROGRAM='["/bin/sleep", "100"]' _box "$filter"
		NOTIFY_SOCKET=$T/manager sbx create -b "$B" "$ID" </dev/null >/dev/null 2>&1
		TREES[$T/state/$ID/notify]=notify
		sbx start "$ID"
		_with_streams 'exec beside a notify socket' _exec
		is "${SEEN[notify]:-}" 1
		sbx delete -f "$ID"
	done
}

# An ordinary user's: nodes and /sys are the host's own, read-only, for he can make no others.
_users_box() {
	_ALLOWED[devtmpfs]=$_READ _ALLOWED[sysfs]=$_READ _ALLOWED[tmpfs]=$_READ
	_box
	(cd "$B" && rm config.json && "$SBXRUN" spec --rootless)
	jq --argjson args "$1" '.process.terminal = false | .process.args = $args | .linux.uidMappings[0].hostID = 4242 | .linux.gidMappings[0].hostID = 4242 |
		.linux.resources = {}' "$B/config.json" >config.new
	mv config.new "$B/config.json"
	chown -R 4242:4242 "$B/rootfs" stream fifo
	install -d -m 700 -o 4242 -g 4242 own
	KERNEL=kernel
}

_as_the_user() {
	setpriv --reuid 4242 --regid 4242 --clear-groups -- "$SBXRUN" --root "$T/own/state" "$@"
}

_run_as_user() {
	_as_the_user run --preserve-fds 1 -b "$B" "$ID"
}

_exec_as_user() {
	_as_the_user exec --preserve-fds 1 "$ID" /prober
}

a_container_of_an_ordinary_user_changes_nothing_of_the_hosts() {
	_users_box '["/prober"]'
	_with_streams rootless _run_as_user
}

# His terminal is his, and so root's inside: there is no mount of it there that could be read-only.
what_an_ordinary_user_calls_exec_with_is_his_own() {
	_users_box '["/bin/sleep", "100"]'
	_as_the_user run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	_with_streams 'rootless exec' _exec_as_user
	_ALLOWED[devpts]="mode owner times touch $_READ"
	_at_a_terminal 'rootless exec' "chown 4242 \$(tty); setpriv --reuid 4242 --regid 4242 --clear-groups -- $SBXRUN --root $T/own/state exec --preserve-fds 1 $ID /prober"
	_as_the_user delete -f "$ID"
}

_at_a_terminal() {
	local what=$1
	shift
	_look_at_the_host
	needs script
	script -qefc "$* 3>$T/report" /dev/null >/dev/null
	_judge "$what, at a terminal"
}

a_terminal_of_the_callers_is_not_changed() {
	_box "$_DOCKER"
	_at_a_terminal run "$SBXRUN --root $T/state run --preserve-fds 1 -b $B $ID"
	_box "$_USERNS" "$_DOCKER"
	_at_a_terminal 'run with a user namespace' "$SBXRUN --root $T/state run --preserve-fds 1 -b $B $ID"
	_box "$_DOCKER" '.process.terminal = true'
	_at_a_terminal 'run with a terminal of its own' "$SBXRUN --root $T/state run --preserve-fds 1 -b $B $ID"
	PROGRAM='["/bin/sleep", "100"]' _box "$_DOCKER"
	sbx run -d -b "$B" "$ID" </dev/null >/dev/null 2>&1
	_at_a_terminal exec "$SBXRUN --root $T/state exec --preserve-fds 1 $ID /prober"
	_at_a_terminal 'exec -t' "$SBXRUN --root $T/state exec -t --preserve-fds 1 $ID /prober"
}

run_tests
