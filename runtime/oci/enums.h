/* The closed sets of words in config.json that rows turn into numbers. */
#pragma once

enum oci_ns {
	OCI_NS_PID,
	OCI_NS_NETWORK,
	OCI_NS_MOUNT,
	OCI_NS_IPC,
	OCI_NS_UTS,
	OCI_NS_USER,
	OCI_NS_CGROUP,
	OCI_NS_TIME,
	OCI_NS_COUNT,
};

enum oci_seccomp_action {
	OCI_ACT_KILL, /* also KILL_THREAD */
	OCI_ACT_KILL_PROCESS,
	OCI_ACT_TRAP,
	OCI_ACT_ERRNO,
	OCI_ACT_TRACE,
	OCI_ACT_ALLOW,
	OCI_ACT_LOG,
	OCI_ACT_NOTIFY,
};

enum oci_seccomp_op {
	OCI_OP_NE,
	OCI_OP_LT,
	OCI_OP_LE,
	OCI_OP_EQ,
	OCI_OP_GE,
	OCI_OP_GT,
	OCI_OP_MASKED_EQ,
};
