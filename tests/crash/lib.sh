# shellcheck shell=bash
# lib.sh: builds the harnesses and their bundles; sourced by check.sh, torture.sh and systemd.sh.
#
# crash_work is a directory of this run that is removed at the end, and crash_bin where the programs
# are: the same, unless the caller has built them elsewhere before. SBXRUN names the runtime under test.

crash_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
crash_top=$(cd "$crash_here/../.." && pwd)
crash_runtime=${SBXRUN:-$crash_top/build/sbxrun-oci}
crash_work=$(mktemp -d "${TMPDIR:-/tmp}/crash-test-XXXXXX")
chmod 711 "$crash_work" # a root of a user namespace must reach its rootfs
trap 'rm -rf "$crash_work"' EXIT

crash_bin=${crash_bin:-$crash_work}

crash_flags="-std=gnu17 -O2 -g -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes
	-Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wconversion -Wsign-conversion -Wcast-qual"

# crash_build [NAME…]: compiles the harnesses (crash, fault) to $crash_bin, and what runs inside to $crash_bin/probe.
crash_build() {
	local cc=${CC:-cc} name
	printf '#include <sys/syscall.h>\n' | "$cc" -E -dM - |
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{ __NR_\1, "\1" },/p' | sort >"$crash_bin/syscall-names.h"
	[ $# != 0 ] || set -- crash fault
	for name; do
		# shellcheck disable=SC2086  # a list of flags
		"$cc" $crash_flags -include sys/syscall.h -I"$crash_bin" -o "$crash_bin/$name" \
			"$crash_here/$name.c" "$crash_here"/{box,trace,leak,tool}.c
	done
	# shellcheck disable=SC2086  # a list of flags
	"$cc" $crash_flags -static -o "$crash_bin/probe" "$crash_here/probe.c"
}

# Links the runtime's objects once more, to $crash_bin/alloc/sbxrun-oci, with allocations that can be told to fail.
crash_build_alloc() {
	local cc=${CC:-cc} room rooms=()
	for room in $(make --no-print-directory -s -C "$crash_top" print-programs | sed -n 's/^sbxrun \(.*\) :.*/\1/p'); do
		rooms+=("$crash_top/build/runtime/$room"/*.o)
	done
	# shellcheck disable=SC2086  # a list of flags
	"$cc" $crash_flags -fPIE -c -o "$crash_bin/alloc.o" "$crash_here/alloc.c"
	mkdir -p "$crash_bin/alloc" # the name of the program chooses a policy
	"$cc" -static-pie -o "$crash_bin/alloc/sbxrun-oci" "${rooms[@]}" "$crash_top/build/libsbxrun.a" "$crash_bin/alloc.o" \
		-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -l:libseccomp.a -l:libyajl_s.a -l:libcap.a -l:libpcre2-8.a -lm
}

# Links the library's objects to $crash_work/lives, a process that makes containers by life.h, and once more with allocations that
# can be told to fail.
crash_build_lives() {
	local cc=${CC:-cc} lib=("$crash_top/build/libsbxrun.a" -l:libseccomp.a -l:libyajl_s.a -l:libcap.a -l:libpcre2-8.a -lm)
	local own=("$crash_here/lives.c" "$crash_top/tests/unit/same.c")
	# shellcheck disable=SC2086  # a list of flags
	"$cc" $crash_flags -D_GNU_SOURCE -I"$crash_top/runtime" -I"$crash_top/tests/unit" -static-pie -fPIE -o "$crash_work/lives" "${own[@]}" "${lib[@]}"
	# shellcheck disable=SC2086
	"$cc" $crash_flags -fPIE -c -o "$crash_work/alloc.o" "$crash_here/alloc.c"
	# shellcheck disable=SC2086
	"$cc" $crash_flags -D_GNU_SOURCE -I"$crash_top/runtime" -I"$crash_top/tests/unit" -static-pie -fPIE -o "$crash_work/lives-alloc" "${own[@]}" \
		"$crash_work/alloc.o" -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc "${lib[@]}"
}

# lives_run lives|lives-alloc ARGS…: the faults on that process. A close() that fails has closed all the same, and signals, masks and what is mapped
# can't be refused with the arguments that are given: the harness, for which a call that fails has done nothing, would be wrong.
lives_run() {
	local LIVES_RUNTIME=$crash_runtime crash_runtime=$crash_work/$1
	shift
	export LIVES_RUNTIME
	fault_run "$crash_work/plain" --tag library \
		--without close,rt_sigaction,rt_sigprocmask,munmap --verbs run,exec "$@"
}

# A root of busybox with every mount point there beforehand, so that a file that appears is a
# leftover.
crash_rootfs() {
	local root=$crash_work/rootfs name
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,workspace}
	cp "$(command -v busybox)" "$root/bin/busybox"
	for name in sh true sleep nc; do
		ln -sf busybox "$root/bin/$name"
	done
	cp "$crash_bin/probe" "$root/bin/probe"
	# Sessions are of a real shell.
	cp "$(command -v bash)" "$root/bin/bash"
	ldd "$root/bin/bash" | grep -o '/[^ ]*' | while read -r name; do
		mkdir -p "$root${name%/*}"
		cp "$name" "$root$name"
	done
}

# crash_bundle DIR [userns|hooks|user|systemd]: a bundle template with most of what a container can have.
crash_bundle() {
	mkdir -p "$1"
	crash_config >"$1/config.json"
	case ${2:-} in
	userns)
		jq '.linux.namespaces += [{"type": "user"}]
			| .linux.uidMappings = [{"containerID": 0, "hostID": 100000, "size": 65536}]
			| .linux.gidMappings = .linux.uidMappings
			| del(.linux.resources.devices) | .mounts |= map(select(.type != "cgroup"))' \
			"$1/config.json" >"$1/new"
		mv "$1/new" "$1/config.json"
		;;
	hooks)
		jq --arg true "$crash_work/rootfs/bin/busybox" '([{"path": $true, "args": ["true"]}]) as $h
			| .hooks = {prestart: $h, createRuntime: $h, createContainer: $h, poststart: $h,
				poststop: $h}' \
			"$1/config.json" >"$1/new"
		mv "$1/new" "$1/config.json"
		;;
	user)
		# An ordinary user, and a filter that is loaded without no_new_privs.
		jq '.process.user = {"uid": 1000, "gid": 1000, "additionalGids": [5], "umask": 23}
			| .process.noNewPrivileges = false | .process.oomScoreAdj = 100
			| .linux.sysctl = {"kernel.shmmni": "4000"} | .linux.namespaces += [{"type": "cgroup"}]' \
			"$1/config.json" >"$1/new"
		mv "$1/new" "$1/config.json"
		;;
	systemd)
		jq '.linux.cgroupsPath = "system.slice:crash:@ID@"' "$1/config.json" >"$1/new"
		mv "$1/new" "$1/config.json"
		;;
	esac
	# jq quotes nothing of ours: the placeholder stands in an array as one string
	sed -i 's/"@ARGS@"/@ARGS@/' "$1/config.json"
}

crash_config() {
	local caps='["CAP_CHOWN", "CAP_KILL", "CAP_SETUID", "CAP_SETGID", "CAP_NET_BIND_SERVICE", "CAP_MKNOD"]'
	cat <<-END
	{
		"ociVersion": "1.0.2",
		"process": {
			"user": {"uid": 0, "gid": 0},
			"args": ["@ARGS@"],
			"env": ["PATH=/bin", "TERM=dumb", "PROBE_FACTS=@FACTS@"],
			"cwd": "/",
			"capabilities": {"bounding": $caps, "effective": $caps, "permitted": $caps},
			"rlimits": [{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}],
			"noNewPrivileges": true
		},
		"root": {"path": "$crash_work/rootfs", "readonly": true},
		"hostname": "crash",
		"mounts": [
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
				"options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
			{"destination": "/dev/pts", "type": "devpts", "source": "devpts",
				"options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
			{"destination": "/dev/shm", "type": "tmpfs", "source": "shm",
				"options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
			{"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue",
				"options": ["nosuid", "noexec", "nodev"]},
			{"destination": "/sys", "type": "sysfs", "source": "sysfs",
				"options": ["nosuid", "noexec", "nodev", "ro"]},
			{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup",
				"options": ["nosuid", "noexec", "nodev", "relatime", "ro"]},
			{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
				"options": ["nosuid", "nodev", "mode=1777"]}
		],
		"linux": {
			"cgroupsPath": "/@ID@",
			"namespaces": [{"type": "pid"}, {"type": "ipc"}, {"type": "uts"},
				{"type": "mount"}, {"type": "network"}],
			"resources": {
				"devices": [{"allow": false, "access": "rwm"},
					{"allow": true, "type": "c", "major": 1, "minor": 3, "access": "rwm"},
					{"allow": true, "type": "c", "major": 1, "minor": 5, "access": "rwm"},
					{"allow": true, "type": "c", "major": 136, "access": "rwm"}],
				"memory": {"limit": 67108864},
				"pids": {"limit": 64},
				"cpu": {"shares": 512}
			},
			"seccomp": {
				"defaultAction": "SCMP_ACT_ALLOW",
				"architectures": ["SCMP_ARCH_X86_64"],
				"syscalls": [{"names": ["add_key", "bpf"], "action": "SCMP_ACT_ERRNO"}]
			},
			"maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
			"readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
		}
	}
	END
}

# harness_sees BUNDLE KIND:WORD… [-- ARG…]: the harness must find each KIND that fake-runtime.sh leaves, and call it WORD, and
# nothing where it leaves nothing.
harness_sees() {
	local bundle=$1 kind kinds=() word
	shift
	while [ $# != 0 ] && [ "$1" != -- ]; do
		kinds+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	for kind in "${kinds[@]}"; do
		word=${kind#*:}
		if FAKE=${kind%:*} fake_run "$bundle" "$@" >"$crash_work/out" 2>&1; then
			echo "not ok crash harness-sees-$word: reported clean"
		elif grep -q "^# dirty: create parent.*; $word [0-9]" "$crash_work/out" &&
			grep -q "^not ok crash create-parent: .* $word [1-9]" "$crash_work/out"; then
			echo "ok crash harness-sees-$word"
		else
			echo "not ok crash harness-sees-$word: $(tail -n 1 "$crash_work/out")"
		fi
	done
	word=nothing-else${1:+-with${1#-}}
	if FAKE='' fake_run "$bundle" "$@" >"$crash_work/out" 2>&1; then
		echo "ok crash harness-sees-$word"
	else
		echo "not ok crash harness-sees-$word: $(tail -n 1 "$crash_work/out")"
	fi
}

fake_run() {
	local crash_runtime=$crash_here/fake-runtime.sh
	crash_run "$1" --verbs create --who parent --sample 8 "${@:2}"
}

# crash_run BUNDLE ARGS…: the crash-point harness on the runtime under test. With crash_view=v1 it sees the
# v1 hierarchies only, with crash_view=ids what crash_subids has written. fault_run: the same with the harness that lets calls fail.
crash_run() { harness_run crash "$@"; }
fault_run() { harness_run fault "$@"; }

# Two ranges of ids for containers, which nobody else's run has: if one is held by nobody who lives, a few points later there is none
# left, and creates fail. 1: this host has no such file.
crash_subids() {
	echo "sbxrun:$((1879048192 + ($$ % 2000) * 131072)):131072" >"$crash_work/subids"
	[ -e /etc/subuid ] && [ -e /etc/subgid ]
}

harness_run() {
	local harness=$1 bundle=$2 rc=0 view=()
	shift
	shift
	if [ "${crash_view:-}" = v1 ]; then
		view=(unshare -m --propagation private sh -c 'umount /sys/fs/cgroup/unified && exec "$@"' v1)
	elif [ "${crash_view:-}" = ids ]; then
		view=(unshare -m --propagation private sh -c 'mount --bind "$0" /etc/subuid && mount --bind "$0" /etc/subgid && exec "$@"'
			"$crash_work/subids")
	fi
	TMPDIR=$crash_work ${view[@]+"${view[@]}"} "$crash_bin/$harness" --runtime "$crash_runtime" --bundle "$bundle" \
		--watch "$crash_work/rootfs" "$@" 2>"$crash_work/err" || rc=$?
	if [ $rc -gt 1 ]; then
		echo "not ok $harness points: $(tr '\n' ' ' <"$crash_work/err")"
	else
		cat "$crash_work/err" >&2
	fi
	return $rc
}
