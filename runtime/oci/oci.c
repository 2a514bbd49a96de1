/* config.json as one call: read by its rows, then judged. */
#include "oci/oci.h"

/*
 * The specification knows pids.limit 0 as a limit since 1.3. Configs of older versions mean "none"
 * by it, as runc before 1.4 has it: podman 4 writes it for --pids-limit=-1.
 */
static void settle_old_meanings(struct oci_config *c)
{
	struct opt_i64 *limit = &c->linux_.resources.pids_limit;

	if (limit->set && limit->v == 0 && oci_version_minor(c->oci_version) < 3)
		limit->set = false;
}

int oci_config_read(const char *what, const char *text, size_t len, struct arena *a,
		    struct oci_config *ret_config, struct error *e)
{
	struct oci_config *c = arena_new(a, struct oci_config);
	size_t i;

	if (json_read(what, text, len, &oci_config_table, &json_default_limits, c, a, e) < 0)
		return -1;
	if (oci_config_validate(c, e) < 0)
		return err_wrap(e, "%s", what);
	for (i = 0; i < c->mounts.n; i++)
		c->mounts.v[i].at = i;
	settle_old_meanings(c);
	*ret_config = *c;
	return 0;
}
