#!/bin/bash
# Imitates CVE-2025-52881, CVE-2025-31133 and CVE-2023-27561 as a race: a neighbour that shares the image exchanges its /proc with
# another directory while the runtime mounts, writes sysctls and masks. (A directory that is a mount point in another mount namespace
# can be renamed; the mount stays with it.) Escape: a file of the neighbour's is written, or the container's procfs is
# left without its masks.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_masks='.linux.maskedPaths = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/acpi", "/proc/scsi", "/sys/firmware"]'
_read_only='.linux.readonlyPaths = ["/proc/sys", "/proc/bus", "/proc/irq", "/proc/fs"]'

# PID: prints what is mounted on the procfs and sysfs of that process, by name below it.
_covers() {
	awk '
		{ id = $1; parent[id] = $2; root[id] = $4; at[id] = $5; for (i = 7; $i != "-"; i++); type[id] = $(i + 1) }
		type[id] == "proc" && root[id] == "/" || type[id] == "sysfs" && root[id] == "/" { top[id] = type[id] }
		END {
			for (id in at) {
				if (!(parent[id] in top)) continue
				name = substr(at[id], length(at[parent[id]]) + 1)
				print top[parent[id]] name
			}
		}' "/proc/$1/mountinfo" | sort -u
}

# PAIR…: creates containers while the pairs are exchanged.
_create_many() {
	local i want pid covers missing created=0
	bundle 'args(["/bin/true"])' "$_masks" "$_read_only" '.linux.sysctl = {"net.ipv4.ip_forward": "1", "kernel.domainname": "told"}' 'ns("uts")'
	sbx create -b "$B" "$ID"
	# A mount of the config is found by name, and may end up in the neighbour's directory: inside all the same.
	want=$(_covers "$(pid_of "$ID")" | grep -v /fs/cgroup)
	sbx delete -f "$ID"
	like "$want" 'proc/sys'
	mkdir -p "$B/rootfs/fake/sys/net/ipv4" "$B/rootfs/fake/sys/kernel"
	echo canary >"$B/rootfs/fake/sys/net/ipv4/ip_forward"
	ln -s ../net/ipv4/ip_forward "$B/rootfs/fake/sys/kernel/domainname"
	ln -s fake "$B/rootfs/link"
	build_attacker
	(cd "$B/rootfs" && exec "$ATTACKER" swap "$@") &
	SWAPPER=$!
	for ((i = 0; i < STARTS; i++)); do
		run sbx create -b "$B" "$ID"
		# It must hold still while we read paths.
		kill -STOP "$SWAPPER"
		wait_until 20 grep -q '^State:.T' "/proc/$SWAPPER/status"
		if [ "$rc" = 0 ]; then
			created=$((created + 1))
			pid=$(pid_of "$ID")
			covers=$(_covers "$pid")
			missing=$(comm -23 <(echo "$want") <(echo "$covers"))
			[ -z "$missing" ] || escaped "start $i: nothing covers ${missing//$'\n'/ }"
			is "$(nsenter -t "$pid" -n cat /proc/sys/net/ipv4/ip_forward)" 1 "start $i"
		fi
		run sbx delete -f "$ID"
		kill -CONT "$SWAPPER"
	done
	kill "$SWAPPER"
	wait "$SWAPPER" || :
	echo "$created of $STARTS were created"
	holds "$(echo "$B"/rootfs/{fake,proc,sys,link}/sys/net/ipv4/ip_forward | tr ' ' '\n' | xargs ls 2>/dev/null | head -n 1)" canary
}

proc_exchanged_with_a_directory() {
	_create_many proc fake
}

proc_exchanged_with_a_link() {
	_create_many proc link
}

sys_exchanged_with_a_directory() {
	_create_many sys fake
}

proc_exchanged_with_sys() {
	_create_many proc sys
}

# The image's /dev/null, which has nothing to do with the one that masks are made of. What the link leads to is of the container's own uts
# namespace.
null_exchanged_with_a_link_into_proc() {
	local i ran=0 mask=1:3
	# Under the other policies a mask is an empty file.
	[ "${POLICY:-oci}" = oci ] || mask=0:0
	bundle 'sh("stat -c mask\\ %t:%T /proc/keys /etc/secret; cat /etc/secret; echo end")' "$NO_DEV" 'ns("uts")' writable \
		'.linux.maskedPaths = ["/proc/keys", "/etc/secret"] | .linux.readonlyPaths = []'
	echo canary >"$B/rootfs/etc/secret"
	mknod -m 666 "$B/rootfs/dev/null" c 1 3
	ln -s /proc/sys/kernel/domainname "$B/rootfs/dev/link"
	build_attacker
	(cd "$B/rootfs/dev" && exec "$ATTACKER" swap null link) &
	SWAPPER=$!
	for ((i = 0; i < STARTS; i++)); do
		run sbx run -b "$B" "$ID"
		[[ $out == *end ]] || continue
		ran=$((ran + 1))
		[[ $out =~ ^(mask\ $mask$'\n'){1,2}end$ ]] || escaped "start $i: ${out//$'\n'/, }"
	done
	kill "$SWAPPER"
	wait "$SWAPPER" || :
	echo "$ran of $STARTS ran"
}

run_tests
