/* The lists themselves. A word that is added here is read, judged, listed in features and, where
 * it stands for a number of the kernel's, carried out at once. */
#include "oci/words.h"

#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/personality.h>

#include "base/str.h"
#include "oci/enums.h"

/* Headers that are older than the kernel. */
enum {
	WEIGHTED_INTERLEAVE = 6,
	SCHEDULE_ISO = 4, /* reserved, and in no kernel: it says so itself */
	WAIT_KILLABLE_RECV = 1 << 5,
};

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

const struct json_word oci_seccomp_flags[] = {
	{"SECCOMP_FILTER_FLAG_TSYNC", SECCOMP_FILTER_FLAG_TSYNC},
	{"SECCOMP_FILTER_FLAG_LOG", SECCOMP_FILTER_FLAG_LOG},
	{"SECCOMP_FILTER_FLAG_SPEC_ALLOW", SECCOMP_FILTER_FLAG_SPEC_ALLOW},
	{"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", WAIT_KILLABLE_RECV},
	{NULL, 0},
};

const struct json_word oci_scheduler_policies[] = {
	{"SCHED_OTHER", SCHED_NORMAL},
	{"SCHED_FIFO", SCHED_FIFO},
	{"SCHED_RR", SCHED_RR},
	{"SCHED_BATCH", SCHED_BATCH},
	{"SCHED_ISO", SCHEDULE_ISO},
	{"SCHED_IDLE", SCHED_IDLE},
	{"SCHED_DEADLINE", SCHED_DEADLINE},
	{NULL, 0},
};

const struct json_word oci_scheduler_flags[] = {
	{"SCHED_FLAG_RESET_ON_FORK", SCHED_FLAG_RESET_ON_FORK},
	{"SCHED_FLAG_RECLAIM", SCHED_FLAG_RECLAIM},
	{"SCHED_FLAG_DL_OVERRUN", SCHED_FLAG_DL_OVERRUN},
	{"SCHED_FLAG_KEEP_POLICY", SCHED_FLAG_KEEP_POLICY},
	{"SCHED_FLAG_KEEP_PARAMS", SCHED_FLAG_KEEP_PARAMS},
	{"SCHED_FLAG_UTIL_CLAMP_MIN", SCHED_FLAG_UTIL_CLAMP_MIN},
	{"SCHED_FLAG_UTIL_CLAMP_MAX", SCHED_FLAG_UTIL_CLAMP_MAX},
	{NULL, 0},
};

const struct json_word oci_io_classes[] = {
	{"IOPRIO_CLASS_RT", IOPRIO_CLASS_RT},
	{"IOPRIO_CLASS_BE", IOPRIO_CLASS_BE},
	{"IOPRIO_CLASS_IDLE", IOPRIO_CLASS_IDLE},
	{NULL, 0},
};

/* The specification names four; engines also write the recursive ones, which begin with an r. */
const struct json_word oci_propagations[] = {
	{"shared", MS_SHARED},
	{"slave", MS_SLAVE},
	{"private", MS_PRIVATE},
	{"unbindable", MS_UNBINDABLE},
	{"rshared", MS_SHARED},
	{"rslave", MS_SLAVE},
	{"rprivate", MS_PRIVATE},
	{"runbindable", MS_UNBINDABLE},
	{NULL, 0},
};

const struct json_word oci_personality_domains[] = {
	{"LINUX", PER_LINUX},
	{"LINUX32", PER_LINUX32},
	{NULL, 0},
};

const struct json_word oci_memory_modes[] = {
	{"MPOL_DEFAULT", MPOL_DEFAULT},
	{"MPOL_BIND", MPOL_BIND},
	{"MPOL_INTERLEAVE", MPOL_INTERLEAVE},
	{"MPOL_WEIGHTED_INTERLEAVE", WEIGHTED_INTERLEAVE},
	{"MPOL_PREFERRED", MPOL_PREFERRED},
	{"MPOL_PREFERRED_MANY", MPOL_PREFERRED_MANY},
	{"MPOL_LOCAL", MPOL_LOCAL},
	{NULL, 0},
};

const struct json_word oci_memory_flags[] = {
	{"MPOL_F_NUMA_BALANCING", MPOL_F_NUMA_BALANCING},
	{"MPOL_F_RELATIVE_NODES", MPOL_F_RELATIVE_NODES},
	{"MPOL_F_STATIC_NODES", MPOL_F_STATIC_NODES},
	{NULL, 0},
};

const char *const oci_clocks[] = {"monotonic", "boottime", NULL};

const char *const oci_hook_kinds[] = {
	"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop",
	NULL,
};
/* clang-format on */

const struct json_word *oci_word_find(const struct json_word *words, const char *word)
{
	for (; words->word; words++)
		if (str_eq(words->word, word))
			return words;
	return NULL;
}

bool oci_word_known(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (str_eq(*words, word))
			return true;
	return false;
}
