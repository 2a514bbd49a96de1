#include "state/record.h"

#include <stdio.h>
#include <time.h>

#include "base/date.h"
#include "json/rows.h"
#include "oci/oci.h"

/* clang-format off */
static const struct json_row cgroup_dir_rows[] = {
	F(cgroup_dir, "mount", STR, mount, REQUIRED),
	F(cgroup_dir, "path", STR, path, REQUIRED),
	F(cgroup_dir, "made", STR, made, REQUIRED),
	F(cgroup_dir, "unified", BOOL, unified, OMIT),
	F(cgroup_dir, "freezer", BOOL, freezer, OMIT),
	F(cgroup_dir, "bySystemd", BOOL, by_systemd, OMIT),
	F(cgroup_dir, "inner", BOOL, inner, OMIT),
	F(cgroup_dir, "claim", STR, claim, OMIT),
	F(cgroup_dir, "inode", U64, inode, OMIT),
};
TABLE(cgroup_dir);

static const struct json_row cgroup_unit_rows[] = {
	F(cgroup_unit, "name", STR, name, OMIT),
	F(cgroup_unit, "slice", STR, slice, OMIT),
	F(cgroup_unit, "ofUser", BOOL, of_user, OMIT),
	F(cgroup_unit, "timeout", U32, timeout_s, OMIT),
};
TABLE(cgroup_unit);

static const struct json_row rdt_group_rows[] = {
	F(rdt_group, "root", STR, root, REQUIRED),
	F(rdt_group, "class", STR, class, REQUIRED),
	F(rdt_group, "monitor", STR, monitor, OMIT),
	F(rdt_group, "ours", BOOL, ours, OMIT),
	F(rdt_group, "made", BOOL, made, OMIT),
};
TABLE(rdt_group);

static const struct json_row policy_clamp_rows[] = {
	F(policy_clamp, "row", STR, row, REQUIRED),
	F(policy_clamp, "text", STR, text, REQUIRED),
};
TABLE(policy_clamp);

static const struct json_row id_range_rows[] = {
	F(id_range, "first", U32, first, OMIT),
	F(id_range, "size", U32, size, OMIT),
};
TABLE(id_range);

static const struct json_row record_rows[] = {
	F(record, "version", U32, version, REQUIRED),
	F(record, "id", STR, id, REQUIRED),
	F(record, "ociVersion", STR, oci_version, REQUIRED),
	F(record, "bundle", STR, bundle, REQUIRED),
	F(record, "rootfs", STR, rootfs, REQUIRED),
	F(record, "created", STR, created, REQUIRED),
	F(record, "bootId", STR, boot_id, REQUIRED),
	F(record, "owner", U32, owner),
	F(record, "pid", I32, pid),
	F(record, "pidStart", U64, pid_start),
	F(record, "committed", BOOL, committed),
	F(record, "hasProcess", BOOL, has_process),
	F(record, "ownPidNs", BOOL, own_pid_ns),
	F(record, "ownMountNs", BOOL, own_mount_ns, OMIT),
	F(record, "ownUserNs", BOOL, own_user_ns, OMIT),
	F(record, "mountNsId", U64, mnt_id, OMIT),
	F(record, "userNsId", U64, user_id, OMIT),
	O(record, "idRange", id_range, id_range, OMIT),
	F(record, "overlayWork", STR, overlay_work, OMIT),
	F(record, "rootLayer", I64, root_upper, OMIT),
	F(record, "notify", BOOL, notify, OMIT),
	F(record, "rootOnHost", BOOL, root_on_host, OMIT),
	F(record, "rootMountId", U64, root_mount_id, OMIT),
	N(record, "cgroups", LIST, cgroups, cgroup_dir, CGROUP_MAX, OMIT),
	O(record, "unit", unit, cgroup_unit, OMIT),
	O(record, "intelRdt", rdt, rdt_group, SETS OMIT),
	F(record, "seccompListener", STR, listener_path, OMIT),
	F(record, "seccompMetadata", STR, listener_metadata, OMIT),
	O(record, "hooks", hooks, oci_hooks, OMIT),
	F(record, "annotations", PAIRS, annotations, OMIT),
	F(record, "policy", STR, policy, OMIT),
	O(record, "policyText", policy_text, policy_text, OMIT),
	F(record, "trustedHooks", STR, trusted_hooks, OMIT),
	N(record, "clamps", LIST, clamps, policy_clamp, 1024, OMIT),
};
const struct json_table record_table = ROWS(record);

struct state_document {
	char *oci_version;
	char *id;
	char *status;
	uint32_t pid;
	char *bundle;
	char *rootfs;
	char *created;
	char *owner;
	struct pairs annotations;
};

static const struct json_row state_document_rows[] = {
	F(state_document, "ociVersion", STR, oci_version),
	F(state_document, "id", STR, id),
	F(state_document, "pid", U32, pid),
	F(state_document, "status", STR, status),
	F(state_document, "bundle", STR, bundle),
	F(state_document, "rootfs", STR, rootfs),
	F(state_document, "created", STR, created),
	F(state_document, "annotations", PAIRS, annotations, OMIT),
	F(state_document, "owner", STR, owner),
};
/* clang-format on */
TABLE(state_document);

const char *status_word(enum status s)
{
	static const char *const words[] = {"creating", "created", "running", "stopped",
					    "paused"};

	return words[s];
}

void record_write_state(const struct record *r, enum status status, pid_t pid, struct arena *a,
			struct buf *b, bool indent)
{
	struct state_document d = {
		.oci_version = arena_strdup(a, OCI_VERSION_MAX),
		.id = r->id,
		.status = arena_strdup(a, status_word(status)),
		.pid = (uint32_t)pid,
		.bundle = r->bundle,
		.rootfs = r->rootfs,
		.created = r->created,
		/* Numbers, not names: looking names up would need NSS. */
		.owner = r->owner == 0 ? arena_strdup(a, "root") : arena_printf(a, "%u", r->owner),
		.annotations = r->annotations,
	};

	json_write(b, &state_document_table, &d, indent ? 2 : 0);
}

char *record_state_text(const struct record *r, enum status status, pid_t pid, struct arena *a)
{
	/* The record, which holds all of it, is smaller than half of that. */
	struct buf b = buf_new(a, (size_t)2 * RECORD_MAX);

	record_write_state(r, status, pid, a, &b, false);
	return b.data;
}

void record_write_process_state(const struct record *r, pid_t pid, struct arena *a, struct buf *b)
{
	buf_str(b, "{\"ociVersion\":\"" OCI_VERSION_MAX "\",\"fds\":[\"seccompFd\"]");
	buf_printf(b, ",\"pid\":%d,\"metadata\":", pid);
	json_write_string(b, r->listener_metadata ? r->listener_metadata : "");
	buf_str(b, ",\"state\":");
	record_write_state(r, pid == r->pid ? STATUS_CREATED : STATUS_RUNNING, r->pid, a, b, false);
	buf_char(b, '}');
}

char *record_now(struct arena *a)
{
	char date[DATE_SIZE];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	date_format(now.tv_sec, date);
	return arena_printf(a, "%s.%09ldZ", date, now.tv_nsec);
}
