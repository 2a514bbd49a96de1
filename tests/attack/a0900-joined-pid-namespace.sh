#!/bin/bash
# A container is created into the pid namespace of a neighbour that has CAP_SYS_PTRACE there (no user namespace). Whatever of the
# runtime is in that namespace before it has the program's rights can be attached to, and with it the host's root, descriptors and
# capabilities are had; hooks that run there are root of the host. Escape: the hunter reports "GOT".
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/hunter.sh"

RIGHTS='caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])'

# _hunt_in_joined FILTER…: creates, starts and deletes containers in the hunter's pid namespace.
_hunt_in_joined() {
	local i hunter first
	lie_in_wait "$RIGHTS"
	hunter=$B first=$(pid_of "$ID")
	bundle 'args(["/hunter", "idle"])' "ns(\"pid\"; \"/proc/$first/ns/pid\")" "$RIGHTS" "$@"
	ln "$hunter/rootfs/hunter" "$B/rootfs/hunter"
	: >"$B/rootfs/prey"
	for ((i = 0; i < STARTS; i++)); do
		timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null >/dev/null 2>>errors || :
		run sbx delete -f "$ID"
	done
	B=$hunter
	call_it_off
	hides "$REPORT" GOT
}

the_set_up_is_out_of_the_neighbours_reach() {
	_hunt_in_joined
}

a_filter_without_no_new_privs_is_no_way_in() {
	_hunt_in_joined '.process.noNewPrivileges = false' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
}

# createContainer hooks run in the container's namespaces, but they are the host's programs with the host's rights.
hooks_are_not_seen_by_the_neighbour() {
	_hunt_in_joined 'hook("createContainer"; "/bin/sleep"; ["sleep", "0.05"])'
}

runtime_hooks_are_not_seen_either() {
	_hunt_in_joined 'hook("createRuntime"; "/bin/sleep"; ["sleep", "0.05"])' 'hook("prestart"; "/bin/sleep"; ["sleep", "0.05"])'
}

run_tests
