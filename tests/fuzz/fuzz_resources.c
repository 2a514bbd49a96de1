/* update's document, and the writes that follow from it in every layout. */
#include "documents.h"
#include "hosts.h"
#include "oci/oci.h"

static struct cgroup_dirs dirs_of(const struct cgroup_host *host, struct arena *a)
{
	struct cgroup_dirs d = {.n = host->n, .v = arena_array(a, host->n, struct cgroup_dir)};
	size_t i;

	for (i = 0; i < host->n; i++)
		d.v[i] = (struct cgroup_dir){.mount = host->v[i].mount,
					     .path = arena_strdup(a, "/p/id"),
					     .made = arena_strdup(a, "/p"),
					     .unified = host->v[i].unified};
	return d;
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	static const struct cgroup_host *const hosts[] = {&host_v1, &host_hybrid, &host_v2};
	struct oci_resources *r = fuzz_read(text, len, &oci_resources_table, a);
	struct cgroup_plan plan;
	struct error e = {0};
	size_t i, k;

	if (!r)
		return;
	fuzz_write_and_read(&oci_resources_table, r, a);
	if (oci_resources_validate(r, "linux.resources.", &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	/* Each host with the one driver and the other. */
	for (i = 0; i < 2 * ARRAY_SIZE(hosts); i++) {
		const struct cgroup_host *host = hosts[i / 2];
		const struct cgroup_dirs dirs = dirs_of(host, a);
		struct cgroup_unit unit = {.name = i % 2 ? arena_strdup(a, "x.scope") : NULL};

		if (cgroup_plan_update(r, &dirs, &unit, host, a, &plan, &e) < 0) {
			fuzz_check_error(&e);
			continue;
		}
		for (k = 0; k < plan.n_writes; k++) {
			DEMAND(plan.writes[k].hierarchy < dirs.n);
			/* A name, not a path: the value must not choose the file. */
			DEMAND(!strchr(plan.writes[k].file, '/') && plan.writes[k].value);
		}
	}
}
