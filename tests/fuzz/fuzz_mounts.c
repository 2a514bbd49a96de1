/* The options of a mount, and what is made of them: a line each for type, source and destination,
 * then options. */
#include "fuzz.h"
#include "oci/validate.h"
#include "plan/mounts.h"

enum { OPTIONS_MAX = 32 };

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	struct oci_mount m = {.options.v = arena_array(a, OPTIONS_MAX, char *)};
	struct oci_config c = {.mounts = {.n = 1, .v = &m}};
	struct notes notes = {0};
	struct mount_plan plan;
	struct error e = {0};

	m.type = bytes_string(&b, a);
	m.source = bytes_string(&b, a);
	m.destination = bytes_string(&b, a);
	while (b.left && m.options.n < OPTIONS_MAX)
		m.options.v[m.options.n++] = bytes_string(&b, a);
	if (!*m.type)
		m.type = NULL;
	if (!*m.source)
		m.source = NULL;
	if (oci_validate_mounts(&c, &e) < 0 ||
	    plan_mount(&m, "/bundle", a, &plan, &notes, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	DEMAND(plan.destination[0] == '/' && !oci_path_climbs(plan.destination));
	DEMAND(plan.kind != MOUNT_BIND || plan.source[0] == '/');
	/* An attribute can't be asked for and refused at once. */
	DEMAND(!(plan.set_all & plan.clear_all & ~(uint64_t)0x70));
	DEMAND(plan.n_params <= m.options.n + 2);
	plan_mount_label(&plan, "label", a);
	DEMAND(plan.n_params <= m.options.n + 3);
}
