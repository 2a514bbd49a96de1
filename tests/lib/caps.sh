# shellcheck shell=bash
# Names of capabilities, in the kernel's order.

CAP_NAMES=(CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST
	NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE
	SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM
	BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE)

# all_caps [BUT…]: prints a jq filter that gives the container every capability that we have ourselves, but for BUT.
all_caps() {
	local mask i list=()
	mask=$(status_field self CapBnd)
	for i in "${!CAP_NAMES[@]}"; do
		[ $((16#$mask >> i & 1)) = 0 ] || [[ " $* " == *" ${CAP_NAMES[i]} "* ]] || list+=("\"CAP_${CAP_NAMES[i]}\"")
	done
	local IFS=,
	echo "caps([${list[*]}])"
}
