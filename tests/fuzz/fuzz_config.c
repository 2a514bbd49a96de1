/* config.json: read, judged, and planned for every kind of host, its filter among it. */
#include "documents.h"
#include "hosts.h"
#include "oci/oci.h"

static void plan_for(const struct oci_config *c, const struct host_facts *facts, struct arena *a)
{
	struct buf b = buf_new(a, 16 << 20);
	struct error e = {0};
	struct plan p;

	if (plan_make(c, "id", "/bundle", facts, a, &p, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	plan_print(&p, PLAN_JSON, &b);
	DEMAND(b.len && !memchr(b.data, '\0', b.len));
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	const struct host_facts hosts[] = {
		fuzz_host(&host_v1, true),
		fuzz_host(&host_hybrid, true),
		fuzz_host(&host_v2, true),
		fuzz_host(&host_v2, false),
	};
	struct oci_config c = {0};
	struct error e = {0};
	size_t i;

	if (oci_config_read("config.json", text, len, a, &c, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	fuzz_write_and_read(&oci_config_table, &c, a);
	for (i = 0; i < ARRAY_SIZE(hosts); i++)
		plan_for(&c, &hosts[i], a);
}
