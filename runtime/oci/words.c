/* The lists themselves. A word that is added here is read, judged and listed in
 * features at once. */
#include "oci/words.h"

#include "base/str.h"
#include "oci/enums.h"

/* clang-format off */
const struct json_word oci_ns_words[] = {
	{"pid", OCI_NS_PID},
	{"network", OCI_NS_NETWORK},
	{"mount", OCI_NS_MOUNT},
	{"ipc", OCI_NS_IPC},
	{"uts", OCI_NS_UTS},
	{"user", OCI_NS_USER},
	{"cgroup", OCI_NS_CGROUP},
	{"time", OCI_NS_TIME},
	{NULL, 0},
};

const struct json_word oci_seccomp_action_words[] = {
	{"SCMP_ACT_KILL", OCI_ACT_KILL},
	{"SCMP_ACT_KILL_PROCESS", OCI_ACT_KILL_PROCESS},
	{"SCMP_ACT_KILL_THREAD", OCI_ACT_KILL},
	{"SCMP_ACT_TRAP", OCI_ACT_TRAP},
	{"SCMP_ACT_ERRNO", OCI_ACT_ERRNO},
	{"SCMP_ACT_TRACE", OCI_ACT_TRACE},
	{"SCMP_ACT_ALLOW", OCI_ACT_ALLOW},
	{"SCMP_ACT_LOG", OCI_ACT_LOG},
	{"SCMP_ACT_NOTIFY", OCI_ACT_NOTIFY},
	{NULL, 0},
};

const struct json_word oci_seccomp_op_words[] = {
	{"SCMP_CMP_NE", OCI_OP_NE},
	{"SCMP_CMP_LT", OCI_OP_LT},
	{"SCMP_CMP_LE", OCI_OP_LE},
	{"SCMP_CMP_EQ", OCI_OP_EQ},
	{"SCMP_CMP_GE", OCI_OP_GE},
	{"SCMP_CMP_GT", OCI_OP_GT},
	{"SCMP_CMP_MASKED_EQ", OCI_OP_MASKED_EQ},
	{NULL, 0},
};

const char *const oci_seccomp_archs[] = {
	"SCMP_ARCH_X86", "SCMP_ARCH_X86_64", "SCMP_ARCH_X32", "SCMP_ARCH_ARM",
	"SCMP_ARCH_AARCH64", "SCMP_ARCH_MIPS", "SCMP_ARCH_MIPS64", "SCMP_ARCH_MIPS64N32",
	"SCMP_ARCH_MIPSEL", "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC",
	"SCMP_ARCH_PPC64", "SCMP_ARCH_PPC64LE", "SCMP_ARCH_S390", "SCMP_ARCH_S390X",
	"SCMP_ARCH_PARISC", "SCMP_ARCH_PARISC64", "SCMP_ARCH_RISCV64", "SCMP_ARCH_LOONGARCH64",
	"SCMP_ARCH_M68K", "SCMP_ARCH_SH", "SCMP_ARCH_SHEB", NULL,
};

const char *const oci_seccomp_flags[] = {
	"SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
	"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", NULL,
};

const char *const oci_scheduler_policies[] = {
	"SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "SCHED_ISO", "SCHED_IDLE",
	"SCHED_DEADLINE", NULL,
};

const char *const oci_scheduler_flags[] = {
	"SCHED_FLAG_RESET_ON_FORK", "SCHED_FLAG_RECLAIM", "SCHED_FLAG_DL_OVERRUN",
	"SCHED_FLAG_KEEP_POLICY", "SCHED_FLAG_KEEP_PARAMS", "SCHED_FLAG_UTIL_CLAMP_MIN",
	"SCHED_FLAG_UTIL_CLAMP_MAX", NULL,
};

const char *const oci_io_classes[] = {
	"IOPRIO_CLASS_RT", "IOPRIO_CLASS_BE", "IOPRIO_CLASS_IDLE", NULL,
};

/* The specification names four; engines also write the recursive ones. */
const char *const oci_propagations[] = {
	"shared", "slave", "private", "unbindable", "rshared", "rslave", "rprivate",
	"runbindable", NULL,
};

const char *const oci_personality_domains[] = {"LINUX", "LINUX32", NULL};

const char *const oci_memory_modes[] = {
	"MPOL_DEFAULT", "MPOL_BIND", "MPOL_INTERLEAVE", "MPOL_WEIGHTED_INTERLEAVE",
	"MPOL_PREFERRED", "MPOL_PREFERRED_MANY", "MPOL_LOCAL", NULL,
};

const char *const oci_memory_flags[] = {
	"MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES", NULL,
};

const char *const oci_clocks[] = {"monotonic", "boottime", NULL};

const char *const oci_hook_kinds[] = {
	"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop",
	NULL,
};
/* clang-format on */

bool oci_word_known(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (str_eq(*words, word))
			return true;
	return false;
}
