# shellcheck shell=bash
# lib.sh: what bench.sh stands on: trees with the peers' packages, mount namespaces rooted in them,
# and a config.json that a real docker daemon wrote.
#
# A peer runs with the libraries of its own release, at its own path, in a namespace whose root is
# its tree; sbxrun runs in one of them too, so that every contestant sees mounts of the same number
# and kind. The v1-only view is used, since crun refuses a machine with a unified tree beside it.

# shellcheck source=tests/lib/debian-tree.sh
. "${BASH_SOURCE[0]%/*}/../lib/debian-tree.sh"
bench_cache=${SBXRUN_TEST_CACHE:-/var/cache/sbxrun-tests}
bench_id=sbxrun-bench-$$ # in the names of all containers and cgroups
bench_work=
bench_runner=
bench_holders=()
bench_roots=() # of state: "HOLDER ROOT RUNTIME"

bench_need() {
	local missing=()
	command -v busybox >/dev/null || missing+=(busybox-static)
	command -v jq >/dev/null || missing+=(jq)
	command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
	command -v cc >/dev/null || missing+=(gcc libc6-dev)
	# shellcheck source=spec/apt.sh
	[ ${#missing[@]} = 0 ] || { . "${BASH_SOURCE[0]%/tests/*}/spec/apt.sh" && apt_install "${missing[@]}" >&2; }
}

bench_begin() {
	bench_work=$(mktemp -d "${TMPDIR:-/tmp}/bench-XXXXXX")
	trap bench_end EXIT
	trap 'exit 1' INT TERM HUP
	bench_rootfs
}

# What a runner that was killed left: containers by their runtime first, then whatever is in a cgroup of ours.
bench_sweep() {
	local holder root path id dir pid
	while read -r holder root path; do
		for id in "/proc/$holder/root$root/$bench_id"-*; do
			[ -d "$id" ] || continue
			nsenter -t "$holder" -m "$path" --root "$root" delete --force "${id##*/}" >/dev/null 2>&1 || :
		done
	done < <(printf '%s\n' ${bench_roots[@]+"${bench_roots[@]}"} | sort -u)
	for _ in $(seq 100); do
		mapfile -t dirs < <(find /sys/fs/cgroup -depth -type d -name "*$bench_id*" 2>/dev/null)
		[ ${#dirs[@]} != 0 ] || break
		for dir in "${dirs[@]}"; do
			while read -r pid; do
				kill -KILL "$pid" 2>/dev/null || :
			done < <(cat "$dir/cgroup.procs" 2>/dev/null)
			rmdir "$dir" 2>/dev/null || :
		done
		sleep 0.05
	done
}

# bench_forget RUNNER ROOT: ends a runner with a pid namespace of its own, which hears no other signal, and what it has left in ROOT.
bench_forget() {
	local dir
	[ -z "$1" ] || { kill -KILL "$1" && wait "$1"; } 2>/dev/null || :
	for dir in "$2"/*/; do
		[ ! -d "$dir" ] || "$runtime" --root "$2" delete --force "$(basename "$dir")" >/dev/null 2>&1 || :
	done
}

bench_end() {
	local pid
	trap '' INT TERM HUP
	if [ -n "$bench_runner" ]; then
		kill "$bench_runner" 2>/dev/null || :
		wait "$bench_runner" 2>/dev/null || :
	fi
	bench_sweep
	for pid in ${bench_holders[@]+"${bench_holders[@]}"}; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	[ -z "$bench_work" ] || rm -rf "$bench_work"
}

# bench_tree SUITE PACKAGES: unpacks the packages with all they depend on; kept for the next time.
# Nothing is configured or installed on this machine: the programs are only run in place.
bench_tree() {
	local tree=$bench_cache/bench-$1 new=$bench_cache/bench-$1.new packages=$2
	[ "$(cat "$tree/ready" 2>/dev/null)" != "$2" ] || return 0
	rm -rf "$tree"
	mkdir -p "$bench_cache"
	debian_tree "$1" "$new" --variant=extract --include="$2" "${lean_tree[@]}" || return 1
	(
		cd "$new"
		# where a release leaves these to its base-files package
		for d in bin sbin lib lib64; do
			[ -e $d ] || [ ! -d usr/$d ] || ln -s usr/$d $d
		done
		[ -e lib ] || ln -s usr/lib lib
		mkdir -p proc sys dev run tmp bench old etc root var/lib/docker var/lib/containerd
		echo "$packages" >ready
	) && mv "$new" "$tree"
}

# bench_enter TREE CMD…: to be run in new namespaces: makes TREE the root, $BENCH_WORK is /bench.
bench_enter=$(
	cat <<'END'
set -e
tree=$1
shift
mount --bind "$tree" "$tree"
cd "$tree"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
! mountpoint -q sys/fs/cgroup/unified || umount sys/fs/cgroup/unified
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --bind "$BENCH_WORK" bench
pivot_root . old
/bench/busybox umount -l /old
exec /bench/busybox env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
END
)

# bench_in TREE CMD…: becomes CMD with TREE as root; to be called in a subshell.
bench_in() {
	local tree=$1
	shift
	BENCH_WORK=$bench_work exec unshare -m --propagation private \
		bash -c "$bench_enter" enter "$tree" "$@"
}

# bench_hold TREE MOUNTS: a process that keeps a namespace rooted in TREE, with further mounts; its pid goes to bench_holder.
bench_hold() {
	local up=$bench_work/up
	rm -f "$up"
	# shellcheck disable=SC2016
	bench_in "$1" /bench/busybox sh -ec '
		b=/bench/busybox i=0
		$b mkdir /run/further
		while [ $i -lt '"$2"' ]; do
			$b mkdir /run/further/$i
			$b mount -o bind /run/further/$i /run/further/$i
			i=$((i + 1))
		done
		echo >/bench/up
		exec $b sleep 7200' &
	bench_holder=$!
	bench_holders+=("$bench_holder")
	for _ in $(seq 1200); do
		[ ! -e "$up" ] || return 0
		sleep 0.05
	done
	echo "bench: no namespace for $1" >&2
	return 1
}

# bench_populate CONFIG NAME PATH HOLDER: 1000 containers in /run/NAME-many. One is real; the others are copies of its record under other
# names, which means the same work for whoever lists them.
bench_populate() {
	local config=$1 name=$2 path=$3 holder=$4 seed=$bench_id-seed root dir file text i
	root=/proc/$holder/root/run/$name-many
	bench_roots+=("$holder /run/$name-many $path")
	mkdir -p "$bench_work/seed-$name"
	# shellcheck disable=SC2016
	jq --arg cg "/$bench_id-$name" '.linux.cgroupsPath = $cg' "$bench_work/$config-sleep/config.json" >"$bench_work/seed-$name/config.json"
	nsenter -t "$holder" -m "$path" --root "/run/$name-many" run --detach --bundle "/bench/seed-$name" "$seed" </dev/null >/dev/null 2>&1 || return 1
	for dir in "$root"/copy-{1..999}; do
		echo "$dir"
	done | xargs mkdir -m 700
	for file in "$root/$seed"/*; do
		[ -f "$file" ] || continue
		text=
		if grep -q "\"id\":\"$seed\"" "$file"; then
			IFS= read -rd '' text <"$file" || :
		fi
		for ((i = 1; i < 1000; i++)); do
			dir=$root/copy-$i
			if [ -n "$text" ]; then
				printf %s "${text//"\"id\":\"$seed\""/"\"id\":\"copy-$i\""}" >"$dir/${file##*/}"
			else
				echo "$dir/${file##*/}"
			fi
		done | xargs -r -n 1 ln "$file"
	done
}

bench_rootfs() {
	local name
	cp "$(command -v busybox)" "$bench_work/busybox"
	mkdir -p "$bench_work"/rootfs/{bin,dev,proc,sys,etc,tmp}
	cp "$bench_work/busybox" "$bench_work/rootfs/bin/busybox"
	for name in sh true sleep; do
		ln -s busybox "$bench_work/rootfs/bin/$name"
	done
	: >"$bench_work/rootfs/etc/hosts"
	: >"$bench_work/rootfs/etc/hostname"
	: >"$bench_work/rootfs/etc/resolv.conf"
}

# bench_bundles NAME FILTER INPUT: the bundles NAME (program: true) and NAME-sleep from a config.
bench_bundles() {
	mkdir -p "$bench_work/$1" "$bench_work/$1-sleep"
	jq --arg cg "/$bench_id" "$2"' | .process.terminal = false | .root.path = "/bench/rootfs"
		| .linux.cgroupsPath = $cg | .process.args = ["/bin/true"]' "$3" >"$bench_work/$1/config.json"
	jq '.process.args = ["/bin/sleep", "1000"]' "$bench_work/$1/config.json" \
		>"$bench_work/$1-sleep/config.json"
}

# bench_strict CONFIG: the bundle strict, in which the program has no right that a policy could take away.
bench_strict() {
	bench_bundles strict '.process.capabilities = {} | .process.noNewPrivileges = true | .root.readonly = true | del(.hooks)
		| .mounts |= map(if .type == "cgroup" then .options = (.options // []) - ["rw"] + ["ro"] else . end)' "$1"
}

# The config that `runc spec` writes; all contestants get the same one.
bench_spec() {
	(bench_in "$bench_cache/bench-bookworm" /usr/sbin/runc spec --bundle /bench) || return 1
	mv "$bench_work/config.json" "$bench_work/spec.in"
	bench_bundles spec . "$bench_work/spec.in"
	# for several at once: each in the cgroup that the runtime gives it
	mkdir "$bench_work/many"
	jq 'del(.linux.cgroupsPath)' "$bench_work/spec/config.json" >"$bench_work/many/config.json"
}

# What the daemon calls instead of a runtime: keeps the config and the files that it mounts, and
# fails, so that no container comes to be and the daemon makes no cgroup.
bench_capture=$(
	cat <<'END'
#!/bench/busybox sh
bundle=
for word; do
	[ "$last" != --bundle ] || bundle=$word
	last=$word
done
[ -n "$bundle" ] || exit 0
/bench/busybox cp "$bundle/config.json" /bench/docker.in
for f in resolv.conf hostname hosts; do
	/bench/busybox cp /var/lib/docker/containers/*/$f /bench/files/
done
echo captured >&2
exit 1
END
)

# A daemon's beginning, as pid 1 of its own pid namespace: when that ends everything of it ends. $OPTIONS are the daemon's.
bench_dockerd=$(
	cat "${BASH_SOURCE[0]%/*}/../lib/dockerd.sh"
	cat <<'END'
b=/bench/busybox
$b mount -t tmpfs tmpfs /var/lib/docker
$b mount -t tmpfs tmpfs /var/lib/containerd
$b mount -t proc proc /proc
$b ip link set lo up
dockerd_up /bench/dockerd.log --storage-driver vfs $OPTIONS || exit 1
$b tar -C /bench/rootfs -c . | docker import - bench >/dev/null || exit 1
END
)
bench_daemon="$bench_dockerd
docker run --rm --runtime bench --network none bench /bin/true >/bench/docker.log 2>&1
[ -s /bench/docker.in ]"

# A config of docker's own making. Its hook calls the daemon that wrote it, which is gone by now:
# dropped; hooks that are programs of their own stay. Files it mounts come from copies.
bench_docker() {
	mkdir -p "$bench_work/files"
	printf '%s\n' "$bench_capture" >"$bench_work/capture"
	chmod +x "$bench_work/capture"
	BENCH_WORK=$bench_work unshare -mnuip --fork --kill-child --propagation private \
		bash -c "$bench_enter" enter "$bench_cache/bench-bookworm" \
		OPTIONS='--add-runtime bench=/bench/capture' /bench/busybox sh -c "$bench_daemon" || {
		tail -n 3 "$bench_work/dockerd.log" >&2
		return 1
	}
	bench_bundles docker '
		(.hooks // {}) |= with_entries(.value |= map(select(.path | test("^/proc/[0-9]+/exe$") | not)))
		| if .hooks == {} or ([.hooks[][]] == []) then del(.hooks) else . end
		| .mounts |= map(if .source | startswith("/var/lib/docker/")
			then .source = "/bench/files/" + (.source | split("/") | last) else . end)' "$bench_work/docker.in"
}
