/*
 * The features document: what this program understands, not what the host offers. Lists come from
 * the tables that parse, so that nothing is claimed that isn't there.
 */
#include "json/rows.h"
#include "oci/names.h"
#include "oci/oci.h"
#include "oci/words.h"
#include "oci/mount_options.h"

struct enabled {
	bool enabled;
};

struct features_cgroup {
	bool v1;
	bool v2;
	bool systemd;
	bool systemd_user;
	bool rdma;
};

struct features_seccomp {
	bool enabled;
	struct strings actions;
	struct strings operators;
	struct strings archs;
	struct strings known_flags;
	struct strings supported_flags;
};

struct features_rdt {
	bool enabled;
	bool schemata;
	bool monitoring;
};

struct features_memory_policy {
	struct strings modes;
	struct strings flags;
};

struct features_extensions {
	struct enabled idmap;
};

struct features_linux {
	struct strings namespaces;
	struct strings capabilities;
	struct features_cgroup cgroup;
	struct features_seccomp seccomp;
	struct enabled apparmor;
	struct enabled selinux;
	struct features_rdt intel_rdt;
	struct features_memory_policy memory_policy;
	struct features_extensions mount_extensions;
	struct enabled net_devices;
};

struct features {
	char *version_min;
	char *version_max;
	struct strings hooks;
	struct strings mount_options;
	struct features_linux linux_;
	struct strings unsafe_annotations;
};

/* clang-format off */
static const struct json_row enabled_rows[] = {
	F(enabled, "enabled", BOOL, enabled),
};
TABLE(enabled);

static const struct json_row features_cgroup_rows[] = {
	F(features_cgroup, "v1", BOOL, v1),
	F(features_cgroup, "v2", BOOL, v2),
	F(features_cgroup, "systemd", BOOL, systemd),
	F(features_cgroup, "systemdUser", BOOL, systemd_user),
	F(features_cgroup, "rdma", BOOL, rdma),
};
TABLE(features_cgroup);

static const struct json_row features_seccomp_rows[] = {
	F(features_seccomp, "enabled", BOOL, enabled),
	F(features_seccomp, "actions", STRINGS, actions),
	F(features_seccomp, "operators", STRINGS, operators),
	F(features_seccomp, "archs", STRINGS, archs),
	F(features_seccomp, "knownFlags", STRINGS, known_flags),
	F(features_seccomp, "supportedFlags", STRINGS, supported_flags),
};
TABLE(features_seccomp);

static const struct json_row features_rdt_rows[] = {
	F(features_rdt, "enabled", BOOL, enabled),
	F(features_rdt, "schemata", BOOL, schemata),
	F(features_rdt, "monitoring", BOOL, monitoring),
};
TABLE(features_rdt);

static const struct json_row features_memory_policy_rows[] = {
	F(features_memory_policy, "modes", STRINGS, modes),
	F(features_memory_policy, "flags", STRINGS, flags),
};
TABLE(features_memory_policy);

static const struct json_row features_extensions_rows[] = {
	O(features_extensions, "idmap", idmap, enabled),
};
TABLE(features_extensions);

static const struct json_row features_linux_rows[] = {
	F(features_linux, "namespaces", STRINGS, namespaces),
	F(features_linux, "capabilities", STRINGS, capabilities),
	O(features_linux, "cgroup", cgroup, features_cgroup),
	O(features_linux, "seccomp", seccomp, features_seccomp),
	O(features_linux, "apparmor", apparmor, enabled),
	O(features_linux, "selinux", selinux, enabled),
	O(features_linux, "intelRdt", intel_rdt, features_rdt),
	O(features_linux, "memoryPolicy", memory_policy, features_memory_policy),
	O(features_linux, "mountExtensions", mount_extensions, features_extensions),
	O(features_linux, "netDevices", net_devices, enabled),
};
TABLE(features_linux);

static const struct json_row features_rows[] = {
	F(features, "ociVersionMin", STR, version_min),
	F(features, "ociVersionMax", STR, version_max),
	F(features, "hooks", STRINGS, hooks),
	F(features, "mountOptions", STRINGS, mount_options),
	O(features, "linux", linux_, features_linux),
	F(features, "potentiallyUnsafeConfigAnnotations", STRINGS, unsafe_annotations),
};
TABLE(features);
/* clang-format on */

static void words_add(struct arena *a, struct strings *s, size_t *cap, const char *word)
{
	s->v = arena_grow(a, s->v, cap, s->n + 1, sizeof(*s->v));
	s->v[s->n++] = arena_strdup(a, word);
}

static struct strings words_of(struct arena *a, const char *const *words)
{
	struct strings s = {0};
	size_t cap = 0;

	for (; *words; words++)
		words_add(a, &s, &cap, *words);
	return s;
}

static struct strings enum_words_of(struct arena *a, const struct json_word *words)
{
	struct strings s = {0};
	size_t cap = 0;

	for (; words->word; words++)
		words_add(a, &s, &cap, words->word);
	return s;
}

static struct strings capability_words(struct arena *a)
{
	struct strings s = {0};
	size_t cap = 0;
	int i;

	for (i = 0; oci_cap_name(i); i++)
		words_add(a, &s, &cap, oci_cap_name(i));
	return s;
}

/* They change what a container gets: who passes annotations of others on should know. */
static const char *const unsafe_annotations[] = {"org.systemd.property.", NULL};

void oci_features_write(struct arena *a, struct buf *b)
{
	struct features f = {
		.version_min = arena_strdup(a, OCI_VERSION_MIN),
		.version_max = arena_strdup(a, OCI_VERSION_MAX),
		.hooks = words_of(a, oci_hook_kinds),
		.mount_options = words_of(a, mount_option_names),
		.unsafe_annotations = words_of(a, unsafe_annotations),
		.linux_ =
			{
				.namespaces = enum_words_of(a, oci_ns_words),
				.capabilities = capability_words(a),
				.cgroup = {.v1 = true,
					   .v2 = true,
					   .systemd = true,
					   .systemd_user = true,
					   .rdma = true},
				.seccomp =
					{
						.enabled = true,
						.actions =
							enum_words_of(a, oci_seccomp_action_words),
						.operators = enum_words_of(a, oci_seccomp_op_words),
						.archs = words_of(a, oci_seccomp_archs),
						.known_flags = enum_words_of(a, oci_seccomp_flags),
						.supported_flags =
							enum_words_of(a, oci_seccomp_flags),
					},
				.intel_rdt = {.enabled = true,
					      .schemata = true,
					      .monitoring = true},
				.memory_policy = {.modes = enum_words_of(a, oci_memory_modes),
						  .flags = enum_words_of(a, oci_memory_flags)},
				.mount_extensions = {.idmap = {.enabled = true}},
				.net_devices = {.enabled = true},
				.apparmor = {.enabled = true},
				.selinux = {.enabled = true},
			},
	};

	json_write(b, &features_table, &f, 2);
	buf_char(b, '\n');
}
