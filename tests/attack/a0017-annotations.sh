#!/bin/bash
# Imitates CVE-2024-3154 (an annotation becomes a systemd property, and that a command on the host) and CVE-2025-24965 (a handler
# chosen by annotation writes .krun_config.json through a link in the image). Escape: an annotation runs or writes anything on the host,
# or changes what the container is allowed.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# Every annotation that an engine or a runtime is known to act on, and some that it might.
_annotations='.annotations += {"org.systemd.property.ExecStartPre": ("[(\"/bin/touch\", [\"touch\", \"" + $T + "/canary/made\"], false)]"),
	"org.systemd.property.CollectMode": "inactive-or-failed", "org.systemd.property.DeviceAllow": "[(\"/dev/mem\", \"rwm\")]",
	"run.oci.keep_original_groups": "1", "run.oci.seccomp_fail_unknown_syscall": "0", "run.oci.seccomp_bpf_data": "AAAAAAAAAAA=",
	"run.oci.systemd.force_cgroup_v1": "/tmp", "run.oci.mount_context_type": "rootcontext", "run.oci.timens_offset": "1000000",
	"run.oci.pidfd_receiver": ($T + "/canary/socket"), "run.oci.hooks.stdout": ($T + "/canary/out"),
	"run.oci.hooks.stderr": ($T + "/canary/err"), "run.oci.delegate-cgroup": "../..", "io.kubernetes.cri-o.userns-mode": "host",
	"io.podman.annotations.privileged": "TRUE", "io.podman.annotations.seccomp": "unconfined", "sbxrun.policy": "none",
	"org.opencontainers.runc.privileged": "true"}'
_see='sh("mkdir /tmp/made 2>&1; grep -E \"^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)\" /proc/self/status; cut -d\" \" -f5,6 /proc/self/mountinfo; ls /dev")'
_filter='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 122}]}'

# The bundle as a caller runs it who has groups.
_attack_with_groups() {
	run setpriv --groups 4,4242 -- "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
}

no_annotation_loosens_anything() {
	local plain
	mkdir canary
	needs setpriv
	bundle "$_see" "$_filter" '.process.user = {uid: 1000, gid: 1000}'
	_attack_with_groups
	rc_is 0
	plain=$out
	like "$plain" 'uota exceeded'
	bundle "$_see" "$_filter" '.process.user = {uid: 1000, gid: 1000}' "$_annotations"
	_attack_with_groups
	untouched canary
	[ "$rc" != 0 ] || [ "$out" = "$plain" ] || escaped "$(diff <(echo "$plain") <(echo "$out") || :)"
}

# Of the properties that a unit can have, few are the container's own affair. What is planned would be told to systemd.
no_annotation_has_systemd_do_what_is_not_the_containers() {
	local name
	for name in ExecStartPre ExecStopPost SuccessAction FailureAction JobTimeoutAction Requires Wants BindsTo Conflicts OnFailure Delegate Slice PIDs \
		DevicePolicy DeviceAllow BPFProgram MemoryMax MemoryLimit TasksMax CPUQuotaPerSecUSec AllowedCPUs KillMode SendSIGKILL User Description; do
		bundle ".annotations += {\"org.systemd.property.$name\": \"'reboot-force'\"}" '.linux.cgroupsPath = ":p:n"'
		run as_if_systemd plan -b "$B" "$ID"
		[ "$rc" != 0 ] || escaped "systemd would be told $name: $(grep "name=.*$name" <<<"$out" || :)"
		like "$err" "annotations.*$name.*can't be chosen" "$name"
	done
}

the_output_of_hooks_goes_where_the_caller_says() {
	mkdir canary
	bundle 'sh("true")' 'hook("createRuntime"; "/bin/echo"; ["echo", "text"])' "$_annotations"
	attack
	untouched canary
}

no_handler_is_chosen_by_annotation() {
	local handler
	mkdir canary
	for handler in krun wasm wasmedge wasmer wasmtime spin mono; do
		bundle 'sh("echo ran")' writable ".annotations += {\"run.oci.handler\": \"$handler\", \"module.wasm.image/variant\": \"compat\"}"
		ln -s "$T/canary/made" "$B/rootfs/.krun_config.json"
		attack
		untouched canary "$handler"
		[ "$rc" != 0 ] || is "$out" ran "$handler"
	done
}

run_tests
